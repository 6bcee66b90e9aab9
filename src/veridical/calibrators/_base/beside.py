"""Fitting with what stands beside predictions: features of rows, and what rows belong to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from veridical._core.data.arrays import to_numpy
from veridical._core.data.groups import cluster_codes
from veridical.calibrators._base.frames import read_columns
from veridical.calibrators._base.rows import direction_doubts, text_columns
from veridical.exceptions import warn_of


def fit_beside(
    calibrator: Any,
    y_prob: Any,
    y: Any,
    sample_weight: Any,
    prob: Any,
    *,
    by: Any = None,
    groups: Any = None,
) -> Any:
    """Read rows with their features and groups, fit, and say what is in doubt."""
    caller, columns = type(calibrator).__name__, None
    calibrator._start_fit()
    if isinstance(y, str):
        y_prob, y, sample_weight, by, groups, columns = read_columns(
            y_prob, y, prob, sample_weight, by, groups=groups, caller=caller
        )
    rows = calibrator._read_rows(y_prob, y, sample_weight)
    kept = np.ones(len(rows.y), dtype=bool)
    if sample_weight is not None:  # rows of weight zero are gone
        kept = to_numpy(sample_weight, caller=caller, param="sample_weight").reshape(-1) != 0
    if groups is not None:
        rows = replace(rows, groups=cluster_codes(groups, kept, caller=caller))
    if by is not None:
        rows = replace(rows, codes=calibrator._fit_codes(by, kept, rows))
    notes = calibrator._fit_rows(rows)
    notes += direction_doubts(rows, caller=caller, pos_label=calibrator.pos_label)
    names = text_columns(y_prob) if columns is None else columns.prob
    if names is not None:
        calibrator._remember_columns(names)
    if columns is not None:
        calibrator.outcome_name_ = columns.y
    warn_of(notes)
    return calibrator
