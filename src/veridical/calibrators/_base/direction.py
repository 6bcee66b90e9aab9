"""One column of predictions that points away from the class it is taken to be about."""

from __future__ import annotations

import math

import numpy as np

from veridical._core.sample import effective_size, weighted_mean
from veridical._core.typing import Array, FloatArray, WeightType
from veridical.calibrators._base.rows import CheckedRows

_CLEARLY = 4.0  # standard errors: about 3 false alarms in 100,000 fits of useless predictions
_FEWEST = 10.0  # rows of each class; the spread of fewer is not known well enough
_ROUNDING = 1e-9  # relative to the largest prediction


def points_away(
    values: FloatArray, y: Array, weight: FloatArray | None, weight_type: WeightType
) -> bool:
    """Whether predictions are clearly lower where y is 1 than where it is 0.

    Clearly is by four standard errors of the difference of two means (Welch), with effective sizes
    of weighted rows. With less than ten rows of a class the answer is no. O(n).

    Examples
    --------
    >>> p, y = np.repeat([0.9, 0.1], 20), np.repeat([1, 0], 20)
    >>> points_away(p, y, None, "importance"), points_away(p, 1 - y, None, "importance")
    (False, True)
    """
    scale = float(np.abs(values).max())
    if scale == 0:
        return False
    means, variance = [], 0.0
    for outcome in (0, 1):
        rows = np.flatnonzero(y == outcome)
        part = values[rows].astype(np.float64) / scale
        own = None if weight is None else weight[rows]
        if len(part) == 0 or (size := effective_size(own, len(part), weight_type)) < _FEWEST:
            return False
        means.append(weighted_mean(part, own))
        variance += weighted_mean((part - means[-1]) ** 2, own) / (size - 1)
    return means[1] - means[0] < -_CLEARLY * math.sqrt(variance) - _ROUNDING


def direction_doubts(rows: CheckedRows, *, caller: str) -> tuple[str, ...]:
    """A sentence if one column of predictions points away from the larger of two labels."""
    if rows.values.ndim == 2 or not points_away(rows.values, rows.y, rows.weight, rows.weight_type):
        return ()
    smaller, larger = (repr(label) for label in sorted(np.asarray(rows.classes).tolist()))
    doubt = (
        f"{caller}: predictions are lower where {larger} happened, though one column is that of "
        f"the larger label, {larger}; if yours is that of {smaller}, fit to y == {smaller}."
    )
    return (doubt,)
