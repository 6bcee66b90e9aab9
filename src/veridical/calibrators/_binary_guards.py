"""What keeps parametric maps from running away: a ridge towards the identity, or an error."""

from __future__ import annotations

import numpy as np

from veridical._core.typing import FloatArray
from veridical._core.validation import is_number
from veridical.calibrators._base import Rows
from veridical.calibrators._binary_newton import Ridge
from veridical.exceptions import invalid


def check_penalty(caller: str, penalty: object) -> float:
    """Return the weight of the ridge; None is none."""
    if penalty is None:
        return 0.0
    if not is_number(penalty) or penalty < 0:  # type: ignore[operator]
        hint = "1.0 is the default; 0 or None fits by maximum likelihood."
        raise invalid(
            caller, "penalty", "a number of at least 0, or None", f"{penalty!r}", hint=hint
        )
    return float(penalty)  # type: ignore[arg-type]


def ridge_to(anchor: FloatArray, penalty: float) -> Ridge:
    """Equal weight on the distance of every coefficient from `anchor`."""
    return Ridge(penalty * np.eye(len(anchor)), anchor)


def check_two_classes(caller: str, rows: Rows, *, guarded: bool) -> None:
    """Raise if only one class occurs and nothing keeps the fit from infinity."""
    if not guarded and (rows.y == rows.y[0]).all():
        hint = "set a `penalty`, or fit on rows of both classes."
        raise invalid(caller, "y", "of two classes without a penalty", "one class only", hint=hint)
