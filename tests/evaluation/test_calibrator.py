"""Evaluating through a calibrator, and the commonest mistake."""

import numpy as np
import pytest

from veridical import (
    BetaCalibrator,
    InvalidInputError,
    TemperatureCalibrator,
    VeridicalWarning,
    evaluate,
)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    p = rng.random(2000)
    y = (rng.random(2000) < p**2 / (p**2 + (1 - p) ** 2)).astype(int)
    return y, p


def test_the_output_of_the_calibrator_is_evaluated(data):
    y, p = data
    fitted = BetaCalibrator().fit(p[:1000], y[:1000])
    through = evaluate(y[1000:], p[1000:], calibrator=fitted)
    by_hand = evaluate(y[1000:], fitted.predict_proba(p[1000:])[:, 1])
    assert through.scores == pytest.approx(by_hand.scores, rel=1e-12)
    assert through.error("ECE").value == pytest.approx(by_hand.error("ECE").value, rel=1e-9)
    assert not through.notes
    assert through.scores["log"] < evaluate(y[1000:], p[1000:]).scores["log"]


def test_rows_that_were_fitted_on_are_noticed(data):
    y, p = data
    fitted = BetaCalibrator().fit(p, y)
    with pytest.warns(VeridicalWarning, match="all of these rows were used to fit"):
        result = evaluate(y, p, calibrator=fitted)
    assert "used to fit the calibrator" in result.notes[0]
    fitted.forget()
    assert not evaluate(y, p, calibrator=fitted).notes


def test_labels_the_calibrator_does_not_know_are_an_error_of_evaluate(data):
    y, p = data
    fitted = BetaCalibrator().fit(p[:1000], y[:1000])
    with pytest.raises(InvalidInputError, match=r"^evaluate: `y_true`"):
        evaluate(y[1000:] + 5, p[1000:], calibrator=fitted)


def test_several_classes_with_names():
    rng = np.random.default_rng(1)
    p = rng.dirichlet(np.ones(3), 900)
    y = np.array(["a", "b", "c"])[(rng.random(900)[:, None] >= p.cumsum(axis=1)[:, :-1]).sum(1)]
    fitted = TemperatureCalibrator().fit(p[:450], y[:450])
    result = evaluate(y[450:], p[450:], calibrator=fitted)
    assert result.classes == ("a", "b", "c")


def test_something_else_is_refused(data):
    with pytest.raises(InvalidInputError, match="`calibrator`"):
        evaluate(*data, calibrator=np.mean)
    with pytest.raises(InvalidInputError, match="fitted"):
        evaluate(*data, calibrator=BetaCalibrator())
