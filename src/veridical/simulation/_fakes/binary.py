"""Binary fake classifiers: any distribution of scores, any reliability curve."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.data.options import check_integer
from veridical._core.data.randomness import check_rng
from veridical._core.data.validation import float_array, is_number
from veridical._core.typing import ArrayLike, FloatArray
from veridical.exceptions import invalid
from veridical.results import ExactValue
from veridical.simulation._fakes import exact
from veridical.simulation._fakes.exact import Meaning, WeightedRows
from veridical.simulation._fakes.fake import ACCURACY, CONFIDENCE, ECE, FakeSample, check_size

_FINE = 1 << 16  # nodes of the finer rule, about


class ScoreLaw(ABC):
    """Distribution of a score in [0, 1]."""

    @abstractmethod
    def draw(self, n: int, generator: np.random.Generator) -> FloatArray:
        """Draw `n` scores."""

    @abstractmethod
    def rules(self) -> list[tuple[FloatArray, FloatArray]]:
        """Coarse and fine rule: scores and their weights, which sum to one."""


@dataclass(frozen=True)
class BetaScores(ScoreLaw):
    """Scores with a beta distribution; (1, 1) is uniform.

    Parameters
    ----------
    a, b : float
        Positive; the mean is a / (a + b), and parameters below 1 put mass at 0 and 1.

    Examples
    --------
    >>> scores, weight = BetaScores(2.0, 1.0).rules()[-1]
    >>> round(float(scores @ weight), 6)  # 2 / (2 + 1)
    0.666667
    """

    a: float = 1.0
    b: float = 1.0

    def __post_init__(self) -> None:
        for name, value in (("a", self.a), ("b", self.b)):
            if not (is_number(value) and value > 0):
                hint = "1 and 1 give uniform scores."
                raise invalid("BetaScores", name, "a positive number", repr(value), hint=hint)

    def draw(self, n: int, generator: np.random.Generator) -> FloatArray:
        """Draw `n` scores."""
        return generator.beta(self.a, self.b, n)

    def rules(self) -> list[tuple[FloatArray, FloatArray]]:
        """Midpoints of equal probability."""
        from scipy.special import betaincinv

        return [
            (betaincinv(self.a, self.b, (np.arange(n) + 0.5) / n), np.full(n, 1 / n))
            for n in (_FINE // 2, _FINE)
        ]


@dataclass(frozen=True)
class HistogramScores(ScoreLaw):
    """Scores whose density is constant within bins.

    Parameters
    ----------
    mass : sequence of float
        Non-negative mass of each bin, of any sum: counts of a real histogram for instance.
    edges : sequence of float, optional
        Increasing edges within [0, 1], one more than bins; equal widths over [0, 1] if omitted.

    Examples
    --------
    >>> HistogramScores([1, 3]).mass
    (0.25, 0.75)
    >>> triangle = HistogramScores.from_density(lambda s: 2 * s)
    >>> scores, weight = triangle.rules()[-1]
    >>> round(float(scores @ weight), 4)  # the integral of 2 s^2
    0.6667
    """

    mass: tuple[float, ...]
    edges: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        mass = float_array(self.mass, caller="HistogramScores", param="mass").astype(np.float64)
        one_row = mass.ndim == 1 and mass.size > 0
        if not (one_row and (np.isfinite(mass) & (mass >= 0)).all() and mass.sum() > 0):
            hint = "one non-negative number for each bin, not all 0."
            got = f"{mass.size} values of shape {mass.shape}, the least {mass.min(initial=0):.6g}"
            raise invalid("HistogramScores", "mass", "masses of bins", got, hint=hint)
        edges = np.linspace(0, 1, len(mass) + 1) if self.edges is None else _edges(self.edges)
        if len(edges) != len(mass) + 1:
            hint = "give one edge more than bins."
            got = f"{len(edges)} edges for {len(mass)} bins"
            raise invalid("HistogramScores", "edges", "one more than `mass`", got, hint=hint)
        object.__setattr__(self, "mass", tuple((mass / mass.sum()).tolist()))
        object.__setattr__(self, "edges", tuple(edges.tolist()))

    @classmethod
    def from_density(
        cls, density: Callable[[FloatArray], FloatArray], *, n_bins: int = 4096
    ) -> HistogramScores:
        """Any density on [0, 1], by its values at the middles of many bins.

        Parameters
        ----------
        density : callable
            Takes an array of scores and returns non-negative values; need not integrate to one.
        n_bins : int
            Number of bins of equal width.
        """
        hint = "4096 bins resolve any density one would draw."
        check_integer("from_density", "n_bins", n_bins, hint=hint)
        middles = (np.arange(n_bins) + 0.5) / n_bins
        return cls(np.asarray(density(middles)) * np.ones(n_bins))  # type: ignore[arg-type]

    def draw(self, n: int, generator: np.random.Generator) -> FloatArray:
        """Draw `n` scores."""
        edges = np.array(self.edges)
        index = generator.choice(len(self.mass), size=n, p=self.mass)
        return edges[index] + generator.random(n) * np.diff(edges)[index]

    def rules(self) -> list[tuple[FloatArray, FloatArray]]:
        """Midpoints of equal parts of each bin."""
        edges, mass = np.array(self.edges), np.array(self.mass)
        finest = max(2, _FINE // len(mass))
        rules: list[tuple[FloatArray, FloatArray]] = []
        for parts in (finest // 2, finest):
            inside = (np.arange(parts) + 0.5) / parts
            scores = (edges[:-1, None] + np.diff(edges)[:, None] * inside).ravel()
            rules.append((scores, np.repeat(mass / parts, parts)))
        return rules


def _edges(values: ArrayLike) -> FloatArray:
    edges = float_array(values, caller="HistogramScores", param="edges").astype(np.float64)
    inside = edges.ndim == 1 and edges.size > 1 and bool(edges[0] >= 0 and edges[-1] <= 1)
    if not (inside and (np.diff(edges) > 0).all()):
        hint = "e.g. `np.linspace(0, 1, n_bins + 1)`."
        got = repr(values)
        raise invalid("HistogramScores", "edges", "increasing within [0, 1]", got, hint=hint)
    return edges


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
    >>> from veridical.simulation import BetaScores
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
        return exact.mean_over(self._rules(), _positive, _BASE_RATE)

    def accuracy(self) -> ExactValue:
        """Share of right answers if 1 is said above a score of one half."""
        return exact.mean_over(self._rules(), exact.top_truth, ACCURACY)

    def mean_confidence(self) -> ExactValue:
        """E[max(S, 1 - S)]."""
        return exact.mean_over(self._rules(), exact.largest, CONFIDENCE)

    def expected_calibration_error(self, *, norm: int = 1) -> ExactValue:
        """E|r(S) - S| of the binary lens, or for `norm=2` the root of the mean square."""
        if norm not in _ERRORS:
            hint = "1 is the ECE, 2 the root mean square error."
            caller = "BinaryFakeClassifier.expected_calibration_error"
            raise invalid(caller, "norm", "1 or 2", repr(norm), hint=hint)
        return exact.mean_over(self._rules(), _gap_to(norm), _ERRORS[norm], root=norm)

    def confidence_error(self) -> ExactValue:
        """E|P(Y = argmax c | max c) - max c|: scores s and 1 - s report the same confidence."""
        return exact.conditional_over(self._rules(), exact.confidence_gap, ECE)

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
