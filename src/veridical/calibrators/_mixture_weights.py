"""Weights of a mixture of few probability forecasts that have the least log loss."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from veridical._core.typing import FloatArray

_TOLERANCE = 1e-9
_MAX_STEPS = 200
_ZERO = 1e-14  # weights below this are rounding


@dataclass(frozen=True)
class MixtureFit:
    """Weights on the simplex, steps taken, and by how much the optimality conditions fail."""

    weights: FloatArray
    n_iter: int
    violation: float


def fit_mixture(likelihoods: FloatArray, share: FloatArray) -> MixtureFit:
    """Maximise sum_i share_i log(likelihoods_i . w) over the simplex.

    `likelihoods` (n, m) holds what each of m forecasts gave to the outcome, all positive and
    m small. The objective is concave. With d_j = sum_i share_i likelihoods_ij / mixture_i, the
    weights are optimal if and only if d_j <= 1 for every j, and then d_j = 1 wherever w_j > 0:
    `violation` is max_j d_j - 1, which bounds the excess of the mean log loss from above.

    Steps minimise the local quadratic model over the simplex (as mix-SQP: Kim, Carbonetto,
    Stephens & Anitescu 2020, doi 10.1080/10618600.2019.1689985), exactly, by trying every face.
    """
    m = likelihoods.shape[1]
    weights = np.full(m, 1 / m)
    steps = 0
    while True:
        ratios = likelihoods / (likelihoods @ weights)[:, None]
        pull = share @ ratios
        violation = float(pull.max()) - 1
        if violation <= _TOLERANCE or steps == _MAX_STEPS:
            return MixtureFit(weights, steps, max(violation, 0.0))
        steps += 1
        curvature = (ratios * share[:, None]).T @ ratios
        aim = _model_minimum(weights, pull, curvature)
        weights = _backtrack(likelihoods, share, weights, aim, float(pull @ (aim - weights)))


def _model_minimum(weights: FloatArray, pull: FloatArray, curvature: FloatArray) -> FloatArray:
    """Minimise -pull.(x - w) + (x - w)' curvature (x - w) / 2 over the simplex."""
    m = len(weights)
    linear = pull + curvature @ weights
    best, least = weights, np.inf
    for size in range(1, m + 1):
        for face in combinations(range(m), size):
            point = _on_face(list(face), linear, curvature)
            if point.min() < -_ZERO:
                continue
            point = np.maximum(point, 0)
            point /= point.sum()
            value = float(point @ curvature @ point / 2 - linear @ point)
            if value < least:
                best, least = point, value
    return best


def _on_face(face: list[int], linear: FloatArray, curvature: FloatArray) -> FloatArray:
    """Stationary point of the model where only the weights of `face` differ from zero."""
    size = len(face)
    system = np.ones((size + 1, size + 1))
    system[:size, :size] = curvature[np.ix_(face, face)]
    system[size, size] = 0
    solution = np.linalg.lstsq(system, np.append(linear[face], 1.0), rcond=None)[0]
    point = np.zeros(len(linear))
    point[face] = solution[:size]
    return point


def _backtrack(
    likelihoods: FloatArray, share: FloatArray, weights: FloatArray, aim: FloatArray, slope: float
) -> FloatArray:
    """Go towards `aim` as far as the likelihood grows; otherwise one step of EM, which it does."""
    value = float(share @ np.log(likelihoods @ weights))
    slack = 1e-14 * max(1.0, abs(value))  # rounding of the mean log likelihood
    length = 1.0
    for _ in range(30):
        moved = weights + length * (aim - weights)
        mixture = likelihoods @ moved
        if mixture.min() > 0:
            found = float(share @ np.log(mixture))
            if found >= value + 1e-4 * length * max(slope, 0.0) - slack:
                return moved
        length /= 2
    return weights * (share @ (likelihoods / (likelihoods @ weights)[:, None]))
