"""Targets of accuracy and calibration error, and the fake classifiers that meet them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from veridical._core.data.validation import float_array
from veridical._core.numeric.roots import root_between
from veridical._core.runtime.progress import track
from veridical._core.typing import FloatArray
from veridical.exceptions import InvalidInputError, invalid
from veridical.simulation import (
    DirichletFakeClassifier,
    IdentityMap,
    PowerMap,
    SimplexMap,
    fake_classifier_for,
)
from veridical.simulation.core import Direction, Nodes, mean_largest

_CALLER = "simulate_decisions"
_LOG_SUM = (np.log(1e-6), np.log(1e8))  # of the sum of the parameters
_LOG_EXPONENT = np.log(1e6)
_N_DRAWS = 100_000  # of more than three classes, which have no quadrature


def _unequal_targets(
    accuracy: float, errors: FloatArray, shares: FloatArray, direction: Direction
) -> list[SimulationTarget]:
    """One classifier for each ECE, or the reason why there is none.

    As :func:`fake_classifier_for`, with p ~ Dirichlet(s * shares), whose mean are the shares: the
    sum s of its parameters gives the accuracy E[max p], and a power map the ECE, which is
    |E[max c] - E[max p]| because a power changes the confidence of all rows the same way.
    """
    alpha = tuple((_concentration(accuracy, shares) * shares).tolist())
    confidence = _mean_confidence(DirichletFakeClassifier(alpha))
    over = direction == "over"
    bound = 1 - accuracy if over else accuracy - 1 / len(alpha)
    end = _LOG_EXPONENT if over else -_LOG_EXPONENT

    def target(ece: float) -> SimulationTarget:
        aim = confidence(0.0) + (ece if over else -ece)
        beyond = confidence(end) <= aim if over else confidence(end) >= aim
        if ece >= bound or beyond:
            side = "1 - accuracy" if over else "accuracy - 1 / n_classes"
            reason = (
                f"an always {direction}-confident classifier has an ECE below {side} = {bound:.6g}"
                f" (Lemma 1 {'i' if over else 'ii'}, Panchenko 2021, section 7)."
            )
            return SimulationTarget(accuracy, ece, None, reason)
        found: SimplexMap = IdentityMap()
        if ece > 0:
            found = PowerMap(float(np.exp(_root(lambda log_b: confidence(log_b) - aim, 0.0, end))))
        return SimulationTarget(accuracy, ece, DirichletFakeClassifier(alpha, map=found), "")

    return [target(float(ece)) for ece in errors]


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
    return root_between(function, low, high, xtol=1e-9, rtol=1e-9)


_DEFAULT_ECE = (0.0, 0.02, 0.04, 0.06, 0.1, 0.15)
_SUM_TOLERANCE = 1e-6
_DEFAULT_SHARES = (0.2, 0.4, 0.6, 0.7, 0.8, 0.9)  # of the way from chance to certainty


@dataclass(frozen=True)
class SimulationTarget:
    """One pair of targets, and the classifier that meets it or the reason why none does."""

    accuracy: float
    ece: float
    fake: DirichletFakeClassifier | None
    reason: str


def make_targets(
    accuracy: Any, ece: Any, *, shares: FloatArray, direction: Direction, caller: str
) -> list[list[SimulationTarget]]:
    """All pairs, a list for each accuracy, both ascending, for classes of these shares."""
    chance = float(shares.max())
    if accuracy is None:
        accuracy = [round(chance + share * (1 - chance), 3) for share in _DEFAULT_SHARES]
    accuracies = _numbers(accuracy, "accuracy", caller)
    errors = _numbers(_DEFAULT_ECE if ece is None else ece, "ece", caller)
    if not ((accuracies > chance) & (accuracies < 1)).all():
        expected = f"strictly between the largest share of a class, {chance:.6g}, and 1"
        hint = "to say the most frequent class always is right that often already."
        raise invalid(caller, "accuracy", expected, f"{accuracies.tolist()}", hint=hint)
    if (errors < 0).any():
        hint = "0 is a calibrated classifier."
        raise invalid(caller, "ece", "zero or more", f"{errors.tolist()}", hint=hint)
    return [
        _targets(float(accuracies[i]), errors, shares, direction)
        for i in track(len(accuracies), "fake classifiers")
    ]


def check_shares(class_shares: Any, n_classes: int, *, caller: str) -> FloatArray:
    """Shares of the classes, summing to one; equal ones if not given."""
    if class_shares is None:
        return np.full(n_classes, 1 / n_classes)
    shares = float_array(class_shares, caller=caller, param="class_shares").astype(np.float64)
    fine = shares.shape == (n_classes,) and np.isfinite(shares).all() and (shares > 0).all()
    if not fine or abs(shares.sum() - 1) > _SUM_TOLERANCE:
        hint = "for two classes (negative, positive), e.g. [0.9, 0.1]."
        expected = f"{n_classes} positive numbers that sum to 1"
        raise invalid(caller, "class_shares", expected, f"{class_shares!r}", hint=hint)
    return shares / shares.sum()


def _targets(
    accuracy: float, errors: FloatArray, shares: FloatArray, direction: Direction
) -> list[SimulationTarget]:
    if np.ptp(shares) <= _SUM_TOLERANCE:
        return [_target(accuracy, float(e), len(shares), direction) for e in errors]
    return _unequal_targets(accuracy, errors, shares, direction)


def _target(accuracy: float, ece: float, n_classes: int, direction: Direction) -> SimulationTarget:
    try:
        fake = _solved(accuracy, ece, n_classes, direction)
    except InvalidInputError as error:
        # Everything else was checked: what is left is that no such classifier exists.
        return SimulationTarget(accuracy, ece, None, error.hint)
    return SimulationTarget(accuracy, ece, fake, "")


@lru_cache(maxsize=1024)
def _solved(
    accuracy: float, ece: float, n_classes: int, direction: Direction
) -> DirichletFakeClassifier:
    """Solve once: other processes are asked of the same classifiers."""
    return fake_classifier_for(accuracy, ece, n_classes=n_classes, direction=direction)


def _numbers(values: Any, param: str, caller: str) -> FloatArray:
    listed = [values] if np.isscalar(values) else values
    array = float_array(listed, caller=caller, param=param).astype(np.float64)
    if array.ndim != 1 or len(array) == 0 or not np.isfinite(array).all():
        hint = "a number, or a list of them."
        raise invalid(caller, param, "one or more finite numbers", f"{values!r}", hint=hint)
    return np.unique(array)
