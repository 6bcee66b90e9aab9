"""How unusual the outcomes of each bin are, if the model is calibrated."""

from __future__ import annotations

import numpy as np

from veridical._core import poisson_binomial
from veridical._core.sample import BinarySample
from veridical._core.typing import FloatArray
from veridical.binning import Binning
from veridical.results import ReliabilityCurve
from veridical.summaries import summarise

_NORMAL_FROM = 400.0  # variance of a count from which it is taken as normal
_LONGEST = 1 << 22  # rows beyond which a count is taken as normal too


def levels_of_rows(sample: BinarySample, binning: Binning) -> FloatArray:
    """Normal scores of the outcomes of each occupied bin, given its predictions.

    The score z has Phi(z) = P(S < s) + P(S = s) / 2, with s the outcomes of the bin and S their
    number if every one has the probability predicted: Poisson-binomial, or normal from a variance
    of 400 on and for importance weights.

    Examples
    --------
    >>> from veridical.binning import UniformBins
    >>> sample = BinarySample(y=np.array([1, 0]), p=np.array([0.6, 0.9]))
    >>> z = levels_of_rows(sample, UniformBins(2))  # P(S < 1) + P(S = 1)/2 = 0.04 + 0.21
    >>> z.round(4).tolist()  # the 25 % quantile
    [-0.6745]
    """
    summary = summarise(sample, binning)
    held = np.flatnonzero(summary.occupied[0])
    observed, mean = summary.sum_wy[0, held], summary.sum_wp[0, held]
    scores = sample.pooled
    counted = sample.weight is None or sample.weight_type == "frequency"
    if counted:
        variance = summary.sum_wpq[0, held]
    else:
        assert sample.weight is not None
        p = sample.p.astype(np.float64)
        spread = sample.weight**2 * p * (1 - p)
        cells = summary.partitions[0].assign(sample.p)
        variance = np.bincount(cells, weights=spread, minlength=summary.count.shape[1])[held]
    certain = variance <= 0
    z = (observed - mean) / np.sqrt(np.where(certain, 1.0, variance))
    # Nothing could vary: either all went as it had to, or the impossible happened.
    z[certain] = np.where(np.isclose(observed, mean), 0.0, np.copysign(np.inf, observed - mean))[
        certain
    ]
    if not counted:
        return z
    bins = summary.partitions[0].assign(scores.value)  # increasing, as scores are
    exact = ~certain & (variance < _NORMAL_FROM) & (summary.sum_w[0, held] <= _LONGEST)
    for i in np.flatnonzero(exact):
        rows = slice(*np.searchsorted(bins, [held[i], held[i] + 1]))
        times = np.maximum(np.rint(scores.weight[rows]), 1).astype(np.int64)
        chances = poisson_binomial.pmf(np.repeat(scores.value[rows].astype(np.float64), times))
        z[i] = _score(chances, round(float(observed[i])))
    return z


def levels_of_curve(curve: ReliabilityCurve) -> FloatArray:
    """Return the same from a curve alone: every row of a bin has its mean prediction.

    The variance of a sum of unequal chances is smaller than that, so bins look less unusual than
    they are.
    """
    from scipy.stats import binom

    hits = np.rint(curve.observed * curve.count)
    half = binom.pmf(hits, curve.count, curve.predicted) / 2
    below = binom.cdf(hits - 1, curve.count, curve.predicted) + half
    above = binom.sf(hits, curve.count, curve.predicted) + half
    # The smaller tail is the more accurate one.
    return np.where(below <= above, _quantile(below), -_quantile(above))


def _score(chances: FloatArray, hits: int) -> float:
    below, above = chances[:hits].sum(), chances[hits + 1 :].sum()
    z = float(_quantile(np.array(min(below, above) + chances[hits] / 2)))
    return z if below <= above else -z


def _quantile(level: FloatArray) -> FloatArray:
    from scipy.special import ndtri

    return np.asarray(ndtri(np.clip(level, 0.0, 1.0)))
