"""Bisection over the floating-point numbers themselves: exact to the last one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from veridical._core.typing import FloatArray

_SIGN = np.int64(-(2**63))
_STEPS = 64  # halvings of the 2^64 floating-point numbers


def last_within(
    function: Callable[[FloatArray], FloatArray],
    levels: FloatArray,
    low: float,
    high: float,
) -> FloatArray:
    """Largest number x in [low, high] with function(x) <= level, for each level.

    Steps that are taken on the scale of function(x) can then be taken on that of x, by comparison
    alone: an engine whose logarithm differs in the last bit still finds the same interval. The
    function must not decrease; where function(low) is above the level, `low` is returned.

    Examples
    --------
    >>> last_within(np.sqrt, np.array([3.0]), 0.0, 1e6).tolist()
    [9.0]
    """
    below = np.full(len(levels), _key(np.array([low]))[0])
    above = np.full(len(levels), _key(np.array([high]))[0])
    inside = function(_number(above)) <= levels
    below[inside] = above[inside]
    for _ in range(_STEPS):
        middle = (below >> 1) + (above >> 1) + (below & above & 1)
        kept = function(_number(middle)) <= levels
        below, above = np.where(kept, middle, below), np.where(kept, above, middle)
    return _number(below)


def _key(x: FloatArray) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """Integers in the order of the numbers, without gaps."""
    bits = x.astype(np.float64).view(np.int64)
    return np.where(bits < 0, _SIGN - bits, bits)


def _number(key: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> FloatArray:
    return np.where(key < 0, _SIGN - key, key).astype(np.int64).view(np.float64)
