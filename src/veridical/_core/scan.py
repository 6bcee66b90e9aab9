"""One blocked pass over a probability matrix: are the rows valid, and how large is the largest?"""

from __future__ import annotations

import numpy as np

from veridical._core.compiled_loader import compiled_for
from veridical._core.typing import FloatArray

# Up to this many classes a block is transposed first: NumPy then reduces along the long axis with
# vector instructions, instead of paying its per-row overhead for a handful of values.
_NARROW = 32
_BLOCK_VALUES = 1 << 17  # about 1 MB of doubles: stays in the second-level cache


def row_sum_tolerance(dtype: np.dtype[np.floating]) -> float:
    """How far from one a row may sum: 1e-3 for float32, 1e-6 for float64."""
    return 1e-3 if dtype.itemsize <= 4 else 1e-6


def in_unit_interval(p: FloatArray) -> bool:
    """Whether every value is in [0, 1], in one pass.

    Read as unsigned integers, floats from 0 to 1 are in the order of their values, and negative
    numbers, infinity and NaN are all larger than 1.
    """
    bits = np.uint32 if p.dtype == np.float32 else np.uint64
    if p.size == 0 or p.view(bits).max() <= np.ones(1, dtype=p.dtype).view(bits)[0]:
        return True
    return bool(p.min() >= 0 and p.max() <= 1)  # minus zero is zero


def scan_matrix(p: FloatArray) -> tuple[bool, FloatArray]:
    """Return whether every row is a probability vector, and each row's maximum.

    A row is valid if nothing is negative or NaN, its maximum is at most one, and it sums to one
    within the tolerance of its type.
    """
    tolerance = row_sum_tolerance(p.dtype)
    compiled = compiled_for(p)
    if compiled is None:
        return _scan_blocks(p, tolerance)
    confidence = np.empty(len(p), dtype=p.dtype)
    return bool(compiled.scan_rows(p, tolerance, confidence)), confidence


def _scan_blocks(p: FloatArray, tolerance: float) -> tuple[bool, FloatArray]:
    n, n_classes = p.shape
    confidence = np.empty(n, dtype=p.dtype)
    rows = max(64, _BLOCK_VALUES // n_classes)
    ones = np.ones(n_classes, dtype=p.dtype)
    narrow = n_classes <= _NARROW
    buffer = np.empty((n_classes, min(rows, n)) if narrow else (0, 0), dtype=p.dtype)
    for start in range(0, n, rows):
        block = p[start : start + rows]
        top = confidence[start : start + rows]
        if narrow:
            columns = buffer[:, : len(block)]
            np.copyto(columns, block.T)
            np.maximum.reduce(columns, axis=0, out=top)
            sums, lowest = np.add.reduce(columns, axis=0), columns.min()
        else:
            np.maximum.reduce(block, axis=1, out=top)
            sums, lowest = block @ ones, block.min()
        # Written so that NaN fails: every comparison with NaN is False.
        if not (lowest >= 0 and top.max() <= 1 and np.abs(sums - 1).max() <= tolerance):
            return False, confidence
    return True, confidence
