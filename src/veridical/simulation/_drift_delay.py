"""When labels become known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veridical._core.typing import FloatArray
from veridical._core.validation import check_option, is_number
from veridical.exceptions import invalid

KINDS = ("fixed", "exponential", "geometric")


@dataclass(frozen=True)
class LabelDelay:
    """How long after its prediction the label of a row arrives, independently of all else.

    Parameters
    ----------
    mean : float >= 0, default 0
        Mean delay of the labels that arrive; the unit of time is one batch.
    kind : {"fixed", "exponential", "geometric"}, default "fixed"
        Always the mean; exponential; or a whole number of batches from 0 on.
    never : float in [0, 1), default 0
        Share of labels that never arrive.

    Examples
    --------
    >>> LabelDelay(2.5).draw(2, np.random.default_rng(0))
    array([2.5, 2.5])
    """

    mean: float = 0.0
    kind: str = "fixed"
    never: float = 0.0

    def __post_init__(self) -> None:
        caller = type(self).__name__
        check_option(caller, "kind", self.kind, KINDS)
        if not (is_number(self.mean) and self.mean >= 0):
            hint = "give a mean delay in batches."
            raise invalid(caller, "mean", "zero or more", repr(self.mean), hint=hint)
        if not (is_number(self.never) and 0 <= self.never < 1):
            hint = "give the share of labels that never arrive."
            raise invalid(caller, "never", "in [0, 1)", repr(self.never), hint=hint)

    def draw(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Delays of n rows; infinite for labels that never arrive."""
        if self.kind == "fixed":
            delay = np.full(n, float(self.mean))
        elif self.kind == "exponential":
            delay = rng.exponential(self.mean, n)
        else:
            delay = rng.geometric(1 / (1 + self.mean), n) - 1.0
        return np.where(rng.random(n) < self.never, np.inf, delay)
