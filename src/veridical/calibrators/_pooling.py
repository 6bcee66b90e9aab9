"""Scores of the positive class, sorted once, equal ones pooled."""

from __future__ import annotations

import numpy as np

from veridical._core.pooled import PooledScores, pool_scores
from veridical._core.typing import FloatArray, IntArray
from veridical.binning._sorted import SortedScores
from veridical.calibrators._base import Rows


def pool_rows(value: FloatArray, rows: Rows) -> SortedScores:
    """Distinct scores with the weight and the weighted outcomes at each; weights sum to the size.

    Time O(n log n), nearly all of it the sort.
    """
    if rows.weight is None:
        plain = bool((value >= 0).all()) and bool((value < 2).all())
        pooled = (_pool_packed if plain else _pool_plain)(value, rows.y)
        return SortedScores(pooled.value, pooled.weight, pooled.positive)
    pooled = pool_scores(value, rows.y, rows.weight)
    scale = rows.size / pooled.weight.sum()
    # A weight of positives that misses the whole by rounding would give a frequency above one.
    positive = np.minimum(pooled.positive, pooled.weight)
    return SortedScores(pooled.value, pooled.weight * scale, positive * scale)


def _pool_plain(value: FloatArray, y: IntArray) -> PooledScores:
    return pool_scores(value, y, None)


def _pool_packed(value: FloatArray, y: IntArray) -> PooledScores:
    """Do what `pool_scores` does for numbers in [0, 2), three times as fast: no `argsort`.

    Such numbers are ordered like their bits, the highest of which is the sign and free: shifted by
    one place, a number takes its outcome along in the lowest bit and one plain sort does all.
    """
    keys = (value + 0.0).view(np.uint64)  # a copy; -0.0 becomes 0.0
    keys <<= np.uint64(1)
    keys |= y.astype(np.uint64)
    keys.sort()
    hit = (keys & np.uint64(1)).astype(np.uint8)
    keys >>= np.uint64(1)
    value = keys.view(np.float64)
    changes = value[1:] != value[:-1]
    if changes.all():
        return PooledScores(value, np.ones(len(value)), hit.astype(np.float64))
    starts = np.flatnonzero(np.concatenate([[True], changes]))
    counts = np.diff(starts, append=len(value)).astype(np.float64)
    return PooledScores(value[starts], counts, np.add.reduceat(hit, starts, dtype=np.float64))
