"""Scores sorted once, equal ones pooled."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veridical._core.typing import FloatArray, IntArray


@dataclass(frozen=True)
class PooledScores:
    """Distinct scores in increasing order with the weight and the weighted outcomes at each.

    `value` keeps the type of the scores, so that comparisons stay exact.
    """

    value: FloatArray
    weight: FloatArray
    positive: FloatArray

    @property
    def frequency(self) -> FloatArray:
        """Observed frequency at each score."""
        return self.positive / self.weight


def pool_scores(p: FloatArray, y: IntArray, weight: FloatArray | None) -> PooledScores:
    """Sort the scores and add up weights and outcomes of equal ones. O(n log n)."""
    order = np.argsort(p)
    p, y = p[order], y.astype(np.uint8)[order]  # a byte an outcome: memory is what sorting costs
    weight = None if weight is None else weight[order]
    del order
    changes = p[1:] != p[:-1]
    if changes.all():
        w = np.ones(len(p)) if weight is None else weight
        return PooledScores(p, w, w * y)
    starts = np.flatnonzero(np.concatenate([[True], changes]))
    if weight is None:
        counts = np.diff(starts, append=len(p)).astype(np.float64)
        return PooledScores(p[starts], counts, np.add.reduceat(y, starts, dtype=np.float64))
    hits = np.add.reduceat(weight * y, starts)
    return PooledScores(p[starts], np.add.reduceat(weight, starts), hits)
