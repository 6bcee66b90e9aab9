"""Sums by bin and fine cell of rows in memory: the table that engines make of theirs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from veridical._core.numeric.blocks import row_blocks
from veridical._core.sample import BinarySample, Sample
from veridical._core.typing import FloatArray, IntArray
from veridical.binning import IntervalPartition
from veridical.frames.grid import LOGIT_LIMIT, Grid
from veridical.frames.tables import GridTable
from veridical.lenses import Binary, ClassSpecific, Confidence, Lens
from veridical.scores import RULES, get_rule
from veridical.summaries._grid.cells import INDICES, SUMS

_ROWS = 1 << 20  # a block: its keys are counted in arrays of the size of the grid
_MOST_COUNTED = 1 << 23  # keys that are counted rather than sorted


def table_of_sample(
    sample: Sample,
    problems: Sequence[str | int],
    *,
    n_bins: int,
    resolution: int,
    groups: Sequence[tuple[Any, Sample]] | None = None,
) -> GridTable:
    """Sum over the rows of each cell, in one pass. O(n) for each problem.

    Parameters
    ----------
    sample : a checked sample
    problems : "binary", "confidence" or indices of classes
    n_bins, resolution : of bins and cells, as in `GridTable`
    groups : keys and their rows, if the sums are wanted by group
    """
    grid = Grid(n_bins, resolution, single=sample.p.dtype == np.float32)
    parts = [(None, sample)] if groups is None else groups
    made = []
    for g, (_, part) in enumerate(parts):
        for index, problem in enumerate(problems):
            made.append((g, index, _entries(_lens(problem, sample).induce(part), grid)))
    columns: dict[str, Any] = {
        "group": np.concatenate([np.full(len(keys), g) for g, _, (keys, _) in made]),
        "problem": np.concatenate([np.full(len(keys), index) for _, index, (keys, _) in made]),
    }
    keys = np.concatenate([keys for _, _, (keys, _) in made])
    columns["bin"], rest = np.divmod(keys, 2 * grid.n_cells)
    columns["cell"], columns["outcome"] = np.divmod(rest, 2)
    sums = np.concatenate([sums for _, _, (_, sums) in made], axis=1)
    columns = {name: columns[name].astype(np.int64) for name in INDICES}
    return GridTable(
        classes=sample.columns,
        positive=int(not sample.positive_first) if isinstance(sample, BinarySample) else 0,
        problems=tuple(problems),
        groups=tuple(key for key, _ in parts),
        **columns,
        **dict(zip(SUMS, sums, strict=True)),
        **_totals([part for _, part in parts]),
        n_bins=n_bins,
        resolution=resolution,
    )


def _lens(problem: str | int, sample: Sample) -> Lens:
    if isinstance(problem, str):
        return Binary() if problem == "binary" else Confidence()
    return ClassSpecific(sample.columns[problem])


def _totals(parts: Sequence[Sample]) -> dict[str, Any]:
    """Sums over all rows of each group."""
    n_classes = len(parts[0].columns)
    rules = {name: get_rule(name, caller="grid_summary") for name in RULES}
    rows: FloatArray = np.array([float(part.n) for part in parts])
    count = np.zeros((len(parts), n_classes))
    total, square, weight = rows.copy(), rows.copy(), count
    if any(part.weight is not None for part in parts):
        weight = np.zeros_like(count)
    for g, part in enumerate(parts):
        count[g] = np.bincount(part.index, minlength=n_classes)
        if part.weight is not None:
            total[g], square[g] = part.weight.sum(), part.weight @ part.weight
            weight[g] = np.bincount(part.index, weights=part.weight, minlength=n_classes)
    return {
        "rows": rows,
        "total_w": total,
        "total_w2": square,
        "class_count": count,
        "class_weight": weight,
        "scores": {
            name: np.array([rule.mean(part) for part in parts]) * total
            for name, rule in rules.items()
        },
    }


def _entries(problem: Any, grid: Grid) -> tuple[IntArray, FloatArray]:
    """Keys that occur, increasing, and the sums of each, (6, m)."""
    size = 2 * grid.n_bins * grid.n_cells
    partition = IntervalPartition(np.arange(grid.n_bins + 1) / grid.n_bins, uniform=True)
    if size <= min(_MOST_COUNTED, 8 * problem.n):
        sums = np.zeros((len(SUMS), size))
        for block in row_blocks(problem.n, _ROWS):
            keys, weights = _rows(problem, block, partition, grid)
            _count(sums, keys, *weights)
        held = np.flatnonzero(sums[0])
        return held, sums[:, held]
    keys, weights = _rows(problem, slice(None), partition, grid)
    held, place = np.unique(keys, return_inverse=True)
    sums = np.zeros((len(SUMS), len(held)))
    _count(sums, place.reshape(-1), *weights)
    return held, sums


def _rows(
    problem: BinarySample, block: slice, partition: IntervalPartition, grid: Grid
) -> tuple[IntArray, tuple[FloatArray, FloatArray | None]]:
    """Key of each row, (bin, cell, outcome) as one number; predictions and weights."""
    p = problem.p[block]
    keys = partition.assign(p)  # in the type of the scores, like the edges
    keys *= grid.n_cells
    wide = p.astype(np.float64, copy=False)
    keys += cell_numbers(wide, grid)
    keys *= 2
    keys += problem.y[block]
    return keys, (wide, None if problem.weight is None else problem.weight[block])


def _count(sums: FloatArray, keys: IntArray, p: FloatArray, w: FloatArray | None) -> None:
    size = sums.shape[1]
    counted = np.bincount(keys, minlength=size)
    sums[0] += counted
    if w is None:
        mean, square = (np.bincount(keys, weights=v, minlength=size) for v in (p, p * p))
        for row, values in zip(sums[1:], (counted, counted, mean, square), strict=False):
            row += values
        sums[5] += np.maximum(mean - square, 0.0)
        return
    wp = w * p
    each: tuple[FloatArray, ...] = (w, w * w, wp, wp * p, w * (wp - wp * p))
    for row, weights in zip(sums[1:], each, strict=True):
        row += np.bincount(keys, weights=weights, minlength=size)


def cell_numbers(p: FloatArray, grid: Grid) -> IntArray:
    """Cell of each prediction, as `Grid.cell_of` has it.

    A prediction that the logarithms of two libraries put on different sides of a border counts
    in neighbouring cells, which changes nothing but which of them it is averaged with.
    """
    smallest = math.exp(-LOGIT_LIMIT)
    inner = np.clip(p, smallest, 1 - smallest)
    place = np.log(inner / (1 - inner))
    np.clip(place, -LOGIT_LIMIT, LOGIT_LIMIT, out=place)
    place *= grid.lowest // LOGIT_LIMIT  # cells a unit of log-odds
    place += p * grid.resolution
    np.ceil(place, out=place)
    cell = place.astype(np.intp)
    cell += grid.lowest
    cell += p >= 0.5
    cell += p > 0.5
    return cell
