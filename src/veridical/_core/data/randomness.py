"""Randomness enters through `rng` and nowhere else."""

from __future__ import annotations

from typing import Any, NamedTuple

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


_MOST_RESAMPLES = 10_000_000


def check_resamples(n_resamples: Any, *, caller: str) -> int:
    """Return a positive number of resamples."""
    if not (is_integer(n_resamples) and n_resamples >= 1):
        hint = "1,000 gives a null mean to about 2 % of its spread."
        raise invalid(caller, "n_resamples", "a positive integer", repr(n_resamples), hint=hint)
    if n_resamples > _MOST_RESAMPLES:
        hint = "10,000 draws are many."
        expected = f"at most {_MOST_RESAMPLES:,}"
        raise invalid(caller, "n_resamples", expected, repr(n_resamples), hint=hint)
    return int(n_resamples)


def check_seed(rng: Any, *, caller: str) -> int:
    """Return a seed from which several draws can start alike; 0 for None."""
    generator = check_rng(rng, caller=caller)
    return int(rng or 0) if rng is None or is_integer(rng) else int(generator.integers(2**63))


class Draws(NamedTuple):
    """How many times something is drawn, and from which generator."""

    n_resamples: int
    rng: np.random.Generator


def check_draws(n_resamples: Any, rng: Any, *, caller: str) -> Draws:
    """Return a positive number of draws and the generator of a seed."""
    return Draws(check_resamples(n_resamples, caller=caller), check_rng(rng, caller=caller))
