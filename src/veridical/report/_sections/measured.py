"""Sections on what was measured: how sure, where, what miscalibration costs a score, tests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from veridical.report._charts.catalogue import (
    Chart,
    classwise_chart,
    decomposition_chart,
    errors_chart,
    groups_chart,
    simplex_chart,
    switchable_reliability,
)
from veridical.report._content.content import ModelFindings, short
from veridical.report._page.blocks import (
    Block,
    Columns,
    Figure,
    Paragraph,
    Table,
    coefficient,
    level_words,
    limits,
    number,
    pvalue,
    sentence,
    signed,
)
from veridical.results import (
    Decomposition,
    EquivalenceTest,
    Evaluation,
    JointPart,
    MeasuredError,
    ReliabilityCurve,
    ReliabilityDisplay,
    TestReport,
)
from veridical.results.base import format_pvalue, format_statistic, say_pvalue
from veridical.summaries import VectorSummary

_SHOWN = 20  # rows of a table of classes or groups that are seen at once
_LONG = 200  # characters of a name
_SCORE_NAMES = {
    "brier": "Brier score",
    "log": "log loss",
    "spherical": "spherical score",
    "zero-one": "error rate",
}


def sure_blocks(m: ModelFindings, index: int) -> Iterator[Block]:
    """Every figure with its limits, errors with what chance alone would show."""
    e = m.evaluation
    yield Table(
        f"Figures and {level_words(e.confidence_level)} intervals ({e.verdict.about})",
        ("figure", "value and interval", "how to read it"),
        tuple(_figures(m)),
    )
    yield from _errors(m, index)


def sure_answer(m: ModelFindings) -> str:
    """The error that speaks for the lens, with its interval and what chance shows."""
    error = m.evaluation.default
    text = f"{error_name(m)} {number(error.value)}"
    if error.low is not None:
        text += f", {level_words(m.evaluation.confidence_level)} interval"
        text += f" {limits(error.low, error.high)}"
    if error.null_q95 is not None:
        text += f"; calibrated models stay below {number(error.null_q95)}"
    return f"{text}."


def error_name(m: ModelFindings) -> str:
    """Name of the error that speaks for the lens; of several classes it says of what it is."""
    error = m.evaluation.default
    return error.name if error.lens == "binary" else f"{error.name} ({error.lens})"


def _figures(m: ModelFindings) -> Iterator[tuple[str, str, str]]:
    e = m.evaluation
    several = len(e.classes) > 2
    part = f" ({e.curve.lens} lens)" if several else ""
    whole = ", whole prediction" if several else ""
    for rule, value in e.scores.items():
        if rule != "zero-one":
            summed = "; summed over classes, 0 to 2" if several and rule == "brier" else ""
            name = f"{_SCORE_NAMES[rule]}{whole}"
            yield name, _figure(e, rule, value), f"mean score: smaller is better{summed}"
    right = "share of rows whose most probable class occurred"
    yield "accuracy", _figure(e, "accuracy", e.accuracy), right
    yield "AUC", _figure(e, "AUC", e.auc), _auc_words(e)
    spread = "1 if calibrated; below 1 over-confident (too extreme), above 1 under-confident"
    yield f"recalibration slope{part}", coefficient(e.slope), spread
    level = "0 if calibrated; below 0 predictions are too high"
    yield f"recalibration intercept{part}", coefficient(e.intercept), level
    yield (
        f"observed minus predicted{part}",
        signed(e.calibration_in_the_large) + _interval(e, "calibration in the large"),
        f"{number(e.mean_observed)} observed, {number(e.mean_predicted)} predicted on average",
    )
    expected = _figure(e, "observed/expected", e.observed_expected)
    yield f"observed / expected{part}", expected, "1 if predictions are right on average"


def _figure(e: Evaluation, name: str, value: float | None) -> str:
    """A figure with its interval in brackets, if it has one."""
    return number(value) + _interval(e, name)


def _interval(e: Evaluation, name: str) -> str:
    return f" ({limits(*e.limits[name])})" if name in e.limits else ""


def score_blocks(m: ModelFindings, index: int) -> Iterator[Block]:
    """What miscalibration costs in scores: what recalibration can mend, and what it cannot."""
    e = m.evaluation
    yield Paragraph(
        "Discrimination: are different cases told apart? No recalibration adds to it. Calibration:"
        " does a stated probability come true as often as it says? That can be mended. Score ="
        " miscalibration - discrimination + uncertainty, the last being the score of always saying"
        " the base rate.",
        "read",
    )
    parts = [d for d in e.decompositions if 0 < d.score < float("inf")]
    columns = []
    for d in parts:
        figure = Figure(f"decomposition-{d.rule}-{index}", partial(_parts_chart, d))
        mended = e.verdict.kind != "reversed"  # no recalibration mends that
        columns.append((figure, Paragraph(_balance(d))) if mended else (figure,))
    yield Columns(tuple(columns))
    yield Table.of(
        f"Parts of the score ({level_words(e.confidence_level)} intervals)",
        e.decompositions,
        {
            "score": lambda d: f"{_SCORE_NAMES[d.rule]} ({d.lens} lens)",
            "value": lambda d: number(d.score),
            "miscalibration": lambda d: _part(e, d, "miscalibration"),
            "discrimination": lambda d: _part(e, d, "discrimination"),
            "uncertainty": lambda d: number(d.uncertainty),
            "how": lambda d: d.definition,
        },
    )


def _parts_chart(d: Decomposition) -> Chart:
    name = _SCORE_NAMES[d.rule]
    title = f"{name[:1].upper()}{name[1:]} ({d.lens} lens) and its parts"
    return decomposition_chart(d, title=title)


def _auc_words(e: Evaluation) -> str:
    if e.auc is None:
        return "undefined: a class did not occur"
    return "mean of every class against the rest" if len(e.classes) > 2 else "0.5 by chance"


def _balance(d: Decomposition) -> str:
    """Share of a score that recalibration could save."""
    part = 100 * d.miscalibration / d.score
    return (
        f"Of the {_SCORE_NAMES[d.rule]} {number(d.score)} ({d.lens} lens), {part:.0f} %"
        f" ({number(d.miscalibration)}) is miscalibration, which recalibration could save at most;"
        f" the remaining {number(d.refinement)} is what the predictions cannot tell apart."
    )


def _part(e: Evaluation, d: Decomposition, name: str) -> str:
    return _figure(e, f"{d.rule} {name}", getattr(d, name))


def _errors(m: ModelFindings, index: int) -> Iterator[Block]:
    """Calibration errors, each with what chance alone would show."""
    e = m.evaluation
    yield Paragraph(
        "A calibrated model shows an error above zero, too, in a finite sample. Compare each value"
        " with its null level, what a calibrated model with these same predictions would read; p"
        " is the probability of as much or more.",
        "read",
    )
    figure = Figure(
        f"errors-{index}",
        lambda: errors_chart(e),
        "Each error with its interval; the grey bar is what 95 % of calibrated models stay below.",
    )
    yield Columns(((figure,), tuple(_equivalence(m))))
    yield Table.of(
        "Calibration errors",
        e.errors,
        {
            "error": lambda error: error.name,
            "value": lambda error: number(error.value),
            f"{level_words(e.confidence_level)} interval": lambda x: limits(x.low, x.high),
            "null mean": lambda error: number(error.null_mean),
            "null 95 %": lambda error: number(error.null_q95),
            "p": lambda error: pvalue(error.pvalue),
            "definition": lambda error: f"{error.lens}: {error.definition}",
        },
    )


def where_blocks(m: ModelFindings, index: int) -> Iterator[Block]:
    """By classes, by groups and by ranges of predictions."""
    yield from _families(m, index)
    yield Columns(tuple((each,) for each in _diagrams(m, index)))


def _diagrams(m: ModelFindings, index: int) -> Iterator[Block]:
    if m.groups:
        yield Figure(
            f"groups-{index}",
            lambda: groups_chart(_group_errors(m), adjusted=_adjusted(m), level=_level(m)),
            "Error of each group with its interval; groups in colour stand out in the joint test.",
        )
    yield from _reliability(m, index)
    yield from _simplex(m, index)


def where_answer(m: ModelFindings) -> str:
    """What stands out in the joint test among classes and groups."""
    joint = m.evaluation.verdict.joint
    found = []
    for kind, plural in (("group", "groups"), ("class", "classes")):
        parts = [] if joint is None else [part for part in joint.parts if part.name == kind]
        if parts:
            n = sum(part.adjusted <= joint.level for part in parts)  # type: ignore[union-attr]
            found.append(f"{n if n else 'none'} of {len(parts):,} {plural} stand out")
    if found:
        return sentence("; ".join(found))
    return "By ranges of predictions, with other bins, methods and lenses."


def _reliability(m: ModelFindings, index: int) -> Iterator[Block]:
    """Observed frequency against prediction, with choices."""
    if not m.variants:
        return
    yield Figure(
        f"reliability-{index}",
        lambda: _switchable(m),
        "Of all rows where the model said x, which share came true? Points below the diagonal are"
        " over-prediction, above it under-prediction. The lists switch lens, class, method and"
        " bins; isotonic and smooth curves are drawn with at most 200 points.",
    )


def _switchable(m: ModelFindings) -> Chart:
    curves: dict[tuple[str, ...], ReliabilityCurve]
    curves = {(v.lens, v.label, v.method, v.bins): v.curve for v in m.variants}
    return switchable_reliability(curves, names=("lens", "class", "method", "bins"))


def _simplex(m: ModelFindings, index: int) -> Iterator[Block]:
    """Predictions of three classes in a triangle."""
    if m.simplex is None:
        return
    summary = VectorSummary.from_dict(m.simplex)
    yield Figure(
        f"simplex-{index}",
        lambda: simplex_chart(summary),
        "Every corner is a class, every dot the mean prediction of a cell of the triangle, every"
        " arrow leads to what was observed there. A calibrated model has short arrows in no"
        " common direction; small dots have few rows and long arrows by chance.",
    )


def test_blocks(m: ModelFindings, index: int) -> Iterator[Block]:
    """Is the error more than noise, and is it small enough?"""
    yield Paragraph(
        "A small p-value says that outcomes do not look like draws from the predictions. The"
        " verdict is that of one joint test of all parts below, which holds its level; single"
        " tests are looked at one by one, with Holm's correction for their number, and do not"
        " decide. Not to reject is no proof of calibration: see the margins under how sure it is.",
        "read",
    )
    tests = m.tests
    if tests is None:
        yield Paragraph("No test could be made of these rows.", "note")
    else:
        yield from _joint_parts(tests)
        yield Table.of(
            f"Single tests, looked at one by one, at level {tests.level:g}",
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


def test_answer(m: ModelFindings) -> str:
    """The joint test, and how many single ones reject."""
    joint = m.evaluation.verdict.joint
    if m.tests is None or joint is None:
        return "No test could be made of these rows."
    rejected = sum(p <= m.tests.level for p in m.tests.adjusted)
    return (
        f"Joint test {say_pvalue(joint.pvalue, joint.n_resamples)}; {rejected} of"
        f" {len(m.tests.tests)} single tests reject at level {m.tests.level:g} (Holm)."
    )


def _joint_parts(tests: TestReport) -> Iterator[Block]:
    joint = tests.verdict.joint
    if joint is None:
        return
    yield Table.of(
        f"Parts of the joint test at level {joint.level:g}:"
        f" {say_pvalue(joint.pvalue, joint.n_resamples)}",
        sorted(joint.parts, key=lambda part: (part.adjusted, part.pvalue)),
        {
            "part": lambda part: _part_name(part),
            "lens": lambda part: part.lens,
            "rows": lambda part: f"{part.n_samples:,}",
            "p": lambda part: format_pvalue(part.pvalue, joint.n_resamples),
            "p (adjusted)": lambda part: format_pvalue(part.adjusted, joint.n_resamples),
            "stands out": lambda part: "yes" if part.adjusted <= joint.level else "no",
        },
        shown=_SHOWN,
    )


def _part_name(part: JointPart) -> str:
    return part.name if part.label is None else f"{part.name} {short(part.label)}"


def _equivalence(m: ModelFindings) -> Iterator[Block]:
    if not m.equivalence:
        yield Paragraph("Equivalence could not be tested with these bins.", "note")
        return
    first = m.equivalence[0]
    yield Paragraph(
        f"With {level_words(1 - first.level)} confidence the calibration error"
        f" ({first.definition}; {first.lens} lens) is at most {number(first.upper)}. A margin is"
        " shown where it is above that limit; one of the base rate"
        f" ({number(first.base_rate)}, of the rarer outcome) or more says nothing, for a constant"
        f" forecast of {1 - first.rarer} is within it."
    )
    yield Table.of(
        "Evidence for calibration within a margin",
        m.equivalence,
        {
            "margin": lambda t: t.margin,
            "calibrated within it": _shown,
            "p": lambda t: pvalue(t.pvalue),
        },
    )


def _shown(test: EquivalenceTest) -> str:
    word = "shown" if test.equivalent else "not shown"
    return f"{word}; says nothing here" if test.says_nothing else word


def _families(m: ModelFindings, index: int) -> Iterator[Block]:
    """Classes and groups, worst first."""
    if m.classes:
        yield Paragraph(
            "Each class against the rest, the strongest evidence of miscalibration first; p-values"
            " are those of the joint test, adjusted for all that it looks at.",
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
                "p (adjusted)": lambda c: pvalue(c.adjusted),
            },
            shown=_SHOWN,
        )
        drawn = class_displays(m)
        if drawn:
            yield Figure(f"classes-{index}", lambda: classwise_chart(drawn))
    if m.groups:
        yield from _groups(m, index)
    elif not m.classes:
        yield Paragraph(
            "There are two classes, which mirror each other, and no groups were given: name a"
            " column with `by` to see subgroups.",
            "note",
        )


def class_displays(m: ModelFindings, most: int | None = None) -> dict[str, ReliabilityDisplay]:
    """Diagrams of classes against the rest, worst first; labels that look alike are numbered."""
    found: dict[str, ReliabilityDisplay] = {}
    for c in m.classes[:most]:
        if c.display is not None:
            name = short(c.label)
            found[f"{name} ({len(found) + 1})" if name in found else name] = c.display
    return found


def _groups(m: ModelFindings, index: int) -> Iterator[Block]:
    yield Paragraph(
        "Each subgroup by itself, the strongest evidence of miscalibration first; p-values are"
        " those of the joint test, adjusted for all that it looks at. A small group has a large"
        " error by chance: read p before the error.",
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
            "p (adjusted)": lambda g: pvalue(g.adjusted),
        },
        shown=_SHOWN,
    )
    if m.group_note:
        yield Paragraph(sentence(m.group_note), "note")


def _level(m: ModelFindings) -> float:
    joint = m.evaluation.verdict.joint
    return 0.05 if joint is None else joint.level


def _adjusted(m: ModelFindings) -> dict[str, float]:
    return {g.label: g.adjusted for g in m.groups if g.adjusted is not None}


def _group_errors(m: ModelFindings) -> dict[str, MeasuredError]:
    same = ("n_samples", "low", "high", "null_mean", "null_q95", "pvalue")
    return {
        g.label: replace(
            m.evaluation.default, value=g.error, **{name: getattr(g, name) for name in same}
        )
        for g in m.groups
    }
