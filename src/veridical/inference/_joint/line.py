"""One binary problem: its residuals by cell, and redrawn, whole and by groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.data.randomness import Draws
from veridical._core.sample import BinarySample
from veridical._core.typing import BoolArray, FloatArray, IntArray
from veridical.inference._draws.rows import counts_rows
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

MOST_CELLS, MOST_CELLS_BY_GROUP = 128, 48


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
    """

    trials: Trials
    residual: FloatArray
    expected: FloatArray
    impossible: BoolArray
    rows: int
    codes: IntArray | None = None


def line_of(sample: BinarySample, codes: IntArray | None) -> Line:
    """Rows of a sample in the order of their predictions, and weights within equal ones."""
    weight, counted = sample.weight, counts_rows(sample)
    order = np.argsort(sample.p) if weight is None else np.lexsort((weight, sample.p))
    p, y = sample.p[order].astype(np.float64), sample.y[order]
    w = np.ones(sample.n) if weight is None else weight[order]
    trials = Trials(p, w) if counted else Trials(p, np.ones(sample.n), w)
    impossible = ((y == 1) & (p <= 0)) | ((y == 0) & (p >= 1))
    held = None if codes is None else codes[order]
    return Line(trials, w * (y - p), w * p, impossible, sample.n, held)


def line_parts(line: Line, lens: str, keys: list[Any], draws: Draws) -> list[Found]:
    """Level, spread and shape of a binary problem, and each of its groups, from the same draws."""
    p, n = line.trials.p, draws.n_resamples
    square = line.trials.square
    most = MOST_CELLS if line.codes is None else MOST_CELLS_BY_GROUP
    edges = with_corners(upper_edges(p, p * (1 - p) * square, most, line.trials.count), p)
    cell = np.searchsorted(edges, p)
    whole = cells_of(cell, len(edges), p, square, line.residual)
    residuals = np.zeros((1 + n, len(edges)))
    residuals[0] = whole.residual
    groups = []
    if line.codes is None:
        residuals[1:] = drawn_residuals(line.trials, cell, len(edges), n, draws.rng)
    else:
        for label, rows in zip(keys, _rows_of_groups(line.codes, len(keys)), strict=True):
            held, place = np.unique(cell[rows], return_inverse=True)
            place, trials = place.reshape(-1), line.trials.take(rows)
            drawn = drawn_residuals(trials, place, len(held), n, draws.rng)
            residuals[1:, held] += drawn
            cells = cells_of(place, len(held), trials.p, trials.square, line.residual[rows])
            form = form_of_all(Cells(*(each[None] for each in cells)))
            values = form.values(np.vstack([cells.residual, drawn])[:, None])
            direction = float(form.directions(cells.residual[None])[0])
            impossible = bool(line.impossible[rows].any())
            group = Found("group", lens, values, len(rows), direction, label, impossible)
            groups.append(group)
    impossible = bool(line.impossible.any())
    parts = []
    for name, form in three_forms(whole).items():
        values = form.values(residuals[:, None])
        never = impossible and name == "spread"  # which is too extreme, whatever else is so
        direction = -1.0 if never else float(form.directions(whole.residual[None])[0])
        if name == "shape":
            more = surprises(whole, *_counted(line, cell, len(edges)))
            values = np.hstack([values, *(one.values(residuals[:, None]) for one in more)])
        parts.append(Found(name, lens, values, line.rows, direction, impossible=never))
    return [*parts, *groups]


def _counted(line: Line, cell: IntArray, n_cells: int) -> tuple[FloatArray, FloatArray]:
    """Expected sum of outcomes of each cell, and what one of them counts."""
    p, expected = line.trials.p, line.expected
    each: list[FloatArray] = [expected, expected * (1 - p), line.trials.square * p * (1 - p)]
    mean, first, square = (
        np.bincount(cell, weights=one, minlength=n_cells).astype(np.float64) for one in each
    )
    return mean, np.divide(square, first, out=np.zeros(n_cells), where=first > 0)


def _rows_of_groups(codes: IntArray, n_groups: int) -> list[IntArray]:
    order = np.argsort(codes, kind="stable")
    return np.split(order, np.searchsorted(codes[order], np.arange(1, n_groups)))
