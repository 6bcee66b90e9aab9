"""Equally wide bins of T-Cal."""

from __future__ import annotations

import numpy as np

from veridical._core.typing import FloatArray


def bins_of(p: FloatArray, m: int) -> FloatArray:
    """Number of the bin, right-closed, the first closed on both sides, with edges k / m."""
    bins = np.maximum(np.ceil(p * m), 1.0)
    if m & (m - 1):  # products with powers of two are exact, others may pass an edge
        bins -= (p <= (bins - 1) / m) & (bins > 1)
        bins += p > bins / m
    return np.asarray(bins)
