"""From gaps of bins to one number."""

from __future__ import annotations

import math

import numpy as np

from veridical._core.typing import FloatArray
from veridical.exceptions import invalid


def powered_gaps(
    gap: FloatArray,
    share: FloatArray,
    size: FloatArray,
    power: float,
    variance: FloatArray | None,
) -> FloatArray:
    """Error to the power p of each problem (rows of (M, B) arrays); the maximum for p = inf.

    With the variance of a single outcome in each bin the result is debiased and may be negative.
    """
    if math.isinf(power):
        return np.where(share > 0, gap, 0.0).max(axis=1)
    if variance is None:
        return (share * gap**power).sum(axis=1)
    if power == 1:
        return (share * (gap - _folded_excess(gap, variance, size))).sum(axis=1)
    informed = size > 1 + 1e-9
    kept = np.where(informed, share, 0.0)
    total = kept.sum(axis=1)
    if not (total > 0).all():
        hint = "use fewer bins, because the bias of a bin of one row cannot be estimated."
        raise invalid("BinnedError", "y_prob", "two rows in some bin", "one row a bin", hint=hint)
    correction = variance / np.where(informed, size - 1, 1.0)
    return (kept * (gap**2 - correction)).sum(axis=1) / total


def roots(powered: FloatArray, power: float) -> FloatArray:
    """Roots of p-th powers, cut at zero."""
    positive = np.maximum(powered, 0.0)
    return positive if math.isinf(power) or power == 1 else positive ** (1 / power)


def lp_error(powered: float, power: float) -> float:
    """Root of a p-th power, cut at zero."""
    return float(roots(np.asarray(powered), power))


def aggregate_classes(powered: FloatArray, power: float, how: str) -> FloatArray:
    """One number over the problems (last axis): p-norm of the mean, plain mean, or maximum."""
    if how == "norm":
        combined = powered.max(axis=-1) if math.isinf(power) else powered.mean(axis=-1)
        return roots(combined, power)
    each = roots(powered, power)
    return each.mean(axis=-1) if how == "mean" else each.max(axis=-1)


def _folded_excess(gap: FloatArray, variance: FloatArray, size: FloatArray) -> FloatArray:
    """E|g + s Z| - |g| for standard normal Z (a folded normal), s^2 = variance / size."""
    from scipy.special import ndtr

    spread = np.sqrt(variance / np.where(size > 0, size, 1.0))
    ratio = np.divide(gap, spread, out=np.full(gap.shape, np.inf), where=spread > 0)
    density = math.sqrt(2 / math.pi) * np.exp(-(np.minimum(ratio, 40.0) ** 2) / 2)
    return spread * density - 2 * gap * ndtr(-ratio)
