"""Trees of feature values: the split the data were made with, rules in words, laws of leaves."""

import json

import numpy as np
import pytest
from calibrators.feature_data import is_hit, three_classes, two_classes
from scipy.special import expit, logit

from veridical import log_loss
from veridical.calibrators import (
    BetaCalibrator,
    BoostedCalibrator,
    CalibrationTree,
    Calibrator,
    IdentityCalibrator,
    PlattCalibrator,
    TemperatureCalibrator,
)
from veridical.exceptions import InvalidInputError


@pytest.mark.parametrize("data", [two_classes, three_classes])
def test_the_segment_that_is_wrong_becomes_a_leaf(data):
    frame, p, y = data()
    new, q, truth = data(seed=1)
    tree = CalibrationTree(TemperatureCalibrator()).fit(p, y, by=frame)
    assert any("sex = f" in rule and "region = South" in rule for rule in tree.rules)
    before = tree.base_.predict_proba(q)
    assert log_loss(truth, tree.predict_proba(q, by=new)) < log_loss(truth, before) - 0.005
    assert tree.sizes_.sum() == pytest.approx(len(y))
    members = tree._members(tree._codes(new, len(q), "test"))
    np.testing.assert_array_equal(members.sum(axis=1), 1)  # every row is in one leaf


def test_a_leaf_of_many_rows_has_the_platt_map_of_its_rows():
    rng = np.random.default_rng(2)
    n = 10_000
    side, p = rng.choice(["left", "right"], n), rng.uniform(0.02, 0.98, n)
    line = np.where(side == "left", 0.5 * logit(p) + 1, 1.5 * logit(p) - 1)
    y = (rng.random(n) < expit(line)).astype(int)
    tree = CalibrationTree(IdentityCalibrator(), penalty=1e-6, max_leaves=2)
    tree.fit(p, y, by={"side": side})
    scores = np.array([0.1, 0.5, 0.8])
    for name in ("left", "right"):
        alone = PlattCalibrator(smooth_targets=False, penalty=None)
        expected = alone.fit(p[side == name], y[side == name]).predict_proba(scores)
        found = tree.predict_proba(scores, by={"side": [name] * 3})
        np.testing.assert_allclose(found, expected, atol=1e-4)


def test_there_is_no_split_where_none_helps():
    frame, p, y = two_classes(n=1500, shift=0.0)
    tree = CalibrationTree(BetaCalibrator()).fit(p, y, by=frame)
    if not len(tree.slopes_):
        np.testing.assert_array_equal(
            tree.predict_proba(p, by=frame), BetaCalibrator().fit(p, y).predict_proba(p)
        )
        assert "no split" in tree.explain()
    assert CalibrationTree(max_leaves=1).fit(p, y, by=frame).rules == []


def test_rules_name_ranges_of_numbers():
    rng = np.random.default_rng(0)
    n = 6000
    age, p = rng.integers(18, 80, n), rng.random(n)
    middle = (age > 40) & (age <= 60)
    y = (rng.random(n) < expit(logit(p) + 2.0 * middle)).astype(int)
    tree = CalibrationTree(PlattCalibrator(), n_bins=8).fit(p, y, by={"age": age})
    assert any(rule.startswith("age 4") and " to " in rule for rule in tree.rules)
    assert tree.explain().count("rows") >= 2


def test_it_is_saved_and_leaves_that_overlap_are_refused():
    frame, p, y = two_classes()
    tree = CalibrationTree(PlattCalibrator()).fit(p, y, by=frame)
    data = json.loads(json.dumps(tree.to_dict()))
    back = Calibrator.from_dict(data)
    np.testing.assert_array_equal(back.predict_proba(p, by=frame), tree.predict_proba(p, by=frame))
    cells = data["fitted"]["allowed_"]
    cells["array"] = [1] * len(cells["array"])
    with pytest.raises(InvalidInputError, match="allowed_"):
        Calibrator.from_dict(data)


@pytest.mark.parametrize("data", [two_classes, three_classes])
def test_boosted_trees_use_features(data):
    frame, p, y = data()
    new, q, truth = data(seed=1)
    alone = BoostedCalibrator(TemperatureCalibrator()).fit(p, y)
    map = BoostedCalibrator(TemperatureCalibrator()).fit(p, y, by=frame)
    found = map.predict_proba(q, by=new)
    assert log_loss(truth, found) < log_loss(truth, alone.predict_proba(q)) - 0.005
    hit, event = is_hit(new), 0 if q.ndim == 2 else 1
    happened = (truth[hit] == event).mean()
    before = abs(alone.predict_proba(q)[hit, event].mean() - happened)
    assert abs(found[hit, event].mean() - happened) < before / 2
    few = map.predict_proba(q[:50], by=new[:50])  # few rows are looked up another way
    np.testing.assert_allclose(few, found[:50], atol=1e-12)
    back = Calibrator.from_dict(json.loads(json.dumps(map.to_dict())))
    np.testing.assert_array_equal(back.predict_proba(q, by=new), found)


def test_boosted_trees_without_features_take_none():
    frame, p, y = two_classes(n=600)
    map = BoostedCalibrator(PlattCalibrator()).fit(p, y)
    with pytest.raises(InvalidInputError, match="`by` must be unset"):
        map.predict_proba(p, by=frame)
    map.fit(p, y, by=frame)
    with pytest.raises(InvalidInputError, match="`by` must be given"):
        map.predict_proba(p)
    assert not hasattr(map.fit(p, y), "features_")  # another fit forgets them
