"""An estimate and how far the truth may be from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from veridical.results._base import Result


@dataclass(frozen=True, kw_only=True)
class Interval(Result):
    """Confidence interval of a figure.

    Attributes
    ----------
    estimate : the figure itself; a plug-in calibration error of many bins may lie above its
        interval, because it is biased upwards and the interval is not
    low, high : limits
    confidence_level : how often such intervals cover the truth
    method : "analytic", "percentile", "basic" or "bca"
    estimator, definition, lens, n_samples : what was measured
    n_resamples : how many resamples were drawn, None for an analytic interval

    Examples
    --------
    >>> print(Interval(estimate=0.2, low=0.125, high=0.25, confidence_level=0.95,
    ...     method="analytic", estimator="brier", definition="mean brier score", lens="binary",
    ...     n_samples=100, n_resamples=None))
    brier 0.2000, 95 % interval 0.1250 to 0.2500 (analytic; binary, mean brier score, n=100)
    """

    _text_columns: ClassVar[tuple[str, ...]] = ("method", "estimator", "definition", "lens")

    estimate: float
    low: float
    high: float
    confidence_level: float
    method: str
    estimator: str
    definition: str
    lens: str
    n_samples: int
    n_resamples: int | None

    @property
    def width(self) -> float:
        """Distance between the limits."""
        return self.high - self.low

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def __str__(self) -> str:
        drawn = "" if self.n_resamples is None else f", {self.n_resamples:,} resamples"
        return (
            f"{self.estimator} {self.estimate:.4f}, {100 * self.confidence_level:g} % interval"
            f" {self.low:.4f} to {self.high:.4f} ({self.method}{drawn}; {self.lens},"
            f" {self.definition}, n={self.n_samples})"
        )
