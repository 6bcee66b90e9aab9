"""Scores on the scales that maps are written in: probabilities, logits and log odds."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from veridical._core.data.validation import ScoredRows
from veridical._core.numeric.blocks import ROWS, row_blocks
from veridical._core.typing import FloatArray, IntArray

_LEAST_FOR_ZERO = 1e-16
SMALLEST = 1e-300  # half of a subnormal number would be zero
Shared = dict[Hashable, FloatArray]  # what maps of the same rows have in common, by what it is


def smallest_share(p: FloatArray) -> float:
    """Half the smallest positive probability: what an exact zero is taken for.

    A zero is a rounded small number; half the least one that was not rounded away is the usual
    stand-in for values below a detection limit (Martin-Fernandez, Barcelo-Vidal &
    Pawlowsky-Glahn 2003, doi 10.1023/A:1023866030544). Where zeros occur it is at least 1e-16:
    beside probabilities of 1e-300 they would otherwise outweigh all else. New probabilities below
    it are raised to it as well: were only zeros raised, a smaller number would rank below a zero.
    """
    least = float(p.min()) if p.size else 1.0
    if least <= 0:
        least = float(np.min(p, where=p > 0, initial=1.0))
        return max(least / 2, _LEAST_FOR_ZERO)
    return max(least / 2, SMALLEST)


@dataclass(frozen=True)
class BinaryScores:
    """One score a row for the positive class.

    Attributes
    ----------
    value : float64 array of shape (n,)
        As given: probability, logit or score.
    rest : float64 array of shape (n,) or None
        Probability of the negative class, when both were given.
    kind : {"probability", "logit", "score"}
    floors : (float, float)
        What probabilities of the positive and the negative class are raised to before logarithms.
    """

    value: FloatArray
    rest: FloatArray | None
    kind: str
    floors: tuple[float, float]

    def __len__(self) -> int:
        return len(self.value)

    @cached_property
    def p(self) -> FloatArray:
        """Probabilities of the positive class (scores are read as logits)."""
        if self.kind == "probability":
            return self.value
        from scipy.special import expit

        return np.asarray(expit(self.value))


def log_probabilities(p: FloatArray, floor: float) -> FloatArray:
    """Logarithms of probabilities raised to `floor`."""
    result = np.empty(p.shape)
    for block in row_blocks(len(p), max(16, ROWS // p.shape[1])):  # cached between the two steps
        part = np.maximum(p[block], floor, out=result[block])
        with np.errstate(divide="ignore"):  # a floor of zero, in old files
            np.log(part, out=part)
    return result


_ROWS = 1 << 13  # intermediate results stay in the first-level caches
FARTHEST = 1e3  # beyond 745, probabilities are 0 or 1 in double precision


def log_odds(scores: BinaryScores) -> FloatArray:
    """Log odds of each row, at most 1,000 in size; scores as they are."""
    if scores.kind == "probability":
        return map_log_odds(scores, lambda z: z)
    return near_log_odds(scores.value) if scores.kind == "logit" else scores.value


def near_log_odds(z: FloatArray) -> FloatArray:
    """Given log odds, at most 1,000 in size: their squares must not overflow."""
    if len(z) and max(-float(z.min()), float(z.max())) > FARTHEST:
        return np.clip(z, -FARTHEST, FARTHEST)
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


def difference(scores: FloatArray, positive: int) -> FloatArray:
    """Logit of the positive class from one or two columns."""
    if scores.ndim == 1:
        return scores
    return scores[:, positive] - scores[:, 1 - positive]


def oriented(rows: ScoredRows) -> tuple[FloatArray, IntArray]:
    """Scores and class indices; of two classes one score for the positive one, and y in 0, 1."""
    if len(rows.classes) > 2:
        return rows.scores, rows.y
    return difference(rows.scores, rows.positive), rows.y if rows.positive else 1 - rows.y
