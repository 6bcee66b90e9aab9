"""Bins of equal mass."""

from __future__ import annotations

from dataclasses import dataclass

from veridical._core.sample import BinarySample
from veridical.binning._base import IntervalBinning
from veridical.binning._count import BinCount, check_count, resolve_count
from veridical.binning._partition import IntervalPartition
from veridical.binning._sorted import SortedScores, sort_scores


@dataclass(frozen=True)
class QuantileBins(IntervalBinning):
    """Equal-mass bins; equal scores stay together, so bins may differ in size or be fewer.

    Bin k ends at the smallest score whose cumulated (weighted) share reaches k/B; edges lie
    halfway to the next score. Without ties, and when B divides n, these are the groups of
    scikit-learn's ``calibration_curve(strategy="quantile")``.

    Parameters
    ----------
    n : int, "sqrt", "cbrt" or "cv", default 15
        Number of bins, or how to choose it.

    Examples
    --------
    >>> import numpy as np
    >>> p = np.array([0.1, 0.2, 0.2, 0.2, 0.3, 0.9])
    >>> QuantileBins(3).fit(BinarySample(y=np.zeros(6, int), p=p)).edges.tolist()
    [0.0, 0.25, 1.0]
    """

    n: BinCount = 15

    def __post_init__(self) -> None:
        check_count(self.n, caller="QuantileBins")

    @property
    def name(self) -> str:
        """Short name."""
        return f"{self.n} equal-mass bins"

    def fit(self, sample: BinarySample) -> IntervalPartition:
        """Return the bins for these scores."""
        scores = sort_scores(sample)
        wanted = resolve_count(self.n, sample, SortedScores.equal_mass)
        last = scores.equal_mass(wanted)
        doubt = None
        if len(last) < wanted:
            why = "more bins than rows" if wanted > sample.n else "equal scores stay together"
            doubt = f"{wanted} equal-mass bins asked for, {len(last)} made: {why}"
        return IntervalPartition(scores.edges_after(last), doubt=doubt)
