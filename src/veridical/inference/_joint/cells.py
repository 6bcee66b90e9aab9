"""Cells of predictions made without looking at outcomes, and contrasts between their residuals."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from veridical._core.typing import FloatArray, IntArray

_LEAST_CHANCE = 1e-9  # log odds are those of a probability this far from 0 and 1
_DEPENDENT = 1e-8  # share of its length by which a direction must differ from those before it


def upper_edges(
    p: FloatArray, variance: FloatArray, most: int, count: FloatArray | None = None
) -> FloatArray:
    """Largest prediction of each of at most so many cells; equal predictions share one.

    Half of what a cell holds is variance of the outcomes, half is their number: the first matters
    for what can be found there, the second keeps certain predictions apart from others. `p` is
    sorted, and stands for `count` outcomes each.
    """
    last = np.flatnonzero(np.append(p[1:] != p[:-1], True))
    if len(last) <= most:
        return p[last].astype(np.float64)
    total = float(variance.sum())
    number = np.arange(1, len(p) + 1) if count is None else np.cumsum(count)
    share = (np.cumsum(variance) / total if total > 0 else 0.0) + number / number[-1]
    held = np.diff(share[last], prepend=0.0)
    middle = (share[last] - held / 2) / share[-1]
    cell = np.minimum((middle * most).astype(np.intp), most - 1)
    ends = np.flatnonzero(np.append(cell[1:] != cell[:-1], True))
    return p[last[ends]].astype(np.float64)


def log_odds(p: FloatArray) -> FloatArray:
    """Log odds of probabilities that are neither 0 nor 1."""
    inside = np.clip(p, _LEAST_CHANCE, 1 - _LEAST_CHANCE)
    return np.log(inside) - np.log1p(-inside)


class Cells(NamedTuple):
    """Sums over the rows of each cell.

    Attributes
    ----------
    residual : sum of w (y - p), as observed
    variance : sum of w^2 p (1 - p), that of the residual if outcomes are drawn from p
    odds : mean log odds, by variance
    """

    residual: FloatArray
    variance: FloatArray
    odds: FloatArray


def cells_of(
    index: IntArray, n_cells: int, p: FloatArray, weight: FloatArray, residual: FloatArray
) -> Cells:
    """Sums by cell; `weight` counts in the variance as it is given (w^2, times outcomes)."""
    each = weight * p * (1 - p)

    def by_cell(values: FloatArray) -> FloatArray:
        sums = np.bincount(index, weights=values, minlength=n_cells)
        return sums.astype(np.float64, copy=False)

    variance, odds = by_cell(each), by_cell(each * log_odds(p))
    np.divide(odds, variance, out=odds, where=variance > 0)
    return Cells(by_cell(residual), variance, odds)


def contrasts(variance: FloatArray, odds: FloatArray, waves: int) -> FloatArray:
    """Combinations of residuals of cells, uncorrelated with variance one, (..., cells, 2 + waves).

    The first is the sum of all (the score test of the level); the second is linear in the log
    odds (the score test of the slope, the level being free; Cox 1958, Biometrika 45, 562-565);
    the others are cosines of the share of the variance below (Neyman's smooth test), free of both.
    Those that the cells cannot tell from the ones before are zero.

    Examples
    --------
    Two cells of variance 4 and 1: z-values of the sum, and of what tells the cells apart.

    >>> c = contrasts(np.array([4.0, 1.0]), np.array([-1.0, 1.0]), 1)
    >>> (np.array([3.0, -1.0]) @ c).round(6).tolist()
    [0.894427, -1.565248, 0.0]
    """
    root = np.sqrt(variance)
    total = variance.sum(axis=-1, keepdims=True)
    some = np.where(total > 0, total, 1.0)
    place = (np.cumsum(variance, axis=-1) - variance / 2) / some
    centred = odds - (odds * variance).sum(axis=-1, keepdims=True) / some
    columns = [np.ones_like(place), centred]
    columns += [np.cos(np.pi * j * place) for j in range(1, waves + 1)]
    basis = np.zeros((*variance.shape, len(columns)))
    for number, column in enumerate(columns):
        direction = root * column
        length = np.linalg.norm(direction, axis=-1, keepdims=True)
        for _ in range(2):  # twice is enough
            inside = basis.swapaxes(-1, -2) @ direction[..., None]
            direction = direction - (basis @ inside)[..., 0]
        left = np.linalg.norm(direction, axis=-1, keepdims=True)
        new = (left > _DEPENDENT * length) & (length > _DEPENDENT * np.sqrt(some))
        np.divide(direction, left, out=basis[..., number], where=new)
    return np.divide(basis, root[..., None], out=np.zeros_like(basis), where=root[..., None] > 0)
