"""Newton's method for logistic fits of few parameters, some of which may not be negative."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from veridical._core.typing import BoolArray, FloatArray
from veridical.calibrators._base.bases import Notes, WeightedOutcomes
from veridical.exceptions import invalid

PROMISED = 1e-8  # of the gradient per row
_TOLERANCE = 1e-10  # what is aimed at
_MAX_STEPS = 200
_SEPARATED = 1e-7  # mean log loss in nats that only separated classes reach


class Loss(Protocol):
    """A sum of logistic losses of linear predictors, as a function of their coefficients."""

    @property
    def total(self) -> float: ...

    @property
    def bound(self) -> FloatArray: ...

    def largest_move(self, step: FloatArray) -> float: ...

    def value(self, theta: FloatArray) -> float: ...

    def gradient(self, theta: FloatArray) -> FloatArray: ...

    def hessian(self, theta: FloatArray) -> FloatArray: ...


@dataclass(frozen=True)
class Ridge:
    """Half the quadratic form of the distance from `anchor`."""

    matrix: FloatArray
    anchor: FloatArray

    def value(self, theta: FloatArray) -> float:
        """Penalty at `theta`."""
        away = theta - self.anchor
        return float(away @ self.matrix @ away) / 2

    def gradient(self, theta: FloatArray) -> FloatArray:
        """Its gradient."""
        return np.asarray(self.matrix @ (theta - self.anchor))


@dataclass(frozen=True)
class Solution:
    """Where a fit ended.

    Attributes
    ----------
    theta : coefficients
    n_iter : Newton steps taken
    gradient : norm of the projected gradient divided by the number of rows
    notes : what is in doubt about it
    """

    theta: FloatArray
    n_iter: int
    gradient: float
    notes: Notes = ()


def bounded_newton(
    loss: Loss,
    ridge: Ridge,
    start: FloatArray,
    bounded: BoolArray,
    *,
    hessian: Callable[[FloatArray], FloatArray] | None = None,
    max_steps: int = _MAX_STEPS,
    tolerance: float = _TOLERANCE,
) -> Solution:
    """Minimise a convex loss plus a ridge, with `theta[bounded] >= 0`.

    Each step minimises the quadratic model within the bounds. If no linear predictor moves by more
    than 1/2, the Hessian changes by less than a factor exp(1/2) < 2 on the way and the step is a
    descent without looking at the loss; longer steps are halved until the loss falls, and replaced
    by the step of the bounding matrix if that does not help.
    """
    theta = np.where(bounded, np.maximum(start, 0), start)
    gradient = loss.gradient(theta) + ridge.gradient(theta)
    size, n_iter = _projected(theta, gradient, bounded) / loss.total, 0
    curvature = hessian or loss.hessian
    while size > tolerance and n_iter < max_steps:
        step = bounded_step(gradient, curvature(theta) + ridge.matrix, theta, bounded)
        if not loss.largest_move(step) <= 0.5:
            step = _shortened(loss, ridge, theta, gradient, step, bounded)
        moved = np.where(bounded, np.maximum(theta + step, 0), theta + step)
        n_iter += 1
        new = loss.gradient(moved) + ridge.gradient(moved)
        new_size = _projected(moved, new, bounded) / loss.total
        if new_size >= size and size <= PROMISED:
            break  # as far as rounding lets it get
        theta, gradient, size = moved, new, new_size
    return Solution(theta, n_iter, size)


def better_start(loss: Loss, ridge: Ridge, start: FloatArray) -> FloatArray:
    """`start`, or zero where that is the better fit.

    Where predictions are certain and often wrong there is next to no curvature to steer by; at zero
    there is most.
    """
    zero = np.zeros(len(start))
    known, nothing = (loss.value(theta) + ridge.value(theta) for theta in (start, zero))
    return start if known <= nothing else zero


def bounded_step(
    gradient: FloatArray, hessian: FloatArray, theta: FloatArray, bounded: BoolArray
) -> FloatArray:
    """Minimiser of g d + d H d / 2 with theta + d >= 0 where bounded.

    Principal pivoting: whoever breaks a bound is held there, whoever would gain from leaving it is
    let go; Murty's (1974) one at a time as soon as the number of offenders does not fall, which
    ends after finitely many exchanges for a positive definite matrix.
    """
    scale = np.sqrt(np.maximum(hessian.diagonal(), 1e-300))
    h = hessian / (scale[:, None] * scale)
    h.flat[:: len(theta) + 1] += 1e-13
    g, at = gradient / scale, theta * scale
    slack = 1e-12 * (1 + np.abs(at))
    held = bounded & (theta <= 0) & (gradient > 0)
    if not held.any():  # nor is any bound met, most often
        step = _solve(h, -g)
        if not (bounded & (at + step < -slack)).any():
            return step / scale
    fewest, chances = len(theta) + 1, 3
    step = np.zeros(len(theta))
    for _ in range(50 * len(theta)):
        free = ~held
        step[held] = -at[held]
        right = -g[free] - h[np.ix_(free, held)] @ step[held]
        step[free] = _solve(h[np.ix_(free, free)], right)
        breaking = free & bounded & (at + step < -slack)
        gaining = held & (g + h @ step < -1e-12 * (1 + np.abs(g)))
        offending = breaking | gaining
        count = int(offending.sum())
        if count == 0:
            break
        if count < fewest:
            fewest, chances = count, 3
        elif chances > 0:
            chances -= 1
        else:
            last = int(np.flatnonzero(offending)[-1])
            offending = np.arange(len(theta)) == last
        held = held ^ offending
    return step / scale


def with_notes(loss: Loss, fit: Solution, caller: str) -> Solution:
    """The solution, with a note if it is none or if there is none to find."""
    mean = loss.value(fit.theta) / loss.total if fit.n_iter > 15 else math.inf
    if fit.gradient > PROMISED:
        note = f"{caller}: the fit stopped with a gradient of {fit.gradient:.1e} per row."
        return replace(fit, notes=(note,))
    if mean < _SEPARATED:
        note = (
            f"{caller}: the scores separate the classes, so without a penalty the best map is a "
            "step and probabilities are close to 0 or 1."
        )
        return replace(fit, notes=(note,))
    return fit


def _solve(matrix: FloatArray, right: FloatArray) -> FloatArray:
    from scipy.linalg.lapack import dposv

    if len(right) == 0:
        return right
    _, solution, failed = dposv(matrix, right)
    if failed:  # no curvature in some direction: stay where one is
        return np.linalg.lstsq(matrix, right, rcond=1e-12)[0]
    return np.asarray(solution)


def _projected(theta: FloatArray, gradient: FloatArray, bounded: BoolArray) -> float:
    """Norm of the gradient without what only presses against a bound."""
    pressing = bounded & (theta <= 0) & (gradient > 0)
    left = np.where(pressing, 0.0, gradient)
    return math.sqrt(float(left @ left))


def _shortened(
    loss: Loss,
    ridge: Ridge,
    theta: FloatArray,
    gradient: FloatArray,
    step: FloatArray,
    bounded: BoolArray,
) -> FloatArray:
    """A fraction of the step that lowers the loss, or the step of the bounding matrix."""
    here = loss.value(theta) + ridge.value(theta)
    slope, fraction = float(gradient @ step), 1.0
    while np.isfinite(slope) and fraction > 1e-3:
        there = theta + fraction * step
        if loss.value(there) + ridge.value(there) <= here + 1e-4 * fraction * slope:
            return fraction * step
        fraction /= 2
    return bounded_step(gradient, loss.bound + ridge.matrix, theta, bounded)


def ridge_to(anchor: FloatArray, penalty: float) -> Ridge:
    """Equal weight on the distance of every coefficient from `anchor`."""
    return Ridge(penalty * np.eye(len(anchor)), anchor)


def check_two_classes(caller: str, rows: WeightedOutcomes, *, guarded: bool) -> None:
    """Raise if only one class occurs and nothing keeps the fit from infinity."""
    if not guarded and (rows.y == rows.y[0]).all():
        hint = "set a `penalty`, or fit on rows of both classes."
        raise invalid(caller, "y", "of two classes without a penalty", "one class only", hint=hint)
