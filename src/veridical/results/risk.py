"""Answers only when sure: thresholds that keep a promise, risk and coverage, sets of classes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from veridical._core.typing import ArrayLike, BoolArray, FloatArray
from veridical.exceptions import invalid
from veridical.results._forms.html import html_headline, html_table
from veridical.results._forms.text import note_lines
from veridical.results.base import ArrayResult, Interval, Result, columns_of, field_names
from veridical.results.decisions import Cutoff

_WORDS = {
    "error": ("wrong answers among the rows answered", "answer"),
    "fdr": ("false alarms among the rows called", "call"),
    "fnr": ("positives that are missed", "call"),
    "cost": ("mean cost of the rows answered", "answer"),
    "ece": ("calibration error", ""),
    "deviation": ("deviation of the mean outcome from the mean prediction", ""),
    "risk": ("wrong answers among the rows answered", "answer"),
}


@dataclass(frozen=True, kw_only=True, repr=False)
class RiskThreshold(Result):
    """The score from which on to answer, so that a risk is kept with the promised confidence.

    Attributes
    ----------
    risk : "error", "fdr", "fnr" or "cost"
    at_most, confidence : the promise
    threshold : answer from this score on (expected costs: up to this); infinite (minus infinite)
        if nothing can be promised
    coverage, coverage_low, coverage_high : share of the rows that is answered, with its limits at
        the confidence
    observed : risk among the rows answered here; None if none is
    high : upper limit of the risk at the confidence
    n_answered : rows answered
    labels_needed : about how many rows with labels would allow a promise where none can be made;
        None if that is not known, or one is made
    started_at : score at which the walk began, which labels had no part in
    method : how the risk was tested
    meaning : what the score is
    lens, n_samples : which question, rows
    classes : labels, of two the positive one last
    notes : doubts in words
    """

    risk: str
    at_most: float
    confidence: float
    threshold: float
    coverage: float
    coverage_low: float
    coverage_high: float
    observed: float | None
    high: float | None
    n_answered: int
    labels_needed: int | None
    started_at: float | None
    method: str
    meaning: str
    lens: str
    n_samples: int
    classes: tuple[Any, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def found(self) -> bool:
        """Whether anything can be promised."""
        return math.isfinite(self.threshold)

    def applies_to(self, scores: ArrayLike) -> BoolArray:
        """Which rows of these scores (or expected costs) are answered."""
        values = np.asarray(scores)
        if self.risk == "cost":  # costs that differ by rounding are equal, as for `decide`
            return np.asarray(values <= self.threshold + 1e-12 * abs(self.threshold))
        single = values.dtype == np.float32
        return np.asarray(values >= (np.float32(self.threshold) if single else self.threshold))

    def raw_cutoff(self, calibrator: Any) -> Cutoff:
        """Raw score at which a fitted map of two classes reaches the threshold.

        Only for calls of one class ("fdr", "fnr"): an answer by the most probable of two classes
        has a cut-off at either end.
        """
        if self.risk not in ("fdr", "fnr") or not self.found:
            got = f"risk {self.risk!r}" if self.found else "a threshold that was not found"
            hint = 'use risk="fdr", with `pos_label` for the other class.'
            raise invalid("raw_cutoff", "risk", "a call of one class", got, hint=hint)
        cutoff: Cutoff = calibrator.inverse(self.threshold)
        return cutoff

    @property
    def headline(self) -> str:
        """The promise in a sentence."""
        what, do = _WORDS[self.risk]
        sure = f"{100 * self.confidence:g} % confidence"
        bound = _amount(self.at_most, self.risk)
        if not self.found:
            text = f"Nothing can be promised: {what} at most {bound}, with {sure}"
            if self.labels_needed is not None:
                text += f"; about {self.labels_needed:,} labelled rows like these would do"
            return text + "."
        side = "up to" if self.risk == "cost" else "from"
        on = "" if self.risk == "cost" else " on"
        share = f"{self.coverage:.1%} of the rows"
        return (
            f"{do.capitalize()} {side} {self.threshold:.12g}{on} ({self.meaning}): {share}"
            f" ({self.coverage_low:.1%} to {self.coverage_high:.1%}); {what} at most {bound},"
            f" with {sure}."
        )

    def _text(self) -> str:
        lines = [self.headline]
        if self.observed is not None and self.high is not None:
            whose = " of the positives" if self.risk == "fnr" else ""
            lines.append(
                f"  {self.n_answered:,} of {self.n_samples:,} rows; here"
                f" {_amount(self.observed, self.risk)}{whose}, upper limit"
                f" {_amount(self.high, self.risk)} ({self.method}; {self.lens})"
            )
        return "\n".join([*lines, *note_lines(self.notes, apart=False)])


def _amount(value: float, risk: str) -> str:
    return f"{value:.4g}" if risk == "cost" else f"{100 * value:.3g} %"


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class RiskCoverageCurve(ArrayResult):
    """Risk among the rows answered, against the share that is answered.

    Attributes
    ----------
    threshold : answer from this score on, decreasing
    coverage : share of the rows answered
    risk : share of wrong answers among them
    low, high : limits of the risk that hold at all thresholds together
    area : mean risk over all coverages (AURC) with its interval; lower is better
    excess : how much of it a perfect order of the same answers would save (E-AURC)
    confidence_level : of all limits
    meaning, lens, n_samples : what a score is, which question, rows
    notes : doubts in words
    """

    threshold: FloatArray
    coverage: FloatArray
    risk: FloatArray
    low: FloatArray
    high: FloatArray
    area: Interval
    excess: Interval
    confidence_level: float
    meaning: str
    lens: str
    n_samples: int
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.threshold)

    def _text(self) -> str:
        at = [int(np.searchsorted(self.coverage, share)) for share in (0.25, 0.5, 0.75, 1.0)]
        lines = [str(self.area), str(self.excess)]
        for k in sorted({min(each, len(self) - 1) for each in at}):
            lines.append(
                f"  answer {self.coverage[k]:6.1%} (from {self.threshold[k]:.4g} on): risk"
                f" {self.risk[k]:.4f} ({self.low[k]:.4f} to {self.high[k]:.4f})"
            )
        return "\n".join([*lines, *note_lines(self.notes, apart=False)])

    def _columns(self) -> dict[str, list[Any]]:
        return self._arrays("threshold", "coverage", "risk", "low", "high")


@dataclass(frozen=True, kw_only=True, repr=False)
class CoverageRow(Result):
    """How often sets of some rows contained the class that occurred.

    Attributes
    ----------
    part : "all", a class or a group
    coverage, low, high : share of the rows, with limits
    size : mean number of classes in a set
    n_samples : rows
    """

    part: str
    coverage: float
    low: float
    high: float
    size: float
    n_samples: int


@dataclass(frozen=True, kw_only=True, repr=False)
class SetCoverage(Result):
    """How often prediction sets contained the class that occurred, and how large they are.

    Attributes
    ----------
    total : of all rows
    by_class, by_group : of the rows of each class that occurred, and of each group
    empty, single : share of the sets without a class, and with one
    level : share that was promised
    confidence_level : of the limits
    method : of the sets
    """

    total: CoverageRow
    by_class: tuple[CoverageRow, ...]
    by_group: tuple[CoverageRow, ...]
    empty: float
    single: float
    level: float
    confidence_level: float
    method: str

    def _text(self) -> str:
        t = self.total
        lines = [
            f"{t.coverage:.1%} of {t.n_samples:,} sets contain the class that occurred"
            f" ({t.low:.1%} to {t.high:.1%}; promised {self.level:.1%}, {self.method});"
            f" {t.size:.2f} classes a set, {self.single:.1%} have one, {self.empty:.1%} none"
        ]
        for kind, rows in (("class", self.by_class), ("group", self.by_group)):
            worst = sorted(rows, key=lambda row: row.high)[:10]
            lines += [
                f"  {kind} {row.part}: {row.coverage:.1%} ({row.low:.1%} to {row.high:.1%}),"
                f" {row.size:.2f} classes, n={row.n_samples:,}"
                for row in worst
            ]
            if len(rows) > len(worst):
                lines.append(f"  ... and {len(rows) - len(worst):,} more; to_frame() has all")
        return "\n".join(lines)

    def _columns(self) -> dict[str, list[Any]]:
        rows = (self.total, *self.by_class, *self.by_group)
        kinds = ["all", *["class"] * len(self.by_class), *["group"] * len(self.by_group)]
        return {"kind": kinds, **columns_of(rows, field_names(CoverageRow))}

    def _repr_html_(self) -> str:
        columns = self._columns()
        rows = [[str(columns[name][k]) for name in columns] for k in range(len(columns["kind"]))]
        return html_headline(self._headline(), html_table(list(columns), rows))


@dataclass(frozen=True, kw_only=True, repr=False)
class PromiseWindow(Result):
    """The risk of a promise over some of the rows that came in since.

    Attributes
    ----------
    window : which rows, in words
    n_rows : rows answered; of "fnr" positives
    risk : observed
    low, high : limits that hold at every look
    """

    window: str
    n_rows: float
    risk: float
    low: float
    high: float

    def _text(self) -> str:
        return (
            f"{self.window}: {self.n_rows:,.0f} rows, risk {self.risk:.4f}"
            f" ({self.low:.4f} to {self.high:.4f})"
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class PromiseStatus(Result):
    """Whether a promise or a requirement is still kept, at any look.

    Attributes
    ----------
    risk, at_most, threshold : the promise; of a requirement its figure and limit
    windows : risk since the start and in the rolling window; without one where no row was answered
    confidence_level : of all limits together, at all times
    requirement : as it was written, "" for a promise
    broken_at : when it was first shown to be broken, of what is watched; None if it never was
    """

    _number_columns: ClassVar[tuple[str, ...]] = ("threshold",)
    _text_columns: ClassVar[tuple[str, ...]] = ("broken_at",)

    risk: str
    at_most: float
    threshold: float | None
    windows: tuple[PromiseWindow, ...]
    confidence_level: float
    requirement: str = ""
    broken_at: str | None = None

    @property
    def broken(self) -> bool:
        """Whether it is, or was at a look before, shown that it is not kept."""
        return self.broken_at is not None or self.broken_now

    @property
    def broken_now(self) -> bool:
        """Whether the limits of this look show that it is not kept."""
        return any(window.low > self.at_most for window in self.windows)

    @property
    def kept(self) -> bool:
        """Whether it is shown that it is, in the rolling window."""
        if self.broken or not self.windows:
            return False
        high = self.windows[-1].high
        strict = self.requirement and "<=" not in self.requirement
        return high < self.at_most if strict else high <= self.at_most

    @property
    def promised(self) -> str:
        """What was promised, in words or as it was written."""
        what = f"{_WORDS[self.risk][0]} at most {_amount(self.at_most, self.risk)}"
        return self.requirement or what

    @property
    def state(self) -> str:
        """What is shown, in a few words."""
        if self.broken:
            return "broken" if self.broken_at is None else f"broken at {self.broken_at}"
        if not self.windows:
            return "not shown: no row was answered"
        return "kept" if self.kept else "not shown either way"

    @property
    def headline(self) -> str:
        """The same in a sentence."""
        meaning = f" ({_WORDS[self.risk][0]})" if self.requirement else ""
        return f"{self.state[0].upper()}{self.state[1:]}: {self.promised}{meaning}."

    def _text(self) -> str:
        return "\n".join([self.headline, *(f"  {line}" for line in self.lines())])

    def lines(self) -> list[str]:
        """What is known of each window."""
        name = "risk" if not self.requirement else self.risk
        return [
            f"{each.window}: {each.n_rows:,.0f} rows, {name} {each.risk:.4f}"
            f" ({each.low:.4f} to {each.high:.4f})"
            for each in self.windows
        ]

    def _columns(self) -> dict[str, list[Any]]:
        return columns_of(self.windows, field_names(PromiseWindow))
