"""The solver of binary maps: steps against all faces of the bounds, derivatives by differences."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.special import expit

from veridical.calibrators._logistic.bounded_newton import (
    Ridge,
    better_start,
    bounded_newton,
    bounded_step,
)
from veridical.calibrators._logistic.rows import logistic_rows
from veridical.calibrators._logistic.spline_basis import Basis, SplineLoss


def best_on_all_faces(g, h, theta, bounded):
    """Least value of the quadratic model among the minima of every face that are feasible."""
    best, value = None, np.inf
    for held in product([False, True], repeat=len(g)):
        held = np.array(held)
        if (held & ~bounded).any():
            continue
        d, free = np.where(held, -theta, 0.0), ~held
        d[free] = np.linalg.solve(h[np.ix_(free, free)], -g[free] - h[np.ix_(free, held)] @ d[held])
        model = g @ d + d @ h @ d / 2
        if ((theta + d)[bounded] >= -1e-12).all() and model < value:
            best, value = d, model
    return best


@pytest.mark.parametrize("seed", range(40))
def test_steps_are_the_best_within_the_bounds(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 8))
    root = rng.normal(size=(n, n + 2))
    h, g = root @ root.T, rng.normal(size=n) * 5
    bounded = rng.random(n) < 0.7
    theta = np.where(bounded, np.maximum(rng.normal(size=n), 0), rng.normal(size=n))
    expected = best_on_all_faces(g, h, theta, bounded)
    assert bounded_step(g, h, theta, bounded) == pytest.approx(expected, abs=1e-7)


def row_loss(rng, n=200):
    columns = (rng.normal(size=n), rng.normal(size=n) ** 2)
    return logistic_rows(columns, rng.integers(0, 2, n), rng.random(n), 100.0), 3


def spline_loss(rng, n=200):
    basis, weight = Basis.on(np.array([-3.0, -1.0, 0.5, 3.0])), rng.random(n)
    z = rng.uniform(-3, 3, n)
    return SplineLoss.of(basis, z, weight * rng.integers(0, 2, n), weight), 5


@pytest.mark.parametrize("build", [row_loss, spline_loss])
def test_derivatives_are_limits_of_differences(build):
    rng = np.random.default_rng(0)
    loss, n = build(rng)
    theta = rng.normal(size=n)
    for unit in np.eye(n):
        up, down = theta + 1e-5 * unit, theta - 1e-5 * unit
        slope = (loss.value(up) - loss.value(down)) / 2e-5
        assert loss.gradient(theta) @ unit == pytest.approx(slope, abs=1e-5)
        bend = (loss.gradient(up) - loss.gradient(down)) / 2e-5
        assert loss.hessian(theta) @ unit == pytest.approx(bend, abs=1e-5)
    assert np.linalg.eigvalsh(loss.bound - loss.hessian(theta)).min() > 0


@pytest.mark.parametrize("build", [row_loss, spline_loss])
def test_no_predictor_moves_further_than_said(build):
    rng = np.random.default_rng(1)
    loss, n = build(rng)
    step = rng.normal(size=n)
    if build is row_loss:
        moves = np.column_stack([np.ones(200), *loss.columns]) @ step
    else:
        constant, linear, square = loss.basis.terms(step)[:, loss.piece]
        moves = constant + loss.t * (linear + loss.t * square)
    assert np.abs(moves).max() <= loss.largest_move(step)


@pytest.mark.parametrize("start", [(30.0, 8.0), (-40.0, -9.0), (0.0, 300.0)])
def test_starts_at_which_newton_overshoots(start):
    rng = np.random.default_rng(2)
    z = rng.normal(0, 3, 500)
    y = (rng.random(500) < expit(0.5 * z)).astype(int)
    loss, free = logistic_rows((z,), y, None, 500.0), np.zeros(2, dtype=bool)
    none = Ridge(np.zeros((2, 2)), np.zeros(2))
    near = bounded_newton(loss, none, np.array([0.0, 0.5]), free)
    chosen = better_start(loss, none, np.array(start))
    far = bounded_newton(loss, none, chosen, free)
    assert far.theta == pytest.approx(near.theta, abs=1e-7)
    assert max(near.n_iter, far.n_iter) < 12
    assert better_start(loss, none, near.theta) is near.theta
