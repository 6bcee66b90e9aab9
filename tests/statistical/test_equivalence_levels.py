"""False claims of equivalence at the margin, and whether planned power is reached.

Bounds are standard errors of a binomial share: sqrt(share (1 - share) / repetitions).
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from veridical import BinnedError, UniformBins
from veridical.inference._design.equivalence import equivalence_test
from veridical.inference._design.sample_size import required_sample_size
from veridical.inference._nulls.null import null_level

N_BINS = 15
BINS = np.arange(N_BINS)
INWARD = np.where(BINS + 0.5 < N_BINS / 2, 1.0, -1.0)
SPREADS = {
    "even": np.ones(N_BINS),
    "wave": np.abs(np.sin(2 * math.pi * (BINS + 0.5) / N_BINS)),
    "sparse": (np.abs(BINS - 10) <= 1).astype(float),
}


def standard_error(share, repetitions):
    return math.sqrt(share * (1 - share) / repetitions)


def bin_of(p):
    return np.clip(np.ceil(p * N_BINS).astype(int) - 1, 0, N_BINS - 1)


def claims(delta, gap, n, repetitions, seed, **options):
    """Share of samples in which equivalence within `delta` is claimed."""
    rng = np.random.default_rng(seed)
    count = 0
    for _ in range(repetitions):
        p = rng.random(n)
        y = (rng.random(n) < p + gap[bin_of(p)]).astype(int)
        count += equivalence_test(y, p, delta=delta, **options).equivalent
    return count / repetitions


@pytest.mark.slow
@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize(("delta", "n"), [(0.1, 500), (0.05, 2000), (0.03, 10_000), (0.1, 10_000)])
@pytest.mark.parametrize("spread", SPREADS)
def test_an_error_of_delta_is_seldom_claimed_to_be_smaller(norm, delta, n, spread):
    size = SPREADS[spread] / np.mean(SPREADS[spread] ** norm) ** (1 / norm)
    gap = delta * INWARD * size
    if np.abs(gap).max() > 0.4:
        pytest.skip("so large a gap in three bins leaves no frequencies")
    repetitions = 80
    share = claims(delta, gap, n, repetitions, seed=n, norm=norm)
    assert share <= 0.05 + 4.5 * standard_error(0.05, repetitions)


@pytest.mark.parametrize(("delta", "n"), [(0.1, 500), (0.05, 2000), (0.02, 12_000)])
def test_calibrated_models_are_shown_to_be_calibrated(delta, n):
    assert claims(delta, np.zeros(N_BINS), n, 40, seed=1) > 0.7


def test_a_band_is_never_within_a_margin_the_curve_leaves():
    """A curve 0.3 from the diagonal at one end; the claim is false at any n."""
    rng = np.random.default_rng(5)
    count = 0
    for _ in range(60):
        p = rng.integers(0, 11, 3000) / 10
        y = (rng.random(3000) < 0.3 + 0.7 * p).astype(int)
        count += equivalence_test(y, p, delta=0.3, method="band").equivalent
    assert count / 60 <= 0.05 + 4.5 * standard_error(0.05, 60)


def draw(predictions, rng, n):
    return rng.random(n) if predictions == "uniform" else rng.beta(1, 4, n)


def rate(shape, size):
    def logistic(z):
        return 1 / (1 + np.exp(-z))

    return {
        "even": lambda p: np.clip(p + INWARD[bin_of(p)] * size, 0, 1),
        "slope": lambda p: logistic(np.log(p / (1 - p)) * (1 - size)),
        "shift": lambda p: logistic(np.log(p / (1 - p)) + size),
    }[shape]


def true_error(predictions, frequency):
    """Root-mean-square gap over the bins, from a million predictions."""
    p = draw(predictions, np.random.default_rng(0), 1_000_000)
    count = np.bincount(bin_of(p), minlength=N_BINS)
    gap = np.bincount(bin_of(p), weights=frequency(p) - p, minlength=N_BINS)
    return math.sqrt(np.sum(gap**2 / np.maximum(count, 1)) / len(p))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:required_sample_size")
@pytest.mark.parametrize(
    ("predictions", "shape", "size", "power"),
    [
        ("uniform", "even", 0.1, 0.8),
        ("uniform", "slope", 0.3, 0.8),
        ("uniform", "shift", 0.4, 0.5),
        ("rare", "shift", 0.3, 0.8),
        ("rare", "slope", 0.25, 0.9),
    ],
)
def test_planned_rows_detect_with_the_power_asked_for(predictions, shape, size, power):
    frequency = rate(shape, size)
    delta = true_error(predictions, frequency)
    rng = np.random.default_rng(7)
    y_prob = None if predictions == "uniform" else draw(predictions, rng, 20_000)
    n = required_sample_size(delta, power=power, shape=shape, y_prob=y_prob).n
    estimator = BinnedError(UniformBins(N_BINS), norm=2)
    repetitions, hits = 200, 0
    for _ in range(repetitions):
        p = draw(predictions, rng, n)
        y = (rng.random(n) < frequency(p)).astype(int)
        null = null_level(estimator, y, p, n_resamples=299, rng=rng)
        hits += (1 + (null.sample >= null.estimate * (1 - 1e-12)).sum()) / 300 <= 0.05
    assert abs(hits / repetitions - power) < 0.03 + 4 * standard_error(power, repetitions)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:required_sample_size", "ignore:equivalence_test")
@pytest.mark.parametrize("predictions", ["uniform", "rare"])
@pytest.mark.parametrize("delta", [0.05, 0.1])
def test_planned_rows_show_equivalence_with_the_power_asked_for(predictions, delta):
    rng = np.random.default_rng(9)
    y_prob = None if predictions == "uniform" else draw(predictions, rng, 20_000)
    n = required_sample_size(delta, goal="equivalence", y_prob=y_prob).n
    repetitions, hits = 200, 0
    for _ in range(repetitions):
        p = draw(predictions, rng, n)
        y = (rng.random(n) < p).astype(int)
        hits += equivalence_test(y, p, delta=delta).equivalent
    assert abs(hits / repetitions - 0.8) < 0.03 + 4 * standard_error(0.8, repetitions)
