"""The guard against certainty: a few imagined rows of each class."""

from __future__ import annotations

from typing import Any

from veridical._core.typing import FloatArray
from veridical._core.validation import is_number
from veridical.exceptions import invalid


def check_laplace(caller: str, value: Any) -> None:
    """Raise unless `value` is a number of imagined rows."""
    if not (is_number(value) and value >= 0):
        hint = "1 is the rule of succession; 0 turns the guard off."
        raise invalid(caller, "laplace", "a number of 0 or more", repr(value), hint=hint)


def mix(p: FloatArray, size: FloatArray | float, laplace: float) -> FloatArray:
    """Probabilities learnt from `size` rows, with `laplace` imagined rows of each class added.

    (n p + a) / (n + 2 a): Laplace's rule of succession for a = 1. Strictly increasing in p, and
    never 0 or 1 unless a = 0.
    """
    if not laplace:
        return p
    return (p * size + laplace) / (size + 2 * laplace)
