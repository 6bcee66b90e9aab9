"""Rows of estimates with their intervals: errors, groups, calibrators, pairs of models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from veridical._core.drawing.picture import Panel, Picture
from veridical._core.drawing.scales import Scale, rounded_ends
from veridical._core.drawing.words import LINE, cut, width_of, wrap
from veridical.results.base import say_pvalue
from veridical.results.comparison import Comparison
from veridical.results.figures import MeasuredError
from veridical.results.selection import Evidence

MOST = 30  # rows drawn; tables hold them all
_ROW, _WORDS = 30.0, 20.0  # pixels of a row, and of a line of words over it where there is no room
_BESIDE = 520  # pixels of a picture from which on names and notes stand beside the plot
_LOOKS = {"main": "after", "part": "after", "other": "other"}
MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True)
class ForestRow:
    """One estimate.

    Attributes
    ----------
    name, note : words left and right of it
    estimate, low, high : the figure and its limits, None where there are none
    null_mean, null_high : what a calibrated model would show, and 95 % of them stay below
    kind : "main" in colour, "part" too but hollow, "other" grey
    """

    name: str
    estimate: float
    low: float | None = None
    high: float | None = None
    null_mean: float | None = None
    null_high: float | None = None
    note: str = ""
    kind: Literal["main", "part", "other"] = "main"

    @property
    def tip(self) -> str:
        """All of its numbers."""
        lines = [self.name, f"estimate {self.estimate:.4g}"]
        if self.low is not None and self.high is not None:
            lines.append(f"limits {self.low:.4g} to {self.high:.4g}")
        if self.null_mean is not None and self.null_high is not None:
            null = f"mean {self.null_mean:.4g}, 95 % below {self.null_high:.4g}"
            lines.append(f"if calibrated: {null}")
        return "\n".join([*lines, self.note] if self.note else lines)


def forest(
    rows: Sequence[ForestRow],
    axis: str,
    *,
    width: float = 640,
    reference: float | None = None,
    title: str,
    description: str = "",
) -> Picture:
    """Estimates with their limits below each other, on one scale.

    Parameters
    ----------
    rows : sequence of ForestRow
        From top to bottom.
    axis : str
        What the scale measures.
    width : float, default 640
        Pixels; with less than 520, or long names, these stand above their row, not beside it.
    reference : float, optional
        Where a line is drawn, such as at no difference.
    """
    longest = max(width_of(row.name) for row in rows)
    beside = width >= _BESIDE and longest <= 0.36 * width
    names = longest + 12 if beside else 0.0
    notes = min(max(width_of(row.note) for row in rows), 0.24 * width) + 12 if beside else 0.0
    step = _ROW if beside else _ROW + _WORDS
    scale = _scale(rows, reference)
    words = wrap(axis, width - names)
    foot = LINE * (1 + len(words)) + 14
    picture = Picture(width, step * len(rows) + foot + 4, title, description)
    panel = Panel(
        picture, names + 8, 4.0, width - names - notes - 16, step * len(rows), scale, Scale(0, 1)
    )
    _ground(panel, len(rows), step, reference, beside=beside)
    for i, row in enumerate(rows):
        middle = 4.0 + step * (i + 1) - _ROW / 2
        _row(panel, row, middle)
        if beside:
            picture.text(0, middle + 4.5, cut(row.name, names - 8))
            picture.text(width, middle + 4.5, cut(row.note, notes - 8), "muted", anchor="end")
        else:
            note = cut(row.note, 0.45 * width)
            line = middle - _ROW / 2 - 2
            picture.text(0, line, cut(row.name, width - width_of(note) - 16))
            picture.text(width, line, note, "muted", anchor="end")
    panel.axis_below(axis, most=6)
    return picture


def _scale(rows: Sequence[ForestRow], reference: float | None) -> Scale:
    named = ("estimate", "low", "high", "null_high")
    values = [float(v) for row in rows for n in named if (v := getattr(row, n)) is not None]
    if reference is not None:
        values.append(reference)
    if any(row.null_high is not None for row in rows):
        values.append(0.0)
    low, high = min(values), max(values)
    pad = 0.03 * (high - low)
    bottom = 0.0 if low >= 0 else -float("inf")
    return Scale(*rounded_ends(low - pad, high + pad, bottom=bottom))


def _ground(
    panel: Panel, count: int, step: float, reference: float | None, *, beside: bool
) -> None:
    """Lines at the ticks, and at the reference; not through words."""
    lines = [(value, "grid") for value, _ in panel.x.ticks(panel.width, most=6)]
    if reference is not None:
        lines.append((reference, "reference"))
    for value, css in lines:
        at = float(panel.across(value))
        if beside:
            panel.picture.add("path", css, d=f"M{at:.1f} {panel.top:.1f}v{panel.height:.1f}")
            continue
        for i in range(count):
            top = panel.top + step * (i + 1) - _ROW + 4
            panel.picture.add("path", css, d=f"M{at:.1f} {top:.1f}v{_ROW - 6:.1f}")


def _row(panel: Panel, row: ForestRow, middle: float) -> None:
    picture = panel.picture
    if row.null_mean is not None and row.null_high is not None:
        start, mean, end = (float(v) for v in panel.across([0.0, row.null_mean, row.null_high]))
        picture.add("rect", "null", x=start, y=middle - 8, width=end - start, height=16.0)
        picture.add("path", "axis", d=f"M{mean:.1f} {middle - 8:.1f}v16")
    at = float(panel.across(row.estimate))
    with picture.group(_LOOKS[row.kind]):
        if row.low is not None and row.high is not None:
            low, high = (float(v) for v in panel.across([row.low, row.high]))
            ends = f"M{low:.1f} {middle - 4:.1f}v8M{high:.1f} {middle - 4:.1f}v8"
            line = f"M{low:.1f} {middle:.1f}H{high:.1f}"
            picture.add("path", "whisker", d=line + ends)
        dot = "dot hollow" if row.kind == "part" else "dot"
        picture.add("circle", dot, cx=at, cy=middle, r=5.0)
        picture.add("circle", "touch", tip=row.tip, cx=at, cy=middle, r=12.0)


def error_row(
    name: str, error: MeasuredError, *, note: str | None = None, other: bool = False
) -> ForestRow:
    """One error by name; its p-value is its note if no other one is given."""
    if note is None:
        note = "" if error.pvalue is None else say_pvalue(error.pvalue, error.n_resamples)
    return ForestRow(
        name=name,
        estimate=error.value,
        low=error.low,
        high=error.high,
        null_mean=error.null_mean,
        null_high=error.null_q95,
        note=note,
        kind="other" if other else "main",
    )


def errors(
    errors: Sequence[MeasuredError],
    *,
    width: float = 640,
    title: str = "Calibration errors",
    description: str = "",
) -> Picture:
    """Calibration errors against what a calibrated model would show."""
    rows = [error_row(each.name, each) for each in errors]
    return forest(rows, ERROR_AXIS, width=width, title=title, description=description)


ERROR_AXIS = "calibration error; grey: a calibrated model, 95 % of draws"


def evidence(
    evidence: Evidence,
    *,
    width: float = 640,
    title: str = "Calibrators on held-out rows",
    description: str = "",
) -> Picture:
    """What each calibrator gains in log loss over leaving the predictions alone, best first."""
    return forest(
        evidence_rows(evidence),
        f"log loss {MINUS} that of the predictions as they are; left of 0 is better",
        width=width,
        reference=0.0,
        title=title,
        description=description,
    )


def evidence_rows(evidence: Evidence) -> list[ForestRow]:
    """Candidates that were tried, best first; the result and its parts are in colour."""
    tried = [c for c in evidence.candidates if c.difference is not None]
    last = evidence.candidates[-1]
    return [
        ForestRow(
            name=c.candidate,
            estimate=c.difference or 0.0,
            low=c.low,
            high=c.high,
            note="result" if c is last else f"part, {100 * c.weight:.0f} %" if c.chosen else "",
            kind="main" if c is last else "part" if c.chosen else "other",
        )
        for c in sorted(tried, key=lambda c: c.difference or 0.0)
    ]


def comparison(
    comparison: Comparison,
    *,
    figure: str = "brier",
    width: float = 640,
    title: str = "",
    description: str = "",
) -> Picture:
    """Paired differences of one figure between models on the same rows."""
    return forest(
        comparison_rows(comparison, figure),
        f"difference in {figure}; left of 0 the first is better",
        width=width,
        reference=0.0,
        title=title or f"Paired differences in {figure}",
        description=description,
    )


def comparison_rows(comparison: Comparison, figure: str) -> list[ForestRow]:
    """One row a pair; in colour where the p-value, corrected for their number, is small."""
    sure = 1 - comparison.confidence_level
    pairs = [d for d in comparison.differences if d.difference.estimator == figure]
    return [
        ForestRow(
            name=f"{d.first} {MINUS} {d.second}",
            estimate=d.difference.estimate,
            low=d.difference.low,
            high=d.difference.high,
            note=say_pvalue(d.adjusted),
            kind="main" if d.adjusted <= sure else "other",
        )
        for d in pairs[:MOST]
    ]
