"""How often intervals of scores and of calibration errors cover the truth.

Tolerances are standard errors of a binomial share: sqrt(level (1 - level) / repetitions).
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from veridical import BinnedError, BrierScore, LogScore, UniformBins
from veridical.inference._intervals.bootstrap import bootstrap_interval

N_BINS = 15


def standard_error(level, repetitions):
    return math.sqrt(level * (1 - level) / repetitions)


def covered(estimator, truth, n, rate, repetitions, seed, **options):
    """Share of intervals that hold the truth; `rate` gives the frequency for a prediction."""
    rng = np.random.default_rng(seed)
    hits = 0
    for _ in range(repetitions):
        p = rng.random(n)
        y = (rng.random(n) < rate(p)).astype(int)
        interval = bootstrap_interval(estimator, y, p, **options)
        hits += interval.low - 1e-12 <= truth <= interval.high + 1e-12
    return hits / repetitions


def gaps(error, spread, norm):
    """Gap of each of 15 equally likely bins, towards one half, with this error of this norm."""
    middle = (np.arange(N_BINS) + 0.5) / N_BINS
    if spread == "even":
        size = np.ones(N_BINS)
    else:  # three bins near the middle hold all of it
        size = np.where(np.abs(np.arange(N_BINS) - 10) <= 1, 1.0, 0.0)
    scale = np.mean(size**norm) ** (1 / norm)
    return np.where(middle < 0.5, 1, -1) * size * error / scale


@pytest.mark.parametrize(("score", "truth"), [(BrierScore(), 1 / 6), (LogScore(), 0.5)])
@pytest.mark.parametrize("method", ["analytic", "bca"])
def test_intervals_of_mean_scores_cover_at_their_level(score, truth, method):
    """Calibrated uniform predictions: E p (1 - p) = 1/6, and the mean entropy is 1/2."""
    repetitions = 300
    share = covered(
        score, truth, 500, lambda p: p, repetitions, seed=0, method=method, n_resamples=200, rng=1
    )
    assert abs(share - 0.95) < 4 * standard_error(0.95, repetitions)


def test_intervals_of_clustered_rows_cover_where_those_of_rows_do_not():
    """100 clusters of 10 rows with the same prediction and outcome: really 100 rows."""
    rng = np.random.default_rng(2)
    repetitions, clustered, naive = 300, 0, 0
    for _ in range(repetitions):
        p = rng.random(100)
        y = np.repeat((rng.random(100) < p).astype(int), 10)
        groups = np.repeat(np.arange(100), 10)
        rows = np.repeat(p, 10)
        clustered += 1 / 6 in bootstrap_interval(BrierScore(), y, rows, groups=groups)
        naive += 1 / 6 in bootstrap_interval(BrierScore(), y, rows)
    assert abs(clustered / repetitions - 0.95) < 4 * standard_error(0.95, repetitions)
    assert naive / repetitions < 0.7


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("n", [500, 2000])
@pytest.mark.parametrize(
    ("error", "spread"),
    [(0.0, "even"), (0.03, "even"), (0.03, "sparse"), (0.07, "even"), (0.07, "sparse")],
)
def test_intervals_of_calibration_errors_cover_the_binned_error(norm, n, error, spread):
    """At calibration and away from it, whether gaps are alike or in a few bins only."""
    gap = gaps(error, spread, norm)
    estimator = BinnedError(UniformBins(N_BINS), norm=norm, debias=norm == 2)

    def rate(p):
        return p + gap[np.clip(np.ceil(p * N_BINS).astype(int) - 1, 0, N_BINS - 1)]

    repetitions = 200
    share = covered(estimator, error, n, rate, repetitions, seed=3)
    assert share >= 0.93 - 3 * standard_error(0.93, repetitions)


def test_intervals_of_calibration_errors_narrow_like_the_noise():
    """Four times the rows, half the width; 15 bins of 1,000 uniform rows make noise of 0.04."""
    rng = np.random.default_rng(4)
    width = {}
    for n in (1000, 4000):
        widths = []
        for _ in range(40):
            p = rng.random(n)
            y = (rng.random(n) < p).astype(int)
            widths.append([bootstrap_interval(BinnedError(norm=k), y, p).width for k in (1, 2)])
        width[n] = np.mean(widths, axis=0)
    np.testing.assert_allclose(width[4000] / width[1000], 0.5, atol=0.05)
    assert (width[1000] < 0.07).all()
