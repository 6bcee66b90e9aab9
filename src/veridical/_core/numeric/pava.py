"""Isotonic regression of outcomes on scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veridical._core.sample import PooledScores
from veridical._core.typing import FloatArray, IntArray


@dataclass(frozen=True)
class IsotonicFit:
    """Pooled scores and the fitted frequency at each."""

    scores: PooledScores
    fitted: FloatArray

    def at(self, p: FloatArray) -> FloatArray:
        """Fitted value of scores that were among the fitted ones."""
        return self.fitted[np.searchsorted(self.scores.value, p)]

    def blocks(self) -> tuple[FloatArray, FloatArray]:
        """Distinct fitted values and the weight of each: far fewer than scores."""
        starts = np.flatnonzero(np.concatenate([[True], self.fitted[1:] != self.fitted[:-1]]))
        return self.fitted[starts], np.add.reduceat(self.scores.weight, starts)


def isotonic_fit(scores: PooledScores) -> IsotonicFit:
    """Non-decreasing frequencies closest in weighted squares, one per distinct score.

    Pool-adjacent-violators (Ayer et al. 1955); for binary outcomes the same fit is optimal under
    every proper score (Dimitriadis, Gneiting & Jordan 2021, doi 10.1073/pnas.2016191118).
    """
    from scipy.optimize import isotonic_regression

    fitted = isotonic_regression(scores.frequency, weights=scores.weight).x
    return IsotonicFit(scores, np.clip(fitted, 0.0, 1.0))


@dataclass(frozen=True)
class IsotonicBlocks:
    """Maximal runs of distinct scores with one fitted frequency, in increasing order.

    Attributes
    ----------
    start : index of the first distinct score of each block
    weight, positive : weight and weighted outcomes of each block
    """

    start: IntArray
    weight: FloatArray
    positive: FloatArray

    @property
    def frequency(self) -> FloatArray:
        """Fitted frequency, strictly increasing."""
        return self.positive / self.weight


def isotonic_blocks(weight: FloatArray, positive: FloatArray) -> IsotonicBlocks:
    """Blocks of the fit of `isotonic_fit`, without its value at every score.

    A block never begins where the frequency does not rise, so runs without a rise are pooled
    first, all at once: for outcomes 0 and 1 that leaves about a quarter of the scores.
    """
    from scipy.optimize import isotonic_regression

    start = _rises(weight, positive)
    weight, positive = np.add.reduceat(weight, start), np.add.reduceat(positive, start)
    for pooled in (isotonic_regression(positive / weight, weights=weight).blocks[:-1], None):
        # Then averages that differ by rounding only, or not at all, are joined.
        first = _rises(weight, positive) if pooled is None else pooled
        weight, positive = np.add.reduceat(weight, first), np.add.reduceat(positive, first)
        start = start[first]
    return IsotonicBlocks(start, weight, positive)


def _rises(weight: FloatArray, positive: FloatArray) -> IntArray:
    """Index of every frequency above the one before it, and of the first."""
    frequency = positive / weight
    return np.flatnonzero(np.concatenate([[True], frequency[1:] > frequency[:-1]]))
