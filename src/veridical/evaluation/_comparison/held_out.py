"""What a calibrator does to predictions of rows it has not seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from veridical._core.data.left_out import LeftOut
from veridical._core.runtime.progress import track
from veridical._core.sample import BinarySample, MulticlassSample, Sample
from veridical._core.typing import FloatArray
from veridical.evaluation._comparison.compare import compare_models
from veridical.evaluation._comparison.models import RowModels
from veridical.evaluation._data.source import SampleSource, lens_of
from veridical.evaluation._figures.measure import evaluate_source
from veridical.exceptions import InvalidInputError
from veridical.frames.inputs import UNNAMED, Named
from veridical.inference import adjust_pvalues
from veridical.inference.intervals import IntervalOptions, gain_core
from veridical.lenses.reading import resolve_lens
from veridical.miscalibration import BrierScore, LogScore, ZeroOneLoss
from veridical.miscalibration.core import MeanScore
from veridical.results import Comparison, Difference, Evaluation, ModelDifference

if TYPE_CHECKING:
    from veridical.calibrators import Calibrator
    from veridical.calibrators.core import CheckedRows
    from veridical.selection.core import CrossFit, Fold

_FEW_ROWS = 50  # so few may not allow every figure of a comparison
_OPTIONS: dict[str, Any] = {
    "confidence_level": 0.95,
    "n_resamples": 1000,
    "rng": 0,
}  # defaults of `compare`


@dataclass(frozen=True)
class HeldOut:
    """What was found on held-out rows, and doubts about it, each with the name of who has it."""

    result: Comparison | Evaluation
    notes: tuple[str, ...]


def held_out(
    calibrator: Calibrator, rows: CheckedRows, *, n_folds: int, lens: Any, n_bins: Any
) -> HeldOut | LeftOut:
    """Predictions before and after calibration by maps fitted to the other folds.

    `calibrator` is fitted to all of the rows. Everything it decides, an automatic choice too, is
    decided anew in each fold, so that the comparison is fair. The evaluation "after" is of maps
    fitted to (n_folds - 1) / n_folds of the rows; differences of scores are those of the map that
    was fitted to all. Scores are no probabilities and have no "before": then only what comes out is
    evaluated.
    """
    from veridical.calibrators import IdentityCalibrator
    from veridical.selection.core import make_folds

    folds = make_folds(rows, (n_folds,))
    after = _cross_fitted(calibrator, folds)
    if isinstance(after, LeftOut):
        return after
    outcome = getattr(calibrator, "outcome_name_", None)
    named = Named(outcome, pos_label=calibrator.pos_label is not None)
    source = held_out_source(after.given, rows, folds, lens, named)
    if calibrator.input == "score":
        evaluation = evaluate_source(source, n_bins=n_bins, **_OPTIONS)
        doubts = tuple(f"evaluate: {note}." for note in evaluation.notes)
        return HeldOut(evaluation, after.notes + doubts)
    before = _cross_fitted(IdentityCalibrator(input=calibrator.input), folds)
    if isinstance(before, LeftOut):
        return before
    models = {"before": held_out_source(before.given, rows, folds, lens, named), "after": source}
    own = {"after": held_out_source(own_predictions(calibrator, folds), rows, folds, lens, named)}
    try:
        found = compare_held_out(models, "before", own, len(folds), n_bins=n_bins)
    except InvalidInputError as error:
        if len(rows.y) >= _FEW_ROWS:
            raise
        return LeftOut(error.problem)  # bins of one row, say: that must not cost the fit
    doubts = tuple(f"compare: {note}." for note in found.notes)
    return HeldOut(found, after.notes + doubts)


def compare_held_out(
    models: dict[str, SampleSource],
    reference: str,
    own: dict[str, SampleSource],
    n_folds: int,
    *,
    n_bins: Any = 15,
) -> Comparison:
    """Compare held-out predictions of several maps with those of one that is not fitted.

    `own` are what maps fitted to all rows say of the same rows: differences of scores become those
    of these maps on new rows.
    """
    found = compare_models(RowModels(models), reference=reference, n_bins=n_bins, **_OPTIONS)
    scores = {score.name: score for score in (BrierScore(), LogScore(), ZeroOneLoss())}
    differences: list[ModelDifference] = []
    for figure, group in groupby(found.differences, key=lambda d: d.difference.estimator):
        pairs = list(group)
        if figure in scores:
            trios = [(models[reference], models[d.first], own[d.first]) for d in pairs]
            level = found.confidence_level
            gains = [_gain(scores[figure], trio, n_folds, level) for trio in trios]
            adjusted = adjust_pvalues([gain.pvalue for gain in gains])
            pairs = [
                replace(d, difference=gain, adjusted=float(pvalue))
                for d, gain, pvalue in zip(pairs, gains, adjusted, strict=True)
            ]
        differences += pairs
    return replace(found, differences=tuple(differences))


def _gain(
    estimator: MeanScore,
    trio: tuple[SampleSource, SampleSource, SampleSource],
    n_folds: int,
    level: float,
) -> Difference:
    """Score after minus before of the map fitted to all rows, from before, after and its own."""
    lens = lens_of(estimator, trio[0])
    before, after, own = (each.induced_by(lens) for each in trio)
    options = IntervalOptions("analytic", level)
    return gain_core(estimator, before, after, own, n_folds, options)


def own_predictions(calibrator: Calibrator, folds: Sequence[Fold]) -> FloatArray:
    """What a fitted calibrator says of the rows it was fitted to, fold after fold (m, K)."""
    from veridical.calibrators.core import predict_rows

    return np.concatenate([predict_rows(calibrator, fold.held) for fold in folds])


def held_out_source(
    p: FloatArray,
    rows: CheckedRows,
    folds: Sequence[Fold],
    lens: Any = None,
    named: Named = UNNAMED,
) -> SampleSource:
    """Held-out probabilities (m, K), fold after fold, with their outcomes and their names."""
    held = [fold.held for fold in folds]
    y = np.concatenate([part.y for part in held])
    weights = [part.weight for part in held if part.weight is not None]
    weight = np.concatenate(weights) if weights else None
    classes = rows.classes
    sample: Sample
    if len(classes) > 2:
        sample = MulticlassSample(y=y, p=p, weight=weight, classes=classes)
    else:
        sample = BinarySample(  # rows have the positive class last
            y=y, p=np.ascontiguousarray(p[:, 1]), weight=weight, classes=rows.by_label, pair=p
        )
    return SampleSource(sample, resolve_lens(lens, sample, caller="compare"), named=named)


def _cross_fitted(calibrator: Calibrator, folds: Sequence[Fold]) -> CrossFit | LeftOut:
    from veridical.calibrators.core import fresh
    from veridical.selection import AutoCalibrator
    from veridical.selection.core import cross_fit

    part = fresh(calibrator, labels=None, pos_label=None)  # rows hold class indices
    if isinstance(part, AutoCalibrator):
        limit = part.max_seconds
        part.max_seconds = None if limit is None else limit / max(1, len(folds))
        return cross_fit(part, folds, iter(range(len(folds))))  # draws its own bars
    return cross_fit(part, folds, iter(track(len(folds), "holding out folds")))
