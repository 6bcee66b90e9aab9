"""Decision processes against loops, enumeration and numerical optimisation."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from veridical.exceptions import InvalidInputError
from veridical.planning._value.processes import (
    AllocationProcess,
    CallableProcess,
    CostProcess,
    DecisionProcess,
    KellyProcess,
    ThresholdProcess,
    as_process,
)


@pytest.fixture
def rows():
    rng = np.random.default_rng(5)
    p = rng.dirichlet([0.6, 0.8, 1.0], 40)
    return p, rng.integers(0, 3, 40), rng.dirichlet([1.0, 1.0, 1.0], 40)


def test_costs_of_the_best_action_row_by_row(rows):
    p, y, truth = rows
    costs = np.array([[0.0, 2.0, 5.0], [3.0, 0.0, 1.0], [9.0, 4.0, 0.0]])
    process = CostProcess(costs, abstain_cost=1.2)
    table = np.column_stack([costs, np.full(3, 1.2)])
    best = [min(range(4), key=lambda a, q=q: sum(q[k] * table[k, a] for k in range(3))) for q in p]
    assert {3} < set(best)  # some abstain, some do not
    came = [-table[k, a] for k, a in zip(y, best, strict=True)]
    np.testing.assert_allclose(process.value(y, p), came)
    mean = [-sum(t[k] * table[k, a] for k in range(3)) for t, a in zip(truth, best, strict=True)]
    np.testing.assert_allclose(process.value(y, p, truth=truth), mean)


def test_two_costs_are_of_a_false_positive_and_a_false_negative():
    p = np.array([[0.9, 0.1], [0.8, 0.2]])
    payoffs = CostProcess((1, 5)).payoffs(p)  # alarm above 1/6
    np.testing.assert_array_equal(payoffs, [[0, -5], [-1, 0]])


def test_without_a_model_the_best_constant_action_is_taken():
    y = np.array([0, 1, 1, 0])
    values = CostProcess((1, 5)).without_model(y, np.array([0.5, 0.5]))
    np.testing.assert_array_equal(values, [-1, 0, 0, -1])


def test_a_threshold_is_reached_at_equality():
    process = ThresholdProcess(0.25, cost_fp=2, cost_fn=3)
    p1 = np.array([0.25, 0.24])
    payoffs = process.payoffs(np.column_stack([1 - p1, p1]))
    np.testing.assert_array_equal(payoffs, [[-2, 0], [0, -3]])


def test_allocation_against_enumeration():
    rng = np.random.default_rng(8)
    p = rng.dirichlet([1, 1, 1], 6)
    benefits = np.array([[0.0, 1, 2], [0, 3, 9], [0, -1, 4]])
    costs = np.array([0, 1, 3])
    process = AllocationProcess(benefits, costs, budget=1.0)
    expected = p @ benefits
    best = max(
        (c for c in product(range(3), repeat=6) if costs[list(c)].sum() <= 6),
        key=lambda c: expected[np.arange(6), list(c)].sum(),
    )
    np.testing.assert_array_equal(process.payoffs(p), benefits.T[list(best)])


def test_more_budget_is_never_worse_if_probabilities_are_true():
    p1 = np.random.default_rng(0).random(50)
    p = np.column_stack([1 - p1, p1])
    worth = [
        AllocationProcess([[0, -1], [0, 6]], [0, 1], budget=b).value(None, p, truth=p).sum()
        for b in (0.0, 0.1, 0.3, 0.7, 1.0)
    ]
    assert worth[0] == 0
    assert np.all(np.diff(worth) >= 0)
    treated = p1 > 1 / 7  # all that profit: 6 p > 1 - p
    assert worth[-1] == pytest.approx((7 * p1[treated] - 1).sum())


def test_rows_that_cannot_be_told_apart_share_a_budget():
    process = AllocationProcess([[0, 0], [0, 10]], [0, 1], budget=0.25)
    values = process.without_model(np.array([1, 0, 1, 0]), np.array([0.5, 0.5]))
    np.testing.assert_allclose(values, [2.5, 0, 2.5, 0])  # each is treated once in four times


def test_kelly_one_bet():
    odds = 2.5  # net 1.5
    p1 = np.array([0.3, 0.5, 0.9])
    stake = KellyProcess([0, odds]).stakes(np.column_stack([1 - p1, p1]))
    textbook = np.maximum(0, (p1 * (odds - 1) - (1 - p1)) / (odds - 1))  # (bp - q) / b
    np.testing.assert_allclose(stake[:, 1], textbook, atol=1e-15)
    np.testing.assert_array_equal(stake[:, 0], 0)


@pytest.mark.parametrize("odds", [[2.4, 3.1, 3.3], [1.5, 4.0, 6.0], [1.2, 0.0, 9.0]])
def test_kelly_against_numerical_optimisation(odds):
    from scipy.optimize import minimize

    odds = np.array(odds)
    for p in np.random.default_rng(3).dirichlet([1, 1, 1], 6):
        found = KellyProcess(odds).payoffs(p[None])[0] @ p
        best = minimize(
            lambda f, p=p: -p @ np.log(np.maximum(1 - f.sum() + f * odds, 1e-12)),
            np.full(3, 0.1), bounds=[(0, 1)] * 3, method="SLSQP",
            constraints={"type": "ineq", "fun": lambda f: 1 - 1e-9 - f.sum()},
            options={"ftol": 1e-13, "maxiter": 500},
        )  # fmt: skip
        assert found == pytest.approx(-best.fun, abs=1e-6)


def test_kelly_at_fair_odds_grows_by_the_divergence(rows):
    p, _, truth = rows
    q = np.array([0.5, 0.3, 0.2])
    growth = KellyProcess(1 / q).value(None, p, truth=truth)
    np.testing.assert_allclose(growth, (truth * np.log(p / q)).sum(axis=1))
    own = KellyProcess(1 / q).value(None, truth, truth=truth)
    divergence = (truth * np.log(truth / q)).sum(axis=1)
    np.testing.assert_allclose(own, divergence)


def test_kelly_ruin_and_how_a_fraction_avoids_it():
    sure = np.array([[0.0, 1.0]])
    assert KellyProcess([2, 2]).payoffs(sure).tolist() == [[-np.inf, np.log(2)]]
    np.testing.assert_allclose(KellyProcess([2, 2], 0.5).payoffs(sure), np.log([[0.5, 1.5]]))
    # What cannot happen is no ruin.
    assert KellyProcess([2, 2]).value(None, sure, truth=sure).tolist() == [np.log(2)]


def test_kelly_stakes_everything_at_odds_better_than_fair():
    p = np.array([[0.3, 0.7]])
    np.testing.assert_allclose(KellyProcess([2.2, 2.2]).stakes(p), p)


def test_functions_become_processes():
    process = as_process(lambda y, p: y * p[:, 1], caller="f")
    assert isinstance(process, CallableProcess)
    p = np.array([[0.5, 0.5], [0.2, 0.8]])
    assert process.value(np.array([0, 1]), p).tolist() == [0, 0.8]
    assert process.payoffs(p).tolist() == [[0, 0.5], [0, 0.8]]
    same = CostProcess((1, 1))
    assert as_process(same, caller="f") is same
    assert isinstance(same, DecisionProcess)


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: CostProcess([1, 2, 3]), "shape"),
        (lambda: CostProcess([[0, np.inf], [1, 0]]), "finite"),
        (lambda: CostProcess((1, 1), abstain_cost="x"), "abstain_cost"),
        (lambda: ThresholdProcess(1.5), r"in \[0, 1\]"),
        (lambda: ThresholdProcess(0.5, cost_fp=np.nan), "cost_fp"),
        (lambda: AllocationProcess([1, 2], [0, 1], 1), "benefits"),
        (lambda: AllocationProcess(np.eye(2), [0, 1, 2], 1), "action_costs"),
        (lambda: AllocationProcess(np.eye(2), [1, 2], 0.5), "cheapest option"),
        (lambda: KellyProcess([2, -1]), "odds"),
        (lambda: KellyProcess([2, 2], 0), "fraction"),
        (lambda: CostProcess((1, 1)).payoffs(np.full((1, 3), 1 / 3)), "3 classes"),
        (lambda: as_process(3, caller="f"), "a decision process"),
        (lambda: as_process(CostProcess, caller="f"), "a decision process"),
        (lambda: CallableProcess(lambda y, p: 1).value(np.zeros(2, int), np.eye(2)), "2 values"),
    ],
)
def test_refusals(make, match):
    with pytest.raises(InvalidInputError, match=match):
        make()


@pytest.mark.parametrize(
    ("process", "words"),
    [
        (CostProcess((1, 1), 0.2), "2 classes x 3 actions, the last to abstain"),
        (ThresholdProcess(0.3, 1, 4), "acts from 0.3 on, costs 1 : 4"),
        (AllocationProcess(np.eye(2), [0, 1], 0.5), "2 classes x 2 options within 0.5 a row"),
        (KellyProcess([2, 3], 0.5), "odds 2, 3, fraction 0.5"),
    ],
)
def test_definitions(process, words):
    assert words in process.definition
