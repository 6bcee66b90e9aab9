"""Limits of a non-decreasing curve at one score at a time."""

from __future__ import annotations

import numpy as np

from veridical._core.pooled import PooledScores
from veridical._core.typing import FloatArray, IntArray


def pointwise_band(scores: PooledScores, level: float) -> tuple[FloatArray, FloatArray]:
    """Limits at every distinct score, each valid by itself for any n if the curve increases.

    Outcomes of the scores up to x are no more frequent than at x, so the successes among any
    fixed number of rows just below x are stochastically fewer than binomial ones with the
    frequency at x: their Clopper-Pearson lower bound is one for x too, and the upper bound of rows
    from x on likewise. How many rows is decided by the predictions alone, which costs no validity:
    as many as make sampling error and the distance of their mean prediction from x together
    smallest, out of powers of two. Time O(n log n).
    """
    value = scores.value.astype(np.float64)
    lower = _lower(value, scores.weight, scores.positive, level)
    # The upper limit is the lower one of the complement, seen from the other end.
    missed = (scores.weight - scores.positive)[::-1]
    upper = 1 - _lower(1 - value[::-1], scores.weight[::-1], missed, level)[::-1]
    return lower, upper


def _lower(value: FloatArray, weight: FloatArray, positive: FloatArray, level: float) -> FloatArray:
    from scipy.special import betaincinv, ndtri

    rows, hits, sums = (
        np.concatenate([[0.0], np.cumsum(values)]) for values in (weight, positive, weight * value)
    )
    start = _best_starts(value, rows, sums, float(ndtri((1 + level) / 2)))
    end = np.arange(1, len(rows))
    within = hits[end] - hits[start]
    misses = rows[end] - rows[start] - within
    limit = np.zeros(len(value))
    some = within > 0.5  # counts: anything less is rounding
    limit[some] = betaincinv(within[some], np.maximum(misses[some], 0.0) + 1, (1 - level) / 2)
    return limit


def _best_starts(value: FloatArray, rows: FloatArray, sums: FloatArray, z: float) -> IntArray:
    """First score of the window that ends at each score."""
    end = np.arange(1, len(rows))
    best, least = end - 1, np.full(len(value), np.inf)
    size = 1.0
    while True:
        start = np.searchsorted(rows, rows[end] - size, side="right") - 1
        start = np.clip(start, 0, end - 1)
        n = rows[end] - rows[start]
        mean = (sums[end] - sums[start]) / n
        # A row is added so that windows of certain predictions do not seem to be exact.
        spread = np.sqrt((mean * (1 - mean) + 1 / (n + 1)) / n)
        width = z * spread + (value - mean)
        better = width < least
        best, least = np.where(better, start, best), np.where(better, width, least)
        if size > rows[-1]:
            return best
        size *= 2
