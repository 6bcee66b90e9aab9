"""Predicted and realised costs against loops over rows and textbook formulas."""

import json
import math

import numpy as np
import pytest
from scipy.stats import norm

from veridical import InvalidInputError, VeridicalWarning
from veridical.decisions._costs.expected_cost import expected_cost
from veridical.results.decisions import ExpectedCost


def rows(n=120, k=3, a=4, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(k), n)
    y = np.array([rng.choice(k, p=row) for row in p])
    return y, p, rng.gamma(1.0, size=(k, a)), rng.gamma(1.0, size=n)


def by_loops(y, p, costs):
    """Promised, realised and least cost of each row, from the definition."""
    found = []
    for label, row in zip(y, p, strict=True):
        expected = [float(sum(row * costs[:, a])) for a in range(costs.shape[1])]
        action = expected.index(min(expected))
        found.append((expected[action], costs[label, action], costs[label].min(), action))
    return np.array(found)


@pytest.mark.parametrize("weighted", [False, True])
def test_means_and_intervals_are_those_of_the_rows(weighted):
    y, p, costs, w = rows()
    w = w if weighted else np.ones(len(y))
    found = by_loops(y, p, costs)
    promised, came, least, action = found.T
    result = expected_cost(y, p, costs, sample_weight=w if weighted else None)
    share = w / w.sum()
    assert result.predicted.estimate == pytest.approx(share @ promised, rel=1e-12)
    assert result.realised.estimate == pytest.approx(share @ came, rel=1e-12)
    assert result.perfect == pytest.approx(share @ least, rel=1e-12)
    always = [share @ costs[y, a] for a in range(4)]
    assert result.constant == pytest.approx(min(always), rel=1e-12)
    assert result.constant_action == int(np.argmin(always))
    for interval, values in (
        (result.predicted, promised),
        (result.realised, came),
        (result.difference, came - promised),
    ):
        spread = math.sqrt(float(share**2 @ (values - share @ values) ** 2))
        assert interval.high - interval.estimate == pytest.approx(1.959964 * spread, rel=1e-6)
    spread = math.sqrt(float(share**2 @ (came - promised - share @ (came - promised)) ** 2))
    z = share @ (came - promised) / spread
    assert result.difference.pvalue == pytest.approx(2 * norm.sf(abs(z)), rel=1e-9)
    for each in result.by_action:
        chosen = action == each.action
        assert each.n_samples == chosen.sum()
        assert each.share == pytest.approx(share[chosen].sum(), abs=1e-12)
        if chosen.any():
            mass = share[chosen] / share[chosen].sum()
            assert each.realised == pytest.approx(mass @ came[chosen])
            assert each.predicted == pytest.approx(mass @ promised[chosen])


def test_an_integer_frequency_is_repetition_and_zero_is_removal():
    y, p, costs, _ = rows(60)
    w = np.random.default_rng(1).integers(0, 4, 60)
    weighted = expected_cost(y, p, costs, sample_weight=w, weight_type="frequency")
    repeated = expected_cost(np.repeat(y, w), np.repeat(p, w, axis=0), costs)
    assert weighted.realised.low == pytest.approx(repeated.realised.low, rel=1e-12)
    assert weighted.difference.pvalue == pytest.approx(repeated.difference.pvalue, rel=1e-9)
    assert weighted.total_realised == pytest.approx(repeated.total_realised, rel=1e-12)
    assert weighted.total_predicted == pytest.approx(repeated.total_predicted, rel=1e-12)


def test_costs_of_rows_go_with_rows_of_weight_zero():
    y, p, _, _ = rows(40)
    costs = np.random.default_rng(2).gamma(1.0, size=(40, 3, 2))
    abstain = np.linspace(0, 1, 40)
    w = np.tile([1.0, 0.0], 20)
    gone = expected_cost(y, p, costs, abstain_cost=abstain, sample_weight=w)
    kept = expected_cost(y[::2], p[::2], costs[::2], abstain_cost=abstain[::2])
    assert gone.realised.estimate == pytest.approx(kept.realised.estimate, rel=1e-14)
    assert gone.realised.high == pytest.approx(kept.realised.high, rel=1e-12)
    assert [a.n_samples for a in gone.by_action] == [a.n_samples for a in kept.by_action]


def test_the_order_of_rows_does_not_matter():
    y, p, costs, w = rows()
    order = np.random.default_rng(4).permutation(len(y))
    options = {"method": "bca", "n_resamples": 200, "rng": 5}
    one = expected_cost(y, p, costs, sample_weight=w, **options)
    two = expected_cost(y[order], p[order], costs, sample_weight=w[order], **options)
    assert one.realised.low == pytest.approx(two.realised.low, rel=1e-12)
    assert one.difference.high == pytest.approx(two.difference.high, rel=1e-12)


def test_clusters_widen_intervals_of_repeated_rows():
    y, p, costs, _ = rows(80)
    tripled = [np.repeat(each, 3, axis=0) for each in (y, p)]
    clusters = np.repeat(np.arange(80), 3)
    once = expected_cost(y, p, costs)
    honest = expected_cost(*tripled, costs, groups=clusters)
    assert honest.realised.width == pytest.approx(once.realised.width, rel=1e-12)
    naive = expected_cost(*tripled, costs)
    assert naive.realised.width == pytest.approx(once.realised.width / math.sqrt(3), rel=1e-12)


def test_calibrated_predictions_promise_what_comes():
    # Outcomes in the exact proportions the predictions state.
    y = [1] * 2 + [0] * 8 + [1] * 7 + [0] * 3
    p = [0.2] * 10 + [0.7] * 10
    result = expected_cost(y, p, (1, 3))
    assert result.difference.estimate == pytest.approx(0, abs=1e-15)
    # Alarm above 1/4: ten silences promise 3 * 0.2 and ten alarms 0.3.
    assert result.predicted.estimate == pytest.approx((10 * 0.6 + 10 * 0.3) / 20)


def test_labels_decide_what_a_false_positive_is():
    y, p = ["no", "yes", "no", "yes"], [0.5, 0.75, 0.25, 0.25]
    plain = expected_cost([0, 1, 0, 1], p, (1, 2))
    named = expected_cost(y, p, (1, 2))
    assert named.realised.estimate == plain.realised.estimate
    assert [a.action for a in named.by_action] == ["no", "yes"]
    turned = expected_cost(y, [1 - value for value in p], (2, 1), pos_label="no")
    # At p = 1/3 exactly nothing lies, so swapping classes and costs swaps nothing else.
    assert turned.realised.estimate == plain.realised.estimate


def test_doubts_of_rare_costs_are_said():
    y = np.zeros(500, dtype=int)
    y[:3] = 1
    with pytest.warns(VeridicalWarning, match="about 3 rows alone decide") as caught:
        result = expected_cost(y, np.full(500, 0.01), (1, 50))
    assert len(result.notes) == len(caught) == 1


def test_the_result_reads_well_and_loses_nothing():
    result = expected_cost([0, 1, 0, 1], [0.5, 0.75, 0.25, 0.25], (1, 2), abstain_cost=5)
    text = str(result)
    assert "cost a decision 0.75" in text
    assert "0.3125 more than predicted" in text
    assert "always 1 would cost 0.5, knowing every outcome 0" in text
    assert ExpectedCost.from_dict(json.loads(json.dumps(result.to_dict()))) == result
    for backend in ("polars", "pandas", "pyarrow"):
        assert result.to_frame(backend=backend).shape == (3, 5)
    assert "<table>" in result._repr_html_()


def test_bad_options_are_refused():
    y, p = [0, 1], [0.4, 0.6]
    with pytest.raises(InvalidInputError, match="`method` must be one of"):
        expected_cost(y, p, (1, 1), method="wald")
    with pytest.raises(InvalidInputError, match="more than one row"):
        expected_cost([1], [0.5], (1, 1))
    with pytest.raises(InvalidInputError, match="`costs` must be of shape"):
        expected_cost(y, p, np.ones((3, 2)))
