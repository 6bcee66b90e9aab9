"""Log odds of one class against all others, from logits."""

from __future__ import annotations

import numpy as np

from veridical._core.typing import FloatArray, IntArray


def odds_of_class(logits: FloatArray, index: IntArray) -> FloatArray:
    """Return z_k - log sum_{j != k} exp(z_j), with k given for each row.

    Exact where the softmax has saturated: 1 - p is never formed.
    """
    from scipy.special import logsumexp

    others = logits.copy()
    rows = np.arange(len(logits))
    others[rows, index] = -np.inf
    return np.asarray(logits[rows, index] - logsumexp(others, axis=1))


def odds_against_rest(logits: FloatArray) -> FloatArray:
    """Log odds of every class against the others, (n, K). O(n K)."""
    from scipy.special import logsumexp

    log_p = logits - logsumexp(logits, axis=1, keepdims=True)
    top = log_p.argmax(axis=1)
    rows = np.arange(len(logits))
    log_p[rows, top] = -np.inf  # the only class whose 1 - p may vanish; replaced below
    odds = log_p - np.log1p(-np.exp(log_p))
    odds[rows, top] = odds_of_class(logits, top)
    return odds
