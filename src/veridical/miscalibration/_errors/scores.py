"""Mean scores as estimators, so that tests and intervals accept them like any error."""

from __future__ import annotations

from veridical._core.sample import Sample
from veridical.miscalibration._errors.base import SampleEstimator
from veridical.scores import BrierRule, LogRule, ScoringRule, SphericalRule, ZeroOneRule


class MeanScore(SampleEstimator, ScoringRule):
    """A scoring rule averaged over the rows: of the whole prediction, or of what a lens shows."""

    whole = True

    @property
    def definition(self) -> str:
        """What exactly is computed."""
        return f"mean {self.name} score"

    def measure_sample(self, sample: Sample) -> float:
        """Mean score."""
        return self.mean(sample)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class BrierScore(BrierRule, MeanScore):
    """Brier score as an estimator: score, entropy and divergence per observation, or the mean.

    Without a lens the whole prediction is scored, as :func:`brier_score` does; with one, the
    problem that the lens induces, e.g. with ``lens="confidence"`` whether the top label was right.

    Examples
    --------
    >>> BrierScore()([0, 1], [0.5, 1.0])
    0.125
    >>> BrierScore()(["a", "c"], [[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]], labels=["a", "b", "c"])
    0.25
    >>> BrierScore().divergence([0.5], [0.75]).tolist()
    [0.0625]
    """


class LogScore(LogRule, MeanScore):
    """Logarithmic score as an estimator; see `BrierScore` for the lens.

    Examples
    --------
    >>> LogScore()([1, 0], [0.5, 0.0])
    0.34657359027997264
    """


class SphericalScore(SphericalRule, MeanScore):
    """Spherical score as an estimator; see `BrierScore` for the lens.

    Examples
    --------
    The vector (3/7, 4/7) has length 5/7, so the score is 1 - 4/5.

    >>> round(SphericalScore()([1], [4 / 7]), 6)
    0.2
    """


class ZeroOneLoss(ZeroOneRule, MeanScore):
    """Zero-one loss as an estimator; see `BrierScore` for the lens.

    Examples
    --------
    >>> ZeroOneLoss()([1, 0, 1, 1], [0.9, 0.8, 0.6, 0.7])
    0.25
    """
