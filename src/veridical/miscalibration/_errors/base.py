"""What an estimator is."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from veridical._core.data.validation import is_number
from veridical._core.sample import BinarySample, Sample
from veridical._core.typing import ArrayLike, FloatArray, WeightType
from veridical.exceptions import invalid, warn_of
from veridical.lenses import ClasswiseProblem, Problem
from veridical.lenses.reading import RawData


class Estimator(ABC):
    """Turns an induced problem into one number; accepted by tests, intervals and monitors.

    Attributes
    ----------
    whole : bool
        Whether, without a lens, the whole prediction of several classes is meant, not the
        confidence: so it is for scores and for functions.
    """

    whole: ClassVar[bool] = False

    if not TYPE_CHECKING:  # of a class, the name is that of the class

        @property
        def __name__(self) -> str:
            """As functions have it, which scikit-learn's `make_scorer` asks for."""
            return type(self).__name__

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
            Default the binary lens for two classes; for more the confidence, of a score the whole
            prediction.
        weight_type : {"importance", "frequency"}
            What weights mean where the sample size matters.
        """
        data = RawData(y_true, y_prob, labels=labels, pos_label=pos_label)
        data = data.weighted(sample_weight, weight_type)
        return measure_data(self, data, lens, caller=type(self).__name__)


class CellEstimator(Estimator):
    """An estimator that knows its figures for many outcomes of the same scores at once.

    `n_cells` are as many cells of neighbouring scores as it takes to tell the same of rows.
    """

    n_cells: ClassVar[int] = 1 << 13

    @abstractmethod
    def measure_cells(
        self, value: FloatArray, weight: FloatArray, positive: FloatArray
    ) -> FloatArray:
        """Return the figures of R times the same scores, (R,).

        `value` and `weight` are distinct scores, increasing, and the weight at each; `positive`,
        (R, m), are weighted outcomes there.
        """


class NormedEstimator(Estimator):
    """An estimator that takes a norm of its gaps: a number from 1 on, or "max"."""

    norm: Any

    @property
    def power(self) -> float:
        """The norm as a number; infinite for "max"."""
        return math.inf if self.norm == "max" else float(self.norm)

    def _check_norm(self, hint: str) -> None:
        if self.norm not in ("max", math.inf) and not (is_number(self.norm) and self.norm >= 1):
            expected, got = 'a number >= 1 or "max"', repr(self.norm)
            raise invalid(type(self).__name__, "norm", expected, got, hint=hint)


class SampleEstimator(Estimator):
    """An estimator of one problem; over a classwise lens its mean over the classes."""

    @abstractmethod
    def measure_sample(self, sample: Sample) -> float:
        """Return the figure for one problem."""

    def measure(self, problem: Problem) -> float:
        """Return the figure; for a classwise problem its mean over the classes."""
        if not isinstance(problem, ClasswiseProblem):
            return self.measure_sample(problem)
        each = [self.measure_sample(problem.problem(k)) for k in range(problem.n_problems)]
        return float(np.mean(each))


class ScoreEstimator(SampleEstimator):
    """An estimator of one binary problem; over a classwise lens its mean over the classes."""

    @abstractmethod
    def measure_binary(self, sample: BinarySample) -> float:
        """Return the figure for one binary problem."""

    def measure_sample(self, sample: Sample) -> float:
        """Return the figure; vectors are refused."""
        if isinstance(sample, BinarySample):
            return self.measure_binary(sample)
        hint = 'use lens="confidence", lens="classwise" or `ClassSpecific(label)`.'
        got = f"a vector of {len(sample.classes)} classes"
        expected = "one that induces binary problems"
        raise invalid(type(self).__name__, "lens", expected, got, hint=hint)


def measure_data(estimator: Estimator, data: RawData, lens: Any, *, caller: str) -> float:
    """Check raw data, look through the lens, measure, and warn of doubts on behalf of `caller`."""
    induced = data.check_arrays(caller=caller).through(lens, caller=caller, whole=estimator.whole)
    value, doubts = estimator.measure_with_doubts(induced.problem)
    warn_of(doubts, caller=caller)
    return value
