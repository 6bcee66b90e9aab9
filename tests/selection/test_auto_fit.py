"""One fit with what it held out: the same map and table as `AutoCalibrator`, and fair rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from veridical import AutoCalibrator
from veridical._core.data.left_out import LeftOut
from veridical.calibrators.core import CheckedRows
from veridical.selection._auto.held_out import AutoFit
from veridical.selection.core import auto_fit


def _rows(n: int, slope: float, seed: int = 0) -> CheckedRows:
    rng = np.random.default_rng(seed)
    z = rng.normal(0, 2, n)
    y = (rng.random(n) < 1 / (1 + np.exp(-slope * z))).astype(int)
    return CheckedRows(1 / (1 + np.exp(-z)), y, None, "importance", (0, 1))


@pytest.mark.parametrize(("n", "slope"), [(300, 0.5), (900, 0.5), (900, 1.0)])
def test_it_is_the_fit_of_the_calibrator(n, slope):
    rows = _rows(n, slope)
    found = auto_fit(rows, confidence_level=0.95)
    usual = AutoCalibrator().fit(rows.values, rows.y)
    assert isinstance(found, AutoFit)

    def timeless(evidence):
        return [replace(each, seconds=0.0) for each in evidence.candidates]

    assert timeless(found.evidence) == timeless(usual.evidence_)
    grid = np.linspace(0.01, 0.99, 50)
    assert np.array_equal(found.calibrator.predict_proba(grid), usual.predict_proba(grid))
    assert found.left_alone == (found.evidence.candidates[0].weight == 1)


def test_every_row_is_held_out_once_with_its_outcome():
    rows = _rows(400, 0.6)
    found = auto_fit(rows, confidence_level=0.95)
    assert isinstance(found, AutoFit)
    given = sorted(zip(found.before[:, 1].tolist(), found.y.tolist(), strict=True))
    assert given == sorted(zip(rows.values.tolist(), rows.y.tolist(), strict=True))
    losses = [
        -np.log(p[np.arange(len(found.y)), found.y]).mean() for p in (found.before, found.own)
    ]
    # What is held out does no better than the map does on the rows it was fitted to.
    after = -np.log(found.after[np.arange(len(found.y)), found.y]).mean()
    assert losses[1] <= after < losses[0]


def test_too_few_rows_hold_nothing_out():
    rows = CheckedRows(np.array([0.2, 0.8]), np.array([0, 1]), None, "importance", (0, 1))
    assert isinstance(auto_fit(rows, confidence_level=0.95), (AutoFit, LeftOut))
