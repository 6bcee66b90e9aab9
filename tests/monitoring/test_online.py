"""A map that learns inside a monitor: when it is judged, and what a store keeps of it."""

import json
import math

import numpy as np
import pytest

from veridical import CalibrationMonitor, OnlineCalibrator
from veridical.exceptions import VeridicalError
from veridical.monitoring.core import prometheus_text


def rows(n, *, slope=0.6, seed=0):
    rng = np.random.default_rng(seed)
    z = rng.normal(-0.5, 1.5, n)
    p = 1 / (1 + np.exp(-z))
    return (rng.random(n) < 1 / (1 + np.exp(-slope * z))).astype(int), p


def batches(n, size=100):
    y, p = rows(n * size)
    return [(y[i : i + size], p[i : i + size]) for i in range(0, n * size, size)]


def test_it_is_the_calibrator_fed_batch_by_batch(tmp_path):
    alone = OnlineCalibrator(labels=[0, 1])
    with CalibrationMonitor(tmp_path / "s", online=True) as monitor:
        for y, p in batches(5):
            monitor.update(y, p)
            alone.partial_fit(p, y)
    new = np.array([0.1, 0.5, 0.9])
    with CalibrationMonitor(tmp_path / "s") as again:
        np.testing.assert_allclose(again.calibrate(new), alone.predict_proba(new)[:, 1])
        found = again.status().online
    assert found.gain == pytest.approx(alone.gain_)
    assert found.n_rows == 500
    assert found.given == (0.1, 0.5, 0.9)
    np.testing.assert_allclose(found.low, alone.predict_proba(new)[:, 1])
    assert found.low == found.high
    assert found.most_cost is None
    assert "no bound holds" in found.verdict
    assert found.since == "batch 0"


def test_single_rows_have_a_bound():
    y, p = rows(40)
    monitor = CalibrationMonitor(labels=[0, 1], online=True)
    for i in range(40):
        monitor.update(y[i : i + 1], p[i : i + 1])
    bound = math.log(5) - 40 * math.log1p(-1e-4)
    assert monitor.status().online.most_cost == pytest.approx(bound)
    assert "cannot have cost more than 1.7" in monitor.status().online.verdict


def test_what_is_watched_stays_the_model(tmp_path):
    plain, online = CalibrationMonitor(), CalibrationMonitor(online=True)
    for y, p in batches(8):
        assert plain.update(y, p).e_value == online.update(y, p).e_value
    assert plain.status().online is None


def test_cohorts_are_judged_by_the_map_when_they_were_observed():
    early, later, last = batches(3)
    monitor = CalibrationMonitor(labels=[0, 1], online=True)
    monitor.update(*early)
    names = [f"row {i}" for i in range(100)]
    monitor.observe(names, later[1], timestamp="2026-01-01")
    said = monitor.calibrate(later[1])
    monitor.update(*last)
    before = monitor.status().online.gain
    monitor.resolve(names, later[0])
    gave = np.where(later[0] == 1, said, 1 - said)
    as_is = np.where(later[0] == 1, later[1], 1 - later[1])
    assert monitor.status().online.gain - before == pytest.approx(np.log(gave / as_is).sum())
    assert monitor.status().online.most_cost is None


def test_it_is_written_with_the_batch_or_not_at_all(monkeypatch):
    first, second = batches(2)
    monitor = CalibrationMonitor(online=True)
    monitor.update(*first)
    before = monitor.status()
    memory = monitor._memory
    monkeypatch.setattr(memory.recent, "add", lambda *_: 1 / 0)  # after the map has learnt
    with pytest.raises(ZeroDivisionError):
        monitor.update(*second)
    monkeypatch.undo()
    assert monitor.status() == before
    monitor.update(*second)
    assert monitor.status().online.n_rows == 200


def test_it_may_begin_and_end_at_any_time(tmp_path):
    path = tmp_path / "s"
    first, second, third = batches(3)
    with CalibrationMonitor(path) as monitor:
        monitor.update(*first)
    with CalibrationMonitor(path, online=True) as monitor:
        assert monitor.status().online is None  # nothing learnt yet
        np.testing.assert_array_equal(monitor.calibrate([0.3]), [0.3])
        monitor.update(*second, timestamp="2026-02-02")
        assert monitor.status().online.since == "2026-02-02"
    with CalibrationMonitor(path, read_only=True) as monitor:
        assert monitor.status().online.n_rows == 100
    with pytest.raises(VeridicalError, match="online"):
        CalibrationMonitor(path, online=False, read_only=True)
    with CalibrationMonitor(path, online=False) as monitor:
        monitor.update(*third)
        assert monitor.status().online is None
    with pytest.raises(VeridicalError, match="online"):
        CalibrationMonitor(path, online="yes")


def test_another_map_in_use_is_learnt_on_anew():
    monitor = CalibrationMonitor(online=True)
    for y, p in batches(6):
        monitor.update(y, p)
    monitor.refit("platt")
    monitor.switch(force=True)
    assert monitor.status().online is None
    y, p = rows(100, seed=1)
    monitor.update(y, p)
    assert monitor.status().online.n_rows == 100


def test_several_named_classes():
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(3), 600)
    truth = p**0.5 / (p**0.5).sum(axis=1, keepdims=True)
    y = np.array(["x", "y", "z"])[(rng.random(600)[:, None] > truth.cumsum(axis=1)).sum(axis=1)]
    monitor = CalibrationMonitor(online=True)
    monitor.update(y[:300], p[:300])
    monitor.update(y[300:], p[300:])
    found = monitor.status().online
    assert found.high[2] < 0.9  # over-confident
    assert found.gain > 0
    assert "3 classes" in found.verdict
    alone = OnlineCalibrator(labels=["x", "y", "z"]).partial_fit(p[:300], y[:300])
    alone.partial_fit(p[300:], y[300:])
    np.testing.assert_allclose(monitor.calibrate(p[:4]), alone.predict_proba(p[:4]))


@pytest.mark.parametrize("label", ["bad", "good"])
def test_the_positive_class_is_named(label):
    y, p = rows(300)
    other = {"bad": "good", "good": "bad"}[label]
    monitor = CalibrationMonitor(labels=["bad", "good"], pos_label=label, online=True)
    monitor.update(np.where(y == 1, label, other), p)
    alone = OnlineCalibrator(labels=[0, 1]).partial_fit(p, y)
    np.testing.assert_allclose(monitor.calibrate([0.2]), alone.predict_proba([0.2])[:, 1])
    assert label in monitor.status().online.event


@pytest.mark.parametrize(
    "change",
    [
        lambda s: [],
        lambda s: s | {"since": 3},
        lambda s: s | {"more": 1},
        lambda s: s | {"map": None},
        lambda s: {"since": "a", "leading_since": "b"},
    ],
)
def test_a_changed_state_is_refused(change):
    monitor = CalibrationMonitor(online=True)
    monitor.update(*rows(50))
    store = monitor._memory.store
    with store.transaction():
        store.set_state("online", change(store.state("online")), lasting=False)
    with pytest.raises(VeridicalError):
        monitor.status()


def test_prometheus_and_json_have_it():
    monitor = CalibrationMonitor(online=True)
    monitor.update(*rows(50))
    monitor.update(*rows(50, seed=1))
    status = monitor.status()
    assert f"veridical_online_saved_nats {status.online.gain!r}" in prometheus_text(status)
    assert json.loads(json.dumps(status.to_dict()))["online"]["n_rows"] == 100
    assert "Online map" in status._repr_html_()
