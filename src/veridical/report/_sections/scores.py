"""Sections on what was measured: the verdict, ranking, scores, errors, reliability diagrams."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from veridical.report._charts.catalogue import (
    Chart,
    decomposition_chart,
    errors_chart,
    simplex_chart,
    switchable_reliability,
)
from veridical.report._content.content import ModelFindings
from veridical.report._page.blocks import (
    Block,
    Figure,
    Paragraph,
    Table,
    coefficient,
    level_words,
    limits,
    number,
    pvalue,
    signed,
)
from veridical.results import Decomposition, Evaluation, ReliabilityCurve
from veridical.summaries import VectorSummary

_SCORE_NAMES = {
    "brier": "Brier score",
    "log": "log loss",
    "spherical": "spherical score",
    "zero-one": "error rate",
}


def verdict_blocks(m: ModelFindings, index: int) -> Iterator[Block]:
    """The answer in words, and the few figures behind it."""
    e = m.evaluation
    sentences = [m.headline.text, m.headline.also, m.recalibration.text]
    yield Paragraph(" ".join(text for text in sentences if text), "lead")
    yield Paragraph(e.verdict)
    yield Table("Key figures", ("figure", "value", "what it is"), tuple(_key_figures(m)))


def _key_figures(m: ModelFindings) -> Iterator[tuple[str, str, str]]:
    e, level = m.evaluation, level_words(m.evaluation.confidence_level)
    yield "rows", f"{e.n_samples:,}", f"{len(e.classes):,} classes, {e.lens} lens"
    yield "accuracy", number(e.accuracy), "share of rows whose most probable class occurred"
    yield "AUC", number(e.auc), "how well classes are ranked: 0.5 by chance, 1 without fault"
    for rule in ("brier", "log"):
        yield _SCORE_NAMES[rule], number(e.scores[rule]), "mean score: smaller is better"
    error = e.default
    what = f"mean gap; {level} interval {limits(error.low, error.high)}"
    if error.null_q95 is not None:
        what += f"; a calibrated model stays below {number(error.null_q95)} in 95 % of samples"
    yield error.name, number(error.value), what
    yield (
        "recalibration slope",
        coefficient(e.slope),
        "1 if calibrated; below 1 over-confident (too extreme), above 1 under-confident",
    )
    yield (
        "observed minus predicted",
        signed(e.calibration_in_the_large),
        f"{number(e.mean_observed)} observed, {number(e.mean_predicted)} predicted on average",
    )


def discrimination_blocks(m: ModelFindings, index: int) -> Iterator[Block]:
    """What recalibration can mend, and what it cannot."""
    e = m.evaluation
    yield Paragraph(
        "Two different things make a good probability. Discrimination: are different cases told"
        " apart? No recalibration can add to it. Calibration: does a stated probability come"
        " true as often as it says? That can be mended afterwards.",
        "read",
    )
    for d in e.decompositions:
        if not 0 < d.score < float("inf"):
            continue
        yield Paragraph(_balance(d))
        yield Figure(
            f"decomposition-{d.rule}-{index}",
            partial(_parts_chart, d),
            "The bar is the score, split into what recalibration could save (miscalibration) and"
            " what it could not. The thin bar below it is what the predictions are worth, against"
            " always saying the base rate.",
        )
    calibrated = "1 if calibrated; below 1 too extreme"
    too_high = "0 if calibrated; below 0 predictions are too high"
    ratio = "1 if predictions are right on average"
    yield Table(
        f"Discrimination and calibration ({level_words(e.confidence_level)} intervals)",
        ("figure", "value", "about", "how to read it"),
        (
            ("AUC", number(e.auc), "discrimination", _auc_words(e)),
            ("accuracy", number(e.accuracy), "discrimination", "at equal costs of all errors"),
            ("recalibration slope", coefficient(e.slope), "calibration", calibrated),
            ("recalibration intercept", coefficient(e.intercept), "calibration", too_high),
            ("observed / expected", number(e.observed_expected), "calibration", ratio),
        ),
    )


def _parts_chart(d: Decomposition) -> Chart:
    name = _SCORE_NAMES[d.rule]
    return decomposition_chart(d, title=f"{name[:1].upper()}{name[1:]} and its parts")


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


def scores_blocks(m: ModelFindings, index: int) -> Iterator[Block]:
    """Proper scores and their parts."""
    e = m.evaluation
    yield Paragraph(
        "Proper scores reward honest probabilities; smaller is better. Score = miscalibration"
        " - discrimination + uncertainty: the first is what calibration costs, the second what"
        " the predictions are worth, the third the score of always saying the base rate.",
        "read",
    )
    yield Table(
        "Scores of the whole prediction",
        ("score", "value"),
        tuple((_SCORE_NAMES[name], number(value)) for name, value in e.scores.items()),
    )
    yield Table.of(
        "Parts of the score",
        e.decompositions,
        {
            "score": lambda d: f"{_SCORE_NAMES[d.rule]} ({d.lens} lens)",
            "value": lambda d: number(d.score),
            "miscalibration": lambda d: number(d.miscalibration),
            "discrimination": lambda d: number(d.discrimination),
            "uncertainty": lambda d: number(d.uncertainty),
            "how": lambda d: d.definition,
        },
    )


def errors_blocks(m: ModelFindings, index: int) -> Iterator[Block]:
    """Calibration errors, each with what chance alone would show."""
    e = m.evaluation
    yield Paragraph(
        "Even a perfectly calibrated model shows an error above zero in a finite sample. Compare"
        " each value with its null level, what a calibrated model with these same predictions"
        " would read; p is the probability of as much or more.",
        "read",
    )
    yield Figure(
        f"errors-{index}",
        lambda: errors_chart(e),
        "Each error with its interval; the grey bar is what 95 % of calibrated models with these"
        " predictions stay below. An interval well beyond the bar is more than chance.",
    )
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


def reliability_blocks(m: ModelFindings, index: int) -> Iterator[Block]:
    """Observed frequency against prediction, with choices."""
    if not m.variants:
        return
    yield Figure(
        f"reliability-{index}",
        lambda: _switchable(m),
        "Of all rows where the model said x, which share came true? A calibrated model lies on"
        " the diagonal; points below it are over-prediction, above it under-prediction. Bars are"
        " intervals, and the histogram shows how many rows stand behind a point. Hover for"
        " numbers; the lists switch lens, class, method and bins.",
    )
    yield Paragraph(
        "Isotonic and smooth curves are drawn with at most 200 points; figures in other sections"
        " use all rows.",
        "note",
    )


def _switchable(m: ModelFindings) -> Chart:
    curves: dict[tuple[str, ...], ReliabilityCurve]
    curves = {(v.lens, v.label, v.method, v.bins): v.curve for v in m.variants}
    return switchable_reliability(curves, names=("lens", "class", "method", "bins"))


def simplex_blocks(m: ModelFindings, index: int) -> Iterator[Block]:
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
