"""Spherical score."""

from __future__ import annotations

from typing import Any

import numpy as np

from veridical._core.typing import ArrayLike, FloatArray, IntArray
from veridical.scores._base import ScoringRule, mean_score, probability_of_outcome


class SphericalRule(ScoringRule):
    """One minus the outcome's probability over the length of the probability vector."""

    @property
    def name(self) -> str:
        """Short name of the rule."""
        return "spherical"

    def _score_binary(self, p: FloatArray, y: IntArray) -> FloatArray:
        return 1 - np.where(y == 1, p, 1 - p) / np.hypot(p, 1 - p)

    def _score_vector(self, p: FloatArray, y: IntArray) -> FloatArray:
        return 1 - probability_of_outcome(p, y) / _length(p)

    def _entropy_vector(self, q: FloatArray) -> FloatArray:
        return 1 - _length(q)

    def _divergence_vector(self, p: FloatArray, q: FloatArray) -> FloatArray:
        return _length(q) - (p * q).sum(axis=-1) / _length(p)


def _length(p: FloatArray) -> FloatArray:
    return np.sqrt(np.einsum("...j,...j->...", p, p))


def spherical_score(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Mean spherical score, as a loss (lower is better).

    Parameters
    ----------
    y_true, y_prob, labels, pos_label, sample_weight
        As in :func:`brier_score`.

    Returns
    -------
    float
        In [0, 1]; 0 is perfect.

    Notes
    -----
    .. math:: \mathrm{SPH} = 1 - \frac{\sum_i w_i \, p_{i, y_i} / \lVert p_i \rVert_2}{\sum_i w_i}

    Strictly proper. Usually defined as a reward; one minus it is a loss. Time O(n K).

    References
    ----------
    .. [1] Gneiting & Raftery (2007), doi 10.1198/016214506000001437, example 2.

    Examples
    --------
    >>> spherical_score([1, 0], [1.0, 1.0])  # one perfect, one hopeless prediction
    0.5
    """
    return mean_score(
        SphericalRule(),
        y_true,
        y_prob,
        caller="spherical_score",
        labels=labels,
        pos_label=pos_label,
        sample_weight=sample_weight,
    )
