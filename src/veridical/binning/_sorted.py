"""Scores sorted once, ties pooled: what equal-mass, sweep and cross-validated bins work on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veridical._core.sample import BinarySample
from veridical._core.typing import FloatArray, IntArray

# A cumulated weight that misses its target by rounding still reaches it.
_REACHES = 1 - 1e-12


@dataclass(frozen=True)
class SortedScores:
    """Distinct scores in order, with cumulated weights and outcomes.

    Attributes
    ----------
    value : array of shape (m,)
        Distinct scores, increasing, in the scores' own type.
    cum_w, cum_wy, cum_wr, cum_wr2 : float64 arrays of shape (m + 1,)
        Sums up to and including each score, from zero: of w, w y, w r and w r^2 with r = y - p.
        Weights are scaled to sum to the effective sample size.
    """

    value: FloatArray
    cum_w: FloatArray
    cum_wy: FloatArray
    cum_wr: FloatArray
    cum_wr2: FloatArray

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
    """Cumulate over the sample's distinct scores."""
    pooled = sample.pooled
    scale = sample.size / pooled.weight.sum()
    w, wy = pooled.weight * scale, pooled.positive * scale
    p = pooled.value.astype(np.float64, copy=False)
    return SortedScores(
        value=pooled.value,
        cum_w=_from_zero(w),
        cum_wy=_from_zero(wy),
        cum_wr=_from_zero(wy - w * p),
        cum_wr2=_from_zero(wy * (1 - p) ** 2 + (w - wy) * p * p),
    )


def _from_zero(values: FloatArray) -> FloatArray:
    return np.concatenate([[0.0], np.cumsum(values)])
