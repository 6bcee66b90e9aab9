"""Promises are kept, bands and areas cover, sets contain: a small sample of evidence/risk.py.

A promise of confidence 0.9 may be broken in 10 % of samples; bounds are three standard errors of a
binomial share beyond what is promised.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import expit, logit

from veridical.decisions import PredictionSets, risk_coverage_curve, risk_threshold

LAWS = {
    "too timid": lambda s: expit(0.6 * logit(s) + 0.9),
    "over-confident": lambda s: expit(0.6 * logit(s) + 0.4),
    "calibrated": lambda s: s,
}


def most(share, repeats):
    return share + 3 * math.sqrt(share * (1 - share) / repeats)


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("n", "alpha"), [(200, 0.2), (1000, 0.12)])
def test_promises_are_kept_and_more_is_answered_than_by_walking_down(law, n, alpha):
    rng = np.random.default_rng([1, n])
    population = np.sort(rng.beta(4, 1.5, 200_000))[::-1]
    risk = np.cumsum(1 - LAWS[law](population)) / np.arange(1, 200_001)
    broken, repeats = 0, 200
    for _ in range(repeats):
        s = rng.beta(4, 1.5, n)
        y = (rng.random(n) < LAWS[law](s)).astype(int)
        found = risk_threshold(y, s, lens="binary", at_most=alpha)
        if found.found:
            first = int(np.searchsorted(-population, -found.threshold, "right"))
            broken += risk[first - 1] > alpha
    assert broken / repeats <= most(0.1, repeats)


@pytest.mark.slow
@pytest.mark.parametrize("n", [30, 300])
def test_the_band_covers_all_places_and_the_interval_the_area(n):
    rng = np.random.default_rng([2, n])
    population = np.sort(rng.beta(4, 1.5, 200_000))[::-1]
    truth = float(np.mean(np.cumsum(1 - population) / np.arange(1, 200_001)))
    missed, outside, repeats = 0, 0, 150
    for _ in range(repeats):
        s = np.sort(rng.beta(4, 1.5, n))[::-1]
        y = (rng.random(n) < s).astype(int)
        curve = risk_coverage_curve(y, s, lens="binary")
        chance = np.cumsum(1 - s) / np.arange(1, n + 1)  # of the rows that are answered
        missed += truth not in curve.area
        outside += not ((curve.low <= chance) & (chance <= curve.high)).all()
    assert missed / repeats <= most(0.05, repeats)
    assert outside / repeats <= most(0.05, repeats)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["lac", "aps"])
@pytest.mark.parametrize("by", [None, "class"])
def test_sets_contain_the_class_as_often_as_promised(method, by):
    rng = np.random.default_rng(3)
    shares = []
    for _ in range(60):
        p = rng.dirichlet([0.3, 0.6, 1.0], 700)
        y = (p.cumsum(axis=1) > rng.random((700, 1))).argmax(axis=1)
        shown = p**1.5 / (p**1.5).sum(axis=1, keepdims=True)
        made = PredictionSets(method=method, by=by, level=0.9).fit(shown[:300], y[:300])
        hit = made.predict(shown[300:])[np.arange(400), y[300:]]
        shares.append([hit[y[300:] == k].mean() for k in range(3)] if by else [hit.mean()])
    mean, spread = np.mean(shares, axis=0), np.std(shares, axis=0) / math.sqrt(60)
    assert (mean >= 0.9 - 3 * spread).all()
    assert (mean <= 0.94 + 3 * spread).all()  # n + 1 and few rows of a class add a little
