"""Inputs of the model as features of its map."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from veridical import log_loss
from veridical.calibrators import (
    BoostedCalibrator,
    CalibrationTree,
    PlattCalibrator,
    SegmentCalibrator,
)
from veridical.exceptions import InvalidInputError
from veridical.selection import CalibratedClassifier


def _rows(n, seed=0):
    """Outcomes that depend on a product, which a logistic regression does not see."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": rng.normal(size=n), "b": rng.choice([-1.0, 1.0], n)})
    p = 1 / (1 + np.exp(-1.5 * X["a"] * X["b"]))
    return X, np.where(rng.random(n) < p, "yes", "no")


@pytest.mark.parametrize(
    "calibrator", ["auto", CalibrationTree(), BoostedCalibrator(max_rounds=20)], ids=str
)
def test_the_map_mends_what_the_model_cannot_see(calibrator):
    X, y = _rows(1500)
    new, outcome = _rows(3000, seed=1)
    plain = CalibratedClassifier(LogisticRegression(), "platt", cv=3).fit(X, y)
    model = CalibratedClassifier(LogisticRegression(), calibrator, cv=3, features="X").fit(X, y)
    before, after = plain.predict_proba(new), model.predict_proba(new)
    assert log_loss(outcome, after) < log_loss(outcome, before) - 0.08
    if calibrator == "auto":
        assert isinstance(model.calibrators_[0], SegmentCalibrator)
        assert model.calibrators_[0].features_.names == ["a", "b"]


def test_columns_arrays_and_ensembles():
    X, y = _rows(1200)
    options = {"cv": 2, "features": ["b"]}
    named = CalibratedClassifier(LogisticRegression(), **options).fit(X, y)
    assert named.calibrators_[0].features_.names == ["b"]
    array = clone(named).set_params(features="X", ensemble=True).fit(X.to_numpy(), y)
    assert len(array.pairs_) == 2
    assert array.calibrators_[0].features_.names == ["x0", "x1"]
    assert array.predict_proba(X.to_numpy()).shape == (1200, 2)
    with pytest.warns(UserWarning, match="fitted without feature names"):  # by scikit-learn
        of_frame = array.predict_proba(X)
    np.testing.assert_array_equal(of_frame, array.predict_proba(X.to_numpy()))
    fitted = LogisticRegression().fit(X[:600], y[:600])
    prefit = CalibratedClassifier(fitted, cv="prefit", features="X").fit(X[600:], y[600:])
    np.testing.assert_allclose(prefit.predict_proba(X).sum(axis=1), 1)


def test_errors_say_what_to_pass():
    X, y = _rows(100)
    for options, param in (
        ({"features": "Z"}, "features"),
        ({"features": []}, "features"),
        ({"features": ["c"]}, "features"),
        ({"features": "X", "calibrator": PlattCalibrator()}, "calibrator"),
        ({"calibrator": SegmentCalibrator()}, "features"),
    ):
        with pytest.raises(InvalidInputError) as caught:
            CalibratedClassifier(LogisticRegression(), **options).fit(X, y)
        assert caught.value.param == param
