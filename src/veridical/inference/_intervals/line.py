"""Limits of the recalibration line that hold with few events, and where the line is not the truth.

Intercept and slope are roots of means: E[y - q] = 0, and E[(y - q) (x - c)] = 0 with q =
expit(a + b x) and c the mean log-odds weighted by q (1 - q), so that the other coefficient does not
matter to first order (Neyman's orthogonal score). A value is within the limits where zero is within
those of the mean, taken as a mean of a bounded variable. Nothing is supposed about the shape of the
curve, whose best line this is.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from veridical._core.sample import BinarySample
from veridical._core.typing import FloatArray
from veridical.inference._cox.binary import clipped_log_odds, in_cells
from veridical.inference._draws.rows import likelihood_weight
from veridical.inference._intervals.bounded import Masses, tail_below_zero
from veridical.inference._intervals.support import expected_support

_FARTHEST = 64.0  # coefficients beyond are infinite
_STEPS = 100


class LineLimits(NamedTuple):
    """Limits (low, high) of the slope, and of the intercept with slope 1."""

    slope: tuple[float, float]
    in_the_large: tuple[float, float]


class _Rows(NamedTuple):
    """Outcomes and log-odds of rows that stand for `shape` rows of weight `scale`."""

    y: FloatArray
    x: FloatArray
    shape: FloatArray
    scale: FloatArray

    @property
    def weight(self) -> FloatArray:
        return self.shape * self.scale


def line_limits(sample: BinarySample, level: float) -> LineLimits:
    """Limits of both coefficients, infinite where the data say nothing."""
    rows = _rows(sample)
    tail = (1 - level) / 2
    infinite = (-math.inf, math.inf)
    slope = infinite if rows.x.min() == rows.x.max() else _limits(rows, _of_slope, tail)
    return LineLimits(slope, _limits(rows, _of_level, tail))


def _rows(sample: BinarySample) -> _Rows:
    sample = in_cells(sample)
    x = clipped_log_odds(sample.p)
    y, ones = sample.y.astype(np.float64), np.ones(sample.n)
    if sample.weight is None or sample.weight_type == "frequency":
        return _Rows(y, x, likelihood_weight(sample), ones)
    return _Rows(y, x, ones, sample.weight)


class _Score(NamedTuple):
    """Values whose mean is zero at the truth, and the ends of their support."""

    value: FloatArray
    lowest: float
    highest: float


def _limits(
    rows: _Rows, score: Callable[[_Rows, float], _Score], tail: float
) -> tuple[float, float]:
    """Where each tail falls to its share."""

    def over(at: float) -> float:
        value, _, highest = score(rows, at)
        masses = Masses(value, rows.shape, rows.scale).pooled()
        return tail_below_zero(masses, highest) - tail

    def under(at: float) -> float:
        value, lowest, _ = score(rows, -at)
        masses = Masses(-value, rows.shape, rows.scale).pooled()
        return tail_below_zero(masses, -lowest) - tail

    low, high = -_crossing(under), _crossing(over)
    return low, max(low, high)


def _crossing(function: Callable[[float], float]) -> float:
    """Where a falling function changes its sign, from zero outwards; infinite if it does not."""
    from scipy.optimize import brentq

    here, step = 0.0, 0.25
    sign = 1.0 if function(here) > 0 else -1.0
    while abs(here) < _FARTHEST:
        new = here + sign * step
        if function(new) * sign <= 0:
            first, last = sorted((here, new))
            return float(brentq(function, first, last, xtol=1e-6, rtol=1e-6))
        here, step = new, 2 * step
    return sign * math.inf


def _of_level(rows: _Rows, intercept: float) -> _Score:
    from scipy.special import expit

    q = expit(intercept + rows.x)
    return _Score(rows.y - q, -float(q.max()), 1 - float(q.min()))


def _of_slope(rows: _Rows, slope: float) -> _Score:
    from scipy.special import expit

    q = expit(_best_intercept(rows, slope) + slope * rows.x)
    information = rows.weight * q * (1 - q)
    total = float(information.sum())
    middle = float(information @ rows.x) / total if total > 0 else float(rows.x.mean())
    away = rows.x - middle
    value = (rows.y - q) * away
    possible = np.column_stack([-q * away, (1 - q) * away])
    return _Score(value, *expected_support(possible, np.column_stack([1 - q, q]), value))


def _best_intercept(rows: _Rows, slope: float) -> float:
    """Intercept with which the mean prediction is the frequency; far out if that is 0 or 1."""
    from scipy.special import expit

    weight, x = rows.weight, slope * rows.x
    observed = float(weight @ rows.y)
    first, last = -_FARTHEST - float(x.max()), _FARTHEST - float(x.min())
    at = min(max(0.0, first), last)
    for _ in range(_STEPS):
        q = expit(at + x)
        excess = float(weight @ q) - observed
        if excess > 0:
            last = at
        else:
            first = at
        curvature = float(weight @ (q * (1 - q)))
        new = at - excess / curvature if curvature > 0 else math.nan
        if not first < new < last:
            new = (first + last) / 2
        if abs(new - at) <= 1e-9 * (1 + abs(at)):
            return new
        at = new
    return at
