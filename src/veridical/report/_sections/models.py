"""Sections that compare models, and on using the predictions and what to know of the data."""

from __future__ import annotations

from collections.abc import Iterator

from veridical.report._charts.catalogue import comparison_chart, cost_slider, evidence_chart
from veridical.report._content.content import ModelFindings, short
from veridical.report._content.findings import COST_RATIOS
from veridical.report._page.blocks import (
    Block,
    Figure,
    Heading,
    Paragraph,
    Points,
    Table,
    level_words,
    number,
    pvalue,
    sentence,
    share,
    signed,
)
from veridical.results import Comparison, DecisionCurve

_LONG = 200  # characters of a name
_MOST_ROWS = 60


def recalibration_blocks(m: ModelFindings, index: int) -> Iterator[Block]:
    """Before and after, on rows the calibrator was not fitted to."""
    r = m.recalibration
    yield Paragraph(
        "A calibrator is fitted to some rows and judged on others, so that the improvement is"
        " one to expect on new rows.",
        "read",
    )
    yield Paragraph(r.text)
    if r.comparison is None:
        return
    yield _before_after(r.comparison, r.n_folds)
    if r.evidence is not None:
        evidence = r.evidence
        yield Paragraph(evidence.verdict)
        if any(c.difference is not None for c in evidence.candidates):
            yield Figure(
                f"evidence-{index}",
                lambda: evidence_chart(evidence),
                "Change in log loss on held-out rows against leaving the predictions alone:"
                " left of zero is better.",
            )
        yield _candidates(m)
    notes = [note for note in (r.note, *(r.evidence.notes if r.evidence else ())) if note]
    if notes:
        yield Points(tuple(sentence(note) for note in notes))


def _before_after(c: Comparison, n_folds: int) -> Table:
    before, after = c.evaluation("before"), c.evaluation("after")
    figures = [
        ("log loss", before.scores["log"], after.scores["log"], "log"),
        ("Brier score", before.scores["brier"], after.scores["brier"], "brier"),
        ("accuracy", before.accuracy, after.accuracy, ""),
        ("AUC", before.auc, after.auc, ""),
        (before.default.name, before.default.value, after.default.value, ""),
    ]
    paired = {d.difference.estimator: d.difference for d in c.differences}
    rows = []
    for name, old, new, key in figures:
        difference = paired.get(key)
        limit = (
            "" if difference is None else f"{signed(difference.low)} to {signed(difference.high)}"
        )
        change = None if old is None or new is None else new - old
        rows.append((name, number(old), number(new), signed(change), limit))
    header = ("figure", "before", "after", "change", f"{level_words(c.confidence_level)} interval")
    return Table(f"Before and after, held out in {n_folds} folds", header, tuple(rows))


def _candidates(m: ModelFindings) -> Table:
    evidence = m.recalibration.evidence
    assert evidence is not None
    rows = tuple(
        (
            c.candidate,
            number(c.log_loss),
            number(c.brier),
            signed(c.difference),
            f"{signed(c.low)} to {signed(c.high)}" if c.low is not None else "",
            share(c.weight) if c.chosen else "",
            c.note,
        )
        for c in evidence.candidates
    )
    header = ("candidate", "log loss", "Brier", "change in log loss", "interval", "weight", "note")
    return Table("Candidates on held-out rows", header, rows)


def comparison_blocks(c: Comparison) -> Iterator[Block]:
    """Several models on the same rows."""
    yield Paragraph(
        "All models are judged on the same rows, so differences are paired: chance that hits all"
        " models alike cancels. Raw calibration errors do not compare between models; each has"
        " its own null level.",
        "read",
    )
    rows = []
    for name, e, test in zip(c.models, c.evaluations, c.tests, strict=True):
        null = test.null_level
        rows.append(
            (
                short(name, _LONG),
                number(e.scores["brier"]),
                number(e.scores["log"]),
                number(e.accuracy),
                number(e.auc),
                number(test.statistic),
                number(null.mean),
                number(null.quantile(0.95)),
                pvalue(test.pvalue),
            )
        )
    error = c.tests[0].null_level.estimator
    header = ("model", "Brier", "log loss", "accuracy", "AUC", error, "null mean", "null 95 %", "p")
    yield Table("Models side by side", header, tuple(rows))
    known = {d.difference.estimator for d in c.differences}
    figure = "log" if "log" in known else "brier"
    yield Figure(
        "models-differences",
        lambda: comparison_chart(c, figure=figure),
        "Paired differences: an interval left of zero says that the first model is better.",
    )
    differences = tuple(
        (
            f"{short(d.first)} - {short(d.second)}",
            d.difference.estimator,
            signed(d.difference.estimate, 5),
            f"{signed(d.difference.low, 5)} to {signed(d.difference.high, 5)}",
            pvalue(d.difference.pvalue),
            pvalue(d.adjusted),
        )
        for d in c.differences
    )
    level = level_words(c.confidence_level)
    yield Table(
        "Paired differences, first minus second: negative means the first is better",
        ("models", "figure", "difference", f"{level} interval", "p", "p (Holm)"),
        differences[:_MOST_ROWS],
        more=max(0, len(differences) - _MOST_ROWS),
    )
    if c.notes:
        yield Heading("Notes")
        yield Points(tuple(sentence(note) for note in dict.fromkeys(c.notes)))


_MATTERS = {"problem": "problem", "note": "to know", "fine": "fine"}


def decisions_blocks(m: ModelFindings, index: int) -> Iterator[Block]:
    """What acting on the predictions costs."""
    if m.decisions is None or m.costs is None:
        return
    yield Paragraph(
        f"Suppose one acts wherever class {short(m.decision_class)} has at least the threshold"
        " probability. A miss (not acting where the class occurred) and a false alarm have costs;"
        " their ratio sets the threshold. Costs are a row, in units of one false alarm.",
        "read",
    )
    yield Paragraph(_useful(m.decisions))
    curve = m.decisions
    yield Figure(
        f"decisions-{index}",
        lambda: cost_slider(curve, title="Set the costs of errors"),
        "Move the slider to what a miss costs in false alarms: the line shows the threshold to"
        " use, the numbers what that costs a row. The model is worth using where its net benefit"
        " is above that of acting always and of acting never (zero).",
    )
    rows = tuple(_cost_row(m.costs, ratio) for ratio in sorted(COST_RATIOS))
    header = (
        "miss : false alarm",
        "threshold",
        "acts on",
        "cost of the model",
        "always acting",
        "never acting",
        "net benefit",
        "interval",
    )
    yield Table("Decisions at usual costs", header, rows)


def _useful(d: DecisionCurve) -> str:
    return sentence(str(d).splitlines()[0])


def _cost_row(d: DecisionCurve, ratio: float) -> tuple[str, ...]:
    """At threshold t = 1 / (1 + ratio) the cost in misses is the prevalence less net benefit.

    A miss costs `ratio` false alarms, the unit of what is shown.
    """
    i = int(abs(d.threshold - 1 / (1 + ratio)).argmin())
    name = f"{ratio:g} : 1" if ratio >= 1 else f"1 : {1 / ratio:g}"
    return (
        name,
        number(d.threshold[i]),
        share(d.called[i]),
        number(ratio * (d.prevalence - d.net_benefit[i])),
        number(ratio * (d.prevalence - d.treat_all[i])),
        number(ratio * d.prevalence),
        number(d.net_benefit[i]),
        f"{number(d.low[i])} to {number(d.high[i])}",
    )


def data_blocks(m: ModelFindings, index: int) -> Iterator[Block]:
    """Notes on the data."""
    yield Paragraph(
        "What was looked for in the data before believing the figures; problems come first.",
        "read",
    )
    rows = tuple((note.topic, _MATTERS[note.matters], note.finding) for note in m.data)
    yield Table("Notes on the data", ("topic", "verdict", "finding"), rows)
