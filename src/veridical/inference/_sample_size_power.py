"""Power of tests of the binned error, without data."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from veridical._core.sample import BinarySample
from veridical._core.typing import FloatArray, IntArray
from veridical.binning import UniformBins
from veridical.inference._binned_interval import cumulant_cdf, find_root

Cumulants = tuple[float, float, float]
_ROWS = 20_000


@dataclass(frozen=True)
class Truth:
    """Shares of the bins, gaps between true frequencies and predictions, variance of an outcome."""

    share: FloatArray
    gap: FloatArray
    variance: FloatArray

    @property
    def error(self) -> float:
        """Root-mean-square gap."""
        return math.sqrt(float(self.share @ self.gap**2))

    def cumulants(self, n: float) -> Cumulants:
        """First three cumulants of the mean squared gap observed on n rows.

        A weighted sum of non-central chi-squares; the shares of the bins vary as well, which adds
        to the variance where gaps differ.
        """
        scale = self.variance / n
        theta = float(self.share @ self.gap**2)
        ratio = self.share * self.gap**2 / scale
        between = max(0.0, float(self.share @ self.gap**4) - theta**2)
        return (
            float(scale.sum()) + theta,
            2 * float(scale**2 @ (1 + 2 * ratio)) + between / n,
            8 * float(scale**3 @ (1 + 3 * ratio)),
        )


class Design:
    """Predictions at hand, in bins."""

    def __init__(self, p: FloatArray, n_bins: int) -> None:
        if len(p) > _ROWS:  # as many quantiles stand for all
            p = np.sort(p)[((np.arange(_ROWS) + 0.5) / _ROWS * len(p)).astype(np.intp)]
        self.p = p
        sample = BinarySample(y=np.zeros(len(p), dtype=np.intp), p=p)
        bins = UniformBins(n_bins).fit(sample).assign(p)
        self.bins: IntArray = np.unique(bins, return_inverse=True)[1].reshape(-1)
        self.share = np.bincount(self.bins) / len(p)
        self.mean_p = self._mean(p)

    def _mean(self, values: FloatArray) -> FloatArray:
        return np.bincount(self.bins, weights=values) / np.bincount(self.bins)

    def truth(self, rate: FloatArray) -> Truth:
        """The truth if these are the frequencies at the predictions."""
        variance = np.maximum(self._mean(rate * (1 - rate)), 1e-12)
        return Truth(self.share, self._mean(rate - self.p), variance)

    @cached_property
    def calibrated(self) -> Truth:
        """The truth if the predictions are right."""
        return self.truth(self.p)

    def miscalibrated(self, shape: str, delta: float) -> Truth:
        """A truth of this shape with an error of `delta`, or the largest error there is."""
        towards = np.where(self.mean_p[self.bins] > 0.5, -1.0, 1.0)
        inner = np.clip(self.p, 1e-12, 1 - 1e-12)
        odds = np.log(inner) - np.log1p(-inner)

        def rate(size: float) -> FloatArray:
            if shape == "even":
                return np.clip(self.p + towards * size, 0.0, 1.0)
            z = odds + 20 * size if shape == "shift" else odds * (1 - size)
            return 1 / (1 + np.exp(-z))

        if self.truth(rate(1.0)).error <= delta:
            return self.truth(rate(1.0))
        size = find_root(lambda size: self.truth(rate(size)).error - delta, 0.0, 1.0)
        return self.truth(rate(size))

    def margin(self, delta: float) -> Truth:
        """What the upper limit supposes at the margin: gaps spread as noise spreads them."""
        noise = self.calibrated.variance / self.share
        gap = np.sqrt(noise / float(self.share @ noise)) * delta
        variance = self.mean_p * (1 - self.mean_p) - gap**2  # mean of a gap up and a gap down
        return Truth(self.share, gap, np.maximum(variance, 1e-12))


def detection_power(design: Design, truth: Truth, n: float, level: float) -> float:
    """Chance that the observed mean squared gap exceeds its null quantile at 1 - level."""
    return 1 - cumulant_cdf(
        _quantile(design.calibrated.cumulants(n), 1 - level), *truth.cumulants(n)
    )


def equivalence_power(design: Design, delta: float, n: float, level: float) -> float:
    """Chance that the upper limit of a calibrated model is below `delta`.

    It is if the observed mean squared gap is below its `level` quantile at the margin; the limit
    treats an observation below the median of a calibrated model as if it were the median.
    """
    null = design.calibrated.cumulants(n)
    most = _quantile(design.margin(delta).cumulants(n), level)
    return 0.0 if most < _quantile(null, 0.5) else cumulant_cdf(most, *null)


def _quantile(cumulants: Cumulants, q: float) -> float:
    mean, variance, _ = cumulants
    return find_root(
        lambda value: cumulant_cdf(value, *cumulants) - q, 0.0, mean + 40 * math.sqrt(variance)
    )


def smallest_count(power: Callable[[float], float], asked: float, most: int) -> int | None:
    """Smallest number of rows with the power asked for, None if `most` are too few."""
    high = 2
    while power(high) < asked:
        if high >= most:
            return None
        high = min(2 * high, most)
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power(middle) >= asked else (middle, high)
    return high
