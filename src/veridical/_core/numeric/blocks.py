"""Row blocks, a bounded working set for any number of rows, and when compiled kernels pay."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from veridical._core.runtime.optional import is_installed
from veridical._core.typing import Array, FloatArray, IntArray

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


# Below this many values blocked NumPy takes milliseconds, less than importing numba would.
_WORTHWHILE = 1 << 19


def compiled_for(values: Array) -> Any:
    """Return the module of compiled kernels if it can and should work on `values`, else None."""
    if values.size < _WORTHWHILE or not is_installed("numba"):
        return None
    if not values.flags.c_contiguous or values.dtype not in (np.float32, np.float64):
        return None
    from veridical._core.numeric import compiled

    return compiled
