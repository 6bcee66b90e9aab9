"""Pearson's test against other packages, enumeration and brute force."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from veridical import InvalidInputError, VeridicalWarning
from veridical.inference._goodness.chi_square import pearson_test

# Successes of so many rows at a prediction.
COUNTS = [(0.2, 50, 14), (0.5, 40, 17), (0.9, 100, 86)]
# Rows of each of three classes at a vector of predictions.
VECTOR_COUNTS = [((0.5, 0.3, 0.2), (28, 10, 12)), ((0.2, 0.2, 0.6), (25, 15, 60))]


def binary_rows(counts=COUNTS):
    p = np.concatenate([[q] * n for q, n, _ in counts])
    y = np.concatenate([[1] * k + [0] * (n - k) for _, n, k in counts])
    return y, p


def vector_rows(counts=VECTOR_COUNTS):
    p = np.concatenate([np.tile(q, (sum(c), 1)) for q, c in counts])
    y = np.concatenate([np.repeat(range(len(c)), c) for _, c in counts])
    return y, p


def binomial(n, k, p):
    return math.comb(n, k) * p**k * (1 - p) ** (n - k)


def test_binary_agrees_with_statsmodels():
    """Sum of statsmodels 0.15.0 `stats.gof.chisquare` over groups; scipy 1.17.1 `chi2.sf`."""
    test = pearson_test(*binary_rows(), null="asymptotic")
    assert test.statistic == pytest.approx(4.677777777777779, rel=1e-12)
    assert test.pvalue == pytest.approx(0.19697057499319884, rel=1e-12)
    assert (test.df, test.lens, test.n_samples, test.notes) == (3, "binary", 190, ())


def test_vectors_agree_with_statsmodels():
    test = pearson_test(*vector_rows(), null="asymptotic")
    assert test.statistic == pytest.approx(4.926666666666667, rel=1e-12)
    assert test.pvalue == pytest.approx(0.2949050564785495, rel=1e-12)
    assert (test.df, test.lens) == (4, "canonical")


def test_monte_carlo_agrees_with_enumeration_of_counts():
    counts = [(0.15, 4, 2), (0.6, 5, 1), (0.9, 3, 3)]
    statistic = {}
    for case in itertools.product(*(range(n + 1) for _, n, _ in counts)):
        groups = [(p, n, k) for (p, n, _), k in zip(counts, case, strict=True)]
        chi = sum((k - n * p) ** 2 / (n * p * (1 - p)) for p, n, k in groups)
        statistic[case] = chi, math.prod(binomial(n, k, p) for p, n, k in groups)
    observed = statistic[2, 1, 3][0]
    exact = sum(weight for chi, weight in statistic.values() if chi >= observed * (1 - 1e-9))
    test = pearson_test(*binary_rows(counts), rng=1, n_resamples=9999)
    assert test.n_resamples == 9999
    assert test.statistic == pytest.approx(observed, rel=1e-12)
    assert abs(test.pvalue - exact) < 4.5 * math.sqrt(exact * (1 - exact) / 9999)


@pytest.mark.parametrize("rows_alike", [1, 2])
def test_monte_carlo_of_vectors_agrees_with_enumeration_of_outcomes(rows_alike):
    """Single rows draw from one uniform number, repeated ones from binomials: both are right."""
    p = np.repeat([[0.1, 0.7, 0.2], [0.5, 0.25, 0.25]], rows_alike, axis=0)
    y = np.array([2, 0] if rows_alike == 1 else [2, 1, 0, 0])

    def chi_square(outcome):
        total = 0.0
        for q in np.unique(p, axis=0):
            rows = (p == q).all(axis=1)
            observed = np.bincount(np.asarray(outcome)[rows], minlength=3)
            total += float(((observed - rows.sum() * q) ** 2 / (rows.sum() * q)).sum())
        return total

    exact = sum(
        math.prod(p[i, k] for i, k in enumerate(outcome))
        for outcome in itertools.product(range(3), repeat=len(y))
        if chi_square(outcome) >= chi_square(y) * (1 - 1e-9)
    )
    test = pearson_test(y, p, rng=2, n_resamples=9999)
    assert test.statistic == pytest.approx(chi_square(y), rel=1e-12)
    assert 0.01 < exact < 0.99
    assert abs(test.pvalue - exact) < 4.5 * math.sqrt(exact * (1 - exact) / 9999)


@pytest.mark.parametrize("tiny", [2.0**-52, 1e-310])
def test_nearly_certain_predictions_do_not_drown_the_others(tiny):
    """An outcome that never happens counts 1 / tiny; the other null statistics stay exact."""
    middle = np.array([0.2, 0.35, 0.6])
    odds = {0: middle / (1 - middle), 1: (1 - middle) / middle}  # 1 / p_y - 1
    observed = odds[1][0] + odds[0][1] + odds[0][2]
    exact = sum(
        np.where(outcome, middle, 1 - middle).prod()
        for outcome in itertools.product([0, 1], repeat=3)
        if np.where(outcome, odds[1], odds[0]).sum() >= observed * (1 - 1e-9)
    )
    assert 0.01 < exact < 0.99
    for sure, outcome in ((tiny, 0), (1 - tiny, 1)):
        p = np.append(middle, sure)
        test = pearson_test([1, 0, 0, outcome], p, rng=12, n_resamples=9999)
        assert test.statistic == pytest.approx(observed, rel=1e-12)
        assert abs(test.pvalue - exact) < 4.5 * math.sqrt(exact * (1 - exact) / 9999)


def test_blocks_do_not_matter(monkeypatch):
    rng = np.random.default_rng(3)
    p = rng.dirichlet(np.ones(4), 300)
    y = (rng.random(300)[:, None] > p.cumsum(axis=1)).sum(axis=1)
    p[200:] = p[200]  # one group larger than a block
    whole = pearson_test(y, p, rng=4, n_resamples=2000)
    monkeypatch.setattr("veridical.inference._draws.groups._BLOCK_DRAWS", 2000 * 4 * 7)
    blocked = pearson_test(y, p, rng=5, n_resamples=2000)
    error = math.sqrt(2 * whole.pvalue * (1 - whole.pvalue) / 2000)
    assert abs(whole.pvalue - blocked.pvalue) < 4.5 * error + 1e-9


def test_auto_draws_where_expected_counts_are_small():
    few = pearson_test(*binary_rows(), rng=0)  # 10 expected at 0.2 and at 0.9
    assert few.null == "Monte Carlo, 1000 draws"
    many = pearson_test(*binary_rows([(q, 4 * n, 4 * k) for q, n, k in COUNTS]))
    assert (many.null, many.n_resamples) == ("chi-square, df=3", None)
    alone = pearson_test(*binary_rows([(0.5, 100, 60)]), rng=0)  # one count is coarse
    assert alone.n_resamples == 1000


def test_the_chi_square_distribution_of_few_rows_is_doubted():
    with pytest.warns(VeridicalWarning, match="below 5"):
        test = pearson_test([0, 1, 1], [0.2, 0.5, 0.5], null="asymptotic")
    assert len(test.notes) == 1


@pytest.mark.parametrize("null", ["asymptotic", "monte-carlo"])
@pytest.mark.parametrize("rows", [binary_rows, vector_rows])
def test_frequencies_are_repetition(rows, null):
    y, p = rows()
    w = np.random.default_rng(6).integers(0, 4, len(y))
    repeated = np.repeat(np.arange(len(y)), w)
    plain = pearson_test(y[repeated], p[repeated], null=null, rng=7)
    weighted = pearson_test(y, p, sample_weight=w, weight_type="frequency", null=null, rng=7)
    assert weighted.statistic == pytest.approx(plain.statistic, rel=1e-12)
    assert weighted.pvalue == pytest.approx(plain.pvalue, rel=1e-10)
    assert weighted.df == plain.df


def test_importance_counts_by_effective_size():
    """Weights 1, 2 in equal numbers: 5 rows count as (5 * 1.5)^2 / (5 * 2.5) = 0.9 * 5."""
    y, p = np.array([1, 1, 0, 0, 1, 0, 1, 1, 0, 0]), np.full(10, 0.4)
    w = np.tile([1.0, 2.0], 5)
    share = w[y == 1].sum() / w.sum()
    expected = 9 * (share - 0.4) ** 2 / (0.4 * 0.6)
    found = pearson_test(y, p, sample_weight=w, rng=0)
    assert found.statistic == pytest.approx(expected, rel=1e-12)
    scaled = pearson_test(y, p, sample_weight=w * 8, rng=0)
    assert (scaled.statistic, scaled.pvalue) == (found.statistic, found.pvalue)


def test_weighted_monte_carlo_agrees_with_enumeration():
    p, w = np.array([0.3] * 4 + [0.8] * 3), np.array([1, 1, 2.5, 0.5, 3, 1, 1])
    y = np.array([1, 0, 1, 0, 0, 1, 1])

    def chi_square(outcome):
        total = 0.0
        for q in (0.3, 0.8):
            rows = p == q
            size = w[rows].sum() ** 2 / (w[rows] ** 2).sum()
            share = np.average(outcome[rows], weights=w[rows])
            total += size * (share - q) ** 2 / (q * (1 - q))
        return total

    exact = sum(
        np.where(outcome, p, 1 - p).prod()
        for outcome in map(np.array, itertools.product([0, 1], repeat=7))
        if chi_square(outcome) >= chi_square(y) * (1 - 1e-9)
    )
    test = pearson_test(y, p, sample_weight=w, rng=8, n_resamples=9999)
    assert test.statistic == pytest.approx(chi_square(y), rel=1e-12)
    assert abs(test.pvalue - exact) < 4.5 * math.sqrt(exact * (1 - exact) / 9999)


def test_equal_importance_is_none():
    y, p = binary_rows()
    plain = pearson_test(y, p, rng=0)
    assert pearson_test(y, p, sample_weight=np.full(len(y), 0.3), rng=0) == plain


def test_fractional_frequencies_are_said_to_be_drawn_as_rows():
    y, p = binary_rows([(0.2, 5, 2)])
    with pytest.warns(VeridicalWarning, match="not whole numbers"):
        pearson_test(y, p, sample_weight=np.full(5, 1.5), weight_type="frequency", rng=0)


def test_order_of_rows_does_not_matter():
    rng = np.random.default_rng(9)
    p = rng.dirichlet(np.ones(3), 50).round(1)
    p[:, 0] = (1 - p[:, 1] - p[:, 2]).clip(0)
    p = p[np.abs(p.sum(axis=1) - 1) < 1e-9]
    y = p.argmax(axis=1)
    w = rng.random(len(y))
    order = rng.permutation(len(y))
    first = pearson_test(y, p, sample_weight=w, labels=[0, 1, 2], rng=1)
    other = pearson_test(y[order], p[order], sample_weight=w[order], labels=[0, 1, 2], rng=1)
    assert other.pvalue == first.pvalue
    assert other.statistic == pytest.approx(first.statistic, rel=1e-12)


@pytest.mark.parametrize("null", ["auto", "asymptotic", "monte-carlo"])
def test_the_impossible_happened(null):
    with pytest.warns(VeridicalWarning, match="probability zero"):
        test = pearson_test([0, 1, 1, 0], [0.0, 0.0, 0.5, 0.5], null=null)
    assert (test.statistic, test.pvalue) == (math.inf, 0.0)


def test_certain_predictions_that_came_true_cost_no_degrees_of_freedom():
    y, p = binary_rows([(0.0, 30, 0), (0.5, 40, 17), (1.0, 20, 20)])
    test = pearson_test(y, p, null="asymptotic")
    assert (test.df, test.notes) == (1, ())
    assert test.statistic == pytest.approx((17 - 20) ** 2 / 10, rel=1e-12)
    with pytest.warns(VeridicalWarning, match="nothing to test"):
        certain = pearson_test([0, 1], [0.0, 1.0])
    assert (certain.statistic, certain.pvalue, certain.df) == (0.0, 1.0, 0)


def test_vectors_with_impossible_classes_and_weights_draw_no_dust():
    rng = np.random.default_rng(10)
    p = np.tile([0.0, 0.3, 0.7], (40, 1))
    y = 1 + (rng.random(40) < 0.7)
    test = pearson_test(y, p, sample_weight=rng.random(40), labels=[0, 1, 2], rng=0)
    assert test.df == 1
    assert 0.001 < test.pvalue < 1  # infinite null statistics would all exceed the observed one
    assert test.statistic > 0


def test_a_lens_makes_it_binary():
    y, p = vector_rows()
    right, top = (p.argmax(axis=1) == y).astype(int), p.max(axis=1)
    found, expected = pearson_test(y, p, lens="confidence", rng=0), pearson_test(right, top, rng=0)
    assert (found.statistic, found.pvalue, found.df) == (
        expected.statistic,
        expected.pvalue,
        expected.df,
    )
    assert found.lens == "confidence"


def test_refusals():
    y, p = vector_rows()
    with pytest.raises(InvalidInputError, match="ClassSpecific"):
        pearson_test(y, p, lens="classwise")
    with pytest.raises(InvalidInputError, match="monte-carlo"):
        pearson_test(y, p, null="montecarlo")
    with pytest.raises(InvalidInputError, match="n_resamples"):
        pearson_test(y, p, n_resamples=0)
