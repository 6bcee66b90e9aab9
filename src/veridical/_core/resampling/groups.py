r"""What outcomes of a group have in common: a level, and a slope.

Groups may differ in level (all of a group's outcomes are likelier than predicted) and in slope
(those of its high predictions are, those of its low ones are less so). Either is a part of the
outcomes that share a uniform number, for the slope turned around (1 - u) where predictions are
low. How many do is estimated by moments: sums over a group of residuals, and of residuals times the
distance of log-odds from their mean, have the variance of independent rows plus that of the pairs
which share a number. Level and slope of all rows are taken from the residuals before, since these
are what is tested.

Of more than two classes all share the number, and what a class has in common beyond that (the first
and the last of ordered grades, say) is shared by itself: a number common to the group decides
whether it occurs, and the row which of the others does.

Few groups do not tell it well: every draw takes :math:`\rho \nu / \chi^2_\nu` for about
:math:`\nu + 1` groups, as Student's distribution does with a variance.
"""

from __future__ import annotations

import numpy as np

from veridical._core.resampling.redraw import Redraw, Sharing
from veridical._core.typing import BoolArray, FloatArray, IntArray

_TINY = 1e-12
_ALIKE = 1e-6  # of determinants: level and slope say the same
_SHARED = 64  # draws that say how much shared outcomes of several classes have in common


def sharing_of(made: Redraw, y: IntArray, group: IntArray) -> Sharing:
    """How outcomes go together within groups, given those observed."""
    n_groups = int(group.max()) + 1
    y = y.astype(np.intp)
    classes = [1] if made.p.shape[1] == 2 else list(range(made.p.shape[1]))
    at, each = np.arange(made.n), made.variance
    residuals = []
    for k in classes:
        residual = made.weight[at, y] * ((y == k) - made.p[:, k])
        residuals.append(_without_line(residual, each[:, k], made.p[:, k]))
    variance = np.bincount(group, each[:, classes].sum(axis=1))
    lost = 1.0
    if len(classes) == 1:
        away = _from_mean(made.p[:, 1], each[:, 1])
        lost += _between(away, each[:, 1], group, n_groups)
    few = n_groups / max(n_groups - lost, 1.0)  # level, and slope, were estimated
    pairs = np.array([_pairs(residual, group, few) for residual in residuals])
    seen, slope, more = float(pairs.sum()), 0.0, None
    if len(classes) > 1:
        by_class = _shared_by_all(made, group, n_groups, classes)
        correlation = min(max(_ratio(seen, float(by_class.sum())), 0.0), 1.0)
        left = pairs - correlation * by_class.sum(axis=1)
        alone = np.array([_shared_by_one(made, group, n_groups, k) for k in classes])
        more = np.maximum(left / np.maximum(alone.sum(axis=1), _TINY), 0.0)
        more *= min(1.0, _ratio(1 - correlation, float(more.sum())))
        shared = correlation * by_class.sum(axis=0) + more @ alone
    else:
        level, turned = np.ones(made.n), away < 0
        by_level, by_slope = (
            [shared_by_two(made, group, n_groups, weight, flip) for weight in (level, away)]
            for flip in (None, turned)
        )
        table = np.array([by_level, by_slope]).sum(axis=2).T
        found = np.array([seen, _pairs(away * residuals[0], group, few)])
        correlation, slope = _shares(table, found)
        shared = correlation * by_level[0] + slope * by_slope[0]
    spread = np.maximum(variance + shared, 0.0)
    told = float(spread.sum()) ** 2 / max(float(spread @ spread), _TINY)
    wider = max(1 + float(shared.sum()) / max(float(variance.sum()), _TINY), 1.0)
    low = None if slope == 0 else turned
    return Sharing(group, correlation, max(told - lost, 1.0), wider, slope, low, more)


def _ratio(top: float, bottom: float) -> float:
    return top / bottom if bottom > 0 else 0.0


def _pairs(values: FloatArray, group: IntArray, few: float) -> float:
    """Sum of products of pairs of a group."""
    sums = np.bincount(group, values)
    return float(sums @ sums) * few - float(values @ values)


def _shares(table: FloatArray, found: FloatArray) -> tuple[float, float]:
    """Parts of the pairs that share a level and a slope; neither negative, together at most all.

    Rows are the two sums of pairs, columns what all of either kind would make of them. Where
    predictions do not differ within groups the two cannot be told apart: then it is the level.
    """
    both: FloatArray = np.zeros(2)
    alone = [_ratio(found[k], table[k, k]) for k in (0, 1)]
    if np.linalg.det(table) > _ALIKE * abs(table[0, 0] * table[1, 1]):
        both = np.linalg.solve(table, found)
        if (both < 0).any():
            both = np.zeros(2)
            # The one that explains more of what is seen, in its own units.
            k = int(alone[1] > alone[0])
            both[k] = max(alone[k], 0.0)
    else:
        both[0] = max(alone[0], 0.0)
    level, slope = np.minimum(both, 1.0)
    return float(level), float(slope)


def _from_mean(p: FloatArray, variance: FloatArray) -> FloatArray:
    """Distance of log-odds from their mean, at most one in size."""
    odds = _log_odds(p)
    away = odds - float(variance @ odds) / max(float(variance.sum()), _TINY)
    return away / max(float(np.abs(away).max()), _TINY)


def _log_odds(p: FloatArray) -> FloatArray:
    inside = np.clip(p, 1e-9, 1 - 1e-9)
    return np.asarray(np.log(inside) - np.log1p(-inside))


def _between(away: FloatArray, variance: FloatArray, group: IntArray, n_groups: int) -> float:
    """Share of the spread of log-odds that lies between groups: a slope they estimate."""
    total = float(variance @ away**2)
    size = np.bincount(group, variance, minlength=n_groups)
    sums = np.bincount(group, variance * away, minlength=n_groups)
    among = float((sums**2 / np.maximum(size, _TINY)).sum())
    return min(among / total, 1.0) if total > _TINY else 0.0


def _without_line(residual: FloatArray, variance: FloatArray, p: FloatArray) -> FloatArray:
    """Residuals less what level and slope explain, which is not what groups have in common."""
    odds = _log_odds(p)
    columns = np.stack([np.ones_like(odds), odds / max(float(np.abs(odds).max()), 1.0)])
    information = (columns * variance) @ columns.T
    line = np.linalg.pinv(information, rcond=1e-10) @ (columns @ residual)
    return np.asarray(residual - variance * (line @ columns))


def _shared_by_all(made: Redraw, group: IntArray, n_groups: int, classes: list[int]) -> FloatArray:
    """Covariances of residuals that share their uniform number, over pairs: (classes, groups)."""
    shared = np.zeros((len(classes), n_groups))
    rng = np.random.default_rng(0)
    reached = np.cumsum(made.chance, axis=1)
    reached /= reached[:, -1:]
    at = np.arange(made.n)
    for _ in range(_SHARED):
        y = (rng.random(n_groups)[group][:, None] >= reached[:, :-1]).sum(axis=1)
        weight = made.weight[at, y]
        for k in classes:
            residual = weight * ((y == k) - made.p[:, k])
            sums = np.square(np.bincount(group, residual))
            shared[k] += sums - np.bincount(group, residual**2)
    return shared / _SHARED


def _shared_by_one(made: Redraw, group: IntArray, n_groups: int, k: int) -> FloatArray:
    """The same of class k, by group, if only whether it occurs is shared."""
    chance, weight = made.chance[:, k], made.weight[:, k]
    others = (made.expected_weight - chance * weight) / np.maximum(1 - chance, _TINY)
    step = weight * (1 - made.p[:, k]) + others * made.p[:, k]
    return _of_nested(step, chance, group, n_groups)


def shared_by_two(
    made: Redraw,
    group: IntArray,
    n_groups: int,
    times: FloatArray | None = None,
    turned: BoolArray | None = None,
) -> FloatArray:
    """The same of two classes, exactly: the covariance of 1[u < a] and 1[u < b] is min - a b.

    Residuals may be multiplied; rows that are turned have 1 - u: 1[1 - u < a] = 1 - 1[u < 1 - a].
    """
    residual = made.residuals
    step: FloatArray = residual[:, 1] - residual[:, 0]
    step = step if times is None else step * times
    chance: FloatArray = made.chance[:, 1]
    if turned is not None:
        step, chance = np.where(turned, -step, step), np.where(turned, 1 - chance, chance)
    return _of_nested(step, chance, group, n_groups)


def _of_nested(step: FloatArray, chance: FloatArray, group: IntArray, n_groups: int) -> FloatArray:
    """Covariances over pairs of a group of step * 1[u < chance]."""
    order = np.lexsort((chance, group))
    g, step, chance = group[order], step[order], chance[order]
    upto = np.cumsum(step)
    last = upto[np.append(np.flatnonzero(np.diff(g)), len(g) - 1)][g]
    least = np.bincount(g, 2 * step * chance * (last - upto), minlength=n_groups)
    product = np.square(np.bincount(g, step * chance, minlength=n_groups))
    product -= np.bincount(g, np.square(step * chance), minlength=n_groups)
    return np.asarray(least - product)
