"""How often the goodness-of-fit tests reject predictions that are right, and some that are not.

Tolerances are standard errors of a binomial share: sqrt(level (1 - level) / repetitions).
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from veridical.inference._goodness.chi_square import pearson_test
from veridical.inference._goodness.hosmer_lemeshow import hosmer_lemeshow_test
from veridical.inference._goodness.spiegelhalter import spiegelhalter_test

TESTS = [hosmer_lemeshow_test, pearson_test, spiegelhalter_test]
SHAPES = ["uniform", "skewed", "extreme"]
LEVELS = (0.01, 0.05, 0.10)


def predictions(shape, n, n_classes, rng):
    if n_classes == 2:
        first = rng.beta(
            *{"uniform": (1, 1), "skewed": (0.5, 5), "extreme": (0.05, 0.05)}[shape], n
        )
        return np.column_stack([1 - first, first])
    skewed = [0.5] * (n_classes - 1) + [5]
    alpha = {"uniform": [1.0] * n_classes, "skewed": skewed, "extreme": [0.05] * n_classes}[shape]
    return rng.dirichlet(alpha, n)


def coarse(p, rng):
    """Predictions on a grid, so that they repeat and Pearson's groups hold several rows."""
    steps = 10 if p.shape[1] == 2 else 3
    return rng.multinomial(steps, p / p.sum(axis=1, keepdims=True)) / steps


def outcomes(p, rng):
    cumulated = p.cumsum(axis=1)
    drawn = rng.random(len(p))[:, None] * cumulated[:, -1:]
    return (drawn >= cumulated).sum(axis=1).clip(max=p.shape[1] - 1)


def pvalues(test, shape, n, n_classes, repetitions, seed):
    """P-values of calibrated predictions; fewer repetitions where nulls have to be drawn."""
    rng = np.random.default_rng(seed)
    p = predictions(shape, n, n_classes, rng)
    if test is pearson_test:
        p = coarse(p, rng)
    found = []
    while len(found) < repetitions:
        result = test(outcomes(p, rng), p, n_resamples=99, rng=rng, labels=range(n_classes))
        found.append(result.pvalue)
        if result.n_resamples is not None and len(found) >= repetitions / 5:
            break
    return np.array(found)


def excess(found, level):
    """Rejections beyond the level, in standard errors."""
    return (np.mean(found <= level) - level) / math.sqrt(level * (1 - level) / len(found))


def check_levels(test, sizes, classes, seed):
    drawn = []
    for n, repetitions in sizes.items():
        for index, (shape, n_classes) in enumerate((s, k) for s in SHAPES for k in classes):
            found = pvalues(test, shape, n, n_classes, repetitions, [seed, n, index])
            for level in LEVELS:
                assert excess(found, level) < 4.5, (shape, n, n_classes, level)
            drawn.append(found)
    pooled = np.concatenate(drawn)
    for level in LEVELS:
        assert excess(pooled, level) < 4.5


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.filterwarnings("ignore:hosmer_lemeshow_test. 10 percentile bins asked for")
def test_levels_of_small_samples(test):
    check_levels(test, {100: 150}, (2, 3), seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("test", TESTS)
@pytest.mark.filterwarnings("ignore:hosmer_lemeshow_test. 10 percentile bins asked for")
def test_levels(test):
    check_levels(test, {100: 600, 1000: 150, 10_000: 75}, (2, 3, 10), seed=2)


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_overconfident_predictions_are_found(test, n_classes):
    rng = np.random.default_rng(3)
    p = predictions("uniform", 2000, n_classes, rng)
    p = 0.1 / n_classes + 0.9 * (coarse(p, rng) if test is pearson_test else p)
    y = outcomes(0.5 * p + 0.5 / n_classes, rng)
    assert test(y, p, rng=4).pvalue < 0.01
