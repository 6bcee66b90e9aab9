"""Limits that hold at every look."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from veridical.monitoring._judge.estimates import radius, window_levels


def test_the_radius_is_where_the_mixture_meets_its_bound():
    """Checked by summing the bets as they are defined."""
    squared, level = np.array([0.0, 3.0, 250.0, 1e5]), 0.025
    bets = np.geomspace(1e-4, 0.95, 48)
    cost = -np.log(1 - bets) - bets
    for v, r in zip(squared, radius(squared, level), strict=True):
        assert np.mean(np.exp(bets * r - cost * v)) == pytest.approx(1 / level, rel=1e-6)


def test_windows_share_one_level():
    assert window_levels(100_000, 0.05).sum() == pytest.approx(0.05, rel=1e-4)


@pytest.mark.slow
def test_a_sum_of_deviations_seldom_ever_leaves_its_limits():
    """Of 400 series looked at 100 times each, at most 5 % (99.9 % binomial bound) ever err."""
    rng = np.random.default_rng(11)
    n, repetitions = 5000, 400
    looks = np.arange(24, n, 50)
    ever = 0
    for _ in range(repetitions):
        p = rng.random(n) ** 2
        truth = np.clip(p * 1.2, 0, 1)
        y = rng.random(n) < truth
        error = np.cumsum(y - truth)[looks]
        ever += bool((np.abs(error) > radius(np.cumsum((y - p) ** 2)[looks], 0.025)).any())
    assert ever <= binom.ppf(0.999, repetitions, 0.05)
