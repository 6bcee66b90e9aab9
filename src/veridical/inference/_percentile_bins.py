"""Groups between percentiles, as the Hosmer-Lemeshow test wants them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veridical._core.sample import BinarySample
from veridical._core.typing import FloatArray
from veridical.binning import IntervalBinning, IntervalPartition


@dataclass(frozen=True)
class PercentileBins(IntervalBinning):
    """Right-closed bins between linearly interpolated quantiles; equal scores stay together.

    The k-th of B bins ends at the quantile k / B, which lies between the order statistics
    number floor(k (n - 1) / B) and the next one, counted from zero. Scores up to the lower of the
    two are below it and all others above, so that order statistic is the edge: the same groups
    without interpolating. `QuantileBins` ends a bin where the cumulated share reaches k / B,
    which is the same without ties when B divides n.

    Examples
    --------
    The median of 0.1, 0.2, 0.4, 0.8 is 0.3.

    >>> sample = BinarySample(y=np.zeros(4, int), p=np.array([0.1, 0.2, 0.4, 0.8]))
    >>> PercentileBins(2).fit(sample).assign(sample.p).tolist()
    [0, 0, 1, 1]
    """

    n: int

    @property
    def name(self) -> str:
        """Short name."""
        return f"{self.n} percentile bins"

    def fit(self, sample: BinarySample) -> IntervalPartition:
        """Return the bins for these scores; each holds a row."""
        cuts, largest = self._order_statistics(sample)
        cuts = np.unique(cuts[cuts < largest]).astype(np.float64)
        doubt = None
        if len(cuts) + 1 < self.n:
            why = "fewer rows than bins" if sample.n < self.n else "equal scores stay together"
            doubt = f"{self.n} percentile bins asked for, {len(cuts) + 1} made: {why}"
        return IntervalPartition(np.concatenate([[0.0], cuts, [1.0]]), doubt=doubt)

    def _order_statistics(self, sample: BinarySample) -> tuple[FloatArray, FloatArray]:
        size = sample.size
        # Sizes of importance weights carry rounding; a whole position must not fall below itself.
        position = np.arange(1, self.n) * max(size - 1, 0.0) / self.n
        wanted = np.floor(position + 1e-9)
        if sample.weight is None:
            ordered = np.sort(sample.p)
            return ordered[wanted.astype(np.intp)], ordered[-1]
        pooled = sample.pooled
        reached = np.cumsum(pooled.weight * (size / pooled.weight.sum()))
        # Row number i, counted from zero, is where the weight passes i; halfway to be safe.
        at = np.searchsorted(reached, wanted + 0.5)
        return pooled.value[np.minimum(at, len(reached) - 1)], pooled.value[-1]
