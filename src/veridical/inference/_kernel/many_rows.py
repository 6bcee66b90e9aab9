"""Kernel statistics of many rows: scalars by narrow cells, vectors by features of landmarks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from veridical._core.data.randomness import Draws
from veridical._core.numeric import gram
from veridical._core.typing import FloatArray, IntArray
from veridical.inference._draws.trials import Trials
from veridical.inference._kernel.nulls import ObservedTrials, Similarity

EXACT_UP_TO = 2000  # rows, and cells of more
LANDMARKS = 200
_DRAWN_ROWS = 8000
_BLOCK = 1 << 23  # numbers held by a block of resamples
_NEGLIGIBLE = 1e-10  # share of the largest eigenvalue below which a direction is rounding


def is_plain(trials: ObservedTrials) -> bool:
    """Whether outcomes are drawn from the predictions row by row, and rows weigh the same."""
    return trials.redraw is None and bool((trials.weight == trials.weight[0]).all())


def in_cells(trials: ObservedTrials) -> ObservedTrials:
    """The outcomes of scalars in 2,000 cells, each at its mean prediction.

    A cell holds at most 1 / 1,000 of the rows and is at most 1 / 1,000 of the range of the
    predictions wide, over which a kernel with the bandwidth of their median distance is constant.
    The number of successes of a cell, in truth a sum of trials of nearly one probability, is
    binomial.
    """
    p, count = trials.p, trials.count
    reached = np.cumsum(count)
    share = (reached - count / 2) / reached[-1] + (p - p[0]) / max(float(p[-1] - p[0]), 1e-300)
    place = np.minimum(share * (EXACT_UP_TO / 2), EXACT_UP_TO - 1).astype(np.intp)
    starts = np.flatnonzero(np.diff(place, prepend=-1))
    rows = np.add.reduceat(count, starts)
    mean = np.clip(np.add.reduceat(count * p, starts) / rows, 0.0, 1.0)
    pooled = Trials(mean, rows, np.full(len(rows), trials.weight[0]))
    return ObservedTrials(pooled, np.add.reduceat(trials.counts, starts))


def features_of(points: FloatArray, by: Similarity, rng: np.random.Generator) -> FloatArray:
    """Features whose products are nearly the kernel of vectors, (n, at most 200).

    Of random rows as landmarks, with kernel values C among them and B between rows and them:
    B C^(-1/2), so that products are B C^(-1) B' (Williams & Seeger 2001, Using the Nyström method
    to speed up kernel machines, NIPS 13). They are exact among landmarks.
    """
    landmarks = points[np.sort(rng.choice(len(points), LANDMARKS, replace=False))]
    value, vector = np.linalg.eigh(
        gram.kernel_values(landmarks, landmarks, by.kernel, by.bandwidth)
    )
    kept = value > _NEGLIGIBLE * value[-1]
    turned = vector[:, kept] / np.sqrt(value[kept])
    return gram.kernel_values(points, landmarks, by.kernel, by.bandwidth) @ turned


def feature_null(
    trials: ObservedTrials, by: Similarity, draws: Draws
) -> tuple[float, FloatArray, str]:
    """Unbiased SKCE of vectors with the kernel of the features, its null sample, and what it is of.

    That kernel is one as good as the other: given the predictions and landmarks the test is exact.
    O(n K R) products of 200 features. Of more than 8,000 plain rows so many random ones are drawn
    for; n times the estimate, degenerate as it is if outcomes come from the predictions, has a
    distribution that no longer depends on n (Serfling 1980, Approximation Theorems, 5.5.2).
    """
    features = features_of(trials.p, by, draws.rng)
    observed = _Estimate(trials, features)
    drawn, words = observed, f"of {features.shape[1]} features of the kernel"
    if len(trials.p) > _DRAWN_ROWS and is_plain(trials) and bool((trials.count == 1).all()):
        some = np.sort(draws.rng.choice(len(trials.p), _DRAWN_ROWS, replace=False))
        drawn = _Estimate(_taken(trials, some), features[some])
        words = f"{words}, of {_DRAWN_ROWS:,} random rows"
    null = np.empty(draws.n_resamples)
    for which, charge, square in drawn.trials.drawn(draws, "kernel test", _BLOCK):
        null[which] = drawn(charge, square)
    null *= np.sqrt(drawn.pairs / observed.pairs)  # the standard deviation falls so with n
    return float(observed(*trials.observed())[0]), null, words


class _Estimate:
    """Sums over pairs of rows of what their features and residuals have in common."""

    def __init__(self, trials: ObservedTrials, features: FloatArray) -> None:
        self.trials = trials
        self._turned = np.ascontiguousarray(features.T)
        self._own = np.einsum("ij,ij->i", features, features)
        mass = trials.mass
        self.pairs = float(mass.sum()) ** 2 - float(mass @ trials.weight)

    def __call__(self, charge: FloatArray, square: FloatArray) -> FloatArray:
        n, width, size = charge.shape
        sums = (self._turned @ charge.reshape(n, -1)).reshape(-1, width, size)
        total = np.einsum("fkr,fkr->r", sums, sums)
        return np.asarray((total - self._own @ square) / self.pairs)


def _taken(trials: ObservedTrials, rows: IntArray) -> ObservedTrials:
    return replace(trials, trials=trials.trials.take(rows), counts=trials.counts[rows])
