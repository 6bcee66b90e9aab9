"""Levels where groups differ in slope, and where rows were kept by label within strata."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtr

from veridical import BinnedError, consistency_test
from veridical.inference import joint_test

REPETITIONS = 120
pytestmark = pytest.mark.filterwarnings("ignore::veridical.VeridicalWarning")


def most(level):
    """Four standard deviations above the level."""
    return level + 4 * math.sqrt(level * (1 - level) / REPETITIONS)


@pytest.mark.parametrize("shape", [(20, 10), (20, 50), (100, 5)], ids=str)
def test_groups_that_differ_in_slope_are_not_called_miscalibrated(shape):
    """What a group has in common moves its high and its low predictions apart."""
    rng, found = np.random.default_rng(9), 0
    n_groups, m = shape
    group = np.repeat(np.arange(n_groups), m)
    for _ in range(REPETITIONS):
        p = rng.random(len(group))
        common = rng.standard_normal(n_groups)[group] * np.sign(p - 0.5)
        own = rng.standard_normal(len(p))
        y = (ndtr(math.sqrt(0.3) * common + math.sqrt(0.7) * own) < p).astype(int)
        test = joint_test(y, p, labels=[0, 1], groups=group, n_resamples=99, rng=rng)
        found += test.pvalue <= 0.05
    assert found / REPETITIONS < most(0.07)


def test_rows_kept_by_label_on_two_sides_are_not_called_miscalibrated():
    """About 325 rows: one negative in ten below 0.5, one positive in ten above."""
    rng, found = np.random.default_rng(10), 0
    for _ in range(REPETITIONS):
        p = rng.random(1000)
        y = (rng.random(1000) < p).astype(int)
        rate = np.where((p < 0.5) == (y == 1), 1.0, 0.1)
        held = rng.random(1000) < rate
        weight = 1 / rate[held]
        test = joint_test(y[held], p[held], sample_weight=weight, n_resamples=99, rng=rng)
        found += test.pvalue <= 0.05
    assert found / REPETITIONS < most(0.05)


@pytest.mark.parametrize(("n", "heavy"), [(60, 1), (300, 5), (1500, 1)])
def test_a_few_heavy_rows_are_not_taken_for_weights_of_labels(n, heavy):
    """What a neighbour of another label weighs says nothing of what the heavy row would."""
    rng, found = np.random.default_rng(12), np.zeros(2)
    for _ in range(REPETITIONS):
        p = rng.random(n)
        y = (rng.random(n) < p).astype(int)
        weight = np.ones(n)
        weight[rng.choice(n, heavy, replace=False)] = 1e6
        options = {"labels": [0, 1], "sample_weight": weight, "n_resamples": 99, "rng": rng}
        found[0] += joint_test(y, p, **options).pvalue <= 0.05
        found[1] += consistency_test(BinnedError(), y, p, **options).pvalue <= 0.05
    assert (found / REPETITIONS < most(0.05)).all()


@pytest.mark.parametrize("least", [0.01, 0.02])
def test_weights_that_go_with_predictions_alone_are_not_taken_for_weights_of_labels(least):
    """Every row has a weight of its own, which is that of its neighbours in the middle."""
    rng, found = np.random.default_rng(11), 0
    for _ in range(REPETITIONS):
        p = rng.beta(0.7, 2, 300)
        y = (rng.random(300) < p).astype(int)
        weight = 1 / np.clip(p, least, 1)
        test = joint_test(y, p, sample_weight=weight, n_resamples=99, rng=rng)
        found += test.pvalue <= 0.05
    assert found / REPETITIONS < most(0.05)
