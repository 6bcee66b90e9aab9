"""When to use the compiled kernels: numba is installed and the data are worth it."""

from __future__ import annotations

from typing import Any

import numpy as np

from veridical._core.optional import is_installed
from veridical._core.typing import Array

# Below this many values blocked NumPy takes milliseconds, less than importing numba would.
_WORTHWHILE = 1 << 19


def compiled_for(values: Array) -> Any:
    """Return the module of compiled kernels if it can and should work on `values`, else None."""
    if values.size < _WORTHWHILE or not is_installed("numba"):
        return None
    if not values.flags.c_contiguous or values.dtype not in (np.float32, np.float64):
        return None
    from veridical._core import compiled

    return compiled
