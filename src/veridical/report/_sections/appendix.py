"""The appendix: every definition, setting, seed and version."""

from __future__ import annotations

from collections.abc import Iterator

from veridical.report._content.content import ModelFindings, Settings
from veridical.report._content.headline import RULE as HEADLINE_RULE
from veridical.report._content.recalibration import RULE as RECALIBRATION_RULE
from veridical.report._page.blocks import Block, Code, Heading, Paragraph, Table, Terms, level_words

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
    ("verdict", HEADLINE_RULE),
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
    margins = ", ".join(f"{margin:g}" for margin in s.margins)
    rows = [
        ("source", s.source),
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
    yield Table("What the figures depend on", ("setting", "value"), tuple(rows))
    yield Heading("Versions")
    yield Table("What they were computed with", ("package", "version"), tuple(s.versions.items()))
    yield Heading("The same report again")
    yield Paragraph(
        "The same data, settings and versions give the same figures, on any number of threads."
    )
    yield Code(s.call)
