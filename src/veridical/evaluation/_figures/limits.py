"""Confidence limits of the figures of an evaluation, by the name of the figure."""

from __future__ import annotations

import math
from collections.abc import Iterable

from veridical._core.sample import BinarySample, MulticlassSample, Sample
from veridical.evaluation._data.source import SampleSource, Source
from veridical.exceptions import InvalidInputError
from veridical.inference.intervals import (
    IntervalOptions,
    Rows,
    area_limits,
    gap_limits,
    make_units,
    masses_of_many,
    mean_interval,
    mean_limits,
    part_limits,
    ratio_limits,
    rows_of,
    score_support,
    scores_by_row,
)
from veridical.lenses import Binary, Canonical, ClassSpecific, Problem
from veridical.miscalibration import BrierScore, LogScore, SphericalScore, ZeroOneLoss
from veridical.miscalibration.core import MeanScore
from veridical.scores import get_rule

SCORES: dict[str, MeanScore] = {
    "brier": BrierScore(),
    "log": LogScore(),
    "spherical": SphericalScore(),
    "zero-one": ZeroOneLoss(),
}
_MANY_ROWS = 1 << 16  # of which no score is kept
_MOST_AREAS = 100_000_000  # predictions of several classes that are ranked once more

Limits = dict[str, tuple[float, float]]


def figure_limits(
    source: Source, area: float | None, level: float, *, with_parts: bool = True
) -> Limits:
    """Limits of all figures but errors and coefficients; what is not known is left out.

    Sums know whole predictions of two classes only.
    """
    sample = source.sample if isinstance(source, SampleSource) else None
    if sample is None and not source.has_classes:
        sample = source.through(Binary())
    if source.n < 2 or (sample is not None and _one_cluster(sample)):
        return {}
    limits: Limits = {}
    if sample is not None:
        limits |= _of_scores(sample, source.scores, level)
        if area is not None and sample.p.size <= _MOST_AREAS:
            found = area_limits(_problems(sample, source), area, level)
            limits |= {} if found is None else {"AUC": found}
    rows = source.rows
    limits["calibration in the large"] = gap_limits(rows, level)
    if rows.p.max() > 0:
        limits["observed/expected"] = ratio_limits(rows, level)
    for rule in ("brier", "log") if with_parts else ():
        parts = part_limits(rows, get_rule(rule, caller="evaluate"), level)
        if parts is not None:
            limits |= {f"{rule} {name}": found for name, found in parts._asdict().items()}
    return limits


def _one_cluster(sample: Sample) -> bool:
    return sample.clusters is not None and bool((sample.clusters == sample.clusters[0]).all())


def _problems(sample: Sample, source: Source) -> Iterable[Rows]:
    if isinstance(sample, BinarySample):
        return [source.rows if isinstance(source.lens, Binary) else rows_of(sample)]
    return (rows_of(ClassSpecific(label).induce(sample)) for label in sample.classes)


def _of_scores(sample: Sample, scores: dict[str, float], level: float) -> Limits:
    """Limits of the mean scores of the whole prediction, and of the accuracy."""
    lens = Canonical() if isinstance(sample, MulticlassSample) else Binary()
    problem = lens.induce(sample)
    limits: Limits = {}
    for name, score in SCORES.items():
        if not math.isfinite(scores[name]):  # something happened that was given probability 0
            limits[name] = (math.inf, math.inf)
            continue
        try:
            low, high = _of_mean(score, problem, sample, level)
        except InvalidInputError:  # infinite only where cells stand for rows
            continue
        limits[name] = min(low, scores[name]), max(high, scores[name])
    low, high = limits["zero-one"]
    limits["accuracy"] = (1 - high, 1 - low)
    return limits


def _of_mean(
    score: MeanScore, problem: Problem, sample: Sample, level: float
) -> tuple[float, float]:
    many = isinstance(sample, BinarySample) and sample.n > _MANY_ROWS and sample.pair is None
    if many and sample.weight is None and sample.clusters is None:
        masses, seen = masses_of_many(score, sample)  # type: ignore[arg-type]
        return mean_limits(masses, score_support(score, problem, seen), level)
    by_row = scores_by_row(score, problem, sample, caller="evaluate")
    units = make_units(
        by_row,
        sample.weight,
        by_frequency=sample.weight_type == "frequency",
        groups=sample.clusters,
    )
    support = score_support(score, problem, by_row)
    found = mean_interval(units, IntervalOptions("analytic", level), support=support)
    return found.low, found.high
