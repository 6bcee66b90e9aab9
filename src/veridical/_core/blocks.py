"""Row blocks: a bounded working set whatever the number of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from veridical._core.typing import FloatArray, IntArray

# 32,768 rows of one column keep p, y and the bin numbers in the second-level cache.
ROWS = 1 << 15


def row_blocks(n: int, rows: int = ROWS) -> Iterator[slice]:
    """Slices that cover range(n)."""
    for start in range(0, n, rows):
        yield slice(start, min(start + rows, n))


def map_rows(
    function: Callable[[FloatArray, IntArray], FloatArray], p: FloatArray, y: IntArray
) -> FloatArray:
    """Apply `function(p, y)` block by block in double precision; one float64 value per row."""
    result = np.empty(len(y))
    rows = max(256, ROWS // p.shape[1]) if p.ndim == 2 else ROWS
    for block in row_blocks(len(y), rows):
        result[block] = function(p[block].astype(np.float64, copy=False), y[block])
    return result
