"""The Monte-Carlo null of Cox's test against enumeration and brute force."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize

from veridical import VeridicalWarning
from veridical._core.sample import BinarySample
from veridical.inference._cox.cox import cox_test
from veridical.inference._cox.null import likelihood_ratios, null_statistics


def two_classes(n):
    rng = np.random.default_rng(7)
    p = rng.uniform(0.1, 0.9, n)
    return (rng.random(n) < p).astype(int), p


def three_classes(n):
    rng = np.random.default_rng(8)
    p = rng.dirichlet(np.full(3, 2.0), n)
    return (rng.random(n)[:, None] > p.cumsum(axis=1)).sum(axis=1), p


def logit(p):
    return np.log(p / (1 - p))


def deviance(y, x, a, b):
    """Minus twice the log-likelihood."""
    t = a + b * x
    return 2 * np.sum(np.logaddexp(0, t) - y * t)


def test_batched_ratios_are_those_of_one_fit_after_another():
    rng = np.random.default_rng(0)
    p = rng.beta(0.5, 2, 40)
    x, y = logit(p), (rng.random((30, 40)) < p).astype(int)
    sums = np.column_stack([y.sum(axis=1), y @ x])
    batched = likelihood_ratios(x, np.ones(40), sums)
    for row, outcomes in zip(batched, y, strict=True):
        found = minimize(
            lambda at, outcomes=outcomes: deviance(outcomes, x, *at) / 2, [0, 1], method="BFGS"
        )
        ratio = deviance(outcomes, x, 0, 1) - 2 * found.fun
        assert row == pytest.approx(ratio, abs=2e-4)


def test_null_statistics_have_the_exact_distribution_of_few_rows():
    """All 2^6 outcomes of six rows, each with its probability and its best fit."""
    p = np.array([0.2, 0.3, 0.5, 0.6, 0.7, 0.9])
    x = logit(p)
    outcomes = (np.arange(64)[:, None] >> np.arange(6)) & 1
    probability = np.where(outcomes, p, 1 - p).prod(axis=1)
    sums = np.column_stack([outcomes.sum(axis=1), outcomes @ x])
    exact = likelihood_ratios(x, np.ones(6), sums)
    sample = BinarySample(y=outcomes[0], p=p)
    drawn = null_statistics(sample, 1e-12, 20_000, np.random.default_rng(0))
    for q in (1.0, 2.0, 4.0, 6.0):
        share = probability[exact >= q].sum()
        error = math.sqrt(share * (1 - share) / 20_000)
        assert abs((drawn >= q).mean() - share) < 4.5 * error


def test_monte_carlo_pvalue_is_the_exact_one():
    p = np.array([0.2, 0.3, 0.5, 0.6, 0.7, 0.9])
    y = np.array([1, 0, 1, 0, 1, 0])
    test = cox_test(y, p, n_resamples=20_000, rng=0)
    assert test.null == "outcomes drawn from the predictions"
    outcomes = (np.arange(64)[:, None] >> np.arange(6)) & 1
    x = logit(p)
    sums = np.column_stack([outcomes.sum(axis=1), outcomes @ x])
    exact = likelihood_ratios(x, np.ones(6), sums)
    probability = np.where(outcomes, p, 1 - p).prod(axis=1)
    expected = probability[exact >= test.statistic - 1e-6].sum()
    assert abs(test.pvalue - expected) < 4.5 * math.sqrt(expected * (1 - expected) / 20_000)


def test_the_null_is_drawn_only_where_outcomes_vary_too_little():
    rng = np.random.default_rng(1)
    p = rng.random(2000)
    y = (rng.random(2000) < p).astype(int)
    assert cox_test(y, p).n_resamples is None
    assert cox_test(y[:60], p[:60], n_resamples=99, rng=0).n_resamples == 99
    with pytest.warns(VeridicalWarning, match="chi-squared null"):
        assert cox_test(y[:60], p[:60], null="asymptotic").n_resamples is None
    assert cox_test(y, p, null="monte-carlo", n_resamples=49, rng=0).n_resamples == 49


def test_ten_classes_of_a_hundred_rows_are_doubted():
    rng = np.random.default_rng(2)
    p = rng.dirichlet(np.ones(10), 100)
    y = (rng.random(100)[:, None] > p.cumsum(axis=1)).sum(axis=1)
    with pytest.warns(VeridicalWarning, match="intervals and component tests"):
        drawn = cox_test(y, p, n_resamples=99, rng=0)
    assert drawn.n_resamples == 99
    with pytest.warns(VeridicalWarning, match="chi-squared null"):
        cox_test(y, p, slopes="diagonal", null="asymptotic")


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("data", [two_classes, three_classes])
def test_drawn_pvalues_do_not_depend_on_the_order_of_rows(data, weighted):
    y, p = data(40)
    w = 0.5 + np.arange(40) % 3 if weighted else None
    turned = np.random.default_rng(3).permutation(40)
    options = {"null": "monte-carlo", "n_resamples": 199, "rng": 4}
    with pytest.warns(VeridicalWarning) if p.ndim == 2 else np.errstate():
        first = cox_test(y, p, sample_weight=w, **options)
        second = cox_test(
            y[turned], p[turned], sample_weight=None if w is None else w[turned], **options
        )
    assert first.pvalue == second.pvalue


@pytest.mark.parametrize("data", [two_classes, three_classes])
def test_drawn_pvalues_of_repetitions_are_those_of_frequencies(data):
    y, p = data(30)
    w = 1 + np.arange(30) % 2
    options = {"null": "monte-carlo", "n_resamples": 99, "rng": 5}
    with pytest.warns(VeridicalWarning) if p.ndim == 2 else np.errstate():
        counted = cox_test(y, p, sample_weight=w, weight_type="frequency", **options)
        repeated = cox_test(np.repeat(y, w), np.repeat(p, w, axis=0), **options)
    assert counted.pvalue == repeated.pvalue


def test_drawing_with_equal_importance_is_drawing_without_weights():
    y, p = two_classes(50)
    options = {"null": "monte-carlo", "n_resamples": 99, "rng": 6}
    plain = cox_test(y, p, **options)
    assert cox_test(y, p, sample_weight=np.full(50, 0.3), **options).pvalue == plain.pvalue
    halves = {"sample_weight": np.full(50, 2.5), "weight_type": "frequency"}
    test = cox_test(y, p, **halves, **options)
    assert test.statistic == pytest.approx(2.5 * plain.statistic, rel=1e-9)
