"""What vector, matrix, Dirichlet and structured scaling share: penalty, fit and application."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from veridical._core.typing import FloatArray
from veridical._core.validation import check_option
from veridical.calibrators._base import MulticlassCalibrator, Rows
from veridical.calibrators._inverse_temperature import fit_inverse_temperature
from veridical.calibrators._multiclass_newton import Minimum, minimise
from veridical.calibrators._softmax import (
    check_non_negative,
    check_pseudo_rows,
    mixing_share,
    softmax_in_place,
)
from veridical.calibrators._softmax_objective import DiagonalMap, FullMap
from veridical.exceptions import VeridicalWarning

PENALTIES = ("odir", "l2")

# Share of the ridge on the diagonal that "odir" keeps: published ODIR leaves the diagonal free,
# and then separable rows have no optimum.
_LOOSE = 1e-3


class LinearCalibrator(MulticlassCalibrator):
    """A softmax of linear functions of logits, fitted by penalised log loss."""

    _full: ClassVar[bool]

    pseudo_rows: float

    def _check_parameters(self) -> None:
        check_pseudo_rows(type(self).__name__, self.pseudo_rows)

    @abstractmethod
    def _ridge(self, n_classes: int, size: float) -> tuple[float, float, float]:
        """Penalty on squared distances of diagonal, off-diagonal and intercepts from identity."""

    def _features(self, logits: FloatArray) -> FloatArray:
        """What the linear functions are of; may be the same array."""
        return logits

    def _start(self, features: FloatArray, rows: Rows) -> float:
        """Multiple of the identity to start from; temperature scaling is near any good map."""
        return fit_inverse_temperature(features, rows).inverse

    def _fit_map(self, logits: FloatArray, rows: Rows) -> None:
        features = self._features(logits)
        ridge = self._ridge(rows.n_classes, rows.size)
        start = self._start(features, rows)
        fit = fit_full if self._full else fit_diagonal
        self.coef_, self.intercept_, minimum = fit(features, rows, ridge, start)
        self.n_iter_ = minimum.n_iter
        self.gradient_norm_ = minimum.gradient_norm
        self.mix_ = self._output_mix(rows.size)
        if not minimum.converged:
            self._warn(
                f"the fit stopped after {minimum.n_iter} steps with a gradient of "
                f"{minimum.gradient_norm:.1e}"
            )
        elif not any(ridge) and self._runs_away(features, rows):
            self._warn("without a penalty there is no optimum: classes are separable or absent")

    def _output_mix(self, size: float) -> float:
        return mixing_share(self.pseudo_rows, size)

    def _map(self, logits: FloatArray) -> FloatArray:
        return softmax_in_place(self._scores(self._features(logits)), self.mix_)

    def _scores(self, features: FloatArray) -> FloatArray:
        scores = features @ self.coef_.T if self._full else features * self.coef_
        scores += self.intercept_
        return scores

    def _runs_away(self, features: FloatArray, rows: Rows) -> bool:
        """Whether larger parameters would always be better: then the gradient just fades."""
        if len(np.unique(rows.y)) < rows.n_classes:
            return True
        return bool((self._scores(features).argmax(axis=1) == rows.y).all())

    def _warn(self, doubt: str) -> None:
        warnings.warn(f"{type(self).__name__}: {doubt}.", VeridicalWarning, stacklevel=5)


class PenalisedCalibrator(LinearCalibrator):
    """A linear map on the logits themselves, with a choice of penalties."""

    penalty: str | None
    strength: float

    def _check_parameters(self) -> None:
        super()._check_parameters()
        caller = type(self).__name__
        if self.penalty is not None:
            check_option(caller, "penalty", self.penalty, PENALTIES)
        check_strength(caller, self.strength)

    def _ridge(self, n_classes: int, size: float) -> tuple[float, float, float]:
        diagonal, off, intercept = structured_ridge(self.strength, n_classes, size)
        if self.penalty is None:
            return 0.0, 0.0, 0.0
        return (diagonal * _LOOSE if self.penalty == "odir" else diagonal), off, intercept


def structured_ridge(strength: float, n_classes: int, size: float) -> tuple[float, float, float]:
    """Ridge of Berta et al. (2025), arXiv 2511.03685: K / n, and K (K - 1) / n off the diagonal.

    Returned for diagonal, off-diagonal and intercepts. A K-th of the K (K - 1) off-diagonal
    parameters enters each score, hence the stronger pull on each.
    """
    unit = strength * n_classes / size
    return unit, unit * (n_classes - 1), unit


def check_strength(caller: str, value: Any) -> None:
    """Raise unless `value` can be a multiple of the usual ridge."""
    check_non_negative(caller, "strength", value, hint="1 is usual, 0 turns the ridge off.")


def fit_diagonal(
    features: FloatArray, rows: Rows, ridge: tuple[float, float, float], start: float
) -> tuple[FloatArray, FloatArray, Minimum]:
    """Fit v * z + b; returns v, b and how the search ended."""
    k = rows.n_classes
    identity = np.repeat([1.0, 0.0], k)
    penalty = np.repeat([ridge[0], ridge[2]], k)
    minimum = minimise(DiagonalMap(features, rows, identity, penalty), identity * start)
    return minimum.theta[:k], minimum.theta[k:], minimum


def fit_full(
    features: FloatArray, rows: Rows, ridge: tuple[float, float, float], start: float
) -> tuple[FloatArray, FloatArray, Minimum]:
    """Fit W z + b; returns W, b and how the search ended."""
    k = rows.n_classes
    identity = np.eye(k, k + 1)
    penalty = np.full((k, k + 1), ridge[1])
    penalty[np.diag_indices(k)] = ridge[0]
    penalty[:, k] = ridge[2]
    objective = FullMap(features, rows, identity.ravel(), penalty.ravel())
    minimum = minimise(objective, identity.ravel() * start)
    matrix = minimum.theta.reshape(k, k + 1)
    return matrix[:, :k].copy(), matrix[:, k].copy(), minimum
