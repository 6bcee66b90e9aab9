"""Scores on the scales that maps are written in: probabilities and logits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from veridical._core.blocks import ROWS, row_blocks
from veridical._core.typing import FloatArray

_LEAST_FOR_ZERO = 1e-16
_SMALLEST = 1e-300  # half of a subnormal number would be zero


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
    return max(least / 2, _SMALLEST)


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
        np.log(part, out=part)
    return result
