"""Cells of predictions made without looking at outcomes, and contrasts between their residuals."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from veridical._core.typing import FloatArray, IntArray

_LEAST_CHANCE = 1e-9  # log odds are those of a probability this far from 0 and 1
_DEPENDENT = 1e-8  # share of its length by which a direction must differ from those before it


def upper_edges(p: FloatArray, variance: FloatArray, most: int) -> FloatArray:
    """Largest prediction of each of at most so many cells; equal predictions share one.

    Half of what a cell holds is variance of the outcomes, half is rows: the first matters for
    what can be found there, the second keeps certain predictions apart from others. `p` is sorted.
    """
    last = np.flatnonzero(np.append(p[1:] != p[:-1], True))
    if len(last) <= most:
        return p[last].astype(np.float64)
    total = float(variance.sum())
    share = (np.cumsum(variance) / total if total > 0 else 0.0) + np.arange(1, len(p) + 1) / len(p)
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
    variance = np.bincount(index, weights=each, minlength=n_cells)
    odds = np.bincount(index, weights=each * log_odds(p), minlength=n_cells)
    total = np.bincount(index, weights=residual, minlength=n_cells)
    return Cells(total, variance, np.divide(odds, variance, out=odds, where=variance > 0))


def contrasts(variance: FloatArray, odds: FloatArray, most: int) -> tuple[FloatArray, IntArray]:
    """Combinations of residuals of cells that are uncorrelated with variance one, (cells, J).

    The first is the sum of all (the score test of the level); the second is linear in the log
    odds (the score test of the slope, the level being free; Cox 1958, Biometrika 45, 562-565);
    the others are cosines of the share of the variance below (Neyman's smooth test), free of both.
    Also returns the number of each: 0, 1, and 2 upwards. Those that the cells cannot tell from
    the ones before are left out.
    """
    root = np.sqrt(variance)
    total = float(variance.sum())
    if not total > 0:
        return np.zeros((len(variance), 0)), np.zeros(0, dtype=np.intp)
    place = (np.cumsum(variance) - variance / 2) / total
    centred = odds - float(odds @ variance) / total
    columns = [np.ones_like(place), centred]
    columns += [np.cos(np.pi * j * place) for j in range(1, most + 1)]
    basis = np.zeros((len(root), 0))
    kept = []
    for number, column in enumerate(columns):
        direction = root * column
        length = float(np.linalg.norm(direction))
        for _ in range(2):  # twice is enough
            direction = direction - basis @ (basis.T @ direction)
        left = float(np.linalg.norm(direction))
        if left > _DEPENDENT * length and length > _DEPENDENT * np.sqrt(total):
            basis = np.column_stack([basis, direction / left])
            kept.append(number)
    scaled = np.divide(basis, root[:, None], out=np.zeros_like(basis), where=root[:, None] > 0)
    return scaled, np.array(kept, dtype=np.intp)
