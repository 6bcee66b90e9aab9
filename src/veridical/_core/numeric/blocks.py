"""Row blocks, a bounded working set for any number of rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from veridical._core.loops import ROWS as ROWS, row_blocks as row_blocks
from veridical._core.typing import FloatArray, IntArray


def map_rows(
    function: Callable[[FloatArray, IntArray], FloatArray], p: FloatArray, y: IntArray
) -> FloatArray:
    """Apply `function(p, y)` block by block in double precision; one float64 value per row."""
    result = np.empty(len(y))
    rows = max(256, ROWS // p.shape[1]) if p.ndim == 2 else ROWS
    for block in row_blocks(len(y), rows):
        result[block] = function(p[block].astype(np.float64, copy=False), y[block])
    return result
