"""Intervals of costs and net benefits where the truth is known: p uniform and right."""

import numpy as np
import pytest
from scipy.stats import binom

from veridical.decisions._costs.decision_curve import decision_curve
from veridical.decisions._costs.expected_cost import expected_cost
from veridical.decisions._costs.miscalibration_cost import miscalibration_cost

pytestmark = pytest.mark.slow

REPEATS, N = 1000, 500


def uniform_rows(rng, n=N):
    p = rng.random(n)
    return (rng.random(n) < p).astype(int), p


def plausible(count, share, repeats=REPEATS):
    """Whether a count is within limits that a true share leaves once in ten thousand."""
    return binom.ppf(5e-5, repeats, share) <= count <= binom.ppf(1 - 5e-5, repeats, share)


def test_costs_are_covered_and_calibrated_models_seldom_rejected():
    # Threshold c at costs c and 1 - c: (1 - c) c^2 / 2 + c (1 - c)^2 / 2.
    rng = np.random.default_rng(0)
    c = 0.2
    covered = rejected = 0
    for _ in range(REPEATS):
        y, p = uniform_rows(rng)
        result = expected_cost(y, p, (c, 1 - c))
        covered += c * (1 - c) / 2 in result.realised
        rejected += result.difference.pvalue <= 0.05
    assert plausible(covered, 0.95)
    assert plausible(rejected, 0.05)


def test_net_benefits_are_covered():
    # The integral of p - (1 - p) t / (1 - t) from t to 1 is (1 - t) / 2; treating all has
    # 1/2 - 1/2 t / (1 - t), which is above 0 below t = 1/2.
    rng = np.random.default_rng(1)
    t = np.array([0.1, 0.3, 0.6, 0.8])
    truth = (1 - t) / 2
    gain = truth - np.maximum(0.5 - 0.5 * t / (1 - t), 0)
    covered = np.zeros((2, 4))
    for _ in range(REPEATS):
        curve = decision_curve(*uniform_rows(rng), thresholds=t)
        covered[0] += (curve.low <= truth) & (truth <= curve.high)
        covered[1] += (curve.advantage_low <= gain) & (gain <= curve.advantage_high)
    assert all(plausible(count, 0.95) for count in covered[0])
    # At 0.1 about one row in two hundred decides the advantage: limits are known to be narrow.
    assert all(plausible(count, 0.95) for count in covered[1, 1:])
    assert covered[1, 0] > 0.85 * REPEATS


def test_miscalibration_costs_what_it_costs():
    # Reports p^2: says "positive" from sqrt(c) on instead of c.
    rng = np.random.default_rng(2)
    c, s, repeats = 0.3, np.sqrt(0.3), 60
    truth = (1 - c) * s**2 / 2 + c * (1 - s) ** 2 / 2 - c * (1 - c) / 2
    found, covered = [], 0
    for _ in range(repeats):
        y, p = uniform_rows(rng, 2000)
        cost = miscalibration_cost(y, p**2, (c, 1 - c))
        found.append(cost.estimate)
        covered += truth in cost
    error = np.std(found) / np.sqrt(repeats)
    # A fitted map saves a little less than the best one, never more on average.
    assert truth - 0.002 - 4 * error < np.mean(found) < truth + 4 * error
    assert covered >= binom.ppf(1e-4, repeats, 0.92)
