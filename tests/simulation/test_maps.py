"""Simplex maps: what each does to one row, and what is promised of all rows."""

from __future__ import annotations

import numpy as np
import pytest

from veridical.exceptions import InvalidInputError
from veridical.simulation._fakes.maps import (
    CallableMap,
    ClassPowerMap,
    IdentityMap,
    PowerMap,
    TemperatureMap,
    TopComponentMap,
)

ROWS = np.random.default_rng(5).dirichlet([0.3, 1.0, 2.0], size=500)
EVERY_MAP = [
    IdentityMap(),
    PowerMap(3.0),
    TemperatureMap(2.0),
    ClassPowerMap([0.5, 1.0, 2.0]),
    TopComponentMap(np.sqrt),
    CallableMap(lambda p: 0.9 * p + 0.1 / 3),
]


@pytest.mark.parametrize("simplex_map", EVERY_MAP, ids=lambda m: type(m).__name__)
def test_answers_are_probabilities(simplex_map):
    c = simplex_map(ROWS)
    assert c.shape == ROWS.shape
    assert (c >= 0).all()
    np.testing.assert_allclose(c.sum(axis=1), 1.0, atol=1e-12)


@pytest.mark.parametrize("simplex_map", EVERY_MAP, ids=lambda m: type(m).__name__)
def test_promised_argmax_is_kept(simplex_map):
    if simplex_map.preserves_argmax:
        np.testing.assert_array_equal(simplex_map(ROWS).argmax(axis=1), ROWS.argmax(axis=1))


def test_powers_by_hand():
    row = [[0.5, 0.3, 0.2]]
    cubes = np.array([0.125, 0.027, 0.008])
    np.testing.assert_allclose(PowerMap(3)(row)[0], cubes / 0.16)
    np.testing.assert_allclose(TemperatureMap(1 / 3)(row)[0], cubes / 0.16)
    np.testing.assert_allclose(
        ClassPowerMap([1, 2, 3])(row)[0], np.array([0.5, 0.09, 0.008]) / 0.598
    )


def test_temperature_divides_logits():
    logits = np.log(ROWS)
    halves = np.exp(logits / 2)
    np.testing.assert_allclose(
        TemperatureMap(2.0)(ROWS), halves / halves.sum(axis=1, keepdims=True), rtol=1e-12
    )
    assert TemperatureMap(2.0).temperature == 2.0


@pytest.mark.parametrize(("exponent", "over"), [(1.7, True), (0.4, False)])
def test_a_power_is_over_or_under_confident_on_every_row(exponent, over):
    gap = PowerMap(exponent)(ROWS).max(axis=1) - ROWS.max(axis=1)
    assert (gap >= 0).all() if over else (gap <= 0).all()


def test_class_powers_can_move_the_argmax():
    assert ClassPowerMap([1.0, 3.0])([[0.4, 0.6]]).argmax() == 0  # 0.4 against 0.216
    assert not ClassPowerMap([1.0, 3.0]).preserves_argmax
    assert ClassPowerMap([2.0, 2.0]).preserves_argmax


def test_top_component_may_be_overtaken_and_does_not_promise_otherwise():
    # 0.4^2 = 0.16 leaves 0.84 for 0.35 : 0.25.
    square = TopComponentMap(np.square)
    np.testing.assert_allclose(square([[0.4, 0.35, 0.25]])[0], [0.16, 0.49, 0.35])
    assert not square.preserves_argmax


def test_top_component_of_a_certain_row_shares_the_rest_alike():
    halve = TopComponentMap(lambda z: z / 2)
    np.testing.assert_allclose(halve([[0.0, 1.0, 0.0]])[0], [0.25, 0.5, 0.25])


def test_zeros_stay_zeros_under_powers():
    np.testing.assert_array_equal(PowerMap(0.1)([[1.0, 0.0]]), [[1.0, 0.0]])


def test_powers_of_logarithms_survive_underflow():
    # p = (1, 1e-400): the fourhundredth root is 0.1, which p itself cannot tell.
    c = PowerMap(1 / 400).from_log(np.array([[0.0, -400 * np.log(10)]]))
    np.testing.assert_allclose(c[0], np.array([1.0, 0.1]) / 1.1)


@pytest.mark.parametrize(
    ("make", "param"),
    [
        (lambda: PowerMap(0.0), "exponent"),
        (lambda: PowerMap("3"), "exponent"),
        (lambda: TemperatureMap(-1.0), "temperature"),
        (lambda: TemperatureMap(0.0), "temperature"),
        (lambda: ClassPowerMap([1.0, np.nan]), "exponents"),
        (lambda: ClassPowerMap([1.0]), "exponents"),
        (lambda: ClassPowerMap([1.0, 2.0])(ROWS), "exponents"),
        (lambda: PowerMap(2.0)([0.2, 0.8]), "p"),
        (lambda: PowerMap(2.0)([[0.2, 0.9]]), "p"),
        (lambda: TopComponentMap(lambda z: 2 * z)(ROWS), "function"),
        (lambda: CallableMap(lambda p: p[:, :2])(ROWS), "function"),
        (lambda: CallableMap(lambda p: 2 * p)(ROWS), "function"),
    ],
)
def test_bad_input_is_named(make, param):
    with pytest.raises(InvalidInputError, match=f"`{param}` must be"):
        make()
