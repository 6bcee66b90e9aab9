"""The linear relaxation of the multiple-choice knapsack, solved greedily."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veridical._core.typing import Array, BoolArray, FloatArray, IntArray

_MOST_FILLS = 5000  # increments looked at to use up what the relaxation leaves of the budget


@dataclass(frozen=True, kw_only=True)
class Relaxation:
    """Solution of the relaxation, rounded down.

    Attributes
    ----------
    base : option of each row before the first increment that does not fit
    residual : what is left of the budget then, in the unit of the costs
    price : value per cost of that increment; 0 if everything useful fits
    filled : like `base`, with further increments taken as long as they fit
    """

    base: IntArray
    residual: float
    price: float
    filled: IntArray


def relax(values: FloatArray, costs: Array, capacity: float) -> Relaxation:
    """Take increments of the concave hulls of all rows in order of value per cost.

    Zemel (1980), The linear multiple choice knapsack problem, doi 10.1287/opre.28.6.1412. Costs
    of an option that is not available are infinite (or, as integers, negative); `capacity` is not
    below the sum of the cheapest options. O(n m^2 + n m log(n m)).
    """
    path, row, step, slope, extra = _hull(values, costs)
    order = np.lexsort((step, -slope))  # within a row earlier steps come first
    row, step, slope, extra = row[order], step[order], slope[order], extra[order]
    n = len(values)
    rows = np.arange(n)
    room = capacity - costs[rows, path[:, 0]].sum()
    spent = np.cumsum(extra)
    fits = int(np.searchsorted(spent, room, side="right"))
    taken = np.bincount(row[:fits], minlength=n)
    residual = room - (spent[fits - 1] if fits else 0)
    base = path[rows, taken]
    price = float(slope[fits]) if fits < len(row) else 0.0
    left = residual
    for i in range(fits, min(fits + _MOST_FILLS, len(row))):
        if extra[i] <= left and step[i] == taken[row[i]]:
            taken[row[i]] += 1
            left = left - extra[i]
    return Relaxation(base=base, residual=float(residual), price=price, filled=path[rows, taken])


def exists(costs: Array) -> BoolArray:
    """Which options there are: costs of the others are infinite or, as integers, negative."""
    return np.isfinite(costs) & (costs >= 0)


def _hull(
    values: FloatArray, costs: Array
) -> tuple[IntArray, IntArray, IntArray, FloatArray, Array]:
    """Options on the concave hull of each row, cheapest first, and the increments between them.

    Returns the path (n, m) of options of each row, and for every increment its row, its step on
    the path, its value per cost and its cost.
    """
    n, m = values.shape
    rows = np.arange(n)
    available = exists(costs)
    cheapest = np.where(available, costs, np.inf).min(axis=1)
    path = np.zeros((n, m), dtype=np.intp)
    path[:, 0] = np.where(costs == cheapest[:, None], values, -np.inf).argmax(axis=1)
    active, last = rows, np.full(n, np.inf)
    parts: list[tuple[Array, Array, Array, Array]] = []
    for step in range(m - 1):
        at = path[active, step]
        more = costs[active] - costs[active, at][:, None]
        better = values[active] - values[active, at][:, None]
        useful = available[active] & (more > 0) & (better > 0)
        slope = np.divide(better, more, out=np.zeros(better.shape), where=useful)
        chosen = slope.argmax(axis=1)
        found = np.flatnonzero(useful.any(axis=1))
        active, chosen = active[found], chosen[found]
        steepness = np.minimum(slope[found, chosen], last[found])  # concave also after rounding
        path[active, step + 1] = chosen
        parts.append((active, np.full(len(active), step), steepness, more[found, chosen]))
        last = steepness
    if not parts:
        empty = np.zeros(0, dtype=np.intp)
        return path, empty, empty, np.zeros(0), empty
    row, steps, slopes, extra = (np.concatenate(part) for part in zip(*parts, strict=True))
    return path, row, steps, slopes, extra
