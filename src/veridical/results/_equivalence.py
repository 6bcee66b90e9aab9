"""Whether calibration within a margin was shown."""

from __future__ import annotations

from dataclasses import dataclass

from veridical._core.validation import check_level
from veridical.results._test import CalibrationTest, format_pvalue


@dataclass(frozen=True, kw_only=True)
class EquivalenceTest(CalibrationTest):
    """Outcome of a test of the hypothesis that predictions are miscalibrated by `delta` or more.

    Attributes
    ----------
    statistic : the estimated miscalibration
    pvalue : smallest level at which calibration within `delta` is shown
    delta : the margin
    upper : upper confidence limit of the miscalibration at 1 - `level`
    level : chance of a false claim of equivalence
    equivalent : whether calibration within `delta` was shown, that is `upper` < `delta`

    Examples
    --------
    >>> test = EquivalenceTest(statistic=0.01, pvalue=0.002, method="equivalence test",
    ...     null="error of 0.05 or more", definition="rmsce", lens="binary", n_samples=5000,
    ...     delta=0.05, upper=0.035, level=0.05, equivalent=True)
    >>> print(test)
    equivalence test: shown to be calibrated within 0.05 (p = 0.0020), error 0.0100, at most
    0.0350 with 95 % confidence (binary, rmsce, n=5000)
    """

    delta: float
    upper: float
    level: float
    equivalent: bool

    @property
    def verdict(self) -> str:
        """What was shown, in words."""
        shown = "shown" if self.equivalent else "not shown"
        return f"{shown} to be calibrated within {self.delta:g}"

    def rejects(self, level: float = 0.05) -> bool:
        """Whether miscalibration of `delta` or more is rejected at this level."""
        return self.pvalue <= check_level("rejects", level, "level")

    def __str__(self) -> str:
        return (
            f"{self.method}: {self.verdict} (p = {format_pvalue(self.pvalue)}), error"
            f" {self.statistic:.4f}, at most {self.upper:.4f} with {100 * (1 - self.level):g} %"
            f" confidence ({self.lens}, {self.definition}, n={self.n_samples})"
        )

    def _columns(self) -> dict[str, list[object]]:
        names = ("delta", "upper", "level", "equivalent")
        return super()._columns() | {name: [getattr(self, name)] for name in names}
