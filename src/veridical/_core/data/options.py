"""Options that many functions take, checked in one way."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from veridical._core.data.validation import is_integer, is_number
from veridical.exceptions import invalid


def check_flag(caller: str, param: str, value: object) -> None:
    """Raise unless `value` is True or False."""
    if not isinstance(value, (bool, np.bool_)):
        hint = f"e.g. `{caller}({param}=True)`."
        raise invalid(caller, param, "True or False", repr(value), hint=hint)


def check_non_negative(
    caller: str, param: str, value: Any, *, hint: str, expected: str = "a number from 0 on"
) -> None:
    """Raise unless `value` is a number from zero on."""
    if not is_number(value) or not 0 <= value < math.inf:
        raise invalid(caller, param, expected, repr(value), hint=hint)


def check_penalty(caller: str, penalty: object) -> float:
    """Return the weight of a ridge; None is none."""
    if penalty is None:
        return 0.0
    expected = "a number of at least 0, or None"
    hint = "1.0 is the default; 0 or None fits by maximum likelihood."
    check_non_negative(caller, "penalty", penalty, hint=hint, expected=expected)
    return float(penalty)  # type: ignore[arg-type]


def check_integer(
    caller: str, param: str, value: Any, *, hint: str, least: int = 1, expected: str | None = None
) -> int:
    """Return a whole number from `least` on."""
    if not (is_integer(value) and value >= least):
        usual = "a positive integer" if least == 1 else f"an integer of {least} or more"
        raise invalid(caller, param, expected or usual, repr(value), hint=hint)
    return int(value)


def check_folds(caller: str, cv: object, *, hint: str = "5 or 10 folds are usual.") -> None:
    """Raise unless `cv` is a number of folds."""
    check_integer(caller, "cv", cv, hint=hint, least=2)
