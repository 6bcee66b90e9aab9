"""How much two models differ on the same rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

from veridical.results._interval import Interval
from veridical.results._test import format_pvalue


@dataclass(frozen=True, kw_only=True)
class Difference(Interval):
    """Paired difference of a figure between two models, first minus second.

    Attributes
    ----------
    estimate, low, high, confidence_level : the difference and its interval
    pvalue : of the hypothesis that the two figures are equal in the population, two-sided
    first, second : the figure of each model

    Examples
    --------
    >>> print(Difference(estimate=-0.05, low=-0.08, high=-0.02, confidence_level=0.95,
    ...     method="analytic", estimator="brier", definition="mean brier score", lens="binary",
    ...     n_samples=100, n_resamples=None, pvalue=0.001, first=0.15, second=0.2))
    brier 0.1500 - 0.2000 = -0.0500, 95 % interval -0.0800 to -0.0200, p = 0.0010 (analytic;
     binary, mean brier score, n=100)
    """

    pvalue: float
    first: float
    second: float

    def reversed(self) -> Difference:
        """Return the same difference, second minus first."""
        return replace(
            self,
            estimate=-self.estimate,
            low=-self.high,
            high=-self.low,
            first=self.second,
            second=self.first,
        )

    def __str__(self) -> str:
        drawn = "" if self.n_resamples is None else f", {self.n_resamples:,} resamples"
        return (
            f"{self.estimator} {self.first:.4f} - {self.second:.4f} = {self.estimate:+.4f},"
            f" {100 * self.confidence_level:g} % interval {self.low:.4f} to {self.high:.4f},"
            f" p = {format_pvalue(self.pvalue)} ({self.method}{drawn}; {self.lens},"
            f" {self.definition}, n={self.n_samples})"
        )
