"""Blocks of a notebook with a picture: first what was found, then the numbers, folded.

Words and numbers are those of `str`, tables those of the classes, pictures those of
`results.pictures`. Imported when a notebook asks a result for its form.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from veridical.results import pictures
from veridical.results._forms.html import (
    html_block,
    html_fold,
    html_headline,
    html_list,
    html_table,
    html_text,
)
from veridical.results._pictures.forest import ForestRow
from veridical.results._pictures.parts import null_strip
from veridical.results.base import (
    CalibrationTest,
    Difference,
    Interval,
    NullLevel,
    Result,
    say_pvalue,
)
from veridical.results.comparison import Comparison
from veridical.results.curves import ReliabilityCurve, ReliabilityDisplay, limits_text
from veridical.results.decision_curves import CostCurve, DecisionCurve
from veridical.results.evaluation import Evaluation
from veridical.results.figures import Coefficient, Decomposition
from veridical.results.monitoring import MonitorHistory
from veridical.results.pictures import Picture, TimePanel
from veridical.results.segments import SegmentAudit
from veridical.results.selection import Evidence
from veridical.results.tests import (
    ConsistencyTest,
    EquivalenceTest,
    MultipleTest,
    SequentialTest,
    TestReport,
)
from veridical.results.verdict import JointTest, Verdict

_WIDTH = 400.0  # pixels of a diagram, beside which there is room for figures
_WIDE = 560.0
_PAIRS = 520.0
_MOST_MODELS = 4  # in one diagram; more hide each other
_MOST_PAIRS = 12
_THRESHOLDS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9)


def block_of(result: Result) -> str | None:
    """The form of a result that has a picture; None of others."""
    for kind in type(result).__mro__:
        if kind in _BLOCKS:
            return _BLOCKS[kind](result)
    return None


def beside(left: str, right: str) -> str:
    """Two parts beside each other where there is room, else one below the other."""
    look = "display:flex;flex-wrap:wrap;gap:8px 32px;align-items:flex-start"
    grow = "flex:1 1 260px;max-width:{}px"
    second = f'<div style="{grow.format(int(_WIDE))}">{right}</div>' if right else ""
    return f'<div style="{look}"><div style="{grow.format(int(_WIDTH))}">{left}</div>{second}</div>'


def _svg(picture: Picture) -> str:
    return picture.to_svg(styled=False)  # the block has the style of all its pictures


def _sentence(verdict: Verdict) -> str:
    """The first sentence in bold, the rest after it."""
    rest = verdict.text.removeprefix(verdict.headline).strip()
    return f"<strong>{html_text(verdict.headline)}</strong> {html_text(rest)}"


def _figures(rows: list[tuple[str, str, str]]) -> str:
    """A few numbers that are read first: what, how much, and its interval or null level."""
    cells = "".join(
        f'<div style="margin:0 0 10px"><div>{html_text(name)}</div>'
        f'<div style="font-size:20px;font-weight:600">{html_text(value)}</div>'
        f"<div>{html_text(beneath)}</div></div>"
        for name, value, beneath in rows
    )
    return f"<div>{cells}</div>"


def _diagram(curve: ReliabilityCurve, display: ReliabilityDisplay | None) -> ReliabilityDisplay:
    """The diagram that was chosen for the rows, or the curve as it is."""
    if display is not None:
        return display
    choose: Any = importlib.import_module("veridical.curves.display")
    found = choose.display_of_curve(curve)
    assert isinstance(found, ReliabilityDisplay)
    return found


def _evaluation(e: Evaluation) -> str:
    display = _diagram(e.curve, e.display)
    title = e.verdict.headline or e._headline()
    diagram = _svg(pictures.reliability(display, width=_WIDTH, description=title))
    first = _sentence(e.verdict) if e.verdict.text else f"<strong>{e._headline()}</strong>"
    sections = [
        html_fold("Figures", html_table(("figure", "value"), e._overview())),
        html_fold("Scores and their parts", html_table(*e._score_table())),
        html_fold(
            f"{len(e.errors)} calibration errors, and what calibrated predictions would show",
            _svg(pictures.errors(e.errors, width=_WIDE)),
            html_table(*e._error_table()),
        ),
        html_fold(f"Bins: {e.curve.definition}", _bins(e.curve)),
    ]
    if e.groups:
        sections.insert(0, html_fold(f"{len(e.groups)} groups", html_table(*e._group_table())))
    if e.segments is not None:
        listed = html_list(each.in_words(e.segments.n_resamples) for each in e.segments.found)
        drawn = _svg(pictures.segments(e.segments, width=_WIDE))
        sections.insert(0, html_fold(e.segments.sentence, listed, drawn))
    about = f"<p>{html_text(e._headline())}. {html_text(display.reason.capitalize())}.</p>"
    return html_block(first, beside(diagram, _figures(_four(e)) + about), *sections, notes=e.notes)


def _four(e: Evaluation) -> list[tuple[str, str, str]]:
    """Log loss to be saved, the error against its null level, slope and AUC."""
    rows: list[tuple[str, str, str]] = []
    v, error = e.verdict, e.default
    if v.saving is not None:
        limits = ""
        if v.saving_low is not None and v.saving_high is not None:
            limits = f"{v.saving_low:.1%} to {v.saving_high:.1%}"
        rows.append(("log loss that recalibration would save", f"{v.saving:.1%}", limits))
    null = ""
    if error.null_mean is not None and error.null_q95 is not None:
        null = f"calibrated: {error.null_mean:.4f}, 95 % up to {error.null_q95:.4f}"
    rows.append((f"{error.name}, {error.lens} lens", f"{error.value:.4f}", null))
    if e.slope is not None and e.slope.estimate is not None:
        limits = f"{e.slope.low:.3g} to {e.slope.high:.3g}; 1 is right, below too extreme"
        rows.append(("recalibration slope", f"{e.slope.estimate:.3f}", limits))
    if e.auc is not None:
        low, high = e.limits.get("AUC", (math.nan, math.nan))
        limits = "" if math.isnan(low) else f"{low:.4f} to {high:.4f}"
        rows.append(("AUC", f"{e.auc:.4f}", limits))
    return rows


def _bins(c: ReliabilityCurve) -> str:
    step = max(1, -(-len(c) // 40))
    rows = [
        (
            f"{c.lower[i]:.4g} to {c.upper[i]:.4g}",
            f"{c.count[i]:,.10g}",
            f"{c.predicted[i]:.4f}",
            f"{c.observed[i]:.4f}",
            f"{c.gap[i]:+.4f}",
            limits_text(c, i),
        )
        for i in range(0, len(c), step)
    ]
    interval = "" if c.interval is None else f"{c.confidence_level:.0%} {c.interval}"
    return html_table(("bin", "rows", "predicted", "observed", "gap", interval), rows)


def _comparison(c: Comparison) -> str:
    order = sorted(range(len(c.models)), key=lambda i: c.evaluations[i].scores["log"])
    header, cells = c._model_table()
    rows = [(c.models[i], *cells[i], c.evaluations[i].verdict.in_short) for i in order]
    drawn = {c.models[i]: c.evaluations[i] for i in order[:_MOST_MODELS]}
    displays = _shared({name: _diagram(e.curve, e.display) for name, e in drawn.items()})
    diagram = _svg(pictures.reliability(displays, width=_WIDTH))
    right = _differences(c, c.models[order[0]])
    if len(drawn) < len(c.models):
        diagram = f"<p>Of {len(c.models)} models the first {len(drawn)}:</p>{diagram}"
    titles = ("models", *c._header)
    verdicts = [f"{model}: {e.verdict.text}" for model, e in c._pairs() if e.verdict.text]
    return html_headline(
        c._headline(),
        f"<p>{html_text(_best(c, c.models[order[0]]))}</p>",
        html_table(("model", *header, "verdict"), rows),
        beside(diagram, right),
        html_fold("Verdicts", html_list(verdicts)),
        html_fold("All paired differences", html_table(titles, c._difference_rows())),
        notes=c.notes,
    )


def _differences(c: Comparison, best: str) -> str:
    """Differences in the log score, of the best model to the others if pairs are many."""
    pairs = [d for d in c.differences if d.difference.estimator == "log"]
    if len(pairs) > _MOST_PAIRS:
        pairs = [d for d in pairs if best in (d.first, d.second)][:_MOST_PAIRS]
    if not pairs:
        return ""
    sure = 1 - c.confidence_level
    rows = [
        ForestRow(
            name=f"{d.first} - {d.second}",
            estimate=d.difference.estimate,
            low=d.difference.low,
            high=d.difference.high,
            note=say_pvalue(d.adjusted),
            kind="main" if d.adjusted <= sure else "other",
        )
        for d in pairs
    ]
    axis = "difference in the log score; left of 0 the first is better"
    title = "Paired differences in the log score"
    return _svg(pictures.forest(rows, axis, width=_PAIRS, reference=0.0, title=title))


def _best(c: Comparison, best: str) -> str:
    """Which model comes first, and which cannot be told apart from it."""
    sure = 1 - c.confidence_level
    others = {
        d.second if d.first == best else d.first: d.adjusted
        for d in c.differences
        if d.difference.estimator == "log" and best in (d.first, d.second)
    }
    alike = [name for name, pvalue in others.items() if pvalue > sure]
    text = f"Lowest log score: {best}."
    if len(others) < len(c.models) - 1:
        return text
    if not alike:
        return f"{text} Each of the others is worse beyond chance (Holm's correction)."
    return f"{text} Cannot be told apart from it by the log score: {', '.join(alike)}."


def _shared(displays: Mapping[str, ReliabilityDisplay]) -> dict[str, ReliabilityDisplay]:
    choose: Any = importlib.import_module("veridical.curves.display")
    found: dict[str, ReliabilityDisplay] = choose.shared_axes(displays)
    return found


def _curve(c: ReliabilityCurve) -> str:
    picture = pictures.reliability(_diagram(c, None), width=_WIDTH)
    return html_headline(c._headline(), _svg(picture), html_fold("Points", _bins(c)))


def _display(d: ReliabilityDisplay) -> str:
    picture = pictures.reliability(d, width=_WIDTH)
    return html_headline(d._headline(), _svg(picture), html_fold("Points", _bins(d.curve)))


def _decision_curve(c: DecisionCurve) -> str:
    at = [i for t in _THRESHOLDS for i in np.flatnonzero(np.isclose(c.threshold, t, atol=1e-9))[:1]]
    rows = [
        (
            f"{c.threshold[i]:.4g}",
            f"{c.net_benefit[i]:.4f}",
            f"{c.low[i]:.4f} to {c.high[i]:.4f}",
            f"{c.treat_all[i]:.4f}",
            f"{c.called[i]:.1%}",
        )
        for i in at
    ]
    header = ("threshold", "net benefit", "limits", "treat all", "acted on")
    picture = pictures.decision_curve(c, width=_WIDE)
    table = html_fold("Some thresholds", html_table(header, rows))
    first = html_text(str(c).partition("\n")[0])
    return html_block(first, _svg(picture), table, notes=c.notes)


def _cost_curve(c: CostCurve) -> str:
    return html_block(html_text(c), _svg(pictures.cost_curve(c, width=_WIDE)))


def _decomposition(d: Decomposition) -> str:
    return html_block(html_text(d), _svg(pictures.decomposition({d.rule: d}, width=_WIDE)))


def _evidence(e: Evidence) -> str:
    tried = [c for c in e.candidates if c.difference is not None]
    picture = _svg(pictures.evidence(e, width=_WIDE)) if len(tried) > 1 else ""
    table = html_fold("Candidates", html_table(e._header, e._rows()))
    words = f"<p>{html_text(e.verdict)}</p>"
    return html_headline(e._headline(), words, picture, table, notes=e.notes)


def _null(n: NullLevel) -> str:
    return html_block(html_text(n), _svg(null_strip(n, width=_WIDTH)))


def _consistency(t: ConsistencyTest) -> str:
    return html_block(html_text(t), _svg(null_strip(t, width=_WIDTH)), notes=t.notes)


def _pvalues(rows: list[tuple[str, float, str]], level: float, what: str) -> str:
    """P-values as points; those left of the line are rejected at `level`."""
    listed = [
        ForestRow(name=name, estimate=p, note=words, kind="main" if p <= level else "other")
        for name, p, words in sorted(rows, key=lambda row: row[1])[:20]
    ]
    axis = f"{what}; left of the line: at most {level:g}"
    return _svg(pictures.forest(listed, axis, width=_WIDE, reference=level, title=what))


def _report(r: TestReport) -> str:
    pairs = zip(r.tests, r.adjusted, strict=True)
    rows = [(t.method, adjusted, say_pvalue(adjusted)) for t, adjusted in pairs]
    folds = [html_fold("Tests", html_table(*r._table()))]
    for family in r._families():
        titles = (family.over, "rows", family.definition, "p", family.correction)
        folds.append(
            html_fold(f"One test for each {family.over}", html_table(titles, family.rows()))
        )
    picture = _pvalues(rows, r.level, "p-value of each test, with Holm's correction")
    beneath = f"<p>{html_text(r._beneath)}</p>"
    return html_block(_sentence(r.verdict), picture, beneath, *folds, notes=r.notes)


def _multiple(t: MultipleTest) -> str:
    rows = [
        (str(name), p, say_pvalue(p, t.n_resamples))
        for name, p in zip(t.names, t.adjusted, strict=True)
    ]
    titles = (t.over, "rows", t.definition, "p", t.correction)
    picture = _pvalues(rows, 0.05, f"adjusted p-value ({t.correction})")
    fold = html_fold("All of them", html_table(titles, t.rows()))
    return html_headline(t._headline(), picture, fold)


def _joint(t: JointTest) -> str:
    rows = []
    for part in t.parts:
        about = part.name if part.label is None else f"{part.name} {part.label!r}"
        rows.append((about, part.adjusted, say_pvalue(part.adjusted, part.n_resamples)))
    picture = _pvalues(rows, t.level, "p-value of each part, all of them considered")
    return html_headline(t._headline(), picture, notes=t.notes)


def _equivalence(t: EquivalenceTest) -> str:
    row = ForestRow(name="error", estimate=t.statistic, low=t.lower, high=t.upper)
    axis = f"calibration error; the line is the margin {t.delta:.4g}"
    picture = pictures.forest([row], axis, width=_WIDE, reference=t.delta, title=t.method)
    return html_block(html_text(t), _svg(picture), notes=t.notes)


def _sequential(t: SequentialTest) -> str:
    panel = TimePanel(
        name="log evidence against calibration; the line raises an alarm",
        at=[float(i + 1) for i in range(len(t.path))],
        value=t.path.tolist(),
        reference=math.log(1 / t.level),
        alarms=() if t.alarm_at is None else [float(t.alarm_at + 1)],
    )
    picture = pictures.timeline([panel], width=_WIDE, title=t.method)
    return html_block(html_text(t), _svg(picture), notes=t.notes)


def _history(h: MonitorHistory) -> str:
    if len(h) < 2:
        return html_block(html_text(h))
    at = h.n_rows.tolist()
    panels = [
        TimePanel(
            name="observed - predicted, rolling window",
            at=at,
            value=h.deviation.tolist(),
            low=h.low.tolist(),
            high=h.high.tolist(),
            reference=0.0,
        ),
        TimePanel(name="log evidence against calibration", at=at, value=h.log_e.tolist()),
    ]
    return html_block(html_text(h), _svg(pictures.timeline(panels, width=_WIDE)))


def _interval(i: Interval) -> str:
    reference = 0.0 if isinstance(i, Difference) else None
    what = f"difference in {i.estimator}" if isinstance(i, Difference) else i.estimator
    row = ForestRow(name=i.estimator, estimate=i.estimate, low=i.low, high=i.high)
    axis = f"{what}, {100 * i.confidence_level:g} % interval"
    picture = pictures.forest([row], axis, width=_WIDE, reference=reference, title=what)
    return html_block(html_text(i), _svg(picture))


def _test(t: CalibrationTest) -> str:
    lines: list[Coefficient] = []
    for name in ("slope", "intercept"):
        if (found := getattr(t, name, None)) is not None and found.estimate is not None:
            lines.append(found)
    rows = [(c.name, f"{c.estimate:.4f}", f"{c.low:.4f} to {c.high:.4f}") for c in lines]
    table = html_table(("coefficient", "estimate", "interval"), rows)
    picture = _pvalues([(t.method, t.pvalue, say_pvalue(t.pvalue, t.n_resamples))], 0.05, "p-value")
    return html_block(html_text(t), picture, table, notes=t.notes)


def _segments(audit: SegmentAudit) -> str:
    words = html_list(each.in_words(audit.n_resamples) for each in audit.found)
    table = html_table(audit.header, audit.rows(audit.segments))
    parts = [words, f"<p>{html_text(audit.worst_words)}</p>"]
    parts.append(_svg(pictures.segments(audit, width=_WIDE)))
    if audit.pairs:
        first, second = audit.pairs[0]
        crossed = pictures.segment_map(audit, first, second, width=_WIDE)
        parts.append(html_fold(f"{first} and {second}", _svg(crossed)))
    parts.append(html_fold(f"{len(audit.segments)} of {audit.n_segments:,} segments", table))
    parts.append(f"<p>{html_text(audit.how)}</p>")
    return html_headline(audit.sentence, *parts, notes=audit.notes)


_BLOCKS: dict[type, Callable[[Any], str]] = {
    CalibrationTest: _test,
    Comparison: _comparison,
    ConsistencyTest: _consistency,
    CostCurve: _cost_curve,
    DecisionCurve: _decision_curve,
    Decomposition: _decomposition,
    EquivalenceTest: _equivalence,
    Evaluation: _evaluation,
    Evidence: _evidence,
    Interval: _interval,
    JointTest: _joint,
    MonitorHistory: _history,
    MultipleTest: _multiple,
    NullLevel: _null,
    ReliabilityCurve: _curve,
    ReliabilityDisplay: _display,
    SegmentAudit: _segments,
    SequentialTest: _sequential,
    TestReport: _report,
}
