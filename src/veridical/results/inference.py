"""Methods ranked over many data sets, and how many rows a question needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from veridical.results._forms.text import note_lines
from veridical.results.base import Result, columns_of, field_names, say_pvalue


@dataclass(frozen=True, kw_only=True, repr=False)
class RankComparison(Result):
    """Mean ranks of methods over data sets, and which of them may be told apart.

    Attributes
    ----------
    methods : names, in the order given
    mean_rank : mean rank of each method; 1 is best
    statistic : Iman and Davenport's F of the hypothesis that all methods are equal
    chi_square : Friedman's statistic it comes from
    pvalue : of that hypothesis
    critical_difference : mean ranks further apart than this differ (Nemenyi)
    confidence_level : of the critical difference, for all pairs at once
    n_datasets : data sets ranked
    better : whether "smaller" or "larger" scores were better
    notes : statistical doubts in words

    Examples
    --------
    >>> ranks = RankComparison(methods=("a", "b"), mean_rank=(1.75, 1.25), statistic=4.0,
    ...     chi_square=3.0, pvalue=0.1, critical_difference=0.6, confidence_level=0.95,
    ...     n_datasets=10, better="smaller")
    >>> ranks.alike, ranks.ordered
    ((('b', 'a'),), (('b', 1.25), ('a', 1.75)))
    """

    _text_columns: ClassVar[tuple[str, ...]] = ("method",)

    methods: tuple[str, ...]
    mean_rank: tuple[float, ...]
    statistic: float
    chi_square: float
    pvalue: float
    critical_difference: float
    confidence_level: float
    n_datasets: int
    better: str
    notes: tuple[str, ...] = ()

    @property
    def ordered(self) -> tuple[tuple[str, float], ...]:
        """Methods and mean ranks from best to worst; equals in the order given."""
        return tuple(
            sorted(zip(self.methods, self.mean_rank, strict=True), key=lambda pair: pair[1])
        )

    @property
    def alike(self) -> tuple[tuple[str, ...], ...]:
        """Largest groups of two or more neighbours within the critical difference, best first."""
        names = [name for name, _ in self.ordered]
        ranks = np.array([rank for _, rank in self.ordered])
        reach = np.searchsorted(ranks, ranks + self.critical_difference * (1 + 1e-12), "right")
        groups, furthest = [], 0
        for first, last in enumerate(reach):
            if last > furthest and last - first > 1:
                groups.append(tuple(names[first:last]))
            furthest = max(furthest, int(last))
        return tuple(groups)

    def _text(self) -> str:
        wide = max(len(method) for method in self.methods) + 2
        lines = [
            f"Mean ranks of {len(self.methods)} methods on {self.n_datasets} data sets,"
            f" {self.better} is better: F {self.statistic:.4f}, {say_pvalue(self.pvalue)};"
            f" critical difference {self.critical_difference:.4f}"
            f" ({self.confidence_level:.0%}, Nemenyi)",
            *(f"  {method:<{wide}}{rank:>7.4f}" for method, rank in self.ordered),
        ]
        return "\n".join([*lines, *note_lines(self.notes, apart=False)])

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "method": list(self.methods),
            "mean_rank": list(self.mean_rank),
            "critical_difference": [self.critical_difference] * len(self.methods),
            "n_datasets": [self.n_datasets] * len(self.methods),
        }


@dataclass(frozen=True, kw_only=True, repr=False)
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

    def _text(self) -> str:
        does = f"detect an error of {self.delta:.4f} ({self.shape} gap)"
        if self.goal == "equivalence":
            does = f"show calibration within {self.delta:.4f}, if it holds,"
        return (
            f"{self.n:,} rows {does} with {100 * self.power:g} % power at level {self.level:g}"
            f" ({self.definition})"
        )

    def _columns(self) -> dict[str, list[object]]:
        return columns_of([self], field_names(self, without=("notes",)))
