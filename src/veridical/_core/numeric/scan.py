"""One blocked pass over a probability matrix: are the rows valid, and how large is the largest?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veridical._core.loops import loops_for
from veridical._core.numeric.blocks import row_blocks
from veridical._core.typing import Array, BoolArray, FloatArray, IntArray

# Up to this many classes a block is transposed first: NumPy then reduces along the long axis with
# vector instructions, instead of paying its per-row overhead for a handful of values.
_NARROW = 32
_BLOCK_VALUES = 1 << 18  # 2 MB of doubles: cached between the reductions of a block


def row_sum_tolerance(dtype: np.dtype[np.floating]) -> float:
    """How far from one a row may sum: 1e-3 for float32, 1e-6 for float64."""
    return 1e-3 if dtype.itemsize <= 4 else 1e-6


def in_unit_interval(p: FloatArray) -> bool:
    """Whether every value is in [0, 1], in one pass over their bits."""
    if p.size == 0 or _bits(p).max() <= _bits_of_one(p.dtype):
        return True
    return bool(p.min() >= 0 and p.max() <= 1)  # minus zero is zero


def _bits(p: FloatArray) -> Array:
    """Floats as unsigned integers.

    So read, values from 0 to 1 keep their order, and negative numbers, infinity and NaN are all
    larger than 1: one maximum finds the largest value and everything that is wrong.
    """
    return p.view(np.uint32 if p.dtype == np.float32 else np.uint64)


def _bits_of_one(dtype: np.dtype[np.floating]) -> np.unsignedinteger:
    return _bits(np.ones(1, dtype=dtype))[0]


@dataclass(frozen=True)
class Scan:
    """What one pass over a matrix found.

    Attributes
    ----------
    valid : whether every row is a probability vector
    confidence : largest value of each row
    right : whether the first largest value is at the class that occurred
    """

    valid: bool
    confidence: FloatArray
    right: BoolArray


def scan_matrix(p: FloatArray, y: IntArray) -> Scan:
    """Look at every row once: is it valid, what is its maximum, is that where the outcome is?

    A row is valid if nothing is negative or NaN, its maximum is at most one, and it sums to one
    within the tolerance of its type.
    """
    tolerance = row_sum_tolerance(p.dtype)
    loops = loops_for(p)
    if loops is None:
        return _scan_blocks(p, y, tolerance)
    confidence, right = np.empty(len(p), dtype=p.dtype), np.empty(len(p), dtype=bool)
    return Scan(loops.scan_rows(p, y, tolerance, confidence, right), confidence, right)


def _scan_blocks(p: FloatArray, y: IntArray, tolerance: float) -> Scan:
    n, n_classes = p.shape
    confidence, right = np.empty(n, dtype=p.dtype), np.empty(n, dtype=bool)
    rows = max(64, _BLOCK_VALUES // n_classes)
    ones = np.ones(n_classes, dtype=p.dtype)
    narrow = n_classes <= _NARROW
    buffer = np.empty((n_classes, min(rows, n)) if narrow else (0, 0), dtype=p.dtype)
    index = np.arange(min(rows, n))
    one = _bits_of_one(p.dtype)
    valid = True
    with np.errstate(all="ignore"):  # infinities are found, not warned of
        for block in row_blocks(n, rows):
            part, top = p[block], confidence[block]
            if narrow:
                columns = buffer[:, : len(part)]
                np.copyto(columns, part.T)
                np.maximum.reduce(_bits(columns), axis=0, out=_bits(top))
                sums = np.add.reduce(columns, axis=0)
            else:
                np.maximum.reduce(_bits(part), axis=1, out=_bits(top))
                sums = part @ ones
            if _bits(top).max() > one:
                np.maximum.reduce(part, axis=1, out=top)
                valid &= bool(part.min() >= 0 and top.max() <= 1)  # minus zero is zero
            hit = part[index[: len(part)], y[block]] == top
            # Only where a tie is possible, up to one half, an earlier column may be as large.
            tied = np.flatnonzero(hit & (top <= 0.5005))
            hit[tied] = part[tied].argmax(axis=1) == y[block][tied]
            right[block] = hit
            valid &= bool(np.abs(sums - 1).max() <= tolerance)  # false for NaN
    return Scan(valid, confidence, right)
