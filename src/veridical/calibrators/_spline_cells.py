"""Rows pooled in cells between knots, and shared among folds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veridical._core.typing import FloatArray, IntArray
from veridical.calibrators._spline_basis import Basis

_PARTS = 64  # cells between two knots
_MOST = 4096  # distinct values up to which each is its own cell


@dataclass(frozen=True)
class Cells:
    """Rows pooled by their log odds.

    Attributes
    ----------
    z : mean log odds of each cell
    mass : weight of each cell's rows of outcome 0 and 1, (2, cells)
    cell : cell of each row
    exact : whether all rows of a cell are equal
    """

    z: FloatArray
    mass: FloatArray
    cell: IntArray
    exact: bool


def pool_rows(basis: Basis, z: FloatArray, y: IntArray, weight: FloatArray | None) -> Cells:
    """Pool equal rows, or rows in the same 64th of an interval between knots. O(n log n)."""
    distinct = np.unique(z)
    exact = len(distinct) <= _MOST
    cell: IntArray = np.searchsorted(distinct, z) if exact else _parts(basis, z)
    n = int(cell.max()) + 1
    mass = np.bincount(2 * cell + y, weight, minlength=2 * n).reshape(n, 2).T.astype(np.float64)
    if exact:
        return Cells(distinct, mass, cell, exact)
    sums = np.bincount(cell, z if weight is None else z * weight, minlength=n)
    return Cells(sums / mass.sum(axis=0), mass, cell, exact)


def share_among_folds(
    cells: Cells,
    y: IntArray,
    z: FloatArray,
    weight: FloatArray | None,
    n_folds: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Mass of each fold in each outcome and cell, (folds, 2, cells); rows in random folds.

    Whole-number masses are counts and shared by multinomial draws, so neither the order of rows nor
    whether they are repeated or weighted matters. Other weights stay whole: rows are drawn in the
    order of value, outcome and weight.
    """
    counts = np.rint(cells.mass)
    if weight is None or np.abs(weight - np.rint(weight)).max() < 1e-9:
        drawn = rng.multinomial(counts.astype(np.int64), np.full(n_folds, 1 / n_folds))
        return np.moveaxis(drawn, 2, 0).astype(np.float64)
    order = np.lexsort((weight, y, z))
    fold = np.empty(len(z), dtype=np.intp)
    fold[order] = rng.permutation(len(z)) % n_folds
    shape = (n_folds, 2, cells.mass.shape[1])
    flat = np.ravel_multi_index((fold, y, cells.cell), shape)
    masses = np.bincount(flat, weight, minlength=int(np.prod(shape)))
    return masses.reshape(shape).astype(np.float64)


def _parts(basis: Basis, z: FloatArray) -> IntArray:
    """Which 64th of which interval each value is in, numbered without gaps."""
    piece, t = basis.locate(z)
    part = np.minimum((t / np.diff(basis.knots)[piece] * _PARTS).astype(np.intp), _PARTS - 1)
    cell = piece * _PARTS + part
    used = np.bincount(cell) > 0
    return np.asarray((np.cumsum(used) - 1)[cell])
