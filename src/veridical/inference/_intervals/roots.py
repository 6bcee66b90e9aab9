"""Limits of a number at which a mean is zero, and of the level of predictions.

A value is within the limits where zero is within those of the mean, taken as a mean of a bounded
variable: nothing else is supposed, so they hold with few events, weights and clusters.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

from veridical._core.numeric.roots import root_between
from veridical._core.typing import FloatArray
from veridical.inference._intervals.bounded import Support, mean_limits, tail_below_zero
from veridical.inference._intervals.rows import Rows

FARTHEST = 64.0  # numbers beyond are infinite


class Score(NamedTuple):
    """Values whose mean is zero at the truth, and the ends of their support."""

    value: FloatArray
    lowest: float
    highest: float


def root_limits(
    rows: Rows, score: Callable[[float], Score], level: float, estimate: float
) -> tuple[float, float]:
    """Limits of the number whose score, which falls with it, has the mean zero."""
    tail = (1 - level) / 2
    effect = rows.design_effect(score(estimate if math.isfinite(estimate) else 0.0).value, level)
    if math.isinf(effect):
        return -math.inf, math.inf

    def over(at: float) -> float:
        value, _, highest = score(at)
        return tail_below_zero(rows.masses(value, effect), highest) - tail

    def under(at: float) -> float:
        value, lowest, _ = score(-at)
        return tail_below_zero(rows.masses(-value, effect), -lowest) - tail

    low, high = -_crossing(under), _crossing(over)
    return low, max(low, high)


def _crossing(function: Callable[[float], float]) -> float:
    """Where a falling function changes its sign, from zero outwards; infinite if it does not."""
    function = cache(function)
    here, step = 0.0, 0.25
    sign = 1.0 if function(here) > 0 else -1.0
    while abs(here) < FARTHEST:
        new = here + sign * step
        if function(new) * sign <= 0:
            first, last = sorted((here, new))
            return root_between(function, first, last, xtol=1e-6, rtol=1e-6)
        here, step = new, 2 * step
    return sign * math.inf


def gap_limits(rows: Rows, level: float) -> tuple[float, float]:
    """Limits of mean(y - p)."""
    gap = rows.y - rows.p
    effect = rows.design_effect(gap, level)
    support = Support(-float(rows.p.max()), 1 - float(rows.p.min()))
    if math.isinf(effect):
        return support.lowest, support.highest
    return mean_limits(rows.masses(gap, effect), support, level)


def ratio_limits(rows: Rows, level: float) -> tuple[float, float]:
    r"""Limits of mean(y) / mean(p): of the r at which the mean of :math:`y - r p` is zero.

    Fieller (1954), Journal of the Royal Statistical Society B 16, 175-185, takes ratios so.
    """
    observed, expected = rows.mean(rows.y), rows.mean(rows.p)
    estimate = math.log(observed / expected) if observed > 0 < expected else 0.0
    lowest, highest = float(rows.p.min()), float(rows.p.max())

    def score(at: float) -> Score:
        ratio = math.exp(at)
        return Score(rows.y - ratio * rows.p, -ratio * highest, 1 - ratio * lowest)

    low, high = root_limits(rows, score, level, estimate)
    return float(np.exp(low)), float(np.exp(high))
