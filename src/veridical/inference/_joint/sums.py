"""The joint test of sums by cell, which an engine made: whole where two classes are, else by parts.

Of three or more classes sums of one problem do not say how its outcomes go with those of another,
so no outcomes can be drawn for all at once: problems are tested one by one and corrected.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from veridical._core.data.randomness import Draws
from veridical._core.resampling.hypothesis import cell_means, cell_variances
from veridical._core.resampling.redraw import REDRAWN
from veridical.inference._joint.draws import Trials, drawn_residuals
from veridical.inference._joint.family import Found, holm_test_of, joint_test_of
from veridical.inference._joint.forms import Cells, cells_of, form_of_all, upper_edges
from veridical.inference._joint.line import MOST_CELLS, Line, line_parts
from veridical.lenses import Classwise, Lens
from veridical.results import JointTest
from veridical.summaries import GridSummary
from veridical.summaries.core import Cells as GridCells, problem_of

_APART = (
    "whole vectors were left out and parts corrected by Holm's method: sums of single classes do"
    " not say how these go together; read the rows for more power",
)


def joint_sums_core(
    grid: GridSummary, lens: Lens | None, *, draws: Draws, level: float = 0.05, caller: str
) -> JointTest:
    """The test of sums, whole (lens None) or through a lens."""
    keys = list(grid.groups)
    about: dict[str, Any] = {"level": level, "n_samples": grid.n_samples}
    if lens is None and len(grid.classes) > 2:
        found = []
        if "confidence" in grid.problems:
            found += _line(grid, "confidence", "confidence", keys, draws)
        held = [k for k in range(len(grid.classes)) if k in grid.problems]
        found += [_class(grid, k, draws) for k in held]
        return holm_test_of(found, lens="whole prediction", null=REDRAWN, notes=_APART, **about)
    if isinstance(lens, Classwise):
        found = [_class(grid, k, draws) for k in range(len(grid.classes))]
        return holm_test_of(found, lens=lens.name, null=REDRAWN, notes=_APART, **about)
    problem = "binary" if lens is None else problem_of(lens, grid, caller=caller)
    name = "binary" if lens is None else lens.name
    found = _line(grid, problem, name, keys, draws)
    return joint_test_of(found, lens=name, null=REDRAWN, notes=(), **about)


def _line(
    grid: GridSummary, problem: str | int, lens: str, keys: list[Any], draws: Draws
) -> list[Found]:
    """Parts of one problem, and of its groups."""
    if not keys:
        return line_parts(line_of_cells(grid.cells(problem), grid.n_samples), lens, [], draws)
    lines = [line_of_cells(grid.cells(problem, key), grid.n_samples) for key in keys]
    p = np.concatenate([line.trials.p for line in lines])
    order = np.argsort(p, kind="stable")
    weights = [line.trials.weight for line in lines]
    if any(weight is not None for weight in weights):
        ones = [np.ones(len(line.trials.p)) for line in lines]
        pairs = zip(weights, ones, strict=True)
        every = np.concatenate([one if weight is None else weight for weight, one in pairs])[order]
    else:
        every = None
    count = np.concatenate([line.trials.count for line in lines])[order]
    codes = np.repeat(np.arange(len(lines)), [len(line.trials.p) for line in lines])[order]
    line = Line(
        Trials(p[order], count, every),
        np.concatenate([line.residual for line in lines])[order],
        np.concatenate([line.expected for line in lines])[order],
        np.concatenate([line.impossible for line in lines])[order],
        grid.n_samples,
        codes,
    )
    found = line_parts(line, lens, keys, draws)
    rows = dict(zip(keys, grid.table.rows, strict=True))
    return [
        replace(part, n_samples=int(rows[part.label])) if part.name == "group" else part
        for part in found
    ]


def _class(grid: GridSummary, index: int, draws: Draws) -> Found:
    """One class against the rest."""
    line = line_of_cells(grid.cells(index), grid.n_samples)
    p, variance = line.trials.p, line.variance
    edges = upper_edges(p, variance, MOST_CELLS, line.trials.count)
    cell = np.searchsorted(edges, p)
    cells = cells_of(cell, len(edges), p, variance, line.residual)
    drawn = drawn_residuals(line.trials, cell, len(edges), *draws)
    form = form_of_all(Cells(*(each[None] for each in cells)))
    return Found(
        "class",
        "one-vs-rest",
        form.values(np.vstack([cells.residual, drawn])[:, None]),
        line.rows,
        float(form.directions(cells.residual[None])[0]),
        grid.classes[index],
        bool(line.impossible.any()),
    )


def line_of_cells(cells: GridCells, rows: int) -> Line:
    """Sums by cell as outcomes of the mean prediction of each cell.

    Where weights differ, as many outcomes as rows, each counting so much that the sum of a cell
    has the variance of the weighted rows.
    """
    count, p = cells.sums[0].sum(axis=1), cells.p
    expected = cells.sums[3].sum(axis=1)
    residual = cells.sums[1, :, 1] - expected
    impossible = ((p <= 0) & (cells.sums[0, :, 1] > 0)) | ((p >= 1) & (cells.sums[0, :, 0] > 0))
    if cells.unit is not None:
        scaled = (residual / cells.unit, expected / cells.unit)
        return Line(Trials(p, count), *scaled, impossible, rows)
    of_one = count * p * (1 - p)
    variance, expected = cell_variances(p, cells.sums[:3]), cell_means(p, cells.sums[:3])
    unit = np.sqrt(np.divide(variance, of_one, out=np.zeros(len(p)), where=of_one > 0))
    return Line(Trials(p, count, unit), residual, expected, impossible, rows)
