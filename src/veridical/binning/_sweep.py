"""As many equal-mass bins as a monotone reliability curve allows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veridical._core.sample import BinarySample
from veridical._core.typing import IntArray
from veridical.binning._base import IntervalBinning
from veridical.binning._partition import IntervalPartition
from veridical.binning._sorted import SortedScores, sort_scores

_TOLERANCE = 1e-12


@dataclass(frozen=True)
class SweepBins(IntervalBinning):
    """The largest number of equal-mass bins up to which observed frequencies never decrease.

    Roelofs, Cain, Shlens & Mozer (2021), arXiv 2012.08668, Algorithm 1: counts are tried upwards
    from one and the search ends at the first count whose bin means are not monotone.

    Examples
    --------
    >>> p, y = np.array([0.1, 0.2, 0.3, 0.4]), np.array([0, 1, 0, 1])
    >>> SweepBins().fit(BinarySample(y=y, p=p)).n_cells
    2
    """

    @property
    def name(self) -> str:
        """Short name."""
        return "monotone sweep bins"

    def fit(self, sample: BinarySample) -> IntervalPartition:
        """Return the bins for these scores and outcomes."""
        scores = sort_scores(sample)
        return IntervalPartition(scores.edges_after(_largest_monotone(scores)))


def _largest_monotone(scores: SortedScores) -> IntArray:
    m = len(scores.value)
    best = scores.equal_mass(1)
    positive = np.flatnonzero(scores.positive > 0)
    negative = np.flatnonzero(scores.positive < scores.weight * (1 - _TOLERANCE))
    if not (positive.size and negative.size):
        return scores.equal_mass(m)  # one class only: every count is monotone
    # Only bins that touch the stretch where both outcomes occur can break the order: all bins
    # before it have mean 0, all bins after it mean 1.
    total = scores.cum_w[-1]
    start, stop = scores.cum_w[positive[0]] / total, scores.cum_w[negative[-1] + 1] / total
    for n_bins in range(2, m + 1):
        first, after = int(start * n_bins), min(int(np.ceil(stop * n_bins)) + 1, n_bins)
        targets = np.arange(first, after + 1) / n_bins * total * (1 - _TOLERANCE)
        last = np.minimum(np.searchsorted(scores.cum_w[1:], targets), m - 1)
        if first == 0:
            last[0] = -1
        cuts = np.unique(last) + 1
        frequency = np.diff(scores.cum_wy[cuts]) / np.diff(scores.cum_w[cuts])
        if (np.diff(frequency) < -_TOLERANCE).any():
            return best
        best = scores.equal_mass(n_bins)
    return best
