"""Limits of what recalibration gains, where it is known: a small sample of evidence/gains.py.

The truth is the gain of the very map that was fitted, on the population. Bounds are those asked of
the evidence, 93 % of coverage and 2.5 % of wrong claims, and four standard errors of a binomial
share.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import expit, logit

from veridical import AutoCalibrator, BetaCalibrator, LogScore, miscalibration_cost
from veridical._core.sample import BinarySample
from veridical.calibrators.core import cross_fitted, fitted_to_itself
from veridical.inference.intervals import IntervalOptions, gain_core
from veridical.lenses import Binary
from veridical.lenses.reading import Induced

LAWS = {
    "uniform": (lambda rng, n: rng.random(n), 1.0),
    "skewed": (lambda rng, n: rng.beta(0.6, 4, n), 1.0),
    "rare": (lambda rng, n: rng.beta(0.2, 8, n), 1.0),
    "overconfident": (lambda rng, n: rng.random(n), 1.6),
}


def least(share, repeats):
    return share - 4 * math.sqrt(share * (1 - share) / repeats)


def most(share, repeats):
    return share + 4 * math.sqrt(share * (1 - share) / repeats)


def samples(law, n, repeats, seed):
    """The population, and samples of it with five events or more."""
    draw, temperature = LAWS[law]

    def truth(p):
        return expit(logit(np.clip(p, 1e-9, 1 - 1e-9)) / temperature)

    rng = np.random.default_rng(seed)
    new = np.clip(draw(rng, 3000), 1e-9, 1 - 1e-9)
    found = []
    while len(found) < repeats:
        p = np.clip(draw(rng, n), 1e-9, 1 - 1e-9)
        y = (rng.random(n) < truth(p)).astype(int)
        if 5 <= y.sum() <= n - 5:
            found.append((p, y))
    return new, truth(new), found


def log_gain(new, rate, q):
    return float(np.mean(rate * np.log(q / new) + (1 - rate) * np.log((1 - q) / (1 - new))))


def check(truth, low, high, repeats):
    """Limits cover, and do not claim the contrary."""
    truth, low, high = (np.array(values) for values in (truth, low, high))
    inside = (low - 1e-12 <= truth) & (truth <= high + 1e-12)
    assert inside.mean() >= least(0.93, repeats)
    assert np.mean((low > 0) & (truth <= 0)) <= most(0.025, repeats)
    assert np.mean((high < 0) & (truth >= 0)) <= most(0.025, repeats)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("n", [100, 1000])
def test_limits_of_a_held_out_gain(law, n):
    repeats = 100
    new, rate, found = samples(law, n, repeats, seed=n)
    truth, low, high = [], [], []
    for p, y in found:
        before = BinarySample(y=y, p=p)
        folds = cross_fitted(before, BetaCalibrator(), 5).p[:, 1]
        own = fitted_to_itself(before, BetaCalibrator())[:, 1]
        trio = [BinarySample(y=y, p=q) for q in (p, folds, own)]
        induced = [Induced(each, Binary(), each) for each in trio]
        d = gain_core(LogScore(), *induced, 5, IntervalOptions("analytic", 0.95))
        q = BetaCalibrator().fit(p, y).predict_proba(new)[:, 1]
        truth.append(log_gain(new, rate, q))
        low.append(-d.high)
        high.append(-d.low)
    check(truth, low, high, repeats)


@pytest.mark.filterwarnings("ignore:.* alone decide:veridical.VeridicalWarning")
@pytest.mark.parametrize("law", ["uniform", "skewed", "rare"])
def test_the_cost_of_miscalibration_rejects_calibrated_models_at_its_level(law):
    repeats = 150
    _, _, found = samples(law, 200, repeats, seed=3)
    pvalues = [miscalibration_cost(y, p, (1, 1)).pvalue for p, y in found]
    assert np.mean(np.array(pvalues) <= 0.05) <= most(0.05, repeats)


@pytest.mark.filterwarnings("ignore:.* alone decide:veridical.VeridicalWarning")
@pytest.mark.parametrize("law", ["uniform", "overconfident"])
def test_the_cost_of_miscalibration_is_covered(law):
    repeats = 100
    new, rate, found = samples(law, 200, repeats, seed=4)

    def paid(q):
        return np.mean(np.where(q > 0.2, 1 - rate, 4 * rate))

    truth, low, high = [], [], []
    for p, y in found:
        cost = miscalibration_cost(y, p, (1, 4))
        q = BetaCalibrator().fit(p, y).predict_proba(new)[:, 1]
        truth.append(paid(new) - paid(q))
        low.append(cost.low)
        high.append(cost.high)
    check(truth, low, high, repeats)


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("strategy", ["pool", "select"])
def test_limits_of_the_evidence_of_an_automatic_choice(law, strategy):
    repeats = 20
    new, rate, found = samples(law, 200, repeats, seed=5)
    truth, low, high = [], [], []
    for p, y in found:
        auto = AutoCalibrator(strategy=strategy).fit(p, y)
        row = auto.evidence_.candidates[-1]
        truth.append(log_gain(new, rate, auto.predict_proba(new)[:, 1]))
        low.append(-row.high)
        high.append(-row.low)
    check(truth, low, high, repeats)
