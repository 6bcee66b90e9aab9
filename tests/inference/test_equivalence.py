"""Equivalence tests against closed forms of one bin and one score."""

import math

import numpy as np
import pytest

from veridical import BinnedError, ClassSpecific, InvalidInputError, UniformBins, bootstrap_interval
from veridical.exceptions import VeridicalWarning
from veridical.inference._design.equivalence import equivalence_test
from veridical.results.tests import EquivalenceTest

stats = pytest.importorskip("scipy.stats")


def one_score(score, hits, n):
    return np.repeat([1, 0], [hits, n - hits]), np.full(n, score)


def calibrated(n, seed):
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    return (rng.random(n) < p).astype(int), p


@pytest.mark.parametrize("norm", [1, 2])
def test_one_bin_far_from_calibration_is_a_one_sided_normal_test(norm):
    """35,000 hits of 100,000 at 0.3: the gap at the limit is 1.645 standard errors above 0.05."""
    y, p = one_score(0.3, 35_000, 100_000)
    for delta in (0.052, 0.0525, 0.053):
        rate = 0.3 + delta
        z = (delta - 0.05) / math.sqrt(rate * (1 - rate) / 100_000)
        test = equivalence_test(y, p, delta=delta, norm=norm)
        assert math.isclose(test.pvalue, stats.norm.sf(z), rel_tol=0.03)
        assert test.equivalent == (z > stats.norm.isf(0.05))
        assert math.isclose(test.upper, 0.05 + 1.6449 * math.sqrt(0.35 * 0.65 / 1e5), rel_tol=1e-3)
        assert math.isclose(test.statistic, 0.05, rel_tol=1e-2)


def test_a_sample_that_looks_perfect_claims_no_more_than_a_median_one():
    """Gap 0 of 400 rows at 0.5: the limit is that of a gap of 0.6745 standard errors of 0.025."""
    y, p = one_score(0.5, 200, 400)
    test = equivalence_test(y, p, delta=0.06)
    assert 0.0575 * 0.9 < test.upper < 0.0575 * 1.1  # (0.6745 + 1.645) * 0.025 = 0.058
    assert not equivalence_test(y, p, delta=0.04).equivalent


@pytest.mark.parametrize(("score", "hits", "n"), [(0.5, 52, 100), (0.2, 31, 200), (0.9, 470, 500)])
@pytest.mark.parametrize("delta", [0.08, 0.15])
def test_band_of_one_score_is_two_binomial_tests(score, hits, n, delta):
    y, p = one_score(score, hits, n)
    above = stats.binom.cdf(hits, n, min(1.0, score + delta))
    below = stats.binom.sf(hits - 1, n, max(0.0, score - delta))
    test = equivalence_test(y, p, delta=delta, method="band")
    expected = min(1.0, 2 * max(above, below))
    assert math.isclose(test.pvalue, max(expected, 1e-12), rel_tol=1e-5)
    assert test.equivalent == (expected < 0.05)
    assert math.isclose(test.statistic, abs(hits / n - score), abs_tol=1e-12)


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("delta", [0.04, 0.05, 0.06])
def test_pvalue_is_the_level_at_which_the_limit_meets_the_margin(norm, delta):
    y, p = calibrated(2000, 3)
    test = equivalence_test(y, p, delta=delta, norm=norm)
    estimator = BinnedError(UniformBins(15), norm=norm)
    at = bootstrap_interval(estimator, y, p, confidence_level=1 - 2 * test.pvalue)
    assert math.isclose(at.high, delta, rel_tol=1e-5)
    assert test.upper == bootstrap_interval(estimator, y, p, confidence_level=0.9).high
    assert test.rejects(test.pvalue * 1.01)
    assert not test.rejects(test.pvalue * 0.99)


@pytest.mark.parametrize("method", ["error", "band"])
def test_wider_margins_are_easier_to_show(method):
    p = np.round(np.random.default_rng(4).random(3000), 1)
    y = (np.random.default_rng(0).random(3000) < p).astype(int)
    values = [
        equivalence_test(y, p, delta=d, method=method).pvalue for d in (0.01, 0.05, 0.08, 0.1, 0.3)
    ]
    assert values == sorted(values, reverse=True)
    assert values[0] > 0.1
    assert values[-1] == 1e-12


def test_a_band_left_empty_by_a_falling_curve_claims_nothing():
    p = np.repeat([0.45, 0.55], 5000)
    y = np.concatenate([np.repeat([1, 0], [3000, 2000]), np.repeat([1, 0], [2000, 3000])])
    test = equivalence_test(y, p, delta=0.04, method="band")
    assert not test.equivalent
    assert math.isclose(test.statistic, 0.05, rel_tol=1e-9)  # the fit is 0.5 at both


@pytest.mark.parametrize("method", ["error", "band"])
def test_frequency_weights_repeat_rows(method):
    y, p = calibrated(600, 5)
    p = np.round(p, 2)
    weight = np.random.default_rng(6).integers(0, 4, 600)
    options = {"delta": 0.2, "method": method, "weight_type": "frequency"}
    weighted = equivalence_test(y, p, sample_weight=weight, **options)
    repeated = equivalence_test(np.repeat(y, weight), np.repeat(p, weight), **options)
    assert math.isclose(weighted.pvalue, repeated.pvalue, rel_tol=1e-5)
    assert math.isclose(weighted.upper, repeated.upper, rel_tol=1e-9)


def test_scale_of_importance_weights_means_nothing():
    y, p = calibrated(900, 7)
    weight = np.random.default_rng(8).random(900)
    one, many = (equivalence_test(y, p, delta=0.1, sample_weight=k * weight) for k in (1, 1000))
    assert math.isclose(one.upper, many.upper, rel_tol=1e-9)
    with pytest.raises(InvalidInputError, match="weight_type"):
        equivalence_test(y, p, delta=0.1, method="band", sample_weight=weight)


def test_lens_of_one_class_equals_its_binary_problem():
    rng = np.random.default_rng(9)
    p = rng.dirichlet([1, 1, 1], 600)
    y = (rng.random(600)[:, None] > p.cumsum(axis=1)).sum(axis=1)
    one = equivalence_test(y, p, delta=0.1, lens=ClassSpecific(2))
    two = equivalence_test((y == 2).astype(int), p[:, 2], delta=0.1)
    assert (one.pvalue, one.upper) == (two.pvalue, two.upper)


def test_result_says_what_was_shown_and_reads_back():
    y, p = calibrated(4000, 10)
    test = equivalence_test(y, p, delta=0.05)
    assert test.verdict == "shown to be calibrated within 0.05"
    assert EquivalenceTest.from_json(test.to_json()) == test
    assert test.to_frame()["equivalent"].to_list() == [True]
    with pytest.warns(VeridicalWarning, match="6.67 rows a bin on average, fewer than 30"):
        less = equivalence_test(y[:100], p[:100], delta=0.05)
    assert less.notes
    assert "not shown to be calibrated within 0.05" in str(less)


def test_a_margin_may_be_a_share_of_the_base_rate():
    y, p = [0] * 1960 + [1] * 40, [0.02] * 2000
    test = equivalence_test(y, p, delta="25%")
    assert test.delta == pytest.approx(0.005)  # a quarter of 40 in 2,000
    assert (test.share, test.base_rate) == (0.25, 0.02)
    assert test.pvalue == equivalence_test(y, p, delta=0.005).pvalue
    assert equivalence_test(y, p).delta == pytest.approx(0.002)
    often = equivalence_test([1 - each for each in y], [0.98] * 2000, delta="25%")
    assert (often.delta, often.rarer) == (pytest.approx(0.005), 0)
    assert test.verdict.endswith("calibrated within 0.005 (25 % of the base rate)")


@pytest.mark.parametrize(("forecast", "delta", "nothing"), [
    (0.0, 0.01, True), (0.008, 0.01, True), (0.004, 0.01, True), (0.0, "50%", False),
    (0.004, 0.003, False),
])  # fmt: skip
def test_a_margin_that_the_forecast_0_is_within_says_nothing(forecast, delta, nothing):
    """Base rate 0.4 %: always 0, twice the base rate, and the base rate itself."""
    y = [0] * 4980 + [1] * 20
    test = equivalence_test(y, [forecast] * 5000, delta=delta)
    assert test.says_nothing is nothing
    assert ("says nothing here: so is the forecast 0" in test.verdict) is nothing
    if delta == "50%":
        assert not test.equivalent  # off by all of the base rate


def test_a_constant_forecast_of_the_base_rate_is_calibrated():
    y, p = [0, 0, 0, 1] * 2500, [0.25] * 10_000
    test = equivalence_test(y, p)
    assert test.equivalent
    assert not test.says_nothing


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"delta": 0}, "`delta` must be between 0 and 1; got 0"),
        ({"delta": 1.0}, "`delta` must be between 0 and 1"),
        ({"delta": "small"}, "`delta` must be a number, or a share of the base rate"),
        ({"delta": 0.1, "method": "bootstrap"}, "`method` must be one of 'error', 'band'"),
        ({"delta": 0.1, "norm": 3}, "`norm` must be 1 or 2; got 3"),
        ({"delta": 0.1, "n_bins": "cv"}, "`n_bins` must be free of the outcomes"),
        ({"delta": 0.1, "strategy": "sweep"}, "`strategy` must be one of"),
        ({"delta": 0.1, "level": 1}, "`level` must be between 0 and 1"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, message):
    with pytest.raises(InvalidInputError, match=message):
        equivalence_test([0, 1], [0.5, 0.5], **options)


@pytest.mark.parametrize("lens", ["classwise", "canonical"])
def test_lenses_of_several_problems_are_refused(lens):
    with pytest.raises(InvalidInputError, match="`lens` must be one that induces"):
        equivalence_test([0, 1, 2], np.full((3, 3), 1 / 3), delta=0.1, lens=lens)
