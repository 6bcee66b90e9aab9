"""How frequent classes are in a population whose outcomes nobody has seen."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

from veridical._core.typing import FloatArray
from veridical.results._base import Result
from veridical.results._text import html_table


@dataclass(frozen=True, kw_only=True, eq=False)
class PriorEstimate(Result):
    """Class priors estimated from predictions alone.

    Attributes
    ----------
    classes : labels in column order
    priors : estimated share of each class in deployment, summing to one
    low, high : limits for each share, each at `confidence_level` by itself
    train : shares in training that the estimate starts from
    confidence_level : how often such an interval covers the true share
    method : "em", "bbse" or "bbse_soft"
    interval : "bootstrap" or "analytic"
    iterations : steps to the largest likelihood, None for the other methods
    n_samples : deployment rows
    n_reference : labelled rows, None if there were none
    n_resamples : resamples drawn, None for an analytic interval
    definition : what is estimated and supposed, in words
    notes : statistical doubts in words
    """

    classes: tuple[Any, ...]
    priors: FloatArray
    low: FloatArray
    high: FloatArray
    train: FloatArray
    confidence_level: float
    method: str
    interval: str
    iterations: int | None
    n_samples: int
    n_reference: int | None
    n_resamples: int | None
    definition: str
    notes: tuple[str, ...] = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PriorEstimate) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        width = max(8, *(len(str(label)) + 2 for label in self.classes))
        lines = [self._headline(), "", f"  {'class':<{width}}" + _cells(_HEADER[1:])]
        lines += [f"  {label:<{width}}{_cells(cells)}" for label, *cells in self._rows()]
        if self.notes:
            lines += ["", *(f"  note: {note}" for note in self.notes)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        parts = [
            f"<p><strong>{escape(self._headline())}</strong></p>",
            html_table(list(_HEADER), self._rows()),
        ]
        if self.notes:
            parts.append("<ul>" + "".join(f"<li>{escape(n)}</li>" for n in self.notes) + "</ul>")
        return "<div>" + "".join(parts) + "</div>"

    def _headline(self) -> str:
        drawn = "" if self.n_resamples is None else f", {self.n_resamples:,} resamples"
        return (
            f"Class priors of {self.n_samples:,} rows ({self.definition};"
            f" {100 * self.confidence_level:g} % {self.interval} intervals{drawn})"
        )

    def _rows(self) -> list[tuple[str, ...]]:
        table = zip(self.classes, self.train, self.priors, self.low, self.high, strict=True)
        return [(str(label), *(f"{x:.4f}" for x in numbers)) for label, *numbers in table]

    def _columns(self) -> dict[str, list[Any]]:
        """One row a class."""
        return {
            "class": [str(label) for label in self.classes],
            "train": self.train.tolist(),
            "prior": self.priors.tolist(),
            "low": self.low.tolist(),
            "high": self.high.tolist(),
        }


_HEADER = ("class", "train", "prior", "low", "high")


def _cells(values: Any) -> str:
    return "".join(f"{value:>10}" for value in values)
