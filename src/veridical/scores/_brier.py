"""Brier score."""

from __future__ import annotations

from typing import Any

import numpy as np

from veridical._core.typing import ArrayLike, FloatArray, IntArray
from veridical.scores._base import ScoringRule, mean_score, probability_of_outcome


class BrierRule(ScoringRule):
    """(p - y)^2 for one event; the sum over classes, in [0, 2], for K classes (survey eq. 1)."""

    @property
    def name(self) -> str:
        """Short name of the rule."""
        return "brier"

    def _halved(self, q: FloatArray) -> float:
        # The sum over both classes counts (p - y)^2 twice.
        return 0.5 if q.ndim == 1 else 1.0

    def _score_binary(self, p: FloatArray, y: IntArray) -> FloatArray:
        return (p - y) ** 2

    def _score_vector(self, p: FloatArray, y: IntArray) -> FloatArray:
        # sum_k (p_k - y_k)^2 = sum_k p_k^2 - 2 p_y + 1
        squares: FloatArray = np.einsum("ij,ij->i", p, p)
        return squares - 2 * probability_of_outcome(p, y) + 1

    def _entropy_vector(self, q: FloatArray) -> FloatArray:
        return (q * (1 - q)).sum(axis=-1)

    def _divergence_vector(self, p: FloatArray, q: FloatArray) -> FloatArray:
        return ((p - q) ** 2).sum(axis=-1)


def brier_score(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Mean Brier score (lower is better).

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Outcomes, labels of any kind.
    y_prob : array-like of shape (n,), (n, 1) or (n, K)
        Probability of the positive class, or of every class.
    labels : array-like, optional
        Classes in column order; default sorted, or 0..K-1 if all are such integers.
    pos_label : object, optional
        The positive class of a binary problem; default the larger label.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights; an integer weight k equals repeating the row k times.

    Returns
    -------
    float
        In [0, 1] for two classes, in [0, 2] for more; 0 is perfect.

    Notes
    -----
    .. math:: \mathrm{BS} = \frac{\sum_i w_i (p_i - y_i)^2}{\sum_i w_i}, \qquad
              \frac{\sum_i w_i \sum_k (p_{ik} - y_{ik})^2}{\sum_i w_i} \text{ for } K > 2

    Strictly proper. The two scales are scikit-learn's ``scale_by_half="auto"``. Time O(n K).

    References
    ----------
    .. [1] Brier (1950), Monthly Weather Review 78, 1-3. Survey (Silva Filho et al. 2023,
       doi 10.1007/s10994-023-06336-7), eq. 1.

    Examples
    --------
    >>> brier_score([0, 1, 1], [0.25, 0.5, 1.0])  # (1/16 + 1/4 + 0) / 3
    0.10416666666666667
    >>> brier_score(["a", "c"], [[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]], labels=["a", "b", "c"])
    0.25
    """
    return mean_score(
        BrierRule(),
        y_true,
        y_prob,
        caller="brier_score",
        labels=labels,
        pos_label=pos_label,
        sample_weight=sample_weight,
    )
