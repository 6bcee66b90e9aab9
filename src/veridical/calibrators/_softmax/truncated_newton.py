"""Penalised log loss of softmax maps that are linear in their parameters.

For scores f = f(z; theta) of each row and weights w that sum to N,

    J(theta) = (1/N) sum_i w_i (log sum_k exp f_ik - f_iy) + sum_m a_m (theta_m - theta0_m)^2,

which is convex. With P = softmax(f) and r = P - onehot(y), the gradient of the first part is the
transposed linear map applied to w r / N, and its Hessian that of the matrices diag(P) - P P'.
Two maps share this: `FullMap`, f = W x + b, where the features x begin with the logits z and may
be more, and `DiagonalMap`, f = v * z + b.

Minima are found by Newton steps, exact for few parameters, truncated for many.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from veridical._core.numeric.blocks import row_blocks
from veridical._core.typing import FloatArray, IntArray
from veridical.calibrators._base.bases import WeightedOutcomes
from veridical.calibrators._softmax.scales import Inverse, KroneckerScale, Scale, Spectrum
from veridical.calibrators._softmax.softmax import rows_of, softmax_and_losses

_HESSIAN_ROWS = 1 << 10  # rows of a block of the matrix whose Gram matrix is in the Hessian


class SoftmaxObjective(ABC):
    """Value and derivatives of J for one sample; parameters are one flat vector.

    Parameters
    ----------
    logits : (n, m) float64 array; its first K columns are the logits of the classes
    rows : outcomes and weights
    centre : parameters the penalty pulls to (theta0)
    penalty : coefficients a of the squared distances

    Attributes
    ----------
    exact_up_to : number of parameters up to which forming the Hessian pays
    slopes, intercepts : positions of each class's own slope and intercept
    """

    exact_up_to: ClassVar[int]
    slopes: IntArray
    intercepts: IntArray

    def __init__(
        self, logits: FloatArray, rows: WeightedOutcomes, centre: FloatArray, penalty: FloatArray
    ) -> None:
        self.logits = logits
        self.centre = centre
        self.penalty = penalty
        self._y = rows.y
        weights = rows.weights
        self._share = weights / weights.sum()
        self._row = np.arange(len(rows.y))
        self._single: tuple[FloatArray, FloatArray] | None = None

    def scale(self, p: FloatArray) -> Scale | None:
        """What the Hessian is like, if there is a cheap likeness better than its diagonal."""
        return None

    @abstractmethod
    def _scores(self, logits: FloatArray, theta: FloatArray) -> FloatArray:
        """Scores f of all rows, (n, K), a new array; linear in theta."""

    @abstractmethod
    def _pull_back(self, logits: FloatArray, residuals: FloatArray) -> FloatArray:
        """Apply the transposed map: sum over rows of residuals times derivatives of scores."""

    @abstractmethod
    def feature_scales(self) -> FloatArray:
        """Root mean square of what each parameter multiplies, at least one."""

    @abstractmethod
    def _curvature_features(self, block: slice, p: FloatArray) -> FloatArray:
        """Rows whose Gram matrix is the part of the Hessian from P P', (rows, n_parameters)."""

    @abstractmethod
    def _add_diagonal_part(self, hessian: FloatArray, p: FloatArray) -> None:
        """Add the part of the Hessian from diag(P); `p` is already weighted."""

    @abstractmethod
    def _diagonal_of_squares(self, spread: FloatArray) -> FloatArray:
        """Sum over rows of `spread` times squared derivatives of scores."""

    def value(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Return J and the probabilities at theta."""
        p = self._scores(self.logits, theta)
        loss = float(self._share @ softmax_and_losses(p, self._y))
        away = theta - self.centre
        return loss + float(self.penalty @ (away * away)), p

    def gradient(self, theta: FloatArray, p: FloatArray) -> FloatArray:
        """Gradient of J, given the probabilities at theta."""
        residuals = p * self._share[:, None]
        residuals[self._row, self._y] -= self._share
        return self._pull_back(self.logits, residuals) + 2 * self.penalty * (theta - self.centre)

    def hessian(self, p: FloatArray, *, penalised: bool = True) -> FloatArray:
        """Exact Hessian, or that of the mean loss alone; O(n m^2) time for m parameters."""
        size = len(self.centre)
        result = np.zeros((size, size))
        root = np.sqrt(self._share)[:, None]
        for block in row_blocks(len(p), _HESSIAN_ROWS):
            features = self._curvature_features(block, p[block] * root[block])
            result -= features.T @ features
        self._add_diagonal_part(result, p * self._share[:, None])
        if penalised:
            result[np.diag_indices(size)] += 2 * self.penalty
        return result

    def hessian_product(self, p: FloatArray) -> Callable[[FloatArray], FloatArray]:
        """Return the function v -> H v at probabilities p, without forming H.

        In single precision, which halves the time: it only shapes steps, while the gradient that
        certifies the optimum is in double precision.
        """
        if self._single is None:
            self._single = self.logits.astype(np.float32), self._share.astype(np.float32)
        logits, share = self._single
        shares = p.astype(np.float32)

        def product(direction: FloatArray) -> FloatArray:
            change = self._scores(logits, direction.astype(np.float32))
            for block in row_blocks(len(p), rows_of(p.shape[1])):
                part, own = change[block], shares[block]
                part -= np.einsum("ij,ij->i", part, own)[:, None]
                part *= own
                part *= share[block, None]
            return self._pull_back(logits, change) + 2 * self.penalty * direction

        return product

    def hessian_diagonal(self, p: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Diagonal of the Hessian, and the entries between own slope and intercept of classes."""
        spread = p * (1 - p)
        spread *= self._share[:, None]
        between = np.einsum("ij,ij->j", spread, self.logits[:, : p.shape[1]])
        return self._diagonal_of_squares(spread) + 2 * self.penalty, between


class DiagonalMap(SoftmaxObjective):
    """Scores v * z + b; parameters are (v, b)."""

    exact_up_to = 128

    def __init__(
        self, logits: FloatArray, rows: WeightedOutcomes, centre: FloatArray, penalty: FloatArray
    ) -> None:
        super().__init__(logits, rows, centre, penalty)
        k = logits.shape[1]
        self.slopes, self.intercepts = np.arange(k), np.arange(k, 2 * k)

    def _scores(self, logits: FloatArray, theta: FloatArray) -> FloatArray:
        k = logits.shape[1]
        result = logits * theta[:k]
        result += theta[k:]
        return result

    def _pull_back(self, logits: FloatArray, residuals: FloatArray) -> FloatArray:
        first = np.einsum("ij,ij->j", residuals, logits)
        return np.concatenate([first, residuals.sum(axis=0)])

    def feature_scales(self) -> FloatArray:
        return np.concatenate([_scales(self.logits, self._share), np.ones(self.logits.shape[1])])

    def _curvature_features(self, block: slice, p: FloatArray) -> FloatArray:
        return np.hstack([p * self.logits[block], p])

    def _add_diagonal_part(self, hessian: FloatArray, p: FloatArray) -> None:
        k = self.logits.shape[1]
        first = np.einsum("ij,ij->j", p, self.logits)
        index = np.arange(k)
        hessian[index, index] += np.einsum("ij,ij,ij->j", p, self.logits, self.logits)
        hessian[index, index + k] += first
        hessian[index + k, index] += first
        hessian[index + k, index + k] += p.sum(axis=0)

    def _diagonal_of_squares(self, spread: FloatArray) -> FloatArray:
        second = np.einsum("ij,ij,ij->j", spread, self.logits, self.logits)
        return np.concatenate([second, spread.sum(axis=0)])


class FullMap(SoftmaxObjective):
    """Scores W x + b; parameters are the rows of (W | b) one after the other."""

    exact_up_to = 600

    def __init__(
        self, logits: FloatArray, rows: WeightedOutcomes, centre: FloatArray, penalty: FloatArray
    ) -> None:
        super().__init__(logits, rows, centre, penalty)
        k, m = rows.n_classes, logits.shape[1]
        self._shape = (k, m + 1)
        self.slopes = np.arange(k) * (m + 2)
        self.intercepts = np.arange(k) * (m + 1) + m
        self._spectrum: Spectrum | None = None

    def _scores(self, logits: FloatArray, theta: FloatArray) -> FloatArray:
        matrix = theta.reshape(self._shape)
        result = logits @ matrix[:, :-1].T
        result += matrix[:, -1]
        return result

    def _pull_back(self, logits: FloatArray, residuals: FloatArray) -> FloatArray:
        result = np.empty(self._shape)
        result[:, :-1] = residuals.T @ logits
        result[:, -1] = residuals.sum(axis=0)
        return result.ravel()

    def feature_scales(self) -> FloatArray:
        scales = np.append(_scales(self.logits, self._share), 1.0)
        return np.tile(scales, self._shape[0])

    def with_penalty(self, penalty: FloatArray) -> FullMap:
        """The same rows with another penalty of (W | b).

        What is known of the rows is kept, as far as the penalties of columns stay in proportion.
        """
        other = copy(self)
        other.penalty = penalty.ravel()
        return other

    def scale(self, p: FloatArray) -> Scale | None:
        columns = self.penalty.reshape(self._shape).max(axis=0)  # less on the diagonal alone
        if columns.min() <= 0:
            return None
        if self._spectrum is None:
            self._spectrum = Spectrum.of(self.logits, self._share, columns)
        return KroneckerScale.of(p, self._share, self._spectrum)

    def _curvature_features(self, block: slice, p: FloatArray) -> FloatArray:
        features = _with_ones(self.logits[block])
        return (p[:, :, None] * features[:, None, :]).reshape(len(p), -1)

    def _add_diagonal_part(self, hessian: FloatArray, p: FloatArray) -> None:
        k, size = self._shape
        for block in row_blocks(len(p), _HESSIAN_ROWS):
            features = _with_ones(self.logits[block])
            for j in range(k):
                own = slice(j * size, (j + 1) * size)
                hessian[own, own] += (features * p[block, j, None]).T @ features

    def _diagonal_of_squares(self, spread: FloatArray) -> FloatArray:
        result = np.empty(self._shape)
        result[:, :-1] = spread.T @ (self.logits * self.logits)
        result[:, -1] = spread.sum(axis=0)
        return result.ravel()


def _with_ones(logits: FloatArray) -> FloatArray:
    return np.hstack([logits, np.ones((len(logits), 1))])


def _scales(logits: FloatArray, share: FloatArray) -> FloatArray:
    return np.maximum(np.sqrt(np.einsum("i,ij,ij->j", share, logits, logits)), 1.0)


_TOLERANCE = 1e-9  # of the gradient of the mean loss, in units of the features
_TRUNCATED_TOLERANCE = 1e-7
_ROUGH_TOLERANCE = 3e-5
_MAX_STEPS = 100
_MAX_INNER = 250
_DAMPING = 1e-11  # relative; makes steps along directions the data do not see harmless
_SUFFICIENT = 1e-4


@dataclass(frozen=True)
class Minimum:
    """Where the search ended and how well it is certified.

    `gradient_norm` is the largest derivative of the mean penalised loss, each in units of what
    its parameter multiplies, or of its penalty's curvature where that is larger.
    """

    theta: FloatArray
    n_iter: int
    gradient_norm: float
    converged: bool


def truncated_newton(
    objective: SoftmaxObjective,
    start: FloatArray,
    near: Scale | None = None,
    *,
    roughly: bool = False,
) -> Minimum:
    """Minimise a convex objective by Newton steps with backtracking.

    Steps solve the Newton system exactly (Cholesky) where there are few parameters, to a gradient
    of 1e-9; where there are many, by preconditioned conjugate gradients to a precision that grows
    with convergence (Eisenstat & Walker 1996, doi 10.1137/0917003), to a gradient of 1e-7. `near`
    is what the Hessian is like, from an objective of about the same rows: no other is formed.
    `roughly` stops at a gradient of 3e-5 where there are many: for maps that are judged and thrown
    away.
    """
    scales = np.maximum(objective.feature_scales(), 2 * objective.penalty)
    exact = len(start) <= objective.exact_up_to
    tolerance = _TOLERANCE if exact else _TRUNCATED_TOLERANCE
    tolerance = _ROUGH_TOLERANCE if roughly and not exact else tolerance
    theta = start
    value, p = objective.value(theta)
    gradient = objective.gradient(theta, p)
    norm = float(np.abs(gradient / scales).max())
    steps = 0
    known = None if near is None else near.inverse(objective.penalty)
    while norm > tolerance and steps < _MAX_STEPS:
        steps += 1
        if exact and known is None:
            direction = _exact_direction(objective.hessian(p), gradient)
        else:
            precondition = known or _preconditioner(objective, p)
            direction = _truncated_direction(objective, p, gradient, precondition)
        moved = _line_search(objective, theta, value, float(gradient @ direction), direction)
        if moved is None:  # rounding hides any further descent
            break
        theta, value, p = moved
        gradient = objective.gradient(theta, p)
        norm = float(np.abs(gradient / scales).max())
    return Minimum(theta, steps, norm, norm <= tolerance)


def _exact_direction(hessian: FloatArray, gradient: FloatArray) -> FloatArray:
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    diagonal = np.diag_indices(len(gradient))
    scale = np.maximum(hessian[diagonal], 1e-300)
    damping = _DAMPING
    while True:
        damped = hessian.copy()
        damped[diagonal] += damping * (scale + scale.mean())
        try:
            factor = cho_factor(damped, overwrite_a=True, check_finite=False)
        except LinAlgError:
            damping *= 100
            continue
        return -np.asarray(cho_solve(factor, gradient, check_finite=False))


def _truncated_direction(
    objective: SoftmaxObjective, p: FloatArray, gradient: FloatArray, precondition: Inverse
) -> FloatArray:
    """Conjugate gradients on the Newton system."""
    product = objective.hessian_product(p)
    direction = np.zeros_like(gradient)
    residual = -gradient
    solved = precondition(residual)
    search = solved
    energy = first = float(residual @ solved)
    aim = min(0.1, first**0.25)  # first is about the square of the distance to the optimum
    for _ in range(_MAX_INNER):
        image = product(search)
        curvature = float(search @ image)
        if curvature <= 0:  # only by rounding
            break
        length = energy / curvature
        direction = direction + length * search
        residual = residual - length * image
        solved = precondition(residual)
        renewed = float(residual @ solved)
        if renewed <= aim * aim * first:
            break
        search = solved + (renewed / energy) * search
        energy = renewed
    return direction


def _preconditioner(objective: SoftmaxObjective, p: FloatArray) -> Inverse:
    """Inverse of a likeness of the Hessian.

    Without a better one, of its diagonal, with each class's own slope and intercept together: these
    two are nearly exchangeable where logits of a class hardly vary.
    """
    scale = objective.scale(p)
    if scale is not None:
        return scale.inverse(objective.penalty)
    diagonal, between = objective.hessian_diagonal(p)
    diagonal = diagonal + 1e-9 * float(diagonal.max())
    slopes, intercepts = objective.slopes, objective.intercepts
    slope, intercept = diagonal[slopes], diagonal[intercepts]
    determinant = slope * intercept - between * between

    def precondition(residual: FloatArray) -> FloatArray:
        result = residual / diagonal
        first, second = residual[slopes], residual[intercepts]
        result[slopes] = (intercept * first - between * second) / determinant
        result[intercepts] = (slope * second - between * first) / determinant
        return result

    return precondition


def _line_search(
    objective: SoftmaxObjective,
    theta: FloatArray,
    value: float,
    slope: float,
    direction: FloatArray,
) -> tuple[FloatArray, float, FloatArray] | None:
    """Halve the step until J falls enough; rounding of J is forgiven."""
    if slope >= 0:
        return None
    slack = 1e-14 * max(1.0, abs(value))
    length = 1.0
    for _ in range(60):
        moved = theta + length * direction
        found, p = objective.value(moved)
        if found <= value + _SUFFICIENT * length * slope + slack:
            return moved, found, p
        length /= 2
    return None
