"""Intervals against formulas written out, scipy, and the laws of weights and clusters."""

import numpy as np
import pytest
from scipy import stats

from veridical import (
    BinnedError,
    BrierScore,
    LogScore,
    QuantileBins,
    SphericalScore,
    UniformBins,
    VeridicalWarning,
    ZeroOneLoss,
)
from veridical.inference._intervals.bootstrap import bootstrap_interval
from veridical.results.base import Interval

SCORES = [BrierScore(), LogScore(), SphericalScore(), ZeroOneLoss()]
ERRORS = [BinnedError(), BinnedError(norm=2, debias=True), BinnedError(QuantileBins(8), norm=2)]
BOTH = [*SCORES, *ERRORS]


def name(value):
    return getattr(value, "name", str(value))


def limits(interval):
    return interval.low, interval.high


def close(one, other, **options):
    np.testing.assert_allclose(
        limits(one), limits(other), **{"rtol": 1e-9, "atol": 1e-12} | options
    )


@pytest.mark.parametrize("score", SCORES, ids=name)
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_normal_interval_of_a_mean_is_the_formula(score, level, binary):
    each = np.array(
        [score([y], [p], labels=[0, 1]) for y, p in zip(binary.y, binary.p, strict=True)]
    )
    half = stats.norm.ppf((1 + level) / 2) * each.std() / np.sqrt(len(each))
    interval = bootstrap_interval(score, binary.y, binary.p, confidence_level=level)
    np.testing.assert_allclose(limits(interval), [each.mean() - half, each.mean() + half])
    assert interval.estimate == pytest.approx(each.mean())
    assert interval.method == "analytic"
    assert interval.n_resamples is None


def test_weighted_interval_uses_the_linearised_variance(binary):
    y, p, w = binary.y, binary.p, binary.w
    each = (p - y) ** 2
    mean = np.average(each, weights=w)
    half = stats.norm.ppf(0.975) * np.sqrt(np.sum(w**2 * (each - mean) ** 2)) / w.sum()
    interval = bootstrap_interval(BrierScore(), y, p, sample_weight=w)
    np.testing.assert_allclose(limits(interval), [mean - half, mean + half])


def test_clusters_sum_the_deviations_of_their_rows(binary):
    y, p, w = binary.y, binary.p, binary.w
    groups = np.arange(len(y)) // 7
    each = (p - y) ** 2
    mean = np.average(each, weights=w)
    sums = [np.sum((w * (each - mean))[groups == g]) for g in range(groups.max() + 1)]
    half = stats.norm.ppf(0.975) * np.sqrt(np.sum(np.square(sums))) / w.sum()
    interval = bootstrap_interval(BrierScore(), y, p, sample_weight=w, groups=groups)
    np.testing.assert_allclose(limits(interval), [mean - half, mean + half])


@pytest.mark.parametrize("method", ["analytic", "percentile", "basic", "bca"])
def test_rows_that_are_their_own_clusters_are_independent_rows(method, binary):
    options = {"method": method, "rng": 3, "n_resamples": 200}
    alone = bootstrap_interval(BrierScore(), binary.y, binary.p, **options)
    keys = [f"row {i}" for i in np.random.default_rng(0).permutation(len(binary.y))]
    close(alone, bootstrap_interval(BrierScore(), binary.y, binary.p, groups=keys, **options))


def test_repeated_rows_in_a_cluster_do_not_narrow_the_interval(binary):
    y, p = np.repeat(binary.y, 4), np.repeat(binary.p, 4)
    groups = np.repeat(np.arange(len(binary.y)), 4)
    once = bootstrap_interval(BrierScore(), binary.y, binary.p)
    close(once, bootstrap_interval(BrierScore(), y, p, groups=groups))
    assert bootstrap_interval(BrierScore(), y, p).width == pytest.approx(once.width / 2)


def test_stratified_interval_takes_deviations_within_classes(binary):
    y, p = binary.y, binary.p
    each = (p - y) ** 2
    inside = each - np.where(y == 1, each[y == 1].mean(), each[y == 0].mean())
    half = stats.norm.ppf(0.975) * np.sqrt(np.sum(inside**2)) / len(y)
    interval = bootstrap_interval(BrierScore(), y, p, stratify=True)
    np.testing.assert_allclose(limits(interval), [each.mean() - half, each.mean() + half])
    drawn = bootstrap_interval(
        BrierScore(), y, p, stratify=True, method="percentile", n_resamples=20_000, rng=0
    )
    np.testing.assert_allclose(limits(drawn), limits(interval), atol=0.03 * interval.width)


@pytest.mark.parametrize("method", ["percentile", "basic", "bca"])
def test_bootstraps_agree_with_scipy(method):
    """Skewed scores, few rows: the three methods differ by more than the tolerance."""
    rng = np.random.default_rng(5)
    p = rng.beta(0.5, 3, 40).clip(0.01, 0.99)
    y = (rng.random(40) < p).astype(int)
    each = -np.log(np.where(y == 1, p, 1 - p))
    ours = bootstrap_interval(LogScore(), y, p, method=method, n_resamples=40_000, rng=1)
    theirs = stats.bootstrap(
        (each,), np.mean, method=method, n_resamples=40_000, rng=np.random.default_rng(2)
    ).confidence_interval
    # The standard error of a 2.5 % quantile of 40,000 normal draws is 0.013 of their spread.
    atol = 5 * np.sqrt(2) * 0.013 * each.std() / np.sqrt(40)
    np.testing.assert_allclose(limits(ours), [theirs.low, theirs.high], atol=atol)
    assert ours.n_resamples == 40_000


@pytest.mark.parametrize("method", ["percentile", "basic", "bca"])
@pytest.mark.parametrize("weight_type", ["importance", "frequency"])
def test_weighted_bootstraps_come_close_to_the_normal_interval(method, weight_type, binary):
    options = {"sample_weight": binary.w.round() + 1, "weight_type": weight_type}
    normal = bootstrap_interval(BrierScore(), binary.y, binary.p, **options)
    options |= {"method": method, "n_resamples": 10_000, "rng": 0}
    drawn = bootstrap_interval(BrierScore(), binary.y, binary.p, **options)
    np.testing.assert_allclose(limits(drawn), limits(normal), atol=0.05 * normal.width)


@pytest.mark.parametrize("estimator", BOTH, ids=name)
def test_weights_keep_their_laws(estimator, binary):
    y, p, w = binary.y, binary.p, binary.w
    plain = bootstrap_interval(estimator, y, p)
    close(plain, bootstrap_interval(estimator, y, p, sample_weight=np.ones(len(y))))
    weighted = bootstrap_interval(estimator, y, p, sample_weight=w)
    close(weighted, bootstrap_interval(estimator, y, p, sample_weight=7.5 * w))
    gone = np.where(np.arange(len(y)) % 3 == 0, 0.0, w)
    kept = gone > 0
    removed = bootstrap_interval(estimator, y[kept], p[kept], sample_weight=w[kept])
    close(removed, bootstrap_interval(estimator, y, p, sample_weight=gone))
    times = np.random.default_rng(1).integers(1, 4, len(y))
    repeated = bootstrap_interval(estimator, np.repeat(y, times), np.repeat(p, times))
    counted = bootstrap_interval(estimator, y, p, sample_weight=times, weight_type="frequency")
    close(repeated, counted)


def test_rows_of_weight_zero_take_their_clusters_along(binary):
    y, p = binary.y, binary.p
    groups, w = np.arange(len(y)) // 5, (np.arange(len(y)) % 2).astype(float)
    some = bootstrap_interval(BrierScore(), y, p, sample_weight=w, groups=groups)
    close(some, bootstrap_interval(BrierScore(), y[1::2], p[1::2], groups=groups[1::2]))


@pytest.mark.parametrize("estimator", BOTH, ids=name)
def test_row_order_does_not_matter(estimator, binary):
    order = np.random.default_rng(2).permutation(len(binary.y))
    moved = binary.take(order)
    for method in ("analytic", "bca") if estimator in SCORES else ("analytic",):
        options = {"method": method, "rng": 0, "n_resamples": 100}
        first = bootstrap_interval(estimator, binary.y, binary.p, sample_weight=binary.w, **options)
        other = bootstrap_interval(estimator, moved.y, moved.p, sample_weight=moved.w, **options)
        close(first, other)


def test_the_same_seed_gives_the_same_interval(binary):
    first, same, other = (
        bootstrap_interval(BrierScore(), binary.y, binary.p, method="bca", rng=seed)
        for seed in (1, 1, 2)
    )
    assert first == same
    assert first != other


@pytest.mark.parametrize("lens", ["confidence", "classwise", "canonical"])
def test_mean_scores_of_several_classes_have_intervals(lens, multiclass):
    interval = bootstrap_interval(BrierScore(), multiclass.y, multiclass.p, lens=lens)
    assert interval.estimate == pytest.approx(BrierScore()(multiclass.y, multiclass.p, lens=lens))
    assert interval.low < interval.estimate < interval.high
    assert (interval.low + interval.high) / 2 == pytest.approx(interval.estimate)
    assert interval.lens == lens


def test_confidence_lens_gives_calibration_errors_an_interval(multiclass):
    interval = bootstrap_interval(BinnedError(), multiclass.y, multiclass.p)
    assert 0 <= interval.low < interval.high < 1


def test_a_single_bin_agrees_with_the_normal_interval_of_its_gap():
    """Far from calibration the error of one bin is the gap, whatever the norm."""
    y, p = np.repeat([1, 0], [3000, 7000]), np.full(10_000, 0.5)
    half = stats.norm.ppf(0.975) * np.sqrt(0.3 * 0.7 / 10_000)
    for norm in (1, 2):
        interval = bootstrap_interval(BinnedError(UniformBins(1), norm=norm), y, p)
        np.testing.assert_allclose(limits(interval), [0.2 - half, 0.2 + half], atol=0.1 * half)


def test_upper_limit_does_not_vanish_by_luck():
    y, p = np.tile([0, 1], 500), np.full(1000, 0.5)
    for norm in (1, 2):
        interval = bootstrap_interval(BinnedError(norm=norm), y, p)
        assert interval.estimate == interval.low == 0
        assert 0.02 < interval.high < 0.06  # two standard errors are 0.032


@pytest.mark.parametrize("estimator", ERRORS, ids=name)
def test_intervals_of_errors_do_not_depend_on_debiasing_and_narrow_with_the_level(
    estimator, binary
):
    plain = BinnedError(estimator.binning, norm=estimator.norm)
    corrected = BinnedError(estimator.binning, norm=estimator.norm, debias=True)
    wide = bootstrap_interval(plain, binary.y, binary.p)
    close(wide, bootstrap_interval(corrected, binary.y, binary.p))
    narrow = bootstrap_interval(plain, binary.y, binary.p, confidence_level=0.8)
    assert wide.low <= narrow.low < narrow.high < wide.high


@pytest.mark.filterwarnings("ignore:bootstrap_interval. .* rows a bin")
def test_a_biased_estimate_of_many_bins_lies_above_the_interval():
    rng = np.random.default_rng(3)
    p = rng.random(500)
    y = (rng.random(500) < p).astype(int)
    for norm in (1, 2):
        interval = bootstrap_interval(BinnedError(UniformBins(100), norm=norm), y, p)
        assert interval.low == 0
        assert interval.high < interval.estimate


@pytest.mark.parametrize("estimator", ERRORS, ids=name)
@pytest.mark.parametrize(
    ("y", "p"), [([0], [0.0]), ([1], [0.0]), ([0, 0, 0], [0.0] * 3), ([1, 0], [0.5, 0.5])]
)
def test_hardly_any_data_give_wide_intervals_within_zero_and_one(estimator, y, p):
    plain = BinnedError(estimator.binning, norm=estimator.norm)
    with pytest.warns(VeridicalWarning, match="rows a bin"):
        interval = bootstrap_interval(plain, y, p, labels=[0, 1])
    assert 0 <= interval.low <= interval.high <= 1
    assert interval.width > 0.3


def test_result_reads_back_unchanged_and_says_what_it_is(binary):
    interval = bootstrap_interval(BrierScore(), binary.y, binary.p, method="basic", rng=0)
    assert Interval.from_json(interval.to_json()) == interval
    assert "95 % interval" in str(interval)
    assert "1,000 resamples" in str(interval)
    assert interval.estimate in interval
    assert interval.to_frame()["low"][0] == interval.low
