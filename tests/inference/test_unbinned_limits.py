"""Limits of errors without bins, of few bins and of recalibration gains, where they are known."""

import numpy as np
import pytest
from scipy.stats import beta

from veridical import (
    BinnedError,
    BrierScore,
    CumulativeError,
    InvalidInputError,
    LoessError,
    SmoothError,
    bootstrap_interval,
    evaluate,
)
from veridical._core.sample import pool_scores
from veridical.inference.intervals import Rows, area_limits
from veridical.miscalibration import RecalibrationError
from veridical.miscalibration.core import loess_weights

UNBINNED = [
    CumulativeError(),
    CumulativeError("kuiper"),
    SmoothError(),
    *(LoessError(summary) for summary in ("mean", "median", "p90", "max")),
]


def name(estimator):
    return estimator.name


def exact(hits, n):
    """Clopper & Pearson (1934)."""
    return beta.ppf(0.025, hits, n - hits + 1), beta.ppf(0.975, hits + 1, n - hits)


def rows(n, seed=0, rate=None):
    rng = np.random.default_rng(seed)
    p = rng.beta(0.6, 2, n)
    return (rng.random(n) < (p if rate is None else rate(p))).astype(int), p


@pytest.mark.parametrize("hits", [1, 6, 20])
@pytest.mark.parametrize(
    "estimator",
    [CumulativeError(), CumulativeError("kuiper"), LoessError(), LoessError("max")],
    ids=name,
)
def test_of_one_score_the_upper_limit_is_that_of_a_frequency(estimator, hits):
    low, high = exact(hits, 40)
    found = bootstrap_interval(estimator, [1] * hits + [0] * (40 - hits), [0.3] * 40)
    assert found.high == pytest.approx(max(high - 0.3, 0.3 - low), rel=1e-6)


@pytest.mark.parametrize("hits", [10, 11, 30])
@pytest.mark.parametrize("norm", [1, 2])
def test_of_one_bin_the_lower_limit_is_at_most_that_of_a_frequency(norm, hits):
    least = exact(hits, 100)[0] - 0.02
    found = bootstrap_interval(
        BinnedError(norm=norm), [1] * hits + [0] * (100 - hits), [0.02] * 100
    )
    assert 0 <= found.low <= least + 1e-9


def test_a_rare_bin_that_is_wrong_may_hold_more_rows_than_it_does():
    """Three of 100 rows are off by 0.9: Clopper-Pearson's share of such rows, at that distance.

    Bets of 0.9 on them win 0.81 each, and nothing elsewhere: 0.81 of the upper limit of 3 in 100.
    """
    y, p = [0] * 3 + [0] * 97, [0.9] * 3 + [0.0] * 97
    found = bootstrap_interval(BinnedError(norm=2), y, p, labels=[0, 1])
    assert found.high**2 >= 0.81 * exact(3, 100)[1] - 1e-9


@pytest.mark.parametrize("degree", [1, 2])
@pytest.mark.parametrize("tied", [False, True])
def test_the_kernel_of_a_local_fit_is_that_of_weighted_least_squares(degree, tied):
    y, p = rows(60)
    p = np.round(p, 1) if tied else p
    weight = np.random.default_rng(1).integers(1, 4, 60).astype(float)
    scores = pool_scores(p, y, weight)
    at = scores.value[::3]
    kernel = loess_weights(scores, at, p, weight, LoessError(span=0.6, degree=degree))
    for place, own in zip(at, kernel, strict=True):
        order = np.argsort(np.abs(p - place), kind="stable")
        reach = np.cumsum(weight[order]) >= 0.6 * weight.sum() * (1 - 1e-12)
        radius = np.abs(p - place)[order][reach.argmax()]
        near = np.clip(1 - (np.abs(p - place) / radius) ** 3, 0, None) ** 3
        known = np.linalg.matrix_rank(np.vander(np.unique(p[near > 0]) - place, degree + 1))
        design = np.vander(p - place, known, increasing=True)
        root = np.sqrt(near * weight)[:, None]
        fit = np.linalg.lstsq(root * design, root[:, 0] * y, rcond=None)[0][0]
        assert (own * weight) @ y == pytest.approx(fit, abs=1e-8)


@pytest.mark.parametrize("estimator", UNBINNED, ids=name)
def test_limits_shrink_to_the_error_of_the_population(estimator):
    """Predictions 0.25 and 0.75 that are 0.1 too high, in every possible sense of an error."""
    p = np.repeat([0.25, 0.75], 20_000)
    y = np.concatenate([np.arange(20_000) < 3000, np.arange(20_000) < 13_000]).astype(int)
    found = bootstrap_interval(estimator, y, p)
    assert 0.08 < found.low <= 0.1 + 1e-9
    assert 0.1 - 1e-9 <= found.high < 0.115


@pytest.mark.parametrize("estimator", UNBINNED, ids=name)
def test_copies_of_rows_in_one_group_tell_nothing_new(estimator):
    y, p = rows(100, seed=3)
    single = bootstrap_interval(estimator, y, p)
    copies = bootstrap_interval(
        estimator, np.tile(y, 5), np.tile(p, 5), groups=np.tile(np.arange(100), 5)
    )
    alone = bootstrap_interval(estimator, np.tile(y, 5), np.tile(p, 5))
    assert copies.low <= single.low + 1e-9
    assert copies.high >= 0.98 * single.high
    assert alone.high < copies.high


@pytest.mark.parametrize("estimator", UNBINNED, ids=name)
def test_an_integer_weight_is_a_repetition(estimator):
    y, p = rows(80, seed=4)
    times = np.random.default_rng(5).integers(1, 4, 80)
    weighted = bootstrap_interval(
        estimator, y, p, sample_weight=times.astype(float), weight_type="frequency"
    )
    repeated = bootstrap_interval(estimator, np.repeat(y, times), np.repeat(p, times))
    assert [weighted.low, weighted.high] == pytest.approx([repeated.low, repeated.high], abs=1e-6)


def test_evaluations_of_groups_have_limits_of_errors_without_bins():
    y, p = rows(300, seed=6)
    found = evaluate(y, p, groups=np.arange(300) // 5, n_resamples=20, rng=0)
    for error in found.errors:
        if error.name in ("KS", "smECE"):
            assert error.low is not None
            assert error.low <= error.value + 1e-9
            assert error.value <= error.high


def test_the_largest_gap_of_weighted_rows_has_no_lower_limit():
    y, p = rows(400, seed=7, rate=lambda p: np.full(len(p), 0.9))
    plain = bootstrap_interval(BinnedError(norm="max"), y, p)
    weight = np.where(np.arange(400) % 20 == 0, 20.0, 1.0)
    weighted = bootstrap_interval(BinnedError(norm="max"), y, p, sample_weight=weight)
    grouped = bootstrap_interval(BinnedError(norm="max"), y, p, groups=np.arange(400) // 20)
    assert plain.low > 0.5
    assert weighted.low == 0
    assert grouped.high >= plain.high


def test_equal_predictions_do_not_show_that_an_area_is_one_half():
    """Of ten rows each, all ties: one row more, placed last, makes (1/40)^(1/10) / 2 of it."""
    y = np.repeat([0.0, 1.0], 10)
    ones = np.ones(20)
    low, high = area_limits([Rows(y, np.full(20, 0.3), ones, ones, None, None, None)], 0.5, 0.95)
    distance = np.sqrt(2) * (0.5 - 0.5 * 0.025**0.1)
    assert low == pytest.approx(0.5 - distance)
    assert high == pytest.approx(0.5 + distance)


@pytest.mark.parametrize("rule", ["log", "brier", "spherical", "zero-one"])
def test_the_interval_of_a_gain_is_about_the_estimate_of_the_error(rule):
    y, p = rows(400, seed=8, rate=lambda p: p / 2)
    estimator = RecalibrationError(rule=rule)
    found = bootstrap_interval(estimator, y, p)
    assert found.estimate == pytest.approx(estimator(y, p))
    assert found.low < found.estimate < found.high


def test_the_gain_of_a_map_that_changes_nothing_is_zero():
    """All predictions one half, half of them right in every fold: nothing can be gained."""
    y = np.tile([0, 1], 200)
    found = bootstrap_interval(RecalibrationError(rule="brier"), y, np.full(400, 0.5))
    assert found.low < 0 < found.high or found.low == found.high == 0
    assert abs(found.high - found.low) < 0.02


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"method": "bca"}, '"auto" or "analytic" for a gain'),
        ({"groups": np.arange(60) // 2}, "`groups` must be unset"),
    ],
)
def test_what_gains_cannot_do_is_refused(options, match):
    y, p = rows(60)
    with pytest.raises(InvalidInputError, match=match):
        bootstrap_interval(RecalibrationError(), y, p, **options)


def test_a_gain_over_several_problems_is_refused():
    rng = np.random.default_rng(9)
    with pytest.raises(InvalidInputError, match="a single problem"):
        bootstrap_interval(
            RecalibrationError(), rng.integers(0, 3, 60), rng.dirichlet([1, 1, 1], 60),
            lens="classwise",
        )  # fmt: skip


def test_one_model_above_the_other_throughout_does_not_bound_what_other_rows_may_say():
    """All of 30 rows say 0, the other model 0.02: 1 - 0.98^2 is as much as a row can speak.

    The row not seen may speak so much for the first: the lower limit is that of no hit in 30.
    """
    from veridical import paired_difference

    found = paired_difference(BrierScore(), [0] * 30, [0.0] * 30, [0.02] * 30, labels=[0, 1])
    each = -(0.02**2)
    most = 1 - 0.98**2
    assert found.low == pytest.approx(each - (most + each) * (1 - 0.025 ** (1 / 30)), rel=1e-6)
