"""A fake classifier of given accuracy and calibration error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np

from veridical._core.data.options import check_integer
from veridical._core.data.validation import check_option, is_number
from veridical._core.numeric.roots import root_between
from veridical.exceptions import InvalidInputError, invalid
from veridical.simulation._fakes.dirichlet import DirichletFakeClassifier
from veridical.simulation._fakes.dirichlet_means import PowerConfidence, mean_largest
from veridical.simulation._fakes.maps import IdentityMap, PowerMap, SimplexMap

Direction: TypeAlias = Literal["over", "under"]

_CALLER = "fake_classifier_for"
_LOG_ALPHA = (np.log(1e-6), np.log(1e8))
_LOG_EXPONENT = np.log(1e6)  # and one over it
_TOLERANCE = 1e-9  # of the figures
_ROUNDING = 1e-12  # of 1 - accuracy: 1 - 0.85 is more than 0.15 in floating point


def fake_classifier_for(
    accuracy: float, ece: float, *, n_classes: int, direction: Direction = "over"
) -> DirichletFakeClassifier:
    r"""Fake classifier with a given accuracy and ECE, over- or under-confident on every row.

    The truth is a symmetric Dirichlet distribution whose concentration gives the accuracy
    E[max p], and a power map gives the ECE: an exponent above 1 raises the confidence of every row
    above the truth, below 1 lowers it, and neither moves the largest component.

    Parameters
    ----------
    accuracy : float
        Strictly between 1 / n_classes and 1.
    ece : float
        Expected calibration error of the confidence lens, E|P(Y = argmax c | max c) - max c|. At
        least 0, and below 1 - accuracy (over) or accuracy - 1 / n_classes (under).
    n_classes : int
        Number of classes, two or more.
    direction : {"over", "under"}
        Whether confidence is always above or always below the truth.

    Returns
    -------
    DirichletFakeClassifier
        Its figures are the targets to about 1e-7, for any number of classes.

    Notes
    -----
    Lemma 1 of [1]_: an always over-confident classifier has

    .. math:: \mathrm{ECE} = \mathrm{E} \max c - \mathrm{acc} \le 1 - \mathrm{acc},

    an always under-confident one ECE = acc - E max c <= acc. As max c is at least 1 / K (footnote
    8 there) the second bound is acc - 1/K at most; targets at or beyond the bounds are refused.
    Both bounds are approached as the exponent goes to infinity and to zero.

    Two one-dimensional searches; a few tenths of a second, no random numbers.

    References
    ----------
    .. [1] Panchenko (2021), Calibration of Classifiers, appliedAI, section 7.

    Examples
    --------
    >>> fake = fake_classifier_for(0.75, 0.1, n_classes=2)
    >>> [round(alpha, 6) for alpha in fake.alpha]  # Dirichlet(1, 1) has accuracy 3/4
    [1.0, 1.0]
    >>> round(fake.expected_calibration_error().value, 6)
    0.1
    """
    check_option(_CALLER, "direction", direction, ("over", "under"))
    hint, least = "a classifier chooses between two classes or more.", "an integer of at least 2"
    check_integer(_CALLER, "n_classes", n_classes, hint=hint, least=2, expected=least)
    _check_accuracy(accuracy, n_classes)
    _check_ece(ece, accuracy, n_classes, direction)
    alpha = _concentration(accuracy, n_classes)
    return DirichletFakeClassifier(
        (alpha,) * n_classes, map=_map_for(ece, alpha, n_classes, direction)
    )


def _check_accuracy(accuracy: float, n_classes: int) -> None:
    if not (is_number(accuracy) and 1 / n_classes < accuracy < 1):
        expected = f"strictly between 1 / n_classes = {1 / n_classes:.6g} and 1"
        hint = "the most probable class is right at least once in n_classes times."
        raise invalid(_CALLER, "accuracy", expected, repr(accuracy), hint=hint)


def _check_ece(ece: float, accuracy: float, n_classes: int, direction: Direction) -> None:
    if not (is_number(ece) and ece >= 0):
        hint = "0 is a calibrated classifier."
        raise invalid(_CALLER, "ece", "a non-negative number", repr(ece), hint=hint)
    if direction == "over":
        bound, formula = 1 - accuracy, f"1 - accuracy = {1 - accuracy:.6g}"
        source = "an always over-confident classifier has ECE = E[max c] - accuracy, and max c <= 1"
        part = "i"
    else:
        bound = accuracy - 1 / n_classes
        formula = f"accuracy - 1 / n_classes = {bound:.6g}"
        source = (
            "an always under-confident classifier has ECE = accuracy - E[max c], and"
            " max c >= 1 / n_classes"
        )
        part = "ii"
    if ece >= bound - _ROUNDING and ece > 0:
        raise _impossible(ece, formula, f"{source} (Lemma 1 {part}, Panchenko 2021, section 7).")


def _impossible(ece: float, formula: str, hint: str) -> InvalidInputError:
    return invalid(_CALLER, "ece", f"below {formula}", f"{ece:.6g}", hint=hint)


def _concentration(accuracy: float, n_classes: int) -> float:
    """Parameter of the symmetric Dirichlet distribution with this E[max p]."""

    def gap(log_alpha: float) -> float:
        return mean_largest(np.full(n_classes, np.exp(log_alpha))) - accuracy

    low, high = _LOG_ALPHA
    if not gap(high) < 0 < gap(low):
        hint = "move it away from chance or from certainty by a thousandth."
        expected = "within reach of a Dirichlet distribution"
        raise invalid(_CALLER, "accuracy", expected, f"{accuracy!r}", hint=hint)
    return float(np.exp(_root(gap, low, high)))


def _map_for(ece: float, alpha: float, n_classes: int, direction: Direction) -> SimplexMap:
    if ece == 0:
        return IdentityMap()
    confidence = PowerConfidence(alpha, n_classes)
    # The truth by the same rule: what is left of its error cancels, however small the target.
    target = confidence(1.0) + (ece if direction == "over" else -ece)

    def gap(log_exponent: float) -> float:
        return confidence(float(np.exp(log_exponent))) - target

    end = _LOG_EXPONENT if direction == "over" else -_LOG_EXPONENT
    reached = gap(end) > 0 if direction == "over" else gap(end) < 0
    if not reached:
        bound = "1 - accuracy" if direction == "over" else "accuracy - 1 / n_classes"
        hint = "the bound itself is reached by no power of the truth; ask for slightly less."
        raise _impossible(ece, f"{bound} by a millionth", hint)
    return PowerMap(float(np.exp(_root(gap, 0.0, end))))


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    return root_between(function, low, high, xtol=_TOLERANCE, rtol=_TOLERANCE)
