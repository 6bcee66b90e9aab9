"""What an evaluation is made from: rows in memory, or sums that an engine made of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from veridical._core.sample import BinarySample, MulticlassSample, Sample
from veridical.binning import Binning
from veridical.evaluation._auc import auc_by_class, auc_of_pooled
from veridical.evaluation._null import NullSource
from veridical.lenses import Classwise, ClasswiseProblem, Confidence, Lens, Problem
from veridical.miscalibration import BinnedError
from veridical.scores import RULES, get_rule
from veridical.summaries import Summary, VectorSummary, summarise

Kind = Literal["binary", "classwise", "vector"]


class Source(ABC):
    """Data seen through a lens.

    Attributes
    ----------
    lens : the lens of the calibration errors
    shown : one binary problem to be drawn and averaged: the lens's own, or the confidence
    shown_lens : the lens that shows it
    """

    lens: Lens

    @property
    @abstractmethod
    def shown(self) -> BinarySample:
        """One binary problem to be drawn and averaged: the lens's own, or the confidence."""

    @property
    def shown_lens(self) -> Lens:
        """The lens of `shown`."""
        return self.lens if self.kind == "binary" else Confidence()

    @property
    @abstractmethod
    def kind(self) -> Kind:
        """What the lens induces."""

    @property
    @abstractmethod
    def n(self) -> int:
        """Number of rows."""

    @property
    @abstractmethod
    def sum_weight(self) -> float:
        """Sum of weights, the number of rows without weights."""

    @property
    @abstractmethod
    def classes(self) -> tuple[Any, ...]:
        """Labels; of two the positive one is last."""

    @property
    def has_classes(self) -> bool:
        """Whether there are more than two."""
        return len(self.classes) > 2

    @property
    @abstractmethod
    def base_rate(self) -> tuple[float, ...]:
        """Share of each class."""

    @property
    @abstractmethod
    def scores(self) -> dict[str, float]:
        """Mean scores of whole predictions by rule."""

    @property
    @abstractmethod
    def areas(self) -> tuple[float | None, ...]:
        """Areas under the ROC curve of every class."""

    @abstractmethod
    def score_of_shown(self, rule: str) -> float | None:
        """Mean score of the problem shown, where it is known without looking at it."""

    @abstractmethod
    def summary(self, binning: Binning) -> Summary:
        """Sums by bin of the problem shown."""

    @abstractmethod
    def binned(self, estimator: BinnedError, through: Lens) -> Summary | VectorSummary:
        """Sums that a binned error is a function of, through this lens or the classwise one."""

    @abstractmethod
    def null_of(self, through: Lens) -> NullSource | None:
        """What outcomes are drawn from; None if that is not known."""


@dataclass(frozen=True)
class Rows(Source):
    """A checked sample in memory."""

    sample: Sample
    lens: Lens

    @cached_property
    def problem(self) -> Problem:
        """What the lens induces."""
        return self.lens.induce(self.sample)

    @cached_property
    def shown(self) -> BinarySample:
        """The problem itself, or the confidence."""
        if isinstance(self.problem, BinarySample):
            return self.problem
        return Confidence().induce(self.sample)

    @property
    def kind(self) -> Kind:
        """What the lens induces."""
        if isinstance(self.problem, BinarySample):
            return "binary"
        return "classwise" if isinstance(self.problem, ClasswiseProblem) else "vector"

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.sample.n

    @property
    def sum_weight(self) -> float:
        """Sum of weights."""
        return float(self.n if self.sample.weight is None else self.sample.weight.sum())

    @property
    def classes(self) -> tuple[Any, ...]:
        """Labels."""
        return self.sample.classes

    @property
    def base_rate(self) -> tuple[float, ...]:
        """Share of each class."""
        counts = np.bincount(self.sample.y, weights=self.sample.weight, minlength=len(self.classes))
        return tuple(float(share) for share in counts / counts.sum())

    @cached_property
    def scores(self) -> dict[str, float]:
        """Mean scores by rule."""
        return {rule: get_rule(rule, caller="evaluate").mean(self.sample) for rule in RULES}

    @cached_property
    def areas(self) -> tuple[float | None, ...]:
        """Areas under the ROC curve."""
        if isinstance(self.sample, MulticlassSample):
            return auc_by_class(self.sample)
        return (auc_of_pooled(self.sample.pooled),) * 2

    def score_of_shown(self, rule: str) -> float | None:
        """Known if the whole prediction is what is shown."""
        return self.scores[rule] if self.shown is self.sample else None

    def summary(self, binning: Binning) -> Summary:
        """Sums by bin of the problem shown."""
        return summarise(self.shown, binning)

    def binned(self, estimator: BinnedError, through: Lens) -> Summary | VectorSummary:
        """Sums by bin of the problem of a lens."""
        return estimator.summarise(self._problem_of(through))

    def null_of(self, through: Lens) -> NullSource:
        """The rows themselves."""
        return NullSource(self._problem_of(through))

    def _problem_of(self, through: Lens) -> Problem:
        if through is self.lens:
            return self.problem
        assert isinstance(through, Classwise)
        return through.induce(self.sample)
