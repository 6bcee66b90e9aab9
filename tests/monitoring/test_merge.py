"""Several stores at one look."""

from __future__ import annotations

import math
import shutil
from pathlib import Path

import numpy as np
import pytest

from veridical.exceptions import InvalidInputError
from veridical.monitoring import CalibrationMonitor
from veridical.monitoring._judge.estimates import radius
from veridical.monitoring._watch.merge import merge_stores
from veridical.results.monitoring import MonitorStatus


def filled(path: Path, seeds: range, *, power: float = 1.0, **options: object) -> MonitorStatus:
    with CalibrationMonitor(path, **options) as monitor:  # type: ignore[arg-type]
        for seed in seeds:
            rng = np.random.default_rng(seed)
            p = rng.random(400)
            by = rng.choice(["a", "b"] if seed % 2 else ["b", "c"], 400)
            monitor.update((rng.random(400) < p**power).astype(int), p, by=by)
        return monitor.status()


def test_totals_add_and_evidence_is_the_mean(tmp_path: Path):
    paths = [tmp_path / f"{i}.sqlite" for i in range(3)]
    single = [filled(path, range(4 * i, 4 * i + i + 2)) for i, path in enumerate(paths)]
    merged = merge_stores(paths)
    assert merged.n_samples == sum(s.n_samples for s in single) == 400 * 9
    assert merged.n_batches == 9
    assert merged.e_value == pytest.approx(np.mean([s.e_value for s in single]))
    largest = max(merged.e_value, 1.0, max(s.max_e_value for s in single) / 3)
    assert merged.max_e_value == pytest.approx(largest)
    assert merged.pvalue == pytest.approx(1 / largest)
    start = [s.estimates[0] for s in single]
    total = sum(e.n_rows for e in start)
    assert merged.estimates[0].deviation == pytest.approx(
        sum(e.n_rows * e.deviation for e in start) / total
    )
    assert merged.estimates[0].mean_predicted == pytest.approx(
        sum(e.n_rows * e.mean_predicted for e in start) / total
    )
    for family, name in {(s.family, s.name) for status in single for s in status.streams}:
        (found,) = [s for s in merged.streams if (s.family, s.name) == (family, name)]
        every = [s for status in single for s in status.streams]
        own = [s for s in every if (s.family, s.name) == (family, name)]
        assert found.n_rows == sum(s.n_rows for s in own)
        share = np.array([1 / (0.05 * s.threshold) for s in own])
        assert found.e_value == pytest.approx(share @ [s.e_value for s in own] / share.sum())
        assert found.threshold == pytest.approx(3 / (0.05 * share.sum()))


def test_limits_are_those_of_a_union_bound(tmp_path: Path):
    paths = [tmp_path / f"{i}.sqlite" for i in range(2)]
    wide = 0.0
    for i, path in enumerate(paths):
        rng = np.random.default_rng(i)
        p = rng.random(400)
        y = (rng.random(400) < p).astype(int)
        with CalibrationMonitor(path) as monitor:
            monitor.update(y, p)
        wide += radius([((y - p) ** 2).sum()], 0.05 / 2 / 2).item()
    whole = merge_stores(paths).estimates[0]
    assert whole.high - whole.deviation == pytest.approx(wide / 800)
    assert whole.deviation - whole.low == pytest.approx(wide / 800)


def test_one_store_alone_is_its_own_mean(tmp_path: Path):
    path = tmp_path / "m.sqlite"
    alone = filled(path, range(3))
    merged = merge_stores([path])
    assert merged.e_value == pytest.approx(alone.e_value)
    assert merged.max_e_value == pytest.approx(alone.max_e_value)
    by_name = {(s.family, s.name): s for s in alone.streams}
    for stream in merged.streams:
        other = by_name[stream.family, stream.name]
        assert stream.threshold == pytest.approx(other.threshold)
        assert stream.low == pytest.approx(other.low)


def test_one_that_is_wrong_alarms_for_all_at_the_price_of_their_number(tmp_path: Path):
    fine, wrong = tmp_path / "fine.sqlite", tmp_path / "wrong.sqlite"
    filled(fine, range(5))
    bad = filled(wrong, range(5), power=2.0)
    merged = merge_stores([fine, wrong])
    assert merged.alarm
    assert merged.max_e_value == pytest.approx(bad.max_e_value / 2, rel=1e-3)
    assert "wrong.sqlite" in merged.verdict
    assert "predictions too high" in merged.verdict
    assert math.isclose(merged.pvalue, 1 / merged.max_e_value)
    assert MonitorStatus.from_json(merged.to_json()) == merged


def test_what_does_not_belong_together_is_refused(tmp_path: Path):
    first = tmp_path / "first.sqlite"
    filled(first, range(1))
    other = tmp_path / "other.sqlite"
    filled(other, range(1), level=0.01)
    with pytest.raises(InvalidInputError, match=r"0\.01 in .*other"):
        merge_stores([first, other])
    named = tmp_path / "named.sqlite"
    CalibrationMonitor(named, labels=["x", "y"]).close()
    with pytest.raises(InvalidInputError, match="of classes"):
        merge_stores([first, named])
    (tmp_path / "link.sqlite").symlink_to(first)
    with pytest.raises(InvalidInputError, match="each store once"):
        merge_stores([first, tmp_path / "link.sqlite"])
    with pytest.raises(InvalidInputError, match="existing stores"):
        merge_stores([tmp_path / "absent.sqlite"])
    assert not (tmp_path / "absent.sqlite").exists()
    with pytest.raises(InvalidInputError, match="at least one"):
        merge_stores([])


def test_empty_stores_are_no_evidence(tmp_path: Path):
    empty, full = tmp_path / "empty.sqlite", tmp_path / "full.sqlite"
    CalibrationMonitor(empty).close()
    assert merge_stores([empty]).n_samples == 0
    alone = filled(full, range(2))
    assert merge_stores([empty, full]).e_value == pytest.approx((1 + alone.e_value) / 2)


def rows_of(seed: int, n: int = 300) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    return (rng.random(n) < p).astype(int), p


def test_a_copy_and_a_hard_link_are_not_counted_twice(tmp_path: Path):
    first, copy, link = (tmp_path / f"{name}.sqlite" for name in ("first", "copy", "link"))
    filled(first, range(3))
    shutil.copy(first, copy)
    merged = merge_stores([first, copy])
    assert (merged.n_samples, merged.n_batches) == (1200, 3)
    assert any("copy.sqlite" in note and "left out" in note for note in merged.notes)
    link.hardlink_to(first)
    with pytest.raises(InvalidInputError, match="each store once"):
        merge_stores([first, link])
    with CalibrationMonitor(copy) as monitor:
        monitor.update(*rows_of(9))
    with pytest.raises(InvalidInputError, match="went on apart"):
        merge_stores([first, copy])


def test_batches_that_two_stores_have_count_once(tmp_path: Path):
    a, b, c = (tmp_path / f"{name}.sqlite" for name in "abc")
    for path, seeds in ((a, (0, 1, 2)), (b, (2, 3)), (c, (1, 0))):
        with CalibrationMonitor(path) as monitor:
            for seed in seeds:
                monitor.update(*rows_of(seed), batch_id=f"day {seed}")
    both = merge_stores([a, b])
    assert (both.n_samples, both.n_batches) == (1200, 4)  # days 0 to 3 of 300 rows
    assert any("300 rows of 1 batches" in note for note in both.notes)
    within = merge_stores([c, a])
    assert (within.n_samples, within.n_batches) == (900, 3)
    assert any("c.sqlite" in note and "left out" in note for note in within.notes)
    assert within.e_value == merge_stores([a]).e_value


def test_other_data_under_the_same_name_are_other_rows(tmp_path: Path):
    paths = [tmp_path / f"{name}.sqlite" for name in "ab"]
    for seed, path in enumerate(paths):
        with CalibrationMonitor(path) as monitor:
            monitor.update(*rows_of(seed), batch_id="monday")
    assert merge_stores(paths).n_samples == 600
