"""Log odds of many predictions, block by block and with one logarithm each."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from veridical._core.blocks import row_blocks
from veridical._core.typing import FloatArray
from veridical.calibrators._scales import BinaryScores

_ROWS = 1 << 13  # intermediate results stay in the first-level caches
_FARTHEST = 1e3  # beyond 745, probabilities are 0 or 1 in double precision


def log_odds(scores: BinaryScores) -> FloatArray:
    """Log odds of each row, at most 1,000 in size; scores as they are."""
    if scores.kind == "probability":
        return map_log_odds(scores, lambda z: z)
    return near_log_odds(scores.value) if scores.kind == "logit" else scores.value


def near_log_odds(z: FloatArray) -> FloatArray:
    """Given log odds, at most 1,000 in size: their squares must not overflow."""
    if len(z) and max(-float(z.min()), float(z.max())) > _FARTHEST:
        return np.clip(z, -_FARTHEST, _FARTHEST)
    return z


def map_log_odds(scores: BinaryScores, function: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """Apply `function` to the log odds (or scores) of each row; O(n), no copies of length n."""
    result = np.empty(len(scores))
    low, high = scores.floors
    for block in row_blocks(len(scores), _ROWS):
        value = scores.value[block]
        if scores.kind == "probability":
            rest = 1 - value if scores.rest is None else scores.rest[block]
            odds = np.maximum(value, low)
            odds /= np.maximum(rest, high)
            value = np.log(odds, out=odds)
        elif scores.kind == "logit":
            value = near_log_odds(value)
        result[block] = function(value)
    return result
