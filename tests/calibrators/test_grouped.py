"""One map for each group, pulled towards the map of all rows."""

import numpy as np
import pytest
from sklearn.base import clone

from veridical.calibrators._logistic.platt import PlattCalibrator
from veridical.calibrators._softmax.temperature import TemperatureCalibrator
from veridical.calibrators._steps.isotonic import IsotonicCalibrator
from veridical.calibrators._wrappers.grouped import GroupedCalibrator
from veridical.exceptions import InvalidInputError


def groups_of(data, seed=0):
    return np.random.default_rng(seed).choice(
        ["north", "south", "west"], len(data.y), p=[0.6, 0.3, 0.1]
    )


def test_maps_are_averaged_by_size(multiclass):
    p, y = multiclass.p, multiclass.y
    by = groups_of(multiclass)
    grouped = GroupedCalibrator(TemperatureCalibrator(), shrinkage=40)
    got = grouped.fit(p, y, by=by).predict_proba(p, by=by)
    pooled = TemperatureCalibrator().fit(p, y).predict_proba(p)
    assert grouped.groups_ == ["north", "south", "west"]
    for key in grouped.groups_:
        rows = by == key
        own = TemperatureCalibrator().fit(p[rows], y[rows]).predict_proba(p[rows])
        share = rows.sum() / (rows.sum() + 40)
        np.testing.assert_allclose(got[rows], share * own + (1 - share) * pooled[rows], atol=1e-12)


def test_no_shrinkage_is_each_group_on_its_own(binary):
    by = groups_of(binary)
    got = GroupedCalibrator(PlattCalibrator(), shrinkage=0).fit(binary.p, binary.y, by=by)
    rows = by == "west"
    own = PlattCalibrator().fit(binary.p[rows], binary.y[rows])
    np.testing.assert_allclose(
        got.predict_proba(binary.p[rows], by=by[rows]),
        own.predict_proba(binary.p[rows]),
        atol=1e-12,
    )


def test_unknown_group_gets_the_pooled_map(binary):
    by = groups_of(binary)
    got = GroupedCalibrator(PlattCalibrator()).fit(binary.p, binary.y, by=by)
    pooled = PlattCalibrator().fit(binary.p, binary.y).predict_proba([0.2, 0.8])
    np.testing.assert_array_equal(got.predict_proba([0.2, 0.8], by=["east", "centre"]), pooled)
    # Keys of another kind are unknown too.
    np.testing.assert_array_equal(got.predict_proba([0.2, 0.8], by=[1, 2]), pooled)


def test_sizes_follow_the_meaning_of_weights():
    p, y, by = [0.3, 0.6, 0.3, 0.6], [0, 1, 1, 1], ["a", "a", "b", "b"]
    w = [3, 1, 2, 2]
    importance = GroupedCalibrator(IsotonicCalibrator()).fit(p, y, w, by=by)
    np.testing.assert_allclose(importance.sizes_, [16 / 10, 2])
    frequency = GroupedCalibrator(IsotonicCalibrator(), weight_type="frequency")
    np.testing.assert_allclose(frequency.fit(p, y, w, by=by).sizes_, [4, 4])


def test_group_of_weight_zero_does_not_exist(binary):
    by = groups_of(binary)
    w = np.where(by == "west", 0.0, 1.0)
    got = GroupedCalibrator(PlattCalibrator()).fit(binary.p, binary.y, w, by=by)
    assert got.groups_ == ["north", "south"]


def test_group_that_cannot_be_fitted_alone_gets_the_pooled_map():
    p, y = np.array([0.2, 0.4, 0.7, 0.8] * 10), np.array([0, 1, 1, 1] * 5 + [1, 1, 0, 0] * 5)
    by = np.array(["both", "ones", "both", "both"] * 10)
    plain = PlattCalibrator(penalty=None, smooth_targets=False)
    got = GroupedCalibrator(plain).fit(p, y, by=by)
    assert got.parts_[got.groups_.index("ones")] is None
    pooled = clone(plain).fit(p, y).predict_proba([0.4])
    np.testing.assert_array_equal(got.predict_proba([0.4], by=["ones"]), pooled)


@pytest.mark.parametrize(
    "keys", [[1, 2], [True, False], [0.5, 1.5], ["x", "yy"], np.array(["a", "b"], dtype=object)]
)
def test_kinds_of_keys(keys):
    by = [keys[0]] * 4 + [keys[1]] * 4
    got = GroupedCalibrator(IsotonicCalibrator(laplace=0), shrinkage=0)
    got.fit([0.5] * 8, [1, 1, 1, 0, 1, 0, 0, 0], by=by)
    assert got.predict_proba([0.5, 0.5], by=list(keys))[:, 1].tolist() == [0.75, 0.25]


def test_labels_in_any_column_order(binary):
    by = groups_of(binary)
    y = np.array(["a", "b"])[binary.y]
    plain = GroupedCalibrator(PlattCalibrator()).fit(binary.p, y, by=by)
    told = {"labels": ["b", "a"], "pos_label": "b"}
    turned = GroupedCalibrator(PlattCalibrator(), **told).fit(binary.p, y, by=by)
    expected = plain.predict_proba(binary.p, by=by)
    np.testing.assert_allclose(turned.predict_proba(binary.p, by=by)[:, ::-1], expected, atol=1e-12)
    label = turned.predict([0.99, 0.01], by=["north", "north"])
    assert label.tolist() == ["b", "a"]


def test_groups_are_needed_at_every_call(binary):
    calibrator = GroupedCalibrator(PlattCalibrator())
    with pytest.raises(InvalidInputError, match="`by` must be given"):
        calibrator.fit(binary.p, binary.y)
    by = groups_of(binary)
    with pytest.raises(InvalidInputError, match="as long as"):
        calibrator.fit(binary.p, binary.y, by=by[:-1])
    with pytest.raises(InvalidInputError, match="as long as"):
        calibrator.fit(binary.p, binary.y, binary.w, by=by[:-1])
    calibrator.fit(binary.p, binary.y, by=by)
    with pytest.raises(InvalidInputError, match="`by` must be given"):
        calibrator.predict_proba(binary.p)
    with pytest.raises(InvalidInputError, match="as long as"):
        calibrator.predict(binary.p, by=by[:-1])


@pytest.mark.parametrize("value", [-1, "car", None, np.inf, True])
def test_shrinkage_is_checked(value, binary):
    calibrator = GroupedCalibrator(PlattCalibrator(), shrinkage=value)
    with pytest.raises(InvalidInputError, match="shrinkage"):
        calibrator.fit(binary.p, binary.y, by=groups_of(binary))
