"""What is wrong with probabilities and its likely cause, and rows that rounding keeps from one."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from veridical._core.numeric.blocks import row_blocks
from veridical._core.numeric.scan import row_sum_tolerance
from veridical._core.typing import Array, FloatArray
from veridical.exceptions import InvalidInputError, invalid

# The option of the caller that says what predictions are: `scale` of functions, which also take
# `missing` and `normalize`; `input` of calibrators; none where there is nothing to say it with.
Option: TypeAlias = Literal["scale", "input"] | None

_MOST_DECIMALS = 4
_ROUNDED = 0.05  # rows that miss one by no more look rounded
_BLOCK_VALUES = 1 << 18


def probability_error(
    p: FloatArray, caller: str, param: str, option: Option = None
) -> InvalidInputError:
    """Find out what is wrong with probabilities known to be wrong."""
    bad = ~np.isfinite(p)
    if bad.any():
        return invalid(caller, param, "finite", at_first(p, bad), hint=missing_hint(option))
    bad = (p < 0) | (p > 1)
    if bad.any():
        hint = range_hint(float(p.min()), float(p.max()), option)
        return invalid(caller, param, "in [0, 1]", at_first(p, bad), hint=hint)
    sums = p.sum(axis=1, dtype=np.float64)
    tolerance = row_sum_tolerance(p.dtype)
    bad = ~(np.abs(sums - 1) <= tolerance)
    hint = sum_hint(float(sums.min()), float(sums.max()), option)
    got = f"a sum of {at_first(sums, bad, what='rows')}"
    return invalid(caller, param, f"rows that sum to 1 within {tolerance:g}", got, hint=hint)


def missing_hint(option: Option) -> str:
    """What to do about rows without a prediction."""
    if option == "scale":
        return 'drop or fix the rows without a prediction; `missing="drop"` counts and drops them.'
    return "drop or fix the rows without a prediction."


def range_hint(lowest: float, largest: float, option: Option) -> str:
    """What predictions outside [0, 1] probably are."""
    percentages = lowest >= 0 and 1 < largest <= 100
    if option == "input":
        if percentages:
            return 'percentages? divide by 100; logits? say `input="logit"`.'
        return 'pass probabilities, or say `input="logit"`.'
    if option == "scale":
        if percentages:
            return 'percentages? pass `scale="percent"`; logits? pass `scale="logit"`.'
        if largest <= 0:
            return 'log probabilities? pass `scale="logprob"`; logits? pass `scale="logit"`.'
        return 'pass probabilities, or `scale="logit"` for logits.'
    if percentages:
        return "pass probabilities, not percentages or logits."
    return "pass probabilities, not logits: apply a sigmoid or softmax first."


def sum_hint(lowest: float, largest: float, option: Option) -> str:
    """Why rows of values between 0 and 1 probably do not sum to one."""
    divide = "pass `normalize=True`" if option == "scale" else "divide each row by its sum"
    if lowest >= 1 - _ROUNDED and largest <= 1 + _ROUNDED:
        return f"rounded, or cut off? {divide}."
    if largest <= 1 + 1e-6:
        return "pass one column per class: one seems to be missing."
    return f"scores of one class against the rest? {divide}; for logits apply a softmax."


def decimals_of(p: FloatArray) -> int | None:
    """The fewest decimals, one to four, that every value can be written with; None if it is more.

    Examples
    --------
    >>> decimals_of(np.array([[0.25, 0.5], [1.0, 0.0]])), decimals_of(np.array([1 / 3]))
    (2, None)
    """
    slack = 4 * float(np.finfo(p.dtype).eps)
    least = 1
    rows = p.reshape(len(p), -1)
    for block in row_blocks(len(rows), max(64, _BLOCK_VALUES // rows.shape[1])):
        part = rows[block].astype(np.float64)
        while least <= _MOST_DECIMALS:
            units = part * 10**least
            if (np.abs(units - np.rint(units)) <= slack * 10**least).all():
                break
            least += 1
        if least > _MOST_DECIMALS:
            return None
    return least


def rounding_tolerance(n_classes: int, decimals: int) -> float:
    """How far K values, each half a unit of its last decimal off, may sum from one."""
    return n_classes / 2 * 10.0**-decimals + 1e-9


def rounded_in_words(decimals: int, largest_miss: float) -> str:
    """That rows do not sum to one, and why they were accepted."""
    return (
        f"values of {decimals} decimals sum to 1 within {largest_miss:.2g} and are used as given:"
        " their rounding explains it (normalize=True divides rows by their sums)"
    )


def rounding_note(p: FloatArray) -> str | None:
    """Words if rows in [0, 1] miss one by no more than their rounding explains, else None."""
    if p.ndim != 2 or not (p.size and p.min() >= 0 and p.max() <= 1):  # NaN is not
        return None
    miss = float(np.abs(p.sum(axis=1, dtype=np.float64) - 1).max())
    if miss > rounding_tolerance(p.shape[1], 1):
        return None
    decimals = decimals_of(p)
    if decimals is None or miss > rounding_tolerance(p.shape[1], decimals):
        return None
    return rounded_in_words(decimals, miss)


def at_first(values: Array, bad: Array, what: str = "values") -> str:
    """The first bad value, where it stands and how many there are."""
    first = np.unravel_index(int(bad.argmax()), bad.shape)
    index = int(first[0]) if len(first) == 1 else tuple(int(i) for i in first)
    value = float(values[first])
    shown = f"{value:.6g}"
    if 0 <= float(shown) <= 1 and not 0 <= value <= 1:
        shown = repr(value)  # what is wrong is in the last digits
    return f"{shown} at index {index} ({int(bad.sum())} of {bad.size} {what})"
