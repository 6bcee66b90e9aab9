"""Binary fake classifier with any distribution of scores and any reliability curve."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.randomness import check_rng
from veridical._core.typing import FloatArray
from veridical.exceptions import invalid
from veridical.results._fake import ExactValue
from veridical.simulation._exact import (
    Meaning,
    WeightedRows,
    conditional_over,
    confidence_gap,
    largest,
    mean_over,
    top_truth,
)
from veridical.simulation._fake import ACCURACY, CONFIDENCE, ECE, FakeSample, check_size
from veridical.simulation._score_laws import ScoreLaw

_BASE_RATE = Meaning("base rate", "E[r(S)]")
_ERRORS = {1: Meaning("ECE", "E|r(S) - S|"), 2: Meaning("RMSCE", "sqrt(E[(r(S) - S)^2])")}


@dataclass(frozen=True)
class BinaryFakeClassifier:
    """Scores S from a distribution, labels y = 1 with probability r(S), the reliability curve.

    Here the score comes first and the curve says what is true of it, so the truth r(S) is known
    given the score alone and calibration errors are plain integrals: with r the identity all are
    zero. The label is still drawn from the truth, as for every fake classifier.

    Parameters
    ----------
    scores : ScoreLaw
        `BetaScores(a, b)`, `HistogramScores(mass)` or `HistogramScores.from_density(function)`.
    curve : callable
        r: takes an array of scores and returns as many probabilities. A piecewise linear curve is
        ``lambda s: np.interp(s, knots, heights)``.

    Examples
    --------
    >>> from veridical.simulation._score_laws import BetaScores
    >>> fake = BinaryFakeClassifier(BetaScores(1, 1), lambda s: s**2)
    >>> round(fake.expected_calibration_error().value, 6)  # integral of s - s^2
    0.166667
    >>> round(fake.base_rate().value, 6)  # integral of s^2
    0.333333
    """

    scores: ScoreLaw
    curve: Callable[[FloatArray], FloatArray]

    def __post_init__(self) -> None:
        _check("scores", isinstance(self.scores, ScoreLaw), "a score law", self.scores)
        _check("curve", callable(self.curve), "a function of scores", self.curve)

    def sample(self, n: int, *, rng: Any = None) -> FakeSample:
        """Draw rows: labels 0 and 1, reported scores and true probabilities of the label 1.

        Parameters
        ----------
        n : int
            Number of rows.
        rng : int, Generator or None
            Source of randomness.

        Returns
        -------
        FakeSample
            With `y_prob` and `p_true` of shape (n,).
        """
        caller = "BinaryFakeClassifier.sample"
        generator = check_rng(rng, caller=caller)
        scores = self.scores.draw(check_size(n, caller=caller), generator)
        truth = self._truth(scores)
        return FakeSample((generator.random(n) < truth).astype(np.int64), scores, truth)

    def base_rate(self) -> ExactValue:
        """E[r(S)], the share of labels that are 1."""
        return mean_over(self._rules(), _positive, _BASE_RATE)

    def accuracy(self) -> ExactValue:
        """Share of right answers if 1 is said above a score of one half."""
        return mean_over(self._rules(), top_truth, ACCURACY)

    def mean_confidence(self) -> ExactValue:
        """E[max(S, 1 - S)]."""
        return mean_over(self._rules(), largest, CONFIDENCE)

    def expected_calibration_error(self, *, norm: int = 1) -> ExactValue:
        """E|r(S) - S| of the binary lens, or for `norm=2` the root of the mean square."""
        if norm not in _ERRORS:
            hint = "1 is the ECE, 2 the root mean square error."
            caller = "BinaryFakeClassifier.expected_calibration_error"
            raise invalid(caller, "norm", "1 or 2", repr(norm), hint=hint)
        return mean_over(self._rules(), _gap_to(norm), _ERRORS[norm], root=norm)

    def confidence_error(self) -> ExactValue:
        """E|P(Y = argmax c | max c) - max c|: scores s and 1 - s report the same confidence."""
        return conditional_over(self._rules(), confidence_gap, ECE)

    def _rules(self) -> list[WeightedRows]:
        rules = []
        for scores, weight in self.scores.rules():
            truth = self._truth(scores)
            pair = np.column_stack([1 - truth, truth])
            rules.append(WeightedRows(pair, np.column_stack([1 - scores, scores]), weight))
        return rules

    def _truth(self, scores: FloatArray) -> FloatArray:
        truth = np.asarray(self.curve(scores), dtype=np.float64)
        if truth.shape != scores.shape or not ((truth >= 0) & (truth <= 1)).all():
            hint = "it must be vectorised and stay in [0, 1]; clip it if need be."
            got = f"shape {truth.shape} for {scores.shape}, or values outside [0, 1]"
            expected = "a function from scores to probabilities"
            raise invalid("BinaryFakeClassifier", "curve", expected, got, hint=hint)
        return truth


def _positive(p: FloatArray, c: FloatArray) -> FloatArray:
    return p[:, 1]


def _gap_to(norm: int) -> Callable[[FloatArray, FloatArray], FloatArray]:
    def gap(p: FloatArray, c: FloatArray) -> FloatArray:
        return np.abs(p[:, 1] - c[:, 1]) ** norm

    return gap


def _check(param: str, fine: object, expected: str, got: object) -> None:
    if not fine:
        hint = "e.g. `BinaryFakeClassifier(BetaScores(2, 1), lambda s: s**2)`."
        raise invalid("BinaryFakeClassifier", param, expected, repr(got), hint=hint)
