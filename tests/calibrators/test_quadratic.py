"""The quadratic map against scipy with linear constraints and known truths."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize
from scipy.special import expit

from veridical import InvalidInputError
from veridical.calibrators._logistic.quadratic import QuadraticCalibrator
from veridical.exceptions import VeridicalWarning


def parabola(n, seed, a, b, c, spread=1.5):
    rng = np.random.default_rng(seed)
    z = rng.normal(0, spread, n)
    return z, (rng.random(n) < expit(a + b * z + c * z * z)).astype(int)


def objective(theta, z, y, w, penalty):
    """Log loss plus ridge, written out."""
    a, b, c = theta
    eta = a + b * z + c * z * z
    slopes = b + 2 * c * np.array([z.min(), z.max()])
    ridge = penalty / 2 * (a**2 + np.sum((slopes - 1) ** 2))
    return np.sum(w * (np.logaddexp(0, eta) - y * eta)) + ridge


# Free inside; held at the left end; held at the right end; held at both.
TRUTHS = [(0.2, 0.9, 0.03), (-0.5, 0.8, 0.4), (0.3, 0.8, -0.4), (0.1, -0.8, 0.0)]


def doubt_of(truth):
    """Logits of a negative slope point away from the positive class."""
    if truth[1] >= 0:
        return nullcontext()
    return pytest.warns(VeridicalWarning, match="lower where 1 happened")


@pytest.mark.parametrize("truth", TRUTHS)
@pytest.mark.parametrize("penalty", [0.0, 1.0, 25.0])
def test_the_fit_is_the_constrained_optimum_scipy_finds(truth, penalty):
    z, y = parabola(400, 0, *truth)
    w = 1.0 + np.arange(400) % 3
    fitted = QuadraticCalibrator(penalty=penalty, input="logit", weight_type="frequency")
    with doubt_of(truth):
        fitted.fit(z, y, sample_weight=w)
    ends = np.array([[0, 1, 2 * z.min()], [0, 1, 2 * z.max()]])
    found = minimize(
        objective,
        [0.0, 1.0, 0.0],
        args=(z, y, w, penalty),
        constraints=LinearConstraint(ends, 0, np.inf),
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    ours = [fitted.a_, fitted.b_, fitted.c_]
    # SLSQP of old scipy breaks a constraint by 1e-8 and gains as much times the multiplier.
    assert objective(ours, z, y, w, penalty) <= found.fun + 1e-5
    assert ours == pytest.approx(found.x, abs=2e-3)
    assert (ends @ ours).min() >= -1e-12
    assert fitted.gradient_norm_ < 1e-8


def kkt_residual(fitted, z, y):
    """Gradient in (a, left slope, right slope) a row, less what presses on a bound."""
    low, high = z.min(), z.max()
    q = expit(fitted.a_ + fitted.b_ * z + fitted.c_ * z * z)
    moments = np.array([np.mean((q - y) * z**k) for k in range(3)])
    left = (high * moments[1] - moments[2] / 2) / (high - low)
    right = (moments[2] / 2 - low * moments[1]) / (high - low)
    slopes = fitted.b_ + 2 * fitted.c_ * np.array([low, high])
    ends = [min(g, 0) if s < 1e-9 else g for g, s in zip((left, right), slopes, strict=True)]
    return np.linalg.norm([moments[0], *ends])


@pytest.mark.parametrize("n", [500, 200_000])
@pytest.mark.parametrize("truth", TRUTHS)
def test_the_certificate_holds_when_computed_by_hand(n, truth):
    z, y = parabola(n, 1, *truth)
    with doubt_of(truth):
        fitted = QuadraticCalibrator(penalty=None, input="logit").fit(z, y)
    assert kkt_residual(fitted, z, y) < 1e-8


def test_a_rising_parabola_is_found():
    z, y = parabola(200_000, 2, -0.4, 0.9, 0.04)
    fitted = QuadraticCalibrator(input="logit").fit(z, y)
    x = np.column_stack([np.ones(len(z)), z, z * z])
    true = expit(x @ [-0.4, 0.9, 0.04])
    error = np.sqrt(np.diag(np.linalg.inv((x.T * (true * (1 - true))) @ x)))
    found = np.array([fitted.a_, fitted.b_, fitted.c_])
    assert np.all(np.abs(found - [-0.4, 0.9, 0.04]) < 4 * error)


def test_outside_the_data_the_map_is_a_straight_line():
    z, y = parabola(2000, 3, 0.0, 0.8, 0.1)
    fitted = QuadraticCalibrator(input="logit").fit(z, y)
    low, high = z.min(), z.max()
    assert fitted.range_ == (low, high)
    for end, steps in ((low, [-1.0, -2.0, -3.0]), (high, [1.0, 2.0, 3.0])):
        q = fitted.predict_proba(end + np.array([0.0, *steps]))[:, 1]
        eta = np.log(q / (1 - q))
        assert np.diff(eta) == pytest.approx(
            [(fitted.b_ + 2 * fitted.c_ * end) * steps[0]] * 3, abs=1e-6
        )


def test_scores_are_refused():
    with pytest.raises(InvalidInputError, match="`input` must be one of 'probability', 'logit'"):
        QuadraticCalibrator(input="score").fit([0.2, 0.7], [0, 1])
