"""Randomness enters through `rng` and nowhere else."""

from __future__ import annotations

from typing import Any

import numpy as np

from veridical._core.data.validation import is_integer
from veridical.exceptions import invalid


def check_rng(rng: Any, *, caller: str) -> np.random.Generator:
    """Return a generator for a seed, a generator or None (fresh entropy)."""
    if isinstance(rng, np.random.Generator):
        return rng
    if rng is None or (is_integer(rng) and rng >= 0):
        return np.random.default_rng(rng)
    hint = "pass an integer seed, `np.random.default_rng(seed)` or None."
    raise invalid(caller, "rng", "a seed or a generator", repr(rng), hint=hint)


def check_resamples(n_resamples: Any, *, caller: str) -> int:
    """Return a positive number of resamples."""
    if not (is_integer(n_resamples) and n_resamples >= 1):
        hint = "1,000 gives a null mean to about 2 % of its spread."
        raise invalid(caller, "n_resamples", "a positive integer", repr(n_resamples), hint=hint)
    return int(n_resamples)
