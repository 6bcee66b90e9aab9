"""Class priors of largest likelihood, given predictions without outcomes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veridical._core.blocks import ROWS, row_blocks
from veridical._core.typing import FloatArray

_TOLERANCE = 1e-10
_MAX_STEPS = 200
_FLAT = 1e-12  # eigenvalues below this share of the largest are rounding
_VAGUE = 1e-7  # and below this the likelihood does not tell classes apart


@dataclass(frozen=True, kw_only=True)
class LikelihoodFit:
    """Priors where the likelihood is largest.

    Attributes
    ----------
    priors : (K,) on the simplex
    n_iter : steps taken
    pull : (K,) mean ratio of each class density to the mixture; none above 1 at the optimum
    curvature : (K, K) mean of the products of these ratios, the information of one row
    violation : max(pull) - 1, which bounds the mean log likelihood still to be gained
    """

    priors: FloatArray
    n_iter: int
    pull: FloatArray
    curvature: FloatArray
    violation: float


def fit_priors(
    p: FloatArray, share: FloatArray, train: FloatArray, start: FloatArray | None = None
) -> LikelihoodFit:
    r"""Maximise the mean of log sum_k priors_k p_ik / train_k over the simplex.

    This is the limit of the iteration of Saerens, Latinne and Decaestecker (2002, equation 2.9,
    doi 10.1162/089976602753284446), an EM algorithm; the objective is concave, so there is one
    largest likelihood. Steps solve the local quadratic model over non-negative priors (as mix-SQP:
    Kim, Carbonetto, Stephens & Anitescu 2020, doi 10.1080/10618600.2019.1689985) and halve where
    the likelihood would fall. O(n K^2) a step in blocks of rows; about 5 steps.
    """
    priors = train / train.sum() if start is None else start
    value, pull, curvature = _derivatives(p, share, train, priors)
    steps = 0
    while (violation := float(pull.max()) - 1) > _TOLERANCE and steps < _MAX_STEPS:
        steps += 1
        aim = _model_optimum(pull, curvature)
        slope = float(pull @ (aim - priors))
        slack = 1e-14 * max(1.0, abs(value))  # rounding of the mean log likelihood
        length = 1.0
        for _ in range(30):
            moved = priors + length * (aim - priors)
            found = _derivatives(p, share, train, moved)
            if found[0] >= value + 1e-4 * length * max(slope, 0.0) - slack:
                break
            length /= 2
        else:
            moved = priors * pull  # one step of EM, which never lowers the likelihood
            found = _derivatives(p, share, train, moved / moved.sum())
        priors = moved / moved.sum()
        value, pull, curvature = found
    return LikelihoodFit(
        priors=priors,
        n_iter=steps,
        pull=pull,
        curvature=curvature,
        violation=max(violation, 0.0),
    )


def _derivatives(
    p: FloatArray, share: FloatArray, train: FloatArray, priors: FloatArray
) -> tuple[float, FloatArray, FloatArray]:
    """Mean log likelihood, its gradient and minus its Hessian; -inf where it is not finite."""
    k = p.shape[1]
    value, pull, curvature = 0.0, np.zeros(k), np.zeros((k, k))
    for block in row_blocks(len(p), max(1024, ROWS // k)):
        rows = p[block].astype(np.float64, copy=False)
        mixture = rows @ (priors / train)
        if not mixture.min() > 0:
            return -np.inf, pull, curvature
        value += float(share[block] @ np.log(mixture))
        ratios = rows / mixture[:, None]
        weighted = ratios * share[block][:, None]
        pull += weighted.sum(axis=0)
        curvature += weighted.T @ ratios
    return value, pull / train, curvature / np.outer(train, train)


def _model_optimum(pull: FloatArray, curvature: FloatArray) -> FloatArray:
    """Minimise x' curvature x / 2 - (2 pull - 1)' x over x >= 0, scaled to sum one.

    Minus the log likelihood plus the sum of the priors has its optimum on the simplex, and this is
    its quadratic model: the constraint on the sum is not needed.
    """
    from scipy.optimize import nnls

    sizes, vectors = np.linalg.eigh(curvature)
    root = np.sqrt(np.maximum(sizes, _FLAT * sizes[-1]))
    aim = nnls(root[:, None] * vectors.T, (vectors.T @ (2 * pull - 1)) / root)[0]
    return aim / aim.sum()


def edge_limit(
    p: FloatArray, share: FloatArray, train: FloatArray, priors: FloatArray, k: int, drop: float
) -> float:
    """Share of class k, estimated as 0, at which the mean log likelihood has fallen by `drop`.

    The other classes keep their proportions. With two classes and half a chi-square quantile over
    n this is the limit of a likelihood-ratio test; if no row speaks for the class and all others
    are sure, it is 1 - exp(-drop), the 'rule of three' of a count of zero.
    """
    rest = p.astype(np.float64, copy=False) @ (priors / train)
    own = p[:, k] / train[k]
    level = float(share @ np.log(rest)) - drop
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        if float(share @ np.log((1 - middle) * rest + middle * own)) >= level:
            low = middle
        else:
            high = middle
    return high


@dataclass(frozen=True, kw_only=True)
class NormalPriors:
    """Normal approximation: its centre, which may leave the simplex, and the covariance."""

    centre: FloatArray
    covariance: FloatArray


def normal_priors(
    fit: LikelihoodFit,
    p: FloatArray,
    weight: FloatArray,
    train: FloatArray,
    *,
    frequency: bool,
    reference_size: float | None,
) -> NormalPriors | None:
    """Sandwich covariance of the fitted priors; None if the predictions do not identify them.

    With G the inverse information within the plane of sum one, it is G S G', S the variance of the
    mean score. Training shares counted in a reference of that size add G J T J' G', T their
    multinomial covariance and J = curvature diag(priors / train) - diag(1 / train) the derivative
    of the score. At the edge of the simplex the centre is where the quadratic model has its
    optimum, in or out.
    """
    k = len(train)
    plane = np.linalg.svd(np.ones((1, k)))[2][1:].T  # orthonormal, orthogonal to the ones
    inner = plane.T @ fit.curvature @ plane
    sizes = np.linalg.eigvalsh(inner)
    if sizes[0] <= _VAGUE:
        return None
    inverse = plane @ np.linalg.inv(inner) @ plane.T
    total = float(weight.sum())
    score = fit.curvature / total
    if not frequency:
        score = _derivatives(p, (weight / total) ** 2, train, fit.priors)[2]
    covariance = inverse @ score @ inverse
    if reference_size is not None:
        change = inverse @ (fit.curvature * (fit.priors / train) - np.diag(1 / train))
        spread = (np.diag(train) - np.outer(train, train)) / reference_size
        covariance = covariance + change @ spread @ change.T
    return NormalPriors(centre=fit.priors + inverse @ fit.pull, covariance=covariance)
