"""Weights on the simplex that give a mixture of forecasts the least mean log loss."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veridical._core.numeric.blocks import ROWS, row_blocks
from veridical._core.typing import BoolArray, FloatArray

_TOLERANCE = 1e-10
_MAX_STEPS = 200
_FLAT = 1e-12  # eigenvalues below this share of the largest are rounding
_FEW_PARTS = 16


@dataclass(frozen=True, kw_only=True)
class SimplexFit:
    """Weights where the mean log likelihood of a mixture is largest.

    Attributes
    ----------
    weights : (K,) on the simplex
    n_iter : steps taken
    pull : (K,) mean ratio of each part to the mixture; none above 1 at the optimum
    curvature : (K, K) mean of the products of these ratios, the information of one row
    violation : max(pull) - 1, which bounds the mean log likelihood still to be gained
    """

    weights: FloatArray
    n_iter: int
    pull: FloatArray
    curvature: FloatArray
    violation: float


def simplex_weights(
    likelihoods: FloatArray,
    share: FloatArray,
    *,
    scale: FloatArray | None = None,
    start: FloatArray | None = None,
) -> SimplexFit:
    r"""Maximise the mean of log sum_k w_k likelihoods_ik / scale_k over the simplex.

    Parameters
    ----------
    likelihoods : (n, K) array
        What each of K parts gives to what happened in each row.
    share : (n,) array
        Weights of the rows, of sum one.
    scale : (K,) array, optional
        Divisors of the columns; default ones.
    start : (K,) array, optional
        Where to begin; default all weights alike.

    Notes
    -----
    The objective is concave. Weights are optimal if and only if the mean ratio of no part to the
    mixture is above 1, and then it is 1 wherever a weight is positive; the search ends where none
    is above 1 + 1e-10. Steps solve the local quadratic model over non-negative weights (as
    mix-SQP: Kim, Carbonetto, Stephens & Anitescu 2020, doi 10.1080/10618600.2019.1689985) and
    halve where the likelihood would fall. O(n K^2) a step in blocks of rows; about 5 steps.

    Examples
    --------
    Two forecasts, each sure of its outcome: each weight is the share of its outcome.

    >>> likelihoods = np.array([[1.0, 1e-9]] * 3 + [[1e-9, 1.0]])
    >>> simplex_weights(likelihoods, np.full(4, 0.25)).weights.round(6).tolist()
    [0.75, 0.25]
    """
    n_parts = likelihoods.shape[1]
    divisors = np.ones(n_parts) if scale is None else scale
    weights = np.full(n_parts, 1 / n_parts) if start is None else start
    value, pull, curvature = mixture_derivatives(likelihoods, share, divisors, weights)
    steps = 0
    while (violation := float(pull.max()) - 1) > _TOLERANCE and steps < _MAX_STEPS:
        steps += 1
        aim = _model_optimum(pull, curvature)
        slope = float(pull @ (aim - weights))
        slack = 1e-14 * max(1.0, abs(value))  # rounding of the mean log likelihood
        length = 1.0
        for _ in range(30):
            moved = weights + length * (aim - weights)
            found = _mean_log_likelihood(likelihoods, share, divisors, moved)
            if found >= value + 1e-4 * length * max(slope, 0.0) - slack:
                break
            length /= 2
        else:
            moved = weights * pull  # one step of EM, which never lowers the likelihood
        weights = moved / moved.sum()
        value, pull, curvature = mixture_derivatives(likelihoods, share, divisors, weights)
    return SimplexFit(
        weights=weights,
        n_iter=steps,
        pull=pull,
        curvature=curvature,
        violation=max(violation, 0.0),
    )


def mixture_derivatives(
    likelihoods: FloatArray, share: FloatArray, scale: FloatArray, weights: FloatArray
) -> tuple[float, FloatArray, FloatArray]:
    """Mean log likelihood, its gradient and minus its Hessian."""
    k = likelihoods.shape[1]
    value, pull, curvature = 0.0, np.zeros(k), np.zeros((k, k))
    for block in row_blocks(len(likelihoods), max(1024, ROWS // k)):
        rows = likelihoods[block].astype(np.float64, copy=False)
        mixture = rows @ (weights / scale)
        value += float(share[block] @ np.log(mixture))
        ratios = rows / mixture[:, None]
        weighted = ratios * share[block][:, None]
        pull += weighted.sum(axis=0)
        curvature += weighted.T @ ratios
    return value, pull / scale, curvature / np.outer(scale, scale)


def _mean_log_likelihood(
    likelihoods: FloatArray, share: FloatArray, scale: FloatArray, weights: FloatArray
) -> float:
    """Mean log likelihood of the mixture; -inf where it gives nothing to what happened."""
    value = 0.0
    for block in row_blocks(len(likelihoods), max(1024, ROWS // likelihoods.shape[1])):
        mixture = likelihoods[block].astype(np.float64, copy=False) @ (weights / scale)
        if not mixture.min() > 0:
            return -np.inf
        value += float(share[block] @ np.log(mixture))
    return value


def _model_optimum(pull: FloatArray, curvature: FloatArray) -> FloatArray:
    """Minimise x' curvature x / 2 - (2 pull - 1)' x over x >= 0, scaled to sum one.

    Minus the log likelihood plus the sum of the weights has its optimum on the simplex, and this is
    its quadratic model: the constraint on the sum is not needed.
    """
    sizes, vectors = np.linalg.eigh(curvature)
    root = np.sqrt(np.maximum(sizes, _FLAT * sizes[-1]))
    target = (vectors.T @ (2 * pull - 1)) / root
    aim = vectors @ (target / root)  # without bounds; most often none is met
    if not aim.min() > 0:
        aim = _nonnegative(root[:, None] * vectors.T, target)
    return np.asarray(aim / aim.sum())


def _nonnegative(columns: FloatArray, target: FloatArray) -> FloatArray:
    """Least squares with coefficients of at least 0, of a square matrix of full rank.

    The active sets of Lawson & Hanson (1974, Solving least squares problems, chapter 23). Of many
    columns by SciPy, which updates a factorisation where this solves anew; to load it would take
    longer than to solve all problems of few.
    """
    k = len(target)
    if k <= _FEW_PARTS:
        x: FloatArray = np.zeros(k)
        free = np.zeros(k, dtype=bool)
        least = 10 * k * np.finfo(float).eps * float(np.abs(columns).sum(axis=0).max())
        for _ in range(3 * k):
            pull = np.where(free, -np.inf, columns.T @ (target - columns @ x))
            if free.all() or pull.max() <= least:
                return x
            free[pull.argmax()] = True
            x = _pushed_back(columns, target, x, free)
    from scipy.optimize import nnls

    return np.asarray(nnls(columns, target)[0])


def _pushed_back(
    columns: FloatArray, target: FloatArray, x: FloatArray, free: BoolArray
) -> FloatArray:
    """Optimum of the free coefficients; those that it would make negative are free no longer."""
    while True:
        aim = np.zeros(len(x))
        aim[free] = np.linalg.lstsq(columns[:, free], target)[0]
        bound = free & (aim <= 0)
        if not bound.any():
            return aim
        fall = x[bound] - aim[bound]  # none where a coefficient is 0 and stays
        shares = np.divide(x[bound], fall, out=np.zeros(len(fall)), where=fall > 0)
        x = x + shares.min() * (aim - x)
        free &= ~bound | (x > 0)
        free[np.flatnonzero(bound)[shares.argmin()]] = False
        x[~free] = 0.0
