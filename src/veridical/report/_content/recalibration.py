"""What recalibration would save, on rows the calibrator has not seen."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from veridical._core.data.left_out import LeftOut
from veridical._core.runtime.progress import track
from veridical._core.runtime.threads import one_blas_thread
from veridical._core.sample import BinarySample, MulticlassSample, Sample
from veridical._core.typing import FloatArray, IntArray
from veridical.binning import UniformBins
from veridical.curves.display import shared_axes
from veridical.evaluation.core import diagram_of
from veridical.evaluation.data import SampleSource, Source
from veridical.exceptions import InvalidInputError
from veridical.inference.intervals import IntervalOptions, gain_core
from veridical.lenses import Binary, Canonical
from veridical.miscalibration import BinnedError, BrierScore, LogScore
from veridical.miscalibration.core import MeanScore
from veridical.report._content.content import BeforeAfter, MapLine, Recalibration
from veridical.report._content.request import Options
from veridical.results import Difference, Evidence

MOST_ROWS = 25_000
_MOST_VALUES, _LEAST_ROWS = 60_000, 2_000  # probabilities of several classes take longer to fit to
_FEW_ROWS = 20
_FEW_EVENTS = 5  # fewer rows outside the most frequent class show nothing
_MANY_CLASSES = 30  # beyond, one temperature is all that is tried
_FOLDS = 5
_POINTS = 201  # of the map that is drawn

RULE = (
    f"Recalibration is measured on held-out rows, on at most {MOST_ROWS:,} drawn at random (fewer"
    " of three classes or more). AutoCalibrator is fitted once: its maps are fitted to the other"
    " folds of the rows they are judged on, and the weights they are averaged with are found"
    " without the two folds they are applied to. The saving is a share of the mean log loss before"
    " (whose uncertainty is not counted); its limits count that the map was fitted to these rows."
    f" Beyond {_MANY_CLASSES} classes temperatures are mixed instead, fitted to {_FOLDS} folds."
    f" With fewer than {_FEW_EVENTS} rows outside the most frequent class nothing is claimed. Where"
    " an outcome was given probability 0 the log loss is infinite and the Brier score takes its"
    " place."
)


@dataclass(frozen=True)
class _Trial:
    """A calibrator, and predictions of rows it left out: as they came, after, and by its map."""

    name: str
    calibrator: Any
    y: IntArray
    weight: FloatArray | None
    before: FloatArray
    after: FloatArray
    own: FloatArray
    n_folds: int
    evidence: Evidence | None = None
    left_alone: bool = False


def recalibrate(source: Source, o: Options) -> Recalibration:
    """Fit the automatic calibrator once; a sample of rows stands for very many."""
    n_classes = len(source.classes)
    most = max(_LEAST_ROWS, _MOST_VALUES // n_classes) if n_classes > 2 else MOST_ROWS
    drawn = source.some_rows(most, o.seed)
    if isinstance(drawn, LeftOut):
        return nothing_tried(drawn.reason)
    part, note = drawn
    if part.sample.clusters is not None:  # folds would divide groups, and gains not hold
        return nothing_tried(
            "rows belong together, and what maps gain on rows held out would not hold"
        )
    if part.n < _FEW_ROWS or len(np.unique(part.sample.y)) < 2:
        why = f"fewer than {_FEW_ROWS} rows" if part.n < _FEW_ROWS else "only one class occurred"
        return nothing_tried(why)
    try:
        with one_blas_thread():
            trial = _tried(part.sample, o.confidence_level)
    except InvalidInputError as error:
        return nothing_tried(error.problem)
    if isinstance(trial, LeftOut):
        return nothing_tried(trial.reason)
    return _described(trial, part, o, note)


def _tried(sample: Sample, level: float) -> _Trial | LeftOut:
    from veridical.calibrators import EnsembleTemperatureCalibrator, IdentityCalibrator
    from veridical.calibrators.core import CheckedRows, fit_rows, predict_rows
    from veridical.selection.core import auto_fit, cross_fit, make_folds

    n_classes = len(sample.classes)
    rows = CheckedRows(
        sample.p, sample.y, sample.weight, sample.weight_type, tuple(range(n_classes))
    )
    if n_classes <= _MANY_CLASSES:
        auto = auto_fit(rows, confidence_level=level)
        if isinstance(auto, LeftOut):
            return auto
        stages = (auto.before, auto.after, auto.own)
        data = (auto.y, auto.weight, *stages, auto.n_folds)
        evidence = _timeless(auto.evidence)
        return _Trial("AutoCalibrator", auto.calibrator, *data, evidence, auto.left_alone)
    calibrator = EnsembleTemperatureCalibrator(weight_type=sample.weight_type)
    fit_rows(calibrator, rows)
    folds = make_folds(rows, (_FOLDS,))
    after = cross_fit(calibrator, folds, iter(track(len(folds), "holding out folds")))
    before = cross_fit(IdentityCalibrator(), folds, iter(()))
    if isinstance(after, LeftOut) or isinstance(before, LeftOut):
        return LeftOut("there are too few rows to hold any out")
    held = [fold.held for fold in folds]
    own = np.concatenate([predict_rows(calibrator, part) for part in held])
    weights = [part.weight for part in held if part.weight is not None]
    return _Trial(
        type(calibrator).__name__,
        calibrator,
        np.concatenate([part.y for part in held]),
        np.concatenate(weights) if weights else None,
        before.given,
        after.given,
        own,
        len(folds),
    )


def _described(trial: _Trial, part: SampleSource, o: Options, note: str) -> Recalibration:
    stages = [_stage(part, trial, p) for p in (trial.before, trial.after, trial.own)]
    before, after, _ = stages
    finite = all(math.isfinite(each.scores["log"]) for each in stages)
    scores: tuple[MeanScore, ...] = (LogScore(), BrierScore()) if finite else (BrierScore(),)
    gains = {score.name: _gain(score, stages, trial, o) for score in scores}
    figure, title = ("log", "log loss") if finite else ("brier", "Brier score")
    found = gains[figure]
    if found.second == 0:
        return nothing_tried("every outcome was predicted with certainty")
    cut, low, high = (-v / found.second for v in (found.estimate, found.high, found.low))
    counts = np.bincount(part.sample.y)
    few = int(counts.sum() - counts.max()) < _FEW_EVENTS
    displays = shared_axes(
        {
            name: diagram_of(stage, o.confidence_level)
            for name, stage in (("before", before), ("after", after))
        }
    )
    text = _sentence(trial.name, title, (cut, low, high), few=few)
    if trial.left_alone:
        text = (
            f"{trial.name} leaves the predictions as they are: no map beats them on held-out rows"
            " beyond noise."
        )
    return Recalibration(
        calibrator=trial.name,
        text=text,
        figure=title,
        before=found.second,
        after=found.first,
        cut=cut,
        low=low,
        high=high,
        n_samples=before.n,
        n_folds=trial.n_folds,
        claimed=not few,
        left_alone=trial.left_alone,
        figures=tuple(_figures(before, after, gains, o)),
        before_display=displays["before"],
        after_display=displays["after"],
        map=_map_line(trial, part.sample),
        evidence=trial.evidence,
        note=note,
    )


def _stage(part: SampleSource, trial: _Trial, p: FloatArray) -> SampleSource:
    """Held-out rows with the predictions of one stage, seen through the same lens."""
    sample = part.sample
    rows: dict[str, Any] = {"y": trial.y, "weight": trial.weight, "clusters": None, "strata": None}
    if isinstance(sample, MulticlassSample):
        stage: Sample = replace(sample, p=p, confidence=None, right=None, **rows)
    else:  # rows have the positive class last
        stage = replace(sample, p=np.ascontiguousarray(p[:, 1]), pair=None, **rows)
    return SampleSource(stage, part.lens, named=part.named, asked=part.asked)


def _gain(score: MeanScore, stages: list[SampleSource], trial: _Trial, o: Options) -> Difference:
    """Score after minus before of the map on new rows.

    Of the log loss as the evidence of an automatic choice has it, else from before, held out and
    the map's own rows (`gain_core`).
    """
    lens = Binary() if isinstance(stages[0].sample, BinarySample) else Canonical()
    before, after, own = (each.induced_by(lens) for each in stages)
    options = IntervalOptions("analytic", o.confidence_level)
    found = gain_core(score, before, after, own, trial.n_folds, options)
    if score.name != "log" or trial.evidence is None:
        return found
    result = trial.evidence.candidates[-1]
    assert result.difference is not None
    assert result.low is not None
    assert result.high is not None
    return replace(
        found,
        estimate=result.difference,
        low=result.low,
        high=result.high,
        first=found.second + result.difference,
    )


def _figures(
    before: SampleSource,
    after: SampleSource,
    gains: dict[str, Difference],
    o: Options,
) -> Iterator[BeforeAfter]:
    """Figures of held-out rows; changes of scores are those to expect of the map."""
    for rule, name in (("log", "log loss"), ("brier", "Brier score")):
        if rule in gains:
            gain = gains[rule]
            ends = {"before": gain.second, "after": gain.first, "low": gain.low, "high": gain.high}
            yield BeforeAfter(name=name, **ends)
        else:
            yield BeforeAfter(name=name, before=before.scores[rule], after=after.scores[rule])
    rates = [1 - stage.scores["zero-one"] for stage in (before, after)]
    yield BeforeAfter(name="accuracy", before=rates[0], after=rates[1])
    areas = [stage.areas for stage in (before, after)]
    known = [None if None in each else float(np.mean(each)) for each in areas]  # type: ignore[arg-type]
    yield BeforeAfter(name="AUC", before=known[0], after=known[1])
    estimator = BinnedError(UniformBins(o.n_bins))
    errors = [estimator.measure(stage.binary) for stage in (before, after)]
    name = f"ECE ({before.binary_lens.name} lens)"
    yield BeforeAfter(name=name, before=errors[0], after=errors[1])


def _map_line(trial: _Trial, sample: Sample) -> MapLine | None:
    """The map of two classes, where the predictions are."""
    if not isinstance(sample, BinarySample):
        return None
    p = np.sort(sample.p.astype(np.float64))
    at = np.unique(np.concatenate([np.linspace(p[0], p[-1], _POINTS), np.quantile(p, _GRID)]))
    given = np.asarray(trial.calibrator.predict_proba(np.column_stack([1 - at, at])))
    return MapLine(at=at, to=given[:, 1])


_GRID = np.linspace(0, 1, 51)


def _sentence(name: str, figure: str, saved: tuple[float, float, float], *, few: bool) -> str:
    cut, low, high = saved
    if few:
        return (
            f"What recalibrating with {name} does to {figure} cannot be said: fewer than"
            f" {_FEW_EVENTS} rows are not of the most frequent class."
        )
    limits = f"({percent(low)} to {percent(high)} %)"
    if low > 0:
        return f"Recalibrating with {name} cuts {figure} by {percent(cut)} % {limits}."
    if high < 0:
        worse = f"({percent(-high)} to {percent(-low)} %)"
        return f"Recalibrating with {name} makes {figure} {percent(-cut)} % larger {worse}."
    if max(abs(low), abs(high)) < 0.001:
        return f"Recalibrating with {name} changes {figure} by less than 0.1 %."
    if cut >= 0:
        saved_words = f"a cut of {percent(cut)} % in {figure}"
    else:
        saved_words = f"{percent(-cut)} % more {figure}"
        limits = f"({percent(-high)} to {percent(-low)} %)"
    return f"Recalibrating with {name} makes no sure difference: {saved_words} {limits}."


def percent(share: float) -> str:
    """Per cent without a sign of its own; one decimal where whole ones would hide the number."""
    value = 100 * share
    if abs(value) < 0.05:
        return "0.0"
    return f"{value:.0f}" if abs(value) >= 9.95 else f"{value:.1f}"


def nothing_tried(why: str) -> Recalibration:
    """A recalibration that was not made, and why."""
    return Recalibration(
        calibrator="", text=f"Recalibration was not tried: {why.rstrip('.')}.", note=why
    )


def _timeless(evidence: Evidence) -> Evidence:
    """The same without times, so that the same data give the same report."""
    return replace(evidence, candidates=tuple(replace(c, seconds=0.0) for c in evidence.candidates))
