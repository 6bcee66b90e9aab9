"""Isotonic regression of outcomes on scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veridical._core.sample import PooledScores
from veridical._core.typing import FloatArray, IntArray

_MOST_ROUNDS = 40


@dataclass(frozen=True)
class IsotonicFit:
    """Pooled scores and the fitted frequency at each."""

    scores: PooledScores
    fitted: FloatArray

    def at(self, p: FloatArray) -> FloatArray:
        """Fitted value of scores that were among the fitted ones."""
        return self.fitted[np.searchsorted(self.scores.value, p)]


def isotonic_fit(scores: PooledScores) -> IsotonicFit:
    """Non-decreasing frequencies closest in weighted squares, one per distinct score.

    Pool-adjacent-violators (Ayer et al. 1955); for binary outcomes the same fit is optimal under
    every proper score (Dimitriadis, Gneiting & Jordan 2021, doi 10.1073/pnas.2016191118).
    """
    blocks = isotonic_blocks(scores.weight, scores.positive)
    lengths = np.diff(blocks.start, append=len(scores.value))
    return IsotonicFit(scores, np.repeat(blocks.frequency, lengths).clip(0.0, 1.0))


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

    A block never begins where the frequency does not rise, so runs without a rise are pooled, all
    at once, until every frequency rises: the order of pooling does not matter (Robertson, Wright &
    Dykstra 1988, section 1.4). Outcomes of a thousand to a million rows take 6 to 20 rounds, each
    of fewer blocks; what takes many more is left to SciPy, whose time does not depend on the order.
    """
    start = np.arange(len(weight))
    for _ in range(_MOST_ROUNDS):
        first = _rises(weight, positive)
        if len(first) == len(weight):
            break
        weight, positive = np.add.reduceat(weight, first), np.add.reduceat(positive, first)
        start = start[first]
    else:
        from scipy.optimize import isotonic_regression

        first = isotonic_regression(positive / weight, weights=weight).blocks[:-1]
        weight, positive = np.add.reduceat(weight, first), np.add.reduceat(positive, first)
        first_again = _rises(weight, positive)  # averages that differ by rounding only
        weight, positive = (np.add.reduceat(each, first_again) for each in (weight, positive))
        start = start[first][first_again]
    return IsotonicBlocks(start, weight, positive)


def _rises(weight: FloatArray, positive: FloatArray) -> IntArray:
    """Index of every frequency above the one before it, and of the first."""
    frequency = positive if len(weight) > 1 and weight.strides == (0,) else positive / weight
    rises = np.empty(len(frequency), dtype=bool)
    rises[0] = True
    np.greater(frequency[1:], frequency[:-1], out=rises[1:])
    return np.flatnonzero(rises)
