"""What errors read on a calibrated model with the same predictions, drawn once for all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.data.randomness import Draws
from veridical._core.resampling.rows import outcomes_drawn
from veridical._core.sample import BinarySample, MulticlassSample
from veridical._core.typing import FloatArray
from veridical.binning import Binning
from veridical.inference.draws import (
    CellDraws,
    Trials,
    depends_on_fixed_sums,
    knows_cells,
    monte_carlo_pvalue,
    null_sample,
    null_summaries,
)
from veridical.lenses import ClasswiseProblem, Problem
from veridical.miscalibration import BinnedError, Estimator
from veridical.summaries import Summary, VectorSummary

# Outcomes of several classes are drawn row by row; beyond this many probabilities times draws an
# evaluation would no longer be quick.
_MOST_DRAWN = 1e8
_MOST_KEPT = 1 << 22  # sums of drawn outcomes


@dataclass(frozen=True)
class NullSource:
    """Predictions that outcomes are drawn from; `outcomes` if not one by one for its rows.

    `unit` is what an outcome of weight one weighs in the problem.
    """

    problem: Problem
    outcomes: Trials | None = None
    unit: float = 1.0


class NullDraws:
    """Resampled summaries, shared by the errors that use the same bins."""

    def __init__(self, n_resamples: int, rng: np.random.Generator) -> None:
        self._draws = Draws(n_resamples, rng)
        self._drawn: dict[tuple[Binning, int], Summary] = {}
        self._cells: CellDraws | None = None

    def level(
        self,
        estimator: BinnedError,
        source: NullSource | None,
        summary: Summary | VectorSummary,
        value: float,
    ) -> dict[str, Any]:
        """Mean, 95 % quantile and p-value of the error on a calibrated model, where quick."""
        if source is None or not (self._draws.n_resamples and depends_on_fixed_sums(estimator)):
            return {}
        problem = source.problem
        sample = problem.sample if isinstance(problem, ClasswiseProblem) else problem
        several = not isinstance(problem, BinarySample)
        outcomes = outcomes_drawn(sample) * self._draws.n_resamples
        if several and outcomes * sample.p.shape[1] > _MOST_DRAWN:
            return {}
        errors = self._errors(estimator, source, summary)
        return _level_of(value, errors)

    def level_by_cells(self, estimator: Estimator, source: NullSource | None) -> dict[str, Any]:
        """The same for figures without fixed bins, of a binary problem, on fine cells of scores.

        All problems given are the same, which cells are drawn for once.
        """
        if source is None or not (self._draws.n_resamples and knows_cells(estimator)):
            return {}
        if not isinstance(source.problem, BinarySample):
            return {}
        if self._cells is None:
            self._cells = CellDraws.of(source.problem, self._draws, source.outcomes, source.unit)
        value, *errors = self._cells.figures(estimator)
        return _level_of(float(value), np.asarray(errors))

    def errors(self, estimator: BinnedError, problem: BinarySample, summary: Summary) -> FloatArray:
        """What the error reads on calibrated models with these predictions, in order of draws."""
        return self._errors(estimator, NullSource(problem), summary)

    def _errors(
        self, estimator: BinnedError, source: NullSource, summary: Summary | VectorSummary
    ) -> FloatArray:
        problem = source.problem
        if isinstance(summary, VectorSummary) or isinstance(problem, MulticlassSample):
            return null_sample(estimator, problem, self._draws)
        if source.outcomes is None and summary.sum_w.size * self._draws.n_resamples > _MOST_KEPT:
            return null_sample(estimator, problem, self._draws)
        n_problems = len(summary.names)
        key = (estimator.binning, n_problems)
        if key not in self._drawn:
            self._drawn[key] = null_summaries(
                problem, summary, self._draws, outcomes=source.outcomes
            )
        return estimator.each(self._drawn[key], n_problems=n_problems)


def _level_of(value: float, errors: FloatArray) -> dict[str, Any]:
    return {
        "null_mean": float(errors.mean()),
        "null_q95": float(np.quantile(errors, 0.95)),
        "n_resamples": len(errors),
        "pvalue": monte_carlo_pvalue(value, errors),
    }
