"""Fitting and applying calibrators where rows are checked already."""

from __future__ import annotations

from typing import Any

import numpy as np

from veridical._core.typing import FloatArray
from veridical.calibrators._base.calibrator import Calibrator, Notes
from veridical.calibrators._base.features import FeatureCalibrator
from veridical.calibrators._base.rows import CheckedRows, positive_last


def fit_rows(calibrator: Calibrator, rows: CheckedRows) -> Notes:
    """Fit a calibrator to checked rows, with class indices for labels.

    Which column is whose is settled, so direction is not doubted. A class with a `fit` of its own
    is fitted by that.
    """
    if getattr(type(calibrator), "fit", None) not in (Calibrator.fit, FeatureCalibrator.fit):
        values = rows.values if rows.values.ndim == 1 else positive_last(rows.values, rows.positive)
        calibrator.fit(values, np.asarray(rows.classes)[rows.index], sample_weight=rows.weight)
        return ()
    calibrator._start_fit()
    return calibrator._fit_rows(rows)


def predict_rows(calibrator: Calibrator, rows: CheckedRows) -> FloatArray:
    """Probabilities (n, K) of checked rows in their order: of two classes the positive one last."""
    two, values = len(rows.classes) == 2, rows.values
    if two and values.ndim == 2:
        values = positive_last(values, calibrator.positive_index_)
    p = calibrator.predict_proba(values)
    return positive_last(p, calibrator.positive_index_) if two else p


def fit_settled(calibrator: Calibrator, y_prob: Any, y: Any, sample_weight: Any) -> Notes:
    """Fit to data whose columns are known to be in order, so that direction is not doubted."""
    if type(calibrator).fit not in (Calibrator.fit, FeatureCalibrator.fit):
        calibrator.fit(y_prob, y, sample_weight)
        return ()
    calibrator._start_fit()
    return calibrator._fit_rows(calibrator._read_rows(y_prob, y, sample_weight))
