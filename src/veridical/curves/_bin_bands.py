"""Pointwise bands of binned curves from the sums of each bin."""

from __future__ import annotations

import numpy as np

from veridical._core import poisson_binomial
from veridical._core.sample import BinarySample
from veridical._core.typing import FloatArray
from veridical.curves._points import bin_refit
from veridical.curves._resampling import quantiles, resampled
from veridical.summaries import Summary

_NORMAL_FROM = 400.0  # variance of a count from which its quantiles are taken as normal
_LONGEST = 1 << 22


def bin_band(
    kind: str,
    sample: BinarySample,
    summary: Summary,
    *,
    level: float,
    n_resamples: int,
    rng: np.random.Generator,
) -> tuple[FloatArray, ...]:
    """Limits of the frequency of each occupied bin; bins are held fixed."""
    held = summary.occupied[0]
    if sample.weight is not None and (
        sample.weight_type == "importance" or (kind == "consistency" and _too_long(summary))
    ):
        refit = bin_refit(summary.partitions[0], held)
        draws = resampled(kind, sample, refit, n_resamples, rng)
    elif kind == "consistency":
        return _calibrated_quantiles(sample, summary, level)
    else:
        draws = _multinomial_frequencies(summary, n_resamples, rng)
    return quantiles(draws, summary.mean_y[0, held], level)


def _too_long(summary: Summary) -> bool:
    """Whether weights stand for more rows than should be multiplied out."""
    exact = summary.sum_wpq[0] < _NORMAL_FROM
    return bool((summary.sum_w[0, exact] > _LONGEST).any())


def _multinomial_frequencies(
    summary: Summary, n_resamples: int, rng: np.random.Generator
) -> FloatArray:
    """Bootstrapped rows fall into (bin, outcome) as often as a multinomial says."""
    held = summary.occupied[0]
    weight, hits = summary.sum_w[0, held], summary.sum_wy[0, held]
    cells = np.concatenate([np.maximum(weight - hits, 0.0), hits])
    total = max(1, round(float(weight.sum())))
    drawn = rng.multinomial(total, cells / cells.sum(), size=n_resamples)
    negative, positive = drawn[:, : len(hits)], drawn[:, len(hits) :]
    size = negative + positive
    return np.divide(positive, size, out=np.full(size.shape, np.nan), where=size > 0)


def _calibrated_quantiles(
    sample: BinarySample, summary: Summary, level: float
) -> tuple[FloatArray, FloatArray]:
    """Quantiles of the Poisson-binomial count of each bin: exact, nothing is drawn."""
    from scipy.special import ndtri

    held = np.flatnonzero(summary.occupied[0])
    mean, variance = summary.sum_wp[0, held], summary.sum_wpq[0, held]
    size = summary.sum_w[0, held]
    tails = np.array([(1 - level) / 2, (1 + level) / 2])
    limits = np.rint(mean + np.sqrt(variance) * ndtri(tails)[:, None])
    scores = sample.pooled
    bins = summary.partitions[0].assign(scores.value)  # increasing, as scores are
    for i in np.flatnonzero(variance < _NORMAL_FROM):
        rows = slice(*np.searchsorted(bins, [held[i], held[i] + 1]))
        times = np.maximum(np.rint(scores.weight[rows]), 1).astype(np.int64)
        cumulated = np.cumsum(
            poisson_binomial.pmf(np.repeat(scores.value[rows].astype(np.float64), times))
        )
        # The transforms are right to about 1e-15: a level met that closely is met.
        limits[:, i] = np.searchsorted(cumulated, tails - 1e-12)
    low, high = np.clip(limits, 0, size) / size
    return low, high
