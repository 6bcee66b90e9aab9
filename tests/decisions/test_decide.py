"""Decisions against brute force over all actions and all rules."""

import itertools
import json

import numpy as np
import polars as pl
import pytest

from veridical import InvalidInputError
from veridical.decisions._costs.decide import decide
from veridical.decisions._costs.thresholds import cost_threshold
from veridical.results.decisions import Decisions


def vectors(n, k, seed):
    return np.random.default_rng(seed).dirichlet(np.full(k, 0.6), n)


def brute_force(p, costs):
    """Action and expected cost of each row by loops; costs are (n, K, A)."""
    found = []
    for row, table in zip(p, costs, strict=True):
        expected = [
            sum(row[k] * table[k][a] for k in range(len(row))) for a in range(len(table[0]))
        ]
        found.append((expected.index(min(expected)), min(expected)))
    return [action for action, _ in found], [cost for _, cost in found]


@pytest.mark.parametrize(("k", "a"), [(2, 2), (2, 3), (3, 3), (4, 2), (5, 7)])
def test_the_action_is_the_cheapest_of_all(k, a):
    rng = np.random.default_rng(k * 10 + a)
    p, costs = vectors(60, k, seed=a), rng.normal(size=(k, a))
    decisions = decide(p, costs)
    action, cost = brute_force(p, np.broadcast_to(costs, (60, k, a)))
    assert decisions.choice.tolist() == action
    assert decisions.expected_cost == pytest.approx(cost, abs=1e-12)
    assert decisions.share == pytest.approx(np.bincount(action, minlength=a) / 60)
    assert decisions.mean_expected_cost == pytest.approx(np.mean(cost))


def test_no_rule_at_all_has_a_lower_expected_cost():
    p, costs = vectors(5, 3, seed=3), np.random.default_rng(5).gamma(1.0, size=(3, 3))
    cheapest = min(
        np.mean([p[i] @ costs[:, a] for i, a in enumerate(rule)])
        for rule in itertools.product(range(3), repeat=5)
    )
    assert decide(p, costs).mean_expected_cost == pytest.approx(cheapest, rel=1e-12)


def test_rows_have_their_own_costs():
    rng = np.random.default_rng(11)
    p, costs = vectors(50, 3, seed=8), rng.gamma(0.5, size=(50, 3, 4))
    action, cost = brute_force(p, costs)
    decisions = decide(p, costs, actions=list("wxyz"))
    assert decisions.action.tolist() == ["wxyz"[a] for a in action]
    assert decisions.expected_cost == pytest.approx(cost)


def test_blocks_of_rows_change_nothing():
    p, costs = vectors(30_000, 3, seed=1), np.random.default_rng(2).gamma(1.0, size=(3, 5))
    many = decide(p, costs)
    assert many.choice.tolist() == (p @ costs).argmin(axis=1).tolist()
    by_row = decide(p, np.broadcast_to(costs, (30_000, 3, 5)))
    assert by_row.choice.tolist() == many.choice.tolist()


def test_two_costs_mean_a_threshold():
    p = np.array([0.05, 0.79, 0.81, 0.99])
    assert decide(p, (4, 1)).action.tolist() == [0, 0, 1, 1]
    assert (decide(p, (2, 9)).action == (p > cost_threshold(2, 9))).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("costs", "t"), [((4, 1), 0.8), ((1, 9), 0.1), ((3, 7), 0.3)])
def test_at_the_threshold_the_first_action_is_taken(costs, t, dtype):
    # In floating point 4 * (1 - 0.8) is less than 0.8.
    assert decide(np.array([t], dtype=dtype), costs).action.tolist() == [0]
    pair = np.array([[1 - t, t]], dtype=dtype)
    assert decide(pair, costs).action.tolist() == [0]


def test_a_forbidding_cost_elsewhere_does_not_blur_small_differences():
    costs = [[0.0, 1.0, 1e13], [1.0, 0.0, 1e13]]
    assert decide([0.4999, 0.5001], costs).choice.tolist() == [0, 1]


def test_abstaining_is_the_rule_of_chow():
    # Costs 1 of any error: abstain if the largest probability is below 1 - cost.
    p = vectors(200, 4, seed=4)
    decisions = decide(p, 1 - np.eye(4), abstain_cost=0.3)
    undecided = decisions.action == "abstain"
    assert (undecided == (p.max(axis=1) < 0.7)).all()
    assert 0 < undecided.mean() < 1
    assert decisions.expected_cost[undecided] == pytest.approx(0.3)
    assert (decisions.choice[~undecided] == p.argmax(axis=1)[~undecided]).all()


def test_abstaining_may_cost_each_row_something_else():
    fixed = decide([0.5, 0.5, 0.5], (1, 1), abstain_cost=[0.4, 0.6, 0.5])
    assert fixed.action.tolist() == ["abstain", 0, 0]
    by_row = decide([0.5, 0.5], np.ones((2, 2, 2)), abstain_cost=[0.4, 1.6])
    assert by_row.action.tolist() == ["abstain", 0]
    assert by_row.expected_cost == pytest.approx([0.4, 1.0])


def test_constants_of_classes_and_factors_change_no_decision():
    p, costs = vectors(100, 3, seed=6), np.random.default_rng(1).gamma(1.0, size=(3, 4))
    plain = decide(p, costs).choice.tolist()
    assert decide(p, costs + np.array([[5.0], [-3.0], [100.0]])).choice.tolist() == plain
    assert decide(p, 1e9 * costs).choice.tolist() == plain


def test_names_of_labels_and_actions():
    p = [0.1, 0.9]
    assert decide(p, (1, 1), labels=["bad", "good"]).action.tolist() == ["bad", "good"]
    costs = {"treat": {"ill": 5, "well": 3}, "wait": {"ill": 20, "well": 0}}
    # The larger label is "well": p is its probability.
    assert decide(p, costs, labels=["ill", "well"]).action.tolist() == ["treat", "wait"]
    turned = decide(p, costs, labels=["ill", "well"], pos_label="ill")
    assert turned.action.tolist() == ["wait", "treat"]


def test_a_false_positive_is_false_about_the_positive_label():
    # One column is of "a": an alarm "a" that costs 4 if false needs 0.8.
    options = {"labels": ["a", "b"], "pos_label": "a"}
    assert decide([0.7, 0.9], (4, 1), **options).action.tolist() == ["b", "a"]
    both = decide([[0.7, 0.3], [0.9, 0.1]], (4, 1), **options)
    assert both.action.tolist() == ["b", "a"]
    assert both.expected_cost == pytest.approx([0.7, 0.4])


def test_the_result_says_what_it_is_and_loses_nothing():
    decisions = decide([0.1, 0.6, 0.9], (1, 1), abstain_cost=0.2)
    assert str(decisions).startswith("3 decisions of expected cost 0.133333 each: 0 33.3%, 1 33.3%")
    again = Decisions.from_dict(json.loads(json.dumps(decisions.to_dict())))
    assert again == decisions
    assert again.action.tolist() == decisions.action.tolist() == [0, "abstain", 1]
    for backend in ("polars", "pandas", "pyarrow"):
        assert decisions.to_frame(backend=backend).shape == (3, 2)


@pytest.mark.parametrize(
    ("y_prob", "costs", "options", "message"),
    [
        ([0.5], [[1, 2, 3]], {}, r"`costs` must be of shape \(2, A\) or \(1, 2, A\)"),
        ([[0.2, 0.3, 0.5]], (1, 2), {}, r"`costs` must be of shape \(3, A\)"),
        ([0.5], [[1, np.nan], [0, 1]], {}, "`costs` must be finite"),
        ([0.5], {"go": {0: 1}}, {}, "`costs` must be a cost for each of the labels"),
        ([0.5], {}, {}, "`costs` must be of at least one action"),
        ([0.5], (1, 1), {"actions": ["a"]}, "`actions` must be one name an action"),
        ([0.5], (1, 1), {"actions": ["a", "a"]}, "`actions` must be distinct"),
        ([0.5], (1, 1), {"abstain_cost": "x"}, "`abstain_cost` must be a finite number"),
        ([0.5], (1, 1), {"abstain_cost": [1, 2]}, "`abstain_cost` must be a finite number, or 1"),
        ([1.5], (1, 1), {}, "decide: `y_prob` must be in"),
        ([], (1, 1), {}, "`y_prob` must be non-empty"),
        ([0.5], (1, 1), {"labels": [1, 2, 3]}, "`labels` must be a list of 2 labels"),
        ([0.5], (1, 1), {"labels": []}, "`labels` must be a list of 2 labels"),
        ([0.5], (1, 1), {"pos_label": 7}, "`pos_label` must be one of the classes"),
    ],
)
def test_bad_input_is_refused(y_prob, costs, options, message):
    with pytest.raises(InvalidInputError, match=message):
        decide(y_prob, costs, **options)


def test_one_column_with_labels_in_descending_order_needs_the_positive_class():
    p, labels = [0.9, 0.2], ["good", "bad"]
    with pytest.raises(InvalidInputError, match="`pos_label` must be given for one column"):
        decide(p, (1, 1), labels=labels)
    assert decide(p, (1, 1), labels=labels, pos_label="bad").action.tolist() == ["bad", "good"]
    assert decide(p, (1, 1), labels=labels, pos_label="good").action.tolist() == ["good", "bad"]


COSTS = {"treat": {"ill": 5, "well": 3}, "wait": {"ill": 20, "well": 0}}  # treat above 1/6


@pytest.mark.parametrize(
    "y_prob",
    [
        [0.9, 0.1],
        [[0.9, 0.1], [0.1, 0.9]],
        pl.DataFrame({"p_well": [0.1, 0.9], "p_ill": [0.9, 0.1]}),
    ],
    ids=["one column", "two", "named"],
)
def test_costs_by_label_name_the_classes(y_prob):
    """Of one column "ill" is told, since "well" is the larger label; named columns tell it."""
    assert decide(y_prob, COSTS, pos_label="ill").action.tolist() == ["treat", "wait"]
    labels = ["well", "ill"] if isinstance(y_prob, pl.DataFrame) else ["ill", "well"]
    found = decide(y_prob, COSTS, labels=labels, pos_label="ill")
    assert found.action.tolist() == ["treat", "wait"]
    assert found.expected_cost == pytest.approx([4.8, 2.0])


def test_one_column_of_costs_by_label_is_that_of_the_larger_one():
    assert decide([0.9, 0.1], COSTS).action.tolist() == ["wait", "treat"]
