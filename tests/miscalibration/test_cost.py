"""Errors in units of cost: against loops over rows, as ECE for unit costs, and their laws."""

from __future__ import annotations

import math

import numpy as np
import pytest

from veridical import (
    BinnedError,
    EdgeBins,
    InvalidInputError,
    QuantileBins,
    SweepBins,
    UniformBins,
    VeridicalWarning,
    classwise_calibration_error,
    expected_calibration_error,
    null_level,
)
from veridical.miscalibration._errors.cost import CostWeightedError

# Toy data: fewer than ten rows decide the largest gap, which a warning says.
pytestmark = pytest.mark.filterwarnings("ignore:.*mostly noise:veridical.VeridicalWarning")

CLOSE = {"rel": 1e-12, "abs": 1e-12}
KINDS = ["every", "chosen", "chosen-by-action"]
COSTS = [[0.0, 2.0, 5.0, 1.5], [3.0, -1.0, 1.0, 1.5], [8.0, 4.0, 0.0, 1.5]]  # the last: ask a human
UNIT = 1 - np.eye(3)


def rows(n=400, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(n_classes, 0.8), n)
    truth = p**0.6 / (p**0.6).sum(axis=1, keepdims=True)
    y = (rng.random(n)[:, None] > truth.cumsum(axis=1)).sum(axis=1).clip(max=n_classes - 1)
    return y, p, rng.gamma(1.0, size=n)


def binary_rows(n=400, seed=0):
    y, p, w = rows(n, 2, seed)
    return y, p[:, 1], w


def gaps_of(promised, came, weight, places):
    """Gap and weight of the groups of rows between the given ranks of the promised cost."""
    order = sorted(range(len(promised)), key=lambda i: -promised[i])
    found = []
    for group in np.split(np.array(order), places):
        mass = sum(weight[i] for i in group)
        gap = sum(weight[i] * (came[i] - promised[i]) for i in group) / mass
        found.append((abs(gap), mass))
    return found


def naive(y, p, costs, kind, n_bins, norm=1):
    """Promised and real costs row by row; equal groups of rows in order of the promise."""
    n, n_actions = len(y), len(costs[0])
    promised = [
        [sum(p[i][k] * costs[k][a] for k in range(len(costs))) for a in range(n_actions)]
        for i in range(n)
    ]
    chosen = [min(range(n_actions), key=lambda a: promised[i][a]) for i in range(n)]
    problems = []
    if kind == "every":
        for a in range(n_actions):
            problems.append([([promised[i][a] for i in range(n)], [costs[k][a] for k in y])])
    else:
        groups = [range(n)]
        if kind == "chosen-by-action":
            groups = [[i for i in range(n) if chosen[i] == a] for a in sorted(set(chosen))]
        problems.append(
            [
                ([promised[i][chosen[i]] for i in g], [costs[y[i]][chosen[i]] for i in g])
                for g in groups
            ]
        )
    totals = []
    for problem in problems:
        found = []
        for promise, came in problem:
            if max(promise) - min(promise) < 1e-9:  # all one
                found += gaps_of(promise, came, np.ones(len(came)), [])
                continue
            ends = [math.ceil(len(came) * k / n_bins) for k in range(1, n_bins)]
            found += gaps_of(promise, came, np.ones(len(came)), ends)
        mass = sum(m for _, m in found)
        totals.append(sum(m * g**norm for g, m in found) / mass)
    return float(np.mean(totals) ** (1 / norm))


@pytest.mark.filterwarnings("ignore:.*equal-mass bins asked for")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("norm", [1, 2, 3.5])
def test_error_is_that_of_loops_over_rows(kind, norm):
    y, p, _ = rows()
    # Where the human is asked all promises are equal and stay in one bin, the oracle's do not.
    costs = [row[:3] for row in COSTS] if kind == "chosen" else COSTS
    found = CostWeightedError(costs, kind, QuantileBins(5), norm)(y, p, lens="canonical")
    # Savings grow where costs fall, so equal-mass groups are filled from the dearest on.
    assert found == pytest.approx(naive(y, p, costs, kind, 5, norm), **CLOSE)


@pytest.mark.parametrize("binning", [QuantileBins(7), UniformBins(15), EdgeBins([0.3, 0.8])])
@pytest.mark.parametrize("norm", [1, 2, "max"])
def test_unit_costs_of_every_action_are_the_classwise_error(binning, norm):
    y, p, w = rows()
    expected = BinnedError(binning, norm=norm)(y, p, lens="classwise", sample_weight=w)
    error = CostWeightedError(UNIT, binning=binning, norm=norm)
    assert error(y, p, lens="canonical", sample_weight=w) == pytest.approx(expected, **CLOSE)


@pytest.mark.parametrize("binning", [QuantileBins(7), UniformBins(15)])
def test_unit_costs_of_the_chosen_action_are_the_confidence_error(binning):
    y, p, w = rows()
    expected = BinnedError(binning)(y, p, lens="confidence", sample_weight=w)
    found = CostWeightedError(UNIT, "chosen", binning)(y, p, lens="canonical", sample_weight=w)
    assert found == pytest.approx(expected, **CLOSE)


def test_unit_costs_by_action_are_the_errors_of_each_predicted_class():
    y, p, _ = rows()
    predicted = p.argmax(axis=1)
    expected = sum(
        (predicted == k).mean()
        * expected_calibration_error(y[predicted == k], p[predicted == k], labels=[0, 1, 2])
        for k in range(3)
    )
    error = CostWeightedError(UNIT, "chosen-by-action", UniformBins(15))
    assert error(y, p, lens="canonical") == pytest.approx(expected, **CLOSE)


def test_two_classes_have_the_error_times_the_mean_of_the_costs():
    y, p, w = binary_rows()
    for n_bins in (4, 15):
        ece = expected_calibration_error(y, p, n_bins=n_bins, sample_weight=w)
        for alarm, miss in ((1, 1), (1, 9), (0, 2)):
            error = CostWeightedError((alarm, miss), binning=UniformBins(n_bins))
            expected = (alarm + miss) / 2 * ece
            assert error(y, p, sample_weight=w) == pytest.approx(expected, **CLOSE)


def test_a_gap_of_the_chosen_action_counts_by_the_error_it_risks():
    """Below the threshold 1/10 cases are missed at 9 each, above it alarms are false at 1 each."""
    p = np.repeat([0.05, 0.5], 20)
    y = np.r_[np.repeat([1, 0], [3, 17]), np.repeat([1, 0], [16, 4])]  # 0.15 and 0.8
    error = CostWeightedError((1, 9), "chosen-by-action", UniformBins(1))
    assert error(y, p) == pytest.approx((9 * 0.1 + 0.3) / 2, **CLOSE)
    # Together the two cancel: more than promised below, less above.
    error = CostWeightedError((1, 9), "chosen", UniformBins(1))
    assert error(y, p) == pytest.approx((9 * 0.1 - 0.3) / 2, **CLOSE)


@pytest.mark.parametrize("kind", KINDS)
def test_two_costs_are_a_matrix_whose_rows_follow_the_labels(kind):
    y, p, w = binary_rows()
    two = np.column_stack([1 - p, p])
    expected = CostWeightedError([[0, 1], [5, 0]], kind)(y, p, sample_weight=w)
    pair = CostWeightedError((1, 5), kind)
    assert pair(y, p, sample_weight=w) == pytest.approx(expected, **CLOSE)
    assert pair(y, two, sample_weight=w) == pytest.approx(expected, **CLOSE)
    # Say that 0 is the positive class: the same numbers mean the opposite.
    assert pair(y, two, pos_label=0) == pytest.approx(CostWeightedError((5, 1), kind)(y, p))
    matrix = CostWeightedError([[0, 1], [5, 0]], kind)
    assert matrix(y, two, pos_label=0) == pytest.approx(matrix(y, p), **CLOSE)
    swapped = CostWeightedError([[5, 0], [0, 1]], kind)
    assert swapped(y, two[:, ::-1], labels=[1, 0]) == pytest.approx(matrix(y, p), **CLOSE)


@pytest.mark.parametrize("kind", KINDS)
def test_error_is_in_the_unit_of_the_costs(kind):
    y, p, w = rows()
    options = {"lens": "canonical", "sample_weight": w}
    costs = np.array(COSTS)[:, :3]
    plain = CostWeightedError(costs, kind)(y, p, **options)
    for factor in (0.01, 3, 1e6):
        found = CostWeightedError(factor * costs, kind)(y, p, **options)
        assert found == pytest.approx(factor * plain, rel=1e-9)
    # A charge for whatever is done changes what is promised and what comes alike.
    shifted = CostWeightedError(costs + 7.0, kind)(y, p, **options)
    assert shifted == pytest.approx(plain, rel=1e-9)


def test_an_action_of_fixed_cost_is_never_misjudged():
    y, p, _ = rows()
    costs = np.array(COSTS)
    three = CostWeightedError(costs[:, :3])(y, p, lens="canonical")
    assert CostWeightedError(costs)(y, p, lens="canonical") == pytest.approx(0.75 * three)
    assert CostWeightedError(costs[:, 3:], "chosen-by-action")(y, p, lens="canonical") == 0


@pytest.mark.parametrize("kind", KINDS)
def test_error_of_a_calibrated_population_is_zero(kind):
    """Every class occurs with the weight it was given."""
    _, p, _ = rows(150)
    y = np.repeat([0, 1, 2], len(p))
    costs = [row[:3] for row in COSTS]
    error = CostWeightedError(costs, kind, QuantileBins(10))
    found = error(y, np.tile(p, (3, 1)), lens="canonical", sample_weight=p.T.ravel())
    assert found == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_a_calibrated_model_is_within_its_null_level(kind):
    rng = np.random.default_rng(3)
    _, p, _ = rows(600)
    calibrated = (rng.random(600)[:, None] > p.cumsum(axis=1)).sum(axis=1).clip(max=2)
    wrong = (2 - p.argmax(axis=1)) % 3
    costs = [row[:3] for row in COSTS]
    error = CostWeightedError(costs, kind, QuantileBins(10))
    options = {"lens": "canonical", "n_resamples": 100, "rng": 0}
    level = null_level(error, calibrated, p, **options)
    assert level.estimate < level.quantile(0.99)
    assert null_level(error, wrong, p, **options).estimate > 2 * level.quantile(0.99)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("norm", [1, 2, "max"])
def test_laws_of_weights_and_order(kind, norm):
    y, p, w = rows()
    costs = [row[:3] for row in COSTS]
    estimator = CostWeightedError(costs, kind, QuantileBins(8), norm)

    def error(y, p, **options):
        return estimator(y, p, lens="canonical", **options)

    plain, weighted = error(y, p), error(y, p, sample_weight=w)
    moved = np.random.default_rng(1).permutation(len(y))
    assert error(y[moved], p[moved]) == pytest.approx(plain, **CLOSE)
    assert error(y, p, sample_weight=np.ones(len(y))) == pytest.approx(plain, **CLOSE)
    assert error(y, p, sample_weight=0.1 * w) == pytest.approx(weighted, **CLOSE)
    kept, zeros = moved[:250], np.zeros(len(y))
    zeros[kept] = w[kept]
    removed = error(y[kept], p[kept], sample_weight=w[kept])
    assert error(y, p, sample_weight=zeros) == pytest.approx(removed, **CLOSE)
    times = np.random.default_rng(2).integers(0, 4, len(y))
    repeated = error(np.repeat(y, times), np.repeat(p, times, axis=0))
    assert error(y, p, sample_weight=times) == pytest.approx(repeated, **CLOSE)


def test_promises_that_differ_by_rounding_are_equal():
    """3 * 0.1 is not 0.3 to a computer; both rows promise the same and stay together."""
    costs = [[0, 3, 1], [3, 0, 1], [1, 1, 0]]
    p = np.array([[0.1, 0.6, 0.3], [0.0, 0.7, 0.3]] * 20)
    y = np.tile([0, 1, 2, 1], 10)
    for kind in KINDS:
        error = CostWeightedError(costs, kind, UniformBins(5))
        double = error(y, p, lens="canonical")
        single = error(y, p.astype(np.float32), lens="canonical")
        assert single == pytest.approx(double, rel=1e-6)


def test_few_rows_raise_doubts():
    y, p, _ = binary_rows(20)
    with pytest.warns(VeridicalWarning, match="1.3 rows a bin on average"):
        CostWeightedError((1, 2), binning=QuantileBins(15))(y, p)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"costs": 3}, "costs"),
        ({"costs": [1, 2, 3]}, "costs"),
        ({"costs": [[1, 2]]}, "costs"),
        ({"costs": [[1, math.nan], [0, 1]]}, "costs"),
        ({"costs": "cheap"}, "costs"),
        ({"kind": "all"}, "kind"),
        ({"binning": 15}, "binning"),
        ({"binning": SweepBins()}, "binning"),
        ({"binning": QuantileBins("cv")}, "binning"),
        ({"norm": 0.5}, "norm"),
    ],
)
def test_bad_options_are_named(options, named):
    with pytest.raises(InvalidInputError, match=f"CostWeightedError: `{named}` must be"):
        CostWeightedError(**({"costs": (1, 1)} | options))


def test_costs_of_other_classes_are_refused():
    y, p, _ = rows()
    with pytest.raises(InvalidInputError, match="2 classes, costs of 3"):
        CostWeightedError(COSTS)(y, p)  # the confidence lens asks about right or wrong
    with pytest.raises(InvalidInputError, match="3 classes, costs of 2"):
        CostWeightedError((1, 2))(y, p, lens="canonical")
    with pytest.raises(InvalidInputError, match="`lens` must be"):
        CostWeightedError(COSTS)(y, p, lens="classwise")


def test_costs_cannot_be_changed_afterwards():
    given = np.array(COSTS)
    error = CostWeightedError(given)
    given[0, 1] = 99
    assert error.costs[0][1] == 2
    assert error == CostWeightedError(COSTS)
    assert hash(error) == hash(CostWeightedError(COSTS))


def test_names_and_definitions_say_what_is_computed():
    assert CostWeightedError((1, 2)).name == "cost error"
    assert CostWeightedError((1, 2), norm="max").name == "largest cost error"
    assert CostWeightedError((1, 2.5)).definition == (
        "costs 1 (false positive) and 2.5 (false negative) of every action, 15 equal-mass bins"
    )
    assert CostWeightedError(COSTS, "chosen", UniformBins(5)).definition.startswith(
        "costs of 3 classes x 4 actions of the action chosen, 5 "
    )


def test_classwise_function_agrees_with_unit_costs():
    y, p, _ = rows()
    error = CostWeightedError(UNIT, binning=UniformBins(10))
    expected = classwise_calibration_error(y, p, n_bins=10)
    assert error(y, p, lens="canonical") == pytest.approx(expected, **CLOSE)
