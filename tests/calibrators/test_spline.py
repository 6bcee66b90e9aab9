"""The spline against scipy's splines and optimiser, straight limits and known truths."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.interpolate import make_interp_spline
from scipy.optimize import minimize
from scipy.special import expit

from veridical import InvalidInputError
from veridical.calibrators._logistic.beta import BetaCalibrator
from veridical.calibrators._logistic.platt import PlattCalibrator
from veridical.calibrators._logistic.spline import SplineCalibrator
from veridical.calibrators._logistic.spline_basis import (
    Basis,
    place_knots,
    pool_rows,
    share_among_folds,
)
from veridical.exceptions import VeridicalWarning


def wave(z):
    """Rises and rests in turn."""
    return 0.9 * z + 0.55 * np.sin(1.6 * z)


def waves(n, seed=0):
    rng = np.random.default_rng(seed)
    z = rng.normal(0, 1.8, n)
    return z, (rng.random(n) < expit(wave(z))).astype(int)


def scipy_design(knots, z):
    """One column a slope: integral from the middle knot to z of the hat function at its knot."""
    hats = make_interp_spline(knots, np.eye(len(knots)), k=1).antiderivative()
    middle = hats(knots[len(knots) // 2])
    return np.column_stack([np.ones(len(z)), hats(z) - middle])


def penalty_value(theta, knots, smoothness, penalty):
    gaps, slopes = np.diff(knots), theta[1:]
    share = np.convolve(gaps, [0.5, 0.5]) / gaps.sum()
    rough = np.sum(np.diff(slopes) ** 2 / gaps)
    away = (theta[0] - knots[len(knots) // 2]) ** 2 + share @ (slopes - 1) ** 2
    return smoothness / 2 * rough + penalty / 2 * away


def slopes_of(fitted):
    """Coefficients from the pieces: value at the middle knot, slopes at all knots."""
    constant, linear, square = fitted.coefficients_
    last = linear[-1] + 2 * square[-1] * np.diff(fitted.knots_)[-1]
    return np.array([constant[len(fitted.knots_) // 2], *linear, last])


def kkt_residual(fitted, z, y, smoothness, penalty):
    """Projected gradient a row, with scipy's design and differences of the penalty."""
    theta, x = slopes_of(fitted), scipy_design(fitted.knots_, z)
    gradient = (expit(x @ theta) - y) @ x
    for j, unit in enumerate(np.eye(len(theta)) * 1e-3):  # exact for a quadratic
        ends = [
            penalty_value(t, fitted.knots_, smoothness, penalty)
            for t in (theta + unit, theta - unit)
        ]
        gradient[j] += (ends[0] - ends[1]) / 2e-3
    held = (np.arange(len(theta)) > 0) & (theta < 1e-9) & (gradient > 0)
    return np.linalg.norm(np.where(held, 0, gradient)) / len(z)


@pytest.mark.parametrize(
    ("smoothness", "penalty"), [(0.01, 1.0), (3.0, 1.0), (3.0, 0.0), (300.0, 9.0)]
)
def test_the_fit_is_the_bounded_optimum_scipy_finds(smoothness, penalty):
    z, y = waves(600)
    fitted = SplineCalibrator(n_knots=8, smoothness=smoothness, penalty=penalty, input="logit")
    fitted.fit(z, y)
    x, knots = scipy_design(fitted.knots_, z), fitted.knots_

    def objective(theta):
        eta = x @ theta
        loss = np.sum(np.logaddexp(0, eta) - y * eta)
        return loss + penalty_value(theta, knots, smoothness, penalty)

    start = np.array([knots[len(knots) // 2], *np.ones(len(knots))])
    bounds = [(None, None)] + [(0, None)] * len(knots)
    options = {"maxiter": 5000, "maxfun": 10**6, "ftol": 1e-14}
    found = minimize(objective, start, bounds=bounds, method="L-BFGS-B", options=options)
    assert objective(slopes_of(fitted)) <= found.fun + 1e-6
    assert slopes_of(fitted) == pytest.approx(found.x, abs=0.02)
    q = fitted.predict_proba(z)[:, 1]
    assert q == pytest.approx(expit(x @ slopes_of(fitted)), abs=1e-9)


@pytest.mark.parametrize("n", [2000, 30_000])
def test_the_certificate_holds_when_computed_by_hand(n):
    z, y = waves(n, seed=1)
    fitted = SplineCalibrator(smoothness=0.5, input="logit").fit(z, y)
    assert kkt_residual(fitted, z, y, 0.5, 1.0) < 1e-8
    assert fitted.gradient_norm_ < 1e-8


def test_bounds_that_bind_are_certified_too():
    z, _ = waves(20_000, seed=2)
    rng = np.random.default_rng(3)
    falling = expit(np.where(np.abs(z) < 1, -1.5 * z, z - 2.5 * np.sign(z)))
    y = (rng.random(len(z)) < falling).astype(int)
    with pytest.warns(VeridicalWarning, match="lower where 1 happened"):
        fitted = SplineCalibrator(smoothness=0.1, input="logit").fit(z, y)
    assert slopes_of(fitted)[1:].min() > -1e-12
    assert (slopes_of(fitted)[1:] < 1e-9).any()
    assert kkt_residual(fitted, z, y, 0.1, 1.0) < 1e-8


def test_the_smoothest_map_is_platt_scaling():
    z, y = waves(1500, seed=4)
    straight = SplineCalibrator(smoothness=1e9, penalty=None, input="logit").fit(z, y)
    platt = PlattCalibrator(smooth_targets=False, penalty=None, input="logit").fit(z, y)
    grid = np.linspace(-8, 8, 101)
    expected = platt.predict_proba(grid)
    assert straight.predict_proba(grid) == pytest.approx(expected, abs=1e-5)


def test_roughness_is_the_integral_of_the_squared_second_derivative():
    knots = np.array([-2.0, -0.5, 0.0, 3.0])
    basis, theta = Basis.on(knots), np.array([0.3, 1.0, 0.2, 2.0, 0.7])
    slope = make_interp_spline(knots, theta[1:], k=1)
    integral = sum(quad(lambda u: slope.derivative()(u) ** 2, a, b)[0] for a, b in pairwise(knots))
    assert theta @ basis.roughness @ theta == pytest.approx(integral)
    assert basis.roughness @ basis.identity == pytest.approx(np.zeros(5), abs=1e-15)


def test_the_identity_is_among_the_maps():
    knots = np.array([-2.0, -0.5, 0.0, 3.0])
    z = np.linspace(-2, 3, 11)
    assert scipy_design(knots, z) @ Basis.on(knots).identity == pytest.approx(z)


def test_knots_are_quantiles_and_keep_their_distance():
    z = np.arange(1.0, 12.0)
    assert place_knots(z, None, 3).tolist() == [1.0, 6.0, 11.0]
    counts = np.array([1.0, 1.0, 8.0, 1.0])
    repeated = place_knots(np.repeat([0.0, 1.0, 2.0, 3.0], counts.astype(int)), None, 5)
    assert repeated.tolist() == place_knots(np.arange(4.0), counts, 5).tolist() == [0.0, 2.0, 3.0]
    assert place_knots(np.array([0.0, 1e-9, 1.0]), None, 3).tolist() == [0.0, 1.0]
    assert place_knots(np.array([4.0, 4.0]), None, 20).tolist() == [3.5, 4.5]


@pytest.mark.parametrize("n", [300, 6000])
def test_folds_share_out_all_rows(n):
    z, y = waves(n, seed=5)
    basis = Basis.on(place_knots(z, None, 20))
    cells = pool_rows(basis, z, y, None)
    assert cells.exact == (n <= 4096)
    assert cells.mass.sum(axis=1).tolist() == [n - y.sum(), y.sum()]
    assert cells.mass.sum(axis=0) @ cells.z == pytest.approx(z.sum())
    for weight in (None, np.random.default_rng(6).random(n)):
        cells = pool_rows(basis, z, y, weight)
        folds = share_among_folds(cells, y, z, weight, 5, np.random.default_rng(7))
        assert folds.sum(axis=0) == pytest.approx(cells.mass)
        share = folds.sum(axis=(1, 2)) / cells.mass.sum()
        # A fold's share is 1/5 give or take 4 standard errors (weights vary by a factor 4/3).
        assert np.abs(share - 0.2).max() < 4 * np.sqrt(0.16 * 4 / 3 / n)


def test_folds_hold_different_noise():
    """Outcomes of one fold say nothing about another's: no fold is a copy of the rest."""
    z = np.zeros(1000)
    y = np.repeat([0, 1], 500)
    basis = Basis.on(place_knots(z, None, 5))
    cells = pool_rows(basis, z, y, None)
    drawn = [
        share_among_folds(cells, y, z, None, 5, np.random.default_rng(seed))[0, 1, 0]
        for seed in range(400)
    ]
    # Binomial(500, 1/5): variance 80, known to 4 * sqrt(2 / 400) = 28 % from 400 draws.
    assert np.var(drawn) == pytest.approx(80, rel=0.29)


def excess(fitted, z, truth):
    """Mean divergence of predictions from the truth, in nats."""
    q = fitted.predict_proba(z)[:, 1]
    return np.mean(truth * np.log(truth / q) + (1 - truth) * np.log((1 - truth) / (1 - q)))


def test_bends_are_found_that_straight_and_beta_maps_cannot_follow():
    z, y = waves(20_000, seed=8)
    z_test = np.random.default_rng(9).normal(0, 1.8, 20_000)
    truth = expit(wave(z_test))
    spline = excess(SplineCalibrator(input="logit").fit(z, y), z_test, truth)
    beta = excess(BetaCalibrator(input="logit").fit(z, y), z_test, truth)
    # Twenty parameters cost at most 20 / (2 n) = 0.0005 nats; penalised ones cost less.
    assert spline < 0.0005
    assert beta > 0.002


def test_straight_data_are_left_nearly_straight():
    rng = np.random.default_rng(10)
    z = rng.normal(0, 1.8, 20_000)
    truth = expit(0.7 * z + 0.3)
    y = (rng.random(20_000) < truth).astype(int)
    fitted = SplineCalibrator(input="logit").fit(z, y)
    assert excess(fitted, z, truth) < 0.0005
    assert fitted.smoothness_ >= 10


def test_outside_the_knots_the_map_is_a_straight_line():
    z, y = waves(2000, seed=11)
    fitted = SplineCalibrator(input="logit").fit(z, y)
    for end, step in ((z.min(), -1.0), (z.max(), 1.0)):
        q = fitted.predict_proba(end + step * np.arange(4))[:, 1]
        eta = np.log(q / (1 - q))
        assert np.diff(eta, 2) == pytest.approx([0, 0], abs=1e-6)


def test_the_seed_decides_the_folds():
    z, y = waves(400, seed=12)
    one, same = (SplineCalibrator(random_state=3, input="logit").fit(z, y) for _ in range(2))
    assert np.array_equal(one.coefficients_, same.coefficients_)


@pytest.mark.parametrize(
    ("option", "value"),
    [("n_knots", 1), ("n_knots", 2.5), ("n_folds", 1), ("smoothness", -1), ("smoothness", "gcv")],
)
def test_unknown_options(option, value):
    with pytest.raises(InvalidInputError, match=f"`{option}` must be"):
        SplineCalibrator(**{option: value}).fit([0.2, 0.7], [0, 1])
