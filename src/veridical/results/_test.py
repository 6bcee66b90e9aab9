"""What a hypothesis test found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from veridical._core.validation import check_level
from veridical.results._base import Result


@dataclass(frozen=True, kw_only=True)
class CalibrationTest(Result):
    """Outcome of a test of the hypothesis that the predictions are calibrated.

    Attributes
    ----------
    statistic : what was compared with the null distribution
    pvalue : probability of a statistic at least this extreme if the predictions are calibrated
    method : name of the test
    null : where the null distribution comes from, in words
    definition : what the statistic is, in words
    lens : name of the lens
    n_samples : rows (of positive weight)
    df : degrees of freedom, None if the null distribution has none
    n_resamples : Monte-Carlo draws, None for a formula
    notes : statistical doubts in words

    Examples
    --------
    >>> test = CalibrationTest(statistic=2.0, pvalue=0.0455, method="Spiegelhalter's test",
    ...     null="standard normal", definition="z", lens="binary", n_samples=100)
    >>> print(test)
    Spiegelhalter's test: statistic 2.0000, p = 0.0455 (standard normal; binary, z, n=100)
    >>> test.rejects(), test.rejects(0.01)
    (True, False)
    """

    _text_columns: ClassVar[tuple[str, ...]] = ("method", "null", "definition", "lens")
    _number_columns: ClassVar[tuple[str, ...]] = ("df", "n_resamples")

    statistic: float
    pvalue: float
    method: str
    null: str
    definition: str
    lens: str
    n_samples: int
    df: float | None = None
    n_resamples: int | None = None
    notes: tuple[str, ...] = ()

    def rejects(self, level: float = 0.05) -> bool:
        """Whether calibration is rejected at this level."""
        return self.pvalue <= check_level("rejects", level, "level")

    def __str__(self) -> str:
        return (
            f"{self.method}: statistic {format_statistic(self.statistic)},"
            f" p = {format_pvalue(self.pvalue)}"
            f" ({self.null}; {self.lens}, {self.definition}, n={self.n_samples})"
        )

    def _columns(self) -> dict[str, list[object]]:
        names = ("method", "statistic", "pvalue", "df", "null", "definition", "lens",
                 "n_samples", "n_resamples")  # fmt: skip
        return {name: [getattr(self, name)] for name in names}


def format_statistic(statistic: float) -> str:
    """Return a statistic with four decimals, or in powers of ten if it is huge."""
    return f"{statistic:.4f}" if abs(statistic) < 1e6 else f"{statistic:.4g}"


def format_pvalue(pvalue: float) -> str:
    """Return a p-value with as many digits as can be read."""
    return f"{pvalue:.4f}" if pvalue >= 1e-4 else f"{pvalue:.2g}"
