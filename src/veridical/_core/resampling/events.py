"""Events of known chances drawn two bytes each, exactly: many of them are the cost of a null."""

from __future__ import annotations

import numpy as np

from veridical._core.typing import BoolArray, FloatArray

_STEPS = 1 << 16


def draw_events(chance: FloatArray, n: int, rng: np.random.Generator) -> BoolArray:
    """Whether each event happens, n times; shape (events, n). No chance exceeds one half.

    Sixteen random bits decide unless they equal those of the chance, which a uniform number then
    decides: the probabilities are the chances to the precision of doubles.

    Examples
    --------
    >>> drawn = draw_events(np.array([0.0, 0.5]), 10_000, np.random.default_rng(0))
    >>> int(drawn[0].sum()), bool(4_700 < drawn[1].sum() < 5_300)
    (0, True)
    """
    scaled = chance * _STEPS
    whole = np.floor(scaled)
    left = scaled - whole
    most = whole.astype("<u2")[:, None]
    size = len(chance) * n
    words = rng.integers(0, 1 << 64, -(-size // 4), dtype=np.uint64).astype("<u8", copy=False)
    bits = words.view("<u2")[:size].reshape(len(chance), n)
    drawn: BoolArray = bits < most
    row, column = np.divmod(np.flatnonzero(bits == most), n)
    drawn[row, column] = rng.random(len(row)) < left[row]
    return drawn
