"""From a checked sample to an evaluation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from veridical._core.pava import isotonic_fit
from veridical._core.randomness import check_rng
from veridical._core.sample import BinarySample, MulticlassSample, Sample, weighted_mean
from veridical.binning import Binning, QuantileBins, SweepBins, UniformBins
from veridical.curves import curve_from_summary
from veridical.decomposition import decompose_isotonic
from veridical.evaluation._auc import auc_by_class, auc_of_pooled
from veridical.evaluation._default import default_error
from veridical.evaluation._notes import doubts_of
from veridical.evaluation._null import NullDraws
from veridical.evaluation._verdict import verdict_of
from veridical.exceptions import InvalidInputError
from veridical.inference import binned_limits, has_interval, recalibration_line
from veridical.lenses import Classwise, ClasswiseProblem, Confidence, Lens, Problem
from veridical.miscalibration import (
    BinnedError,
    CumulativeError,
    Estimator,
    SmoothError,
    doubts_of_summary,
)
from veridical.results import Evaluation, MeasuredError
from veridical.scores import RULES, get_rule
from veridical.summaries import Summary, VectorSummary, summarise


def evaluate_sample(
    sample: Sample,
    lens: Lens,
    *,
    n_bins: Any,
    confidence_level: float,
    n_resamples: int,
    rng: Any,
) -> Evaluation:
    """Measure everything that fits the lens."""
    problem = lens.induce(sample)
    # What is drawn and averaged must be one binary problem: the lens's own, or the confidence.
    shown_lens: Lens = lens if isinstance(problem, BinarySample) else Confidence()
    shown = problem if isinstance(problem, BinarySample) else Confidence().induce(sample)
    binning = UniformBins(n_bins)
    summary = summarise(shown, binning)
    fit = isotonic_fit(shown.pooled)
    curve = curve_from_summary(
        summary,
        lens=shown_lens.name,
        definition=binning.name,
        interval="wilson",
        confidence_level=confidence_level,
    )
    null = NullDraws(n_resamples, check_rng(rng, caller="evaluate"))
    errors, binning_doubts = _errors(sample, problem, lens, n_bins, null, confidence_level)
    line = recalibration_line(shown, confidence_level)
    scores = {rule: get_rule(rule, caller="evaluate").mean(sample) for rule in RULES}
    predicted, observed = (weighted_mean(v, shown.weight) for v in (shown.p, shown.y))
    if isinstance(sample, MulticlassSample):
        areas = auc_by_class(sample)
        known = [area for area in areas if area is not None]
        auc = float(np.mean(known)) if len(known) == len(areas) else None
    else:
        auc = auc_of_pooled(sample.pooled)
        areas = (auc, auc)
    evaluation = Evaluation(
        n_samples=sample.n,
        sum_weight=float(sample.n if sample.weight is None else sample.weight.sum()),
        classes=sample.classes,
        lens=lens.name,
        base_rate=_base_rates(sample),
        accuracy=1 - scores["zero-one"],
        auc=auc,
        auc_by_class=areas,
        mean_predicted=predicted,
        mean_observed=observed,
        calibration_in_the_large=observed - predicted,
        observed_expected=observed / predicted if predicted > 0 else None,
        scores=scores,
        decompositions=tuple(
            decompose_isotonic(
                shown,
                get_rule(rule, caller="evaluate"),
                lens=shown_lens.name,
                fit=fit,
                score=scores[rule] if shown is sample else None,
            )
            for rule in ("brier", "log")
        ),
        errors=errors,
        curve=curve,
        confidence_level=confidence_level,
        slope=line.slope,
        intercept=line.in_the_large,
        default_error=_default_name(problem),
    )
    evaluation = replace(evaluation, verdict=verdict_of(evaluation))
    notes = dict.fromkeys([*doubts_of(evaluation), *binning_doubts])
    return replace(evaluation, notes=tuple(notes))


def _errors(
    sample: Sample, problem: Problem, lens: Lens, n_bins: Any, null: NullDraws, level: float
) -> tuple[tuple[MeasuredError, ...], list[str]]:
    measured: list[MeasuredError] = []
    doubts: list[str] = []
    summaries: dict[Binning, Summary | VectorSummary] = {}

    def record(name: str, value: float, estimator: Estimator, through: Lens, **null: Any) -> None:
        measured.append(
            MeasuredError(
                name=name,
                value=value,
                definition=estimator.definition,
                lens=through.name,
                n_samples=sample.n,
                **null,
            )
        )

    def measure(name: str, estimator: BinnedError, on: Problem, through: Lens) -> None:
        if estimator.binning not in summaries:
            summaries[estimator.binning] = estimator.summarise(on)
            found = doubts_of_summary(summaries[estimator.binning])
            doubts.extend(f"{name}: {doubt}" for doubt in found)
        summary = summaries[estimator.binning]
        try:
            value = estimator.from_summary(summary)
        except InvalidInputError as error:  # too few rows to debias: say so, keep the rest
            doubts.append(f"{name} left out: {str(error).splitlines()[-1].removeprefix('Hint: ')}")
            return
        drawn = null.level(estimator, on, summary, value)
        limits: dict[str, float] = {}
        if (
            isinstance(on, BinarySample)
            and isinstance(summary, Summary)
            and has_interval(estimator)
        ):
            limits["low"], limits["high"] = binned_limits(estimator, summary, level)
        record(name, value, estimator, through, **drawn, **limits)

    for name, estimator in _estimators(problem, sample, n_bins):
        measure(name, estimator, problem, lens)
    if isinstance(problem, BinarySample):
        for unbinned in (SmoothError(), CumulativeError()):
            record(unbinned.name, unbinned.measure(problem), unbinned, lens)
    if isinstance(sample, MulticlassSample) and not isinstance(problem, ClasswiseProblem):
        summaries.clear()  # another problem
        classwise = Classwise()
        estimator = BinnedError(UniformBins(n_bins))
        measure("classwise ECE", estimator, classwise.induce(sample), classwise)
    return tuple(measured), doubts


def _estimators(problem: Problem, sample: Sample, n_bins: Any) -> list[tuple[str, BinnedError]]:
    uniform: Binning = UniformBins(n_bins)
    plain = [
        ("ECE", BinnedError(uniform)),
        ("RMSCE", BinnedError(uniform, norm=2)),
        ("MCE", BinnedError(uniform, norm="max")),
    ]
    if isinstance(problem, MulticlassSample):
        return [*plain[:1], ("ECE variance-split", default_error(problem, n_bins))]
    if isinstance(problem, ClasswiseProblem):
        return [*plain, ("ECE worst class", BinnedError(uniform, aggregate="max"))]
    return [
        plain[0],
        ("ECE equal-mass", BinnedError(QuantileBins(n_bins))),
        ("ECE sweep", BinnedError(SweepBins())),
        ("ECE debiased", BinnedError(uniform, debias=True)),
        *plain[1:],
        ("RMSCE debiased", BinnedError(uniform, norm=2, debias=True)),
    ]


def _default_name(problem: Problem) -> str:
    """Name of `default_error` among the errors measured."""
    return "ECE variance-split" if isinstance(problem, MulticlassSample) else "ECE"


def _base_rates(sample: Sample) -> tuple[float, ...]:
    counts = np.bincount(sample.y, weights=sample.weight, minlength=len(sample.classes))
    return tuple(float(share) for share in counts / counts.sum())
