"""Isotonic fits, roots and non-negative least squares, against SciPy's and by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import brentq, isotonic_regression, nnls

from veridical._core.numeric import pava, simplex
from veridical._core.numeric.roots import root_between
from veridical._core.sample import pool_scores


def test_blocks_by_hand():
    # 1, 0 | 1 | 1, 0, 0: the last four are pooled at 2/4 after two rounds, above 1/2 of the first.
    blocks = pava.isotonic_blocks(np.ones(6), np.array([0.0, 1, 0, 1, 1, 0]))
    assert blocks.start.tolist() == [0, 1, 3]
    assert blocks.frequency.tolist() == [0, 1 / 2, 2 / 3]


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(1, 4)), min_size=1, max_size=60),
)
def test_isotonic_fits_are_those_of_scipy(rows):
    positive, weight = np.array(rows, dtype=np.float64).T
    weight = positive + weight
    blocks = pava.isotonic_blocks(weight, positive)
    lengths = np.diff(blocks.start, append=len(weight))
    theirs = isotonic_regression(positive / weight, weights=weight)
    np.testing.assert_allclose(np.repeat(blocks.frequency, lengths), theirs.x, atol=1e-14)
    assert (np.diff(blocks.frequency) > 0).all()
    assert blocks.weight.sum() == weight.sum()


def test_what_takes_many_rounds_is_left_to_scipy():
    # A heavy zero at the end pulls down one score a round.
    n = 400
    positive, weight = np.append(np.linspace(0.01, 0.99, n), 0.0), np.append(np.ones(n), 20.0)
    blocks = pava.isotonic_blocks(weight, positive)
    theirs = isotonic_regression(positive / weight, weights=weight)
    assert len(weight) - len(blocks.start) > pava._MOST_ROUNDS
    np.testing.assert_array_equal(blocks.start, theirs.blocks[:-1])
    np.testing.assert_allclose(blocks.frequency, theirs.x[blocks.start], rtol=1e-14)


def test_a_fit_has_a_value_at_every_score():
    p, y = np.array([0.1, 0.1, 0.4, 0.6, 0.9]), np.array([0, 1, 1, 0, 1])
    fit = pava.isotonic_fit(pool_scores(p, y, None))
    assert fit.at(p).tolist() == [0.5, 0.5, 0.5, 0.5, 1.0]


FUNCTIONS = {
    "cubic": (lambda x: x**3 - 2 * x - 5, 2.0, 3.0),
    "steep": (lambda x: math.tanh(50 * (x - 0.3)), -1.0, 2.0),
    "flat": (lambda x: math.atan(1e-3 * (x - 0.7)), 0.0, 1.0),
    "step": (lambda x: 1.0 if x > 1 / 3 else -1.0, 0.0, 1.0),
    "end": (lambda x: x, 0.0, 1.0),
    "falling": (lambda x: math.exp(-x) - 0.2, 5.0, 0.0),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("tolerance", [{}, {"xtol": 1e-4, "rtol": 1e-6}, {"xtol": 1e-15}])
def test_roots_are_those_of_scipy_to_the_bit(name, tolerance):
    assert root_between(*FUNCTIONS[name], **tolerance) == brentq(*FUNCTIONS[name], **tolerance)


@settings(max_examples=300, deadline=None)
@given(st.floats(-3, 3), st.floats(-3, 3), st.floats(-3, 3), st.floats(0.1, 5))
def test_roots_of_cubics_are_those_of_scipy_to_the_bit(a, b, c, width):
    def cubic(x: float) -> float:
        return (x - a) * ((x - b) ** 2 + 0.1) + 1e-3 * c

    low, high = a - width, a + 2 * width
    if cubic(low) * cubic(high) < 0:
        assert root_between(cubic, low, high) == brentq(cubic, low, high)


def test_ends_of_one_sign_are_refused():
    with pytest.raises(ValueError, match=r"no change of sign: 1\.0 at 0\.0"):
        root_between(lambda x: 1.0 + x, 0.0, 1.0)


def test_a_search_that_does_not_end_is_an_error():
    with pytest.raises(RuntimeError, match="no root"):
        root_between(lambda x: 1.0 if x > 1e-300 else -1.0, 0.0, 1e300, xtol=1e-310, rtol=0.0)


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 16), st.integers(0, 10**6), st.booleans())
def test_nonnegative_least_squares_are_those_of_scipy(k, seed, positive):
    rng = np.random.default_rng(seed)
    columns, target = rng.normal(size=(k, k)) + np.eye(k), rng.normal(size=k)
    if positive:
        columns, target = np.abs(columns), np.abs(target)
    found, (theirs, residual) = simplex._nonnegative(columns, target), nnls(columns, target)
    assert (found >= 0).all()
    assert np.linalg.norm(columns @ found - target) == pytest.approx(residual, abs=1e-9)
    if np.linalg.cond(columns) < 1e4:
        np.testing.assert_allclose(found, theirs, atol=1e-9)


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 6), st.integers(0, 10**6))
def test_nonnegative_least_squares_of_dependent_columns_and_zeros(k, seed):
    rng = np.random.default_rng(seed)
    columns, target = rng.integers(-2, 3, (k, k)) * 1.0, rng.integers(-2, 3, k) * 1.0
    found, (_, residual) = simplex._nonnegative(columns, target), nnls(columns, target)
    assert (found >= 0).all()
    assert np.linalg.norm(columns @ found - target) == pytest.approx(residual, abs=1e-7)


def test_many_parts_are_left_to_scipy():
    rng = np.random.default_rng(0)
    columns, target = rng.random((30, 30)) + np.eye(30), rng.random(30)
    np.testing.assert_array_equal(simplex._nonnegative(columns, target), nnls(columns, target)[0])
