"""What an estimator is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from veridical._core.sample import BinarySample
from veridical._core.typing import ArrayLike, WeightType
from veridical.exceptions import invalid, warn_of
from veridical.lenses import ClasswiseProblem, Problem
from veridical.lenses.reading import RawData


class Estimator(ABC):
    """Turns an induced problem into one number; accepted by tests, intervals and monitors."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Short name shown beside the figure."""

    @property
    @abstractmethod
    def definition(self) -> str:
        """What exactly is computed, in words."""

    @abstractmethod
    def measure(self, problem: Problem) -> float:
        """Return the figure for an induced problem (checked data; no warnings)."""

    def measure_with_doubts(self, problem: Problem) -> tuple[float, list[str]]:
        """Return the figure, and reasons why it may not mean what it seems to."""
        return self.measure(problem), []

    def __call__(
        self,
        y_true: ArrayLike,
        y_prob: ArrayLike,
        *,
        lens: Any = None,
        labels: ArrayLike | None = None,
        pos_label: Any = None,
        sample_weight: ArrayLike | None = None,
        weight_type: WeightType = "importance",
    ) -> float:
        """Return the figure for raw data seen through a lens.

        Parameters
        ----------
        y_true, y_prob, labels, pos_label, sample_weight
            As in :func:`brier_score`.
        lens : lens, name or callable, optional
            Default the binary lens for two classes, confidence for more.
        weight_type : {"importance", "frequency"}
            What weights mean where the sample size matters.
        """
        data = RawData(y_true, y_prob, labels=labels, pos_label=pos_label)
        data = data.weighted(sample_weight, weight_type)
        return measure_data(self, data, lens, caller=type(self).__name__)


class ScoreEstimator(Estimator):
    """An estimator of one binary problem; over a classwise lens its mean over the classes."""

    @abstractmethod
    def measure_binary(self, sample: BinarySample) -> float:
        """Return the figure for one binary problem."""

    def measure(self, problem: Problem) -> float:
        """Return the figure; vectors are refused."""
        if isinstance(problem, BinarySample):
            return self.measure_binary(problem)
        if isinstance(problem, ClasswiseProblem):
            each = [self.measure_binary(problem.problem(k)) for k in range(problem.n_problems)]
            return float(np.mean(each))
        hint = 'use lens="confidence", lens="classwise" or `ClassSpecific(label)`.'
        got = f"a vector of {len(problem.classes)} classes"
        expected = "one that induces binary problems"
        raise invalid(type(self).__name__, "lens", expected, got, hint=hint)


def measure_data(estimator: Estimator, data: RawData, lens: Any, *, caller: str) -> float:
    """Check raw data, look through the lens, measure, and warn of doubts on behalf of `caller`."""
    induced = data.check_arrays(caller=caller).through(lens, caller=caller)
    value, doubts = estimator.measure_with_doubts(induced.problem)
    warn_of(doubts, caller=caller, stacklevel=4)
    return value
