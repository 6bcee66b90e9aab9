"""Pointwise limits of smooth curves."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq, minimize, minimize_scalar
from scipy.special import expit
from scipy.stats import norm

from veridical import InvalidInputError, reliability_curve
from veridical._core.sample import BinarySample
from veridical.curves._curve.spline import (
    _critical,
    _fit,
    _if_increasing,
    _log_odds,
    _nodes,
    _profile,
    _spline,
    spline_limits,
)


def rows(n, seed=0, slope=1.0):
    rng = np.random.default_rng(seed)
    p = rng.beta(0.5, 0.8, n)
    odds = np.log(p.clip(1e-9)) - np.log1p(-p.clip(max=1 - 1e-9))
    return (rng.random(n) < expit(slope * odds)).astype(int), p


def spline_line(knots, x):
    return np.stack([np.ones_like(x), x - knots.mean()], axis=1)


def curve(y, p, **options):
    return reliability_curve(y, p, labels=[0, 1], interval="pointwise", **options)


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_critical_values_hold_the_bias(level):
    """P(|Z + t| <= c) is the level (Armstrong & Kolesár 2020, equation 5), by bisection."""
    for t in (0.0, 0.3, 1.0, 2.5, 7.0, 20.0):
        expected = brentq(lambda c, t=t: norm.cdf(c - t) - norm.cdf(-c - t) - level, 0, t + 9)
        assert _critical(np.array([t]), level)[0] == pytest.approx(expected, abs=1e-6)


def test_variances_hold_the_largest_bias_of_all_curves_as_rough():
    """V = s^2 + B^2, B the largest bias over curves with a roughness of tau, found by search."""
    y, p = rows(200, seed=3)
    nodes = _nodes(BinarySample(y=y, p=p))
    places = _log_odds(np.array([0.02, 0.4, 0.9]))
    spline = _spline(nodes, places)
    columns, here = spline.columns(nodes.x), spline.columns(places)
    tau = 0.7
    fit = _fit(columns, nodes, tau, np.zeros(columns.shape[1]))
    frequency = expit(columns @ fit.parameters)
    weight = nodes.size * frequency * (1 - frequency)
    shares = np.linalg.solve(fit.hessian, here.T).T @ columns.T * weight  # of the working outcomes
    square = (shares**2 / weight).sum(axis=1)
    rng = np.random.default_rng(0)
    largest = np.zeros(len(places))
    for k in range(len(places)):
        slope = shares[k] @ columns - here[k]  # the bias is linear in the curve
        for trial in [slope[2:], *rng.normal(size=(200, len(slope) - 2))]:
            bent = np.concatenate([[0.0, 0.0], tau * trial / np.linalg.norm(trial)])
            largest[k] = max(largest[k], abs(slope @ bent))
        assert abs(slope[0]) < 1e-6  # a line has no bias
    np.testing.assert_allclose(fit.variance(here), square + largest**2, rtol=1e-6)


def test_bends_are_measured_by_the_integral_of_their_second_derivative():
    y, p = rows(80)
    nodes = _nodes(BinarySample(y=y, p=p))
    spline = _spline(nodes, nodes.x)
    x = np.linspace(spline.knots[0], spline.knots[-1], 20_001)
    step = x[1] - x[0]
    second = np.diff(spline.columns(x), 2, axis=0) / step**2
    np.testing.assert_allclose(second[:, :2], 0.0, atol=1e-4)
    found = second[:, 2:].T @ second[:, 2:] * step
    np.testing.assert_allclose(found, np.eye(len(found)), atol=0.02)


def test_limits_are_those_of_the_profile_likelihood():
    """Of a fit that is a line: the log-likelihood falls by z^2 / 2 there, by direct search."""
    y, p = rows(150, seed=2)
    nodes = _nodes(BinarySample(y=y, p=p))
    places = _log_odds(np.array([0.05, 0.6]))
    columns, here = (spline_line(nodes.x, x) for x in (nodes.x, places))
    fit = _fit(columns, nodes, 1.0, np.zeros(2))
    found = _profile(fit, nodes, here, np.full(2, 0.5 * 1.96**2), 1)

    def loss(intercept, slope, k):
        odds = intercept + slope * here[:, 1][k] + slope * (columns[:, 1] - here[k, 1])
        own = intercept + slope * here[k, 1]
        return (nodes.size @ np.logaddexp(0, odds) - nodes.hits @ odds
                + 0.5 * np.logaddexp(0, own) - 0.5 * own)  # fmt: skip

    for k in range(2):
        best = minimize(lambda b, k=k: loss(*b, k), [0.0, 1.0], tol=1e-10).fun
        through = minimize_scalar(
            lambda s, k=k: loss(found[k] - s * here[k, 1], s, k), bounds=(-5, 9), method="bounded"
        ).fun
        assert through - best == pytest.approx(0.5 * 1.96**2, abs=1e-3)


def test_limits_are_smooth():
    """Neighbouring cells differ by little more than a straight line between others would."""
    y, p = rows(400, seed=4)
    at = np.linspace(0.02, 0.98, 193)
    for limit in spline_limits(BinarySample(y=y, p=p), at, 0.95):
        assert np.abs(np.diff(limit, 2)).max() < 0.004


def test_places_that_tell_little_have_limits_of_places_that_tell_more():
    error = np.array([0.3, 1.0, 0.2, 0.6, 2.0])
    low, high = np.array([0.1, 0.0, 0.3, 0.2, 0.0]), np.array([0.2, 0.9, 0.5, 0.9, 1.0])
    found = _if_increasing(np.arange(5.0), error, low, high)
    np.testing.assert_allclose(found[0], [0.1, 0.1, 0.3, 0.2, 0.2])
    np.testing.assert_allclose(found[1], [0.2, 0.5, 0.5, 0.9, 1.0])


def test_one_prediction_has_limits_around_its_frequency():
    """All that is left then is a frequency: 12 of 40, whose exact limits are 0.166 and 0.465."""
    # R 4.3: binom.test(12, 40)$conf.int
    y, p = [1] * 12 + [0] * 28, [0.4] * 40
    found = curve(y, p, method="smooth").at(0.4)
    assert found.low[0] == pytest.approx(0.1656, abs=0.01)
    assert found.high[0] == pytest.approx(0.4653, abs=0.01)


def test_limits_of_a_line_are_about_those_of_logistic_regression():
    """With very many rows of a line next to nothing else is found."""
    y, p = rows(40_000, slope=0.6)
    at = np.array([0.2, 0.5, 0.8])
    low, high = spline_limits(BinarySample(y=y, p=p), at, 0.95)
    columns = np.stack([np.ones_like(p), np.log(p) - np.log1p(-p)])
    truth = expit(0.6 * columns[1])
    inverse = np.linalg.inv((columns * (truth * (1 - truth))) @ columns.T)
    here = np.stack([np.ones(3), np.log(at) - np.log1p(-at)])
    error = np.sqrt(np.einsum("ik,ij,jk->k", here, inverse, here))
    width = 2 * 1.96 * error * expit(0.6 * here[1]) * (1 - expit(0.6 * here[1]))
    assert (high - low > 0.95 * width).all()
    assert (high - low < 1.6 * width).all()


@pytest.mark.parametrize("method", ["smooth", "density"])
def test_limits_hold_the_curve_and_turn_with_the_classes(method):
    y, p = rows(300)
    found, other = curve(y, p, method=method), curve(1 - y, 1 - p, method=method)
    assert (found.low <= found.observed).all()
    assert (found.observed <= found.high).all()
    assert found.interval == "pointwise"
    np.testing.assert_allclose(found.low, 1 - other.high[::-1], atol=1e-6)
    np.testing.assert_allclose(found.high, 1 - other.low[::-1], atol=1e-6)


def test_frequencies_are_rows_and_a_constant_weight_is_none():
    y, p = rows(120)
    count = np.random.default_rng(1).integers(1, 4, 120)
    weighted = curve(y, p, method="smooth", sample_weight=count, weight_type="frequency")
    repeated = curve(np.repeat(y, count), np.repeat(p, count), method="smooth")
    np.testing.assert_allclose(weighted.low, repeated.low, atol=1e-9)
    np.testing.assert_allclose(weighted.high, repeated.high, atol=1e-9)
    plain, alike = (curve(y, p, method="smooth", sample_weight=w) for w in (None, np.full(120, 7)))
    np.testing.assert_allclose(plain.low, alike.low, atol=1e-9)


def test_groups_and_uneven_weights_widen_limits():
    y, p = rows(60)
    group = np.repeat(np.arange(60), 8)
    single = curve(y, p, method="smooth")
    eight = curve(np.repeat(y, 8), np.repeat(p, 8), method="smooth", groups=group)
    blind = curve(np.repeat(y, 8), np.repeat(p, 8), method="smooth")
    middle = [0.2, 0.5, 0.7]
    wide, told, narrow = (
        reading.high - reading.low for reading in (c.at(middle) for c in (single, eight, blind))
    )
    assert (told > 1.5 * narrow).all()
    # Eight copies tell what one row does; groups say so up to the estimate of the correlation.
    np.testing.assert_allclose(told, wide, rtol=0.4)
    uneven = np.where(np.arange(60) % 6 == 0, 10.0, 1.0)
    heavy = curve(y, p, method="smooth", sample_weight=uneven).at(middle)
    assert ((heavy.high - heavy.low) > wide).all()


@pytest.mark.parametrize(
    ("y", "p"),
    [([0, 0, 0], [0.1, 0.2, 0.3]), ([1], [0.5]), ([0] * 30, [0.0] * 30),
     ([0] * 15 + [1] * 15, [0.0] * 15 + [1.0] * 15), ([1] * 9, [0.2, 0.5, 0.9] * 3)],
    ids=["no events", "one row", "all at zero", "certain and right", "events only"],
)  # fmt: skip
def test_few_outcomes_leave_limits_finite_and_open(y, p):
    found = curve(y, p, method="smooth")
    assert np.isfinite(found.low).all()
    assert np.isfinite(found.high).all()
    assert (found.high - found.low > 0.05).all()
    assert (found.low >= 0).all()
    assert (found.high <= 1).all()


def test_near_ties_are_ties():
    """A billionth between predictions does not bend the curve."""
    value, size, hits = [0.101, 0.401, 0.501, 0.901], [60, 40, 80, 50], [10, 20, 30, 40]
    y = np.concatenate([np.arange(n) < k for n, k in zip(size, hits, strict=True)]).astype(int)
    p = np.repeat(value, size)
    tied, near = (curve(y, q, method="smooth") for q in (p, p + np.arange(230) * 1e-9))
    np.testing.assert_allclose(tied.low, near.low, atol=1e-4)


def test_bins_are_refused_and_sent_elsewhere():
    with pytest.raises(InvalidInputError, match="isotonic"):
        curve(*rows(40), method="bins")
