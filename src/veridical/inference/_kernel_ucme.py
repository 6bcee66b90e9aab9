"""Kernel-weighted residuals at chosen places, all at once."""

from __future__ import annotations

import numpy as np

from veridical._core import gram
from veridical._core.typing import FloatArray, IntArray
from veridical.inference._kernel_draws import Trials
from veridical.inference._kernel_nulls import Similarity

_NEGLIGIBLE = 1e-8  # share of the largest variance below which a direction is rounding


def embedding_null(
    trials: Trials,
    places: FloatArray,
    classes: list[int],
    similarity: Similarity,
    n_resamples: int,
    rng: np.random.Generator,
) -> tuple[float, FloatArray]:
    """Quadratic form d' C^+ d of the outcomes, and of outcomes drawn from the predictions.

    d_j is the sum over rows of w k(p_i, t_j) (1[y_i = u_j] - p_{i u_j}), C its covariance given
    the predictions if these are calibrated. O(n m (R + m)), memory O(n m).
    """
    values = gram.kernel_values(trials.p, places, similarity.kernel, similarity.bandwidth)
    column = np.asarray(classes)

    variance, directions = np.linalg.eigh(_covariance(trials, values, column))
    kept = variance > max(float(variance[-1]), 0.0) * _NEGLIGIBLE
    whiten = directions[:, kept] / np.sqrt(variance[kept])

    def statistic(charge: FloatArray) -> FloatArray:
        sums = np.empty((len(places), charge.shape[2]))
        for k in np.unique(column):
            sums[column == k] = values[:, column == k].T @ charge[:, k]
        return np.square(whiten.T @ sums).sum(axis=0)

    null = np.empty(n_resamples)
    for which, charge, _ in trials.drawn(n_resamples, rng, "kernel test"):
        null[which] = statistic(charge)
    return float(statistic(trials.observed()[0])[0]), null


def _covariance(trials: Trials, values: FloatArray, column: IntArray) -> FloatArray:
    """Sum over rows of w^2 k(p, t_j) k(p, t_l) (1[u_j = u_l] p_{u_j} - p_{u_j} p_{u_l})."""
    chance = trials.p.reshape(len(values), -1)[:, column]
    share = (trials.mass * trials.weight)[:, None]
    joint = (values * chance * share).T @ values
    joint[column[:, None] != column] = 0.0
    return joint - (values * chance * share).T @ (values * chance)
