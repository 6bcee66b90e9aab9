"""Columns of a frame have names, and zeros among probabilities do not outweigh the rest."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

from veridical import InvalidInputError, TemperatureCalibrator, VeridicalWarning
from veridical.calibrators import Calibrator
from veridical.calibrators._base.scales import smallest_share


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(3), 200)
    return p, rng.integers(0, 3, 200)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_columns_in_another_order_are_known_by_name(library, data):
    p, y = data
    frame = library({"a": p[:, 0], "b": p[:, 1], "c": p[:, 2]})
    with pytest.warns(VeridicalWarning, match="were taken for the classes 0, 1, 2"):
        fitted = TemperatureCalibrator().fit(frame, y)
    expected = fitted.predict_proba(p)
    again = Calibrator.from_dict(json.loads(json.dumps(fitted.to_dict())))
    for each in (fitted, again):
        np.testing.assert_array_equal(each.predict_proba(frame), expected)
        np.testing.assert_array_equal(each.predict_proba(frame[["c", "a", "b"]]), expected)
    with pytest.raises(InvalidInputError, match=r"same columns; got \['x', 'b', 'c'\]"):
        fitted.predict_proba(library({"x": p[:, 0], "b": p[:, 1], "c": p[:, 2]}))


def test_names_are_forgotten_when_fitted_anew(data):
    p, y = data
    fitted = TemperatureCalibrator(labels=[0, 1, 2]).fit(pd.DataFrame(p, columns=[*"abc"]), y)
    fitted.fit(p, y)
    fitted.predict_proba(pd.DataFrame(p, columns=["c", "b", "a"]))


def test_rounded_rows_are_calibrated_in_frames_as_in_arrays(data):
    p, y = data
    rounded = p.round(2)
    assert np.abs(rounded.sum(axis=1) - 1).max() > 1e-3
    fitted = TemperatureCalibrator().fit(p, y)
    frame = pl.DataFrame(rounded, schema=["p0", "p1", "p2"])
    found = fitted.transform(frame, prob=["p0", "p1", "p2"]).select(r"^calibrated_.*$").to_numpy()
    np.testing.assert_array_equal(found, fitted.predict_proba(rounded))


def test_zeros_are_raised_to_half_the_smallest_but_not_to_nothing():
    assert smallest_share(np.array([0.0, 0.2, 0.8])) == 0.1
    assert smallest_share(np.array([0.0, 1e-300, 1.0])) == 1e-16
    assert smallest_share(np.array([1e-40, 1.0])) == 5e-41
    assert smallest_share(np.zeros(3)) == 0.5


def test_a_floor_for_zeros_helps_where_tiny_probabilities_are_about(monkeypatch):
    """Naive Bayes: hundreds of zeros beside 1e-60, a few of them wrong."""
    rng = np.random.default_rng(1)
    z = 40 * rng.standard_normal((600, 3))
    p = np.exp(z - z.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    p[p < 1e-60] = 0.0
    y = np.where(rng.random(600) < 0.8, p.argmax(axis=1), rng.integers(0, 3, 600))

    def log_loss():
        q = TemperatureCalibrator().fit(p, y).predict_proba(p)
        return -np.log(q[np.arange(600), y]).mean()

    floored = log_loss()
    monkeypatch.setattr("veridical.calibrators._base.scales._LEAST_FOR_ZERO", 1e-300)
    assert floored < log_loss() - 0.05
