"""The logistic solver against closed forms, finite differences and its own certificate."""

import math

import numpy as np
import pytest

from veridical._core.numeric.logistic import (
    Terms,
    binary_objective,
    escapes,
    looks_separated,
    multinomial_objective,
    newton_by_decrement,
    with_ridge,
)


def binary_case(n=60, seed=0):
    rng = np.random.default_rng(seed)
    columns = np.vstack([np.ones(n), rng.normal(size=(2, n))])
    return columns, rng.random(n), rng.random(n), rng.normal(size=n)


def multinomial_case(n=60, seed=0):
    rng = np.random.default_rng(seed)
    columns = np.vstack([np.ones(n), rng.normal(size=(2, n))])
    y = rng.integers(0, 3, n)
    return columns, y, rng.random(n) + 0.1, rng.normal(size=(n, 3))


def simple(x, y):
    """Objective of intercept and slope."""
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    return binary_objective(np.vstack([np.ones(len(x)), x]), y, 1 - y)


STRUCTURES = {
    "all free": Terms([0, 1, 2, 0, 1, 2], [1, 1, 1, 2, 2, 2], [0, 1, 2, 3, 4, 5]),
    "shared slope": Terms([0, 0, 1, 2], [1, 2, 1, 2], [0, 1, 2, 2]),
    "no reference": Terms([1, 2, 0], [0, 1, 2], [0, 0, 0]),
}


def naive_multinomial(columns, terms, y, weight, offset, at):
    total = 0.0
    for i in range(len(y)):
        logits = list(offset[i])
        for c, k, j in zip(terms.column, terms.label, terms.parameter, strict=True):
            logits[k] += at[j] * columns[c, i]
        total += weight[i] * (math.log(sum(math.exp(t) for t in logits)) - logits[y[i]])
    return total


def assert_derivatives(objective, at):
    _, gradient, hessian = objective(at)
    h = 1e-5
    for j in range(len(at)):
        step = np.zeros(len(at))
        step[j] = h
        ahead, behind = objective(at + step), objective(at - step)
        assert gradient[j] == pytest.approx((ahead[0] - behind[0]) / (2 * h), rel=1e-6, abs=1e-7)
        np.testing.assert_allclose(
            hessian[j], (ahead[1] - behind[1]) / (2 * h), rtol=1e-6, atol=1e-7
        )


def test_binary_value_is_the_log_likelihood():
    columns, positive, negative, offset = binary_case()
    at = np.array([0.3, -0.7, 0.2])
    p = 1 / (1 + np.exp(-(at @ columns + offset)))
    expected = -(positive @ np.log(p) + negative @ np.log(1 - p))
    value = binary_objective(columns, positive, negative, offset)(at)[0]
    assert value == pytest.approx(expected, rel=1e-13)


def test_binary_derivatives_are_those_of_the_value():
    columns, positive, negative, offset = binary_case()
    assert_derivatives(
        binary_objective(columns, positive, negative, offset), np.array([0.3, -0.7, 0.2])
    )


def test_rows_beyond_one_block_count():
    columns, positive, negative, offset = binary_case(n=10_000)
    at = np.array([0.3, -0.7, 0.2])
    whole = binary_objective(columns, positive, negative, offset)(at)
    halves = [
        binary_objective(columns[:, half], positive[half], negative[half], offset[half])(at)
        for half in (slice(0, 7000), slice(7000, None))
    ]
    for part in range(3):
        np.testing.assert_allclose(whole[part], halves[0][part] + halves[1][part], rtol=1e-12)


@pytest.mark.parametrize("structure", STRUCTURES)
def test_multinomial_value_and_derivatives(structure):
    terms = STRUCTURES[structure]
    columns, y, weight, offset = multinomial_case()
    at = np.linspace(-0.5, 0.8, max(terms.parameter) + 1)
    objective = multinomial_objective(columns, terms, y, weight, offset)
    expected = naive_multinomial(columns, terms, y, weight, offset, at)
    assert objective(at)[0] == pytest.approx(expected, rel=1e-12)
    assert_derivatives(objective, at)


def test_two_classes_are_the_binary_model():
    columns, _, _, offset = binary_case()
    y = np.random.default_rng(1).integers(0, 2, 60)
    two = multinomial_objective(
        columns,
        Terms([0, 1, 2], [1, 1, 1], [0, 1, 2]),
        y,
        np.ones(60),
        np.column_stack([np.zeros(60), offset]),
    )
    one = binary_objective(columns, y * 1.0, 1.0 - y, offset)
    at = np.array([0.1, 0.2, -0.3])
    for part in range(3):
        np.testing.assert_allclose(two(at)[part], one(at)[part], rtol=1e-12)


def test_two_distinct_points_have_a_closed_form():
    objective = simple([0.0] * 10 + [2.0] * 10, [1] * 3 + [0] * 7 + [1] * 8 + [0] * 2)
    fit = newton_by_decrement(objective, np.zeros(2))
    assert fit.converged
    assert fit.parameters[0] == pytest.approx(math.log(3 / 7), rel=1e-12)
    assert fit.parameters[1] == pytest.approx((math.log(4) - math.log(3 / 7)) / 2, rel=1e-12)
    entropy = 3 * math.log(0.3) + 7 * math.log(0.7) + 8 * math.log(0.8) + 2 * math.log(0.2)
    assert fit.value == pytest.approx(-entropy, rel=1e-14)


@pytest.mark.parametrize("start", [[0.0, 0.0], [40.0, -30.0], [-500.0, 3.0]])
def test_a_bad_start_leads_to_the_same_optimum(start):
    objective = simple([0.0] * 10 + [2.0] * 10, [1] * 3 + [0] * 7 + [1] * 8 + [0] * 2)
    fit = newton_by_decrement(objective, np.array(start))
    assert fit.converged
    assert fit.parameters[0] == pytest.approx(math.log(3 / 7), rel=1e-9)


def test_the_certificate_measures_distance_in_standard_errors():
    """For one free parameter the decrement is |gradient| / sqrt(information)."""
    y = np.array([1.0, 1.0, 0.0, 0.0, 0.0])
    objective = binary_objective(np.ones((1, 5)), y, 1 - y)
    _, gradient, hessian = objective(np.zeros(1))
    fit = newton_by_decrement(objective, np.zeros(1), tolerance=10.0)
    assert fit.n_steps == 0
    assert fit.decrement == pytest.approx(abs(gradient[0]) / math.sqrt(hessian[0, 0]))
    assert fit.decrement == pytest.approx(0.5 / math.sqrt(5 / 4))


def test_a_held_parameter_keeps_its_value_and_the_rest_is_optimal():
    columns, positive, negative, offset = binary_case()
    objective = binary_objective(columns, positive, negative, offset)
    fit = newton_by_decrement(objective, np.array([0.0, 0.7, 0.0]), held=1)
    assert fit.parameters[1] == 0.7
    assert np.abs(fit.gradient[[0, 2]]).max() < 1e-8
    other = binary_objective(columns[[0, 2]], positive, negative, offset + 0.7 * columns[1])
    np.testing.assert_allclose(
        fit.parameters[[0, 2]], newton_by_decrement(other, np.zeros(2)).parameters, rtol=1e-8
    )


def test_a_ridge_balances_the_gradient():
    columns, positive, negative, offset = binary_case()
    objective = binary_objective(columns, positive, negative, offset)
    strength, centre = np.array([0.0, 2.0, 5.0]), np.array([9.0, 1.0, -1.0])
    fit = newton_by_decrement(with_ridge(objective, strength, centre), np.zeros(3))
    np.testing.assert_allclose(
        objective(fit.parameters)[1], -strength * (fit.parameters - centre), atol=1e-8
    )
    assert_derivatives(with_ridge(objective, strength, centre), np.array([0.3, -0.7, 0.2]))
    stiff = newton_by_decrement(with_ridge(objective, np.full(3, 1e9), centre), np.zeros(3))
    np.testing.assert_allclose(stiff.parameters, centre, atol=1e-6)


def test_a_ridge_makes_separated_outcomes_finite():
    objective = with_ridge(simple([-1, 1], [0, 1]), np.array([0.0, 1.0]), np.zeros(2))
    fit = newton_by_decrement(objective, np.zeros(2))
    b = fit.parameters[1]
    assert fit.converged
    assert fit.parameters[0] == pytest.approx(0.0, abs=1e-9)
    assert b == pytest.approx(2 / (1 + math.exp(b)), rel=1e-9)  # where the derivative vanishes


def test_a_column_given_twice_changes_no_fitted_value():
    columns, positive, negative, offset = binary_case()
    single = newton_by_decrement(binary_objective(columns, positive, negative, offset), np.zeros(3))
    doubled = np.vstack([columns, columns[1]])
    fit = newton_by_decrement(binary_objective(doubled, positive, negative, offset), np.zeros(4))
    assert fit.converged
    assert fit.value == pytest.approx(single.value, rel=1e-12)
    assert fit.parameters[1] + fit.parameters[3] == pytest.approx(single.parameters[1], rel=1e-7)


def test_the_infimum_of_separated_outcomes_is_reached():
    fit = newton_by_decrement(simple([-3, -1, 1, 2], [0, 0, 1, 1]), np.array([0.0, 1.0]))
    assert 0 <= fit.value < 1e-10
    assert fit.parameters[1] > 10


def test_the_infimum_with_overlap_at_one_point_is_the_entropy_there():
    fit = newton_by_decrement(simple([-3, 1, 1, 1, 2], [0, 0, 1, 1, 1]), np.array([0.0, 1.0]))
    assert fit.value == pytest.approx(-(math.log(1 / 3) + 2 * math.log(2 / 3)), abs=1e-9)


@pytest.mark.parametrize(
    ("y", "up", "down"),
    [
        ([0, 0, 1, 1], [True, True], [True, False]),  # any threshold between -1 and 1
        ([1, 1, 0, 0], [True, True], [True, False]),  # the same, with the slope turned
        ([0, 1, 1, 1], [True, True], [False, False]),  # threshold between -3 and -1: a = b t
        ([0, 1, 0, 1], None, None),
    ],
)
def test_escapes_of_one_covariate_are_those_of_its_thresholds(y, up, down):
    x = np.array([-3.0, -1.0, 1.0, 2.0])
    sign = 2 * np.array(y) - 1
    found = escapes(np.column_stack([sign, sign * x]))
    if up is None:
        assert found is None
        return
    if y[0] == 1:  # the slope falls instead
        up, down = [up[0], down[1]], [down[0], up[1]]
    assert found[0].tolist() == up
    assert found[1].tolist() == down


def test_flat_curvature_raises_the_suspicion_of_separation():
    x, spread = np.array([-3.0, -1.0, 1.0, 2.0]), np.diag([4.0, 15.0])
    separated = newton_by_decrement(simple(x, [0, 0, 1, 1]), np.array([0.0, 1.0]))
    mixed = newton_by_decrement(simple(x, [0, 1, 0, 1]), np.array([0.0, 1.0]))
    assert looks_separated(separated, spread)
    assert not looks_separated(mixed, spread)
