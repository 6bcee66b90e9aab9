"""Sections that compare: before and after recalibration, one model and another."""

from __future__ import annotations

from collections.abc import Iterator

from veridical.report._blocks import Block, Figure, Heading, Paragraph, Points, Table
from veridical.report._charts import comparison_chart, evidence_chart
from veridical.report._content import ModelFindings
from veridical.report._content_curves import short
from veridical.report._words import level_words, number, pvalue, sentence, share, signed
from veridical.results import Comparison

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
