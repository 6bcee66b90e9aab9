"""What a consistency test found."""

from __future__ import annotations

from dataclasses import dataclass

from veridical.results._null import NullLevel
from veridical.results._test import CalibrationTest


@dataclass(frozen=True, kw_only=True)
class ConsistencyTest(CalibrationTest):
    """A test whose null distribution was drawn: outcomes from the predictions themselves.

    Attributes
    ----------
    null_level : NullLevel
        The null sample, with `mean`, `std`, `quantile(q)` and `standardised`.
    alternative : which side of the null distribution counts as evidence
    """

    null_level: NullLevel
    alternative: str = "greater"

    def __str__(self) -> str:
        level = self.null_level
        drawn = f"null {level.mean:.4f}, 95 % up to {level.quantile(0.95):.4f}; "
        return super().__str__().replace("(", f"({drawn}", 1)
