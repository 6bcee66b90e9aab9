"""False alarms and power of tests whose rows are kept by outcome, or belong together."""

import math

import numpy as np
import pytest
from scipy import stats

from veridical import BinnedError, UniformBins
from veridical.inference import (
    consistency_test,
    cox_test,
    hosmer_lemeshow_test,
    joint_test,
    kernel_test,
    null_level,
    spiegelhalter_test,
    t_cal_test,
)

pytestmark = pytest.mark.filterwarnings("ignore::veridical.VeridicalWarning")

ERROR = BinnedError(UniformBins(10))


def thinned(rng, n=4000, shift=0.0):
    """Rows of which one negative in twenty was kept, and counts for twenty."""
    p = rng.beta(1.0, 8.0, n)
    odds = p / (1 - p) * math.exp(shift)
    y = (rng.random(n) < odds / (1 + odds)).astype(int)
    some = (y == 1) | (rng.random(n) < 1 / 20)
    return y[some], p[some], np.where(y[some], 1.0, 20.0)


def naive_ece(y, p, w):
    cell = np.clip(np.ceil(p * 10) - 1, 0, 9).astype(int)
    return np.abs(np.bincount(cell, w * (y - p))).sum() / w.sum()


def test_null_level_is_what_calibrated_kept_rows_read():
    rng = np.random.default_rng(0)
    truth = np.array([naive_ece(*thinned(rng)) for _ in range(3000)])
    error = truth.std() / math.sqrt(3000)
    assert error < 0.01 * truth.mean()
    means = []
    for _ in range(60):
        y, p, w = thinned(rng)
        means.append(null_level(ERROR, y, p, sample_weight=w, n_resamples=99, rng=rng).mean)
    assert np.mean(means) == pytest.approx(truth.mean(), rel=0.03)


TESTS = {
    "consistency": lambda *a, **k: consistency_test(ERROR, *a, **k),
    "cox": cox_test,
    "spiegelhalter": spiegelhalter_test,
    "hosmer-lemeshow": hosmer_lemeshow_test,
    "t-cal": t_cal_test,
    "kernel": kernel_test,
    "joint": joint_test,
}


@pytest.mark.parametrize("name", TESTS)
def test_false_alarms_of_kept_rows_are_at_the_level(name):
    rng, repeats, found = np.random.default_rng(1), 150, 0
    for _ in range(repeats):
        y, p, w = thinned(rng, 1500)
        found += TESTS[name](y, p, sample_weight=w, n_resamples=99, rng=rng).pvalue <= 0.05
    low, high = stats.binom(repeats, 0.05).ppf([1e-3, 1 - 1e-3])
    assert low <= found <= high


def test_power_against_a_level_is_near_that_of_the_robust_score_test():
    rng, repeats = np.random.default_rng(2), 150
    robust, level = 0, 0
    for _ in range(repeats):
        y, p, w = thinned(rng, shift=0.3)
        residual = w * (y - p)
        z = residual.sum() / math.sqrt((residual**2).sum())
        robust += abs(z) >= 1.96
        test = joint_test(y, p, sample_weight=w, n_resamples=99, rng=rng)
        level += test.parts[0].pvalue <= 0.05
    assert 0.4 * repeats < robust < 0.98 * repeats  # where power can differ
    # Two standard errors of a share: the same question, of the same rows.
    assert level >= robust - 2 * math.sqrt(repeats / 4)


def clustered(rng, n_groups, size, *, shared):
    """Calibrated rows of groups: outcomes of a Gaussian copula with a correlation of 0.3."""
    g = np.repeat(np.arange(n_groups), size)
    p = rng.uniform(0.1, 0.9, n_groups)[g] if shared else rng.uniform(0.1, 0.9, len(g))
    latent = math.sqrt(0.3) * rng.normal(size=n_groups)[g] + math.sqrt(0.7) * rng.normal(
        size=len(g)
    )
    return (latent < stats.norm.ppf(p)).astype(int), p, g


@pytest.mark.slow
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("size", [10, 50])
def test_groups_keep_the_level_that_rows_do_not(size, shared):
    rng, repeats = np.random.default_rng([3, size]), 150
    together, alone = 0, 0
    for _ in range(repeats):
        y, p, g = clustered(rng, 20, size, shared=shared)
        together += joint_test(y, p, groups=g, n_resamples=99, rng=rng).rejected
        alone += joint_test(y, p, n_resamples=99, rng=rng).rejected
    assert together / repeats <= 0.07 + 3 * math.sqrt(0.07 * 0.93 / repeats)
    # Predictions that differ within a group share little of what a group has in common.
    far = 0.3 if shared or size == 50 else 0.1
    assert alone / repeats >= far
