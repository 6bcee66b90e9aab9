"""Curves of counted rows against those of the rows themselves."""

from __future__ import annotations

import numpy as np
import pytest

from veridical import reliability_curve
from veridical.exceptions import InvalidInputError
from veridical.monitoring import CalibrationMonitor

CENTRES = np.array([0.05, 0.25, 0.45, 0.65, 0.85])  # of five bins of ten: no edge is near


def batches(n: int) -> list[tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(5)
    found = []
    for _ in range(n):
        p = rng.choice(CENTRES, 500)
        found.append(((rng.random(500) < p).astype(int), p))
    return found


def test_curves_are_those_of_the_rows():
    monitor = CalibrationMonitor(window=1200)
    data = batches(8)
    for batch in data:
        monitor.update(*batch)
    found = monitor.curves()
    for name, rows in (("before", data[:5]), ("now", data[5:])):  # three make up 1,200 rows
        y, p = (np.concatenate(column) for column in zip(*rows, strict=True))
        expected = reliability_curve(y, p, n_bins=10)
        assert found[name].n_samples == len(y)
        for field in ("lower", "upper", "count", "weight", "predicted", "observed", "low", "high"):
            np.testing.assert_allclose(
                getattr(found[name], field), getattr(expected, field), rtol=1e-9, err_msg=field
            )
        assert found[name].lens == expected.lens
        assert found[name].interval == expected.interval


def test_no_row_is_both_before_and_now():
    monitor = CalibrationMonitor(window=300)  # less than a batch
    for batch in batches(3):
        monitor.update(*batch)
    found = monitor.curves()
    assert (found["before"].n_samples, found["now"].n_samples) == (1000, 500)
    first = CalibrationMonitor()
    first.update(*batches(1)[0])
    assert set(first.curves()) == {"now"}


def test_of_three_classes_the_confidence_is_drawn():
    rng = np.random.default_rng(1)
    p = rng.dirichlet([1, 1, 1], 300)
    y = rng.integers(0, 3, 300)
    monitor = CalibrationMonitor()
    monitor.update(y, p)
    curve = monitor.curves(n_bins=1)["now"]
    assert curve.lens == "confidence"
    assert curve.observed[0] == pytest.approx((p.argmax(axis=1) == y).mean())


@pytest.mark.parametrize("n_bins", [0, 2.5, "ten"])
def test_bins_are_counted(n_bins):
    monitor = CalibrationMonitor()
    monitor.update([0, 1], [0.2, 0.7])
    with pytest.raises(InvalidInputError, match="n_bins"):
        monitor.curves(n_bins=n_bins)
