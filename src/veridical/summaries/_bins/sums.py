"""Sums by bin of one binary problem, block by block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from veridical._core.loops import Loops, loops_for
from veridical._core.numeric.blocks import row_blocks
from veridical._core.sample import BinarySample
from veridical._core.typing import FloatArray, IntArray
from veridical.binning import IntervalPartition
from veridical.scores import ScoringRule

Sums = dict[str, FloatArray]


def hard_sums(
    sample: BinarySample, partition: IntervalPartition, rules: Sequence[ScoringRule]
) -> tuple[Sums, dict[str, FloatArray]]:
    """Sums with every row in one bin."""
    if sample.weight is None and not rules and partition.grid is not None:
        loops = loops_for(sample.p)
        if loops is not None:
            return _compiled_sums(sample, partition, loops)
    n_bins = partition.n_cells
    if sample.is_sorted and sample.n >= _MANY_ROWS and not rules and n_bins <= _FEW_BINS:
        return _sorted_sums(sample, partition), {}
    cells = np.zeros((5, 2 * n_bins))
    scores: dict[str, FloatArray] = {rule.name: np.zeros(n_bins) for rule in rules}
    for block in row_blocks(sample.n):
        p, y = sample.p[block], sample.y[block]
        w = None if sample.weight is None else sample.weight[block]
        bins = partition.assign(p)
        add_cells(cells, bins, y, p, w)
        for rule in rules:
            values = rule.per_row(BinarySample(y=y, p=p))
            scores[rule.name] += np.bincount(
                bins, weights=values if w is None else values * w, minlength=n_bins
            )
    return from_cells(cells), scores


def _sorted_sums(sample: BinarySample, partition: IntervalPartition) -> Sums:
    """The same of unweighted rows that are sorted already: a bin is a stretch of them."""
    pooled = sample.pooled
    cuts = partition.cuts(pooled.value)
    cells = np.zeros((5, partition.n_cells, 2))
    for index in np.flatnonzero(np.diff(cuts)):
        for block in row_blocks(int(cuts[index + 1] - cuts[index])):
            held = slice(cuts[index] + block.start, cuts[index] + block.stop)
            p = pooled.value[held].astype(np.float64, copy=False)
            hit = pooled.positive[held]
            for outcome, number in enumerate((pooled.weight[held] - hit, hit)):
                weighted = number * p
                cells[0, index, outcome] += number.sum()
                cells[3, index, outcome] += weighted.sum()
                weighted *= p
                cells[4, index, outcome] += weighted.sum()
    cells[1:3] = cells[0]
    return from_cells(cells.reshape(5, -1))


_MANY_ROWS, _FEW_BINS = 1 << 16, 1 << 10  # where rows that are sorted need not be looked up


def linear_sums(
    sample: BinarySample,
    partition: IntervalPartition,
    rules: Sequence[ScoringRule],
    *,
    inverted: bool,
) -> tuple[Sums, dict[str, FloatArray]]:
    """Sums with every row shared between two neighbouring bins.

    `inverted` swaps the two shares (except beyond the outer centres), as formula and code of
    001 Definition 5 do.
    """
    n_bins = partition.n_cells
    cells = np.zeros((5, 2 * n_bins))
    scores: dict[str, FloatArray] = {rule.name: np.zeros(n_bins) for rule in rules}
    centres = partition.centres
    for block in row_blocks(sample.n):
        p, y = sample.p[block], sample.y[block]
        w = np.ones(len(p)) if sample.weight is None else sample.weight[block]
        lower, to_upper = partition.share(p)
        if inverted:
            between = (p >= centres[0]) & (p <= centres[-1])
            to_upper = np.where(between, 1 - to_upper, to_upper)
        upper = np.minimum(lower + 1, n_bins - 1)
        for bins, share in ((lower, 1 - to_upper), (upper, to_upper)):
            add_cells(cells, bins, y, p, w * share, rows=share)
            for rule in rules:
                some = np.flatnonzero(share)  # an infinite score in no part of a bin is nothing
                values = rule.per_row(BinarySample(y=y[some], p=p[some])) * (w * share)[some]
                scores[rule.name] += np.bincount(bins[some], weights=values, minlength=n_bins)
    return from_cells(cells), scores


def add_cells(
    cells: FloatArray,
    bins: IntArray,
    y: IntArray,
    p: FloatArray,
    w: FloatArray | None,
    rows: FloatArray | None = None,
) -> None:
    """Add counts and sums of w, w^2, w p, w p^2 by (bin, outcome) into `cells`, (5, 2 B).

    Splitting by outcome makes the sums of y and of p y free. Without weights the first three
    agree, and only the first is filled.
    """
    size = cells.shape[1]
    key = 2 * bins
    key += y.astype(key.dtype, copy=False)
    wide = p.astype(np.float64, copy=False)
    cells[0] += np.bincount(key, weights=rows, minlength=size)
    if w is None:
        cells[3] += np.bincount(key, weights=wide, minlength=size)
        cells[4] += np.bincount(key, weights=wide * wide, minlength=size)
        cells[1:3] = cells[0]
        return
    weighted = w * wide
    cells[1] += np.bincount(key, weights=w, minlength=size)
    cells[2] += np.bincount(key, weights=w * w, minlength=size)
    cells[3] += np.bincount(key, weights=weighted, minlength=size)
    cells[4] += np.bincount(key, weights=weighted * wide, minlength=size)


def from_cells(cells: FloatArray) -> Sums:
    """Sums by bin from sums by (bin, outcome)."""
    by_outcome = cells.reshape(5, -1, 2)
    count, w, w2, wp, wp2 = by_outcome.sum(axis=2)
    wy, wpy = by_outcome[1, :, 1], by_outcome[3, :, 1]
    return {
        "count": count,
        "sum_w": w,
        "sum_w2": w2,
        "sum_wp": wp,
        "sum_wy": wy.copy(),
        "sum_wpq": wp - wp2,
        "brier": wp2 - 2 * wpy + wy,
    }


def stack(parts: Sequence[Mapping[str, FloatArray]]) -> Sums:
    """Put the problems' sums into arrays of shape (M, B), padding with empty bins."""
    if len(parts) == 1:
        return {name: values[None, :] for name, values in parts[0].items()}
    widest = max(len(part["count"]) for part in parts)
    return {
        name: np.stack([np.pad(part[name], (0, widest - len(part[name]))) for part in parts])
        for name in parts[0]
    }


def _compiled_sums(
    sample: BinarySample, partition: IntervalPartition, loops: Loops
) -> tuple[Sums, dict[str, FloatArray]]:
    grid = partition.grid
    assert grid is not None
    cells = np.empty((5, 2 * partition.n_cells))
    edges, shape = partition.edges.astype(sample.p.dtype), (*grid, partition.closed == "left")
    sums = np.zeros((3, 2 * partition.n_cells))
    loops.sum_by_bin(sample.p, sample.y, edges, shape, sums)
    cells[:3], cells[3:] = sums[0], sums[1:]
    return from_cells(cells), {}
