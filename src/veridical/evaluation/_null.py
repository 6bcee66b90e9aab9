"""Null levels of the binned errors of an evaluation, drawn once per binning."""

from __future__ import annotations

import numpy as np

from veridical._core.sample import BinarySample
from veridical.binning import Binning
from veridical.inference import depends_on_fixed_sums, null_summaries
from veridical.lenses import Problem
from veridical.miscalibration import BinnedError
from veridical.summaries import Summary, VectorSummary


class NullDraws:
    """Resampled summaries, shared by the errors that use the same bins."""

    def __init__(self, n_resamples: int, rng: np.random.Generator) -> None:
        self._n_resamples, self._rng = n_resamples, rng
        self._drawn: dict[Binning, Summary] = {}

    def level(
        self, estimator: BinnedError, problem: Problem, summary: Summary | VectorSummary
    ) -> tuple[float | None, float | None]:
        """Mean and 95 % quantile of the error on a calibrated model, where cheap to draw."""
        if not (isinstance(problem, BinarySample) and isinstance(summary, Summary)):
            return None, None
        if not (self._n_resamples and depends_on_fixed_sums(estimator)):
            return None, None
        if estimator.binning not in self._drawn:
            drawn = null_summaries(problem, summary, self._n_resamples, self._rng)
            self._drawn[estimator.binning] = drawn
        errors = estimator.each(self._drawn[estimator.binning])
        return float(errors.mean()), float(np.quantile(errors, 0.95))
