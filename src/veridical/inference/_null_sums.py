"""Sums by bin of outcomes drawn from the predictions, without touching the rows again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from veridical._core import poisson_binomial
from veridical._core.sample import BinarySample
from veridical._core.typing import FloatArray
from veridical.summaries import Summary

# From this variance of a bin's count on, its distribution is normal to well below the noise of
# any number of resamples one would draw (relative error of the mean absolute deviation < 1e-3).
_NORMAL_FROM = 400.0
_BLOCK_DRAWS = 1 << 22


def null_summaries(
    sample: BinarySample, summary: Summary, n_resamples: int, rng: np.random.Generator
) -> Summary:
    """Return a summary whose problems are resamples: same predictions, outcomes drawn from them.

    Counts of unweighted bins are independent Poisson-binomials: drawn exactly, or from a normal
    distribution where their variance exceeds 400. Weighted outcomes are drawn row by row.
    """
    shape = (n_resamples, summary.sum_w.shape[1])
    same_weight = 1.0 if sample.weight is None else float(sample.weight[0])
    if sample.weight is None or (sample.weight == same_weight).all():
        sum_wy = _counts(sample, summary, n_resamples, rng) * same_weight
    else:
        sum_wy = _weighted_sums(sample, summary, n_resamples, rng)
    same: dict[str, Any] = {
        name: np.broadcast_to(getattr(summary, name), shape)
        for name in ("count", "sum_w", "sum_w2", "sum_wp", "sum_wpq")
    }
    return replace(
        summary,
        partitions=summary.partitions * n_resamples,
        names=summary.names * n_resamples,
        sum_wy=sum_wy,
        scores={},
        **same,
    )


def _counts(
    sample: BinarySample, summary: Summary, n_resamples: int, rng: np.random.Generator
) -> FloatArray:
    # Counts of rows: weights, if there are any, are all the same.
    scale = summary.count[0] / np.where(summary.sum_w[0] > 0, summary.sum_w[0], 1.0)
    mean, variance = summary.sum_wp[0] * scale, summary.sum_wpq[0] * scale
    sums = np.zeros((n_resamples, len(mean)))
    normal = variance >= _NORMAL_FROM
    sums[:, normal] = mean[normal] + np.sqrt(variance[normal]) * rng.standard_normal(
        (n_resamples, int(normal.sum()))
    )
    # A count is a whole number between none and all.
    sums[:, normal] = np.clip(np.rint(sums[:, normal]), 0, summary.count[0, normal])
    exact = np.flatnonzero(~normal & summary.occupied[0])
    if exact.size:
        bins = summary.partitions[0].assign(sample.p)
        order = np.argsort(bins, kind="stable")
        starts = np.searchsorted(bins[order], np.arange(len(mean) + 1))
        for b in exact:
            rows = order[starts[b] : starts[b + 1]]
            p = np.sort(sample.p[rows]).astype(np.float64)  # row order must not matter
            sums[:, b] = poisson_binomial.draw(p, n_resamples, rng)
    return sums


def _weighted_sums(
    sample: BinarySample, summary: Summary, n_resamples: int, rng: np.random.Generator
) -> FloatArray:
    assert sample.weight is not None
    # Sorted by bin, then by score and weight, so that row order does not matter.
    bins = summary.partitions[0].assign(sample.p)
    order = np.lexsort((sample.weight, sample.p, bins))
    p, w, bins = sample.p[order], sample.weight[order], bins[order]
    held, starts = np.unique(bins, return_index=True)
    sums = np.zeros((n_resamples, summary.sum_w.shape[1]))
    step = max(1, _BLOCK_DRAWS // len(p))
    for first in range(0, n_resamples, step):
        size = min(step, n_resamples - first)
        happened = rng.random((size, len(p))) < p
        sums[first : first + size, held] = np.add.reduceat(happened * w, starts, axis=1)
    return sums
