"""Values on fake classifiers against integrals, and on test sets against loops."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq

from veridical.exceptions import InvalidInputError, VeridicalWarning
from veridical.planning._value.processes import (
    AllocationProcess,
    CostProcess,
    KellyProcess,
    ThresholdProcess,
)
from veridical.planning._value.simulate import simulate_decisions
from veridical.planning._value.value import over_repeats
from veridical.simulation._fakes.binary import BetaScores, BinaryFakeClassifier
from veridical.simulation._fakes.dirichlet import DirichletFakeClassifier
from veridical.simulation._fakes.maps import PowerMap

# Accuracy 3/4 of two classes is p ~ uniform; a power b reports p^b / (p^b + q^b).
ACCURACY, ECE = 0.75, 0.1


def reported(p, b):
    return p**b / (p**b + (1 - p) ** b)


def mean(function):
    """Integral over uniform p, split at a half."""
    return quad(function, 0, 0.5)[0] + quad(function, 0.5, 1)[0]


@pytest.fixture(scope="module")
def exponent():
    """Power at which E[max c] - 3/4 is the ECE."""
    return brentq(lambda b: 2 * quad(reported, 0.5, 1, args=(b,))[0] - ACCURACY - ECE, 1, 50)


def simulate(process, source=None, **options):
    options = {"accuracy": ACCURACY, "ece": [0, ECE], "n_samples": 2000, "n_repeats": 20} | options
    return simulate_decisions(process, source, **options)


def assert_covers(estimate, low, high, exact):
    """Within twice the half width of a 95 % interval (4 standard errors), which is narrow."""
    half = (high - low) / 2
    assert abs(estimate - exact) <= 2 * half
    assert 0 < half < 0.05 * abs(exact)


def test_equal_costs_do_not_depend_on_calibration():
    calibrated, over = simulate(CostProcess((1, 1))).grid
    assert over.value == calibrated.value  # exactly: no decision changes
    assert over.loss == over.loss_low == over.loss_high == 0
    assert calibrated.baseline == -0.5
    assert_covers(calibrated.value, calibrated.low, calibrated.high, -(1 - ACCURACY))


@pytest.mark.parametrize("direction", ["over", "under"])
def test_unequal_costs_against_quadrature(direction, exponent):
    if direction == "under":
        exponent = brentq(
            lambda b: 2 * quad(reported, 0.5, 1, args=(b,))[0] - ACCURACY + ECE, 0.01, 1
        )
    calibrated, wrong = simulate(CostProcess((1, 5)), direction=direction).grid

    def cost(b):
        t = brentq(lambda p: reported(p, b) - 1 / 6, 1e-9, 1 - 1e-9)  # alarm above 1/6 reported
        return 5 * t**2 / 2 + (1 - t) ** 2 / 2  # E[5p; p < t] + E[1 - p; p > t]

    assert_covers(calibrated.value, calibrated.low, calibrated.high, -cost(1))
    assert_covers(wrong.value, wrong.low, wrong.high, -cost(exponent))
    # The shared truths make the difference more precise than either value.
    loss = cost(exponent) - cost(1)
    assert abs(wrong.loss - loss) <= wrong.loss_high - wrong.loss_low
    assert wrong.loss_high - wrong.loss_low < 0.7 * (wrong.high - wrong.low)
    assert wrong.calibrated == pytest.approx(calibrated.value, rel=1e-12)
    assert wrong.gain == pytest.approx(wrong.value + 0.5)  # always alarm: 1 for half of the rows


def test_growth_of_wealth_against_quadrature(exponent):
    calibrated, over = simulate(KellyProcess([2, 2])).grid
    # KL(p, 1/2) = log 2 - H(p), and the mean entropy of uniform p is a half.
    assert_covers(calibrated.value, calibrated.low, calibrated.high, np.log(2) - 0.5)

    def divergence(p):
        c = reported(p, exponent)
        return p * np.log(p / c) + (1 - p) * np.log((1 - p) / (1 - c))

    assert_covers(over.loss, over.loss_low, over.loss_high, mean(divergence))
    assert over.baseline == 0


def test_a_budget_for_one_option_is_spent_by_rank():
    process = AllocationProcess([[0, 0], [0, 10]], [0, 1], budget=0.2)
    table = simulate(process, accuracy=[0.6, ACCURACY], ece=[0, 0.05], n_samples=1000)
    low, same, high, moved = table.grid
    # The fifth with the largest p: 10 E[p; p > 0.8].
    assert_covers(high.value, high.low, high.high, 10 * (1 - 0.8**2) / 2)
    assert high.value == moved.value
    assert low.value == same.value < high.value
    assert high.baseline == pytest.approx(1.0)


def test_a_threshold_that_is_not_that_of_the_costs():
    """Acting from 1/2 on at costs 1 : 5: 5 E[p; p < 1/2] + E[1 - p; p > 1/2]."""
    calibrated, over = simulate(ThresholdProcess(0.5, 1, 5)).grid
    assert_covers(calibrated.value, calibrated.low, calibrated.high, -6 / 8)
    assert over.value == calibrated.value


def test_a_callable_needs_the_labels_and_agrees():
    def cost(y, p):
        alarm = p[:, 1] > 1 / 6
        return -np.where(alarm, y == 0, 5.0 * (y == 1))

    by_hand, built_in = (simulate(process).grid[1] for process in (cost, CostProcess((1, 5))))
    assert abs(by_hand.value - built_in.value) < by_hand.high - by_hand.low
    # Labels add noise that the built-in process integrates out.
    assert by_hand.high - by_hand.low > built_in.high - built_in.low


def test_impossible_targets_have_a_reason():
    possible, impossible = simulate(CostProcess((1, 1)), ece=[0.1, 0.3]).grid
    assert possible.reason == ""
    assert impossible.value is impossible.gain is impossible.calibrated is None
    assert "Lemma 1 i" in impossible.reason
    assert "Lemma 1" in str(impossible)


def test_several_classes():
    table = simulate(CostProcess(1 - np.eye(4)), accuracy=0.7, n_classes=4)
    for row in table.grid:
        assert_covers(row.value, row.low, row.high, -0.3)
        assert row.baseline == -0.75


@pytest.mark.parametrize("direction", ["over", "under"])
def test_rare_positives_against_quadrature(direction):
    """Classes 3 : 1 and accuracy 0.85: the positive is Beta(a, 3a) by an own search."""
    from scipy.special import beta

    def density(p, a):
        return p ** (a - 1) * (1 - p) ** (3 * a - 1) / beta(a, 3 * a)

    def expectation(function, a):
        return sum(
            quad(lambda p: function(p) * density(p, a), *ends, limit=200)[0]
            for ends in ((0, 0.05), (0.05, 0.5), (0.5, 1))
        )

    a = brentq(lambda a: expectation(lambda p: max(p, 1 - p), a) - 0.85, 0.05, 5)
    sign, ends = (1, (1, 20)) if direction == "over" else (-1, (0.05, 1))

    def confidence(b):
        return expectation(lambda p: max(reported(p, b), 1 - reported(p, b)), a)

    b = brentq(lambda b: confidence(b) - 0.85 - sign * 0.05, *ends)
    t = brentq(lambda p: reported(p, b) - 1 / 6, 1e-9, 1 - 1e-9)
    cost = 5 * quad(lambda p: p * density(p, a), 0, t)[0]
    cost += quad(lambda p: (1 - p) * density(p, a), t, 1)[0]
    table = simulate(
        CostProcess((1, 5)), accuracy=0.85, ece=[0.05, 0.6], direction=direction,
        class_shares=[0.75, 0.25],
    )  # fmt: skip
    row, impossible = table.grid
    assert_covers(row.value, row.low, row.high, -cost)
    assert row.baseline == pytest.approx(-0.75)  # always alarm: 0.75 * 1 < 0.25 * 5
    assert "Lemma 1" in impossible.reason
    assert "classes of shares 0.75, 0.25" in str(table)


def test_four_unequal_classes():
    shares = [0.4, 0.3, 0.2, 0.1]
    table = simulate(CostProcess(1 - np.eye(4)), accuracy=0.7, class_shares=shares)
    for row in table.grid:
        assert_covers(row.value, row.low, row.high, -0.3)
        assert row.baseline == pytest.approx(-0.6)


def test_a_seed_decides_everything():
    first, again, other = (simulate(CostProcess((1, 5)), rng=seed) for seed in (1, 1, 2))
    assert first == again
    assert first.grid[0].value != other.grid[0].value


def test_given_fake_classifiers():
    fakes = {
        "rare": DirichletFakeClassifier([3.0, 1.0]),
        "square": BinaryFakeClassifier(BetaScores(1, 1), lambda s: s**2),
    }
    table = simulate_decisions(CostProcess((1, 1)), fakes, n_samples=4000, n_repeats=8)
    assert table.grid == ()
    rare, square = table.models
    assert (rare.name, square.name) == ("rare", "square")
    assert rare.baseline == pytest.approx(-1 / 4, abs=0.01)
    assert rare.ece == 0
    assert_covers(rare.value, rare.low, rare.high, rare.accuracy - 1)
    # Says 1 above a half, though only s^2 are: errors s^2 below and 1 - s^2 above.
    assert_covers(square.value, square.low, square.high, -(1 / 24 + 1 / 2 - 7 / 24))
    assert square.ece == pytest.approx(fakes["square"].confidence_error().value)


@pytest.fixture(scope="module")
def holdout():
    drawn = DirichletFakeClassifier([1.0, 1.0], map=PowerMap(3)).sample(4000, rng=3)
    return drawn.y, drawn.y_prob


def test_predictions_against_a_loop(holdout):
    y, p = holdout
    (model,) = simulate_decisions(CostProcess((1, 5)), holdout).models
    cost = np.array([1.0 * (k == 0) if q > 1 / 6 else 5.0 * (k == 1)
                     for k, q in zip(y, p[:, 1], strict=True)])  # fmt: skip
    half = 1.959964 * cost.std() / np.sqrt(len(y))
    assert model.value == pytest.approx(-cost.mean())
    assert (model.low, model.high) == pytest.approx((-cost.mean() - half, -cost.mean() + half))
    assert model.baseline == pytest.approx(-np.mean(y == 0))  # alarm is the better constant
    gain = (y == 0) - cost
    half = 1.959964 * gain.std() / np.sqrt(len(y))
    assert (model.gain_low, model.gain_high) == pytest.approx(
        (gain.mean() - half, gain.mean() + half)
    )
    assert model.accuracy == np.mean((p[:, 1] > 0.5) == y)
    assert (model.basis, model.n_samples, model.n_repeats) == ("recalibrated", 4000, None)


def test_recalibration_recovers_what_miscalibration_costs(holdout):
    (model,) = simulate_decisions(CostProcess((1, 5)), holdout).models
    # Power 3: alarm from p / q = (1/5)^(1/3) on instead of 1/5.
    t = 1 / (1 + 5 ** (1 / 3))
    loss = (5 * t**2 + (1 - t) ** 2) / 2 - (5 / 36 + 25 / 36) / 2
    assert model.loss_low < loss < model.loss_high
    assert model.loss_low > 0
    assert model.loss == pytest.approx(model.calibrated - model.value)


def test_frequency_weights_are_repetition_and_zero_is_removal(holdout):
    y, p = holdout[0][:300], holdout[1][:300]
    weight = np.random.default_rng(1).integers(0, 4, 300)
    process = CostProcess((1, 5))
    (weighted,) = simulate_decisions(
        process, (y, p), sample_weight=weight, weight_type="frequency"
    ).models
    (repeated,) = simulate_decisions(process, (y.repeat(weight), p.repeat(weight, 0))).models
    ours, theirs = weighted.to_dict(), repeated.to_dict()
    for name in ("value", "low", "high", "baseline", "gain", "calibrated", "loss", "loss_low"):
        assert ours[name] == pytest.approx(theirs[name], rel=1e-9, abs=1e-12), name
    kept = weight > 0
    (zero,) = simulate_decisions(process, (y, p), sample_weight=kept.astype(float)).models
    (gone,) = simulate_decisions(process, (y[kept], p[kept])).models
    assert zero.value == pytest.approx(gone.value)
    assert zero.loss == pytest.approx(gone.loss)


def test_labels_positive_class_and_order_of_rows(holdout):
    y, p = holdout[0][:400], holdout[1][:400]
    process = CostProcess((1, 5))
    (plain,) = simulate_decisions(process, (y, p)).models
    names = np.where(y == 1, "ill", "well")  # "ill" is the first label but the positive class
    (named,) = simulate_decisions(process, (names, p[:, 1]), pos_label="ill").models
    assert named.to_dict() == plain.to_dict() | {"ece": pytest.approx(plain.ece)}
    order = np.random.default_rng(0).permutation(400)
    (shuffled,) = simulate_decisions(process, (y[order], p[order])).models
    for name in ("value", "low", "gain", "calibrated", "loss_low", "ece"):
        assert getattr(shuffled, name) == pytest.approx(getattr(plain, name), rel=1e-9)


def test_a_callable_sees_the_rows_in_their_order(holdout):
    amount = np.arange(200.0)

    def profit(y, p):
        return np.where(p[:, 1] > 0.5, amount * (2 * y - 1), 0)

    y, p = holdout[0][:200], holdout[1][:200]
    (model,) = simulate_decisions(profit, (y, p)).models
    assert model.value == pytest.approx(np.where(p[:, 1] > 0.5, amount * (2 * y - 1), 0).mean())
    assert model.calibrated > 0  # by amounts of other rows it would be next to nothing


def test_three_classes_on_a_test_set(multiclass):
    (model,) = simulate_decisions(CostProcess(1 - np.eye(3)), (multiclass.y, multiclass.p)).models
    right = multiclass.p.argmax(axis=1) == multiclass.y
    assert model.value == pytest.approx(right.mean() - 1)
    most = np.bincount(multiclass.y).max() / len(multiclass.y)
    assert model.baseline == pytest.approx(most - 1)


def test_ruin_is_minus_infinity(holdout):
    y, p = holdout[0].copy(), holdout[1].copy()
    p[0], y[0] = (1.0, 0.0), 1
    (model,) = simulate_decisions(KellyProcess([2, 2]), (y, p)).models
    assert model.value == model.low == model.high == -np.inf
    assert model.loss == np.inf
    assert np.isfinite(model.baseline)


def test_unequal_classes_are_pointed_out(holdout):
    y, p = holdout
    few = (y == 0) | (np.arange(len(y)) % 4 == 0)
    with pytest.warns(VeridicalWarning, match="set `class_shares`"):
        table = simulate(CostProcess((1, 5)), {"now": (y[few], p[few])})
    assert table.notes[0].startswith("now: its classes have shares")


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"process": 3}, "process"),
        ({"direction": "up"}, "direction"),
        ({"accuracy": 0.5}, "strictly between"),
        ({"accuracy": []}, "accuracy"),
        ({"ece": -0.1}, "zero or more"),
        ({"n_samples": 0}, "n_samples"),
        ({"n_repeats": 1}, "n_repeats"),
        ({"n_classes": 1}, "n_classes"),
        ({"class_shares": [0.5, 0.6]}, "sum to 1"),
        ({"class_shares": [0.9, 0.1], "accuracy": 0.8}, "largest share"),
        ({"source": {}}, "empty mapping"),
        ({"source": 5}, "int for 'model'"),
        ({"source": ([0, 1], [0.2, 0.7])}, "10 rows or more"),
        ({"source": DirichletFakeClassifier([1.0, 1.0, 1.0]), "n_classes": 2}, "of 2 classes"),
    ],
)
def test_refusals(options, match):
    given = {"process": CostProcess((1, 1)), **options}
    with pytest.raises(InvalidInputError, match=match):
        simulate_decisions(given.pop("process"), given.pop("source", None), **given)


def test_weights_are_refused_where_rows_compete(holdout):
    process = AllocationProcess(np.eye(2), [0, 1], 0.5)
    with pytest.raises(InvalidInputError, match="sees all rows at once"):
        simulate_decisions(process, holdout, sample_weight=np.arange(1, 4001))


def test_limits_over_repeats_are_those_of_a_mean_of_normal_values():
    from scipy.stats import t

    means = np.array([1.0, 2.0, 4.0, 7.0])
    found = over_repeats(means, 0.9)
    low, high = t.interval(0.9, 3, loc=means.mean(), scale=means.std(ddof=1) / 2)
    assert found == pytest.approx((3.5, low, high))
