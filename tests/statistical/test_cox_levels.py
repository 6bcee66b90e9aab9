"""Cox's test under simulated truth: levels of the test, coverage of its intervals."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from scipy.stats import chi2

from veridical import VeridicalWarning
from veridical._core.sample import BinarySample, MulticlassSample
from veridical.inference._cox import multinomial as _cox_multinomial, null as _cox_null
from veridical.inference._cox.cox import cox_test

NOMINAL = np.array([0.01, 0.05, 0.1])


def assert_levels(rejected, n_draws):
    """No more rejections than chance allows: 4.5 binomial standard errors."""
    error = np.sqrt(NOMINAL * (1 - NOMINAL) / n_draws)
    assert (rejected / n_draws <= NOMINAL + 4.5 * error).all(), rejected / n_draws


def variance(p):
    """Of the outcomes, for a calibrated model; of the rarest class if there are several."""
    return np.min((p * (1 - p)).sum(axis=0))


def dirichlet(rng, n_classes, concentration, n):
    p = np.maximum(rng.dirichlet(np.full(n_classes, concentration), n), 1e-300)
    return p / p.sum(axis=1, keepdims=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shape", "n"),
    [
        ((1, 1), 1000),
        ((1, 1), 10_000),
        ((0.5, 5), 1000),
        ((0.5, 5), 10_000),
        ((0.05, 0.05), 2000),
        ((0.05, 0.05), 10_000),
        ((1, 1), 190),  # just above the variance from which the limit is used
        ((0.5, 5), 450),
    ],
)
def test_the_limit_holds_its_level_where_it_is_used(shape, n):
    rng = np.random.default_rng(0)
    sets, draws = (20, 150) if n <= 1000 else (5, 100)
    rejected, total = np.zeros(3), 0
    while total < sets * draws:
        p = rng.beta(*shape, n)
        if variance(p) < 30:  # 15 per parameter: here outcomes are drawn instead
            continue
        sample = BinarySample(y=np.zeros(n, dtype=int), p=p)
        statistics = _cox_null.null_statistics(sample, 1e-12, draws, rng)
        rejected += (statistics[:, None] >= chi2.ppf(1 - NOMINAL, 2)).sum(axis=0)
        total += draws
    assert_levels(rejected, total)


@pytest.mark.slow
def test_the_limit_would_reject_too_often_where_outcomes_are_drawn_instead():
    """Why there is a Monte-Carlo null at all."""
    rng = np.random.default_rng(1)
    rejected = 0
    for _ in range(20):
        p = rng.beta(0.05, 0.05, 100)
        sample = BinarySample(y=np.zeros(100, dtype=int), p=p)
        statistics = _cox_null.null_statistics(sample, 1e-12, 100, rng)
        rejected += (statistics >= chi2.ppf(0.95, 2)).sum()
    assert rejected / 2000 > 0.05 + 4.5 * math.sqrt(0.05 * 0.95 / 2000)


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(1, 1), (0.5, 5), (0.05, 0.05)])
def test_small_samples_hold_their_level_by_drawing(shape):
    rng = np.random.default_rng(2)
    rejected, total = np.zeros(3), 150
    for _ in range(total):
        p = rng.beta(*shape, 100)
        y = (rng.random(100) < p).astype(int)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", VeridicalWarning)  # separated, one class, clipped
            test = cox_test(y, p, labels=[0, 1], n_resamples=99, rng=rng)
        rejected += test.pvalue <= NOMINAL + 1e-12
    assert_levels(rejected, total)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("slopes", "n_classes", "concentration", "n"),
    [
        ("common", 3, 1.0, 150),
        ("common", 3, 0.05, 1000),
        ("common", 10, 1.0, 1000),
        ("diagonal", 3, 1.0, 200),
        ("matrix", 3, 1.0, 300),
    ],
)
def test_several_classes_hold_their_level_where_the_limit_is_used(
    slopes, n_classes, concentration, n
):
    rng = np.random.default_rng(3)
    df = {"common": n_classes, "diagonal": 2 * (n_classes - 1),
          "matrix": n_classes * (n_classes - 1)}[slopes]  # fmt: skip
    rejected, total = np.zeros(3), 0
    while total < 300:
        p = dirichlet(rng, n_classes, concentration, n)
        if variance(p) < 15 * df / (n_classes - 1):
            continue
        sample = MulticlassSample(y=np.zeros(n, dtype=int), p=p, classes=tuple(range(n_classes)))
        statistics = _cox_multinomial.null_statistics(sample, 1e-12, slopes, 25, rng)
        rejected += (statistics[:, None] >= chi2.ppf(1 - NOMINAL, df)).sum(axis=0)
        total += 25
    assert_levels(rejected, total)


@pytest.mark.slow
def test_power_grows_with_the_sample():
    rng = np.random.default_rng(4)
    found = []
    for n in (200, 1000, 5000):
        rejected = 0
        for _ in range(25):
            p = rng.uniform(0.02, 0.98, n)
            truth = 1 / (1 + np.exp(-0.8 * np.log(p / (1 - p))))
            rejected += cox_test((rng.random(n) < truth).astype(int), p).rejects()
        found.append(rejected / 25)
    assert found[0] < found[1] < found[2]
    assert found[2] > 0.9


@pytest.mark.slow
@pytest.mark.parametrize("slope", [1.0, 0.6])
@pytest.mark.parametrize("n", [500, 2000])
def test_intervals_cover_the_true_coefficients(n, slope):
    rng = np.random.default_rng(5)
    shift, total = 0.3, 200
    covered = np.zeros(2)
    for _ in range(total):
        x = rng.normal(-0.5, 1.5, n)
        p = 1 / (1 + np.exp(-x))
        y = rng.random(n) < 1 / (1 + np.exp(-(shift + slope * x)))
        test = cox_test(y.astype(int), p)
        covered += [shift in test.intercept, slope in test.slope]
    error = math.sqrt(0.95 * 0.05 / total)
    assert (np.abs(covered / total - 0.95) <= 4 * error).all(), covered / total


@pytest.mark.slow
def test_the_interval_in_the_large_covers_where_slopes_are_one():
    rng = np.random.default_rng(6)
    total, covered = 200, 0
    for _ in range(total):
        x = rng.normal(-1, 1.5, 500)
        y = rng.random(500) < 1 / (1 + np.exp(-(x - 0.4)))
        covered += -0.4 in cox_test(y.astype(int), 1 / (1 + np.exp(-x))).in_the_large
    assert abs(covered / total - 0.95) <= 4 * math.sqrt(0.95 * 0.05 / total)


@pytest.mark.slow
@pytest.mark.parametrize("slopes", ["common", "matrix"])
def test_wald_intervals_of_several_classes_cover(slopes):
    rng = np.random.default_rng(7)
    total, covered = 150, np.zeros(2)
    for _ in range(total):
        p = dirichlet(rng, 3, 1.0, 1000)
        truth = p**0.7 * [1.0, 1.5, 0.8]
        truth /= truth.sum(axis=1, keepdims=True)
        y = (rng.random(1000)[:, None] > truth.cumsum(axis=1)).sum(axis=1)
        test = cox_test(y, p, slopes=slopes)
        covered += [math.log(1.5) in test.intercepts[0], 0.7 in test.slopes[0]]
    error = math.sqrt(0.95 * 0.05 / total)
    assert (np.abs(covered / total - 0.95) <= 4 * error).all(), covered / total
