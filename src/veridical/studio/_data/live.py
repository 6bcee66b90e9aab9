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

from veridical._core.sample import BinarySample, MulticlassSample, Sample, weighted_mean
from veridical.binning import Binning, QuantileBins, UniformBins
from veridical.curves import curve_from_summary, reliability_curve
from veridical.evaluation.core import evaluate_sample, verdict_of
from veridical.evaluation.data import NullDraws, NullSource, default_error
from veridical.exceptions import InvalidInputError
from veridical.inference import binned_limits, has_interval, recalibration_line
from veridical.lenses import Confidence, Lens, Problem
from veridical.miscalibration import BinnedError
from veridical.results import Evaluation, MeasuredError, ReliabilityCurve
from veridical.summaries import Summary, VectorSummary, summarise

LEVEL, N_RESAMPLES, SEED = 0.95, 1000, 0
_KINDS = ("equal-width", "equal-mass")  # bins that a reader can change


class LensView:
    """A sample through a lens, kept for questions about its bins.

    Parameters
    ----------
    sample : checked rows
    lens : what they are seen through
    base : evaluation through another lens, whose figures of the whole prediction are the same
    """

    def __init__(self, sample: Sample, lens: Lens, base: LensView | None = None) -> None:
        self.sample, self.lens, self._base = sample, lens, base
        self._lock = threading.RLock()
        self._curves: dict[str, ReliabilityCurve] = {}

    @cached_property
    def problem(self) -> Problem:
        """What the lens induces; rows of a binary problem in the order of their predictions."""
        problem = self.lens.induce(self.sample)
        return _sorted(problem) if isinstance(problem, BinarySample) else problem

    @cached_property
    def shown(self) -> BinarySample:
        """The problem of the diagram: that of the lens, or the confidence."""
        if isinstance(self.problem, BinarySample):
            return self.problem
        return _sorted(Confidence().induce(self.sample))

    @property
    def shown_lens(self) -> str:
        """Name of the lens of the diagram."""
        return self.lens.name if isinstance(self.problem, BinarySample) else "confidence"

    @cached_property
    def whole(self) -> Evaluation:
        """Everything `evaluate` measures with 15 bins."""
        return evaluate_sample(
            self.sample,
            self.lens,
            n_bins=15,
            confidence_level=LEVEL,
            n_resamples=N_RESAMPLES,
            rng=SEED,
        )

    @cached_property
    def _without_bins(self) -> Evaluation:
        """Means and recalibration line of this lens, and what no lens changes."""
        if self._base is None:
            return self.whole
        self._base.warm()
        shown = self.shown
        line = recalibration_line(shown, LEVEL)
        predicted, observed = (weighted_mean(v, shown.weight) for v in (shown.p, shown.y))
        return replace(
            self._base.whole,
            lens=self.lens.name,
            mean_predicted=predicted,
            mean_observed=observed,
            calibration_in_the_large=observed - predicted,
            observed_expected=observed / predicted if predicted > 0 else None,
            decompositions=(),
            slope=line.slope,
            intercept=line.in_the_large,
        )

    def warm(self) -> None:
        """Do what the first question would have to wait for."""
        with self._lock:
            _ = self._without_bins, self.shown

    def evaluation(self, n_bins: int, strategy: str) -> Evaluation:
        """Figures with these bins, the same as those of `evaluate`; those without are left out."""
        self.warm()
        binning: Binning = UniformBins(n_bins)
        if strategy == "quantile" and isinstance(self.problem, BinarySample):
            binning = QuantileBins(n_bins)
        summary = summarise(self.shown, binning)
        curve = curve_from_summary(
            summary,
            lens=self.shown_lens,
            definition=binning.name,
            interval="wilson",
            confidence_level=LEVEL,
        )
        errors = self._errors(binning, n_bins, summary)
        found = replace(
            self._without_bins, curve=curve, errors=errors, default_error=errors[0].name
        )
        return replace(found, verdict=verdict_of(found))

    def curve(self, method: str) -> ReliabilityCurve:
        """Reliability curve by a method without bins, which is kept."""
        with self._lock:
            if method not in self._curves:
                shown = self.shown
                found = reliability_curve(
                    shown.y,
                    shown.p,
                    method=method,  # type: ignore[arg-type]  # checked there
                    interval=None,
                    sample_weight=shown.weight,
                    labels=[0, 1],
                )
                self._curves[method] = replace(found, lens=self.shown_lens)
            return self._curves[method]

    def _errors(self, binning: Binning, n_bins: int, shown: Summary) -> tuple[MeasuredError, ...]:
        null, problem = NullDraws(N_RESAMPLES, np.random.default_rng(SEED)), self.problem
        if isinstance(problem, BinarySample):
            summary: Summary | VectorSummary = shown
            plain = [
                ("ECE", BinnedError(binning)),
                ("ECE debiased", BinnedError(binning, debias=True)),
                ("RMSCE", BinnedError(binning, norm=2)),
                ("MCE", BinnedError(binning, norm="max")),
            ]
        else:
            vectors = isinstance(problem, MulticlassSample)
            plain = [("ECE variance-split" if vectors else "ECE", default_error(problem, n_bins))]
            summary = plain[0][1].summarise(problem)
        measured = []
        for name, estimator in plain:
            try:
                value = estimator.from_summary(summary)
            except InvalidInputError:  # too few rows to debias
                continue
            beside: dict[str, Any] = null.level(estimator, NullSource(problem), summary, value)
            if isinstance(summary, Summary) and len(summary.names) == 1 and has_interval(estimator):
                beside["low"], beside["high"] = binned_limits(estimator, summary, LEVEL)
            measured.append(
                MeasuredError(
                    name=name,
                    value=value,
                    definition=estimator.definition,
                    lens=self.lens.name,
                    n_samples=self.sample.n,
                    **beside,
                )
            )
        return tuple(measured)


def _sorted(sample: BinarySample) -> BinarySample:
    return sample.take(np.argsort(sample.p, kind="stable"))


def without_bins(errors: tuple[MeasuredError, ...]) -> list[MeasuredError]:
    """Errors that do not change with the number of bins."""
    return [e for e in errors if not any(kind in e.definition for kind in _KINDS)]
