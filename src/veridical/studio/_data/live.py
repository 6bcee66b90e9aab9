"""Figures that follow the reader's hand: from rows sorted once to errors in a few milliseconds.

A change of bins touches no figure that has no bins: scores, areas and the recalibration line are
computed once a lens and kept. What has bins is made from rows in the order of their predictions,
where binning, equal masses and the null draws cost little (measured in `docs/studio.md`).
"""

from __future__ import annotations

import threading
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from veridical._core.sample import BinarySample
from veridical.binning import Binning, QuantileBins, UniformBins
from veridical.curves.core import check_curve_options, curve_core
from veridical.evaluation.core import (
    Question,
    binned_curve,
    diagram_of,
    evaluate_source,
    judge_source,
    means_and_line,
    measure_errors,
)
from veridical.evaluation.data import NullDraws, SampleSource, default_error, default_error_name
from veridical.lenses import Confidence, Lens, Problem
from veridical.lenses.reading import event_of
from veridical.miscalibration import BinnedError
from veridical.results import Evaluation, MeasuredError, ReliabilityCurve, ReliabilityDisplay
from veridical.summaries import Summary, VectorSummary, summarise

LEVEL, N_RESAMPLES, SEED = 0.95, 1000, 0
OPTIONS: dict[str, Any] = {
    "n_bins": 15,
    "confidence_level": LEVEL,
    "n_resamples": N_RESAMPLES,
    "rng": SEED,
}
_KINDS = ("equal-width", "equal-mass")  # bins that a reader can change


class SortedSource(SampleSource):
    """Rows of binary problems in the order of their predictions, the last summary kept."""

    @cached_property
    def problem(self) -> Problem:
        """What the lens induces."""
        problem = self.lens.induce(self.sample)
        return _sorted(problem) if isinstance(problem, BinarySample) else problem

    @cached_property
    def binary(self) -> BinarySample:
        """The problem of the diagram: that of the lens, or the confidence."""
        if isinstance(self.problem, BinarySample):
            return self.problem
        return _sorted(Confidence().induce(self.sample))

    def summary(self, binning: Binning) -> Summary:
        """Sums by bin, which the curve and every error of these bins share."""
        summary = self._summaries.get(binning)
        if summary is None:
            summary = summarise(self.binary, binning)
            self._summaries.clear()
            self._summaries[binning] = summary
        return summary

    def binned(self, estimator: BinnedError, through: Lens) -> Summary | VectorSummary:
        """Sums by bin of the problem of a lens."""
        if self.kind == "binary" and through is self.lens:
            return self.summary(estimator.binning)
        return super().binned(estimator, through)

    @cached_property
    def _summaries(self) -> dict[Binning, Summary]:
        return {}


class LensView:
    """Rows through a lens, kept for questions about their bins.

    Parameters
    ----------
    rows : checked rows, their groups, and the lens they are seen through
    base : evaluation through another lens, whose figures of the whole prediction are the same
    """

    def __init__(self, rows: SampleSource, base: LensView | None = None) -> None:
        self.lens, self._base = rows.lens, base
        self._rows = rows
        self._sorted = SortedSource(rows.sample, rows.lens, named=rows.named)
        self._lock = threading.RLock()
        self._curves: dict[str, ReliabilityCurve] = {}

    @cached_property
    def full(self) -> Evaluation:
        """Everything `evaluate` measures with 15 bins."""
        return evaluate_source(self._rows, **OPTIONS)

    @cached_property
    def _without_bins(self) -> Evaluation:
        """Means and recalibration line of this lens, and what no lens changes."""
        if self._base is None:
            return self.full
        self._base.warm()
        own = means_and_line(self._sorted, LEVEL)
        verdict = judge_source(self._rows, **OPTIONS).verdict
        return replace(
            self._base.full, lens=self.lens.name, decompositions=(), verdict=verdict, **own
        )

    def warm(self) -> None:
        """Do what the first question would have to wait for."""
        with self._lock:
            _ = self._without_bins, self._sorted.binary

    def evaluation(self, n_bins: int, strategy: str) -> Evaluation:
        """Figures with these bins, the same as those of `evaluate`; those without are left out.

        The verdict is that of 15 bins: it does not depend on where a reader looks.
        """
        self.warm()
        binning: Binning = UniformBins(n_bins)
        if strategy == "quantile" and self._sorted.kind == "binary":
            binning = QuantileBins(n_bins)
        null = NullDraws(N_RESAMPLES, np.random.default_rng(SEED))
        questions = self._questions(binning, n_bins)
        errors, _ = measure_errors(self._sorted, questions, null, LEVEL)
        return replace(
            self._without_bins,
            curve=binned_curve(self._sorted, binning, LEVEL),
            errors=errors,
            default_error=errors[0].name,
        )

    def curve(self, method: str) -> ReliabilityCurve:
        """Reliability curve by a method without bins, which is kept."""
        with self._lock:
            if method not in self._curves:
                source = self._sorted
                options = check_curve_options("studio", method=method, interval=None)
                lens = source.binary_lens
                curve = curve_core(source.binary, lens.name, options, caller="studio")
                event = event_of(lens, source.classes, self._rows.named.y)
                self._curves[method] = replace(curve, event=event)
            return self._curves[method]

    @cached_property
    def display(self) -> ReliabilityDisplay:
        """Reliability diagram with bins and axes that fit the rows."""
        return diagram_of(self._sorted, LEVEL)

    def _questions(self, binning: Binning, n_bins: int) -> list[Question]:
        """Errors that follow the bins."""
        estimators = {
            "ECE": BinnedError(binning),
            "ECE debiased": BinnedError(binning, debias=True),
            "RMSCE": BinnedError(binning, norm=2),
            "MCE": BinnedError(binning, norm="max"),
        }
        if self._sorted.kind != "binary":
            name = default_error_name(self._sorted)
            estimators = {name: default_error(self._sorted.problem, n_bins)}
        return [Question(name, each, self.lens) for name, each in estimators.items()]


def _sorted(sample: BinarySample) -> BinarySample:
    return sample.take(np.argsort(sample.p, kind="stable"))


def without_bins(errors: tuple[MeasuredError, ...]) -> list[MeasuredError]:
    """Errors that do not change with the number of bins."""
    return [e for e in errors if not any(kind in e.definition for kind in _KINDS)]
