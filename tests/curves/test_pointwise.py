"""Pointwise limits of an isotonic curve."""

import numpy as np
import pytest

from veridical import InvalidInputError, reliability_curve
from veridical._core.sample import pool_scores
from veridical.curves._curve.bands import pointwise_band, simultaneous_band


def curve(y, p, **options):
    return reliability_curve(y, p, method="isotonic", interval="pointwise", **options)


def test_one_score_has_the_limits_of_clopper_and_pearson():
    # 3 of 10: limits of the binomial proportion, from R's binom.test(3, 10).
    found = curve([1] * 3 + [0] * 7, [0.4] * 10)
    assert found.low[0] == pytest.approx(0.06673951, abs=1e-7)
    assert found.high[0] == pytest.approx(0.6524529, abs=1e-7)


def test_limits_are_bounds_of_a_window_by_brute_force():
    """Every lower limit is the Clopper-Pearson bound of some run of rows that ends at the score."""
    from scipy.stats import beta

    rng = np.random.default_rng(0)
    p = np.sort(rng.random(40).round(2))
    y = (rng.random(40) < p).astype(int)
    scores = pool_scores(p, y, None)
    low, high = pointwise_band(scores, 0.9)
    for i in range(len(low)):
        bounds = set()
        for j in range(i + 1):
            n, k = scores.weight[j : i + 1].sum(), scores.positive[j : i + 1].sum()
            bounds.add(0.0 if k == 0 else float(beta(k, n - k + 1).ppf(0.05)))
        assert min(abs(low[i] - bound) for bound in bounds) < 1e-9
        above = set()
        for j in range(i, len(low)):
            n, k = scores.weight[i : j + 1].sum(), scores.positive[i : j + 1].sum()
            above.add(1.0 if k == n else float(beta(k + 1, n - k).ppf(0.95)))
        assert min(abs(high[i] - bound) for bound in above) < 1e-9


def test_windows_do_not_look_at_outcomes():
    """The same window whatever the outcomes: with all ones the bound tells its size."""
    p = np.linspace(0.01, 0.99, 64)
    ones = pool_scores(p, np.ones(64, dtype=int), None)
    low, _ = pointwise_band(ones, 0.95)
    sizes = np.log(0.025) / np.log(low)  # (alpha / 2)^(1 / n)
    np.testing.assert_allclose(sizes, np.rint(sizes), atol=1e-6)
    assert sizes.min() >= 1
    assert sizes.max() <= 64


def test_narrower_than_a_band_for_all_points_at_once():
    rng = np.random.default_rng(1)
    p = rng.random(1000)
    scores = pool_scores(p, (rng.random(1000) < p).astype(int), None)
    one, every = pointwise_band(scores, 0.95), simultaneous_band(scores, 0.95)
    assert np.mean(one[1] - one[0]) < 0.8 * np.mean(every[1] - every[0])


def test_the_fit_lies_inside(binary):
    found = curve(binary.y, binary.p)
    assert (found.low <= found.observed + 1e-12).all()
    assert (found.observed <= found.high + 1e-12).all()
    assert found.interval == "pointwise"


def test_frequencies_are_rows(binary):
    weight = np.random.default_rng(2).integers(1, 4, len(binary.y))
    rows = np.repeat(np.arange(len(weight)), weight)
    weighted = curve(binary.y, binary.p, sample_weight=weight, weight_type="frequency")
    repeated = curve(binary.y[rows], binary.p[rows])
    np.testing.assert_allclose(weighted.low, repeated.low, atol=1e-9)
    np.testing.assert_allclose(weighted.high, repeated.high, atol=1e-9)


def test_importance_weights_and_other_methods_are_refused(binary):
    with pytest.raises(InvalidInputError, match="sample_weight"):
        curve(binary.y, binary.p, sample_weight=binary.w)
    with pytest.raises(InvalidInputError, match="interval"):
        reliability_curve(binary.y, binary.p, interval="pointwise")
