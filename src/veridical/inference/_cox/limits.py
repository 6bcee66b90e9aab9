"""Limits of the recalibration line that hold with few events, and where the line is not the truth.

Coefficients are roots of means: E[y - q] = 0 and E[(y - q) (x - c)] = 0 with q = expit(a + b x) and
c the mean log-odds weighted by q (1 - q), so that the other coefficient does not matter to first
order (Neyman's orthogonal score). A value is within the limits where zero is within those of the
mean, taken as a mean of a bounded variable. Nothing is supposed about the shape of the curve, whose
best line this is, nor about the weights; with many rows these are the limits of a sandwich variance
(White 1982, doi 10.2307/1912526), over clusters if rows are not independent.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from veridical._core.typing import FloatArray
from veridical.inference._intervals.roots import FARTHEST, Score, root_limits
from veridical.inference._intervals.rows import Rows
from veridical.inference._intervals.support import expected_support

_STEPS = 100
_INFINITE = (-math.inf, math.inf)


class LineLimits(NamedTuple):
    """Limits (low, high) of slope and intercept, and of the intercept with slope 1."""

    slope: tuple[float, float]
    intercept: tuple[float, float]
    in_the_large: tuple[float, float]


class Line(NamedTuple):
    """Estimates of the same; infinite or None where the data do not tell them."""

    slope: float | None
    intercept: float | None
    in_the_large: float | None


def line_limits(
    rows: Rows, x: FloatArray, line: Line, level: float, *, with_intercept: bool = True
) -> LineLimits:
    """Limits of all coefficients, infinite where the data say nothing; `x` are the log-odds."""
    slope, intercept, in_the_large = (0.0 if each is None else each for each in line)
    large = root_limits(rows, lambda a: _of_level(rows, x, a), level, in_the_large)
    if x.min() == x.max():
        return LineLimits(_INFINITE, _INFINITE, large)
    tilted = root_limits(rows, lambda b: _of_slope(rows, x, b), level, slope)
    if not with_intercept:
        return LineLimits(tilted, _INFINITE, large)
    crossed = root_limits(rows, lambda a: _of_intercept(rows, x, a), level, intercept)
    return LineLimits(tilted, crossed, large)


def _of_level(rows: Rows, x: FloatArray, intercept: float) -> Score:
    from scipy.special import expit

    q = expit(intercept + x)
    return Score(rows.y - q, -float(q.max()), 1 - float(q.min()))


def _of_slope(rows: Rows, x: FloatArray, slope: float) -> Score:
    from scipy.special import expit

    offset = slope * x
    farthest = FARTHEST + float(np.abs(offset).max())
    q = expit(_root(rows, np.ones(len(x)), offset, farthest) + offset)
    information = rows.total * q * (1 - q)
    total = float(information.sum())
    middle = float(information @ x) / total if total > 0 else float(x.mean())
    return _moment(rows, q, x - middle)


def _of_intercept(rows: Rows, x: FloatArray, intercept: float) -> Score:
    from scipy.special import expit

    q = expit(intercept + _root(rows, x, np.full(len(x), intercept), FARTHEST) * x)
    information = rows.total * q * (1 - q)
    total = float(information @ x**2)
    return _moment(rows, q, 1 - x * (float(information @ x) / total if total > 0 else 0.0))


def _moment(rows: Rows, q: FloatArray, factor: FloatArray) -> Score:
    """Values of (y - q) times a factor, and what they may be."""
    value = (rows.y - q) * factor
    possible = np.column_stack([-q * factor, (1 - q) * factor])
    return Score(value, *expected_support(possible, np.column_stack([1 - q, q]), value, rows.shape))


def _root(rows: Rows, x: FloatArray, offset: FloatArray, farthest: float) -> float:
    """Coefficient b with which the mean of x (y - expit(offset + b x)) is zero; far out if none."""
    from scipy.special import expit

    weight = rows.total
    observed = float(weight @ (x * rows.y))
    first, last, at = -farthest, farthest, 0.0
    for _ in range(_STEPS):
        q = expit(offset + at * x)
        excess = float(weight @ (x * q)) - observed
        if excess > 0:
            last = at
        else:
            first = at
        curvature = float(weight @ (x**2 * q * (1 - q)))
        new = at - excess / curvature if curvature > 0 else math.nan
        if not first < new < last:
            new = (first + last) / 2
        if abs(new - at) <= 1e-9 * (1 + abs(at)):
            return new
        at = new
    return at
