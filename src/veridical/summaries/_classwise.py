"""Sums by class and bin when all classes share their bins: the whole matrix at once."""

from __future__ import annotations

import numpy as np

from veridical._core.blocks import ROWS, row_blocks
from veridical._core.compiled_loader import compiled_for
from veridical._core.sample import MulticlassSample
from veridical._core.typing import FloatArray
from veridical.binning import IntervalPartition
from veridical.summaries._sums import Sums

# Up to this many classes compiled code looks at every entry; beyond, skipping small ones wins.
_FEW_CLASSES = 64


def matrix_sums(sample: MulticlassSample, partition: IntervalPartition) -> Sums:
    """Sums by class and bin, arrays of shape (K, B).

    What happened touches one entry of a row, so sums of y cost O(n), not O(n K). Rows sum to one,
    so fewer than B entries of a row lie beyond the first bin: those are looked up one by one, and
    what is left of a column is its first bin, which is why a thousand classes cost little more
    than reading them.
    """
    few = len(sample.classes) <= _FEW_CLASSES and partition.grid is not None
    compiled = compiled_for(sample.p) if few else None
    if sample.weight is None and compiled is not None:
        sums = _compiled(sample.p, partition, compiled)
    elif sample.weight is None and len(sample.classes) <= partition.n_cells:
        sums = _every_entry(sample.p, partition)
    else:
        sums = _beyond_first(sample.p, sample.weight, partition)
    count, w, w2, wp, wp2 = sums
    wy, wpy = _outcomes(sample, partition)
    return {
        "count": count,
        "sum_w": w,
        "sum_w2": w2,
        "sum_wp": wp,
        "sum_wy": wy,
        "sum_wpq": wp - wp2,
        "brier": wp2 - 2 * wpy + wy,
    }


def _beyond_first(
    p: FloatArray, weight: FloatArray | None, partition: IntervalPartition
) -> FloatArray:
    n, n_classes = p.shape
    n_bins = partition.n_cells
    size = n_classes * n_bins
    first_edge = p.dtype.type(partition.edges[1])
    beyond = np.zeros((5, size))
    first = np.zeros((5, n_classes))
    for block in row_blocks(n, max(64, 4 * ROWS // n_classes)):
        small = np.array(p[block], dtype=np.float64, order="C")  # a copy: what is beyond is cut out
        flat = small.reshape(-1)
        values = np.ascontiguousarray(p[block]).reshape(-1)
        high = values > first_edge if partition.closed == "right" else values >= first_edge
        where = np.flatnonzero(high)
        values, wide = values[where], flat[where]
        flat[where] = 0.0
        key = where % n_classes
        key *= n_bins
        key += partition.assign(values)
        beyond[0] += np.bincount(key, minlength=size)
        first[0] += len(small) - np.bincount(where % n_classes, minlength=n_classes)
        if weight is None:
            beyond[3] += np.bincount(key, weights=wide, minlength=size)
            beyond[4] += np.bincount(key, weights=wide * wide, minlength=size)
            first[3] += small.sum(axis=0)
            first[4] += np.einsum("ij,ij->j", small, small)
            continue
        w = weight[block]
        each = w[where // n_classes]
        beyond[1] += np.bincount(key, weights=each, minlength=size)
        beyond[2] += np.bincount(key, weights=each * each, minlength=size)
        beyond[3] += np.bincount(key, weights=each * wide, minlength=size)
        beyond[4] += np.bincount(key, weights=each * wide * wide, minlength=size)
        within = (~high).reshape(small.shape).astype(np.float64)
        first[1] += w @ within
        first[2] += (w * w) @ within
        first[3] += w @ small
        first[4] += np.einsum("i,ij,ij->j", w, small, small)
    if weight is None:
        beyond[1:3], first[1:3] = beyond[0], first[0]
    sums = beyond.reshape(5, n_classes, n_bins)
    sums[:, :, 0] += first
    return sums


def _every_entry(p: FloatArray, partition: IntervalPartition) -> FloatArray:
    """Look at all entries: with few classes there is little to skip."""
    n, n_classes = p.shape
    n_bins = partition.n_cells
    size = n_classes * n_bins
    rows = max(64, ROWS // n_classes)
    column = np.tile(np.arange(n_classes) * n_bins, rows)
    sums = np.zeros((5, size))
    for block in row_blocks(n, rows):
        flat = np.ascontiguousarray(p[block]).reshape(-1)
        key = partition.assign(flat)
        key += column[: len(flat)]
        wide = flat.astype(np.float64, copy=False)
        sums[0] += np.bincount(key, minlength=size)
        sums[3] += np.bincount(key, weights=wide, minlength=size)
        sums[4] += np.bincount(key, weights=wide * wide, minlength=size)
    sums[1:3] = sums[0]
    return sums.reshape(5, n_classes, n_bins)


def _compiled(p: FloatArray, partition: IntervalPartition, compiled: object) -> FloatArray:
    assert partition.grid is not None
    n, n_classes = p.shape
    edges = partition.edges.astype(p.dtype)
    sums = np.zeros((5, n_classes, partition.n_cells))
    part = np.zeros((3, n_classes, partition.n_cells))
    for block in row_blocks(n, max(64, 16 * ROWS // n_classes)):
        part[:] = 0.0
        compiled.sum_by_class_and_bin(  # type: ignore[attr-defined]
            p[block], edges, *partition.grid, partition.closed == "left", part[0], part[1], part[2]
        )
        sums[0] += part[0]
        sums[3:] += part[1:]
    sums[1:3] = sums[0]
    return sums


def _outcomes(
    sample: MulticlassSample, partition: IntervalPartition
) -> tuple[FloatArray, FloatArray]:
    """Sums of w y and w p y by class and bin."""
    n_classes, n_bins = len(sample.classes), partition.n_cells
    size = n_classes * n_bins
    wy, wpy = np.zeros(size), np.zeros(size)
    for block in row_blocks(sample.n):
        occurred = sample.y[block].astype(np.intp)
        given = sample.p[block][np.arange(len(occurred)), occurred]
        key = occurred * n_bins + partition.assign(given)
        wide = given.astype(np.float64, copy=False)
        w = None if sample.weight is None else sample.weight[block]
        wy += np.bincount(key, weights=w, minlength=size)
        wpy += np.bincount(key, weights=wide if w is None else w * wide, minlength=size)
    return wy.reshape(n_classes, n_bins), wpy.reshape(n_classes, n_bins)
