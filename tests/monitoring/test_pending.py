"""Outcomes that come late, early, twice or never."""

from __future__ import annotations

import numpy as np
import pytest

from veridical.exceptions import InvalidInputError
from veridical.monitoring import CalibrationMonitor
from veridical.monitoring._store import pending as _pending


def rows(n: int = 300, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    return np.array([f"{seed}-{i}" for i in range(n)]), (rng.random(n) < p).astype(int), p


def watched() -> CalibrationMonitor:
    return CalibrationMonitor(labels=[0, 1])


def test_late_outcomes_in_any_order_count_as_if_they_had_come_at_once():
    at_once, late = watched(), watched()
    rng = np.random.default_rng(9)
    batches = [rows(seed=seed) for seed in range(4)]
    for day, (names, y, p) in enumerate(batches):
        at_once.update(y, p, timestamp=f"day {day}")
        late.observe(names, p, timestamp=f"day {day}")
    for names, y, _ in batches:
        order = rng.permutation(len(y))
        for part in np.array_split(order, 5):
            late.resolve(names[part], y[part])
    # Rows of a cohort are in the order of their names: sums differ in their last digits.
    first, second = at_once.status(), late.status()
    assert second.n_samples == 1200
    assert second.e_value == pytest.approx(first.e_value, rel=1e-9)
    assert second.estimates[0].deviation == pytest.approx(first.estimates[0].deviation)


def test_an_outcome_may_come_first_and_twice():
    names, y, p = rows(50)
    monitor = watched()
    monitor.resolve(names, y)
    monitor.resolve(names[:10], y[:10])
    monitor.observe(names, p)
    assert monitor.status().n_samples == 50
    monitor.resolve(names, y)
    monitor.observe(names, p)
    assert monitor.status().n_samples == 50


def test_a_cohort_waits_until_it_is_whole():
    names, y, p = rows(50)
    monitor = watched()
    monitor.observe(names, p)
    assert monitor.resolve(names[:49], y[:49]).n_samples == 0
    assert monitor.resolve(names[49:], y[49:]).n_samples == 50


def test_waiting_ends_when_the_user_says_so():
    names, y, p = rows(60)
    known = y == 1  # only what happened is ever reported
    left_out, assumed = watched(), watched()
    for monitor in (left_out, assumed):
        monitor.observe(names, p, timestamp="2026-01-05")
        monitor.resolve(names[known], y[known])
    assert left_out.mature("2026-01-04").n_rows == 0
    assert left_out.mature("2026-01-05").n_rows == known.sum()
    assert assumed.mature("2026-01-05", missing=0).n_rows == 60
    total = assumed.status().estimates[0]
    assert total.mean_observed == pytest.approx(y.mean())


def test_groups_are_as_many_as_predictions():
    monitor = CalibrationMonitor(labels=[0, 1])
    with pytest.raises(InvalidInputError, match="`by` must be as long as `y_prob`; got 1 keys"):
        monitor.observe(["a", "b"], [0.1, 0.2], by=["x"])


def test_three_classes_and_groups_wait_too():
    rng = np.random.default_rng(4)
    p = rng.dirichlet([1, 1, 1], 80)
    y = np.array(["a", "b", "c"])[rng.integers(0, 3, 80)]
    groups = rng.choice(["x", "y"], 80)
    now, later = (CalibrationMonitor(labels=["a", "b", "c"]) for _ in range(2))
    now.update(y, p, by=groups)
    names = np.arange(80)
    later.observe(names, p, by=groups)
    later.resolve(names, y)
    assert later.status().e_value == pytest.approx(now.status().e_value, rel=1e-9)
    assert {s.name for s in later.status().streams if s.family == "group"} == {"'x'", "'y'"}


def test_contradictions_are_refused_and_change_nothing():
    names, y, p = rows(20)
    monitor = watched()
    monitor.observe(names, p)
    with pytest.raises(InvalidInputError, match="another prediction for the known id"):
        monitor.observe(names, 1 - p)
    monitor.resolve(names[:5], y[:5])
    with pytest.raises(InvalidInputError, match="the same outcome again"):
        monitor.resolve(names, np.append(1 - y[:1], y[1:]))
    with pytest.raises(InvalidInputError, match="one of the classes"):
        monitor.resolve(names[:1], [7])
    with pytest.raises(InvalidInputError, match="twice"):
        monitor.resolve(["a", "a"], [0, 1])
    assert monitor.resolve(names, y).n_samples == 20
    with pytest.raises(InvalidInputError, match="labels"):
        CalibrationMonitor().observe(names, p)


def test_counted_predictions_are_forgotten_at_last(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(_pending, "KEPT", 40)
    monkeypatch.setattr(_pending, "_TIDIED", 5)
    monitor = watched()
    waits = rows(7, seed=99)
    monitor.observe(waits[0], waits[2])
    for seed in range(20):
        names, y, p = rows(10, seed=seed)
        monitor.observe(names, p)
        monitor.resolve(names, y)
    kept = monitor._memory.store.database.connection.execute(
        "SELECT count(*) FROM predictions"
    ).fetchone()[0]
    assert kept <= 40 + 5 * 10 + 7
    assert monitor.resolve(waits[0], waits[1]).n_samples == 207  # what waits is not forgotten
