"""Null levels of the binned errors of an evaluation, drawn once per binning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.sample import BinarySample, MulticlassSample
from veridical._core.typing import FloatArray
from veridical.binning import Binning
from veridical.inference import (
    depends_on_fixed_sums,
    monte_carlo_pvalue,
    null_sample,
    null_summaries,
)
from veridical.inference._repeats import Outcomes
from veridical.lenses import ClasswiseProblem, Problem
from veridical.miscalibration import BinnedError
from veridical.summaries import Summary, VectorSummary

# Outcomes of several classes are drawn row by row; beyond this many probabilities times draws an
# evaluation would no longer be quick.
_MOST_DRAWN = 1e8
_MOST_KEPT = 1 << 22  # sums of drawn outcomes


@dataclass(frozen=True)
class NullSource:
    """Predictions that outcomes are drawn from; `outcomes` if not one by one for its rows."""

    problem: Problem
    outcomes: Outcomes | None = None


class NullDraws:
    """Resampled summaries, shared by the errors that use the same bins."""

    def __init__(self, n_resamples: int, rng: np.random.Generator) -> None:
        self._n_resamples, self._rng = n_resamples, rng
        self._drawn: dict[tuple[Binning, int], Summary] = {}

    def level(
        self,
        estimator: BinnedError,
        source: NullSource | None,
        summary: Summary | VectorSummary,
        value: float,
    ) -> dict[str, Any]:
        """Mean, 95 % quantile and p-value of the error on a calibrated model, where quick."""
        if source is None or not (self._n_resamples and depends_on_fixed_sums(estimator)):
            return {}
        problem = source.problem
        sample = problem.sample if isinstance(problem, ClasswiseProblem) else problem
        several = not isinstance(problem, BinarySample)
        if several and sample.p.size * self._n_resamples > _MOST_DRAWN:
            return {}
        errors = self._errors(estimator, source, summary)
        return {
            "null_mean": float(errors.mean()),
            "null_q95": float(np.quantile(errors, 0.95)),
            "pvalue": monte_carlo_pvalue(value, errors),
        }

    def _errors(
        self, estimator: BinnedError, source: NullSource, summary: Summary | VectorSummary
    ) -> FloatArray:
        problem = source.problem
        if isinstance(summary, VectorSummary) or isinstance(problem, MulticlassSample):
            return null_sample(estimator, problem, self._n_resamples, self._rng)
        if source.outcomes is None and summary.sum_w.size * self._n_resamples > _MOST_KEPT:
            return null_sample(estimator, problem, self._n_resamples, self._rng)
        n_problems = len(summary.names)
        key = (estimator.binning, n_problems)
        if key not in self._drawn:
            self._drawn[key] = null_summaries(
                problem, summary, self._n_resamples, self._rng, outcomes=source.outcomes
            )
        return estimator.each(self._drawn[key], n_problems=n_problems)
