"""Isotonic regression of outcomes on scores, ties pooled."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veridical._core.sample import BinarySample
from veridical._core.typing import FloatArray


@dataclass(frozen=True)
class PooledScores:
    """Distinct scores in increasing order with the weight and the weighted outcomes at each."""

    value: FloatArray
    weight: FloatArray
    positive: FloatArray

    @property
    def frequency(self) -> FloatArray:
        """Observed frequency at each score."""
        return self.positive / self.weight


@dataclass(frozen=True)
class IsotonicFit:
    """Pooled scores and the fitted frequency at each."""

    scores: PooledScores
    fitted: FloatArray

    def at(self, p: FloatArray) -> FloatArray:
        """Fitted value of scores that were among the fitted ones."""
        return self.fitted[np.searchsorted(self.scores.value, p)]


def pool_scores(sample: BinarySample) -> PooledScores:
    """Sort the scores and add up weights and outcomes of equal ones. O(n log n)."""
    order = np.argsort(sample.p)
    p = sample.p[order]
    starts = np.flatnonzero(np.concatenate([[True], p[1:] != p[:-1]]))
    y = sample.y[order]
    if sample.weight is None:
        weight = np.diff(np.append(starts, len(p))).astype(np.float64)
        positive = np.add.reduceat(y, starts, dtype=np.float64)
    else:
        w = sample.weight[order]
        weight = np.add.reduceat(w, starts)
        positive = np.add.reduceat(w * y, starts)
    return PooledScores(p[starts].astype(np.float64), weight, positive)


def isotonic_fit(scores: PooledScores) -> IsotonicFit:
    """Non-decreasing frequencies closest in weighted squares, one per distinct score.

    Pool-adjacent-violators (Ayer et al. 1955); for binary outcomes the same fit is optimal under
    every proper score (Dimitriadis, Gneiting & Jordan 2021, doi 10.1073/pnas.2016191118).
    """
    from scipy.optimize import isotonic_regression

    fitted = isotonic_regression(scores.frequency, weights=scores.weight).x
    return IsotonicFit(scores, np.clip(fitted, 0.0, 1.0))
