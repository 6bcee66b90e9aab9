"""Cells of whole probability vectors, made without looking at outcomes."""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np

from veridical._core.typing import FloatArray, IntArray

SC = 4
_EVEN = 1e-12  # variance of predictions below which a cell is not split


class Split(NamedTuple):
    """A cell cut in two: rows with p[column] <= at go to the first."""

    cell: int
    column: int
    at: float


def variance_splits(p: FloatArray, most: int) -> list[Split]:
    """Cut the cell whose vectors vary most, where its most varying class has its mean.

    Vaicenavicius et al. (2019), arXiv 1902.06977, appendix B.1.2, with the mean for the median so
    that equal vectors stay together. The new cell takes the next number.
    """
    splits: list[Split] = []
    waiting: list[tuple[float, int, IntArray]] = []

    def offer(cell: int, rows: IntArray) -> None:
        variance = float(p[rows].var(axis=0).sum()) if len(rows) > 1 else 0.0
        if variance > _EVEN:
            heapq.heappush(waiting, (-variance * len(rows), cell, rows))

    offer(0, np.arange(len(p)))
    while waiting and len(splits) < most - 1:
        _, cell, rows = heapq.heappop(waiting)
        held = p[rows]
        column = int(held.var(axis=0).argmax())
        at = float(held[:, column].mean())
        first = held[:, column] <= at
        splits.append(Split(cell, column, at))
        offer(cell, rows[first])
        offer(len(splits), rows[~first])
    return splits


def split_cells(p: FloatArray, splits: list[Split]) -> IntArray:
    """Cell of each row."""
    cell = np.zeros(len(p), dtype=np.intp)
    rows_of = {0: np.arange(len(p))}
    for number, split in enumerate(splits, start=1):
        rows = rows_of[split.cell]
        first = p[rows, split.column] <= split.at
        rows_of[split.cell], rows_of[number] = rows[first], rows[~first]
        cell[rows_of[number]] = number
    return cell


def similarity_roots(centres: FloatArray, mass: FloatArray) -> FloatArray:
    """L with L L' = exp(-|c - c'| / h), h half the mean distance of two rows, (cells, d)."""
    square = np.square(centres).sum(axis=1)
    apart = np.sqrt(np.maximum(square[:, None] + square - 2 * centres @ centres.T, 0.0))
    share = mass / mass.sum()
    mean = float(share @ apart @ share)
    kernel = np.exp(-SC * apart / mean) if mean > 0 else np.ones_like(apart)
    values, vectors = np.linalg.eigh(kernel)
    kept = values > 1e-10 * values[-1]
    return vectors[:, kept] * np.sqrt(values[kept])
