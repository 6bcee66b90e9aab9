"""What recalibration would save, on rows the calibrator has not seen."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from veridical._core.data.left_out import LeftOut
from veridical._core.runtime.threads import one_blas_thread
from veridical._core.typing import WeightType
from veridical.evaluation.core import held_out
from veridical.evaluation.data import Source
from veridical.exceptions import InvalidInputError
from veridical.report._content.content import Recalibration
from veridical.results import Comparison, Evidence

_FOLDS, _FOLDS_OF_SEVERAL = 5, 3  # maps of several classes take longer to fit
_MOST_ROWS, _LEAST_ROWS = 20_000, 2_000
_MOST_VALUES = 15_000  # probabilities of several classes, which take longer to fit to
_FEW_ROWS = 20
_FEW_EVENTS = 5  # fewer rows outside the most frequent class show nothing
_MANY_CLASSES = 30  # beyond, one temperature is all that is tried

RULE = (
    f"Recalibration is measured on held-out rows: rows are dealt at random into {_FOLDS} folds"
    f" ({_FOLDS_OF_SEVERAL} for three classes or more), the"
    " calibrator chooses and fits on the others, and the predictions of all folds are compared"
    " with the model's own. The saving is that of the calibrator fitted to all rows, which the"
    " folds are corrected to, as a share of the mean score before (whose uncertainty is not"
    " counted); its limits count that folds share rows and that the map was fitted to these."
    " With fewer than five rows outside the most frequent class nothing is claimed. Where an"
    " outcome was given probability 0 the log loss is infinite and the Brier score takes its place."
)


def recalibrate(source: Source, *, n_bins: Any, seed: int) -> Recalibration:
    """Cross-fit the automatic calibrator; a sample of rows stands for very many."""
    n_classes = len(source.classes)
    most = max(_LEAST_ROWS, _MOST_VALUES // n_classes) if n_classes > 2 else _MOST_ROWS
    drawn = source.some_rows(most, seed)
    if isinstance(drawn, LeftOut):
        return nothing_tried(drawn.reason)
    part, note = drawn
    sample = part.sample
    if part.n < _FEW_ROWS or len(np.unique(sample.y)) < 2:
        why = f"fewer than {_FEW_ROWS} rows" if part.n < _FEW_ROWS else "only one class occurred"
        return nothing_tried(why)
    from veridical.calibrators.core import CheckedRows, fit_rows

    rows = CheckedRows(
        sample.p, sample.y, sample.weight, sample.weight_type, tuple(range(n_classes))
    )
    calibrator = _calibrator(n_classes, sample.weight_type)
    n_folds = _FOLDS_OF_SEVERAL if n_classes > 2 else _FOLDS
    try:
        with one_blas_thread():
            fit_rows(calibrator, rows)
            found = held_out(calibrator, rows, n_folds=n_folds, lens=None, n_bins=n_bins)
    except InvalidInputError as error:
        return nothing_tried(error.problem)
    if isinstance(found, LeftOut):
        return nothing_tried(found.reason)
    assert isinstance(found.result, Comparison)  # probabilities have a before
    evidence = getattr(calibrator, "evidence_", None)
    if evidence is not None:
        evidence = _timeless(evidence)
    counts = np.bincount(sample.y)
    few = int(counts.sum() - counts.max()) < _FEW_EVENTS
    name = type(calibrator).__name__
    return _described(found.result, name, evidence, n_folds, note, few=few)


def _calibrator(n_classes: int, weight_type: WeightType) -> Any:
    from veridical.calibrators import EnsembleTemperatureCalibrator
    from veridical.selection import AutoCalibrator

    if n_classes > _MANY_CLASSES:
        return EnsembleTemperatureCalibrator(weight_type=weight_type)
    return AutoCalibrator(weight_type=weight_type)


def _described(
    found: Comparison,
    name: str,
    evidence: Evidence | None,
    n_folds: int,
    note: str,
    *,
    few: bool,
) -> Recalibration:
    figure, title = "log", "log loss"
    if not all(math.isfinite(e.scores["log"]) for e in found.evaluations):
        figure, title = "brier", "Brier score"
    difference = found.difference("after", "before", figure)
    before = difference.second
    if before == 0:
        return nothing_tried("every outcome was predicted with certainty")
    cut, low, high = (-v / before for v in (difference.estimate, difference.high, difference.low))
    return Recalibration(
        calibrator=name,
        text=_sentence(name, title, cut, low, high, few=few),
        figure=title,
        before=before,
        after=difference.first,
        cut=cut,
        low=low,
        high=high,
        n_samples=found.n_samples,
        n_folds=n_folds,
        comparison=found,
        evidence=evidence,
        note=note,
    )


def _sentence(name: str, figure: str, cut: float, low: float, high: float, *, few: bool) -> str:
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
        saved = f"a cut of {percent(cut)} % in {figure}"
    else:
        saved = f"{percent(-cut)} % more {figure}"
    return f"Recalibrating with {name} makes no sure difference: {saved} {limits}."


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
