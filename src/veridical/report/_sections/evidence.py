"""Sections on evidence: tests, equivalence, classes and groups."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from veridical.report._charts.catalogue import classwise_chart, groups_chart
from veridical.report._content.content import ModelFindings, short
from veridical.report._page.blocks import (
    Block,
    Figure,
    Paragraph,
    Table,
    level_words,
    limits,
    number,
    pvalue,
    sentence,
    signed,
)
from veridical.results import MeasuredError, ReliabilityCurve
from veridical.results.base import format_statistic

_MOST_ROWS = 20  # of a table of classes or groups
_LONG = 200  # characters of a name


def evidence_blocks(m: ModelFindings, index: int) -> Iterator[Block]:
    """Is the error more than noise, and is it small enough?"""
    yield Paragraph(
        "A small p-value says that outcomes do not look like draws from the predictions. The"
        " tests look for different deviations; Holm's correction keeps the chance that any of"
        " them rejects a calibrated model at the level. Not to reject is no proof of"
        " calibration: that is what the second table is for.",
        "read",
    )
    tests = m.tests
    if tests is None:
        yield Paragraph("No test could be made of these rows.", "note")
    else:
        yield Paragraph(tests.verdict)
        rows = tuple(
            (
                t.method,
                format_statistic(t.statistic),
                "" if t.df is None else f"{t.df:g}",
                pvalue(t.pvalue),
                pvalue(adjusted),
                f"{t.lens}: {t.definition}",
            )
            for t, adjusted in zip(tests.tests, tests.adjusted, strict=True)
        )
        header = ("test", "statistic", "df", "p", "p (Holm)", "definition")
        yield Table(f"Tests of calibration at level {tests.level:g}", header, rows)
    yield from _equivalence(m)


def _equivalence(m: ModelFindings) -> Iterator[Block]:
    if not m.equivalence:
        yield Paragraph("Equivalence could not be tested with these bins.", "note")
        return
    first = m.equivalence[0]
    yield Paragraph(
        f"With {level_words(1 - first.level)} confidence the calibration error"
        f" ({first.definition}; {first.lens} lens) is at most {number(first.upper)}. A margin is"
        " shown where it is above that limit."
    )
    rows = tuple(
        (f"{t.delta:g}", "shown" if t.equivalent else "not shown", pvalue(t.pvalue))
        for t in m.equivalence
    )
    header = ("margin", "calibrated within it", "p")
    yield Table("Evidence for calibration within a margin", header, rows)


def families_blocks(m: ModelFindings, index: int) -> Iterator[Block]:
    """Classes and groups, worst first."""
    if m.classes:
        yield Paragraph(
            "Each class against the rest, the strongest evidence of miscalibration first; p-values"
            " are corrected for the number of classes.",
            "read",
        )
        yield Table(
            f"{len(m.classes):,} classes, worst first",
            ("class", "observed", "predicted", "difference", "AUC", "ECE", "p", "p (corrected)"),
            tuple(
                (
                    short(c.label, _LONG),
                    number(c.observed),
                    number(c.predicted),
                    signed(c.observed - c.predicted),
                    number(c.auc),
                    number(c.error),
                    pvalue(c.pvalue),
                    pvalue(c.adjusted),
                )
                for c in m.classes[:_MOST_ROWS]
            ),
            more=max(0, len(m.classes) - _MOST_ROWS),
        )
        curves = _class_curves(m)
        if curves:
            yield Figure(
                f"classes-{index}",
                lambda: classwise_chart(curves),
                "One reliability diagram a class, worst first: a calibrated class lies on the"
                " diagonal.",
            )
        if m.class_note:
            yield Paragraph(sentence(m.class_note), "note")
    if m.groups:
        yield from _groups(m, index)
    elif not m.classes:
        yield Paragraph(
            "There are two classes, which mirror each other, and no groups were given: name a"
            " column with `by` to see subgroups.",
            "note",
        )


def _class_curves(m: ModelFindings) -> dict[str, ReliabilityCurve]:
    """Curves of the usual bins, in the order of the table."""
    usual = m.variants[0].bins if m.variants else ""
    found = {
        v.label: v.curve
        for v in m.variants
        if v.lens.startswith("one class") and v.method == "bins" and v.bins == usual
    }
    order = [short(c.label) for c in m.classes]
    return dict(sorted(found.items(), key=lambda pair: _place(order, pair[0])))


def _place(order: list[str], label: str) -> int:
    return order.index(label) if label in order else len(order)


def _groups(m: ModelFindings, index: int) -> Iterator[Block]:
    yield Paragraph(
        "Each subgroup by itself, the strongest evidence of miscalibration first; p-values are"
        " corrected for the number of groups. A small group has a large error by chance: read p"
        " before the error.",
        "read",
    )
    rows = tuple(
        (
            short(g.label, _LONG),
            f"{g.n_samples:,}",
            number(g.observed),
            number(g.predicted),
            number(g.auc),
            number(g.error),
            limits(g.low, g.high),
            number(g.null_q95),
            pvalue(g.pvalue),
            pvalue(g.adjusted),
        )
        for g in m.groups[:_MOST_ROWS]
    )
    header = (
        "group",
        "rows",
        "observed",
        "predicted",
        "AUC",
        m.evaluation.default.name,
        "interval",
        "null 95 %",
        "p",
        "p (corrected)",
    )
    more = max(0, len(m.groups) - _MOST_ROWS)
    yield Table(f"{len(m.groups):,} groups, worst first", header, rows, more=more)
    yield Figure(
        f"groups-{index}",
        lambda: groups_chart(_group_errors(m), test=m.group_test),
        "Error of each group with its interval; groups in colour stand out after correction for"
        " their number.",
    )
    if m.group_note:
        yield Paragraph(sentence(m.group_note), "note")


def _group_errors(m: ModelFindings) -> dict[str, MeasuredError]:
    error = m.evaluation.default
    return {
        g.label: replace(
            error,
            value=g.error,
            n_samples=g.n_samples,
            low=g.low,
            high=g.high,
            null_mean=g.null_mean,
            null_q95=g.null_q95,
            pvalue=g.pvalue,
        )
        for g in m.groups
    }
