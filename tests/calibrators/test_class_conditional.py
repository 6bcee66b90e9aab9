"""One map for each predicted class."""

import numpy as np
import pytest

from veridical.calibrators._logistic.platt import PlattCalibrator
from veridical.calibrators._softmax.temperature import TemperatureCalibrator
from veridical.calibrators._steps.isotonic import IsotonicCalibrator
from veridical.calibrators._wrappers.reductions import (
    ClassConditionalCalibrator,
    ConfidenceReducedCalibrator,
)
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
        IsotonicCalibrator(laplace=0), min_rows=1, labels=[1, 0], pos_label=1
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


# Probabilities of classes 0 and 1, and the class that happened.
ROWS = """
0.32,0.11,2 0.08,0.62,1 0.03,0.97,1 0.06,0.85,1 0.73,0.22,0 0.16,0.36,1 0.26,0.40,1
0.07,0.87,2 0.21,0.17,2 0.75,0.16,0 0.76,0.08,0 0.59,0.01,0 0.28,0.63,2 0.57,0.37,0
0.40,0.24,1 0.50,0.12,0 0.54,0.02,0 0.27,0.32,1 0.01,0.75,1 0.24,0.11,2 0.43,0.31,2
0.17,0.83,1 0.09,0.49,1 0.40,0.42,1 0.16,0.29,0 0.17,0.78,1 0.37,0.29,1 0.17,0.16,0
0.29,0.05,2 0.61,0.07,2 0.17,0.28,2 0.67,0.30,0 0.01,0.95,1 0.62,0.19,2 0.38,0.56,1
0.65,0.20,0 0.46,0.10,1 0.34,0.23,0 0.97,0.03,0 0.44,0.33,2 0.03,0.08,2 0.79,0.11,0
0.33,0.48,1 0.97,0.02,0 0.75,0.09,0 0.15,0.72,1 0.01,0.78,1 0.86,0.04,0 0.01,0.90,1
0.37,0.56,1 0.31,0.08,0 0.59,0.22,0 0.72,0.28,0 0.19,0.78,1 0.07,0.84,1 0.22,0.72,0
0.58,0.36,0 0.12,0.30,1 0.05,0.11,2 0.24,0.10,2
"""


def test_top_label_calibration_of_mapie():
    # MAPIE 1.6.0, TopLabelCalibrator(cv="prefit") with scikit-learn 1.9.1's IsotonicRegression
    # (out_of_bounds="clip"): an isotonic map of the confidence for each predicted class.
    table = np.array([[float(x) for x in row.split(",")] for row in ROWS.split()])
    p = np.column_stack([table[:, :2], (1 - table[:, 0] - table[:, 1]).round(2)])
    y = table[:, 2].astype(int)
    maps = ConfidenceReducedCalibrator(IsotonicCalibrator(laplace=0))
    calibrator = ClassConditionalCalibrator(maps, min_rows=1).fit(p, y)
    new = [
        [0.7, 0.2, 0.1],
        [0.5, 0.3, 0.2],
        [0.1, 0.8, 0.1],
        [0.3, 0.45, 0.25],
        [0.2, 0.2, 0.6],
        [0.05, 0.05, 0.9],
    ]
    got = calibrator.predict_proba(new)[np.arange(6), [0, 0, 1, 1, 2, 2]]
    np.testing.assert_allclose(got, [1, 0.75, 0.875, 0.8, 0.4, 1], atol=1e-12)
