"""One map for each predicted class."""

import numpy as np
import pytest

from veridical.calibrators._class_conditional import ClassConditionalCalibrator
from veridical.calibrators._confidence_reduced import ConfidenceReducedCalibrator
from veridical.calibrators._isotonic import IsotonicCalibrator
from veridical.calibrators._platt import PlattCalibrator
from veridical.calibrators._temperature import TemperatureCalibrator
from veridical.exceptions import InvalidInputError


def test_each_predicted_class_has_the_map_of_its_own_rows(multiclass):
    p, y, w = multiclass.p, multiclass.y, multiclass.w
    got = ClassConditionalCalibrator(TemperatureCalibrator()).fit(p, y, w).predict_proba(p)
    for k in range(3):
        rows = p.argmax(axis=1) == k
        own = TemperatureCalibrator().fit(p[rows], y[rows], w[rows]).predict_proba(p[rows])
        np.testing.assert_array_equal(got[rows], own)


def test_class_never_predicted_gets_the_pooled_map(multiclass):
    # Class 2 is never on top in the fitted rows.
    p = multiclass.p[multiclass.p.argmax(axis=1) < 2]
    y = multiclass.y[multiclass.p.argmax(axis=1) < 2]
    calibrator = ClassConditionalCalibrator(TemperatureCalibrator()).fit(p, y)
    assert calibrator.parts_[2] is None
    new = np.array([[0.1, 0.2, 0.7], [0.1, 0.7, 0.2]])
    pooled = TemperatureCalibrator().fit(p, y).predict_proba(new)
    got = calibrator.predict_proba(new)
    np.testing.assert_array_equal(got[0], pooled[0])
    assert np.abs(got[1] - pooled[1]).max() > 1e-4


@pytest.mark.parametrize(("rows", "own"), [(29, False), (30, True)])
def test_least_number_of_rows(rows, own):
    p = np.array([0.8] * rows + [0.3] * 100)
    y = np.array([1, 0, 1] * 100)[: len(p)]
    calibrator = ClassConditionalCalibrator(TemperatureCalibrator(), min_rows=30)
    assert (calibrator.fit(p, y).parts_[1] is not None) is own
    w = np.full(len(p), 0.1)  # as importance weights they leave the size as it is
    assert (calibrator.fit(p, y, w).parts_[1] is not None) is own
    calibrator.set_params(weight_type="frequency")
    assert calibrator.fit(p, y, w).parts_[1] is None
    assert calibrator.fit(p, y, 10 * np.ones(len(p))).parts_[1] is not None


def test_rows_that_cannot_be_fitted_alone_get_the_pooled_map():
    # Where 1 is predicted it always happens: Platt scaling without guards has no optimum there.
    p = np.array([0.8] * 60 + [0.3, 0.4] * 30)
    y = np.array([1] * 60 + [0, 1, 0, 0] * 15)
    plain = PlattCalibrator(penalty=None, smooth_targets=False)
    calibrator = ClassConditionalCalibrator(plain).fit(p, y)
    assert calibrator.parts_[1] is None
    assert calibrator.parts_[0] is not None
    pooled = plain.fit(p, y).predict_proba([0.8])
    np.testing.assert_array_equal(calibrator.predict_proba([0.8]), pooled)


def test_ties_go_to_the_first_class():
    calibrator = ClassConditionalCalibrator(IsotonicCalibrator(laplace=0), min_rows=1)
    p, y = [0.5, 0.5, 0.5, 0.9, 0.9], [1, 0, 0, 1, 1]
    assert len(calibrator.fit(p, y).parts_) == 2
    assert calibrator.predict_proba([0.5])[0, 1] == pytest.approx(1 / 3)
    # With the larger label in the first column, ties belong to it.
    turned = ClassConditionalCalibrator(
        IsotonicCalibrator(laplace=0), min_rows=1, labels=[1, 0]
    ).fit(p, y)
    assert turned.parts_[0] is None
    assert turned.predict_proba([0.5])[0, 0] == pytest.approx(1 / 3)


def test_repairs_classes_that_differ():
    # Over-confident where class 0 is predicted, calibrated elsewhere.
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(3), 20_000)
    flat = p.argmax(axis=1) == 0
    truth = np.where(flat[:, None], p**0.5, p)
    truth /= truth.sum(axis=1, keepdims=True)
    y = (rng.random(len(p))[:, None] > truth.cumsum(axis=1)).sum(axis=1)
    got = ClassConditionalCalibrator(TemperatureCalibrator()).fit(p, y)
    assert got.parts_[0].temperature_ == pytest.approx(2, rel=0.05)
    assert got.parts_[1].temperature_ == pytest.approx(1, rel=0.05)
    assert np.abs(got.predict_proba(p) - truth).max() < 0.02


def test_wraps_a_wrapper(multiclass):
    nested = ClassConditionalCalibrator(ConfidenceReducedCalibrator(PlattCalibrator()))
    p = nested.fit(multiclass.p, multiclass.y).predict_proba(multiclass.p)
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-12)
    logits = np.log(multiclass.p + 0.01)
    nested.set_params(input="logit").fit(logits, multiclass.y)
    assert nested.parts_[0].part_.input == "logit"


@pytest.mark.parametrize("value", [0, -1, "all", None, True, np.nan])
def test_least_number_of_rows_is_checked(value, binary):
    calibrator = ClassConditionalCalibrator(TemperatureCalibrator(), min_rows=value)
    with pytest.raises(InvalidInputError, match="min_rows"):
        calibrator.fit(binary.p, binary.y)
