"""Isotonic regression of outcomes on scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veridical._core.pooled import PooledScores
from veridical._core.typing import FloatArray


@dataclass(frozen=True)
class IsotonicFit:
    """Pooled scores and the fitted frequency at each."""

    scores: PooledScores
    fitted: FloatArray

    def at(self, p: FloatArray) -> FloatArray:
        """Fitted value of scores that were among the fitted ones."""
        return self.fitted[np.searchsorted(self.scores.value, p)]

    def blocks(self) -> tuple[FloatArray, FloatArray]:
        """Distinct fitted values and the weight of each: far fewer than scores."""
        starts = np.flatnonzero(np.concatenate([[True], self.fitted[1:] != self.fitted[:-1]]))
        return self.fitted[starts], np.add.reduceat(self.scores.weight, starts)


def isotonic_fit(scores: PooledScores) -> IsotonicFit:
    """Non-decreasing frequencies closest in weighted squares, one per distinct score.

    Pool-adjacent-violators (Ayer et al. 1955); for binary outcomes the same fit is optimal under
    every proper score (Dimitriadis, Gneiting & Jordan 2021, doi 10.1073/pnas.2016191118).
    """
    from scipy.optimize import isotonic_regression

    fitted = isotonic_regression(scores.frequency, weights=scores.weight).x
    return IsotonicFit(scores, np.clip(fitted, 0.0, 1.0))
