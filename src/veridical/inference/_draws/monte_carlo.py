"""P-values from statistics drawn under the null hypothesis.

Doubts become warnings.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Literal

from veridical._core.typing import FloatArray
from veridical.exceptions import VeridicalWarning

_TIE = 1e-12  # relative: sums in another order are the same value

Alternative = Literal["greater", "less", "two-sided"]


def monte_carlo_pvalue(
    observed: float,
    null: FloatArray,
    alternative: Alternative = "greater",
    *,
    tolerance: float | None = None,
) -> float:
    """Return (1 + #{null >= observed}) / (1 + n), ties within a relative 1e-12 counted.

    `tolerance` is an absolute one instead, for statistics that are known less exactly.

    Examples
    --------
    >>> import numpy as np
    >>> monte_carlo_pvalue(0.2, np.array([0.1, 0.2, 0.3]))
    0.75
    """
    slack = _TIE * abs(observed) if tolerance is None else tolerance
    larger = (1 + int((null >= observed - slack).sum())) / (1 + len(null))
    smaller = (1 + int((null <= observed + slack).sum())) / (1 + len(null))
    if alternative == "two-sided":
        return min(1.0, 2 * min(larger, smaller))
    return larger if alternative == "greater" else smaller


def warn_of(notes: Iterable[str], *, caller: str) -> None:
    """Warn the user of the public function `caller`, which calls this directly."""
    for note in notes:
        warnings.warn(f"{caller}: {note}.", VeridicalWarning, stacklevel=3)
