"""Intervals of a frequency against SciPy's binomial test."""

from __future__ import annotations

import numpy as np
import oracles
import pytest
from scipy.stats import binomtest

from veridical import InvalidInputError, reliability_curve
from veridical.curves import binomial_interval

SCIPY = {"wilson": "wilson", "clopper-pearson": "exact"}


@pytest.mark.parametrize("method", ["wilson", "clopper-pearson"])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
def test_limits_are_those_of_scipy(method, level):
    for n in (1, 2, 7, 50, 1000):
        hits = np.unique(np.linspace(0, n, 9).astype(int))
        low, high = binomial_interval(
            hits / n, np.full(len(hits), float(n)), method=method, confidence_level=level
        )
        for k, a, b in zip(hits.tolist(), low, high, strict=True):
            expected = binomtest(k, n).proportion_ci(level, SCIPY[method])
            assert a == pytest.approx(expected.low, abs=1e-9)
            assert b == pytest.approx(expected.high, abs=1e-9)


@pytest.mark.parametrize("method", ["wilson", "clopper-pearson"])
def test_limits_of_a_curve_are_those_of_its_counts(method):
    y, p, _ = oracles.random_rows("plain", 200)
    curve = reliability_curve(y, p, n_bins=6, interval=method, confidence_level=0.9)
    for i in range(len(curve)):
        n = int(curve.count[i])
        expected = binomtest(round(curve.observed[i] * n), n).proportion_ci(0.9, SCIPY[method])
        assert curve.low[i] == pytest.approx(expected.low, abs=1e-9)
        assert curve.high[i] == pytest.approx(expected.high, abs=1e-9)


@pytest.mark.parametrize("method", ["wilson", "clopper-pearson"])
def test_frequencies_of_zero_and_one_reach_the_end_exactly(method):
    low, high = binomial_interval(
        np.array([0.0, 1.0]), np.array([17.0, 17.0]), method=method, confidence_level=0.95
    )
    assert low[0] == 0.0
    assert high[1] == 1.0
    assert 0 < high[0] < 0.3
    assert 0.7 < low[1] < 1


@pytest.mark.parametrize("method", ["wilson", "clopper-pearson"])
def test_importance_weights_count_by_their_effective_size(method):
    y, p = np.array([0, 1, 1, 0, 1, 1]), np.full(6, 0.5)
    w = np.array([1.0, 2.0, 0.5, 3.0, 1.0, 0.25])
    curve = reliability_curve(y, p, n_bins=1, sample_weight=w, interval=method)
    n = w.sum() ** 2 / (w**2).sum()
    low, high = binomial_interval(
        np.array([w[y == 1].sum() / w.sum()]), np.array([n]), method=method, confidence_level=0.95
    )
    np.testing.assert_allclose([curve.low, curve.high], [low, high])
    scaled = reliability_curve(y, p, n_bins=1, sample_weight=100 * w, interval=method)
    np.testing.assert_allclose(scaled.low, curve.low)


@pytest.mark.parametrize("method", ["wilson", "clopper-pearson"])
def test_frequency_weights_count_as_repetition(method):
    y, p, _ = oracles.random_rows("tied", 60)
    w = np.random.default_rng(0).integers(0, 5, 60)
    weighted = reliability_curve(
        y, p, n_bins=4, sample_weight=w, weight_type="frequency", interval=method
    )
    repeated = reliability_curve(np.repeat(y, w), np.repeat(p, w), n_bins=4, interval=method)
    np.testing.assert_allclose(weighted.low, repeated.low)
    np.testing.assert_allclose(weighted.high, repeated.high)


def test_clopper_pearson_is_never_narrower_than_its_definition():
    """At its limits the tail probabilities are exactly half of what is allowed."""
    from scipy.stats import binom

    low, high = binomial_interval(
        np.array([0.3]), np.array([20.0]), method="clopper-pearson", confidence_level=0.9
    )
    assert binom.sf(5, 20, low[0]) == pytest.approx(0.05)
    assert binom.cdf(6, 20, high[0]) == pytest.approx(0.05)


def test_unknown_method_is_answered_with_the_nearest():
    with pytest.raises(InvalidInputError, match="did you mean 'clopper-pearson'"):
        binomial_interval(np.array([0.5]), np.array([4.0]), method="clopper", confidence_level=0.95)
