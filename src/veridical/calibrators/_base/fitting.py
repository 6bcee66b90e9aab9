"""Fitting and applying calibrators where rows are checked already."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from veridical._core.typing import FloatArray, IntArray
from veridical.calibrators._base.calibrator import Calibrator, Notes
from veridical.calibrators._base.rows import CheckedRows, positive_last
from veridical.exceptions import invalid


def _reads_rows(calibrator: Calibrator) -> bool:
    """Whether its `fit` is to read rows and hand them on, and nothing else."""
    fit = getattr(type(calibrator), "fit", None)
    return fit is Calibrator.fit or getattr(fit, "only_reads", False)


def _check_sums(calibrator: Calibrator) -> None:
    """Raise unless rows are distributions, which whatever is made of a map relies on."""
    if not getattr(calibrator, "normalize", True):  # of one-vs-rest maps
        caller, hint = type(calibrator).__name__, "use it by itself, or `normalize=True`."
        expected = "True in a part of something else"
        raise invalid(caller, "normalize", expected, "False", hint=hint)


def fit_rows(calibrator: Calibrator, rows: CheckedRows) -> Notes:
    """Fit a calibrator to checked rows, with class indices for labels.

    Which column is whose is settled, so direction is not doubted. A class with a `fit` of its own
    is fitted by that.
    """
    _check_sums(calibrator)
    if not _reads_rows(calibrator):
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


def fit_settled(
    calibrator: Calibrator,
    y_prob: Any,
    y: Any,
    sample_weight: Any,
    groups: IntArray | None = None,
) -> Notes:
    """Fit to data whose columns are known to be in order, so that direction is not doubted.

    `groups` are numbers from 0 of what rows belong to; no row has weight zero then.
    """
    _check_sums(calibrator)
    if not _reads_rows(calibrator):
        calibrator.fit(y_prob, y, sample_weight)
        return ()
    calibrator._start_fit()
    rows = calibrator._read_rows(y_prob, y, sample_weight)
    if groups is not None:  # of rows of positive weight
        rows = replace(rows, groups=groups)
    return calibrator._fit_rows(rows)
