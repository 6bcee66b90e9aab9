"""Why an automatic calibrator chose what it chose."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from html import escape
from typing import Any, ClassVar

from veridical.results.base import Result
from veridical.results.evaluation import html_table


@dataclass(frozen=True, kw_only=True)
class CandidateEvidence(Result):
    """One candidate on rows it was not fitted to.

    Attributes
    ----------
    candidate : name
    log_loss, brier : mean scores of held-out predictions; None if it was not tried
    difference, low, high : log loss minus that of the identity on the same rows, with interval;
        negative is better
    weight : share in the result
    chosen : whether the result contains it
    note : why, or why not
    seconds : time spent on it
    """

    candidate: str
    log_loss: float | None
    brier: float | None
    difference: float | None
    low: float | None
    high: float | None
    weight: float
    chosen: bool
    note: str
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Evidence(Result):
    """Candidates of an `AutoCalibrator` on held-out rows, and what was made of them.

    Attributes
    ----------
    candidates : one entry each; the first is the identity, the last the result
    strategy : "pool" or "select"
    verdict : the decision in words
    n_samples, n_classes : of the rows it was fitted to
    partitions : numbers of folds of the partitions used
    n_used : rows that took part in the comparison
    confidence_level : of the intervals
    notes : doubts in words
    """

    _text_columns: ClassVar[tuple[str, ...]] = ("candidate", "note")
    _number_columns: ClassVar[tuple[str, ...]] = ("log_loss", "brier", "difference", "low", "high")

    candidates: tuple[CandidateEvidence, ...]
    strategy: str
    verdict: str
    n_samples: int
    n_classes: int
    partitions: tuple[int, ...]
    n_used: int
    confidence_level: float
    notes: tuple[str, ...] = ()

    def candidate(self, name: str) -> CandidateEvidence:
        """Return one entry; KeyError lists the names."""
        for each in self.candidates:
            if each.candidate == name:
                return each
        msg = f"{name!r} is not a candidate; there is {[c.candidate for c in self.candidates]}"
        raise KeyError(msg)

    def __str__(self) -> str:
        lines = [self._headline(), ""]
        lines += textwrap.wrap(self.verdict, 98, initial_indent="  ", subsequent_indent="  ")
        lines += ["", "  " + _line(_HEADER)]
        lines += ["  " + _line(row) for row in self._rows()]
        lines += ["", *(f"  note: {note}" for note in self.notes)] if self.notes else []
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        parts = [
            f"<p><strong>{escape(self._headline())}</strong></p><p>{escape(self.verdict)}</p>",
            html_table(list(_HEADER), self._rows()),
        ]
        if self.notes:
            parts.append("<ul>" + "".join(f"<li>{escape(n)}</li>" for n in self.notes) + "</ul>")
        return "<div>" + "".join(parts) + "</div>"

    def _columns(self) -> dict[str, list[Any]]:
        names = CandidateEvidence.__dataclass_fields__
        return {name: [getattr(c, name) for c in self.candidates] for name in names}

    def _headline(self) -> str:
        folds = " + ".join(str(n) for n in self.partitions)
        rows = f"{self.n_used:,} of {self.n_samples:,}" if self.n_used < self.n_samples else ""
        return (
            f"Evidence from {rows or f'{self.n_samples:,}'} rows of {self.n_classes} classes, "
            f"held out in {folds} folds ({self.strategy})"
        )

    def _rows(self) -> list[tuple[str, ...]]:
        return [
            (
                c.candidate,
                _number(c.log_loss, ".5f"),
                _number(c.brier, ".5f"),
                _number(c.difference, "+.5f"),
                "" if c.low is None else f"{c.low:+.5f} to {c.high:+.5f}",
                f"{c.weight:.3f}" if c.chosen else "",
                f"{c.seconds:.2f}",
                c.note,
            )
            for c in self.candidates
        ]


_HEADER = ("candidate", "log loss", "brier", "difference", "interval", "weight", "seconds", "note")
_SPANS = (24, 10, 10, 12, 23, 8, 9)


def _line(cells: tuple[str, ...]) -> str:
    name, *numbers, note = cells
    shown = "".join(f"{n:>{span}}" for n, span in zip(numbers, _SPANS[1:], strict=True))
    return f"{name:<{_SPANS[0]}}{shown}  {note}".rstrip()


def _number(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)
