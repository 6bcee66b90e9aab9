"""The error of monotone sweep bins for many outcomes of the same scores."""

from __future__ import annotations

import numpy as np

from veridical._core.typing import BoolArray, FloatArray, IntArray
from veridical.binning.counts import SortedScores

_TOLERANCE = 1e-12
_MOST_COUNTS = 1024  # of bins that are tried


def sweep_errors(
    value: FloatArray, weight: FloatArray, positive: FloatArray, size: float
) -> FloatArray:
    """ECE of `SweepBins` of R times the same scores, (R,).

    Equal-mass bins depend on the weights alone, so every count of bins is looked at once for all
    rows of `positive`, (R, m), that are still monotone, up to the sample size. O(R b^2) for b bins
    in the end.

    Examples
    --------
    Outcomes 0, 1, 0, 1 are monotone in two bins, whose gaps are 0.35 and 0.15; 0, 0, 1, 1 in four.

    >>> value = np.array([0.1, 0.2, 0.3, 0.4])
    >>> positive = np.array([[0.0, 1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 1.0]])
    >>> sweep_errors(value, np.ones(4), positive, 4).round(6).tolist()
    [0.25, 0.4]
    """
    scores = SortedScores(value, weight, weight)
    total = float(scores.cum_w[-1])
    predicted = np.append(0.0, np.cumsum(weight * value))
    observed = np.zeros((len(positive), len(value) + 1))
    np.cumsum(positive, axis=1, out=observed[:, 1:])

    def errors(rows: IntArray, cuts: IntArray) -> FloatArray:
        gaps = np.diff(observed[np.ix_(rows, cuts)], axis=1) - np.diff(predicted[cuts])
        return np.abs(gaps).sum(axis=1) / total

    def falls(rows: IntArray, cuts: IntArray) -> BoolArray:
        frequency = np.diff(observed[np.ix_(rows, cuts)], axis=1) / np.diff(scores.cum_w[cuts])
        return np.asarray((np.diff(frequency, axis=1) < -_TOLERANCE).any(axis=1))

    found = np.empty(len(positive))
    every = np.arange(len(value) + 1)
    rows = np.arange(len(positive))
    monotone = ~falls(rows, every)  # score by score, so with every count
    found[monotone] = errors(rows[monotone], every)
    rows, cuts = rows[~monotone], every[[0, -1]]
    separated = total / float(weight.min())
    most = min(int(np.ceil(min(size, separated) * (1 - _TOLERANCE))), _MOST_COUNTS)
    for count in range(2, most + 1):
        if not len(rows):
            return found
        finer = np.append(0, scores.equal_mass(count) + 1)
        broken = falls(rows, finer)
        found[rows[broken]] = errors(rows[broken], cuts)
        rows, cuts = rows[~broken], finer
    found[rows] = errors(rows, cuts)
    return found
