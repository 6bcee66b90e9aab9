"""How often kernel tests and T-Cal reject calibrated models, and miscalibrated ones.

Tolerances are 4.5 standard errors of a binomial share.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from veridical.inference._kernel.t_cal import t_cal_test
from veridical.inference._kernel.test import kernel_test

PREDICTIONS = {
    "uniform": lambda rng, n: rng.random(n),
    "rare": lambda rng, n: rng.beta(0.5, 5, n),
    "sure": lambda rng, n: rng.beta(0.1, 0.1, n),
    "three": lambda rng, n: rng.dirichlet(np.ones(3), n),
    "three sure": lambda rng, n: rng.dirichlet(np.full(3, 0.1), n),
    "ten": lambda rng, n: rng.dirichlet(np.ones(10), n),
}

pytestmark = pytest.mark.filterwarnings("ignore:kernel_test. .* few for the bootstrap")


def outcomes(p, rng):
    if p.ndim == 1:
        return (rng.random(len(p)) < p).astype(int)
    return (rng.random(len(p))[:, None] > p.cumsum(axis=1)[:, :-1]).sum(axis=1)


def sharpened(p, temperature):
    """Predictions of a model too sure of itself by this temperature; the truth is p."""
    odds = (p / (1 - p)) ** temperature
    return odds / (1 + odds)


def share_rejected(test, draw, repetitions, seed, level=0.05):
    rng = np.random.default_rng(seed)
    rejected = 0
    for _ in range(repetitions):
        y, p = draw(rng)
        labels = range(2 if p.ndim == 1 else p.shape[1])
        rejected += test(y, p, labels=labels, rng=rng).pvalue <= level
    return rejected / repetitions


def tolerance(level, repetitions):
    return 4.5 * math.sqrt(level * (1 - level) / repetitions)


def calibrated(kind, n):
    def draw(rng):
        p = PREDICTIONS[kind](rng, n)
        return outcomes(p, rng), p

    return draw


def exact(method):
    """A test whose null is drawn: its level holds at any n; p-values are multiples of 1/100."""
    if method == "t-cal":
        return lambda y, p, **options: t_cal_test(
            y, p, lens="canonical" if p.ndim == 2 else None, n_resamples=99, **options
        )
    return lambda y, p, **options: kernel_test(y, p, method=method, n_resamples=99, **options)


@pytest.mark.parametrize("method", ["consistency", "ucme", "t-cal"])
@pytest.mark.parametrize("kind", PREDICTIONS)
def test_drawn_nulls_hold_their_level_for_few_rows(method, kind):
    repetitions = 150
    share = share_rejected(exact(method), calibrated(kind, 50), repetitions, seed=1)
    assert share <= 0.05 + tolerance(0.05, repetitions)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["consistency", "ucme", "t-cal"])
@pytest.mark.parametrize(("kind", "n"), [("rare", 1000), ("sure", 1000), ("three sure", 300)])
def test_drawn_nulls_hold_their_level_for_more_rows(method, kind, n):
    repetitions = 100
    share = share_rejected(exact(method), calibrated(kind, n), repetitions, seed=2)
    assert share <= 0.05 + tolerance(0.05, repetitions)


@pytest.mark.parametrize("kind", ["uniform", "three"])
@pytest.mark.parametrize("method", ["bootstrap", "asymptotic-block"])
def test_asymptotic_tests_hold_their_level_for_enough_rows(kind, method):
    repetitions = 150

    def test(y, p, **options):
        return kernel_test(y, p, method=method, n_resamples=99, **options)

    share = share_rejected(test, calibrated(kind, 200), repetitions, seed=3)
    assert share <= 0.05 + tolerance(0.05, repetitions)


@pytest.mark.parametrize("estimator", ["biased", "unbiased", "block"])
def test_bounds_hold(estimator):
    def test(y, p, **options):
        return kernel_test(y, p, method="distribution-free", estimator=estimator, **options)

    share = share_rejected(test, calibrated("uniform", 100), 200, seed=4, level=0.5)
    assert share <= 0.5  # far from sharp


@pytest.mark.parametrize("method", ["consistency", "bootstrap", "ucme", "t-cal"])
def test_overconfidence_is_found(method):
    """Temperature 2 at n = 500: nearly always; the share of 0.8 is far above any level."""

    def draw(rng):
        p = rng.random(500)
        return outcomes(p, rng), sharpened(p, 2.0)

    assert share_rejected(exact(method), draw, 20, seed=5) >= 0.8
