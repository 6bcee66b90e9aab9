"""Rows that fake classifiers are made of."""

from __future__ import annotations

import numpy as np

from veridical._core.data.validation import check_probabilities, check_weight, float_array
from veridical._core.typing import ArrayLike, FloatArray
from veridical.exceptions import invalid


def weighted_rows(
    caller: str, param: str, values: ArrayLike, sample_weight: ArrayLike | None
) -> tuple[FloatArray, FloatArray]:
    """Rows of positive weight, (n, K), and their weights."""
    p = float_array(values, caller=caller, param=param)
    rows = check_probabilities(p, caller=caller, param=param).astype(np.float64)
    if len(rows) == 0:
        raise invalid(caller, param, "non-empty", "0 rows", hint="pass at least one row.")
    rows = np.column_stack([1 - rows, rows]) if rows.ndim == 1 else rows
    checked = check_weight(sample_weight, len(rows), caller=caller)
    weight = np.ones(len(rows)) if checked is None else checked
    return rows[weight > 0], weight[weight > 0]
