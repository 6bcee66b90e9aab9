"""Sums by cell of what independent rows draw, at a cost that does not grow with their number.

A row draws one of few values. A sum of many rows of which none decides is normal; the rows that
do decide are drawn as they are, or, if there are many, together with their likes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from veridical._core.data.randomness import Draws
from veridical._core.typing import Array, FloatArray, IntArray

NORMAL_FROM = 100.0  # variance of a cell over the square of what one row can change
_ROW_BY_ROW = 1 << 22  # outcomes of rows that decide, drawn one by one
_BLOCK = 1 << 20
_COST_OF_A_POOL = 4  # a binomial number over the outcome of a row
_BANDS_A_DOUBLING = 2.0  # of the difference of the two values of a row
_BANDS_OF_ODDS = 2.0  # for every factor e of the odds of a row


@dataclass(frozen=True)
class Rows:
    """Independent rows that each draw a value.

    Attributes
    ----------
    values : what each can draw, (n, K)
    chance : with which probability, (n, K)
    """

    values: FloatArray
    chance: FloatArray

    def take(self, rows: Array) -> Rows:
        """Keep some rows (mask or indices)."""
        return Rows(self.values[rows], self.chance[rows])

    @cached_property
    def mean(self) -> FloatArray:
        """Expectation of what each draws."""
        return sum_of_columns(self.chance * self.values)

    @cached_property
    def variance(self) -> FloatArray:
        """Variance of what each draws."""
        return sum_of_columns(self.chance * np.square(self.values - self.mean[:, None]))

    @cached_property
    def square(self) -> FloatArray:
        """Square of the difference between the largest value of each and the smallest."""
        least, most = self.values[:, 0], self.values[:, 0]
        for column in self.values.T[1:]:
            least, most = np.minimum(least, column), np.maximum(most, column)
        return np.square(most - least)


def sum_of_columns(values: FloatArray) -> FloatArray:
    """Sum over the columns of few, which `sum` takes row by row."""
    total = values[:, 0].copy()
    for column in values.T[1:]:
        total += column
    return total


def drawn_sums(rows: Rows, cell: IntArray, n_cells: int, draws: Draws) -> FloatArray:
    """Sums of the values drawn by the cell of each row, (draws, cells).

    Rows whose values differ by less than a tenth of the standard deviation of their cell are normal
    together, with the exact mean and variance. The others are drawn one by one, or, if they are
    many and have two values, in pools of rows of one cell with like differences and odds: how many
    of a pool take the second value is binomial, in a unit that gives the exact variance. A pool of
    one row, or of equal ones, has its exact law.
    """
    n, rng = draws
    cells = Cells(cell, n_cells)
    light = cells.sums(rows.variance)
    decides = rows.square > (light / NORMAL_FROM)[cell]
    decides &= rows.variance > 0
    if not decides.any():
        mean = cells.sums(rows.mean)
        return mean + rng.standard_normal((n, n_cells)) * np.sqrt(light)
    light = cells.sums(np.where(decides, 0.0, rows.variance))
    mean = cells.sums(np.where(decides, 0.0, rows.mean))
    sums: FloatArray = mean + rng.standard_normal((n, n_cells)) * np.sqrt(light)
    some, place = rows.take(decides), cell[decides]
    if rows.values.shape[1] == 2 and len(place) * n > _ROW_BY_ROW:
        pools = _pools_of(some, place)
        if len(pools.cell) * _COST_OF_A_POOL <= len(place):
            _add_pools(sums, pools, draws)
            return sums
    _add_rows(sums, some, place, draws)
    return sums


class Cells:
    """Where rows count, for several sums: several times as fast if rows are in order of cells."""

    def __init__(self, cell: IntArray, n_cells: int) -> None:
        self._cell, self._n_cells = cell, n_cells
        changes = np.flatnonzero(cell[1:] != cell[:-1]) + 1
        self._starts = np.append(0, changes)
        held = cell[self._starts]
        self._ordered = len(cell) > 0 and bool((held[1:] > held[:-1]).all())
        self._held = held

    def sums(self, values: FloatArray) -> FloatArray:
        """Sum of the values of every cell."""
        if not self._ordered:
            sums = np.bincount(self._cell, values, minlength=self._n_cells)
            return sums.astype(np.float64, copy=False)
        found = np.zeros(self._n_cells)
        found[self._held] = np.add.reduceat(values, self._starts)
        return found


def places_of(ordered: FloatArray, ends: FloatArray) -> IntArray:
    """How many of the `ends` are below each of many numbers in order, as `searchsorted` finds."""
    cuts = np.searchsorted(ordered, ends, side="right")
    return np.repeat(np.arange(len(ends) + 1), np.diff(cuts, prepend=0, append=len(ordered)))


def _add_rows(sums: FloatArray, rows: Rows, cell: IntArray, draws: Draws) -> None:
    """Add what rows draw, one by one."""
    order = np.argsort(cell, kind="stable")
    values, chance, cell = rows.values[order], rows.chance[order], cell[order]
    held, starts = np.unique(cell, return_index=True)
    reached = np.cumsum(chance, axis=1)
    thresholds = (reached[:, :-1] / reached[:, -1:]).T
    for block in _blocks(draws.n_resamples, _BLOCK // len(cell)):
        uniform = draws.rng.random((block.stop - block.start, len(cell)))
        drawn = np.broadcast_to(values[:, 0], uniform.shape)
        for k, threshold in enumerate(thresholds):
            drawn = np.where(uniform >= threshold, values[:, k + 1], drawn)
        sums[block, held] += np.add.reduceat(drawn, starts, axis=1)


class _Pools(NamedTuple):
    """Rows of a cell that are drawn together, by increasing cell.

    Attributes
    ----------
    cell : where they count
    size : how many rows
    share : their chance of the second value
    mean : of their sum
    unit : what one second value more changes
    """

    cell: IntArray
    size: IntArray
    share: FloatArray
    mean: FloatArray
    unit: FloatArray


def _pools_of(rows: Rows, cell: IntArray) -> _Pools:
    values, chance = rows.values, rows.chance
    step = values[:, 1] - values[:, 0]
    p = chance[:, 1] / chance.sum(axis=1)
    size = np.floor(_BANDS_A_DOUBLING * np.log2(np.abs(step)))
    odds = np.floor(_BANDS_OF_ODDS * np.log(p / (1 - p)))
    order = np.lexsort((odds, size, step > 0, cell))
    keys = np.stack([odds, size, step > 0, cell])[:, order]
    starts = np.flatnonzero(np.append(True, (keys[:, 1:] != keys[:, :-1]).any(axis=0)))
    step, p = step[order], p[order]
    each = (values[order, 0] + step * p, np.square(step) * p * (1 - p), p)
    mean, variance, hits = (np.add.reduceat(one, starts) for one in each)
    count = np.diff(starts, append=len(step))
    share = hits / count
    unit = np.copysign(np.sqrt(variance / (hits * (1 - share))), step[starts])
    return _Pools(cell[order][starts], count, share, mean, unit)


def _add_pools(sums: FloatArray, pools: _Pools, draws: Draws) -> None:
    """Add what pools draw, all draws of one after the other: its law is set up once."""
    n, rng = draws
    for block in _blocks(len(pools.cell), _BLOCK // n):
        size, share = pools.size[block, None], pools.share[block, None]
        mean, unit = pools.mean[block, None], pools.unit[block, None]
        drawn = mean + unit * (rng.binomial(size, share, (len(size), n)) - size * share)
        held, starts = np.unique(pools.cell[block], return_index=True)
        sums[:, held] += np.add.reduceat(drawn, starts, axis=0).T


def _blocks(length: int, step: int) -> list[slice]:
    step = max(step, 1)
    return [slice(first, min(first + step, length)) for first in range(0, length, step)]
