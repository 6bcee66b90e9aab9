"""The score test that opens the gate of the automatic choice: by hand, by loops, and its level."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2, norm

from veridical.selection._auto.gate import score_certainty
from veridical.selection._auto.weighing import Judge


def judge_of(p, y, *, weight=None, groups=None, by_frequency=False) -> Judge:
    """All rows held out once, as one fold."""
    n = len(y)
    weight = np.ones(n) if weight is None else weight
    size = weight.sum() if by_frequency else weight.sum() ** 2 / (weight**2).sum()
    return Judge(
        y, weight, by_frequency=by_frequency, size=size, floor=1e-12, ends=(n,),
        fold=np.zeros(n, dtype=int), n_classes=p.shape[1], groups=groups, own=p,
    )  # fmt: skip


def drawn(seed, n, k, spread=1.5):
    """Calibrated predictions of `k` classes and their outcomes."""
    rng = np.random.default_rng(seed)
    z = rng.normal(0, spread, (n, k))
    p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    return p, (rng.random((n, 1)) > p.cumsum(axis=1)[:, :-1]).sum(axis=1)


def log_likelihood(theta, p, k):
    """Of outcome `k` of one row under a temperature and shifts of all classes but the first."""
    z = theta[0] * np.log(p) + np.append(0.0, theta[1:])
    return z[k] - np.log(np.exp(z).sum())


def naive_certainty(p, y):
    """Gradients by differences, covariances by going through all outcomes of every row."""
    n_classes = p.shape[1]
    start, step = np.append(1.0, np.zeros(n_classes - 1)), 1e-5
    total, covariance = np.zeros(n_classes), np.zeros((n_classes, n_classes))
    for row, outcome in zip(p, y, strict=True):
        for k in range(n_classes):
            score = np.array(
                [
                    (log_likelihood(start + e, row, k) - log_likelihood(start - e, row, k))
                    for e in step * np.eye(n_classes)
                ]
            ) / (2 * step)
            covariance += row[k] * np.outer(score, score)
            if k == outcome:
                total += score
    statistic = total @ np.linalg.solve(covariance, total)
    return norm.isf(chi2.sf(statistic, n_classes))


@pytest.mark.parametrize("k", [2, 3, 5])
def test_it_is_the_score_test_by_definition(k):
    p, y = drawn(k, 80, k)
    assert score_certainty(judge_of(p, y)) == pytest.approx(naive_certainty(p, y), abs=1e-5)


def test_by_hand():
    """80 rows of 1/4 with 40 events: (40 - 20)^2 / (80 * 3/16) = 80/3; slope and level are one."""
    p = np.tile([0.75, 0.25], (80, 1))
    y = np.repeat([0, 1], 40)
    expected = norm.isf(chi2.sf(80 / 3, 1))
    assert score_certainty(judge_of(p, y)) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("k", [2, 4])
def test_the_order_of_classes_does_not_matter(k):
    p, y = drawn(7, 200, k)
    order = np.roll(np.arange(k), 1)
    again = judge_of(p[:, order], np.argsort(order)[y])
    assert score_certainty(again) == pytest.approx(score_certainty(judge_of(p, y)), abs=1e-8)


def test_a_frequency_is_so_many_rows():
    p, y = drawn(3, 100, 3)
    counts = np.random.default_rng(0).integers(1, 4, 100)
    once = judge_of(p, y, weight=counts.astype(float), by_frequency=True)
    repeated = judge_of(np.repeat(p, counts, axis=0), np.repeat(y, counts))
    assert score_certainty(once) == pytest.approx(score_certainty(repeated), abs=1e-9)


def test_copies_that_count_once_change_nothing():
    p, y = drawn(5, 100, 3)
    five = replace(judge_of(np.repeat(p, 5, axis=0), np.repeat(y, 5)), size=100.0)
    assert score_certainty(five) == pytest.approx(score_certainty(judge_of(p, y)), abs=1e-9)


def test_a_common_factor_of_weights_changes_nothing():
    p, y = drawn(4, 100, 3)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, 100)
    one, other = judge_of(p, y, weight=weight), judge_of(p, y, weight=7 * weight)
    assert score_certainty(one) == pytest.approx(score_certainty(other), abs=1e-9)


@pytest.mark.parametrize("kind", ["rows", "four classes", "weights", "weights by label", "rare"])
def test_calibrated_predictions_are_doubted_as_often_as_said(kind):
    """A deviate beyond 1.645 in 5 % of 400 samples; 8.2 % is three standard errors above."""
    beyond = 0
    for seed in range(400):
        rng = np.random.default_rng([seed, 1])
        p, y = drawn(seed, 200, 4 if kind == "four classes" else 2)
        weight = rng.exponential(1.0, 200) if kind == "weights" else None
        if kind == "weights by label":  # a third of the negatives kept, and weighted up
            kept = (y == 1) | (rng.random(200) < 1 / 3)
            p, y = p[kept], y[kept]
            weight = np.where(y == 1, 1.0, 3.0)
        if kind == "rare":
            q = 1 / (1 + np.exp(-rng.normal(-3, 1, 300)))
            p, y = np.column_stack([1 - q, q]), (rng.random(300) < q).astype(int)
        beyond += score_certainty(judge_of(p, y, weight=weight)) > 1.645
    assert beyond / 400 <= 0.082


def test_it_says_nothing_where_outcomes_hardly_vary_nor_of_groups():
    p = np.tile([0.999, 0.001], (100, 1))  # variance of the sum: 0.1
    assert score_certainty(judge_of(p, np.append(np.zeros(99, dtype=int), 1))) == -np.inf
    p, y = drawn(1, 12, 2)
    assert score_certainty(judge_of(p, y, groups=np.repeat(np.arange(3), 4))) == -np.inf
    assert score_certainty(Judge(y, np.ones(12), False, 12.0, 1e-12, (12,), y)) == -np.inf
