"""The monitor as its user sees it."""

from __future__ import annotations

import datetime as dt
import sqlite3
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from veridical.exceptions import InvalidInputError, VeridicalError
from veridical.monitoring import CalibrationMonitor
from veridical.monitoring._store import buckets as _buckets
from veridical.monitoring._store.buckets import Buckets
from veridical.results.monitoring import StreamEvidence


def calibrated(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    return rng.random(n) < p, p


def overconfident(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    odds = rng.normal(0, 2, n)
    return rng.random(n) < 1 / (1 + np.exp(-odds / 2)), 1 / (1 + np.exp(-odds))


def test_what_batches_make_does_not_depend_on_the_file(tmp_path: Path):
    there, here = CalibrationMonitor(tmp_path / "m.sqlite"), CalibrationMonitor()
    for seed in range(5):
        batch = calibrated(300, seed)
        assert there.update(*batch) == here.update(*batch)
    there.close()
    assert CalibrationMonitor(tmp_path / "m.sqlite").status() == here.status()


def test_an_alarm_says_what_and_since_when():
    monitor = CalibrationMonitor()
    for day in range(1, 31):
        make = calibrated if day <= 20 else overconfident
        made = monitor.update(*make(400, day), timestamp=dt.date(2026, 3, day))
    status = monitor.status()
    assert made.alarm
    assert status.alarm
    assert status.alarmed_at is not None
    assert "2026-03-20" < status.alarmed_at <= "2026-03-24"
    assert status.direction == "over-confident (predictions too extreme)"
    assert status.since_low <= "2026-03-21" <= status.since_high
    assert "too extreme" in str(status)
    assert status.n_samples == 12_000
    assert status.to_frame().columns[0] == "family"


def test_long_numbers_of_the_table_keep_apart():
    estimate = {"deviation": 0.0, "low": 0.0, "high": 0.0, "direction": "", "name": "all"}
    evidence = {"e_value": 6.142e276, "max_e_value": 6.142e276, "alarmed_at": "3"}
    stream = StreamEvidence(family="", n_rows=1e9, threshold=1.234e-5, **evidence, **estimate)
    status = replace(CalibrationMonitor().status(), streams=(stream,))
    (row,) = [line for line in status.to_text(width=120).splitlines() if "6.142" in line]
    wanted = ["all", "1,000,000,000", "6.142e+276", "6.142e+276*", "1.234e-05"]
    assert row.split()[:5] == wanted


def test_a_group_is_blamed_and_the_others_are_not():
    rng = np.random.default_rng(1)
    monitor = CalibrationMonitor()
    for seed in range(20):
        y, p = calibrated(600, seed)
        group = rng.choice(["a", "b", "c"], 600)
        wrong = group == "b"
        y = np.where(wrong, rng.random(600) < p**2, y)
        monitor.update(y, p, by=group)
    blamed = {s.name for s in monitor.status().streams if s.alarmed_at and s.family == "group"}
    assert blamed == {"'b'"}


def test_classes_are_watched_by_name():
    rng = np.random.default_rng(2)
    monitor = CalibrationMonitor(labels=["cat", "dog", "owl"])
    for _ in range(10):
        p = rng.dirichlet([2, 2, 2], 500)
        y = (rng.random(500)[:, None] > p.cumsum(axis=1)).sum(axis=1)
        monitor.update(np.array(["cat", "dog", "owl"])[y], p)
    status = monitor.status()
    assert {s.name for s in status.streams if s.family == "class"} == {"'cat'", "'dog'", "'owl'"}
    assert not status.alarm


def test_a_row_at_a_time_is_a_batch_of_one():
    y, p = calibrated(30, 0)
    monitor = CalibrationMonitor()
    for one, score in zip(y.astype(int).tolist(), p.tolist(), strict=True):
        found = monitor.update(one, score)
    assert found.n_samples == 30
    total = monitor.status().estimates[0]
    assert total.mean_predicted == pytest.approx(p.mean())
    assert total.mean_observed == pytest.approx(y.mean())


def test_a_batch_sent_again_counts_once(tmp_path: Path):
    monitor = CalibrationMonitor(tmp_path / "m.sqlite")
    first = monitor.update(*calibrated(100, 0), batch_id="monday")
    again = monitor.update(*calibrated(100, 0), batch_id="monday")
    assert again.repeated
    assert again.n_samples == first.n_samples == 100
    with pytest.raises(InvalidInputError, match="other data under the known name 'monday'"):
        monitor.update(*calibrated(100, 1), batch_id="monday")
    assert monitor.status().n_batches == 1


def test_the_past_stays_within_bounds_and_nothing_is_lost(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(_buckets, "MOST_BUCKETS", 16)
    monitor = CalibrationMonitor(window=1000)
    rows = [calibrated(250, seed) for seed in range(60)]
    for batch in rows:
        monitor.update(*batch)
    history = Buckets(monitor._memory.store.database).history(1)
    assert len(history.n_rows) <= 16
    assert history.n_rows.sum() == 15_000
    y, p = np.concatenate([b[0] for b in rows]), np.concatenate([b[1] for b in rows])
    status = monitor.status()
    assert status.estimates[0].deviation == pytest.approx((y - p).mean())
    assert status.estimates[0].mean_predicted == pytest.approx(p.mean())
    (whole,) = [s for s in status.streams if s.family == "all"]
    assert whole.deviation == pytest.approx((y - p).mean())
    assert status.estimates[1].deviation == pytest.approx((y - p)[-1000:].mean())
    assert history.deviation.sum() == pytest.approx((y - p).sum())


def test_the_weighted_estimate_is_a_weighted_mean():
    monitor = CalibrationMonitor(half_life=500)
    rows = [calibrated(250, seed) for seed in range(8)]
    for batch in rows:
        monitor.update(*batch)
    age = 250 * np.arange(8)[::-1]
    weight = 0.5 ** (age / 500)
    gap = np.array([(y - p).sum() for y, p in rows])
    expected = (weight @ gap) / (weight.sum() * 250)
    assert monitor.status().estimates[2].deviation == pytest.approx(expected)


def test_other_settings_for_a_known_store_are_refused(tmp_path: Path):
    CalibrationMonitor(tmp_path / "m.sqlite", level=0.01).close()
    assert CalibrationMonitor(tmp_path / "m.sqlite").settings["level"] == 0.01
    with pytest.raises(InvalidInputError, match=r"`level` must be 0\.01"):
        CalibrationMonitor(tmp_path / "m.sqlite", level=0.1)


OTHER_SETTINGS = {
    "labels": ["yes", "no"],
    "pos_label": "yes",
    "level": 0.01,
    "window": 700,
    "half_life": 90,
    "online": True,
    "confidence_level": 0.9,
}


@pytest.mark.parametrize("name", ["level", "window", "half_life", "confidence_level"])
def test_the_default_of_a_new_store_is_refused_by_one_that_has_another(tmp_path: Path, name: str):
    path, default = tmp_path / "m.sqlite", CalibrationMonitor().settings[name]
    CalibrationMonitor(path, **{name: OTHER_SETTINGS[name]}).close()
    with pytest.raises(InvalidInputError, match=rf"`{name}` must be .*, as in .*; got {default}"):
        CalibrationMonitor(path, **{name: default})
    with CalibrationMonitor(path) as monitor:
        assert monitor.settings[name] == OTHER_SETTINGS[name]


def test_settings_that_are_left_out_or_none_are_those_of_the_store(tmp_path: Path):
    path = tmp_path / "m.sqlite"
    CalibrationMonitor(path, **OTHER_SETTINGS).close()
    for asked in ({}, dict.fromkeys(OTHER_SETTINGS), OTHER_SETTINGS):
        with CalibrationMonitor(path, **asked) as monitor:
            assert monitor.settings == OTHER_SETTINGS


def test_a_new_store_has_the_documented_defaults():
    monitor = CalibrationMonitor(level=None, window=None)
    assert monitor.settings == {
        "labels": None,
        "pos_label": None,
        "level": 0.05,
        "window": 5000,
        "half_life": 5000,
        "confidence_level": 0.95,
        "online": False,
    }
    assert "default 0.05" in CalibrationMonitor.__doc__


def test_a_store_that_was_refused_is_left_as_it_was_and_let_go(tmp_path: Path):
    path = tmp_path / "m.sqlite"
    CalibrationMonitor(path, level=0.01).close()
    before = path.read_bytes()
    with pytest.raises(InvalidInputError, match="`level`"):
        CalibrationMonitor(path, level=0.05)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["m.sqlite"]  # no log beside it


def test_a_newer_store_is_refused_and_a_stranger_is_left_alone(tmp_path: Path):
    newer = tmp_path / "newer.sqlite"
    with sqlite3.connect(newer) as connection:
        connection.execute("PRAGMA user_version = 99")
        connection.execute("PRAGMA application_id = 0x76657269")
    with pytest.raises(VeridicalError, match="version 99"):
        CalibrationMonitor(newer)
    stranger = tmp_path / "notes.txt"
    stranger.write_text("not a database at all, but some notes " * 40)
    with pytest.raises(VeridicalError, match="is not a monitor's store"):
        CalibrationMonitor(stranger)
    assert stranger.read_text().startswith("not a database")


def test_bad_rows_leave_the_store_as_it_was():
    monitor = CalibrationMonitor()
    before = monitor.update(*calibrated(50, 0))
    with pytest.raises(InvalidInputError, match="y_prob"):
        monitor.update([0, 1], [0.2, 1.4])
    with pytest.raises(InvalidInputError, match="by"):
        monitor.update([0, 1], [0.2, 0.4], by=["a"])
    assert monitor.status().n_samples == before.n_samples
