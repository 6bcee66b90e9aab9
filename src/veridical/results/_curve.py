"""Reliability curves."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from veridical._core.typing import FloatArray
from veridical.results._base import Result


@dataclass(frozen=True, kw_only=True, eq=False)
class ReliabilityCurve(Result):
    """Observed frequency against prediction, bin by bin; only bins that hold rows.

    Attributes
    ----------
    lower, upper : edges of the bins
    count : rows in the bin
    weight : sum of weights
    predicted, observed : mean prediction and observed frequency
    gap : observed - predicted; negative is over-prediction
    low, high : confidence limits of the observed frequency, or None
    lens, method, definition, interval, confidence_level, n_samples : how it was made
    """

    lower: FloatArray
    upper: FloatArray
    count: FloatArray
    weight: FloatArray
    predicted: FloatArray
    observed: FloatArray
    gap: FloatArray
    low: FloatArray | None = None
    high: FloatArray | None = None
    lens: str
    method: str
    definition: str
    interval: str | None = None
    confidence_level: float | None = None
    n_samples: int

    def __post_init__(self) -> None:
        for f in fields(self):
            value = getattr(self, f.name)
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    def __len__(self) -> int:
        return len(self.count)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ReliabilityCurve) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return "\n".join([f"reliability, {self.lens} lens, {self.definition}", *self.table()])

    def table(self) -> list[str]:
        """Lines of a text table, one a bin."""
        limits = "" if self.interval is None else f"  {self.confidence_level:.0%} {self.interval}"
        lines = [f"{'bin':>14}  {'rows':>9}  predicted  observed      gap{limits}"]
        for i in range(len(self)):
            interval = ""
            if self.low is not None and self.high is not None:
                interval = f"  {self.low[i]:.3f} to {self.high[i]:.3f}"
            bin_range = f"{self.lower[i]:.3f} to {self.upper[i]:.3f}"
            lines.append(
                f"{bin_range:>14}  {self.count[i]:>9,.10g}  {self.predicted[i]:>9.4f}"
                f"  {self.observed[i]:>8.4f}  {self.gap[i]:>+7.4f}{interval}"
            )
        return lines

    def _columns(self) -> dict[str, list[Any]]:
        n = len(self)
        names = ("lower", "upper", "count", "weight", "predicted", "observed", "gap")
        columns: dict[str, list[Any]] = {name: getattr(self, name).tolist() for name in names}
        for name in ("low", "high"):
            limits = getattr(self, name)
            columns[name] = [None] * n if limits is None else limits.tolist()
        return columns
