"""Cells of whole probability vectors, made without looking at outcomes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from veridical._core.typing import FloatArray, IntArray

_NARROW = 4.0  # mean distance of two rows, in widths of the kernel
_JITTER = 1e-9  # keeps the root of the kernel from failing by rounding
_EVEN = 1e-12  # variance of predictions below which a cell is not split


class Split(NamedTuple):
    """Cells cut in two, all at once: rows with p[column] > at go to the cell of number `new`.

    By cell; one that is not cut has its own number as `new`.
    """

    column: IntArray
    at: FloatArray
    new: IntArray


def variance_splits(p: FloatArray, most: int) -> list[Split]:
    """Cut cells whose vectors vary, where the most varying class has its mean, again and again.

    Vaicenavicius et al. (2019), arXiv 1902.06977, appendix B.1.2, with the mean for the median so
    that equal vectors stay together. If not all can be cut those that vary most in all are.
    """
    splits: list[Split] = []
    cell: IntArray = np.zeros(len(p), dtype=np.intp)
    n_cells = 1
    while n_cells < most:
        order = np.argsort(cell, kind="stable")
        starts = np.searchsorted(cell[order], np.arange(n_cells))
        rows = np.diff(starts, append=len(p))[:, None]
        held = p[order]
        mean = np.add.reduceat(held, starts, axis=0) / rows
        variance = np.add.reduceat(np.square(held), starts, axis=0) / rows - np.square(mean)
        varies = variance.sum(axis=1)
        cut = np.flatnonzero(varies > _EVEN)
        if not cut.size:
            break
        cut = cut[np.argsort(-(varies * rows[:, 0])[cut], kind="stable")][: most - n_cells]
        column = variance.argmax(axis=1)
        new = np.arange(n_cells)
        new[cut] = n_cells + np.arange(len(cut))
        splits.append(Split(column, mean[np.arange(n_cells), column], new))
        cell = _cut(p, cell, splits[-1])
        n_cells += len(cut)
    return splits


def split_cells(p: FloatArray, splits: list[Split]) -> IntArray:
    """Cell of each row."""
    cell: IntArray = np.zeros(len(p), dtype=np.intp)
    for split in splits:
        cell = _cut(p, cell, split)
    return cell


def _cut(p: FloatArray, cell: IntArray, split: Split) -> IntArray:
    beyond = p[np.arange(len(p)), split.column[cell]] > split.at[cell]
    return np.where(beyond, split.new[cell], cell)


def similarity_roots(centres: FloatArray, mass: FloatArray) -> FloatArray:
    """L with L L' = exp(-|c - c'| / h) for h a quarter of the mean distance of two rows."""
    square = np.square(centres).sum(axis=1)
    apart = np.sqrt(np.maximum(square[:, None] + square - 2 * centres @ centres.T, 0.0))
    np.fill_diagonal(apart, 0.0)
    share = mass / mass.sum()
    mean = float(share @ apart @ share)
    kernel = np.exp(-_NARROW * apart / mean) if mean > 0 else np.ones_like(apart)
    return np.linalg.cholesky(kernel + _JITTER * np.eye(len(kernel)))
