"""Bets on whole vectors: fair by enumeration, and they see what no class shows alone."""

import itertools
import json
from base64 import b64encode

import numpy as np
import pytest

from veridical import CalibrationMonitor, merge_stores
from veridical._core.data.validation import check_sample
from veridical.exceptions import VeridicalError
from veridical.monitoring._store.plan import FIRST_EDITION, Plan
from veridical.monitoring._store.vectors import VectorProcess

# Vaicenavicius et al. (2019), Table 1: confidence and every class are calibrated, vectors are not.
PREDICTED = np.array(list(itertools.permutations([0.1, 0.3, 0.6])))
HAPPENED = np.array(
    [
        [0.2, 0.2, 0.6],
        [0.0, 0.7, 0.3],
        [0.2, 0.2, 0.6],
        [0.4, 0.5, 0.1],
        [0.7, 0.0, 0.3],
        [0.5, 0.4, 0.1],
    ]
)


def drawn(truth, rng):
    cells = truth.cumsum(axis=1)
    return (rng.random(len(truth))[:, None] > cells).sum(axis=1).clip(max=truth.shape[1] - 1)


def test_the_example_is_calibrated_in_every_class_and_in_its_confidence():
    for k in range(3):
        for value in (0.1, 0.3, 0.6):
            rows = PREDICTED[:, k] == value
            assert HAPPENED[rows, k].mean() == pytest.approx(value)
    assert HAPPENED[np.arange(6), PREDICTED.argmax(axis=1)].mean() == pytest.approx(0.6)


def sample_of(y, p):
    return check_sample(np.asarray(y), np.asarray(p), caller="test", labels=(0, 1, 2))


def test_wealth_is_conserved_over_all_outcomes():
    """Mean evidence after three batches over every possible outcome: one, exactly."""
    p = np.array([[0.2, 0.5, 0.3], [0.1, 0.6, 0.3], [0.3, 0.3, 0.4], [0.25, 0.6, 0.15]])
    mean = 0.0
    for y in itertools.product(range(3), repeat=4):
        process = VectorProcess(3)
        process.missed[:] = [2.0, -5.0, 3.0]  # rivals that have learnt something
        for rows in (slice(0, 1), slice(1, 3), slice(3, 4)):
            process.advance(sample_of(y[rows], p[rows]))
        mean += p[np.arange(4), y].prod() * np.exp(process.log_e)
    assert mean == pytest.approx(1.0, abs=1e-9)


def test_learning_is_a_step_from_the_sums_of_a_leaf():
    p = np.array([[0.2, 0.5, 0.3]] * 30)
    process = VectorProcess(3)
    process.advance(sample_of([0] * 30, p))
    expected = 30 * (np.array([1, 0, 0]) - p[0])
    np.testing.assert_allclose(process.missed[0, 1 * 3 + 2], expected, atol=1e-3)
    np.testing.assert_allclose(process.spread[0, 5], 30 * p[0] * (1 - p[0]), atol=1e-3)
    before = process.wealth.copy()
    process.advance(sample_of([0], p[:1]))
    shift = 0.9 * expected / (30 * p[0] * (1 - p[0]) + 20)
    factor = shift[0] - np.log(p[0] @ np.exp(shift))
    begun = np.log((0.75 / (1 + 30 / 5000) - 0.75 / (1 + 31 / 5000)) / 6)
    assert process.wealth[1] == pytest.approx(np.logaddexp(before[1], begun) + factor, abs=1e-6)
    assert "0 more frequent than predicted where 1 is the most probable class and 2 next" in (
        process.direction((0, 1, 2))
    )


def test_whole_vectors_are_found_within_5000_rows():
    rng = np.random.default_rng(2)
    monitor = CalibrationMonitor()
    for batch in range(40):
        which = rng.integers(0, 6, 200)
        truth = PREDICTED if batch < 15 else HAPPENED
        found = monitor.update(np.array(list("abc"))[drawn(truth[which], rng)], PREDICTED[which])
        if batch < 15:
            assert not found.alarm
    status = monitor.status()
    assert status.alarm
    first = status.streams[0]
    assert (first.family, first.name) == ("vector", "whole vectors")
    assert first.alarmed_at == status.alarmed_at
    assert status.direction.startswith("whole vectors are off: ")
    assert "to blame: whole vectors" in status.verdict
    assert all(s.alarmed_at is None for s in status.streams[1:])
    assert status.since is None  # the day of the change is looked for in confidences
    assert int(status.alarmed_at.split()[1]) < 15 + 25


def test_two_stores_together_blame_whole_vectors(tmp_path):
    rng = np.random.default_rng(4)
    paths = [str(tmp_path / name) for name in "ab"]
    for path in paths:
        with CalibrationMonitor(path, labels=[0, 1, 2]) as monitor:
            for _ in range(10):
                which = rng.integers(0, 6, 200)
                monitor.update(drawn(HAPPENED[which], rng), PREDICTED[which])
    both = merge_stores(paths)
    assert both.alarm
    assert both.streams[0].family == "vector"
    assert both.streams[0].alarmed_at == "this look"
    assert both.streams[0].n_rows == 4000
    assert both.direction == both.streams[0].direction
    assert both.direction.startswith("whole vectors are off")


@pytest.mark.parametrize("k", [4, 8, 21])
def test_other_numbers_of_classes(k, tmp_path):
    rng = np.random.default_rng(k)
    p = rng.dirichlet(np.ones(k), 300)
    with CalibrationMonitor(tmp_path / "s", labels=list(range(k))) as monitor:
        monitor.update(drawn(p, rng), p)
    with CalibrationMonitor(tmp_path / "s") as monitor:
        monitor.update(drawn(p, rng), p)
        families = [s.family for s in monitor.status().streams]
    assert families.count("vector") == (k <= 20)


def test_a_batch_that_fails_changes_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(3), 100)
    monitor = CalibrationMonitor()
    monitor.update(drawn(p, rng), p)
    before = monitor.status()
    monkeypatch.setattr(monitor._memory.recent, "add", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        monitor.update(drawn(p, rng), p)
    assert monitor.status() == before


def test_a_store_from_before_goes_on_as_it_was():
    """Its shares were given away: nothing is left for whole vectors until a new map is watched."""
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(3), 400)
    monitor = CalibrationMonitor()
    monitor.update(drawn(p, rng), p)
    database = monitor._memory.store.database
    with monitor._memory.store.transaction():
        database.run("DELETE FROM states")
        database.run("UPDATE streams SET share = ? WHERE family = 'all'", 0.5)
    state = monitor._memory.streams.read()
    assert state.plan == FIRST_EDITION
    assert state.evidence.edition == 1
    assert not state.evidence.scale.any()
    monitor.update(drawn(p, rng), p)
    assert "vector" not in {s.family for s in monitor.status().streams}
    monitor.refit("temperature")
    monitor.switch(force=True)
    monitor.update(drawn(p, rng), p)
    assert "vector" in {s.family for s in monitor.status().streams}


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("vectors", lambda s: s | {"wealth": s["sums"]}),
        ("vectors", lambda s: s | {"missed": "x"}),
        ("vectors", lambda s: s | {"missed": [0.0]}),
        ("vectors", lambda s: s | {"sums": b64encode(np.full(2, np.nan).tobytes()).decode()}),
        ("vectors", lambda s: s | {"n_classes": 4}),
        ("vectors", lambda s: s | {"n_classes": "3"}),
        ("vectors", lambda s: s | {"log_e": None}),
        ("vectors", lambda s: []),
        ("bets", lambda s: s | {"all": 0.9, "vector": 0.9}),
        ("bets", lambda s: s | {"first_groups": -1}),
        ("bets", lambda s: {}),
        ("bets", lambda s: 3),
    ],
)
def test_a_changed_state_is_refused(name, change):
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(3), 50)
    monitor = CalibrationMonitor()
    monitor.update(drawn(p, rng), p)
    store = monitor._memory.store
    state = json.loads(json.dumps(store.state(name)))
    with store.transaction():
        store.set_state(name, change(state), lasting=False)
    with pytest.raises(VeridicalError):
        monitor.status()


def test_shares_are_at_most_one_whoever_comes():
    for n_classes, n_groups in itertools.product((2, 3, 20, 50, 51), (0, 1, 7)):
        plan = Plan.of_first_batch(n_classes, n_groups)
        groups = sum(plan.share("group", j, n_classes) for j in range(1000))
        classes = n_classes * plan.share("class", 0, n_classes)
        total = plan.share("all", 0, n_classes) + 5 * plan.share("region", 0, n_classes)
        assert total + groups + classes + plan.parts["vector"] <= 1 + 1e-12
        assert total + plan.parts["vector"] + plan.parts["class"] + plan.parts["group"] == (
            pytest.approx(1)
        )
