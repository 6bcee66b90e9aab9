"""Allocations against enumeration, against the plain dynamic programme, and by hand."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from veridical import InvalidInputError
from veridical.decisions._allocation.allocation import allocate
from veridical.decisions._allocation.knapsack import find_core, relax
from veridical.results.decisions import Allocation


def by_enumeration(values, costs, budget):
    """Largest total value over all choices, in exact arithmetic."""
    exact_cost = [[Fraction(str(c)) if math.isfinite(c) else None for c in row] for row in costs]
    best = None
    for choice in itertools.product(range(values.shape[1]), repeat=len(values)):
        chosen = [exact_cost[i][j] for i, j in enumerate(choice)]
        if None in chosen or sum(chosen) > Fraction(str(budget)):
            continue
        total = math.fsum(values[i, j] for i, j in enumerate(choice))
        best = total if best is None else max(best, total)
    return best


def by_dynamic_programming(values, costs, budget):
    """Largest total value for whole costs: one table of all budgets, row after row."""
    best = np.full(budget + 1, -np.inf)
    best[0] = 0.0
    for value, cost in zip(values, costs, strict=True):
        after = np.full(budget + 1, -np.inf)
        for v, c in zip(value, cost.astype(int), strict=True):
            if c <= budget:
                after[c:] = np.maximum(after[c:], best[: budget + 1 - c] + v)
        best = after
    return best.max()


def check(found, values, costs, budget):
    """The choice is what the totals say, and keeps the budget."""
    rows = np.arange(len(values))
    assert math.isclose(found.total_value, values[rows, found.choice].sum(), abs_tol=1e-9)
    assert math.isclose(found.total_cost, costs[rows, found.choice].sum(), abs_tol=1e-9)
    assert found.total_cost <= budget + 1e-9
    assert found.total_value <= found.upper_bound


def instance(kind, rng):
    n, m = rng.integers(1, 6), rng.integers(1, 5)
    values, costs = rng.random((n, m)), rng.random((n, m))
    if kind == "ties":
        values, costs = rng.integers(-2, 4, (n, m)), rng.integers(0, 4, (n, m))
    elif kind == "shared":
        costs = np.tile(rng.integers(0, 10, m), (n, 1))
    elif kind == "decimals":
        values, costs = rng.integers(0, 3, (n, m)), rng.integers(0, 30, (n, m)) / 10
    elif kind == "equal rows":
        values = np.tile(rng.integers(0, 9, m), (n, 1))
        costs = np.tile(2 * rng.integers(0, 8, m), (n, 1))
    elif kind == "unavailable":
        costs = np.where(rng.random((n, m)) < 0.3, np.inf, rng.integers(0, 8, (n, m)))
        costs[:, 0] = rng.integers(0, 3, n)
    values, costs = values.astype(float), costs.astype(float)
    least, most = costs.min(axis=1).sum(), costs[np.isfinite(costs)].sum()
    budget = float(round(least + rng.random() * (most - least), 1))
    return values, costs, max(budget, math.ceil(least))


@pytest.mark.parametrize(
    "kind", ["ties", "shared", "real", "decimals", "equal rows", "unavailable"]
)
def test_allocations_equal_enumeration(kind):
    rng = np.random.default_rng(sum(map(ord, kind)))
    for _ in range(30):
        values, costs, budget = instance(kind, rng)
        found = allocate(values, costs, budget)
        assert found.optimal
        expected = by_enumeration(values, costs, budget)
        assert math.isclose(found.total_value, expected, rel_tol=1e-12, abs_tol=1e-12)
        check(found, values, costs, budget)


@pytest.mark.parametrize("kinds", [300, 5, 1])
@pytest.mark.parametrize("costs", [(0, 1, 2, 3, 5), (0, 7, 13, 29, 50), (0, 60, 100, 150, 210)])
def test_allocations_equal_the_plain_dynamic_programme(kinds, costs):
    """300 rows, all different, of few kinds (as from a histogram), or all equal."""
    rng = np.random.default_rng(kinds)
    table = rng.random((kinds, 5)).cumsum(axis=1)
    values = table[rng.integers(0, kinds, 300)]
    if kinds == 1:
        values = np.tile(np.array([0.0, 3, 7, 9, 11]), (300, 1))
    costs = np.tile(costs, (300, 1)).astype(float)
    for share in (0.05, 0.4, 0.7):
        budget = int(share * costs.max(axis=1).sum()) + 1
        found = allocate(values, costs[0], budget)
        assert found.optimal
        expected = by_dynamic_programming(values, costs, budget)
        assert math.isclose(found.total_value, expected, rel_tol=1e-12)
        check(found, values, costs, budget)


def test_costs_of_every_row_and_whole_values_equal_the_plain_dynamic_programme():
    rng = np.random.default_rng(3)
    for _ in range(10):
        values = rng.integers(0, 20, (60, 4)).astype(float)
        costs = rng.integers(0, 40, (60, 4)).astype(float)
        budget = int(rng.integers(costs.min(axis=1).sum(), costs.max(axis=1).sum()))
        found = allocate(values, costs, budget)
        assert found.optimal
        assert found.total_value == by_dynamic_programming(values, costs, budget)


def test_values_proportional_to_costs_fill_the_budget_as_far_as_sums_of_costs_can():
    """Subset sums of 6, 10 and 15: every whole number above 29 is one."""
    costs = np.array([0.0, 6, 10, 15])
    found = allocate(np.tile(costs, (40, 1)), costs, 317)
    assert (found.total_value, found.total_cost, found.optimal) == (317.0, 317.0, True)
    even = allocate(np.tile(costs[:3], (40, 1)), costs[:3], 317)
    assert (even.total_value, even.optimal) == (316.0, True)


def test_bound_and_price_are_those_of_the_relaxation():
    """Hulls by hand: slopes 5, 3, 3 (row 0) and 4, 1 (row 1); a budget of 2.5 ends in a slope 3."""
    values = np.array([[0.0, 5, 8, 11], [0.0, 4, 5, 5]])
    found = allocate(values, np.array([0.0, 1, 2, 3]), 2.5)
    assert found.shadow_price == 3.0
    assert found.upper_bound == 5 + 4 + 0.5 * 3
    assert (found.total_value, found.choice.tolist()) == (9.0, [1, 1])


def test_the_price_is_per_unit_of_cost_whatever_the_decimals_of_the_costs():
    """Values per cost 3 and 2; the second does not fit any more."""
    found = allocate([[0, 1.5], [0, 0.5]], [[0, 0.5], [0, 0.25]], 0.6)
    assert (found.shadow_price, found.total_value) == (2.0, 1.5)
    assert found.upper_bound == pytest.approx(1.5 + 0.1 * 2)


def test_relaxation_agrees_with_a_linear_programme():
    optimize = pytest.importorskip("scipy.optimize")
    rng = np.random.default_rng(5)
    for _ in range(20):
        values, costs = rng.random((8, 4)), rng.random((8, 4))
        budget = float(costs.min(axis=1).sum() + rng.random() * 2)
        one_each = np.kron(np.eye(8), np.ones(4))
        solved = optimize.linprog(-values.ravel(), A_ub=costs.reshape(1, -1), b_ub=[budget],
                                  A_eq=one_each, b_eq=np.ones(8))  # fmt: skip
        assert math.isclose(allocate(values, costs, budget).upper_bound, -solved.fun, rel_tol=1e-9)


def test_a_budget_for_everything_takes_the_best_of_every_row_and_has_no_price():
    values = np.random.default_rng(6).random((50, 3))
    found = allocate(values, [0, 1, 2], 100)
    np.testing.assert_array_equal(found.choice, values.argmax(axis=1))
    assert (found.shadow_price, found.optimal) == (0.0, True)


def test_decimal_costs_fill_a_decimal_budget():
    """0.1 + 0.2 is above 0.3 in binary, not in money."""
    found = allocate([[0, 1], [0, 1]], [[0, 0.1], [0, 0.2]], 0.3)
    assert found.total_value == 2.0


def test_few_rows_of_ten_thousand_are_left_in_doubt():
    rng = np.random.default_rng(7)
    values = rng.random((10_000, 5)).cumsum(axis=1)
    found = allocate(values, [0, 7, 13, 29, 50], 120_000)
    assert found.optimal
    assert found.n_core < 200
    assert found.upper_bound - found.total_value < 1e-3


def test_equal_rows_are_bundled_without_losing_a_number_of_them():
    """Bundles of 1, 2, 4, ... and a rest: every count from 0 to all is a sum of some."""
    values, costs = np.tile([0.0, 1.0], (13, 1)), np.tile([0, 2], (13, 1))
    core = find_core(values, costs, relax(values, costs, 15), 10.0)
    sizes = [len(bundle) for bundle in core.bundles]
    sums = {sum(part) for r in range(len(sizes) + 1) for part in itertools.combinations(sizes, r)}
    assert sums >= set(range(sum(sizes) + 1))
    assert core.unit == 2


def test_an_unfinished_search_says_so_and_its_gap_holds_the_optimum():
    rng = np.random.default_rng(8)
    values, costs = rng.random((40, 4)), rng.integers(100, 10_000, (40, 4)).astype(float)
    budget = int(costs.min(axis=1).sum()) + 20_001
    found, best = allocate(values, costs, budget, max_states=1), allocate(values, costs, budget)
    assert best.optimal
    assert not found.optimal
    assert found.total_value <= best.total_value <= found.total_value + found.gap
    assert "within" in str(found)
    check(found, values, costs, budget)


def test_allocations_travel_as_json():
    found = allocate([[0, 5], [0, 4]], [0, 1], 1)
    again = Allocation.from_json(found.to_json())
    assert again == found
    assert again.choice.dtype.kind == "i"
    assert found.to_frame()["choice"].to_list() == [1, 0]
    assert found.counts(3) == (1, 1, 0)


@pytest.mark.parametrize(
    ("values", "costs", "budget", "message"),
    [
        ([[0, 1]], [1, 2], 0, "at least 1, the sum of the cheapest"),
        ([[0, math.nan]], [0, 1], 1, "`values` must be finite"),
        ([0, 1], [0, 1], 1, r"`values` must be of shape \(n, m\)"),
        ([[0, 1]], [0, 1, 2], 1, "`costs` must be of shape"),
        ([[0, 1]], [0, -1], 1, "`costs` must be zero or more"),
        ([[0, 1]], [math.inf, math.inf], 1, "no option at all in row 0"),
        ([[0, 1]], [0, 1], math.inf, "`budget` must be a finite number"),
    ],
)
def test_impossible_input_is_refused(values, costs, budget, message):
    with pytest.raises(InvalidInputError, match=message):
        allocate(values, costs, budget)


def test_a_limit_on_states_is_positive():
    with pytest.raises(InvalidInputError, match="`max_states` must be a positive integer"):
        allocate([[0, 1]], [0, 1], 1, max_states=0)
