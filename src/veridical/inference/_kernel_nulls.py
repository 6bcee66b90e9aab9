"""Squared kernel calibration errors of data sets that a calibrated model could have given."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veridical._core import gram
from veridical._core.progress import track
from veridical._core.sample import BinarySample, Sample
from veridical._core.typing import FloatArray, IntArray
from veridical.inference._kernel_draws import Trials

_BLOCK = 1 << 21  # numbers held by a block of resamples
_VECTOR_BLOCK = 1 << 23  # more where every block needs all kernel values anew


@dataclass(frozen=True)
class Similarity:
    """A kernel and its bandwidth, no longer to be chosen."""

    kernel: str
    bandwidth: float


def similarity_of(sample: Sample, kernel: str, bandwidth: float | str) -> Similarity:
    """Kernel with the bandwidth asked for; the median distance looks at predictions only."""
    if isinstance(bandwidth, str):
        points, _, mass = gram.pooled_residuals(sample)
        return Similarity(kernel, gram.median_distance(points, mass, kernel))
    return Similarity(kernel, float(bandwidth))


def consistency_null(
    trials: Trials, similarity: Similarity, n_resamples: int, rng: np.random.Generator
) -> tuple[float, FloatArray]:
    """Unbiased SKCE of the outcomes, and of outcomes drawn from the predictions.

    O(n R) for scalars (for the Gaussian O(n R / bandwidth)), O(n^2 K R) for vectors.
    """
    starts = _distinct(trials.p)
    points = trials.p[starts]
    scale = 2.0 if trials.p.ndim == 1 else 1.0
    mass = trials.mass
    pairs = float(mass.sum()) ** 2 - float(mass @ trials.weight)

    def estimate(charge: FloatArray, square: FloatArray) -> FloatArray:
        columns = charge.reshape(len(charge), -1)
        if len(starts) < len(columns):
            columns = np.add.reduceat(columns, starts, axis=0)
        sums = _pair_sums(points, columns, similarity)
        return scale * (sums.reshape(charge.shape[1:]).sum(axis=0) - square.sum(axis=0)) / pairs

    null = np.empty(n_resamples)
    numbers = _BLOCK if trials.width == 1 else _VECTOR_BLOCK
    for which, charge, square in trials.drawn(n_resamples, rng, "kernel test", numbers):
        null[which] = estimate(charge, square)
    return float(estimate(*trials.observed())[0]), null


def _distinct(p: FloatArray) -> IntArray:
    """Where a new prediction starts, among predictions in lexicographic order."""
    changed = p[1:] != p[:-1]
    if p.ndim == 2:
        changed = changed.any(axis=1)
    return np.flatnonzero(np.concatenate([[True], changed]))


def bootstrap_null(
    sample: Sample, similarity: Similarity, n_resamples: int, rng: np.random.Generator
) -> tuple[float, FloatArray]:
    """Unbiased SKCE, and its bootstrap as a degenerate U-statistic with multinomial weights.

    With numbers c_i of times each of n rows is drawn,

        U* = sum_{i != j} (c_i - 1) (c_j - 1) h_ij / (n (n - 1))

    (Hušková & Janssen 1993, Annals of Statistics 21, 1811-1823, doi 10.1214/aos/1176349399).
    O(n R) for scalars, O(n^2 (K + R)) for vectors.
    """
    rows = np.lexsort((sample.y, *np.atleast_2d(sample.p.T)[::-1]))
    if sample.weight is not None:  # frequencies
        rows = np.repeat(rows, sample.weight[rows].astype(np.intp))
    points, residual = sample.p[rows].astype(np.float64), gram.residuals(sample)[rows]
    n, starts = len(rows), _distinct(points)
    own = np.square(residual).reshape(n, -1).sum(axis=1)
    scale = (2.0 if isinstance(sample, BinarySample) else 1.0) / (n * (n - 1))

    def between(factor: FloatArray) -> FloatArray:
        """Sum over i != j of f_i f_j h_ij, for every column f."""
        if residual.ndim == 1:
            columns = np.add.reduceat(factor * residual[:, None], starts, axis=0)
            sums = _pair_sums(points[starts], columns, similarity)
        else:
            sums = _pair_sums(points, factor, similarity, residual)
        return scale * (sums - own @ np.square(factor))

    observed = float(between(np.ones((n, 1)))[0])
    null, even = np.empty(n_resamples), np.full(n, 1 / n)
    step = max(1, min(n_resamples, _BLOCK // n))
    for block in track(-(-n_resamples // step), "kernel test"):
        which = slice(block * step, min((block + 1) * step, n_resamples))
        counts = rng.multinomial(n, even, which.stop - which.start)
        null[which] = between(np.subtract(counts.T, 1.0, order="C"))
    return observed, null


def _pair_sums(
    points: FloatArray, columns: FloatArray, by: Similarity, factor: FloatArray | None = None
) -> FloatArray:
    return gram.pair_sums(points, columns, by.kernel, by.bandwidth, factor)
