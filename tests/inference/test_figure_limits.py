"""Limits of areas, ratios, parts and errors without bins, against formulas written out."""

import numpy as np
import pytest
from scipy import stats

from veridical import BinnedError, CumulativeError, SmoothError, bootstrap_interval
from veridical._core.sample import BinarySample
from veridical.inference._intervals.areas import area_limits
from veridical.inference._intervals.parts import part_limits
from veridical.inference._intervals.roots import gap_limits, ratio_limits
from veridical.inference._intervals.rows import rows_of
from veridical.scores import get_rule


def drawn(n, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.beta(1, 2, n).round(3)
    return (rng.random(n) < p).astype(int), p


def delong(y, p, w, groups):
    """Area and its standard error, pair by pair; sums over clusters (Obuchowski 1997)."""
    wins = (p[y == 1][:, None] > p[y == 0]) + (p[y == 1][:, None] == p[y == 0]) / 2
    one, zero = w[y == 1], w[y == 0]
    area = one @ wins @ zero / (one.sum() * zero.sum())
    influence = np.zeros(len(y))
    influence[y == 1] = one * (wins @ zero / zero.sum() - area) / one.sum()
    influence[y == 0] = zero * (one @ wins / one.sum() - area) / zero.sum()
    return area, np.sqrt((np.bincount(groups, influence) ** 2).sum())


@pytest.mark.parametrize("kind", ["plain", "weights", "clusters"])
def test_limits_of_the_area_of_many_rows_are_those_of_delong(kind):
    y, p = drawn(3000)
    w = np.random.default_rng(1).uniform(0.5, 2, 3000) if kind == "weights" else np.ones(3000)
    groups = np.arange(3000)
    if kind == "clusters":
        y, p, groups = y[groups // 3], p[groups // 3], groups // 3
    sample = BinarySample(
        y=y, p=p, weight=w if kind == "weights" else None,
        clusters=groups if kind == "clusters" else None,
    )  # fmt: skip
    area, error = delong(y, p, w, groups)
    low, high = area_limits([rows_of(sample)], area, 0.95)
    half = stats.norm.ppf(0.975) * error
    assert low == pytest.approx(area - half, abs=0.15 * half)
    assert high == pytest.approx(area + half, abs=0.15 * half)


def test_a_perfect_order_of_few_rows_has_no_point_for_an_interval():
    sample = BinarySample(y=np.array([0, 0, 0, 1, 1]), p=np.array([0.1, 0.2, 0.3, 0.7, 0.8]))
    low, high = area_limits([rows_of(sample)], 1.0, 0.95)
    assert low < 0.8
    assert high == 1


def test_one_prediction_has_the_ratio_of_an_exact_frequency():
    y = np.repeat([1, 0], [7, 93])
    rows = rows_of(BinarySample(y=y, p=np.full(100, 0.05)))
    exact = stats.binomtest(7, 100).proportion_ci(method="exact")
    np.testing.assert_allclose(ratio_limits(rows, 0.95), np.array(exact) / 0.05, rtol=1e-3)
    np.testing.assert_allclose(gap_limits(rows, 0.95), np.array(exact) - 0.05, atol=1e-6)


def test_nothing_observed_is_a_ratio_from_zero():
    rows = rows_of(BinarySample(y=np.zeros(30, dtype=int), p=np.full(30, 0.1)))
    low, high = ratio_limits(rows, 0.95)
    assert low == pytest.approx(0, abs=1e-20)
    assert high == pytest.approx((1 - 0.025 ** (1 / 30)) / 0.1, rel=0.01)


@pytest.mark.parametrize("rule", ["brier", "log"])
def test_limits_of_parts_hold_the_parts_of_a_known_curve(rule):
    """Predictions 0.2 and 0.8 where 0.4 and 0.6 happen: parts by hand."""
    p = np.repeat([0.2, 0.8], 5000)
    y = np.concatenate([np.repeat([1, 0], [2000, 3000]), np.repeat([1, 0], [3000, 2000])])
    found = part_limits(rows_of(BinarySample(y=y, p=p)), get_rule(rule, caller=""), 0.95)
    entropy = {"brier": 0.24, "log": -0.4 * np.log(0.4) - 0.6 * np.log(0.6)}[rule]
    score = {"brier": 0.4 * 0.64 + 0.6 * 0.04, "log": -0.4 * np.log(0.2) - 0.6 * np.log(0.8)}[rule]
    base = {"brier": 0.25, "log": np.log(2)}[rule]
    for (low, high), truth in (
        (found.miscalibration, score - entropy),
        (found.discrimination, base - entropy),
    ):
        assert low < truth < high
        assert high - low < truth


def test_the_order_of_rows_and_equal_weights_do_not_matter():
    y, p = drawn(300)
    order = np.random.default_rng(2).permutation(300)
    rule = get_rule("log", caller="")
    one = part_limits(rows_of(BinarySample(y=y, p=p)), rule, 0.95)
    other = part_limits(rows_of(BinarySample(y=y[order], p=p[order])), rule, 0.95)
    np.testing.assert_allclose(np.ravel(one), np.ravel(other), atol=1e-9)
    weighted = BinarySample(y=y, p=p, weight=np.full(300, 3.0))
    np.testing.assert_allclose(np.ravel(part_limits(rows_of(weighted), rule, 0.95)), np.ravel(one))


def test_cells_of_many_rows_change_limits_by_little():
    y, p = drawn(6000)
    many, few = rows_of(BinarySample(y=y, p=p)), BinarySample(y=y[:4000], p=p[:4000])
    assert many.cell is not None
    assert rows_of(few).cell is None
    assert many.total.sum() == 6000
    np.testing.assert_allclose(many.mean(many.y), y.mean())
    np.testing.assert_allclose(many.mean(many.p), p.mean())


@pytest.mark.parametrize("estimator", [CumulativeError(), SmoothError()], ids=lambda e: e.name)
def test_errors_of_one_score_are_gaps_of_an_exact_frequency(estimator):
    """With one score the error is the gap: limits of Clopper and Pearson, or wider."""
    y, p = np.repeat([1, 0], [300, 700]), np.full(1000, 0.5)
    exact = stats.binomtest(300, 1000).proportion_ci(method="exact")
    found = bootstrap_interval(estimator, y, p)
    assert found.high == pytest.approx(0.5 - exact.low, rel=0.02)
    assert 0.1 < found.low <= 0.5 - exact.high


def test_the_largest_gap_is_that_of_one_bin():
    y = np.concatenate([np.repeat([1, 0], [30, 70]), np.repeat([1, 0], [90, 10])])
    p = np.repeat([0.1, 0.9], 100)
    exact = stats.binomtest(30, 100).proportion_ci(method="exact")
    wide = stats.binomtest(30, 100).proportion_ci(0.975, method="exact")  # two bins
    found = bootstrap_interval(BinnedError(norm="max"), y, p)
    assert found.high == pytest.approx(exact.high - 0.1)
    assert found.low == pytest.approx(wide.low - 0.1)
