"""An evaluation in words: text for the terminal, HTML for the notebook."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from veridical.results._cox import Coefficient
from veridical.results._figures import MeasuredError
from veridical.results._test import format_pvalue

if TYPE_CHECKING:
    from veridical.results._evaluation import Evaluation

_MOST_CLASSES = 6  # base rates beyond these are summarised


def evaluation_text(e: Evaluation) -> str:
    """Compact, readable table."""
    lines = [headline(e), ""]
    if e.verdict:
        lines += [*textwrap.wrap(e.verdict, 98, initial_indent="  ", subsequent_indent="  "), ""]
    lines += [f"  {name:<26}{value}" for name, value in _overview(e)]
    lines += ["", f"  {'score':<12}{'value':>8}      parts"]
    lines += [f"  {name:<12}{value:>8}      {parts}" for name, value, parts in _scores(e)]
    lines += [
        "",
        f"  {'calibration error':<20}{'value':>8}  {'interval':>16}"
        f"  {'null':>7}  95 % up to  {'p':>7}  definition",
    ]
    lines += [
        f"  {m.name:<20}{m.value:>8.4f}  {_range(m.low, m.high):>16}"
        f"  {_or_blank(m.null_mean):>7}  {_or_blank(m.null_q95):>10}  {_pvalue(m):>7}"
        f"  {m.lens}: {m.definition}"
        for m in e.errors
    ]
    lines += ["", f"  reliability ({e.curve.lens}: {e.curve.definition})"]
    lines += ["  " + line for line in e.curve.table()]
    if e.notes:
        lines += ["", *(f"  note: {note}" for note in e.notes)]
    if e.groups:
        lines += [
            "",
            f"  {'group':<24}{'rows':>9}" + "".join(f"{c:>14}" for c in _group_columns(e)),
        ]
        for key, group in e.groups:
            cells = "".join(f"{value:>14.4f}" for value in _group_values(group))
            lines.append(f"  {str(key)[:23]:<24}{group.n_samples:>9,}{cells}")
    return "\n".join(lines)


def evaluation_html(e: Evaluation) -> str:
    """Plain tables without scripts or outside resources; everything escaped."""
    parts = [f"<p><strong>{escape(headline(e))}</strong></p>"]
    if e.verdict:
        parts.append(f"<p>{escape(e.verdict)}</p>")
    parts.append(html_table(["figure", "value"], _overview(e)))
    parts.append(html_table(["score", "value", "parts"], _scores(e)))
    errors = [
        (
            m.name,
            f"{m.value:.4f}",
            _range(m.low, m.high),
            _or_blank(m.null_mean),
            _or_blank(m.null_q95),
            _pvalue(m),
            f"{m.lens}: {m.definition}",
        )
        for m in e.errors
    ]
    header = ["calibration error", "value", "interval", "null", "95 % up to", "p", "definition"]
    parts.append(html_table(header, errors))
    c = e.curve
    bins = []
    for i in range(len(c)):
        limits = ""
        if c.low is not None and c.high is not None:
            limits = f"{c.low[i]:.3f} to {c.high[i]:.3f}"
        row = (f"{c.lower[i]:.3f} to {c.upper[i]:.3f}", f"{c.count[i]:,.10g}")
        means = (f"{c.predicted[i]:.4f}", f"{c.observed[i]:.4f}", f"{c.gap[i]:+.4f}")
        bins.append((*row, *means, limits))
    interval = "" if c.interval is None else f"{c.confidence_level:.0%} {c.interval}"
    parts.append(
        f"<p>reliability ({escape(c.lens)}: {escape(c.definition)})</p>"
        + html_table(["bin", "rows", "predicted", "observed", "gap", interval], bins)
    )
    if e.notes:
        parts.append("<ul>" + "".join(f"<li>{escape(note)}</li>" for note in e.notes) + "</ul>")
    if e.groups:
        rows = [
            (str(key), f"{g.n_samples:,}", *(f"{value:.4f}" for value in _group_values(g)))
            for key, g in e.groups
        ]
        parts.append(html_table(["group", "rows", *_group_columns(e)], rows))
    return "<div>" + "".join(parts) + "</div>"


def headline(e: Evaluation) -> str:
    """Return one line: what was evaluated."""
    weighted = "" if e.sum_weight == e.n_samples else f", sum of weights {e.sum_weight:.6g}"
    if len(e.classes) == 2:
        what = f"positive class {e.classes[1]!r}"
    else:
        what = f"{len(e.classes)} classes"
    return f"Evaluation of {e.n_samples:,} rows, {what}, {e.lens} lens{weighted}"


def _overview(e: Evaluation) -> list[tuple[str, str]]:
    if len(e.classes) == 2:
        rates = f"{e.base_rate[1]:.4f}"
    else:
        pairs = zip(e.classes[:_MOST_CLASSES], e.base_rate[:_MOST_CLASSES], strict=True)
        rates = ", ".join(f"{label}: {rate:.3f}" for label, rate in pairs)
        rates += ", ..." if len(e.classes) > _MOST_CLASSES else ""
    auc = "undefined (a class did not occur)" if e.auc is None else f"{e.auc:.4f}"
    if e.auc is not None and len(e.classes) > 2:
        auc += " (mean of one-vs-rest)"
    lines = [
        (f"recalibration {name}", _coefficient(value))
        for name, value in (("slope", e.slope), ("intercept", e.intercept))
        if value is not None
    ]
    ratio = "" if e.observed_expected is None else f", ratio {e.observed_expected:.4f}"
    return [
        ("base rate", rates),
        ("accuracy", f"{e.accuracy:.4f}"),
        ("AUC", auc),
        (
            "calibration in the large",
            f"{e.calibration_in_the_large:+.4f} (observed {e.mean_observed:.4f},"
            f" predicted {e.mean_predicted:.4f}{ratio})",
        ),
        *lines,
    ]


def _scores(e: Evaluation) -> list[tuple[str, str, str]]:
    parts = {}
    for d in e.decompositions:
        text = f"{d.miscalibration:z.4f} miscalibration - {d.discrimination:z.4f} discrimination"
        text += f" + {d.uncertainty:.4f} uncertainty ({d.definition})"
        whole = len(e.classes) == 2 and d.lens == "binary"
        parts[d.rule] = text if whole else f"{d.lens} lens: {d.score:.4f} = {text}"
    return [(name, f"{value:.4f}", parts.get(name, "")) for name, value in e.scores.items()]


def _or_blank(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def _range(low: float | None, high: float | None) -> str:
    return "" if low is None else f"{low:.4f} to {high:.4f}"


def _pvalue(m: MeasuredError) -> str:
    return "" if m.pvalue is None else format_pvalue(m.pvalue)


def _coefficient(value: Coefficient) -> str:
    shown = "unknown" if value.estimate is None else f"{value.estimate:.4f}"
    return f"{shown} ({value.low:.4f} to {value.high:.4f})"


def _group_columns(e: Evaluation) -> list[str]:
    return ["observed", "brier", "log", e.errors[0].name, "in the large"]


def _group_values(e: Evaluation) -> list[float]:
    first = e.errors[0].value
    large = e.calibration_in_the_large
    return [e.mean_observed, e.scores["brier"], e.scores["log"], first, large]


def html_table(header: list[str], rows: Sequence[tuple[str, ...]]) -> str:
    """Table of escaped cells."""
    head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
