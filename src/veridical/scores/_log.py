"""Logarithmic score."""

from __future__ import annotations

from typing import Any

import numpy as np

from veridical._core.typing import ArrayLike, FloatArray, IntArray
from veridical.scores._base import ScoringRule, mean_score, probability_of_outcome


class LogRule(ScoringRule):
    """Minus the natural logarithm of the probability given to what happened (survey eq. 2)."""

    @property
    def name(self) -> str:
        """Short name of the rule."""
        return "log"

    def _score_binary(self, p: FloatArray, y: IntArray) -> FloatArray:
        return _minus_log(np.where(y == 1, p, 1 - p))

    def _score_vector(self, p: FloatArray, y: IntArray) -> FloatArray:
        return _minus_log(probability_of_outcome(p, y))

    def _entropy_vector(self, q: FloatArray) -> FloatArray:
        return (q * _minus_log(np.where(q > 0, q, 1.0))).sum(axis=-1)  # 0 log 0 = 0

    def _divergence_vector(self, p: FloatArray, q: FloatArray) -> FloatArray:
        # Kullback-Leibler of q from p; infinite where p excludes what q allows.
        possible = q > 0
        extra = _minus_log(np.where(possible, p, 1.0)) - _minus_log(np.where(possible, q, 1.0))
        return (q * extra).sum(axis=-1)


def _minus_log(p: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):  # log 0 is minus infinity, which is meant
        return 0.0 - np.log(p)


def log_loss(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Mean logarithmic score, also called cross-entropy (lower is better).

    Parameters
    ----------
    y_true, y_prob, labels, pos_label, sample_weight
        As in :func:`brier_score`.

    Returns
    -------
    float
        In [0, inf], in nats; 0 is perfect. Infinite if something happened that was given
        probability zero: nothing is clipped, because how far one clips decides the answer.

    Notes
    -----
    .. math:: \mathrm{LL} = - \frac{\sum_i w_i \ln p_{i, y_i}}{\sum_i w_i}

    Strictly proper and local. Time O(n).

    References
    ----------
    .. [1] Good (1952), J. R. Stat. Soc. B 14, 107-114. Survey eq. 2.

    Examples
    --------
    >>> log_loss([1, 0], [0.5, 0.0])  # ln(2) / 2
    0.34657359027997264
    >>> log_loss([1, 0], [0.0, 0.0])
    inf
    """
    return mean_score(
        LogRule(),
        y_true,
        y_prob,
        caller="log_loss",
        labels=labels,
        pos_label=pos_label,
        sample_weight=sample_weight,
    )
