"""One binary problem: its residuals by cell, and redrawn, whole and by groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from veridical._core.data.randomness import Draws
from veridical._core.resampling.hypothesis import redraw_of
from veridical._core.resampling.redraw import REDRAWN, Redraw, most_draws
from veridical._core.resampling.rows import counts_rows
from veridical._core.sample import BinarySample
from veridical._core.typing import BoolArray, FloatArray, IntArray
from veridical.inference._joint.draws import Trials, drawn_residuals
from veridical.inference._joint.family import Found
from veridical.inference._joint.forms import (
    Cells,
    cells_of,
    form_of_all,
    surprises,
    three_forms,
    upper_edges,
    with_corners,
)
from veridical.inference._joint.many import Stretches
from veridical.inference._joint.many_groups import GroupRows, group_forms

MOST_CELLS, MOST_CELLS_BY_GROUP = 128, 48
FEW_GROUPS = 20  # beyond, they are drawn many at a time
_MANY_ROWS = 1 << 16


@dataclass(frozen=True)
class Line:
    """Outcomes of one binary problem by increasing prediction.

    Attributes
    ----------
    trials : what is drawn
    residual : sum of w (y - p) of each entry, as observed
    expected : sum of w p of each entry
    impossible : whether something happened that had no probability, of each entry
    rows : how many rows there are
    codes : group of each entry, None without groups
    redraw : how outcomes are drawn, if not from the predictions row by row; entries are its rows
    """

    trials: Trials
    residual: FloatArray
    expected: FloatArray
    impossible: BoolArray
    rows: int
    codes: IntArray | None = None
    redraw: Redraw | None = None

    @property
    def variance(self) -> FloatArray:
        """Variance of the residual of each entry if predictions are right."""
        if self.redraw is not None:
            return self.redraw.variance[:, 1]
        return self.trials.square * self.trials.p * (1 - self.trials.p)

    @property
    def said(self) -> str:
        """Where outcomes are drawn from, in words."""
        return REDRAWN if self.redraw is None else self.redraw.said


def line_of(sample: BinarySample, codes: IntArray | None) -> Line:
    """Rows of a sample in the order of their predictions, and weights within equal ones."""
    redraw = redraw_of(sample)
    weight, counted = sample.weight, counts_rows(sample)
    if redraw is not None:
        order = redraw.rows
        weight = None if counted else weight  # a row of a whole frequency is there so often
    else:
        order = np.argsort(sample.p) if weight is None else np.lexsort((weight, sample.p))
    p, y = sample.p[order].astype(np.float64), sample.y[order]
    w = np.ones(len(p)) if weight is None else weight[order]
    trials = Trials(p, w) if counted else Trials(p, np.ones(len(p)), w)
    impossible = ((y == 1) & (p <= 0)) | ((y == 0) & (p >= 1))
    held = None if codes is None else codes[order]
    # What is expected must not tell which outcome was seen, by its weight.
    mean = w * p if redraw is None else redraw.expected_weight * p
    return Line(trials, w * (y - p), mean, impossible, sample.n, held, redraw)


def parts_of_sample(
    sample: BinarySample, codes: IntArray | None, lens: str, keys: list[Any], draws: Draws
) -> tuple[list[Found], str]:
    """Parts of a checked binary problem and of its groups, and where outcomes are drawn from."""
    plain = codes is None and sample.weight is None and sample.clusters is None
    if plain and sample.n > _MANY_ROWS:
        held = Stretches(sample.pooled, MOST_CELLS)
        residuals = np.vstack([held.cells.residual, held.drawn(draws)])
        sums = held.cells, held.mean, held.unit, residuals
        return _three(*sums, lens, sample.n, impossible=held.impossible), REDRAWN
    line = line_of(sample, codes)
    return line_parts(line, lens, keys, draws), line.said


def line_parts(line: Line, lens: str, keys: list[Any], draws: Draws) -> list[Found]:
    """Level, spread and shape of a binary problem, and each of its groups, from the same draws."""
    p, variance = line.trials.p, line.variance
    most = MOST_CELLS if line.codes is None else MOST_CELLS_BY_GROUP
    edges = with_corners(upper_edges(p, variance, most, line.trials.count), p)
    cuts = np.searchsorted(p, edges[:-1], side="right")
    cell = np.repeat(np.arange(len(edges)), np.diff(cuts, prepend=0, append=len(p)))
    whole = cells_of(cell, len(edges), p, variance, line.residual)
    if _are_many(line, len(keys)):
        drawn, groups = _many_groups(line, cell, len(edges), lens, keys, draws)
    else:
        drawn, of_groups = _drawn(line, cell, len(edges), len(keys), draws)
        groups = [
            _group(line, cell, lens, label, own) for label, own in zip(keys, of_groups, strict=True)
        ]
    residuals = np.vstack([whole.residual, drawn])
    counted = _counted(line, cell, len(edges))
    impossible = bool(line.impossible.any())
    return [*_three(whole, *counted, residuals, lens, line.rows, impossible=impossible), *groups]


def _three(
    whole: Cells,
    mean: FloatArray,
    unit: FloatArray,
    residuals: FloatArray,
    lens: str,
    rows: int,
    *,
    impossible: bool,
) -> list[Found]:
    """Level, spread and shape, of residuals as observed and as drawn."""
    parts = []
    for name, form in three_forms(whole).items():
        values = form.values(residuals[:, None])
        never = impossible and name == "spread"  # which is too extreme, whatever else is so
        direction = -1.0 if never else float(form.directions(whole.residual[None])[0])
        if name == "shape":
            more = surprises(whole, mean, unit)
            each = more[0].deviance(residuals[:, None])
            values = np.hstack([values, *(one.of(each) for one in more)])
        parts.append(Found(name, lens, values, rows, direction, impossible=never))
    return parts


def _are_many(line: Line, n_groups: int) -> bool:
    """Whether groups are drawn many at a time: of rows that count one and are independent."""
    plain = line.redraw is None and line.trials.weight is None
    return n_groups > FEW_GROUPS and plain and bool((line.trials.count == 1).all())


def _many_groups(
    line: Line, cell: IntArray, n_cells: int, lens: str, keys: list[Any], draws: Draws
) -> tuple[FloatArray, list[Found]]:
    """Residuals of all rows by cell, drawn, and every group."""
    assert line.codes is not None
    rows = GroupRows(line.trials, cell, line.codes, line.variance, line.residual)
    forms = group_forms(rows, n_cells, len(keys), draws)
    impossible = np.bincount(line.codes[line.impossible], minlength=len(keys)) > 0
    found = [
        Found("group", lens, forms.values[:, g : g + 1], int(n), float(way), label, bool(never))
        for g, (label, n, way, never) in enumerate(
            zip(keys, forms.rows, forms.direction, impossible, strict=True)
        )
    ]
    return forms.total, found


class _OfGroup(NamedTuple):
    """Entries of a group, the cells they are in, and its residuals by these cells, drawn."""

    rows: IntArray
    held: IntArray
    drawn: FloatArray


def _group(line: Line, cell: IntArray, lens: str, label: Any, own: _OfGroup) -> Found:
    """One group: level, spread and shape together."""
    rows, held, some = own
    place = np.searchsorted(held, cell[rows])
    p, variance = line.trials.p[rows], line.variance[rows]
    cells = cells_of(place, len(held), p, variance, line.residual[rows])
    form = form_of_all(Cells(*(each[None] for each in cells)))
    values = form.values(np.vstack([cells.residual, some])[:, None])
    direction = float(form.directions(cells.residual[None])[0])
    impossible = bool(line.impossible[rows].any())
    return Found("group", lens, values, len(rows), direction, label, impossible)


def _drawn(
    line: Line, cell: IntArray, n_cells: int, n_groups: int, draws: Draws
) -> tuple[FloatArray, list[_OfGroup]]:
    """Residuals by cell, drawn, of all rows and of every group."""
    n, rng = draws
    redraw = line.redraw
    groups = [] if line.codes is None else _rows_of_groups(line.codes, n_groups)
    held = [np.unique(cell[rows]) for rows in groups]
    if redraw is not None:
        draws = most_draws(draws, redraw.n)
        what = "joint null distribution"
        if line.codes is None:
            return redraw.sums(redraw.residuals, cell, n_cells, draws, what), []
        column = line.codes * n_cells + cell
        every = redraw.sums(redraw.residuals, column, n_groups * n_cells, draws, what)
        by_group = every.reshape(draws.n_resamples, n_groups, n_cells)
        triples = zip(groups, held, range(n_groups), strict=True)
        found = [_OfGroup(rows, cells, by_group[:, g][:, cells]) for rows, cells, g in triples]
        return by_group.sum(axis=1), found
    if line.codes is None:
        return drawn_residuals(line.trials, cell, n_cells, n, rng), []
    total, found = np.zeros((n, n_cells)), []
    for rows, cells in zip(groups, held, strict=True):
        place = np.searchsorted(cells, cell[rows])
        some = drawn_residuals(line.trials.take(rows), place, len(cells), n, rng)
        total[:, cells] += some
        found.append(_OfGroup(rows, cells, some))
    return total, found


def _counted(line: Line, cell: IntArray, n_cells: int) -> tuple[FloatArray, FloatArray]:
    """Expected sum of outcomes of each cell, and what one of them counts."""
    p, expected = line.trials.p, line.expected
    each: list[FloatArray] = [expected, expected * (1 - p), line.variance]
    mean, first, square = (
        np.bincount(cell, weights=one, minlength=n_cells).astype(np.float64) for one in each
    )
    return mean, np.divide(square, first, out=np.zeros(n_cells), where=first > 0)


def _rows_of_groups(codes: IntArray, n_groups: int) -> list[IntArray]:
    order = np.argsort(codes, kind="stable")
    return np.split(order, np.searchsorted(codes[order], np.arange(1, n_groups)))
