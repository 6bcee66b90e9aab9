r"""Logistic regression with few parameters: exact Newton steps on a convex objective.

The negative log-likelihood of binary and of multinomial logistic regression is convex in the
parameters, its Hessian is known, and with few parameters each step is one pass over the rows:
O(n m^2) for m parameters. Newton's method with backtracking then ends after a handful of passes,
with the Newton decrement as certificate: an estimate of how far, in standard errors, the
parameters are from the optimum (Boyd & Vandenberghe 2004, Convex Optimization, section 9.5).

Without a finite optimum (separated outcomes: Albert & Anderson 1984, doi 10.1093/biomet/71.1.1)
the objective still has an infimum. Steps then lead towards it until less than about 1e-12 of the
objective is left; `escapes` tells such a case from a finite optimum.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from veridical._core.numeric.blocks import row_blocks
from veridical._core.typing import BoolArray, FloatArray, IntArray

# Value, gradient and Hessian at given parameters.
Evaluated: TypeAlias = tuple[float, FloatArray, FloatArray]
Objective: TypeAlias = Callable[[FloatArray], Evaluated]

_DECREMENT = 1e-10  # in standard errors
_MAX_STEPS = 200
# Rows of a block: two columns stay below the size from which matrix libraries start threads, which
# for products this thin cost more than they give.
_ROWS = 1 << 12
_FLAT = 1e-13  # curvature, relative to the largest, that only rounding tells from none
_NO_PULL = 1e-6  # gradient, in standard errors, along a flat direction that is none
_REACHED = 1e-6  # what a programme must gain, of parameters up to one, to be above rounding
_NEARLY_FLAT = 1e-6  # information, relative to the spread of the columns, that looks separated


@dataclass(frozen=True)
class NewtonFit:
    """Where a minimisation ended.

    Attributes
    ----------
    parameters : the minimiser, or the last point on the way to an infimum at infinity
    value : the objective there
    gradient, hessian : its derivatives there
    decrement : certificate: square root of gradient' hessian^-1 gradient
    n_steps : Newton steps taken
    converged : whether the certificate is below the tolerance
    """

    parameters: FloatArray
    value: float
    gradient: FloatArray
    hessian: FloatArray
    decrement: float
    n_steps: int
    converged: bool


def newton_by_decrement(
    objective: Objective,
    start: FloatArray,
    *,
    held: int | None = None,
    tolerance: float = _DECREMENT,
) -> NewtonFit:
    """Minimise a smooth convex function; directions without curvature are left alone.

    Parameters
    ----------
    objective : function that returns value, gradient and Hessian
    start : where to begin
    held : index of a parameter that keeps its value, if any
    tolerance : end once the Newton decrement, over the free parameters, is no larger
    """
    at = np.array(start, dtype=np.float64)
    free = np.delete(np.arange(len(at)), [] if held is None else held)
    value, gradient, hessian = objective(at)
    for count in range(_MAX_STEPS):
        step = np.zeros(len(at))
        step[free] = _newton_step(gradient[free], hessian[np.ix_(free, free)])
        slope = float(gradient @ step)
        decrement = float(np.sqrt(max(-slope, 0.0)))
        if decrement <= tolerance:
            return NewtonFit(at, value, gradient, hessian, decrement, count, converged=True)
        length = 1.0
        while True:
            trial = objective(at + length * step)
            # Near the optimum the decrease is smaller than the rounding of the value.
            if trial[0] <= value + 1e-4 * length * slope + 1e-13 * abs(value):
                break
            # Far out, where curvature vanishes, steps are too long by orders of magnitude.
            length = 1 / (1 + decrement) if length == 1.0 else length / 4
            if length * np.abs(step).max() < 1e-12 * (1 + np.abs(at).max()):
                return NewtonFit(at, value, gradient, hessian, decrement, count, converged=False)
        at = at + length * step
        value, gradient, hessian = trial
    return NewtonFit(at, value, gradient, hessian, decrement, _MAX_STEPS, converged=False)


def _newton_step(gradient: FloatArray, hessian: FloatArray) -> FloatArray:
    """Solve hessian @ step = -gradient, each parameter in units of its own curvature."""
    if not len(gradient):
        return gradient
    diagonal = np.diag(hessian)
    scale = 1 / np.sqrt(np.maximum(diagonal, max(1e-24 * float(diagonal.max()), 1e-100)))
    curvature, axes = np.linalg.eigh(hessian * scale * scale[:, None])
    along = axes.T @ (gradient * scale)
    floor = _FLAT * max(float(curvature[-1]), 1e-24)
    # No curvature and no gradient: the data do not care. With a gradient: far out, so go.
    along[(curvature <= floor) & (np.abs(along) < _NO_PULL)] = 0.0
    step: FloatArray = -scale * (axes @ (along / np.maximum(curvature, floor)))
    return step


def with_ridge(objective: Objective, strength: FloatArray, centre: FloatArray) -> Objective:
    """Add half the sum of strength * (parameters - centre)^2."""

    def penalised(at: FloatArray) -> Evaluated:
        value, gradient, hessian = objective(at)
        away = at - centre
        pull = strength * away
        return value + 0.5 * float(away @ pull), gradient + pull, hessian + np.diag(strength)

    return penalised


def binary_objective(
    columns: FloatArray,
    positive: FloatArray,
    negative: FloatArray,
    offset: FloatArray | None = None,
) -> Objective:
    """Negative log-likelihood of binary logistic regression.

    Parameters
    ----------
    columns : float64 array of shape (m, n)
        One row per parameter, so that each is contiguous.
    positive, negative : float64 arrays of shape (n,)
        Weight of outcomes 1 and of outcomes 0 at each row.
    offset : array of shape (n,), optional
        Part of the log-odds that no parameter changes.
    """
    n = columns.shape[1]
    total = positive + negative

    def objective(at: FloatArray) -> Evaluated:
        value, gradient, hessian = 0.0, np.zeros(len(at)), np.zeros((len(at), len(at)))
        for block in row_blocks(n, _ROWS):
            z, one, zero = columns[:, block], positive[block], negative[block]
            t = at @ z
            if offset is not None:
                t += offset[block]
            size = np.abs(t)
            small = np.exp(-size)
            up = t >= 0
            whole = 1 + small
            both = total[block]
            value += float(both @ np.log(whole) + size @ np.where(up, zero, one))
            whole = 1 / whole
            lesser = small * whole  # the smaller of the two probabilities
            gradient += z @ (both * np.where(up, whole, lesser) - one)
            lesser *= whole
            lesser *= both
            hessian += (z * lesser) @ z.T
        return value, gradient, hessian

    return objective


@dataclass(frozen=True)
class Terms:
    """Which parameter multiplies which column in the log-odds of which class.

    Term j adds ``parameters[parameter[j]] * columns[column[j]]`` to the logit of class `label[j]`;
    classes without a term are references. Several terms may share a parameter.
    """

    column: Sequence[int]
    label: Sequence[int]
    parameter: Sequence[int]

    @property
    def map(self) -> FloatArray:
        """Matrix (terms, parameters) that hands each term its parameter."""
        return np.eye(max(self.parameter) + 1)[list(self.parameter)]


def multinomial_objective(
    columns: FloatArray,
    terms: Terms,
    y: IntArray,
    weight: FloatArray,
    offset: FloatArray,
) -> Objective:
    """Negative log-likelihood of multinomial logistic regression.

    Parameters
    ----------
    columns : float64 array of shape (c, n)
        What the terms multiply.
    terms : Terms
        The structure of the model.
    y : integer array of shape (n,)
        Class of each row, in 0..K-1.
    weight : float64 array of shape (n,)
        Weight of each row.
    offset : float64 array of shape (n, K)
        Part of the logits that no parameter changes; zeros if there is none.
    """
    column, label, share = list(terms.column), np.asarray(terms.label), terms.map
    same_label = label[:, None] == label
    n, n_classes = offset.shape
    into = (label[:, None] == np.arange(n_classes)).astype(np.float64)
    rows = max(256, 8 * _ROWS // max(len(label), n_classes))

    def objective(at: FloatArray) -> Evaluated:
        beta = share @ at
        value, gradient = 0.0, np.zeros(len(beta))
        hessian = np.zeros((len(beta), len(beta)))
        for block in row_blocks(n, rows):
            z, w, k = columns[column, block], weight[block], y[block]
            index = np.arange(len(k))
            logits = offset[block] + (z * beta[:, None]).T @ into
            logits -= logits.max(axis=1, keepdims=True)
            p = np.exp(logits)
            total = p.sum(axis=1)
            value += float(w @ (np.log(total) - logits[index, k]))
            p *= (w / total)[:, None]  # weighted probabilities
            residual = p.copy()
            residual[index, k] -= w
            gradient += np.einsum("jn,jn->j", z, residual[:, label].T)
            weighted = z * p[:, label].T
            hessian += np.where(same_label, weighted @ z.T, 0.0) - (weighted / w) @ weighted.T
        return value, share.T @ gradient, share.T @ hessian @ share

    return objective


def looks_separated(fit: NewtonFit, spread: FloatArray) -> bool:
    """Whether the curvature is so small that the outcomes may be separated.

    `spread` is the Hessian with every variance of an outcome replaced by its largest value 1/4,
    or any matrix of that size: weights times squares of the columns.
    """
    scale = 1 / np.sqrt(np.where(np.diag(spread) > 0, np.diag(spread), 1.0))
    curvature = np.linalg.eigvalsh(fit.hessian * scale * scale[:, None])
    return bool(curvature[0] < _NEARLY_FLAT)


def escapes(margins: FloatArray) -> tuple[BoolArray, BoolArray] | None:
    """Which parameters may grow, and which may fall, for ever without loss of likelihood.

    Parameters
    ----------
    margins : array of shape (comparisons, m)
        Change, for each parameter, of the logit of the class that occurred minus that of a class
        that did not; one row per such comparison.

    Returns
    -------
    pair of boolean arrays of shape (m,), or None
        Whether some direction d with ``margins @ d >= 0`` has a positive, or a negative, entry;
        None if the optimum is finite, because none but ``margins @ d == 0`` exists.

    Notes
    -----
    Linear programmes (Konis 2007, Linear programming algorithms for detecting separated data in
    binary logistic regression models, University of Oxford), solved to a tolerance of 1e-9 with
    each column scaled to one: one to detect, two per parameter to describe.
    """
    from scipy.optimize import linprog

    scale = np.abs(margins).max(axis=0)
    scale[scale == 0] = 1.0
    scaled = np.unique(margins / scale, axis=0)

    def furthest(towards: FloatArray) -> float:
        solved = linprog(
            -towards,
            A_ub=-scaled,
            b_ub=np.zeros(len(scaled)),
            bounds=(-1, 1),
            method="highs",
            options={"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9},
        )
        return float(-solved.fun) if solved.success else 0.0

    if furthest(scaled.sum(axis=0)) <= _REACHED:
        return None
    axes = np.eye(len(scale))
    return (
        np.array([furthest(axis) > _REACHED for axis in axes]),
        np.array([furthest(-axis) > _REACHED for axis in axes]),
    )
