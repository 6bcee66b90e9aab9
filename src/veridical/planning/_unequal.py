"""Fake classifiers of given accuracy and calibration error for classes of unequal shares."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from veridical._core.typing import FloatArray
from veridical.exceptions import invalid
from veridical.simulation._dirichlet_fake import DirichletFakeClassifier
from veridical.simulation._dirichlet_means import mean_largest
from veridical.simulation._exact import Nodes
from veridical.simulation._simplex_maps import IdentityMap, PowerMap, SimplexMap
from veridical.simulation._solver import Direction

_CALLER = "simulate_decisions"
_LOG_SUM = (np.log(1e-6), np.log(1e8))  # of the sum of the parameters
_LOG_EXPONENT = np.log(1e6)
_N_DRAWS = 100_000  # of more than three classes, which have no quadrature


def unequal_classifiers(
    accuracy: float, eces: FloatArray, shares: FloatArray, direction: Direction
) -> list[DirichletFakeClassifier | str]:
    """One classifier for each ECE, or the reason why there is none.

    As :func:`fake_classifier_for`, with p ~ Dirichlet(s * shares), whose mean are the shares: the
    sum s of its parameters gives the accuracy E[max p], and a power map the ECE, which is
    |E[max c] - E[max p]| because a power changes the confidence of all rows the same way.
    """
    alpha = tuple((_concentration(accuracy, shares) * shares).tolist())
    truth = DirichletFakeClassifier(alpha)
    confidence = _mean_confidence(truth)
    return [_classifier(alpha, confidence, accuracy, float(ece), direction) for ece in eces]


def _classifier(
    alpha: tuple[float, ...],
    confidence: Callable[[float], float],
    accuracy: float,
    ece: float,
    direction: Direction,
) -> DirichletFakeClassifier | str:
    over = direction == "over"
    bound = 1 - accuracy if over else accuracy - 1 / len(alpha)
    end = _LOG_EXPONENT if over else -_LOG_EXPONENT
    target = confidence(0.0) + (ece if over else -ece)
    beyond = confidence(end) <= target if over else confidence(end) >= target
    if ece >= bound or beyond:
        side = "1 - accuracy" if over else "accuracy - 1 / n_classes"
        return (
            f"an always {direction}-confident classifier has an ECE below {side} = {bound:.6g}"
            f" (Lemma 1 {'i' if over else 'ii'}, Panchenko 2021, section 7)."
        )
    found: SimplexMap = IdentityMap()
    if ece > 0:
        found = PowerMap(float(np.exp(_root(lambda log_b: confidence(log_b) - target, 0.0, end))))
    return DirichletFakeClassifier(alpha, map=found)


def _mean_confidence(truth: DirichletFakeClassifier) -> Callable[[float], float]:
    """E[max c] as a function of the logarithm of the exponent, on the same points for all."""
    rules = truth.quadrature_rules()
    if rules is None:
        drawn = truth.draw_log_truth(_N_DRAWS, np.random.default_rng(0))
        nodes = Nodes(drawn, np.full(_N_DRAWS, 1 / _N_DRAWS))
    else:
        nodes = rules[0]
    below = nodes.log_p - nodes.log_p.max(axis=1, keepdims=True)

    def mean(log_exponent: float) -> float:
        return float(nodes.weight @ (1 / np.exp(np.exp(log_exponent) * below).sum(axis=1)))

    return mean


def _concentration(accuracy: float, shares: FloatArray) -> float:
    """Sum of the parameters of the Dirichlet distribution with this E[max p]."""

    def gap(log_sum: float) -> float:
        return mean_largest(np.exp(log_sum) * shares) - accuracy

    low, high = _LOG_SUM
    if not gap(high) < 0 < gap(low):
        hint = "saying the most frequent class always is right that often already."
        expected = f"above the largest share {shares.max():.6g} and below 1, by a thousandth"
        raise invalid(_CALLER, "accuracy", expected, f"{accuracy!r}", hint=hint)
    return float(np.exp(_root(gap, low, high)))


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    from scipy.optimize import brentq

    return float(brentq(function, low, high, xtol=1e-9, rtol=1e-9))
