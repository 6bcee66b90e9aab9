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
        yield Table.of(
            f"Tests of calibration at level {tests.level:g}",
            list(zip(tests.tests, tests.adjusted, strict=True)),
            {
                "test": lambda pair: pair[0].method,
                "statistic": lambda pair: format_statistic(pair[0].statistic),
                "df": lambda pair: "" if pair[0].df is None else f"{pair[0].df:g}",
                "p": lambda pair: pvalue(pair[0].pvalue),
                "p (Holm)": lambda pair: pvalue(pair[1]),
                "definition": lambda pair: f"{pair[0].lens}: {pair[0].definition}",
            },
        )
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
    yield Table.of(
        "Evidence for calibration within a margin",
        m.equivalence,
        {
            "margin": lambda t: f"{t.delta:g}",
            "calibrated within it": lambda t: "shown" if t.equivalent else "not shown",
            "p": lambda t: pvalue(t.pvalue),
        },
    )


def families_blocks(m: ModelFindings, index: int) -> Iterator[Block]:
    """Classes and groups, worst first."""
    if m.classes:
        yield Paragraph(
            "Each class against the rest, the strongest evidence of miscalibration first; p-values"
            " are corrected for the number of classes.",
            "read",
        )
        yield Table.of(
            f"{len(m.classes):,} classes, worst first",
            m.classes,
            {
                "class": lambda c: short(c.label, _LONG),
                "observed": lambda c: number(c.observed),
                "predicted": lambda c: number(c.predicted),
                "difference": lambda c: signed(c.observed - c.predicted),
                "AUC": lambda c: number(c.auc),
                "ECE": lambda c: number(c.error),
                "p": lambda c: pvalue(c.pvalue),
                "p (corrected)": lambda c: pvalue(c.adjusted),
            },
            most=_MOST_ROWS,
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
    yield Table.of(
        f"{len(m.groups):,} groups, worst first",
        m.groups,
        {
            "group": lambda g: short(g.label, _LONG),
            "rows": lambda g: f"{g.n_samples:,}",
            "observed": lambda g: number(g.observed),
            "predicted": lambda g: number(g.predicted),
            "AUC": lambda g: number(g.auc),
            m.evaluation.default.name: lambda g: number(g.error),
            "interval": lambda g: limits(g.low, g.high),
            "null 95 %": lambda g: number(g.null_q95),
            "p": lambda g: pvalue(g.pvalue),
            "p (corrected)": lambda g: pvalue(g.adjusted),
        },
        most=_MOST_ROWS,
    )
    yield Figure(
        f"groups-{index}",
        lambda: groups_chart(_group_errors(m), test=m.group_test),
        "Error of each group with its interval; groups in colour stand out after correction for"
        " their number.",
    )
    if m.group_note:
        yield Paragraph(sentence(m.group_note), "note")


def _group_errors(m: ModelFindings) -> dict[str, MeasuredError]:
    same = ("n_samples", "low", "high", "null_mean", "null_q95", "pvalue")
    return {
        g.label: replace(
            m.evaluation.default, value=g.error, **{name: getattr(g, name) for name in same}
        )
        for g in m.groups
    }
