"""From what is known of the rows to an evaluation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from veridical._core.pava import isotonic_fit
from veridical._core.randomness import check_rng
from veridical._core.sample import MulticlassSample, Sample, weighted_mean
from veridical.binning import Binning, QuantileBins, SweepBins, UniformBins
from veridical.curves import curve_from_summary
from veridical.decomposition import decompose_isotonic
from veridical.evaluation._default import default_error
from veridical.evaluation._notes import doubts_of
from veridical.evaluation._null import NullDraws
from veridical.evaluation._source import Rows, Source
from veridical.evaluation._verdict import verdict_of
from veridical.exceptions import InvalidInputError
from veridical.inference import binned_limits, has_interval, recalibration_line
from veridical.lenses import Classwise, Lens
from veridical.miscalibration import (
    BinnedError,
    CumulativeError,
    Estimator,
    SmoothError,
    doubts_of_summary,
)
from veridical.results import Evaluation, MeasuredError
from veridical.scores import get_rule
from veridical.summaries import Summary, VectorSummary


def evaluate_sample(
    sample: Sample,
    lens: Lens,
    *,
    n_bins: Any,
    confidence_level: float,
    n_resamples: int,
    rng: Any,
) -> Evaluation:
    """Measure everything that fits the lens, from the rows."""
    return evaluate_source(
        Rows(sample, lens),
        n_bins=n_bins,
        confidence_level=confidence_level,
        n_resamples=n_resamples,
        rng=rng,
    )


def evaluate_source(
    source: Source,
    *,
    n_bins: Any,
    confidence_level: float,
    n_resamples: int,
    rng: Any,
) -> Evaluation:
    """Measure everything that fits the lens, from rows or from sums of them."""
    binning = UniformBins(n_bins)
    shown = source.shown
    fit = isotonic_fit(shown.pooled)
    curve = curve_from_summary(
        source.summary(binning),
        lens=source.shown_lens.name,
        definition=binning.name,
        interval="wilson",
        confidence_level=confidence_level,
    )
    null = NullDraws(n_resamples, check_rng(rng, caller="evaluate"))
    errors, binning_doubts = _errors(source, n_bins, null, confidence_level)
    line = recalibration_line(shown, confidence_level)
    predicted, observed = (weighted_mean(v, shown.weight) for v in (shown.p, shown.y))
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
        mean_predicted=predicted,
        mean_observed=observed,
        calibration_in_the_large=observed - predicted,
        observed_expected=observed / predicted if predicted > 0 else None,
        scores=source.scores,
        decompositions=tuple(
            replace(
                decompose_isotonic(
                    shown,
                    get_rule(rule, caller="evaluate"),
                    lens=source.shown_lens.name,
                    fit=fit,
                    score=source.score_of_shown(rule),
                ),
                n_samples=source.n,
            )
            for rule in ("brier", "log")
        ),
        errors=errors,
        curve=curve,
        confidence_level=confidence_level,
        slope=line.slope,
        intercept=line.in_the_large,
        default_error=_default_name(source),
    )
    evaluation = replace(evaluation, verdict=verdict_of(evaluation))
    notes = dict.fromkeys([*doubts_of(evaluation), *binning_doubts])
    return replace(evaluation, notes=tuple(notes))


def _errors(
    source: Source, n_bins: Any, null: NullDraws, level: float
) -> tuple[tuple[MeasuredError, ...], list[str]]:
    measured: list[MeasuredError] = []
    doubts: list[str] = []
    summaries: dict[tuple[Binning, str], Summary | VectorSummary] = {}

    def record(name: str, value: float, estimator: Estimator, through: Lens, **null: Any) -> None:
        measured.append(
            MeasuredError(
                name=name,
                value=value,
                definition=estimator.definition,
                lens=through.name,
                n_samples=source.n,
                **null,
            )
        )

    def measure(name: str, estimator: BinnedError, through: Lens) -> None:
        key = (estimator.binning, through.name)
        if key not in summaries:
            summaries[key] = source.binned(estimator, through)
            doubts.extend(f"{name}: {doubt}" for doubt in doubts_of_summary(summaries[key]))
        summary = summaries[key]
        try:
            value = estimator.from_summary(summary)
        except InvalidInputError as error:  # too few rows to debias: say so, keep the rest
            doubts.append(f"{name} left out: {str(error).splitlines()[-1].removeprefix('Hint: ')}")
            return
        drawn = null.level(estimator, source.null_of(through), summary, value)
        limits: dict[str, float] = {}
        single = source.kind == "binary" and through is source.lens
        if single and isinstance(summary, Summary) and has_interval(estimator):
            limits["low"], limits["high"] = binned_limits(estimator, summary, level)
        record(name, value, estimator, through, **drawn, **limits)

    for name, estimator in _estimators(source, n_bins):
        measure(name, estimator, source.lens)
    if source.kind == "binary":
        for unbinned in (SmoothError(), CumulativeError()):
            record(unbinned.name, unbinned.measure(source.shown), unbinned, source.lens)
    if source.has_classes and source.kind != "classwise":
        measure("classwise ECE", BinnedError(UniformBins(n_bins)), Classwise())
    return tuple(measured), doubts


def _estimators(source: Source, n_bins: Any) -> list[tuple[str, BinnedError]]:
    uniform: Binning = UniformBins(n_bins)
    plain = [
        ("ECE", BinnedError(uniform)),
        ("RMSCE", BinnedError(uniform, norm=2)),
        ("MCE", BinnedError(uniform, norm="max")),
    ]
    if source.kind == "vector":
        assert isinstance(source, Rows)
        assert isinstance(source.problem, MulticlassSample)
        return [*plain[:1], ("ECE variance-split", default_error(source.problem, n_bins))]
    if source.kind == "classwise":
        return [*plain, ("ECE worst class", BinnedError(uniform, aggregate="max"))]
    return [
        plain[0],
        ("ECE equal-mass", BinnedError(QuantileBins(n_bins))),
        ("ECE sweep", BinnedError(SweepBins())),
        ("ECE debiased", BinnedError(uniform, debias=True)),
        *plain[1:],
        ("RMSCE debiased", BinnedError(uniform, norm=2, debias=True)),
    ]


def _default_name(source: Source) -> str:
    """Name of `default_error` among the errors measured."""
    return "ECE variance-split" if source.kind == "vector" else "ECE"
