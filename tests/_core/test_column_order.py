"""Columns named after classes in another order are an error, not a silent mistake."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import veridical as v

P = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6], [0.5, 0.3, 0.2]])
Y = np.array(["ant", "bee", "cat", "bee"])
NAMES = ["ant", "bee", "cat"]
TURNED = ["cat", "bee", "ant"]


@pytest.mark.parametrize("library", [pd, pl])
def test_another_order_is_refused(library):
    right = library.DataFrame(dict(zip(NAMES, P.T, strict=True)))
    assert v.brier_score(Y, right) == v.brier_score(Y, P)
    with pytest.raises(v.InvalidInputError, match="in the order of the labels"):
        v.brier_score(Y, right[TURNED])
    with pytest.raises(v.InvalidInputError, match="in the order of the labels"):
        v.TemperatureCalibrator().fit(right[TURNED], Y)


def test_labels_say_what_columns_are():
    turned = pd.DataFrame(P, columns=NAMES)[TURNED]
    assert v.brier_score(Y, turned, labels=TURNED) == v.brier_score(Y, P)


def test_predictions_are_checked_as_well():
    fitted = v.TemperatureCalibrator().fit(P, Y)
    frame = pd.DataFrame(P, columns=NAMES)
    np.testing.assert_array_equal(fitted.predict_proba(frame), fitted.predict_proba(P))
    with pytest.raises(v.InvalidInputError, match="in the order of the labels"):
        fitted.predict_proba(frame[TURNED])


def test_other_names_are_free():
    assert v.brier_score(Y, pd.DataFrame(P, columns=["x", "y", "z"])) == v.brier_score(Y, P)


def test_swapped_arguments_are_told_the_right_way_round():
    with pytest.raises(v.InvalidInputError, match="labels first"):
        v.brier_score([0.2, 0.7], [0, 1])
    with pytest.raises(v.InvalidInputError, match="predictions first, then labels"):
        v.PlattCalibrator().fit([0, 1], [0.2, 0.7])
