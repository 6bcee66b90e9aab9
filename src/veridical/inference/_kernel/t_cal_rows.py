"""T-Cal of many rows of one probability each: counts of cells of sorted rows, few bytes a draw.

With e = y - p the error on m bins is

    T_m = 1 / n sum_B (S_B^2 - sum_{i in B} e_i^2) / n_B,    S_B = sum_{i in B} e_i.

A cell is a stretch of the sorted rows. Its sum is a whole number less a known one, and from one
scale to the next only cells that merge are looked at. The second sum is linear in the outcomes,
one matrix product for all scales; rows that are alone in their cell drop out of both. Compiled,
cells of all scales are closed in one pass over the rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from veridical._core.data.randomness import Draws
from veridical._core.loops import library, sum_pairs
from veridical._core.resampling.events import draw_events
from veridical._core.runtime.progress import track
from veridical._core.typing import BoolArray, FloatArray, IntArray
from veridical.inference._kernel.t_cal_bins import bins_of

_DRAWN_AT_ONCE = 1 << 23
_ROWS_AT_ONCE = 1 << 14
_MOST_SMALL = 30_000  # rows of a cell that are counted in two bytes


class _Cells(NamedTuple):
    """Cells of several rows: their places in the counts, sums of predictions and sizes."""

    place: IntArray
    expected: FloatArray
    size: FloatArray


class _Step(NamedTuple):
    """From one scale to the next.

    Attributes
    ----------
    kept : places of the cells that are kept before anything else, None for all
    before : cells of several rows that merge
    rounds : pairs (into, from) of places, rounds one after the other
    after : cells that have grown
    """

    kept: IntArray | None
    before: _Cells
    rounds: list[tuple[IntArray, IntArray]]
    after: _Cells


class RowTree:
    """Cells of sorted predictions at several scales.

    Parameters
    ----------
    p : predictions in increasing order, float64, one a row
    scales : bins, the finest first; powers of two, so that cells are unions of those before
    """

    def __init__(self, p: FloatArray, scales: list[int]) -> None:
        self._p, self.scales = p, scales
        self._starts = list(_starts(p, scales))

    @cached_property
    def _steps(self) -> list[_Step]:
        return list(self._all_steps())

    @cached_property
    def _joins(self) -> IntArray:
        """From which scale on each row shares the cell of the one before."""
        joins = np.zeros(len(self._p), dtype=np.uint8)
        for starts in self._starts:
            joins[starts] += 1
        return joins

    def variances(self) -> FloatArray:
        """Var T of every scale for a calibrated model: 2 / n^2 sum_{i != j} v_i v_j / n_B^2."""
        each = self._p * (1 - self._p)
        total = self._pairs(each, np.square(each), power=2)
        return 2 * np.maximum(total, 0.0) / len(self._p) ** 2

    def errors(self, y: FloatArray) -> FloatArray:
        """T of every scale for these outcomes."""
        residual = y - self._p
        return self._pairs(residual, np.square(residual), power=1) / len(self._p)

    def _pairs(self, value: FloatArray, square: FloatArray, power: int) -> FloatArray:
        """Sums over cells of (sum of values)^2 less the sum of squares, over size^power."""
        found = np.empty(len(self.scales))
        for level, starts in enumerate(self._starts):
            size = np.diff(starts, append=len(value))
            several = size > 1  # of one row the difference is nothing, but for rounding
            sums, squares = (np.add.reduceat(each, starts)[several] for each in (value, square))
            found[level] = ((sums**2 - squares) / size[several].astype(np.float64) ** power).sum()
        return found

    def drawn(self, draws: Draws) -> Iterator[tuple[slice, FloatArray]]:
        """Blocks of draws: which, and T of every scale, (scales, block)."""
        n = len(self._p)
        step = max(1, min(draws.n_resamples, _DRAWN_AT_ONCE // n))
        for block in track(-(-draws.n_resamples // step), "T-Cal"):
            which = slice(block * step, min((block + 1) * step, draws.n_resamples))
            yield which, self._drawn(which.stop - which.start, draws.rng) / n

    def _drawn(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Sums over cells of pairs of residuals of outcomes drawn, (scales, size)."""
        if library() is not None:
            events = np.empty((len(self._p), size), dtype=np.bool_)
            for rows, happened in self._events(size, rng):
                events[rows] = happened
            found = sum_pairs(self._p, self._joins, len(self.scales), events)
            if found is not None:
                return found
        weights, constant = self._linear
        counts, linear = self._outcomes(weights, size, rng)
        return self._squares(counts) - linear - constant[:, None]

    def _events(self, size: int, rng: np.random.Generator) -> Iterator[tuple[slice, BoolArray]]:
        """Whether the rarer outcome of each row occurs, few rows at a time."""
        n = len(self._p)
        for first in range(0, n, _ROWS_AT_ONCE):
            rows = slice(first, min(first + _ROWS_AT_ONCE, n))
            p = self._p[rows]
            yield rows, draw_events(np.where(p > 0.5, 1 - p, p), size, rng)

    def _outcomes(
        self, weights: FloatArray, size: int, rng: np.random.Generator
    ) -> tuple[IntArray, FloatArray]:
        """Outcomes drawn from the predictions, and their linear sums by scale."""
        n = len(self._p)
        counts = np.empty((n, size), dtype=np.int16)
        linear = np.zeros((len(self.scales), size))
        for rows, happened in self._events(size, rng):
            happened ^= (self._p[rows] > 0.5)[:, None]
            counts[rows] = happened
            linear += weights[:, rows] @ happened.astype(np.float32)
        return counts, linear

    @cached_property
    def _linear(self) -> tuple[FloatArray, FloatArray]:
        """Factors of outcomes in the sums of squared residuals, (scales, n), and what is left."""
        p, n = self._p, len(self._p)
        weights = np.zeros((len(self.scales), n), dtype=np.float32)
        constant = np.empty(len(self.scales))
        for level, starts in enumerate(self._starts):
            size = np.diff(starts, append=n)
            factor = np.repeat(np.where(size > 1, 1 / size, 0.0), size)
            weights[level] = (1 - 2 * p) * factor
            constant[level] = np.square(p) @ factor
        return weights, constant

    def _squares(self, counts: IntArray) -> FloatArray:
        """Sums over cells of several rows of S^2 / n_B, (scales, block); overwrites counts."""
        values = np.empty((len(self.scales), counts.shape[1]))
        value = np.zeros(counts.shape[1])
        largest = 1.0
        for level, (kept, before, rounds, after) in enumerate(self._steps):
            if kept is not None:
                counts = counts[kept]
            largest = max(largest, float(after.size.max(initial=1.0)))
            if largest > _MOST_SMALL and counts.dtype == np.int16:
                counts = counts.astype(np.int64)
            value = value - _weighed(counts, before)
            for into, other in rounds:
                counts[into] += counts[other]
            value = value + _weighed(counts, after)
            values[level] = value
        return values

    def _all_steps(self) -> Iterator[_Step]:
        """What merges at each scale; places are compacted when half of the cells are gone."""
        n = len(self._p)
        below = np.concatenate([[0.0], np.cumsum(self._p)])
        old: IntArray = np.arange(n)  # first row of each cell
        place = old  # and where its count is
        for starts in self._starts:
            kept = None
            if 2 * len(old) <= place[-1] + 1:
                kept, place = place, np.arange(len(old))
            ends = np.append(old[1:], n)
            head = np.searchsorted(old, starts)  # cells before, by number
            members = np.diff(head, append=len(old))
            grown = np.flatnonzero(members > 1)
            within = np.repeat(members > 1, members)
            several = within & (ends - old > 1)
            before = _Cells(
                place[several],
                below[ends[several]] - below[old[several]],
                (ends - old)[several].astype(np.float64),
            )
            new_ends = np.append(starts[1:], n)[grown]
            after = _Cells(
                place[head[grown]],
                below[new_ends] - below[starts[grown]],
                (new_ends - starts[grown]).astype(np.float64),
            )
            yield _Step(kept, before, _rounds(place, head[grown], members[grown]), after)
            place, old = place[head], starts


def _starts(p: FloatArray, scales: list[int]) -> Iterator[IntArray]:
    """First rows of the cells at every scale."""
    starts: IntArray = np.arange(len(p))
    for m in scales:
        bins = bins_of(p[starts], m)
        starts = starts[np.concatenate([[True], bins[1:] != bins[:-1]])]
        yield starts


def _rounds(place: IntArray, head: IntArray, members: IntArray) -> list[tuple[IntArray, IntArray]]:
    """Add neighbours, then those that are left, until all of a cell is at its first place."""
    rounds: list[tuple[IntArray, IntArray]] = []
    cell = np.repeat(np.arange(len(head)), members)
    rank = np.arange(len(cell)) - np.repeat(np.cumsum(members) - members, members)
    number = head[cell] + rank
    while True:
        odd = np.flatnonzero(rank % 2 == 1)
        if not odd.size:
            return rounds
        rounds.append((place[number[odd - 1]], place[number[odd]]))
        even = rank % 2 == 0
        number, rank = number[even], rank[even] // 2


def _weighed(counts: IntArray, cells: _Cells) -> FloatArray:
    """Sum over some cells of S^2 / size."""
    if not len(cells.place):
        return np.zeros(counts.shape[1])
    sums: FloatArray = np.zeros(counts.shape[1])
    for first in range(0, len(cells.place), _ROWS_AT_ONCE):
        part = slice(first, first + _ROWS_AT_ONCE)
        large = float(cells.size[part].max()) > _MOST_SMALL
        kind: np.dtype[Any] = np.dtype(np.float64 if large else np.float32)
        away: FloatArray = counts[cells.place[part]].astype(kind)
        away -= cells.expected[part].astype(kind)[:, None]
        np.square(away, out=away)
        share: FloatArray = (1 / cells.size[part]).astype(kind)
        sums += share @ away
    return sums
