"""The cost of miscalibration where the truth is known."""

import json

import numpy as np
import pytest

from veridical import InvalidInputError
from veridical.calibrators import HistogramCalibrator, IdentityCalibrator, IsotonicCalibrator
from veridical.decisions._costs.miscalibration_cost import miscalibration_cost
from veridical.results.decisions import MiscalibrationCost


def two_groups(copies=40):
    """Says 0.7 where 0.5 is right, and 0.3 where 0.1 is."""
    y = ([1, 0] * 5 + [1] + [0] * 9) * copies
    return np.array(y), np.array(([0.7] * 10 + [0.3] * 10) * copies)


def test_the_cost_is_what_wrong_thresholds_lose():
    # At costs 1.5 : 1 alarms are worth it above 0.6. Half of the rows, at 0.5, are called
    # positive for 1.5 * 0.5 instead of negative for 1 * 0.5.
    y, p = two_groups()
    cost = miscalibration_cost(y, p, (1.5, 1), calibrator=IsotonicCalibrator())
    assert cost.first == pytest.approx((1.5 * 0.5 + 0.1) / 2)
    assert cost.second == pytest.approx((0.5 + 0.1) / 2)
    assert cost.estimate == pytest.approx(0.125)
    assert cost.changed == 0.5
    assert cost.total == pytest.approx(0.125 * len(y))
    # Differences of rows: 1.5 or -1 in one half of the rows, 0 in the other, and one more row at
    # 1.5, weighted by a Bayesian bootstrap. In hindsight decisions are the same: no optimism.
    gains, losses, others = np.random.default_rng(0).gamma([[201], [200], [400]], size=(3, 400_000))
    means = (1.5 * gains - losses) / (gains + losses + others)
    assert cost.high == pytest.approx(np.quantile(means, 0.975), abs=2e-3 * np.std(means) * 5)


def test_miscalibration_that_crosses_no_threshold_costs_nothing():
    y, p = two_groups()
    cost = miscalibration_cost(y, p, (3, 1))
    assert (cost.estimate, cost.changed, cost.pvalue) == (0, 0, 1)
    # None of 800 rows; Clopper and Pearson's limit of a change that would cost or save 3.
    assert cost.high == -cost.low == pytest.approx(3 * (1 - 0.025 ** (1 / 800)), rel=1e-9)


def test_the_identity_changes_nothing():
    rng = np.random.default_rng(0)
    p = rng.random(200)
    y = (rng.random(200) < p**2).astype(int)
    cost = miscalibration_cost(y, p, (1, 3), calibrator=IdentityCalibrator())
    assert cost.estimate == cost.changed == 0
    assert cost.first == cost.second > 0


def test_it_is_not_optimistic_on_a_calibrated_model():
    # In sample, frequencies of 100 bins would save much; on other rows they can only do harm.
    rng = np.random.default_rng(3)
    p = rng.random(1500)
    y = (rng.random(1500) < p).astype(int)
    cost = miscalibration_cost(y, p, (1, 1), calibrator=HistogramCalibrator(n_bins=100))
    assert cost.estimate < 0


def test_known_distortion_of_three_classes():
    # Temperature 3 with costs that ask for confidence: the truth is known by construction.
    rng = np.random.default_rng(5)
    truth = rng.dirichlet(np.full(3, 0.7), 4000)
    y = (truth.cumsum(axis=1) > rng.random((4000, 1))).argmax(axis=1)
    sharp = truth**3 / (truth**3).sum(axis=1, keepdims=True)
    costs = 1 - np.eye(3)
    cost = miscalibration_cost(y, sharp, costs, abstain_cost=0.25)

    def paid(q):
        expected = np.column_stack([q @ costs, np.full(4000, 0.25)])
        action = expected.argmin(axis=1)
        return np.where(action == 3, 0.25, costs[y, np.minimum(action, 2)]).mean()

    assert cost.first == pytest.approx(paid(sharp), rel=1e-12)
    assert cost.estimate == pytest.approx(paid(sharp) - paid(truth), abs=0.006)
    assert cost.low > 0.02


def test_an_integer_frequency_is_repetition():
    rng = np.random.default_rng(7)
    p = rng.random(80)
    y, w = (rng.random(80) < p**2).astype(int), rng.integers(0, 4, 80)
    options = {"calibrator": IsotonicCalibrator()}
    weighted = miscalibration_cost(
        y, p, (1, 2), sample_weight=w, weight_type="frequency", **options
    )
    repeated = miscalibration_cost(np.repeat(y, w), np.repeat(p, w), (1, 2), **options)
    for name in ("estimate", "low", "high", "first", "second", "changed", "n_decisions"):
        assert getattr(weighted, name) == pytest.approx(getattr(repeated, name), abs=1e-12), name


@pytest.mark.parametrize("weight_type", ["importance", "frequency"])
def test_the_order_of_rows_does_not_matter(weight_type):
    # Few predictions and uneven weights: frequencies of folds hang on which rows are in which.
    rng = np.random.default_rng(8)
    p = rng.integers(1, 4, 60) / 4
    y, w = (rng.random(60) < p**2).astype(int), rng.integers(1, 5, 60) ** 3
    order = rng.permutation(60)
    options = {"weight_type": weight_type, "calibrator": IsotonicCalibrator()}
    for c in np.linspace(0.1, 0.9, 17):
        one = miscalibration_cost(y, p, (c, 1 - c), sample_weight=w, **options)
        two = miscalibration_cost(y[order], p[order], (c, 1 - c), sample_weight=w[order], **options)
        assert one.second == pytest.approx(two.second, abs=1e-14)
        assert one.low == pytest.approx(two.low, abs=1e-11)  # found by a search for a root


def test_costs_of_rows_stay_with_their_rows():
    # Amounts differ; only rows whose amount makes 0.3 or 0.7 cross its threshold can change.
    y, p = two_groups()
    amount = np.where(np.arange(len(y)) % 3 == 0, 10.0, 2.0)
    costs = np.zeros((len(y), 2, 2))
    costs[:, 0, 1], costs[:, 1, 0] = 1.5, amount
    cost = miscalibration_cost(y, p, costs, calibrator=IsotonicCalibrator())
    called = p > 1.5 / (1.5 + amount)
    after = np.where(p == 0.7, 0.5, 0.1) > 1.5 / (1.5 + amount)
    paid = [np.where(alarm, 1.5 * (y == 0), amount * (y == 1)).mean() for alarm in (called, after)]
    assert cost.first == pytest.approx(paid[0], rel=1e-12)
    assert cost.second == pytest.approx(paid[1], rel=1e-12)
    assert cost.changed == pytest.approx((called != after).mean())


def test_labels_and_positive_class():
    y, p = two_groups()
    named = np.where(y == 1, "ill", "well")
    plain = miscalibration_cost(y, p, (1.5, 1))
    told = miscalibration_cost(named, p, (1.5, 1), pos_label="ill")
    assert told.estimate == pytest.approx(plain.estimate, abs=1e-12)
    both = miscalibration_cost(named, np.column_stack([p, 1 - p]), (1.5, 1), pos_label="ill")
    assert both.estimate == pytest.approx(plain.estimate, abs=1e-12)


def test_the_result_reads_well_and_loses_nothing():
    y, p = two_groups()
    cost = miscalibration_cost(y, p, (1.5, 1), method="percentile", n_resamples=50, rng=1)
    assert str(cost).startswith("miscalibration costs 0.125 a decision (95 % interval 0.")
    assert "which changes 50.0% of the decisions" in str(cost)
    assert cost.low < 0.125 < cost.high
    assert MiscalibrationCost.from_dict(json.loads(json.dumps(cost.to_dict()))) == cost


def test_bad_options_are_refused():
    y, p = two_groups(1)
    with pytest.raises(InvalidInputError, match="`cv` must be an integer of 2 or more"):
        miscalibration_cost(y, p, (1, 1), cv=1)
    with pytest.raises(InvalidInputError, match="of 22 rows or more for 11 folds"):
        miscalibration_cost(y, p, (1, 1), cv=11)
    for wrong in ("isotonic", IsotonicCalibrator, IsotonicCalibrator(input="score")):
        with pytest.raises(InvalidInputError, match="`calibrator` must be a calibrator"):
            miscalibration_cost(y, p, (1, 1), calibrator=wrong)
