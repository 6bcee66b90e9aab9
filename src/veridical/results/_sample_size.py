"""How many rows a question about calibration needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from veridical.results._base import Result


@dataclass(frozen=True, kw_only=True)
class SampleSize(Result):
    """Rows, and the miscalibration they can tell from none.

    Attributes
    ----------
    n : number of rows
    delta : root-mean-square gap between true frequencies and predictions, over bins
    power : chance to reach the goal
    level : level of the test
    goal : "detect" miscalibration of `delta`, or show "equivalence" within `delta`
    shape : how the gap is spread over predictions, None for "equivalence"
    definition : what is tested, in words
    notes : statistical doubts in words

    Examples
    --------
    >>> print(SampleSize(n=1200, delta=0.05, power=0.8, level=0.05, goal="detect", shape="even",
    ...     definition="rmsce, 15 equal-width bins, uniform predictions"))
    1,200 rows detect an error of 0.0500 (even gap) with 80 % power at level 0.05 (rmsce, 15
    equal-width bins, uniform predictions)
    """

    _text_columns: ClassVar[tuple[str, ...]] = ("goal", "shape", "definition")

    n: int
    delta: float
    power: float
    level: float
    goal: str
    shape: str | None
    definition: str
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        does = f"detect an error of {self.delta:.4f} ({self.shape} gap)"
        if self.goal == "equivalence":
            does = f"show calibration within {self.delta:.4f}, if it holds,"
        return (
            f"{self.n:,} rows {does} with {100 * self.power:g} % power at level {self.level:g}"
            f" ({self.definition})"
        )

    def _columns(self) -> dict[str, list[object]]:
        names = ("n", "delta", "power", "level", "goal", "shape", "definition")
        return {name: [getattr(self, name)] for name in names}
