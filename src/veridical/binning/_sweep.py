"""As many equal-mass bins as a monotone reliability curve allows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veridical._core.sample import BinarySample
from veridical._core.typing import FloatArray, IntArray
from veridical.binning._base import IntervalBinning
from veridical.binning._partition import IntervalPartition
from veridical.binning._sorted import SortedScores, sort_scores

_TOLERANCE = 1e-12
_FIRST_BATCH, _LARGEST_BATCH = 1 << 10, 1 << 19
_MOST_BINS = 10_000_000


@dataclass(frozen=True)
class SweepBins(IntervalBinning):
    """The largest number of equal-mass bins up to which observed frequencies never decrease.

    Roelofs, Cain, Shlens & Mozer (2021), arXiv 2012.08668, Algorithm 1: counts are tried upwards
    from one and the search ends at the first count whose bin means are not monotone, or when every
    distinct score has a bin of its own.

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
    frequency = scores.positive / scores.weight
    if not _decreases(frequency):
        return np.arange(len(scores.value))  # monotone score by score, so with every count
    # Only bins that touch the stretch where both outcomes occur can break the order: all bins
    # before it have mean 0, all bins after it mean 1.
    total = scores.cum_w[-1]
    first_positive = np.flatnonzero(scores.positive > 0)[0]
    last_negative = np.flatnonzero(frequency < 1 - _TOLERANCE)[-1]
    start, stop = scores.cum_w[first_positive] / total, scores.cum_w[last_negative + 1] / total
    # So many bins separate all scores; without ties or weights it is the number of rows.
    most = int(min(np.ceil(total / scores.weight.min()), _MOST_BINS))
    tried, room = 1, _FIRST_BATCH
    while tried < most:
        # As many counts at a time as have about `room` bins in the stretch.
        width = (stop - start) * (tried + 1) + 4
        counts = np.arange(tried + 1, min(tried + max(1, int(room / width)), most) + 1)
        broken = _first_broken(scores, counts, start, stop)
        if broken is not None:
            return scores.equal_mass(broken - 1)
        tried, room = int(counts[-1]), min(2 * room, _LARGEST_BATCH)
    return scores.equal_mass(most)


def _first_broken(scores: SortedScores, counts: IntArray, start: float, stop: float) -> int | None:
    """Smallest of the counts whose bin means are not monotone between two shares of the mass."""
    low = (start * counts).astype(np.intp)
    high = np.minimum(np.ceil(stop * counts).astype(np.intp) + 1, counts)
    sizes = high - low + 1
    count = np.repeat(counts, sizes)
    within = np.arange(len(count)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    step = np.repeat(low, sizes) + within
    target = step / count * scores.cum_w[-1] * (1 - _TOLERANCE)
    end = np.minimum(np.searchsorted(scores.cum_w[1:], target), len(scores.value) - 1) + 1
    end[step == 0] = 0
    # A bin ends at each target and begins at the one before; equal ends are one bin.
    held = np.flatnonzero((within[1:] > 0) & (end[1:] > end[:-1])) + 1
    begin = end[held - 1]
    weight = scores.cum_w[end[held]] - scores.cum_w[begin]
    frequency = (scores.cum_wy[end[held]] - scores.cum_wy[begin]) / weight
    worse = (np.diff(frequency) < -_TOLERANCE) & (count[held][1:] == count[held][:-1])
    return int(count[held][1:][worse][0]) if worse.any() else None


def _decreases(frequency: FloatArray) -> bool:
    return bool((np.diff(frequency) < -_TOLERANCE).any())
