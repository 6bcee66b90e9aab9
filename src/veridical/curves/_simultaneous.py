"""A band that holds a whole non-decreasing curve."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from veridical._core.pava import isotonic_fit
from veridical._core.pooled import PooledScores
from veridical._core.sample import BinarySample
from veridical._core.typing import FloatArray, IntArray
from veridical.curves._points import Points, run_points, run_starts

GROUPS = 200


Band = Callable[[PooledScores, float], tuple[FloatArray, FloatArray]]


def banded_points(
    sample: BinarySample, points: Points, band: Band, level: float
) -> tuple[Points, FloatArray, FloatArray]:
    """Blocks of the isotonic fit, split where the band steps, and the band at each."""
    fitted = isotonic_fit(sample.pooled).fitted
    low, high = band(sample.pooled, level)
    # If the truth does not increase the band may miss the fit: it is widened to hold it.
    low, high = np.minimum(low, fitted), np.maximum(high, fitted)
    starts = run_starts(fitted, low, high)
    split = run_points(sample, fitted, starts, definition=points.definition, refit=points.refit)
    return split, low[starts], high[starts]


def simultaneous_band(scores: PooledScores, level: float) -> tuple[FloatArray, FloatArray]:
    """Limits at every distinct score that hold all of a non-decreasing curve at once.

    Every run of neighbouring groups of scores has a Clopper-Pearson bound on either side, each at
    level alpha / (m^2 + m) for m groups. The frequency at x is at least the largest lower bound of
    runs that end at or before x, and at most the smallest upper bound of runs that begin at or
    after x (Dimitriadis, Dümbgen, Henzi, Puke & Ziegel 2022, arXiv 2203.04065). Each distinct
    score is a group, or if there are more than 200 of them 200 groups of equal mass: since groups
    depend on the scores only, the level still holds. Time O(m^2).
    """
    group = _groups(scores)
    m = int(group[-1]) + 1
    first = np.unique(group, return_index=True)[1]
    weight, positive = (np.add.reduceat(v, first) for v in (scores.weight, scores.positive))
    lower, upper = _run_bounds(weight, positive, level)
    # A group bounds scores from its last one on, and up to its first one.
    begins = np.isin(np.arange(len(group)), first)
    ends = np.append(begins[1:], True)
    below = np.where(ends, group, group - 1)
    above = np.where(begins, group, group + 1)
    low = np.where(below >= 0, lower[np.maximum(below, 0)], 0.0)
    high = np.where(above < m, upper[np.minimum(above, m - 1)], 1.0)
    return low, high


def _groups(scores: PooledScores) -> IntArray:
    """Number of the group of each distinct score: neighbours of about equal mass."""
    if len(scores.value) <= GROUPS:
        return np.arange(len(scores.value))
    middle = np.cumsum(scores.weight) - scores.weight / 2
    cell = (middle / scores.weight.sum() * GROUPS).astype(np.intp)
    return np.unique(cell, return_inverse=True)[1]


def _run_bounds(
    weight: FloatArray, positive: FloatArray, level: float
) -> tuple[FloatArray, FloatArray]:
    """Best lower bound of runs that end by each group, best upper bound of runs from it on."""
    from scipy.special import betaincinv

    m = len(weight)
    first, last = np.triu_indices(m)
    tail = (1 - level) / (m * (m + 1))
    sums = np.concatenate([[0.0], np.cumsum(positive)])
    hits = sums[last + 1] - sums[first]
    sums = np.concatenate([[0.0], np.cumsum(weight - positive)])
    misses = sums[last + 1] - sums[first]
    lower, upper = np.zeros((m, m)), np.ones((m, m))
    some = hits > 0
    lower[first[some], last[some]] = betaincinv(hits[some], misses[some] + 1, tail)
    some = misses > 0
    upper[first[some], last[some]] = 1 - betaincinv(misses[some], hits[some] + 1, tail)
    rising = np.maximum.accumulate(lower.max(axis=0))
    falling = np.minimum.accumulate(upper.min(axis=1)[::-1])[::-1]
    return rising, falling
