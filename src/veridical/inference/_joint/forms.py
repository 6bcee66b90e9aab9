"""What can be wrong, as quadratic forms of residuals of cells: level, spread, shape, vectors.

Cells are made without looking at outcomes, so forms of observed and of drawn residuals are alike.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from veridical._core.numeric.blocks import row_blocks
from veridical._core.typing import FloatArray, IntArray

_NARROW = 4.0  # mean distance of two rows, in widths of the kernel
_JITTER = 1e-9  # keeps the root of the kernel from failing by rounding
_LEAST_CHANCE = 1e-9  # log odds are those of a probability this far from 0 and 1
_CORNERS = 10.0 ** -np.arange(2, 8)  # predictions below, and above 1 less these, are kept apart
_DEPENDENT = 1e-8  # share of its length by which a direction must differ from those before it


def upper_edges(
    p: FloatArray, variance: FloatArray, most: int, count: FloatArray | None = None
) -> FloatArray:
    """Largest prediction of each of at most so many cells; equal predictions share one.

    Half of what a cell holds is variance of the outcomes, half is their number: the first matters
    for what can be found there, the second keeps certain predictions apart from others. `p` is
    sorted, and stands for `count` outcomes each.
    """
    changes = p[1:] != p[:-1]
    last = None if changes.all() else np.flatnonzero(np.append(changes, True))
    distinct = p if last is None else p[last]
    if len(distinct) <= most:
        return distinct.astype(np.float64)
    share = np.arange(1.0, len(p) + 1) if count is None else np.cumsum(count)
    share /= share[-1]
    total = float(variance.sum())
    if total > 0:
        share += np.cumsum(variance) / total
    share = share if last is None else share[last]
    # A prediction is where the middle of what it holds is, which rises: the cells end before the
    # places where it reaches their shares of all.
    middle = share.copy()
    middle[1:] += share[:-1]
    middle /= 2 * share[-1]
    middle *= most
    ends = np.searchsorted(middle, np.arange(1.0, most)) - 1
    ends = np.unique(np.append(ends[ends >= 0], len(distinct) - 1))
    return distinct[ends].astype(np.float64)


def with_corners(edges: FloatArray, p: FloatArray) -> FloatArray:
    """Edges of cells of sorted predictions, and those that keep orders of magnitude apart.

    Few predictions of almost 0 or 1 would share a cell with more common ones, whose chance hides
    what happens there.
    """
    low, high = np.searchsorted(p, _CORNERS, side="right"), np.searchsorted(p, 1 - _CORNERS)
    last = np.append(low, high) - 1
    return np.union1d(edges, p[last[last >= 0]].astype(np.float64))


def log_odds(p: FloatArray) -> FloatArray:
    """Log odds of probabilities that are neither 0 nor 1."""
    inside = np.clip(p, _LEAST_CHANCE, 1 - _LEAST_CHANCE)
    return np.log(inside) - np.log1p(-inside)


class Cells(NamedTuple):
    """Sums over the rows of each cell.

    Attributes
    ----------
    residual : sum of w (y - p), as observed
    variance : that of the residual if predictions are right, the sum of w^2 p (1 - p)
    odds : mean log odds, by variance
    """

    residual: FloatArray
    variance: FloatArray
    odds: FloatArray


def cells_of(
    index: IntArray, n_cells: int, p: FloatArray, each: FloatArray, residual: FloatArray
) -> Cells:
    """Sums by cell of predictions with residuals, whose variance is `each` if they are right."""
    sums = np.zeros((3, n_cells))
    for block in row_blocks(len(index)):
        values = (residual[block], each[block], each[block] * log_odds(p[block]))
        for total, value in zip(sums, values, strict=True):
            total += np.bincount(index[block], weights=value, minlength=n_cells)
    found, variance, odds = sums
    np.divide(odds, variance, out=odds, where=variance > 0)
    return Cells(found, variance, odds)


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


_WAVES = 12  # cosines of the shape
_WAVES_OF_ALL = 6  # cosines of what looks at level, spread and shape at once
_ROUNDING = 1e-8  # of a standard deviation
_BELOW_ONE, _LEAST_TAIL = 1 - 1e-12, 1e-300
_TOLD = 1.96  # standard deviations from which a level says which way it is off


class Form(NamedTuple):
    """Weighted sums of the squares of linear combinations of residuals, of m parts at once.

    Attributes
    ----------
    weights : (m, cells, J) or (1, cells, J)
    share : (J,) how much the square of each counts
    told : standard deviations that the first must be off to give a direction; inf for none
    """

    weights: FloatArray
    share: FloatArray
    told: float = np.inf

    def values(self, residuals: FloatArray) -> FloatArray:
        """The statistics of residuals (draws, m, cells), (draws, m)."""
        z = residuals.swapaxes(0, 1) @ self.weights
        return np.asarray((np.square(z, out=z) @ self.share).T)

    def directions(self, residuals: FloatArray) -> FloatArray:
        """Sign of the first combination of what was observed, (m, cells); 0 if it has none."""
        first = np.einsum("mc,mc->m", residuals, self.weights[..., 0])
        return np.where(np.abs(first) > self.told, np.sign(first), 0.0)


def _wave_share(waves: int) -> FloatArray:
    """How much each cosine counts: the slower, the more, as most of what is wrong is smooth."""
    return 1 / np.maximum(1.0, np.arange(1, waves + 1) / 2)


def three_forms(cells: Cells) -> dict[str, Form]:
    """Level, spread and shape."""
    weights = contrasts(cells.variance, cells.odds, _WAVES)[None]
    return {
        "level": Form(weights[..., :1], np.ones(1), 0.0),
        "spread": Form(weights[..., 1:2], np.ones(1), 0.0),
        "shape": Form(weights[..., 2:], _wave_share(_WAVES)),
    }


class Surprise(NamedTuple):
    """How unlikely cells are one by one, freed of level and spread: the largest, or the sum.

    A cell counts by its deviance, as a binomial number with its mean and variance would: twice the
    logarithm of the ratio of likelihoods, which measures a rare event by what it is, not by a
    variance of almost nothing (Wilks 1938, Annals of Mathematical Statistics 9, 60-62).

    Attributes
    ----------
    free : (cells, 2) contrasts of level and spread
    mean, variance, unit : of the weighted sum of outcomes of each cell, and what one counts
    largest : whether the clearest cell is looked for, as minus the logarithm of the chance that
        any of so many normal ones is as clear; else it is the sum
    """

    free: FloatArray
    mean: FloatArray
    variance: FloatArray
    unit: FloatArray
    largest: bool
    told: float = np.inf

    def values(self, residuals: FloatArray) -> FloatArray:
        """The statistic of residuals (draws, 1, cells), (draws, 1)."""
        return self.of(self.deviance(residuals))

    def of(self, each: FloatArray) -> FloatArray:
        """The statistic of deviances of cells that can differ, (draws, 1)."""
        from scipy.special import chdtrc

        if each.shape[1] == 0:
            return np.zeros((len(each), 1))
        if not self.largest:
            return each.sum(axis=1, keepdims=True)
        tail = chdtrc(1, each.max(axis=1, keepdims=True))
        some = -np.expm1(each.shape[1] * np.log1p(-np.minimum(tail, _BELOW_ONE)))
        return np.asarray(-np.log(np.maximum(some, _LEAST_TAIL)))

    def directions(self, residuals: FloatArray) -> FloatArray:
        """None: 0 for each of (m, cells)."""
        return np.zeros(len(residuals))

    def deviance(self, residuals: FloatArray) -> FloatArray:
        """Deviances of residuals (draws, 1, cells) in the cells that can differ, (draws, held)."""
        held = (self.variance > 0) & (self.unit > 0)
        if not held.any():
            return np.zeros((len(residuals), 0))
        residuals = residuals[:, 0]
        left = residuals - (residuals @ self.free) @ (self.free * self.variance[:, None]).T
        left[np.abs(left) <= _ROUNDING * np.sqrt(self.variance)] = (
            0.0  # nothing is left of few cells
        )
        mean, variance = (self.mean / np.where(held, self.unit, 1.0))[held], self.variance[held]
        chance = np.clip(1 - variance / np.square(self.unit[held]) / mean, _LEAST_CHANCE, 1.0)
        number = np.maximum(mean / chance, mean * (1 + _LEAST_CHANCE))
        seen = np.clip(mean + left[:, held] / self.unit[held], 0.0, number)
        happened, not_so = _x_log_ratio(seen, mean), number - seen
        return 2 * np.maximum(happened + _x_log_ratio(not_so, number - mean), 0.0)


def _x_log_ratio(x: FloatArray, mean: FloatArray) -> FloatArray:
    """X log(x / mean), 0 for 0: several times as fast as `xlogy`."""
    ratio = np.maximum(x / mean, _LEAST_TAIL)
    return np.asarray(x * np.log(ratio, out=ratio))


def surprises(cells: Cells, mean: FloatArray, unit: FloatArray) -> list[Surprise]:
    """The clearest cell and the sum of all, of sums with such means that count in such units."""
    free = contrasts(cells.variance, cells.odds, 0)
    return [Surprise(free, mean, cells.variance, unit, largest) for largest in (True, False)]


def form_of_all(cells: Cells) -> Form:
    """Level, spread and shape together, for classes or groups; sums are (m, cells)."""
    weights = contrasts(cells.variance, cells.odds, _WAVES_OF_ALL)
    return Form(weights, np.append([1.0, 1.0], _wave_share(_WAVES_OF_ALL) / 2), _TOLD)


def form_of_totals(mean: FloatArray) -> Form:
    """Pearson's sum of squared residuals of classes over what was expected, (m, classes)."""
    scale = np.divide(1.0, np.sqrt(mean), out=np.zeros_like(mean), where=mean > 0)
    return Form(scale[..., None] * np.eye(mean.shape[-1]), np.ones(mean.shape[-1]))


def similarity_roots(centres: FloatArray, mass: FloatArray) -> FloatArray:
    """L with L L' = exp(-|c - c'| / h) for h a quarter of the mean distance of two rows."""
    square = np.square(centres).sum(axis=1)
    apart = np.sqrt(np.maximum(square[:, None] + square - 2 * centres @ centres.T, 0.0))
    np.fill_diagonal(apart, 0.0)
    share = mass / mass.sum()
    mean = float(share @ apart @ share)
    kernel = np.exp(-_NARROW * apart / mean) if mean > 0 else np.ones_like(apart)
    return np.linalg.cholesky(kernel + _JITTER * np.eye(len(kernel)))


def form_of_vectors(centres: FloatArray, mass: FloatArray) -> Form:
    """Residuals of every class in cells of vectors, similar cells together; sum over classes.

    The squared kernel calibration error of Widmann, Lindsten & Zachariah (2019), arXiv 1910.11385,
    of predictions moved to the centre of their cell, all pairs.
    """
    roots = similarity_roots(centres, mass)
    return Form(roots[None], np.ones(roots.shape[1]))
