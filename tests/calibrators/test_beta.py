"""Beta calibration against scipy with bounds and betacal."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from veridical import InvalidInputError
from veridical.calibrators._logistic.beta import BetaCalibrator
from veridical.exceptions import VeridicalWarning

GRID = [0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99]


def bent(n=300):
    """Probabilities on a grid and outcomes by the golden ratio; the best free `a` is negative."""
    i = np.arange(n)
    p = (i + 0.5) / n
    z = np.log(p / (1 - p))
    u = (i * 0.6180339887498949) % 1.0
    return p, (u < 1 / (1 + np.exp(-(0.6 * z + 0.15 * z * z - 0.3)))).astype(int)


def skewed(n, seed=0, a=0.6, b=1.5, c=0.3):
    """Outcomes that follow a beta map with known parameters."""
    rng = np.random.default_rng(seed)
    p = rng.beta(0.8, 0.8, n)
    return p, (rng.random(n) < expit(a * np.log(p) - b * np.log1p(-p) + c)).astype(int)


def full(theta, parameters):
    """Coefficients a, b, c of the fitted ones."""
    if parameters == "abm":
        return theta
    if parameters == "am":
        return theta[0], theta[0], theta[1]
    if parameters == "ab":
        return theta[0], theta[1], (theta[0] - theta[1]) * math.log(2)
    return theta[0], theta[0], 0.0


def objective(theta, parameters, p, y, w, penalty):
    """Log loss plus ridge, written out."""
    a, b, c = full(theta, parameters)
    eta = a * np.log(p) - b * np.log1p(-p) + c
    identity = {"abm": (1, 1, 0), "am": (1, 0), "ab": (1, 1), "a": (1,)}[parameters]
    ridge = penalty / 2 * np.sum((np.asarray(theta) - identity) ** 2)
    return np.sum(w * (np.logaddexp(0, eta) - y * eta)) + ridge


def fitted_theta(fitted):
    a, b, c = fitted.a_, fitted.b_, fitted.c_
    return {"abm": (a, b, c), "am": (a, c), "ab": (a, b), "a": (a,)}[fitted.parameters]


def derivatives(fitted, p, y, w, penalty):
    """Central differences of the objective, a row."""
    theta, steps = np.array(fitted_theta(fitted)), []
    for unit in np.eye(len(theta)) * 1e-5:
        ends = (
            objective(t, fitted.parameters, p, y, w, penalty) for t in (theta + unit, theta - unit)
        )
        high, low = ends
        steps.append((high - low) / 2e-5 / w.sum())
    return np.array(steps)


@pytest.mark.parametrize("parameters", ["abm", "am", "ab", "a"])
@pytest.mark.parametrize("penalty", [0.0, 1.0, 25.0])
@pytest.mark.parametrize("data", [bent, lambda: skewed(400)])
def test_the_fit_is_the_bounded_optimum_scipy_finds(parameters, penalty, data):
    p, y = data()
    w = 1.0 + np.arange(len(p)) % 3
    fitted = BetaCalibrator(parameters=parameters, penalty=penalty, weight_type="frequency")
    fitted.fit(p, y, sample_weight=w)
    start = {"abm": [1, 1, 0], "am": [1, 0], "ab": [1, 1], "a": [1]}[parameters]
    bounds = [(0, None) if value else (None, None) for value in start]
    found = minimize(
        objective, start, args=(parameters, p, y, w, penalty), bounds=bounds, tol=1e-12
    )
    ours = fitted_theta(fitted)
    assert objective(ours, parameters, p, y, w, penalty) <= found.fun + 1e-7
    assert ours == pytest.approx(found.x, abs=2e-3)
    assert fitted.gradient_norm_ < 1e-8
    slope = derivatives(fitted, p, y, w, penalty)
    held = [value == 0 and bound[0] == 0 for value, bound in zip(ours, bounds, strict=True)]
    assert np.abs(slope[np.logical_not(held)]).max(initial=0) < 1e-7
    assert slope[held].min(initial=0) >= 0  # the loss would rise further inside


def test_the_certificate_with_more_rows_than_cells():
    p, y = skewed(200_000, seed=1)
    fitted = BetaCalibrator(penalty=None).fit(p, y)
    q = expit(fitted.a_ * np.log(p) - fitted.b_ * np.log1p(-p) + fitted.c_)
    x = np.column_stack([np.log(p), -np.log1p(-p), np.ones(len(p))])
    assert np.linalg.norm((q - y) @ x) / len(p) < 1e-8
    # Four standard errors of a maximum-likelihood fit, from the information at the truth.
    true = expit(0.6 * np.log(p) - 1.5 * np.log1p(-p) + 0.3)
    error = np.sqrt(np.diag(np.linalg.inv((x.T * (true * (1 - true))) @ x)))
    assert np.all(np.abs(np.array([fitted.a_, fitted.b_, fitted.c_]) - [0.6, 1.5, 0.3]) < 4 * error)


@pytest.mark.parametrize(
    ("parameters", "theirs"),
    [
        (
            "abm",
            [0.2774667102, 0.2992654599, 0.3610985003, 0.4512910413, 0.5924445614, 0.8318728109,
             0.9847256113],
        ),
        (
            "am",
            [0.1272149409, 0.2895983624, 0.4210799799, 0.5112658494, 0.6007242173, 0.7285894019,
             0.8824619192],
        ),
    ],
)  # fmt: skip
def test_against_betacal(parameters, theirs):
    """`BetaCalibration(parameters).fit(p, y).predict(grid)` of betacal 1.1.0, scikit-learn 1.9.1.

    For "abm" the free `a` is negative, so both end at a = 0.
    """
    p, y = bent()
    fitted = BetaCalibrator(parameters=parameters, penalty=None).fit(p, y)
    assert fitted.predict_proba(GRID)[:, 1] == pytest.approx(theirs, abs=2e-4)
    assert (fitted.a_ == 0) == (parameters == "abm")


def test_betacal_falls_where_this_map_may_not():
    """With "ab", betacal 1.1.0 keeps a = -0.102: its map falls from .400 at .01 to .371 at .1.

    Within the bounds a, b >= 0 of the paper no map has a smaller loss than ours: the gradient
    vanishes along b and rises along a.
    """
    theirs = [0.4001016101526614, 0.371012438930725, 0.4148179744719367]
    assert theirs[1] < theirs[0]
    p, y = bent()
    fitted = BetaCalibrator(parameters="ab", penalty=None).fit(p, y)
    assert np.diff(fitted.predict_proba(GRID)[:, 1]).min() > 0
    slope = derivatives(fitted, p, y, np.ones(300), 0.0)
    assert fitted.a_ == 0
    assert slope[0] > 1e-4
    assert abs(slope[1]) < 1e-7


def test_betacal_turns_reversed_predictions_round_and_this_map_does_not():
    """On reversed outcomes betacal 1.1.0 keeps a = -0.514; here both slopes end at zero.

    A constant map then has the smallest log loss at the share of the class.
    """
    p, y = bent()
    with pytest.warns(VeridicalWarning, match="lower where 1 happened"):
        fitted = BetaCalibrator(penalty=None).fit(p, 1 - y)
    assert (fitted.a_, fitted.b_) == (0.0, 0.0)
    assert fitted.predict_proba([0.1, 0.9])[:, 1] == pytest.approx([147 / 300] * 2, abs=1e-8)


def test_the_midpoint_stays_where_it_is_told_to():
    p, y = bent()
    for parameters in ("ab", "a"):
        fitted = BetaCalibrator(parameters=parameters).fit(p, y)
        assert fitted.predict_proba([0.5])[0, 1] == pytest.approx(0.5, abs=1e-12)


def test_unknown_options():
    with pytest.raises(InvalidInputError, match="`parameters` must be one of 'abm', 'am'"):
        BetaCalibrator(parameters="amb").fit([0.2, 0.7], [0, 1])
    with pytest.raises(InvalidInputError, match="`input` must be one of 'probability', 'logit'"):
        BetaCalibrator(input="score").fit([0.2, 0.7], [0, 1])
