"""What a scoring rule is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from veridical._core.blocks import map_rows
from veridical._core.sample import Sample, weighted_mean
from veridical._core.typing import ArrayLike, FloatArray, IntArray
from veridical._core.validation import check_option, check_sample

RULES = ("brier", "log", "spherical", "zero-one")


class ScoringRule(ABC):
    """A loss of one probabilistic prediction and what happened; lower is better.

    A rule knows three functions, for one event (arrays of shape (n,) hold the probability of the
    positive class) and for K classes (arrays of shape (n, K)):

    - the score S(p, y);
    - its entropy, the expected score of q under q: H(q) = E[S(q, y)], y ~ q;
    - its divergence d(p, q) = E[S(p, y)] - H(q), y ~ q: what predicting p instead of q costs.
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """Short name of the rule."""

    def per_row(self, sample: Sample) -> FloatArray:
        """Score of each row, float64."""
        if sample.p.ndim == 1:
            return map_rows(self._score_binary, sample.p, sample.y)
        return map_rows(self._score_vector, sample.p, sample.y)

    def mean(self, sample: Sample) -> float:
        """Weighted mean score."""
        return weighted_mean(self.per_row(sample), sample.weight)

    def entropy(self, q: ArrayLike) -> FloatArray:
        """Expected score of predicting q when q is true."""
        q = np.asarray(q, dtype=np.float64)
        return self._entropy_vector(_pair(q) if q.ndim == 1 else q) * self._halved(q)

    def divergence(self, p: ArrayLike, q: ArrayLike) -> FloatArray:
        """Expected extra score of predicting p when q is true; zero for p = q."""
        p, q = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
        if p.ndim == 1:
            return self._divergence_vector(_pair(p), _pair(q)) * self._halved(p)
        return self._divergence_vector(p, q)

    def _halved(self, q: FloatArray) -> float:
        """Scale of the one-event form relative to the two-class form."""
        del q
        return 1.0

    @abstractmethod
    def _score_binary(self, p: FloatArray, y: IntArray) -> FloatArray: ...

    @abstractmethod
    def _score_vector(self, p: FloatArray, y: IntArray) -> FloatArray: ...

    @abstractmethod
    def _entropy_vector(self, q: FloatArray) -> FloatArray: ...

    @abstractmethod
    def _divergence_vector(self, p: FloatArray, q: FloatArray) -> FloatArray: ...


def get_rule(name: str, *, caller: str) -> ScoringRule:
    """Return the rule called `name`."""
    from veridical.scores._brier import BrierRule
    from veridical.scores._log import LogRule
    from veridical.scores._spherical import SphericalRule
    from veridical.scores._zero_one import ZeroOneRule

    check_option(caller, "rule", name, RULES)
    rules: dict[str, type[ScoringRule]] = {
        "brier": BrierRule,
        "log": LogRule,
        "spherical": SphericalRule,
        "zero-one": ZeroOneRule,
    }
    return rules[name]()


def mean_score(
    rule: ScoringRule,
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    caller: str,
    labels: ArrayLike | None,
    pos_label: Any,
    sample_weight: ArrayLike | None,
) -> float:
    """Check the data and return the mean score: the body of every one-line score function."""
    sample = check_sample(
        y_true,
        y_prob,
        caller=caller,
        labels=labels,
        pos_label=pos_label,
        sample_weight=sample_weight,
    )
    return rule.mean(sample)


def probability_of_outcome(p: FloatArray, y: IntArray) -> FloatArray:
    """Probability a (n, K) prediction gave to what happened."""
    return np.take_along_axis(p, y[:, None].astype(np.intp, copy=False), axis=1)[:, 0]


def _pair(p: FloatArray) -> FloatArray:
    return np.column_stack([1 - p, p])
