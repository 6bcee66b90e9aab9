"""How often intervals of a frequency cover the truth."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import beta, binom

from veridical import reliability_curve
from veridical.curves import binomial_interval

LEVELS = [0.8, 0.95]


def limits(n, method, level):
    """Limits for every number of hits in n trials."""
    hits = np.arange(n + 1)
    return binomial_interval(
        hits / n, np.full(n + 1, float(n)), method=method, confidence_level=level
    )


def covered(probability, n, method, level):
    """Exact coverage at each probability, by summing over the numbers of hits."""
    low, high = limits(n, method, level)
    hits = np.arange(n + 1)
    inside = (low <= probability[:, None]) & (probability[:, None] <= high)
    return (binom.pmf(hits, n, probability[:, None]) * inside).sum(axis=1)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("n", [1, 5, 20, 100])
def test_clopper_pearson_covers_at_least_its_level_everywhere(level, n):
    probability = np.linspace(0, 1, 1001)
    assert covered(probability, n, "clopper-pearson", level).min() >= level - 1e-9


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("n", [20, 50, 200])
def test_wilson_covers_its_level_on_average_over_probabilities(level, n):
    """With p uniform, p given k hits is Beta(k + 1, n - k + 1), and every k is equally likely."""
    low, high = limits(n, "wilson", level)
    k = np.arange(n + 1)
    average = np.mean(beta.cdf(high, k + 1, n - k + 1) - beta.cdf(low, k + 1, n - k + 1))
    draws = 10_000
    assert abs(average - level) < 4 * math.sqrt(level * (1 - level) / draws)


@pytest.mark.parametrize("n", [20, 100])
def test_clopper_pearson_contains_the_median_unbiased_centre_and_is_wider_than_wilson(n):
    wilson = np.diff(limits(n, "wilson", 0.95), axis=0).mean()
    exact = np.diff(limits(n, "clopper-pearson", 0.95), axis=0).mean()
    assert exact > wilson


@pytest.mark.parametrize(("method", "side"), [("wilson", "both"), ("clopper-pearson", "below")])
def test_intervals_of_a_curve_cover_the_true_frequencies(method, side):
    rng = np.random.default_rng(0)
    level, repetitions = 0.9, 250
    p = np.repeat((np.arange(15) + 0.5) / 15, 40)
    frequency = 0.2 + 0.6 * p  # miscalibrated: intervals are of the frequency, not of p
    truth = frequency[::40]
    inside = 0
    for _ in range(repetitions):
        y = (rng.random(len(p)) < frequency).astype(int)
        curve = reliability_curve(y, p, interval=method, confidence_level=level)
        inside += int(((curve.low <= truth) & (truth <= curve.high)).sum())
    coverage = inside / (15 * repetitions)
    tolerance = 4 * math.sqrt(level * (1 - level) / (15 * repetitions))
    assert coverage > level - tolerance
    if side == "both":
        assert coverage < level + tolerance
    else:
        assert coverage < 0.97  # conservative, but not useless


def test_weighted_intervals_cover_at_their_effective_size():
    rng = np.random.default_rng(1)
    level, repetitions, inside = 0.9, 1500, 0
    for _ in range(repetitions):
        w = rng.gamma(2.0, size=60)
        y = (rng.random(60) < 0.3).astype(int)
        curve = reliability_curve(
            y, np.full(60, 0.5), n_bins=1, sample_weight=w, confidence_level=level
        )
        inside += int(curve.low[0] <= 0.3 <= curve.high[0])
    tolerance = 4 * math.sqrt(level * (1 - level) / repetitions)
    assert abs(inside / repetitions - level) < tolerance
