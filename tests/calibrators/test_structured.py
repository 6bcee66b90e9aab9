"""Structured scaling against scipy on the written-out objective, probmetrics, known posteriors."""

from __future__ import annotations

import numpy as np
import pytest
from calibrators.multiclass_oracles import (
    log_loss,
    objective,
    overconfident,
    recorded_input,
    slopes,
    three_class_task,
)
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax

from veridical.calibrators._softmax.structured import (
    StructuredMatrixCalibrator,
    StructuredVectorCalibrator,
)
from veridical.calibrators._softmax.temperature import TemperatureCalibrator
from veridical.exceptions import InvalidInputError

BOTH = [StructuredVectorCalibrator, StructuredMatrixCalibrator]


def as_matrix(fitted):
    return fitted.coef_ if fitted.coef_.ndim == 2 else np.diag(fitted.coef_)


def scaled(p, y):
    """Log-probabilities of temperature scaling with 1 / (n + 1) of the uniform distribution."""
    return np.log(TemperatureCalibrator().fit(p, y).predict_proba(p))


@pytest.mark.parametrize("strength", [0.1, 1.0])
@pytest.mark.parametrize("maker", BOTH)
def test_the_fit_is_at_the_minimum_of_the_documented_objective(maker, strength):
    n, k = 150, 3
    _, y, p = overconfident(n, k, seed=1)
    fitted = maker(strength=strength).fit(p, y)
    features = scaled(p, y)
    ridge = (strength * k / n, strength * k * (k - 1) / n, strength * k / n)
    matrix = as_matrix(fitted)
    free = np.ones((k, k), dtype=bool) if maker is BOTH[1] else np.eye(k, dtype=bool)

    def naive(theta):
        moved = matrix.copy()
        moved[free] += theta[: free.sum()]
        return objective(features, y, moved, fitted.intercept_ + theta[free.sum() :], ridge)

    assert abs(slopes(naive, np.zeros(free.sum() + k))).max() < 1e-8
    scores = features @ matrix.T + fitted.intercept_
    np.testing.assert_allclose(fitted.predict_proba(p), softmax(scores, axis=1), rtol=1e-10)


def extended_objective(theta, p, y, strength):
    """Mean log loss and ridges of (W, V, U, b), written out; p are scaled and mixed."""
    n, k = p.shape
    w, v, u, b = np.split(theta, [k * k, 2 * k * k, 3 * k * k])
    w, v, u = (each.reshape(k, k) for each in (w, v, u))
    scores = np.log(p) @ w.T + p @ v.T + np.log(1 - p) @ u.T + b
    off = ~np.eye(k, dtype=bool)
    ridge = k * ((np.diag(w) - 1) ** 2).sum() + k * (k - 1) * (w[off] ** 2).sum() + k * b @ b
    ridge += k * (np.diag(u) ** 2).sum() + k * (k - 1) * (u[off] ** 2).sum()
    ridge += (np.diag(v) ** 2).sum() + k * (k - 1) / 10 * (v[off] ** 2).sum()
    losses = logsumexp(scores, axis=1) - scores[np.arange(n), y]
    return losses.mean() + strength / n * ridge


@pytest.mark.parametrize("strength", [0.15, 1.0])
def test_extended_features_end_at_the_optimum_that_scipy_finds(strength):
    k = 3
    _, y, p = overconfident(200, k, seed=1)
    fitted = StructuredMatrixCalibrator(strength=strength, features="extended").fit(p, y)
    args = (np.exp(scaled(p, y)), y, strength)
    start = np.concatenate([np.eye(k).ravel(), np.zeros(2 * k * k + k)])
    options = {"maxiter": 5000, "maxfun": 500_000, "ftol": 1e-15, "gtol": 1e-9}
    found = minimize(extended_objective, start, args, method="L-BFGS-B", options=options)
    w, v, u = np.split(fitted.coef_, 3, axis=1)
    ours = np.concatenate([w.ravel(), v.ravel(), u.ravel(), fitted.intercept_])
    assert extended_objective(ours, *args) <= found.fun + 1e-9
    assert abs(slopes(lambda move: extended_objective(ours + move, *args), 0 * ours)).max() < 1e-8
    np.testing.assert_allclose(ours, found.x, atol=2e-3)


def test_extended_features_bend_where_a_matrix_cannot():
    """Scores fall by 4 times the probability of another class, which is no line of logarithms."""
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(3), 20_000)
    truth = softmax(np.log(p) - 4 * p[:, [1, 2, 0]], axis=1)
    y = (rng.random(len(p))[:, None] > truth.cumsum(axis=1)).sum(axis=1).clip(max=2)
    errors = [
        abs(map.fit(p[:10_000], y[:10_000]).predict_proba(p[10_000:]) - truth[10_000:]).mean()
        for map in (StructuredMatrixCalibrator(), StructuredMatrixCalibrator(features="extended"))
    ]
    assert errors[1] < 0.4 * errors[0]


def test_a_strong_ridge_leaves_temperature_scaling_of_extended_features_too():
    _, y, p = overconfident(100, 4, seed=7)
    fitted = StructuredMatrixCalibrator(strength=1e9, features="extended").fit(p, y)
    expected = TemperatureCalibrator().fit(p, y).predict_proba(p)
    np.testing.assert_allclose(fitted.predict_proba(p), expected, atol=1e-6)


def test_unknown_features_are_refused():
    with pytest.raises(InvalidInputError, match="features"):
        StructuredMatrixCalibrator(features="more").fit([0.2, 0.7], [0, 1])


# probmetrics 1.3.0: SVSCalibrator() and SMSCalibrator() on `recorded_input()`, in float32
PROBMETRICS = {
    StructuredVectorCalibrator: (
        np.diag([0.7598954, 1.1369245, 1.4098513]),
        np.array([0.13450211, 0.1642713, -0.29877353]),
    ),
    StructuredMatrixCalibrator: (
        np.array(
            [
                [0.8051014, -0.06351873, -0.03602711],
                [0.02568584, 1.1059842, -0.14209688],
                [0.0706298, 0.00991354, 1.3574551],
            ]
        ),
        np.array([0.1583103, 0.02447052, -0.18278088]),
    ),
}


@pytest.mark.parametrize("maker", BOTH)
def test_probmetrics_stops_close_to_the_same_optimum(maker):
    """Same definition; the float32 search of probmetrics ends at a slightly higher objective."""
    y, p = recorded_input()
    fitted = maker().fit(p, y)
    matrix, intercept = PROBMETRICS[maker]
    np.testing.assert_allclose(as_matrix(fitted), matrix, atol=3e-3)
    np.testing.assert_allclose(fitted.intercept_, intercept, atol=3e-3)
    ridge = (3 / 200, 6 / 200, 3 / 200)
    ours = objective(scaled(p, y), y, as_matrix(fitted), fitted.intercept_, ridge)
    theirs = objective(scaled(p, y), y, matrix, intercept, ridge)
    assert ours < theirs < ours + 1e-6


@pytest.mark.parametrize("maker", BOTH)
def test_known_posteriors_of_the_survey_are_found_again(maker):
    y, posterior = three_class_task(30_000, seed=5)
    distorted = softmax(2 * np.log(np.maximum(posterior, 1e-30)) + [0.5, 0, -0.5], axis=1)
    fitted = maker().fit(distorted[:15_000], y[:15_000])
    new = slice(15_000, None)
    before = abs(distorted[new] - posterior[new]).sum(axis=1).mean() / 2
    after = abs(fitted.predict_proba(distorted[new]) - posterior[new]).sum(axis=1).mean() / 2
    assert before > 0.1
    assert after < 0.015


@pytest.mark.parametrize("maker", BOTH)
def test_the_map_approaches_the_identity_on_calibrated_predictions(maker):
    errors = []
    for n in (300, 30_000):
        p, y, _ = overconfident(n, 3, seed=6)
        errors.append(abs(maker().fit(p, y).predict_proba(p) - p).mean())
    assert errors[0] < 0.05
    assert errors[1] < 0.006


@pytest.mark.parametrize("maker", BOTH)
def test_a_strong_ridge_leaves_temperature_scaling(maker):
    _, y, p = overconfident(100, 4, seed=7)
    fitted = maker(strength=1e9).fit(p, y)
    expected = TemperatureCalibrator().fit(p, y)
    np.testing.assert_allclose(fitted.predict_proba(p), expected.predict_proba(p), atol=1e-7)
    assert fitted.temperature_ == expected.temperature_


@pytest.mark.parametrize("maker", BOTH)
def test_the_scale_of_scores_does_not_matter(maker):
    _, y, p = overconfident(200, 3, seed=8)
    one = maker(input="score").fit(np.log(p), y).predict_proba(np.log(p))
    other = maker(input="score").fit(50 * np.log(p), y).predict_proba(50 * np.log(p))
    np.testing.assert_allclose(other, one, atol=1e-7)


@pytest.mark.parametrize("maker", BOTH)
def test_many_classes_gain_on_new_rows(maker):
    _, y, p = overconfident(1500, 40, seed=9)
    fitted = maker().fit(p[:500], y[:500])
    gain = log_loss(p[500:], y[500:]) - log_loss(fitted.predict_proba(p[500:]), y[500:])
    assert gain > 0.1
    assert fitted.gradient_norm_ < 1e-6


@pytest.mark.parametrize("maker", BOTH)
def test_without_any_guard_saturated_logits_stay_finite(maker):
    z = np.array([[0.0, 800.0, -800.0], [900.0, 0.0, 1.0], [0.0, -700.0, 5.0]] * 5)
    fitted = maker(input="logit", pseudo_rows=0).fit(z, [1, 0, 2] * 5)
    assert np.isfinite(fitted.predict_proba(z)).all()


@pytest.mark.parametrize("maker", BOTH)
def test_options_are_checked(maker):
    with pytest.raises(InvalidInputError, match="strength"):
        maker(strength=-1).fit([0.2, 0.7], [0, 1])
