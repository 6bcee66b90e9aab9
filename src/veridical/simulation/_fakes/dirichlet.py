"""Fake classifiers whose truth is Dirichlet or a mixture of Dirichlet distributions.

Nodes of equal weight for Dirichlet distributions of two and three classes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from veridical._core.data.validation import float_array
from veridical._core.typing import ArrayLike, FloatArray
from veridical.exceptions import invalid
from veridical.results import ExactValue
from veridical.simulation._fakes.dirichlet_means import PowerConfidence, mean_largest
from veridical.simulation._fakes.exact import Meaning, Nodes
from veridical.simulation._fakes.fake import ACCURACY, CONFIDENCE, ECE, FakeClassifier, check_map
from veridical.simulation._fakes.maps import IdentityMap, PowerMap, SimplexMap

_STEPS = {2: (1 << 15, 1 << 16), 3: (384, 768)}  # per axis, coarse and fine
_TINY = -30.0  # log q below which the beta distribution function is q^a / (a B(a, b))


def dirichlet_rules(alpha: FloatArray, *, components: int = 1) -> list[Nodes] | None:
    """Coarse and fine midpoint rule, or None for more than three classes.

    Stick breaking: p_1 ~ Beta(a_1, a_2 + a_3), and p_2 / (p_2 + p_3) ~ Beta(a_2, a_3)
    independently. Midpoints of equal probability on each axis; integrands are bounded with a kink
    where the argmax changes, so the error is about that of the squared step. A mixture of many
    components takes fewer nodes for each, so that their number stays the same.
    """
    if len(alpha) not in _STEPS:
        return None
    fewer = components ** (1 / (len(alpha) - 1))
    return [_midpoints(alpha, max(32, int(steps / fewer))) for steps in _STEPS[len(alpha)]]


def _midpoints(alpha: FloatArray, steps: int) -> Nodes:
    first, rest = _log_beta_quantiles(alpha[0], alpha[1:].sum(), steps)
    if len(alpha) == 2:
        return Nodes(np.column_stack([first, rest]), np.full(steps, 1 / steps))
    second, third = _log_beta_quantiles(alpha[1], alpha[2], steps)
    log_p = np.empty((steps, steps, 3))
    log_p[..., 0] = first[:, None]
    log_p[..., 1] = rest[:, None] + second
    log_p[..., 2] = rest[:, None] + third
    return Nodes(log_p.reshape(-1, 3), np.full(steps * steps, 1 / steps**2))


def _log_beta_quantiles(a: float, b: float, steps: int) -> tuple[FloatArray, FloatArray]:
    """Logarithms of q and of 1 - q at the midpoints of a beta distribution."""
    u = (np.arange(steps) + 0.5) / steps
    return _log_quantile(a, b, u), _log_quantile(b, a, 1 - u)


def _log_quantile(a: float, b: float, u: FloatArray) -> FloatArray:
    from scipy.special import betaincinv, betaln

    near_zero = (np.log(u * a) + betaln(a, b)) / a
    with np.errstate(divide="ignore"):
        usual = np.log(betaincinv(a, b, u))
    return np.where(near_zero < _TINY, near_zero, usual)


@dataclass(frozen=True)
class DirichletFakeClassifier(FakeClassifier):
    """Fake classifier with true p ~ Dirichlet(alpha), y ~ p and reported c = map(p).

    Small alpha puts p near the corners (an accurate classifier), large alpha near its mean; the
    proportions of alpha are the shares of the classes.

    Parameters
    ----------
    alpha : sequence of float
        Positive parameters, one for each class.
    map : SimplexMap, default identity
        From true to reported probabilities.

    Notes
    -----
    Accuracy under a map that keeps the largest component is E[max p], one integral for any number
    of classes. With equal alpha and a power or temperature map, mean confidence and ECE are
    integrals too, because such a map is over- or under-confident on every row and the ECE is
    |E[max c] - accuracy|. All else is quadrature for two and three classes and Monte Carlo above.

    Examples
    --------
    >>> fake = DirichletFakeClassifier([1, 1], map=PowerMap(3))
    >>> round(fake.accuracy().value, 6)
    0.75
    >>> round(fake.expected_calibration_error().value, 4)
    0.1414
    >>> sample = fake.sample(5, rng=0)
    >>> sample.y_prob.shape, bool((sample.y_prob.argmax(1) == sample.p_true.argmax(1)).all())
    ((5, 2), True)
    """

    alpha: tuple[float, ...]
    map: SimplexMap = field(default_factory=IdentityMap)

    def __post_init__(self) -> None:
        alpha = check_alpha(self.alpha, ndim=1, caller="DirichletFakeClassifier")
        check_map(self.map, caller="DirichletFakeClassifier")
        object.__setattr__(self, "alpha", tuple(alpha.tolist()))

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.alpha)

    def draw_log_truth(self, n: int, generator: np.random.Generator) -> FloatArray:
        """Logarithms of `n` Dirichlet vectors."""
        return draw_log_dirichlet(np.array(self.alpha), n, generator)

    def quadrature_rules(self) -> list[Nodes] | None:
        """Midpoint rules for two and three classes, None above."""
        return dirichlet_rules(np.array(self.alpha))

    def accuracy(self, *, n_draws: int | None = None, rng: Any = 0) -> ExactValue:
        """E[p_argmax(c)]: for a map that keeps the largest component E[max p], one integral."""
        if not self.map.preserves_argmax:
            return super().accuracy(n_draws=n_draws, rng=rng)
        return _by_integral(ACCURACY, *self._mean_largest())

    def mean_confidence(self, *, n_draws: int | None = None, rng: Any = 0) -> ExactValue:
        """E[max c]: integrals for equal alpha and a power or temperature map."""
        if not self._has_integral():
            return super().mean_confidence(n_draws=n_draws, rng=rng)
        return _by_integral(CONFIDENCE, *self._mean_power_largest())

    def expected_calibration_error(self, *, n_draws: int | None = None, rng: Any = 0) -> ExactValue:
        """E|P(Y = argmax c | max c) - max c|, the ECE of 003 section 2.1; 0 if calibrated."""
        if isinstance(self.map, IdentityMap):
            return ECE.exact(0.0, 0.0, "closed form")
        if not self._has_integral():
            return super().expected_calibration_error(n_draws=n_draws, rng=rng)
        accuracy, _ = self._mean_largest()
        fine, coarse = self._mean_power_largest()
        return _by_integral(ECE, abs(fine - accuracy), abs(coarse - accuracy))

    def _has_integral(self) -> bool:
        return isinstance(self.map, PowerMap) and len(set(self.alpha)) == 1

    def _mean_largest(self) -> tuple[float, float]:
        alpha = np.array(self.alpha)
        return mean_largest(alpha), mean_largest(alpha, panels=128)

    def _mean_power_largest(self) -> tuple[float, float]:
        assert isinstance(self.map, PowerMap)
        first, k, b = self.alpha[0], self.n_classes, self.map.exponent
        return PowerConfidence(first, k)(b), PowerConfidence(first, k, coarse=True)(b)


@dataclass(frozen=True)
class DirichletMixtureFakeClassifier(FakeClassifier):
    """Fake classifier with p from a mixture of Dirichlet distributions, y ~ p, c = map(p).

    Parameters
    ----------
    alphas : array-like of shape (n_components, n_classes)
        Positive parameters, a row for each component.
    weights : sequence of float
        Non-negative shares of the components; they are divided by their sum.
    map : SimplexMap, default identity
        From true to reported probabilities, the same for all components, so that the reported
        vector tells the true one whichever component it came from.

    Examples
    --------
    >>> easy_and_hard = DirichletMixtureFakeClassifier([[0.1, 0.1], [9.0, 9.0]], [0.8, 0.2])
    >>> easy_and_hard.weights
    (0.8, 0.2)
    """

    alphas: tuple[tuple[float, ...], ...]
    weights: tuple[float, ...]
    map: SimplexMap = field(default_factory=IdentityMap)

    def __post_init__(self) -> None:
        caller = "DirichletMixtureFakeClassifier"
        alphas = check_alpha(self.alphas, ndim=2, caller=caller, param="alphas")
        weights = _check_weights(self.weights, len(alphas), caller=caller)
        check_map(self.map, caller=caller)
        object.__setattr__(self, "alphas", tuple(map(tuple, alphas.tolist())))
        object.__setattr__(self, "weights", tuple(weights.tolist()))

    @classmethod
    def for_classes(
        cls,
        class_weights: ArrayLike,
        *,
        peak: float,
        concentration: float = 1.0,
        map: SimplexMap | None = None,
    ) -> DirichletMixtureFakeClassifier:
        """One component for each class: concentration * (1, ..., peak at the class, ..., 1).

        Parameters
        ----------
        class_weights : sequence of float
            Share of each component, so about how often each class is the most probable.
        peak : float
            How much more the class of a component weighs than each other one; higher is more
            accurate.
        concentration : float
            Factor of all parameters: high brings every p of a component close to its mean.
        map : SimplexMap, optional
            From true to reported probabilities; the identity if omitted.

        Examples
        --------
        >>> fake = DirichletMixtureFakeClassifier.for_classes([3, 1], peak=4.0, concentration=0.5)
        >>> fake.alphas, fake.weights
        (((2.0, 0.5), (0.5, 2.0)), (0.75, 0.25))
        """
        n_classes = len(float_array(class_weights, caller="for_classes", param="class_weights"))
        alphas = concentration * (np.ones((n_classes, n_classes)) + (peak - 1) * np.eye(n_classes))
        return cls(alphas, class_weights, IdentityMap() if map is None else map)  # type: ignore[arg-type]

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.alphas[0])

    def draw_log_truth(self, n: int, generator: np.random.Generator) -> FloatArray:
        """Logarithms of `n` vectors of the mixture."""
        component = generator.choice(len(self.weights), size=n, p=self.weights)
        return draw_log_dirichlet(np.array(self.alphas)[component], n, generator)

    def quadrature_rules(self) -> list[Nodes] | None:
        """Midpoint rules of all components for two and three classes, None above."""
        if self.n_classes > 3:
            return None
        n = len(self.alphas)
        rules = [dirichlet_rules(alpha, components=n) or [] for alpha in np.array(self.alphas)]
        return [
            Nodes(
                np.concatenate([rule.log_p for rule in level]),
                np.concatenate([w * r.weight for w, r in zip(self.weights, level, strict=True)]),
            )
            for level in zip(*rules, strict=True)
        ]

    def accuracy(self, *, n_draws: int | None = None, rng: Any = 0) -> ExactValue:
        """E[p_argmax(c)]: for a map that keeps the largest component E[max p], one integral."""
        if not self.map.preserves_argmax:
            return super().accuracy(n_draws=n_draws, rng=rng)
        levels = [
            sum(
                weight * mean_largest(np.array(alpha), panels=panels)
                for weight, alpha in zip(self.weights, self.alphas, strict=True)
            )
            for panels in (256, 128)
        ]
        return _by_integral(ACCURACY, *levels)


def draw_log_dirichlet(alpha: FloatArray, n: int, generator: np.random.Generator) -> FloatArray:
    """Logarithms of Dirichlet vectors; finite also where the probabilities underflow.

    A gamma variable of shape a is one of shape a + 1 times U^(1/a): only its logarithm can be
    trusted for small a. `alpha` is (K,), or (n, K) with a row for each vector.
    """
    shape = (n, alpha.shape[-1])
    log_gamma = np.log(generator.standard_gamma(alpha + 1, size=shape))
    log_gamma += np.log1p(-generator.random(shape)) / alpha
    log_gamma -= log_gamma.max(axis=1, keepdims=True)
    return log_gamma - np.log(np.exp(log_gamma).sum(axis=1, keepdims=True))


def check_alpha(values: ArrayLike, *, ndim: int, caller: str, param: str = "alpha") -> FloatArray:
    """Return Dirichlet parameters of two or more classes as float64."""
    alpha = float_array(values, caller=caller, param=param).astype(np.float64)
    shape_right = alpha.ndim == ndim and alpha.size > 0 and alpha.shape[-1] >= 2
    if not (shape_right and (np.isfinite(alpha) & (alpha > 0)).all()):
        form = "two or more positive numbers"
        if ndim == 2:
            form = "one row of positive numbers for each component"
        hint = "one number for each class; `np.ones(n_classes)` is the uniform distribution."
        got = repr(values) if alpha.size <= 10 else f"an array of shape {alpha.shape}"
        raise invalid(caller, param, form, got, hint=hint)
    return alpha


def _check_weights(values: ArrayLike, n: int, *, caller: str) -> FloatArray:
    weights = float_array(values, caller=caller, param="weights").astype(np.float64)
    usable = weights.shape == (n,) and (np.isfinite(weights) & (weights >= 0)).all()
    if not (usable and weights.sum() > 0):
        hint = "one share for each component."
        got = repr(values)
        raise invalid(caller, "weights", f"{n} non-negative numbers, not all 0", got, hint=hint)
    return weights / weights.sum()


def _by_integral(meaning: Meaning, value: float, coarse: float) -> ExactValue:
    return meaning.exact(value, abs(value - coarse), "quadrature")
