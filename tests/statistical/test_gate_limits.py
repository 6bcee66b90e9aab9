"""Requirements of the gate with the truth at the limit: a small sample of evidence/gate.py.

Bounds are 2.5 % and four standard errors of a binomial share.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import expit, logit

from veridical import BinnedError, BrierScore, LogScore, QuantileBins, SphericalScore, UniformBins
from veridical.inference import bootstrap_interval, paired_difference
from veridical.inference.core import recalibration_line
from veridical.lenses.reading import RawData

REPETITIONS = 120
MOST = 0.025 + 4 * math.sqrt(0.025 * 0.975 / REPETITIONS)
LAWS = {
    "rare": (lambda rng, n: rng.beta(0.2, 8, n), lambda p: p),
    "too extreme": (
        lambda rng, n: rng.beta(0.6, 4, n),
        lambda p: expit(logit(p.clip(1e-9, 1 - 1e-9)) / 2),
    ),
    "one value": (lambda _, n: np.full(n, 0.02), lambda p: np.full(len(p), 0.06)),
}
SCORES = {
    "brier": (BrierScore(), lambda p: (p**2, (1 - p) ** 2)),
    "log": (LogScore(), lambda p: (-np.log1p(-p), -np.log(p.clip(1e-300)))),
    "spherical": (
        SphericalScore(),
        lambda p: (1 - (1 - p) / np.hypot(p, 1 - p), 1 - p / np.hypot(p, 1 - p)),
    ),
}


def missed(law, n, truth, limits, seed):
    """Shares of samples whose upper limit is below the truth, and whose lower one is above."""
    draw, rate = LAWS[law]
    rng = np.random.default_rng(seed)
    count = np.zeros(2)
    for _ in range(REPETITIONS):
        p = draw(rng, n)
        y = (rng.random(n) < rate(p)).astype(int)
        low, high = limits(y, p)
        true = truth(p) if callable(truth) else truth
        count += (high < true - 1e-9, low > true + 1e-9)
    return count / REPETITIONS


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("score", SCORES)
def test_limits_of_scores_hold_with_thirty_rows(law, score):
    draw, rate = LAWS[law]
    estimator, of = SCORES[score]
    p = draw(np.random.default_rng(0), 400_000)
    miss, hit = of(p)
    truth = float(np.mean(rate(p) * hit + (1 - rate(p)) * miss))

    def limits(y, p):
        found = bootstrap_interval(estimator, y, p, labels=[0, 1])
        return found.low, found.high

    assert (missed(law, 30, truth, limits, seed=1) <= MOST).all()


@pytest.mark.parametrize("law", ["too extreme", "one value"])
@pytest.mark.parametrize("bins", [UniformBins(15), QuantileBins(15)])
@pytest.mark.filterwarnings("ignore:bootstrap_interval")
def test_limits_of_the_ece_hold_with_few_rows_a_bin(law, bins):
    draw, rate = LAWS[law]
    population = draw(np.random.default_rng(0), 20_000)
    gap = rate(population) - population

    def truth(p):
        cell = bins.fit(RawData([0] * len(p), p, labels=[0, 1]).through(None, caller="t").problem)
        return np.abs(np.bincount(cell.assign(population), gap)).sum() / len(population)

    def limits(y, p):
        found = bootstrap_interval(BinnedError(bins), y, p, labels=[0, 1])
        return found.low, found.high

    assert (missed(law, 100, truth, limits, seed=2) <= MOST).all()


def test_limits_of_the_slope_hold_where_events_are_few():
    """Log-odds of the truth are half of those of Beta(0.6, 4) predictions."""

    def limits(y, p):
        problem = RawData(y, p, labels=[0, 1]).through(None, caller="t").problem
        slope = recalibration_line(problem, 0.95).slope
        return slope.low, slope.high

    assert (missed("too extreme", 60, 0.5, limits, seed=3) <= MOST).all()


def test_limits_of_the_rmsce_hold_where_a_rare_bin_is_wrong():
    """Predictions of 0.3, which is right, and one in twenty of 0.9, which should be 0.3 too."""
    truth = math.sqrt(0.05) * 0.6
    rng = np.random.default_rng(5)
    count = np.zeros(2)
    for _ in range(REPETITIONS):
        p = np.where(rng.random(400) < 0.05, 0.9, 0.3)
        y = (rng.random(400) < 0.3).astype(int)
        found = bootstrap_interval(BinnedError(norm=2), y, p)
        count += (found.high < truth, found.low > truth)
    assert (count / REPETITIONS <= MOST).all()


def test_limits_of_a_difference_hold_where_rows_that_speak_for_a_model_are_rare():
    """Of Beta(0.2, 8) predictions those above 0.1 are better than 0.8 p + 0.02, few are."""

    def other(p):
        return 0.8 * p + 0.02

    def odds(p):
        return expit(logit(p.clip(1e-9)) + 1)

    rng = np.random.default_rng(6)
    p = rng.beta(0.2, 8, 400_000)
    (miss, hit), (miss2, hit2) = (SCORES["spherical"][1](each) for each in (p, other(p)))
    truth = float(np.mean(odds(p) * (hit - hit2) + (1 - odds(p)) * (miss - miss2)))
    count = np.zeros(2)
    for _ in range(REPETITIONS):
        p = rng.beta(0.2, 8, 30)
        y = (rng.random(30) < odds(p)).astype(int)
        found = paired_difference(SphericalScore(), y, p, other(p), labels=[0, 1])
        count += (found.high < truth, found.low > truth)
    assert (count / REPETITIONS <= MOST).all()
