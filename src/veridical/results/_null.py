"""What an estimator reads on a perfectly calibrated model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.typing import FloatArray
from veridical._core.validation import check_level
from veridical.results._base import Result


@dataclass(frozen=True, kw_only=True, eq=False)
class NullLevel(Result):
    """Distribution of an estimate if the predictions were right.

    Attributes
    ----------
    mean, std : of the null sample
    sample : the estimates on resampled outcomes, sorted
    estimate : the estimate on the real outcomes
    estimator, definition, lens, n_samples, n_resamples : how it was made
    """

    mean: float
    std: float
    sample: FloatArray
    estimate: float
    estimator: str
    definition: str
    lens: str
    n_samples: int
    n_resamples: int

    def __post_init__(self) -> None:
        self.sample.setflags(write=False)

    def quantile(self, q: float) -> float:
        """Return the value a share `q` of the null estimates does not exceed."""
        return float(np.quantile(self.sample, check_level("quantile", q, "q")))

    @property
    def standardised(self) -> float:
        """Estimate in null standard deviations above the null mean (comparable across data)."""
        if self.std == 0:
            return 0.0 if self.estimate == self.mean else float("inf")
        return (self.estimate - self.mean) / self.std

    def __str__(self) -> str:
        return (
            f"{self.estimator} {self.estimate:.4f} (null {self.mean:.4f}, 95 % up to"
            f" {self.quantile(0.95):.4f}; {self.lens}, {self.definition}, n={self.n_samples})"
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NullLevel) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "estimator": [self.estimator],
            "estimate": [self.estimate],
            "null_mean": [self.mean],
            "null_std": [self.std],
            "null_q95": [self.quantile(0.95)],
            "definition": [self.definition],
            "lens": [self.lens],
            "n_samples": [self.n_samples],
            "n_resamples": [self.n_resamples],
        }
