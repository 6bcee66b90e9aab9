"""Clocks that go back, batches that come late or twice, and labels that a store cannot keep."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import numpy as np
import pytest

from veridical.exceptions import InvalidInputError
from veridical.monitoring import CalibrationMonitor
from veridical.report import monitor_report
from veridical.report._monitor.sections import monitor_timeline


def rows(seed: int, n: int = 300, power: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    return (rng.random(n) < p**power).astype(int), p


def test_a_clock_that_goes_back_changes_names_and_nothing_else():
    """Batches count in the order in which they come; timestamps are what they are called."""
    straight, back = CalibrationMonitor(), CalibrationMonitor()
    days = [*range(1, 9), *range(4, 12)]  # after the eighth comes the fourth again
    for seed, day in enumerate(days):
        power = 1.0 if seed < 8 else 4.0
        straight.update(*rows(seed, power=power), timestamp=dt.date(2026, 3, seed + 1))
        back.update(*rows(seed, power=power), timestamp=dt.date(2026, 3, day))
    one, other = straight.status(), back.status()
    assert (one.e_value, one.estimates) == (other.e_value, other.estimates)
    assert one.since == "2026-03-09"
    assert other.since == "2026-03-04"  # the batch that was called so
    assert back.history().ended[7:9] == ("2026-03-08", "2026-03-04")
    found = monitor_report(back)  # drawn over rows: time is in no order
    chart = monitor_timeline(found.history, found.status, 5000)
    assert chart.table.rows[0][1] == "300"


def test_a_late_batch_counts_when_it_comes(tmp_path: Path):
    with CalibrationMonitor(tmp_path / "m.sqlite") as monitor:
        for day in (1, 2, 4, 5):
            monitor.update(*rows(day), timestamp=f"2026-03-{day:02d}", batch_id=f"day {day}")
        before = monitor.status()
        late = monitor.update(*rows(3), timestamp="2026-03-03", batch_id="day 3")
        assert late.n_samples == before.n_samples + 300
        assert monitor.history().ended[-1] == "2026-03-03"
        again = monitor.update(*rows(3), timestamp="2026-03-03", batch_id="day 3")
        assert (again.repeated, again.n_samples) == (True, late.n_samples)


def test_what_came_before_is_known_by_its_name_alone():
    monitor = CalibrationMonitor()
    monitor.update(*rows(0), batch_id="a", timestamp="2026-03-01")
    assert monitor.update(*rows(0), batch_id="a", timestamp="2026-03-09").repeated
    assert monitor.update(*rows(0), batch_id="b").n_samples == 600  # another name, other rows
    assert monitor.update(*rows(0)).n_samples == 900  # without a name nothing is known
    with pytest.raises(InvalidInputError, match="other data under the known name 'a'"):
        monitor.update(*rows(1), batch_id="a")
    assert monitor.status().n_samples == 900


def test_outcomes_may_come_late_early_or_twice():
    monitor = CalibrationMonitor(labels=[0, 1])
    monitor.observe(["a", "b"], [0.2, 0.7], timestamp="2026-03-02")
    monitor.observe(["c"], [0.4], timestamp="2026-03-01")  # a clock that went back
    monitor.resolve(["b", "d"], [1, 0])  # one before its prediction
    monitor.resolve(["b"], [1])
    monitor.mature("2026-03-01", missing=0)
    assert monitor.status().n_samples == 1  # the one that was observed up to then, by its clock
    monitor.resolve(["a"], [0])
    monitor.observe(["d"], [0.1], timestamp="2026-03-03")
    assert monitor.status().n_samples == 4
    monitor.resolve(["a"], [0])  # after it was counted
    assert monitor.status().n_samples == 4
    with pytest.raises(InvalidInputError, match="cannot be taken back"):
        monitor.resolve(["a"], [1])


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([dt.date(2026, 1, 1), dt.date(2026, 1, 2)], "turn dates that are classes into strings"),
        (np.array(["2026-01-01", "2026-01-02"], dtype="M8[D]"), "turn dates"),
        ([b"a", b"b"], "integers, booleans or strings"),
        ([0, float("nan")], "integers, booleans or strings"),
        ([None, 1], "integers, booleans or strings"),
        ([[0], [1]], "integers, booleans or strings"),
        (["\ud800", "b"], "Unicode"),
        ("ab", "two or more"),
        ([0], "two or more"),
        ([0, 0], "two or more"),
    ],
    ids=str,
)
def test_labels_that_a_store_cannot_keep_are_refused_in_words(
    labels: object, message: str, tmp_path: Path
):
    path = tmp_path / "m.sqlite"
    with pytest.raises(InvalidInputError, match=message):
        CalibrationMonitor(path, labels=labels)  # type: ignore[arg-type]
    assert not path.exists()
    if message.startswith("turn") and isinstance(labels, list):
        with pytest.raises(InvalidInputError):
            CalibrationMonitor().update([labels[0], labels[1]] * 20, [0.2, 0.7] * 20)


@pytest.mark.parametrize("label", [dt.date(2026, 1, 1), b"a", float("nan"), [1]], ids=str)
def test_a_positive_class_is_a_label(label: object):
    with pytest.raises(InvalidInputError, match="pos_label"):
        CalibrationMonitor(pos_label=label)


@pytest.mark.parametrize("time", [np.datetime64("NaT"), float("nan"), 7, b"2026"], ids=str)
def test_what_is_no_time_is_refused(time: object):
    with pytest.raises(InvalidInputError, match="a point in time"):
        CalibrationMonitor().update(*rows(0), timestamp=time)


@pytest.mark.parametrize("name", [float("nan"), [1], 2.0, True, b"a", dt.date(2026, 1, 1)], ids=str)
def test_names_of_batches_are_text(name: object):
    with pytest.raises(InvalidInputError, match="`batch_id` must be text"):
        CalibrationMonitor().update(*rows(0), batch_id=name)  # type: ignore[arg-type]
