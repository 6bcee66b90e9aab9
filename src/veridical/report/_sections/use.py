"""Sections on models in pairs, recalibration, decisions and the data, and the appendix."""

from __future__ import annotations

import math
from collections.abc import Iterator

from veridical.report._charts.catalogue import comparison_chart, cost_slider, evidence_chart
from veridical.report._content.content import (
    BeforeAfter,
    ModelFindings,
    Recalibration,
    Settings,
    short,
)
from veridical.report._content.findings import COST_RATIOS
from veridical.report._content.recalibration import RULE as RECALIBRATION_RULE
from veridical.report._page.blocks import (
    Block,
    Code,
    Columns,
    Figure,
    Heading,
    Paragraph,
    Points,
    Table,
    Terms,
    level_words,
    limits,
    number,
    pvalue,
    sentence,
    share,
    signed,
    signed_limits,
)
from veridical.report._sections.measured import score_blocks
from veridical.results import Comparison, DecisionCurve

_LONG = 200  # characters of a name
_SHOWN = 20


def recalibration_blocks(m: ModelFindings, index: int) -> Iterator[Block]:
    """Before and after, on rows the calibrator was not fitted to."""
    r = m.recalibration
    yield Paragraph(
        "A calibrator is fitted to some rows and judged on others, so that the improvement is"
        " one to expect on new rows.",
        "read",
    )
    if not r.figures:
        return
    beside: list[Block] = [_before_after(r, m.evaluation.confidence_level)]
    columns: list[tuple[Block, ...]] = []
    if r.evidence is not None:
        evidence = r.evidence
        beside.append(Paragraph(evidence.verdict))
        if any(c.difference is not None for c in evidence.candidates):
            figure = Figure(f"evidence-{index}", lambda: evidence_chart(evidence))
            columns.append((figure,))
    yield Columns((tuple(beside), *columns))
    if r.evidence is not None:
        yield Table.of(
            "Candidates on held-out rows",
            r.evidence.candidates,
            {
                "candidate": lambda c: c.candidate,
                "log loss": lambda c: number(c.log_loss),
                "Brier": lambda c: number(c.brier),
                "change in log loss": lambda c: signed(c.difference),
                "interval": lambda c: signed_limits(c.low, c.high),
                "weight": lambda c: share(c.weight) if c.chosen else "",
                "note": lambda c: c.note,
            },
        )
    notes = [note for note in (r.note, *(r.evidence.notes if r.evidence else ())) if note]
    if notes:
        yield Points(tuple(sentence(note) for note in notes))


def _before_after(r: Recalibration, level: float) -> Table:
    return Table.of(
        f"Before and after, on {r.n_samples:,} rows held out in {r.n_folds} folds",
        r.figures,
        {
            "figure": lambda f: f.name,
            "before": lambda f: number(f.before),
            "after": lambda f: number(f.after),
            "change": lambda f: signed(_change(f)),
            f"{level_words(level)} interval": lambda f: signed_limits(f.low, f.high),
        },
    )


def _change(f: BeforeAfter) -> float | None:
    if f.before is None or f.after is None or not math.isfinite(f.before):
        return None
    return f.after - f.before


def comparison_blocks(c: Comparison) -> Iterator[Block]:
    """Several models on the same rows."""
    yield Paragraph(
        "All models are judged on the same rows, so differences are paired: chance that hits all"
        " models alike cancels. Raw calibration errors do not compare between models; each has"
        " its own null level.",
        "read",
    )
    yield Table.of(
        "Models side by side",
        list(zip(c.models, c.evaluations, c.tests, strict=True)),
        {
            "model": lambda row: short(row[0], _LONG),
            "Brier": lambda row: number(row[1].scores["brier"]),
            "log loss": lambda row: number(row[1].scores["log"]),
            "accuracy": lambda row: number(row[1].accuracy),
            "AUC": lambda row: number(row[1].auc),
            c.tests[0].null_level.estimator: lambda row: number(row[2].statistic),
            "null mean": lambda row: number(row[2].null_level.mean),
            "null 95 %": lambda row: number(row[2].null_level.quantile(0.95)),
            "p": lambda row: pvalue(row[2].pvalue),
        },
    )
    known = {d.difference.estimator for d in c.differences}
    figure = "log" if "log" in known else "brier"
    yield Figure(
        "models-differences",
        lambda: comparison_chart(c, figure=figure),
        "Paired differences: an interval left of zero says that the first model is better.",
    )
    yield Table.of(
        "Paired differences, first minus second: negative means the first is better",
        c.differences,
        {
            "models": lambda d: f"{short(d.first)} - {short(d.second)}",
            "figure": lambda d: d.difference.estimator,
            "difference": lambda d: signed(d.difference.estimate, 5),
            f"{level_words(c.confidence_level)} interval": lambda d: signed_limits(
                d.difference.low, d.difference.high, 5
            ),
            "p": lambda d: pvalue(d.difference.pvalue),
            "p (Holm)": lambda d: pvalue(d.adjusted),
        },
        shown=_SHOWN,
    )
    if c.notes:
        yield Heading("Notes")
        yield Points(tuple(sentence(note) for note in dict.fromkeys(c.notes)))


_MATTERS = {"problem": "problem", "note": "to know", "fine": "fine"}


def cost_blocks(m: ModelFindings, index: int) -> Iterator[Block]:
    """What miscalibration costs in scores, and what acting on the predictions costs."""
    yield from decisions_blocks(m, index)
    yield from score_blocks(m, index)


def cost_answer(m: ModelFindings) -> str:
    """Where acting on the predictions is worth it."""
    if m.decisions is None:
        return "Parts of the scores."
    return sentence(str(m.decisions).splitlines()[0])


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
    curve = m.decisions
    yield Figure(
        f"decisions-{index}",
        lambda: cost_slider(curve, title="Set the costs of errors"),
        "Move the slider to what a miss costs in false alarms: the line shows the threshold to"
        " use, the numbers what that costs a row. The model is worth using where its net benefit"
        " is above that of acting always and of acting never (zero).",
    )
    yield _usual_costs(m.costs)


def _usual_costs(d: DecisionCurve) -> Table:
    """At threshold t = 1 / (1 + ratio) the cost in misses is the prevalence less net benefit.

    A miss costs `ratio` false alarms, the unit of what is shown.
    """
    at = {ratio: int(abs(d.threshold - 1 / (1 + ratio)).argmin()) for ratio in COST_RATIOS}
    return Table.of(
        "Decisions at usual costs",
        sorted(COST_RATIOS),
        {
            "miss : false alarm": lambda r: f"{r:g} : 1" if r >= 1 else f"1 : {1 / r:g}",
            "threshold": lambda r: number(d.threshold[at[r]]),
            "acts on": lambda r: share(d.called[at[r]]),
            "cost of the model": lambda r: number(r * (d.prevalence - d.net_benefit[at[r]])),
            "always acting": lambda r: number(r * (d.prevalence - d.treat_all[at[r]])),
            "never acting": lambda r: number(r * d.prevalence),
            "net benefit": lambda r: number(d.net_benefit[at[r]]),
            "interval": lambda r: limits(d.low[at[r]], d.high[at[r]]),
        },
    )


def data_blocks(m: ModelFindings, index: int) -> Iterator[Block]:
    """Notes on the data."""
    yield Paragraph(
        "What was looked for in the data before believing the figures; problems come first.",
        "read",
    )
    rows = tuple((note.topic, _MATTERS[note.matters], note.finding) for note in m.data)
    yield Table("Notes on the data", ("topic", "verdict", "finding"), rows)


def data_answer(m: ModelFindings) -> str:
    """How many problems there are, and of what."""
    found = [note.topic for note in m.data if note.matters == "problem"]
    known = sum(note.matters == "note" for note in m.data)
    problems = f"{len(found)} problem{'s' * (len(found) != 1)} ({', '.join(found)})"
    return sentence(f"{problems if found else 'no problem found'}; {known} to know")


_TERMS = (
    (
        "lens",
        "the question asked of a prediction. Binary: does the positive class occur as often as"
        " said? Confidence: is the most probable class right as often as its probability says?"
        " Class against the rest: the same for one class of several.",
    ),
    (
        "bins",
        "predictions are grouped into right-closed intervals of equal width, the first closed on"
        " both sides; empty bins do not count.",
    ),
    (
        "ECE, RMSCE, MCE",
        "mean, root-mean-square and largest absolute difference of observed frequency and mean"
        " prediction over the bins, weighted by rows (MCE: not weighted).",
    ),
    (
        "debiased",
        "corrected for what chance adds to the error in a finite sample.",
    ),
    (
        "null level",
        "what the same figure reads on a perfectly calibrated model with these same predictions:"
        " outcomes are drawn from the predictions again and again.",
    ),
    (
        "p-value",
        "probability of a figure at least this extreme if the predictions were calibrated. Drawn"
        " p-values are (1 + number of draws as extreme) / (1 + number of draws).",
    ),
    (
        "recalibration slope and intercept",
        "of the logistic regression of the outcome on the log-odds of the prediction (Cox 1958);"
        " the intercept is that with slope 1.",
    ),
    (
        "Brier score, log loss",
        "mean squared difference of prediction and outcome (summed over classes for three or"
        " more), and mean negative logarithm of the probability given to what happened.",
    ),
    (
        "miscalibration, discrimination, uncertainty",
        "parts of a score by isotonic regression (CORP, Dimitriadis, Gneiting & Jordan 2021).",
    ),
    (
        "over-confident, over-prediction",
        "over-confident: too extreme, recalibration slope below 1. Over-prediction: the event"
        " happens less often than predicted, points below the diagonal.",
    ),
    (
        "net benefit",
        "true positives a row less false positives weighted by threshold / (1 - threshold)"
        " (Vickers & Elkin 2006).",
    ),
    (
        "verdict",
        "from one joint test of level, spread and shape, of three classes or more also of every"
        " class and of whole vectors, and of every subgroup if there are any: outcomes are drawn"
        " from the predictions again and again, once for all parts, and the chance that anything"
        " is found in a calibrated model is the level of the tests. Parts stand out where p,"
        " adjusted for all parts, is at most that level. Level: over- or under-predicts on the"
        " whole. Spread: over-confident (too extreme) or under-confident (too timid); of"
        " confidences, that their differences are too large or too small. How much it matters is"
        " the share of the log loss that a smooth recalibration curve saves, corrected for having"
        " been fitted to the same rows: large if its interval is above 1 %, small if it is below."
        " Reversed: of two classes, an area under the ROC curve below one half by four standard"
        " errors.",
    ),
    ("recalibration", RECALIBRATION_RULE),
)


def appendix_blocks(settings: Settings, models: tuple[ModelFindings, ...]) -> Iterator[Block]:
    """What is needed to get the same figures again."""
    s = settings
    yield Heading("Definitions")
    yield Terms(_TERMS)
    yield Heading("Settings")
    e = models[0].evaluation
    weights = f"{s.weight_type} weights" if s.weighted else "none"
    margins = ", ".join(s.margins)
    rows = [
        ("source", s.source),
        ("fingerprint", s.fingerprint),
        ("rows", f"{e.n_samples:,}"),
        ("weights", weights),
        ("lens", s.lens),
        ("bins", f"{s.n_bins}"),
        ("confidence level", level_words(s.confidence_level)),
        ("level of tests", f"{1 - s.confidence_level:.6g}"),
        ("draws of outcomes", f"{s.n_resamples:,}"),
        ("seed", f"{s.seed}"),
        ("margins of equivalence", margins),
    ]
    if s.columns:
        rows.append(("columns", s.columns))
    rows.append(("versions", ", ".join(f"{name} {at}" for name, at in s.versions.items())))
    yield Table("What the figures depend on", ("setting", "value"), tuple(rows))
    yield Heading("The same report again")
    yield Paragraph(
        "The same data, settings and versions give the same figures, on any number of threads."
    )
    yield Code(s.call)
