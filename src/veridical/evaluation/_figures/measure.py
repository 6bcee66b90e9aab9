"""From what is known of the rows to an evaluation, and what it found in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from veridical._core.data.randomness import check_rng
from veridical._core.numeric.pava import isotonic_fit
from veridical._core.sample import weighted_mean
from veridical.binning import Binning, QuantileBins, SweepBins, UniformBins
from veridical.curves.core import curve_from_summary
from veridical.decomposition.core import decompose_isotonic
from veridical.evaluation._data.source import NullDraws, SampleSource, Source, default_error
from veridical.exceptions import InvalidInputError
from veridical.inference.core import recalibration_line
from veridical.inference.intervals import binned_limits, has_interval
from veridical.lenses import Classwise, Lens
from veridical.miscalibration import BinnedError, CumulativeError, Estimator, SmoothError
from veridical.miscalibration.core import doubts_of_summary
from veridical.results import Coefficient, Evaluation, MeasuredError, ReliabilityCurve
from veridical.results.base import format_pvalue
from veridical.scores import get_rule
from veridical.summaries import Summary, VectorSummary

_NEAR_CHANCE = 0.05
_FEW_ROWS = 20


def doubts_of(e: Evaluation) -> list[str]:
    """Return what a careful reader should know before using the figures."""
    notes: list[str] = []
    absent = [repr(label) for label, rate in zip(e.classes, e.base_rate, strict=True) if rate == 0]
    if absent:
        listed = ", ".join(absent[:5]) + (", ..." if len(absent) > 5 else "")
        notes.append(f"{len(absent)} of {len(e.classes)} classes did not occur: {listed}")
    if e.auc is not None and abs(e.auc - 0.5) < _NEAR_CHANCE:
        notes.append(
            f"AUC {e.auc:.3f} is near 0.5: the predictions hardly tell the classes apart, and"
            " calibration cannot help with that"
        )
    elif e.auc is not None and e.auc < 0.5:
        notes.append(
            f"AUC {e.auc:.3f} is below 0.5: is the right class taken as positive? See `pos_label`"
        )
    rows = e.n_samples / max(len(e.curve), 1)
    if rows < _FEW_ROWS:
        notes.append(f"{rows:.1f} rows a bin on average: binned errors are biased upwards")
    if math.isinf(e.scores["log"]):
        notes.append("log score is infinite: something happened that was given probability 0")
    return notes


def words_of_level(
    level: Coefficient | None, predicted: float, observed: float, *, of_confidence: bool
) -> list[str]:
    """Say if predictions are too high or too low on the whole, where that is beyond chance."""
    if level is None or 0.0 in level:
        return []
    side, what = "Over" if level.high < 0 else "Under", "predicts"
    if of_confidence:
        what = "confident"
    means = f"predicted {predicted:.4f} on average, observed {observed:.4f}"
    return [f"{side}-{what}: {means}."]


def words_of_slope(slope: Coefficient | None, *, of_confidence: bool) -> list[str]:
    """Say if predictions are too extreme or too timid, where that is beyond chance."""
    if slope is None or 1.0 in slope:
        return []
    estimate = "" if slope.estimate is None else f" {slope.estimate:.3f}"
    if slope.high < 0:
        word = "Reversed: outcomes are rarer where the prediction is higher"
    elif of_confidence:
        word = f"Differences between confidences are too {'large' if slope.high < 1 else 'small'}"
    elif slope.high < 1:
        word = "Over-confident: too extreme"
    else:
        word = "Under-confident: too timid"
    return [f"{word} (recalibration slope{estimate}, {slope.low:.3f} to {slope.high:.3f})."]


_LEVEL = 0.05


def verdict_of(e: Evaluation) -> str:
    """Return a sentence or two: is it calibrated, and if not, which way is it wrong?"""
    error = e.default
    if error.pvalue is None:
        return f"{error.name} is {error.value:.4f}; whether that is noise was not tested."
    if error.pvalue > _LEVEL:
        return _not_rejected(error, _beside(e))
    return " ".join([_rejected(error, e.confidence_level), *_direction(e)])


def _beside(e: Evaluation) -> list[str]:
    """What other figures find although the error itself is not beyond chance."""
    words = words_of_slope(e.slope, of_confidence=e.curve.lens == "confidence")
    found = [m for m in e.errors if m.lens != e.default.lens and (m.pvalue or 1.0) <= _LEVEL]
    for m in found:
        assert m.pvalue is not None
        words.append(
            f"{m.name} {m.value:.4f} is more than a calibrated model would read"
            f" (p = {format_pvalue(m.pvalue)})."
        )
    return words


def _not_rejected(error: MeasuredError, beside: list[str]) -> str:
    what = f"{error.name} {error.value:.4f} is within what a calibrated model would read"
    null = f"({_null(error)})"
    if beside:
        return f"Not calibrated in every respect: {what} {null}, but: {' '.join(beside)}"
    text = f"No miscalibration found: {what} {null}"
    if error.high is None:
        return f"{text}."
    return f"{text}; an error up to {error.high:.4f} cannot be excluded."


def _rejected(error: MeasuredError, level: float) -> str:
    interval = ""
    if error.low is not None:
        interval = f"{level:.0%} interval {error.low:.4f} to {error.high:.4f}; ".replace("%", " %")
    null = f"a calibrated model would read {_null(error)}"
    return f"Miscalibrated: {error.name} {error.value:.4f} ({interval}{null})."


def _null(error: MeasuredError) -> str:
    assert error.pvalue is not None
    return (
        f"{error.null_mean:.4f} on average, up to {error.null_q95:.4f} in 95 % of samples;"
        f" p = {format_pvalue(error.pvalue)}"
    )


def _direction(e: Evaluation) -> list[str]:
    of_confidence = e.curve.lens == "confidence"
    words = words_of_level(
        e.intercept, e.mean_predicted, e.mean_observed, of_confidence=of_confidence
    )
    words += words_of_slope(e.slope, of_confidence=of_confidence)
    return words or ["Neither the level nor the slope is off: see the reliability curve for where."]


def evaluate_with_groups(source: Source, **options: Any) -> Evaluation:
    """Measure all rows, and every subgroup by itself."""
    every_row = evaluate_source(source, **options)
    groups = tuple((key, evaluate_source(part, **options)) for key, part in source.groups())
    return replace(every_row, groups=groups)


def evaluate_source(
    source: Source,
    *,
    n_bins: Any,
    confidence_level: float,
    n_resamples: int,
    rng: Any,
) -> Evaluation:
    """Measure everything that fits the lens, from rows or from sums of them."""
    problem = source.binary
    fit = isotonic_fit(problem.pooled)
    curve = binned_curve(source, UniformBins(n_bins), confidence_level)
    null = NullDraws(n_resamples, check_rng(rng, caller="evaluate"))
    questions = [*_questions(source, n_bins), *_questions_of_classes(source, n_bins)]
    errors, binning_doubts = measure_errors(source, questions, null, confidence_level)
    areas = source.areas
    known = [area for area in areas if area is not None]
    evaluation = Evaluation(
        n_samples=source.n,
        sum_weight=source.sum_weight,
        classes=source.classes,
        lens=source.lens.name,
        base_rate=source.base_rate,
        accuracy=1 - source.scores["zero-one"],
        auc=float(np.mean(known)) if len(known) == len(areas) else None,
        auc_by_class=areas,
        scores=source.scores,
        decompositions=tuple(
            replace(
                decompose_isotonic(
                    problem,
                    get_rule(rule, caller="evaluate"),
                    lens=source.binary_lens.name,
                    fit=fit,
                    score=source.score_of_binary(rule),
                ),
                n_samples=source.n,
            )
            for rule in ("brier", "log")
        ),
        errors=errors,
        curve=curve,
        confidence_level=confidence_level,
        default_error="ECE variance-split" if source.kind == "vector" else "ECE",
        **means_and_line(source, confidence_level),
    )
    evaluation = replace(evaluation, verdict=verdict_of(evaluation))
    notes = dict.fromkeys([*doubts_of(evaluation), *binning_doubts])
    return replace(evaluation, notes=tuple(notes))


def means_and_line(source: Source, level: float) -> dict[str, Any]:
    """Mean prediction and frequency of the binary problem, and its recalibration line."""
    problem = source.binary
    line = recalibration_line(problem, level)
    predicted, observed = (weighted_mean(v, problem.weight) for v in (problem.p, problem.y))
    return {
        "mean_predicted": predicted,
        "mean_observed": observed,
        "calibration_in_the_large": observed - predicted,
        "observed_expected": observed / predicted if predicted > 0 else None,
        "slope": line.slope,
        "intercept": line.in_the_large,
    }


def binned_curve(source: Source, binning: Binning, level: float) -> ReliabilityCurve:
    """Reliability curve of the binary problem, with Wilson limits."""
    return curve_from_summary(
        source.summary(binning),
        lens=source.binary_lens.name,
        definition=binning.name,
        interval="wilson",
        confidence_level=level,
    )


class Question(NamedTuple):
    """An error that is to be measured: its name in the result, and through which lens."""

    name: str
    estimator: Estimator
    lens: Lens


def measure_errors(
    source: Source, questions: Sequence[Question], null: NullDraws, level: float
) -> tuple[tuple[MeasuredError, ...], list[str]]:
    """Measure errors with null levels and intervals where there are any; and doubts about bins."""
    measured: list[MeasuredError] = []
    doubts: list[str] = []
    summaries: dict[tuple[Binning, str], Summary | VectorSummary] = {}
    for name, estimator, lens in questions:
        beside: dict[str, Any] = {}
        if isinstance(estimator, BinnedError):
            key = (estimator.binning, lens.name)
            if key not in summaries:
                summaries[key] = source.binned(estimator, lens)
                doubts.extend(f"{name}: {doubt}" for doubt in doubts_of_summary(summaries[key]))
            summary = summaries[key]
            try:
                value = estimator.from_summary(summary)
            except InvalidInputError as error:  # too few rows to debias: say so, keep the rest
                doubts.append(f"{name} left out: {error.hint}")
                continue
            beside = null.level(estimator, source.null_of(lens), summary, value)
            single = source.kind == "binary" and lens is source.lens
            if single and isinstance(summary, Summary) and has_interval(estimator):
                beside["low"], beside["high"] = binned_limits(estimator, summary, level)
        else:
            value = estimator.measure(source.binary)
        measured.append(
            MeasuredError(
                name=name,
                value=value,
                definition=estimator.definition,
                lens=lens.name,
                n_samples=source.n,
                **beside,
            )
        )
    return tuple(measured), doubts


def _questions(source: Source, n_bins: Any) -> list[Question]:
    """Errors of the problem that the lens induces."""
    uniform: Binning = UniformBins(n_bins)
    estimators: list[tuple[str, Estimator]] = [
        ("ECE", BinnedError(uniform)),
        ("RMSCE", BinnedError(uniform, norm=2)),
        ("MCE", BinnedError(uniform, norm="max")),
    ]
    if source.kind == "vector":
        assert isinstance(source, SampleSource)
        estimators[1:] = [("ECE variance-split", default_error(source.problem, n_bins))]
    elif source.kind == "classwise":
        estimators.append(("ECE worst class", BinnedError(uniform, aggregate="max")))
    else:
        estimators[1:1] = [
            ("ECE equal-mass", BinnedError(QuantileBins(n_bins))),
            ("ECE sweep", BinnedError(SweepBins())),
            ("ECE debiased", BinnedError(uniform, debias=True)),
        ]
        unbinned = (SmoothError(), CumulativeError())
        estimators += [
            ("RMSCE debiased", BinnedError(uniform, norm=2, debias=True)),
            *((estimator.name, estimator) for estimator in unbinned),
        ]
    return [Question(name, estimator, source.lens) for name, estimator in estimators]


def _questions_of_classes(source: Source, n_bins: Any) -> list[Question]:
    """The mean error of the classes, where that is not what the lens asks."""
    if not source.has_classes or source.kind == "classwise":
        return []
    return [Question("classwise ECE", BinnedError(UniformBins(n_bins)), Classwise())]
