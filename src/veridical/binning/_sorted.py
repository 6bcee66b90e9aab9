"""Scores sorted once, ties pooled: what equal-mass, sweep and cross-validated bins work on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from veridical._core.sample import BinarySample
from veridical._core.typing import FloatArray, IntArray

# A cumulated weight that misses its target by rounding still reaches it.
_REACHES = 1 - 1e-12


@dataclass(frozen=True)
class SortedScores:
    """Distinct scores in order; weights are scaled to sum to the effective sample size.

    Attributes
    ----------
    value : array of shape (m,)
        Distinct scores, increasing, in the scores' own type.
    weight, positive : float64 arrays of shape (m,)
        Weight and weighted outcomes at each score.
    """

    value: FloatArray
    weight: FloatArray
    positive: FloatArray

    @cached_property
    def cum_w(self) -> FloatArray:
        """Weight up to and including each score, from zero."""
        return _from_zero(self.weight)

    @cached_property
    def cum_wy(self) -> FloatArray:
        """Weighted outcomes up to and including each score, from zero."""
        return _from_zero(self.positive)

    @cached_property
    def cum_wr(self) -> FloatArray:
        """Cumulated weighted residuals r = y - p."""
        return _from_zero(self.positive - self.weight * self.value)

    @cached_property
    def cum_wr2(self) -> FloatArray:
        """Cumulated weighted squared residuals."""
        p = self.value.astype(np.float64, copy=False)
        missed = self.weight - self.positive
        return _from_zero(self.positive * (1 - p) ** 2 + missed * p * p)

    def equal_mass(self, n_bins: int) -> IntArray:
        """Index of the last distinct score of each bin of (nearly) equal mass.

        Bin k ends at the smallest score whose cumulated share reaches k / n_bins, so equal scores
        stay together and no bin is empty; fewer bins come out when scores repeat.
        """
        total = self.cum_w[-1]
        targets = np.arange(1, n_bins + 1) / n_bins * total * _REACHES
        last = np.searchsorted(self.cum_w[1:], targets)
        return np.unique(np.minimum(last, len(self.value) - 1))

    def edges_after(self, last: IntArray) -> FloatArray:
        """Edges in [0, 1] that put a boundary after each of the given distinct scores.

        Halfway to the next score, in the type of the scores, so that comparison is exact.
        """
        below, above = self.value[last[:-1]], self.value[last[:-1] + 1]
        middle = below + (above - below) / 2
        middle = np.where(middle < above, middle, below)  # neighbours in floating point
        return np.concatenate([[0.0], middle.astype(np.float64), [1.0]])


def sort_scores(sample: BinarySample) -> SortedScores:
    """Scale the weights of the sample's distinct scores to its effective size."""
    pooled = sample.pooled
    if sample.weight is None:
        return SortedScores(pooled.value, pooled.weight, pooled.positive)
    scale = sample.size / pooled.weight.sum()
    return SortedScores(pooled.value, pooled.weight * scale, pooled.positive * scale)


def _from_zero(values: FloatArray) -> FloatArray:
    return np.concatenate([[0.0], np.cumsum(values)])
