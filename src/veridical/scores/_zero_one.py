"""Zero-one loss."""

from __future__ import annotations

from typing import Any

import numpy as np

from veridical._core.blocks import map_rows
from veridical._core.sample import BinarySample, Sample
from veridical._core.typing import ArrayLike, FloatArray, IntArray
from veridical.scores._base import ScoringRule, mean_score


class ZeroOneRule(ScoringRule):
    """Whether the most probable class (first of equals) did not occur. Proper, not strictly."""

    @property
    def name(self) -> str:
        """Short name of the rule."""
        return "zero-one"

    def per_row(self, sample: Sample) -> FloatArray:
        """Score of each row; a tie of two columns goes to the first of them."""
        if isinstance(sample, BinarySample) and (sample.positive_first or sample.pair is not None):
            return map_rows(self._score_vector, sample.matrix, sample.index)
        return super().per_row(sample)

    def _score_binary(self, p: FloatArray, y: IntArray) -> FloatArray:
        return ((p > 0.5) != (y == 1)).astype(np.float64)

    def _score_vector(self, p: FloatArray, y: IntArray) -> FloatArray:
        return (p.argmax(axis=1) != y).astype(np.float64)

    def _entropy_vector(self, q: FloatArray) -> FloatArray:
        return 1 - q.max(axis=-1)

    def _divergence_vector(self, p: FloatArray, q: FloatArray) -> FloatArray:
        chosen = np.take_along_axis(q, p.argmax(axis=-1)[..., None], axis=-1)[..., 0]
        return q.max(axis=-1) - chosen


def zero_one_loss(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Share of rows whose most probable class did not occur: one minus accuracy.

    Parameters
    ----------
    y_true, y_prob, labels, pos_label, sample_weight
        As in :func:`brier_score`.

    Returns
    -------
    float
        In [0, 1]; 0 is perfect. Ties go to the first column (0.5 is not a "yes").

    Notes
    -----
    Proper but not strictly: every prediction with the right most probable class scores the same.

    Examples
    --------
    >>> zero_one_loss([1, 0, 1, 1], [0.9, 0.2, 0.5, 0.6])
    0.25
    """
    return mean_score(
        ZeroOneRule(),
        y_true,
        y_prob,
        caller="zero_one_loss",
        labels=labels,
        pos_label=pos_label,
        sample_weight=sample_weight,
    )
