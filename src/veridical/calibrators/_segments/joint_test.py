"""Whether any segment deviates from its predictions by more than noise: one test of all at once.

Of every segment residuals w (y - p) are added up along the scores, from 0 and looked at only after
equal scores; their range over the root of the sum of w^2 p (1 - p) is the statistic (Kuiper 1960;
standardised as in Arrieta-Ibarra et al. 2022, arXiv 2205.09680). Under the null, outcomes are drawn
from the predictions once for all segments, and the largest statistic of all is compared, so that
more segments do not raise the level. Of several classes, the largest over the classes, too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from veridical._core.typing import FloatArray, IntArray

_SCORES = 256  # cells that scores are pooled in if they are more
_BLOCK = 1 << 22  # outcomes drawn at once
_TIE = 1e-12


def joint_pvalue(
    p: FloatArray,
    y: IntArray,
    weight: FloatArray,
    place: IntArray,
    members: Any,
    *,
    n_resamples: int,
    rng: np.random.Generator,
) -> float:
    """P-value of the largest deviation of any segment and class.

    Parameters
    ----------
    p : (n, K) predictions; for two classes the last is enough
    y : class indices
    weight : of each row
    place : cell of features of each row
    members : sparse (cells, segments), 1 where a segment holds a cell
    n_resamples, rng : of drawn outcomes
    """
    n_classes = p.shape[1]
    asked = [1] if n_classes == 2 else range(n_classes)
    walks = [_Walk(p[:, k], weight, place, members) for k in asked]
    hit = y[:, None]
    observed = max(float(walk.largest(hit == k)[0]) for k, walk in zip(asked, walks, strict=True))
    at_least, size = 0, max(1, _BLOCK // len(y))
    edges = np.cumsum(p, axis=1)[:, :-1]
    for first in range(0, n_resamples, size):
        drawn = rng.random((len(y), min(size, n_resamples - first)))
        outcome = np.zeros(drawn.shape, dtype=np.int16)
        for k in range(n_classes - 1):
            outcome += drawn > edges[:, k, None]
        found = [walk.largest(outcome == k) for k, walk in zip(asked, walks, strict=True)]
        at_least += int((np.max(found, axis=0) >= observed * (1 - _TIE)).sum())
    return (1 + at_least) / (1 + n_resamples)


class _Walk:
    """Ranges of one class: rows sorted by cell of scores, then by cell of features."""

    def __init__(self, p: FloatArray, weight: FloatArray, place: IntArray, members: Any) -> None:
        score = _score_cells(p)
        self._order = np.lexsort((place, score))
        score, place = score[self._order], place[self._order]
        changes = (score[1:] != score[:-1]) | (place[1:] != place[:-1])
        self._starts = np.append(0, np.flatnonzero(changes) + 1)
        first = score[self._starts]
        self._bounds = np.flatnonzero(np.append(True, first[1:] != first[:-1]))
        by_segment = members[place[self._starts]].T.tocsc()
        ends = [*self._bounds[1:].tolist(), len(first)]
        self._parts = [
            (slice(a, b), by_segment[:, a:b])
            for a, b in zip(self._bounds.tolist(), ends, strict=True)
        ]
        self._p, self._weight = p[self._order, None], weight[self._order, None]
        variance = np.add.reduceat(self._weight**2 * self._p * (1 - self._p), self._starts)
        self._spread = np.sqrt(np.asarray(by_segment @ variance))

    def largest(self, happened: Any) -> FloatArray:
        """Largest standardised range of any segment, for outcomes (n, draws)."""
        residual = self._weight * (happened[self._order] - self._p)
        summed = np.add.reduceat(residual, self._starts)
        end = np.zeros((len(self._spread), summed.shape[1]))
        high, low = end.copy(), end.copy()
        for rows, by_segment in self._parts:
            end += by_segment @ summed[rows]
            np.maximum(high, end, out=high)
            np.minimum(low, end, out=low)
        with np.errstate(invalid="ignore", divide="ignore"):
            found = np.where(self._spread > 0, (high - low) / self._spread, 0.0)
        return np.asarray(found.max(axis=0))


def _score_cells(p: FloatArray) -> IntArray:
    """Rank among different scores, or of more than 256 the part of equal size; ties together."""
    distinct, place, rows = np.unique(p, return_inverse=True, return_counts=True)
    if len(distinct) <= _SCORES:
        return place.reshape(-1)
    middle = np.cumsum(rows) - rows / 2
    return np.floor(middle * (_SCORES / len(p))).astype(np.intp)[place.reshape(-1)]
