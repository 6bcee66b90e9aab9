"""Class priors from how often each class is predicted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veridical._core.typing import Array, FloatArray
from veridical.decisions._prior_em import NormalPriors
from veridical.decisions._prior_units import Units


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
    deployed: Units, deployed_weight: FloatArray, labelled: Units, labelled_weight: FloatArray
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


def class_means(labelled: Units, weight: FloatArray) -> FloatArray:
    """Column k is the mean vote of class k; zeros for a class without rows."""
    columns = []
    for label in range(labelled.table.shape[1]):
        rows = np.flatnonzero(labelled.label == label)
        total = weight[..., rows].sum(axis=-1, keepdims=True)
        columns.append(weight[..., rows] @ labelled.table[rows] / np.where(total > 0, total, 1))
    return np.stack(columns, axis=-1)


def normal_votes(fit: ConfusionFit, deployed: Units, labelled: Units) -> NormalPriors:
    """Normal approximation of the solution: the linearised noise of votes and of confusion."""
    noise = _covariance_of_mean(deployed, slice(None))
    for label, prior in enumerate(fit.solution):
        rows = np.flatnonzero(labelled.label == label)
        noise = noise + prior**2 * _covariance_of_mean(labelled, rows)
    inverse = np.linalg.inv(fit.confusion)
    return NormalPriors(centre=fit.solution, covariance=inverse @ noise @ inverse.T)


def _covariance_of_mean(units: Units, rows: slice | Array) -> FloatArray:
    """Linearised covariance of the weighted mean vote of some units."""
    weight = units.weight[rows] * units.count[rows]
    table = units.table[rows]
    centred = table - weight @ table / weight.sum()
    squared = units.weight[rows] * weight
    return (centred * squared[:, None]).T @ centred / weight.sum() ** 2
