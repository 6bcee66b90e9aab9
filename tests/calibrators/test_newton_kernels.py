"""Inner loops of logistic fits and of weights on the simplex, against their definitions."""

import itertools

import numpy as np
import pytest

from veridical._core.numeric import simplex
from veridical.calibrators._logistic import rows as logistic
from veridical.calibrators._logistic.bounded_newton import bounded_step
from veridical.calibrators._logistic.spline_basis import Basis, SplineLoss


def best_of_all_sets(gradient, hessian, theta, bounded):
    """Minimiser of g d + d H d / 2 with theta + d >= 0 where bounded: every set of bounds tried."""
    best, least = None, np.inf
    places = np.flatnonzero(bounded)
    for size in range(len(places) + 1):
        for held in map(list, itertools.combinations(places, size)):
            free = [i for i in range(len(theta)) if i not in held]
            step = np.zeros(len(theta))
            step[held] = -theta[held]
            right = -gradient[free] - hessian[np.ix_(free, held)] @ step[held]
            step[free] = np.linalg.solve(hessian[np.ix_(free, free)], right)
            value = gradient @ step + step @ hessian @ step / 2
            if (theta + step)[bounded].min(initial=0.0) >= -1e-10 and value < least:
                best, least = step, value
    return best


@pytest.mark.parametrize("seed", range(40))
def test_a_step_within_bounds_is_the_best_of_all_sets_of_bounds(seed):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(1, 5))
    root = rng.standard_normal((k, k))
    hessian, gradient = root @ root.T + 0.1 * np.eye(k), rng.standard_normal(k)
    bounded = rng.random(k) < 0.6
    theta = np.where(rng.random(k) < 0.4, 0.0, rng.random(k))
    found = bounded_step(gradient, hessian, theta, bounded)
    expected = best_of_all_sets(gradient, hessian, theta, bounded)
    np.testing.assert_allclose(found, expected, atol=1e-8)


@pytest.mark.parametrize("block", [1 << 13, 7])
@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_loss_gradient_and_hessian_are_sums_over_rows(monkeypatch, block, constant, weighted):
    """In any order of asking, at one place and then at another that is changed where it is."""
    monkeypatch.setattr(logistic, "_ROWS", block)
    rng = np.random.default_rng(4)
    columns = (rng.standard_normal(30), rng.standard_normal(30))
    y = rng.integers(0, 2, 30)
    weight = rng.exponential(1, 30) if weighted else None
    loss = logistic.logistic_rows(columns, y, weight, 30.0, constant=constant)
    design = np.column_stack([np.ones(30)] * constant + list(columns))
    w = np.ones(30) if weight is None else weight
    theta = rng.standard_normal(design.shape[1])
    for _ in range(3):
        p = 1 / (1 + np.exp(-design @ theta))
        value = -(w * (y * np.log(p) + (1 - y) * np.log1p(-p))).sum()
        assert loss.value(theta) == pytest.approx(value, rel=1e-10)
        np.testing.assert_allclose(loss.gradient(theta), design.T @ (w * (p - y)), atol=1e-10)
        hessian = (design * (w * p * (1 - p))[:, None]).T @ design
        np.testing.assert_allclose(loss.hessian(theta), hessian, atol=1e-10)
        assert loss.value(theta) == pytest.approx(value, rel=1e-10)
        theta += 0.3  # the same array


def test_a_spline_knows_that_its_coefficients_have_changed():
    knots = np.array([-2.0, 0.0, 2.0])
    z = np.linspace(-2, 2, 20)
    basis = Basis.on(knots)
    loss = SplineLoss.of(basis, z, (z > 0.3).astype(float), None)
    theta = np.linspace(0.1, 0.5, len(loss.linear))
    for _ in range(2):
        fresh = SplineLoss.of(basis, z, (z > 0.3).astype(float), None)
        np.testing.assert_allclose(loss.gradient(theta), fresh.gradient(theta.copy()))
        np.testing.assert_allclose(loss.hessian(theta), fresh.hessian(theta.copy()))
        assert loss.value(theta) == pytest.approx(fresh.value(theta.copy()))
        theta *= 1.7


@pytest.mark.parametrize("seed", range(30))
def test_the_optimum_of_a_quadratic_model_has_no_better_neighbour(seed):
    """Inside or on a face: slopes are 0 where a weight is positive, and none is below 0."""
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 6))
    ratios = rng.exponential(1, (50, k)) + 0.05
    curvature, pull = ratios.T @ ratios / 50, ratios.mean(axis=0)
    share = simplex._model_optimum(pull, curvature)
    assert share.sum() == pytest.approx(1)
    assert share.min() >= 0
    # The model is of weights before they are scaled: the scale is where the slope along is zero.
    scale = float((2 * pull - 1) @ share / (share @ curvature @ share))
    slopes = curvature @ (scale * share) - (2 * pull - 1)
    assert slopes.min() > -1e-8
    assert np.abs(slopes[share > 0]).max() < 1e-8
