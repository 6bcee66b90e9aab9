"""Many small groups at once: outcomes drawn and forms taken for blocks of groups."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from veridical._core.data.randomness import Draws
from veridical._core.resampling.events import draw_events
from veridical._core.typing import BoolArray, FloatArray, IntArray
from veridical.inference._joint.draws import Trials, drawn_residuals
from veridical.inference._joint.forms import Cells, form_of_all, log_odds

_DRAWN_AT_ONCE = 1 << 22


class GroupForms(NamedTuple):
    """Statistics of every group and the draws of all rows they come from.

    Attributes
    ----------
    total : (R, cells) residuals of all rows, drawn
    values : (1 + R, groups), as observed first
    direction, rows : (groups,)
    """

    total: FloatArray
    values: FloatArray
    direction: FloatArray
    rows: IntArray


class GroupRows(NamedTuple):
    """Entries of a line that groups share: what is drawn, and as observed.

    Attributes
    ----------
    trials : outcomes, each counting one
    cell, codes : cell and group of each
    variance, residual : of each
    """

    trials: Trials
    cell: IntArray
    codes: IntArray
    variance: FloatArray
    residual: FloatArray


def group_forms(rows: GroupRows, n_cells: int, n_groups: int, draws: Draws) -> GroupForms:
    """Level, spread and shape of every group together, of outcomes that all rows share."""
    n, rng = draws
    order = np.lexsort((rows.cell, rows.codes))
    codes, cell = rows.codes[order], rows.cell[order]
    pair = codes * n_cells + cell
    p, variance = rows.trials.p[order], rows.variance[order]
    shape = (n_groups, n_cells)
    sums: list[FloatArray] = [
        np.bincount(pair, each, minlength=n_groups * n_cells).reshape(shape).astype(np.float64)
        for each in (rows.residual[order], variance, variance * log_odds(p))
    ]
    odds = np.divide(sums[2], sums[1], out=np.zeros_like(sums[2]), where=sums[1] > 0)
    cells = Cells(sums[0], sums[1], odds)
    form = form_of_all(cells)
    total = np.zeros((n, n_cells))
    values = np.empty((1 + n, n_groups))
    values[:1] = form.values(cells.residual[None])
    trials, count = rows.trials.take(order), np.bincount(codes, minlength=n_groups)
    for groups, held in _blocks(count, max(1, _DRAWN_AT_ONCE // n)):
        own = pair[held] - groups.start * n_cells
        drawn = _residuals(trials.take(held), own, (groups.stop - groups.start) * n_cells, n, rng)
        drawn = drawn.reshape(-1, n_cells, n)
        total += drawn.sum(axis=0).T
        z = form.weights[groups].swapaxes(1, 2) @ drawn
        values[1:, groups] = np.einsum("gjr,j->rg", np.square(z, out=z), form.share)
    return GroupForms(total, values, form.directions(cells.residual), count)


def _blocks(count: IntArray, most: int) -> Iterator[tuple[slice, IntArray]]:
    """Groups that are drawn at once, and their entries."""
    ends = np.cumsum(count)
    first = 0
    while first < len(count):
        start = int(ends[first] - count[first])
        last = max(first + 1, int(np.searchsorted(ends, start + most, side="right")))
        yield slice(first, last), np.arange(start, int(ends[last - 1]))
        first = last


def _residuals(
    trials: Trials, pair: IntArray, n_pairs: int, n: int, rng: np.random.Generator
) -> FloatArray:
    """Residuals by group and cell, drawn, (pairs, n); `pair` increases along the entries."""
    present, place = np.unique(pair, return_inverse=True)
    sums = np.zeros((n_pairs, n))
    if len(pair) * n > _DRAWN_AT_ONCE:  # one group of many rows
        sums[present] = drawn_residuals(trials, place, len(present), n, rng).T
        return sums
    turned: BoolArray = trials.p > 0.5
    rare = np.where(turned, 1 - trials.p, trials.p)
    drawn = draw_events(rare, n, rng).view(np.int8)
    np.negative(drawn, out=drawn, where=turned[:, None])
    starts, held = np.searchsorted(pair, present), np.bincount(place)
    wide: Any = np.int16 if held.max() < 1 << 15 else np.int32
    counted = drawn[starts].astype(wide)
    for more in range(1, int(held.max())):  # the second row of each cell that has one, and so on
        some = np.flatnonzero(held > more)
        counted[some] += drawn[starts[some] + more]
    expected = np.add.reduceat(np.where(turned, -rare, rare), starts)
    sums[present] = counted - expected[:, None]
    return sums
