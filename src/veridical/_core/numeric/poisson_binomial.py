"""The number of successes in independent trials of different probabilities."""

from __future__ import annotations

import numpy as np

from veridical._core import loops
from veridical._core.typing import FloatArray, IntArray

_LEAF = 64  # trials multiplied out directly before transforms pay


def pmf(p: FloatArray) -> FloatArray:
    """Probabilities of 0, 1, ..., n successes in n trials with success probabilities `p`.

    The product of the polynomials (1 - p_i) + p_i x, multiplied in a balanced tree by fast
    Fourier transforms: O(n log^2 n). Errors are absolute, about 1e-16 a value, so probabilities
    below 1e-12 are not to be relied on one by one.

    Examples
    --------
    >>> pmf(np.array([0.5, 0.5])).round(12).tolist()
    [0.25, 0.5, 0.25]
    """
    from scipy import fft

    n = len(p)
    if (known := loops.successes(p)) is not None:
        return known / known.sum()
    leaves = max(1, -(-n // _LEAF))
    padded = np.zeros(leaves * _LEAF)  # trials that never succeed change nothing
    padded[:n] = p
    trials = padded.reshape(leaves, _LEAF)
    level = np.zeros((leaves, _LEAF + 1))
    level[:, 0] = 1.0
    for k in range(min(_LEAF, n)):
        q = trials[:, k : k + 1]
        level[:, 1 : k + 2] = level[:, 1 : k + 2] * (1 - q) + level[:, : k + 1] * q
        level[:, :1] *= 1 - q
    while len(level) > 1:
        if len(level) % 2:
            neutral = np.zeros((1, level.shape[1]))
            neutral[0, 0] = 1.0
            level = np.concatenate([level, neutral])
        length = 2 * level.shape[1] - 1
        size = fft.next_fast_len(length, real=True)
        transformed = fft.rfft(level, size, axis=1)
        level = fft.irfft(transformed[::2] * transformed[1::2], size, axis=1)[:, :length]
    result = np.clip(level[0, : n + 1], 0.0, None)
    return result / result.sum()


def draw(p: FloatArray, n_draws: int, rng: np.random.Generator) -> IntArray:
    """Draw the number of successes by inversion."""
    cumulated = np.cumsum(pmf(p))
    return np.minimum(np.searchsorted(cumulated, rng.random(n_draws), side="right"), len(p))
