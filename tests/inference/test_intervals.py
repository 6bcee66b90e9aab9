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


def drawn(values, lowest, highest, *, weight=None, copies=None, level=0.95, draws=20_000):
    """Quantiles of a Bayesian bootstrap with one more row at the end of the support."""
    rng = np.random.default_rng(0)
    weight = np.ones(len(values)) if weight is None else weight
    copies = np.ones(len(values)) if copies is None else copies
    unit = (copies * weight**2).sum() / (copies * weight).sum()
    random = rng.standard_gamma(copies, (draws, len(values))) * weight
    more = rng.exponential(unit, draws)
    total, mass = random @ values, random.sum(axis=1) + more
    ends = ((total + more * end) / mass for end in (lowest, highest))
    tails = ((1 - level) / 2, (1 + level) / 2)
    return [np.quantile(means, tail) for means, tail in zip(ends, tails, strict=True)]


@pytest.mark.parametrize("score", SCORES, ids=name)
@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize("n", [30, None])
def test_interval_of_a_mean_is_a_bayesian_bootstrap_with_one_more_row(score, level, n, binary):
    y, p = binary.y[:n], binary.p[:n]

    def of(outcomes):
        return np.array([score([a], [b], labels=[0, 1]) for a, b in zip(outcomes, p, strict=True)])

    each, possible = of(y), np.concatenate([of(0 * y), of(0 * y + 1)])
    highest = possible.max()
    if score == LogScore():  # all but half a surprise, as frequent as the root of their chance
        cost = np.sort(-np.log(np.minimum(p, 1 - p)))
        passed = np.cumsum(np.exp(-cost / 2))
        half = min(max(0.5, 0.01 * passed[-1]), 0.05 * passed[-1])
        highest = max(each.max(), cost[np.searchsorted(passed, passed[-1] - half)])
    expected = drawn(each, possible.min(), highest, level=level)
    interval = bootstrap_interval(score, y, p, confidence_level=level)
    np.testing.assert_allclose(limits(interval), expected, atol=0.025 * interval.width)
    assert interval.estimate == pytest.approx(each.mean())
    assert interval.method == "analytic"
    assert interval.n_resamples is None


@pytest.mark.parametrize(("wrong", "n"), [(0, 30), (1, 30), (17, 100), (30, 30)])
def test_interval_of_zero_one_losses_is_exact(wrong, n):
    interval = bootstrap_interval(ZeroOneLoss(), [0] * wrong + [1] * (n - wrong), [0.9] * n)
    exact = stats.binomtest(wrong, n).proportion_ci(method="exact")
    np.testing.assert_allclose(limits(interval), [exact.low, exact.high], atol=1e-9)


def test_weighted_zero_one_losses_count_with_their_effective_number(binary):
    y, p, w = binary.y, binary.p, binary.w
    interval = bootstrap_interval(ZeroOneLoss(), y, p, sample_weight=w)
    n = w.sum() ** 2 / (w**2).sum()
    hits = n * np.average((p > 0.5) != (y == 1), weights=w)
    exact = stats.beta.ppf([0.025, 0.975], [hits, hits + 1], [n - hits + 1, n - hits])
    np.testing.assert_allclose(limits(interval), exact)


@pytest.mark.parametrize("score", SCORES, ids=name)
@pytest.mark.parametrize("n", [2, 5, 30])
def test_no_interval_of_predictions_that_can_be_wrong_is_a_point(score, n):
    for outcome in (0, 1):
        interval = bootstrap_interval(score, [outcome] * n, [0.02] * n)
        assert interval.low < interval.high
        assert interval.low <= interval.estimate <= interval.high


def test_interval_of_many_rows_is_normal():
    rng = np.random.default_rng(3)
    p = rng.random(200_000)
    y = (rng.random(len(p)) < p).astype(int)
    each = (p - y) ** 2
    half = stats.norm.ppf(0.975) * each.std() / np.sqrt(len(p))
    interval = bootstrap_interval(BrierScore(), y, p)
    expected = [each.mean() - half, each.mean() + half]
    np.testing.assert_allclose(limits(interval), expected, atol=0.02 * half)


def test_weighted_rows_are_drawn_with_their_weights(binary):
    y, p, w = binary.y, binary.p, binary.w
    possible = np.concatenate([p**2, (1 - p) ** 2])
    interval = bootstrap_interval(BrierScore(), y, p, sample_weight=w)
    expected = drawn((p - y) ** 2, possible.min(), possible.max(), weight=w)
    np.testing.assert_allclose(limits(interval), expected, atol=0.025 * interval.width)
    options = {"sample_weight": w.round() + 1, "weight_type": "frequency"}
    interval = bootstrap_interval(BrierScore(), y, p, **options)
    expected = drawn((p - y) ** 2, possible.min(), possible.max(), copies=w.round() + 1)
    np.testing.assert_allclose(limits(interval), expected, atol=0.025 * interval.width)


def test_rows_of_clusters_count_as_fewer(binary):
    """Rows of a Bayesian bootstrap, so many fewer as their variance over clusters is larger."""
    y, p, w = binary.y, binary.p, binary.w
    groups = np.arange(len(y)) // 7
    order = np.argsort((p - y) ** 2 + np.random.default_rng(0).random(len(y)))  # some are alike
    y, p, w = y[order], p[order], w[order]
    each = (p - y) ** 2
    away = w * (each - np.average(each, weights=w))
    ratio = (np.bincount(groups, away) ** 2).sum() / (away**2).sum()
    assert ratio > 1.5
    few, many = groups[-1] + 1, len(y) / ratio
    t = [stats.t.ppf(0.975, k - 1) ** 2 * k / (k - 1) for k in (few, max(few, many))]
    effect = ratio * t[0] / t[1]
    possible = np.concatenate([p**2, (1 - p) ** 2])
    copies = np.full(len(y), 1 / effect)
    expected = drawn(each, possible.min(), possible.max(), weight=w * effect, copies=copies)
    interval = bootstrap_interval(BrierScore(), y, p, sample_weight=w, groups=groups)
    np.testing.assert_allclose(limits(interval), expected, atol=0.025 * interval.width)


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
    naive = bootstrap_interval(BrierScore(), y, p)
    assert naive.width == pytest.approx(once.width / 2, rel=0.1)


def test_stratified_interval_takes_deviations_within_classes(binary):
    y, p = binary.y, binary.p
    each = (p - y) ** 2
    inside = each - np.where(y == 1, each[y == 1].mean(), each[y == 0].mean())
    interval = bootstrap_interval(BrierScore(), y, p, stratify=True)
    possible = np.concatenate([p**2, (1 - p) ** 2])
    expected = drawn(each.mean() + inside, possible.min(), possible.max())
    np.testing.assert_allclose(limits(interval), expected, atol=0.025 * interval.width)
    resampled = bootstrap_interval(
        BrierScore(), y, p, stratify=True, method="percentile", n_resamples=20_000, rng=0
    )
    np.testing.assert_allclose(limits(resampled), limits(interval), atol=0.05 * interval.width)


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
def test_weighted_bootstraps_come_close_to_the_analytic_interval(method, weight_type, binary):
    options = {"sample_weight": binary.w.round() + 1, "weight_type": weight_type}
    analytic = bootstrap_interval(BrierScore(), binary.y, binary.p, **options)
    options |= {"method": method, "n_resamples": 10_000, "rng": 0}
    resampled = bootstrap_interval(BrierScore(), binary.y, binary.p, **options)
    np.testing.assert_allclose(limits(resampled), limits(analytic), atol=0.07 * analytic.width)


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
    middle = (interval.low + interval.high) / 2
    assert middle == pytest.approx(interval.estimate, abs=0.1 * interval.width)
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
    interval = bootstrap_interval(BinnedError(UniformBins(100), norm=2), y, p)
    assert interval.low == 0
    assert interval.high < interval.estimate


@pytest.mark.filterwarnings("ignore:bootstrap_interval. .* rows a bin")
@pytest.mark.parametrize("estimator", ERRORS, ids=name)
@pytest.mark.parametrize(
    ("y", "p"), [([0], [0.0]), ([1], [0.0]), ([0, 0, 0], [0.0] * 3), ([1, 0], [0.5, 0.5])]
)
def test_hardly_any_data_give_wide_intervals_within_zero_and_one(estimator, y, p):
    plain = BinnedError(estimator.binning, norm=estimator.norm)
    interval = bootstrap_interval(plain, y, p, labels=[0, 1])
    assert 0 <= interval.low <= interval.high <= 1
    assert interval.width > 0.3


def test_few_rows_a_bin_are_doubted_where_limits_do_not_hold(binary):
    y, p = binary.y[:100], binary.p[:100]
    with pytest.warns(VeridicalWarning, match="rows a bin"):
        bootstrap_interval(BinnedError(norm=2), y, p)
    bootstrap_interval(BinnedError(), y, p)  # the upper limit of norm 1 holds with any number


def test_result_reads_back_unchanged_and_says_what_it_is(binary):
    interval = bootstrap_interval(BrierScore(), binary.y, binary.p, method="basic", rng=0)
    assert Interval.from_json(interval.to_json()) == interval
    assert "95 % interval" in str(interval)
    assert "1,000 resamples" in str(interval)
    assert interval.estimate in interval
    assert interval.to_frame()["low"][0] == interval.low
