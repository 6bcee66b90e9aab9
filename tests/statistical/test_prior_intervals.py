"""How often intervals of class priors cover the truth when only the priors shift.

Tolerances are four standard errors of a binomial share: sqrt(level (1 - level) / repetitions).
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from veridical.decisions._priors.estimate import estimate_priors

LEVEL = 0.9


def gaussian_rows(rng, n, priors, train):
    """Labels and exact posteriors under `train` of Gaussian classes, one on each axis."""
    k = len(priors)
    y = rng.choice(k, size=n, p=priors)
    x = 1.5 * np.eye(k)[y] + rng.standard_normal((n, k))
    odds = np.exp(1.5 * x) * np.asarray(train)
    return y, odds / odds.sum(axis=1, keepdims=True)


def share_covered(n, priors, train, repetitions, *, n_reference=None, **options):
    """Share of intervals that hold the true prior, for each class."""
    rng = np.random.default_rng(n + len(priors))
    hits = np.zeros(len(priors))
    for repetition in range(repetitions):
        _, p = gaussian_rows(rng, n, priors, train)
        known = {"train": train}
        if n_reference is not None:
            known = {"reference": gaussian_rows(rng, n_reference, train, train)}
        found = estimate_priors(p, confidence_level=LEVEL, rng=repetition, **known, **options)
        hits += (found.low <= priors) & (priors <= found.high)
    return hits / repetitions


def tolerance(repetitions):
    return 4 * math.sqrt(LEVEL * (1 - LEVEL) / repetitions)


TWO = ((0.8, 0.2), (0.5, 0.5))
THREE = ((0.5, 0.3, 0.2), (0.2, 0.3, 0.5))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "interval", "repetitions", "priors", "train"),
    [
        (200, "bootstrap", 150, *TWO),
        (200, "analytic", 400, *TWO),
        (200, "analytic", 400, *THREE),
        (2000, "bootstrap", 60, *THREE),
        (2000, "analytic", 400, *TWO),
        (2000, "analytic", 300, *THREE),
    ],
)
def test_shifted_priors_are_in_their_interval_at_the_nominal_rate(
    n, interval, repetitions, priors, train
):
    share = share_covered(
        n, np.array(priors), train, repetitions, interval=interval, n_resamples=200
    )
    assert np.abs(share - LEVEL).max() < tolerance(repetitions)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:estimate_priors. predictions of class")
@pytest.mark.filterwarnings("ignore:estimate_priors. a share of")
@pytest.mark.parametrize("method", ["em", "bbse", "bbse_soft"])
@pytest.mark.parametrize(("interval", "repetitions"), [("bootstrap", 150), ("analytic", 400)])
def test_noise_of_the_reference_is_in_the_interval(method, interval, repetitions):
    """As many labelled rows as deployment rows: without their noise intervals are too short."""
    priors, train = np.array([0.6, 0.4]), (0.3, 0.7)
    options = {"method": method, "interval": interval, "n_resamples": 200, "n_reference": 300}
    share = share_covered(300, priors, train, repetitions, **options)
    assert np.abs(share - LEVEL).max() < tolerance(repetitions)


@pytest.mark.slow
def test_an_absent_class_is_covered_at_least_as_often_as_claimed():
    repetitions = 100
    share = share_covered(
        200, np.array([1.0, 0.0]), (0.5, 0.5), repetitions, interval="bootstrap", n_resamples=100
    )
    assert share.min() > LEVEL - tolerance(repetitions)
