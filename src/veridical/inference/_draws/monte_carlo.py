"""P-values from statistics drawn under the null hypothesis, and what is done with a test made."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, NamedTuple, TypeVar

import numpy as np

from veridical._core.typing import FloatArray
from veridical.exceptions import warn_of
from veridical.lenses.reading import Induced
from veridical.results import CalibrationTest

_TIE = 1e-12  # relative: sums in another order are the same value

_Test = TypeVar("_Test", bound=CalibrationTest)
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
    >>> monte_carlo_pvalue(0.2, np.array([0.1, 0.2, 0.3]))
    0.75
    """
    slack = _TIE * abs(observed) if tolerance is None else tolerance
    larger = (1 + int((null >= observed - slack).sum())) / (1 + len(null))
    smaller = (1 + int((null <= observed + slack).sum())) / (1 + len(null))
    if alternative == "two-sided":
        return min(1.0, 2 * min(larger, smaller))
    return larger if alternative == "greater" else smaller


def null_pvalues(observed: FloatArray, null: FloatArray) -> FloatArray:
    """The same of many statistics, each with the draws of its row.

    Examples
    --------
    >>> null_pvalues(np.array([0.2, 0.5]), np.array([[0.1, 0.2, 0.3]] * 2)).tolist()
    [0.75, 0.25]
    """
    reached = null >= (observed - _TIE * np.abs(observed))[:, None]
    return np.asarray((1 + reached.sum(axis=1)) / (1 + null.shape[1]))


class Finding(NamedTuple):
    """What a test found, and where its null distribution comes from."""

    statistic: float
    pvalue: float
    null: str
    notes: tuple[str, ...] = ()
    n_resamples: int | None = None

    def test(
        self, induced: Induced, method: str, definition: str, df: float | None = None
    ) -> CalibrationTest:
        """The result of a test of this name, of what the lens shows of the sample."""
        return CalibrationTest(
            **self._asdict(),
            method=method,
            definition=definition,
            lens=induced.lens.name,
            n_samples=induced.sample.n,
            df=df,
        )


def announced(test: _Test, induced: Induced, *, caller: str) -> _Test:
    """Warn the user of `caller`, which calls this directly, of the doubts about a test.

    What was guessed about the data joins the notes without a warning.
    """
    warn_of(test.notes, caller=caller)
    return replace(test, notes=(*induced.notes, *test.notes)) if induced.notes else test
