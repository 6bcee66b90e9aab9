"""Minima of penalised softmax objectives: Newton, exact for few parameters, truncated for many."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from veridical._core.typing import FloatArray
from veridical.calibrators._softmax_objective import SoftmaxObjective

_TOLERANCE = 1e-9  # of the gradient of the mean loss, in units of the features
_TRUNCATED_TOLERANCE = 1e-7
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


def minimise(objective: SoftmaxObjective, start: FloatArray) -> Minimum:
    """Minimise a convex objective by Newton steps with backtracking.

    Steps solve the Newton system exactly (Cholesky) where there are few parameters, to a gradient
    of 1e-9; where there are many, by preconditioned conjugate gradients to a precision that grows
    with convergence (Eisenstat & Walker 1996, doi 10.1137/0917003), to a gradient of 1e-7.
    """
    scales = np.maximum(objective.feature_scales(), 2 * objective.penalty)
    exact = len(start) <= objective.exact_up_to
    tolerance = _TOLERANCE if exact else _TRUNCATED_TOLERANCE
    theta = start
    value, p = objective.value(theta)
    gradient = objective.gradient(theta, p)
    norm = float(np.abs(gradient / scales).max())
    steps = 0
    while norm > tolerance and steps < _MAX_STEPS:
        steps += 1
        if exact:
            direction = _exact_direction(objective.hessian(p), gradient)
        else:
            direction = _truncated_direction(objective, p, gradient)
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
    objective: SoftmaxObjective, p: FloatArray, gradient: FloatArray
) -> FloatArray:
    """Conjugate gradients on the Newton system."""
    product = objective.hessian_product(p)
    precondition = _preconditioner(objective, p)
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


def _preconditioner(
    objective: SoftmaxObjective, p: FloatArray
) -> Callable[[FloatArray], FloatArray]:
    """Inverse of the Hessian's diagonal, with each class's own slope and intercept together.

    These two are nearly exchangeable where logits of a class hardly vary.
    """
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
