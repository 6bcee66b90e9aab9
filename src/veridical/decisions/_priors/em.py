"""Class priors from predictions without outcomes: of largest likelihood, or from votes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veridical._core.numeric.simplex import SimplexFit, mixture_derivatives, simplex_weights
from veridical._core.typing import Array, BoolArray, FloatArray, IntArray

_VAGUE = 1e-7  # information below this does not tell classes apart


def fit_priors(
    p: FloatArray, share: FloatArray, train: FloatArray, start: FloatArray | None = None
) -> SimplexFit:
    r"""Maximise the mean of log sum_k priors_k p_ik / train_k over the simplex.

    This is the limit of the iteration of Saerens, Latinne and Decaestecker (2002, equation 2.9,
    doi 10.1162/089976602753284446), an EM algorithm; the objective is concave, so there is one
    largest likelihood.
    """
    first = train / train.sum() if start is None else start
    return simplex_weights(p, share, scale=train, start=first)


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
    fit: SimplexFit,
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
        score = mixture_derivatives(p, (weight / total) ** 2, train, fit.weights)[2]
    covariance = inverse @ score @ inverse
    if reference_size is not None:
        change = inverse @ (fit.curvature * (fit.weights / train) - np.diag(1 / train))
        spread = (np.diag(train) - np.outer(train, train)) / reference_size
        covariance = covariance + change @ spread @ change.T
    return NormalPriors(centre=fit.weights + inverse @ fit.pull, covariance=covariance)


_MANY_TOLERANCE = 1e-9
_MANY_MAX_STEPS = 12


def fit_priors_many(
    p: FloatArray, weights: FloatArray, train: FloatArray, start: FloatArray
) -> FloatArray:
    """Priors (R, K) for weights (R, n) of the rows and training shares (R, K).

    Newton steps for all weightings together, as long as their priors stay positive; those that
    leave the simplex or do not converge are fitted one by one. O(R n K^2) a step.
    """
    shares = weights / weights.sum(axis=1, keepdims=True)
    priors = np.tile(start, (len(weights), 1))
    open_ = np.arange(len(weights))
    failed = []
    for _ in range(_MANY_MAX_STEPS):
        scale = train[open_]
        mixture = p @ (priors[open_] / scale).T
        pulled = np.divide(shares[open_].T, mixture, where=mixture > 0, out=np.zeros(mixture.shape))
        pull = (p.T @ pulled).T / scale
        moving = np.abs(pull - 1).max(axis=1) > _MANY_TOLERANCE
        open_, scale, pull = open_[moving], scale[moving], pull[moving]
        if not len(open_):
            break
        pulled, mixture = pulled[:, moving], mixture[:, moving]
        curved = np.divide(pulled, mixture, where=mixture > 0, out=np.zeros(mixture.shape))
        curvature = np.stack([((p * p[:, k : k + 1]).T @ curved).T for k in range(p.shape[1])], 1)
        curvature /= scale[:, :, None] * scale[:, None, :]
        ridge = 1e-13 * np.trace(curvature, axis1=1, axis2=2)[:, None, None]
        aim = np.linalg.solve(curvature + ridge * np.eye(p.shape[1]), (2 * pull - 1)[..., None])
        aim = aim[..., 0] / aim.sum(axis=1)
        inside = (aim > 0).all(axis=1)
        priors[open_[inside]] = aim[inside]
        failed.append(open_[~inside])
        open_ = open_[inside]
    for index in np.concatenate([*failed, open_]):
        kept = np.flatnonzero(shares[index])
        fit = fit_priors(p[kept], shares[index][kept], train[index], start=start)
        priors[index] = fit.weights
    return priors


@dataclass(frozen=True, kw_only=True)
class PooledRows:
    """Distinct rows in sorted order, so that neither order nor repetition changes a resample.

    Attributes
    ----------
    table : (u, K) probabilities or, for hard votes, indicators of the predicted class
    label : (u,) class index, or None for rows without outcome
    weight : (u,) importance of one such row; 1 for frequencies
    count : (u,) how many such rows there are
    """

    table: FloatArray
    label: IntArray | None
    weight: FloatArray
    count: FloatArray

    @property
    def total(self) -> FloatArray:
        """Weight of all rows of each unit."""
        return self.weight * self.count

    def draw(self, n_resamples: int, rng: np.random.Generator) -> FloatArray:
        """Weights (R, u) of bootstrap samples of as many rows."""
        size = float(self.count.sum())
        return rng.multinomial(round(size), self.count / size, n_resamples) * self.weight


def pool_rows(
    p: FloatArray,
    label: IntArray | None,
    weight: FloatArray | None,
    *,
    frequency: bool,
    hard: bool,
    pool: bool,
) -> PooledRows:
    """Rows of predictions, pooled and sorted unless there is nothing to resample."""
    columns: list[Array] = [p.argmax(axis=1)] if hard else [p[:, k] for k in range(p.shape[1])]
    if label is not None:
        columns.append(label)
    ones = np.ones(len(p))
    counted = weight is not None and frequency
    importance = ones if weight is None or frequency else weight
    count = weight if weight is not None and counted else ones
    kept: Array = np.arange(len(p))
    if pool or hard:
        order = np.lexsort([*columns, importance])
        first = _starts([column[order] for column in (*columns, importance)])
        kept, count = order[first], np.add.reduceat(count[order], np.flatnonzero(first))
    table = p[kept].astype(np.float64, copy=False)
    if hard:
        table = np.eye(p.shape[1])[columns[0][kept]]
    return PooledRows(
        table=table,
        label=None if label is None else label[kept],
        weight=importance[kept],
        count=count,
    )


def _starts(columns: list[Array]) -> BoolArray:
    """Mark sorted rows that differ from the one before."""
    new = np.zeros(len(columns[0]), dtype=bool)
    new[0] = True
    for column in columns:
        new[1:] |= column[1:] != column[:-1]
    return new


@dataclass(frozen=True, kw_only=True)
class ConfusionFit:
    """Priors that explain the mean vote of the deployment rows.

    Attributes
    ----------
    priors : (K,) on the simplex
    solution : (K,) before negative shares were cut
    confusion : (K, K), column k the mean vote of reference rows of class k
    """

    priors: FloatArray
    solution: FloatArray
    confusion: FloatArray


def solve_priors(
    deployed: PooledRows,
    deployed_weight: FloatArray,
    labelled: PooledRows,
    labelled_weight: FloatArray,
) -> ConfusionFit:
    """Solve confusion @ priors = mean vote, and cut negative shares.

    Lipton, Wang & Smola (2018), arXiv 1802.03916, in terms of priors in the place of ratios of
    priors: the same solution. A singular confusion gives the shortest solution. Weights may have
    a leading axis, and so has the result then.
    """
    confusion = class_means(labelled, labelled_weight)
    votes = deployed_weight @ deployed.table / deployed_weight.sum(axis=-1, keepdims=True)
    solution = (np.linalg.pinv(confusion) @ votes[..., None])[..., 0]
    cut = np.maximum(solution, 0)
    priors = cut / cut.sum(axis=-1, keepdims=True)
    return ConfusionFit(priors=priors, solution=solution, confusion=confusion)


def class_means(labelled: PooledRows, weight: FloatArray) -> FloatArray:
    """Column k is the mean vote of class k; zeros for a class without rows."""
    columns = []
    for label in range(labelled.table.shape[1]):
        rows = np.flatnonzero(labelled.label == label)
        total = weight[..., rows].sum(axis=-1, keepdims=True)
        columns.append(weight[..., rows] @ labelled.table[rows] / np.where(total > 0, total, 1))
    return np.stack(columns, axis=-1)


def normal_votes(fit: ConfusionFit, deployed: PooledRows, labelled: PooledRows) -> NormalPriors:
    """Normal approximation of the solution: the linearised noise of votes and of confusion."""
    noise = _covariance_of_mean(deployed, slice(None))
    for label, prior in enumerate(fit.solution):
        rows = np.flatnonzero(labelled.label == label)
        noise = noise + prior**2 * _covariance_of_mean(labelled, rows)
    inverse = np.linalg.inv(fit.confusion)
    return NormalPriors(centre=fit.solution, covariance=inverse @ noise @ inverse.T)


def _covariance_of_mean(units: PooledRows, rows: slice | Array) -> FloatArray:
    """Linearised covariance of the weighted mean vote of some units."""
    weight = units.weight[rows] * units.count[rows]
    table = units.table[rows]
    centred = table - weight @ table / weight.sum()
    squared = units.weight[rows] * weight
    return (centred * squared[:, None]).T @ centred / weight.sum() ** 2
