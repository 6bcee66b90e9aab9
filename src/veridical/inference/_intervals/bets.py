"""Bets c(p) (y - p) on the outcomes of rows: limits of their mean, and the most promising ones.

An error that is the largest mean of a family of bets has an upper limit without any correction for
their number: whatever the best bet of the population is, its mean is below its own upper limit, and
so below the largest of those of all bets. With clusters every bet has a design effect of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from veridical._core.typing import FloatArray
from veridical.inference._intervals.bounded import upper_limit
from veridical.inference._intervals.rows import Rows

_ROUNDS = 8
_CUTS = (0.25, 0.5, 0.75)


def upper_of_bet(rows: Rows, bet: FloatArray, tail: float) -> float:
    """Upper limit of the mean of a bet on every row."""
    most = float(np.maximum(bet * (1 - rows.p), -bet * rows.p).max())
    value = bet * (rows.y - rows.p)
    effect = rows.design_effect(value, 1 - 2 * tail)
    if math.isinf(effect):
        return most
    return upper_limit(rows.masses(value, effect), most, tail).value


def noise_effect(rows: Rows, level: float) -> float:
    """Largest design effect of the residuals of all rows, and of those with the lowest scores."""
    if rows.clusters is None:
        return 1.0
    residual = rows.y - rows.p
    held = [rows.p <= cut for cut in np.quantile(rows.p, _CUTS)]
    parts = [residual, *(np.where(part, residual, 0.0) for part in held)]
    return max(rows.design_effect(part, level) for part in parts)


def squared_noise(rows: Rows, effect: float) -> FloatArray:
    """Variance that each row or cell adds to the mean residual, as observed."""
    total = rows.whole
    return effect * rows.shape * (rows.scale * (rows.y - rows.p) / total) ** 2


def total_noise(rows: Rows, effect: float, most: FloatArray | float = 1.0) -> float:
    """Standard error of bets up to `most`, as observed or as predicted, whichever is larger."""
    seen = float((squared_noise(rows, effect) * most**2).sum())
    share = effect * rows.shape * (rows.scale / rows.whole) ** 2
    return math.sqrt(max(seen, float((share * rows.p * (1 - rows.p) * most**2).sum())))


class Smoother(NamedTuple):
    """Bets that follow from signs at nodes.

    Attributes
    ----------
    on_rows : the bet on every row, of signs at the nodes
    at_nodes : what masses of the rows add up to at the nodes
    """

    on_rows: Callable[[FloatArray], FloatArray]
    at_nodes: Callable[[FloatArray], FloatArray]


def largest_upper(
    rows: Rows, smoother: Smoother, starts: Iterable[FloatArray], tail: float
) -> float:
    """Largest upper limit of bets looked for from these signs."""
    bets = (_climbed(rows, smoother, start, tail) for start in starts)
    return max(upper_of_bet(rows, bet, tail) for bet in bets)


def upper_of_constants(rows: Rows, bet: FloatArray, tail: float) -> float:
    """Larger upper limit of a bet that is looked at as it is, and of its opposite.

    With few events a bet on all rows, which seems to have no noise, may have the largest limit.
    """
    return max(upper_of_bet(rows, bet, tail), upper_of_bet(rows, -bet, tail))


def _climbed(rows: Rows, smoother: Smoother, sign: FloatArray, tail: float) -> FloatArray:
    """The bet at which the mean and its standard errors are largest, by ascent."""
    from scipy.special import ndtri

    residual, z = rows.y - rows.p, float(ndtri(1 - tail))
    best: FloatArray = np.zeros(len(residual))
    most = -math.inf
    for _ in range(_ROUNDS):
        on = smoother.on_rows(sign)
        value = on * residual
        mean = rows.mean(value)
        away = rows.scale * (value - mean)
        size = math.sqrt(float(rows.shape @ away**2))
        limit = mean + z * size / rows.whole
        if limit <= most or size == 0:
            return on if size == 0 else best
        best, most = on, limit
        mass = smoother.at_nodes(rows.total * (1 + z * away / size) * residual)
        sign = np.where(mass < 0, -1.0, 1.0)
    return best
