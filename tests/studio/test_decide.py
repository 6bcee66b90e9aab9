"""Costs, priors and thresholds against a count by hand."""

from __future__ import annotations

import numpy as np
import pytest

from veridical import decision_curve, expected_cost
from veridical._core.sample import BinarySample
from veridical.studio._api.decide import decision_rows

pytestmark = pytest.mark.filterwarnings("ignore::veridical.exceptions.VeridicalWarning")


def close(value):
    return pytest.approx(value, rel=1e-9, abs=1e-12)


@pytest.fixture
def rows(studio, ill):
    """Outcomes and predictions of being ill, with the data in use."""
    studio.use("ill.csv", "state", ["p"], positive=0)
    return (ill["state"] == "ill").astype(int), ill["p"]


def test_costs_and_net_benefit_by_hand(studio, rows):
    y, p = rows
    found = studio.get("decide", cost_fp=1, cost_fn=4)
    t = 1 / 5
    act = p > t
    assert found["label"] == "ill"
    assert found["threshold"] == close(t)
    assert found["called"] == close(np.mean(p >= t))
    assert found["cost"]["estimate"] == close(np.mean(act * (1 - y) + 4 * ~act * y))
    assert found["promised"] == close(np.mean(np.where(act, 1 - p, 4 * p)))
    assert found["constant"] == close(min(4 * y.mean(), 1 - y.mean()))
    benefit = np.mean(act * y) - np.mean(act * (1 - y)) * t / (1 - t)
    assert found["benefit"]["value"] == close(benefit)
    assert found["benefit"]["all"] == close(y.mean() - (1 - y.mean()) * t / (1 - t))


def test_another_share_of_positives_by_hand(studio, rows):
    y, p = rows
    share, prior, t = y.mean(), 0.1, 1 / 5
    found = studio.get("decide", cost_fp=1, cost_fn=4, prior=prior)
    up, down = p * prior / share, (1 - p) * (1 - prior) / (1 - share)
    act = up / (up + down) > t
    w = np.where(y == 1, prior / share, (1 - prior) / (1 - share))
    cost = act * (1 - y) + 4 * ~act * y
    assert found["cost"]["estimate"] == close(np.average(cost, weights=w))
    same = (p > t) * (1 - y) + 4 * ~(p > t) * y
    assert found["not_adjusted"] == close(np.average(same, weights=w))
    # Acting above this on the scale of the predictions is acting above t on the other.
    moved = found["threshold_as_given"]
    assert (act == (p > moved)).all()


def test_one_class_of_several(studio, animals):
    studio.use("animals.csv", "label", ["p_cat", "p_dog", "p_fox"])
    found = studio.get("decide", **{"class": 1})
    assert found["label"] == "dog"
    assert found["share"] == close(np.mean(animals["label"] == "dog"))


@pytest.mark.parametrize("query", [{"cost_fp": -1}, {"cost_fn": "nan"}, {"prior": 1}, {"class": 9}])
def test_odd_costs_are_explained(studio, rows, refused, query):
    found = refused(studio.client.get("/api/decide", params=query), 400)
    assert next(iter(query)) in found["error"]


def test_many_rows_counted_as_few_decide_alike():
    rng = np.random.default_rng(5)
    n, t = 40_000, 0.2345
    p = rng.beta(1, 2, n)
    p[:50] = t  # on the threshold itself
    y = (rng.random(n) < p).astype(np.int64)
    few = decision_rows(BinarySample(y=y, p=p), p, t)
    assert len(few.y) < 2100
    costs = (t, 1 - t)
    whole, small = (
        expected_cost(y, p, costs, labels=[0, 1]),
        expected_cost(few.y, few.p, costs, **few.options()),
    )
    assert small.predicted.estimate == close(whole.predicted.estimate)
    assert small.realised.estimate == pytest.approx(whole.realised.estimate, abs=50 / n)
    assert small.realised.high == pytest.approx(whole.realised.high, abs=50 / n)
    thresholds = [0.01, t, 0.5]
    curves = (
        decision_curve(y, p, thresholds=thresholds, labels=[0, 1]),
        decision_curve(few.y, few.p, thresholds=thresholds, **few.options()),
    )
    assert curves[1].net_benefit == close(curves[0].net_benefit)
    assert curves[1].low == pytest.approx(curves[0].low, abs=1e-6)
