"""Vector and matrix scaling: derivatives, optima, weights, bad input, and what the guards buy."""

from __future__ import annotations

import json

import numpy as np
import pytest
from calibrators.multiclass_oracles import log_loss, objective, overconfident, slopes
from scipy.optimize import minimize
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression

from veridical.calibrators._base.bases import WeightedOutcomes
from veridical.calibrators._base.persistence import encode
from veridical.calibrators._softmax.dirichlet import DirichletCalibrator
from veridical.calibrators._softmax.linear import MatrixCalibrator, VectorCalibrator
from veridical.calibrators._softmax.structured import (
    StructuredMatrixCalibrator,
    StructuredVectorCalibrator,
)
from veridical.calibrators._softmax.temperature import (
    EnsembleTemperatureCalibrator,
    TemperatureCalibrator,
)
from veridical.calibrators._softmax.truncated_newton import DiagonalMap, FullMap, truncated_newton
from veridical.exceptions import InvalidInputError, VeridicalWarning

MAPS = [
    TemperatureCalibrator,
    EnsembleTemperatureCalibrator,
    VectorCalibrator,
    MatrixCalibrator,
    DirichletCalibrator,
    StructuredVectorCalibrator,
    StructuredMatrixCalibrator,
]
PENALISED = [VectorCalibrator, MatrixCalibrator, DirichletCalibrator]


def ridge(penalty, k, n, strength=1.0):
    """Coefficients of diagonal, off-diagonal and intercepts, as documented."""
    if penalty is None:
        return 0.0, 0.0, 0.0
    unit = strength * k / n
    return unit * (1e-3 if penalty == "odir" else 1), unit * (k - 1), unit


def small_objective(kind, k=4, n=25):
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(n, k))
    rows = WeightedOutcomes(rng.integers(k, size=n), rng.uniform(0.1, 3, n), 17.0, k)
    size = 2 * k if kind is DiagonalMap else k * (k + 1)
    centre, penalty = rng.normal(size=size), rng.uniform(0, 0.1, size)
    return kind(logits, rows, centre, penalty), rng.normal(size=size)


@pytest.mark.parametrize("kind", [DiagonalMap, FullMap])
def test_derivatives_are_those_of_finite_differences(kind):
    function, theta = small_objective(kind)
    p = function.value(theta)[1]
    gradient = slopes(lambda t: function.value(t)[0], theta)
    np.testing.assert_allclose(function.gradient(theta, p), gradient, atol=1e-8)
    rows = [
        slopes(lambda t, i=i: function.gradient(t, function.value(t)[1])[i], theta)
        for i in range(len(theta))
    ]
    hessian = function.hessian(p)
    np.testing.assert_allclose(hessian, rows, atol=1e-8)
    product = function.hessian_product(p)
    np.testing.assert_allclose(
        np.column_stack([product(e) for e in np.eye(len(theta))]), hessian, atol=1e-5
    )
    diagonal, between = function.hessian_diagonal(p)
    np.testing.assert_allclose(diagonal, np.diag(hessian), atol=1e-12)
    np.testing.assert_allclose(between, hessian[function.slopes, function.intercepts], atol=1e-12)


@pytest.mark.parametrize("kind", [DiagonalMap, FullMap])
def test_exact_and_truncated_newton_agree(kind, monkeypatch):
    function, theta = small_objective(kind, n=200)
    exact = truncated_newton(function, theta)
    monkeypatch.setattr(kind, "exact_up_to", 0)
    truncated = truncated_newton(function, theta)
    assert exact.converged
    assert truncated.converged
    assert exact.gradient_norm < 1e-9
    assert truncated.gradient_norm < 1e-7
    np.testing.assert_allclose(truncated.theta, exact.theta, atol=1e-4)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("penalty", ["odir", "l2", None])
def test_matrix_scaling_is_at_the_minimum_of_the_documented_objective(penalty, weighted):
    _, y, p = overconfident(150, 3, seed=1)
    weight = np.random.default_rng(2).uniform(0.5, 2, 150) if weighted else None
    n = 150 if weight is None else weight.sum() ** 2 / (weight**2).sum()
    fitted = MatrixCalibrator(penalty=penalty, strength=0.5).fit(p, y, sample_weight=weight)

    def naive(theta):
        matrix = theta.reshape(3, 4)
        coefficients = ridge(penalty, 3, n, 0.5)
        return objective(np.log(p), y, matrix[:, :3], matrix[:, 3], coefficients, weight)

    oracle = minimize(naive, np.eye(3, 4).ravel(), method="BFGS", options={"gtol": 1e-7})
    found = np.column_stack([fitted.coef_, fitted.intercept_]).ravel()
    assert naive(found) <= oracle.fun + 1e-13
    assert abs(slopes(naive, found)).max() < 1e-8
    assert fitted.gradient_norm_ < 1e-9
    if penalty is not None:
        np.testing.assert_allclose(found, oracle.x, atol=1e-4)


@pytest.mark.parametrize("penalty", ["odir", "l2", None])
def test_vector_scaling_is_at_the_minimum_of_the_documented_objective(penalty):
    _, y, p = overconfident(150, 3, seed=3)
    fitted = VectorCalibrator(penalty=penalty).fit(p, y)

    def naive(theta):
        return objective(np.log(p), y, np.diag(theta[:3]), theta[3:], ridge(penalty, 3, 150))

    found = np.concatenate([fitted.coef_, fitted.intercept_])
    oracle = minimize(naive, np.repeat([1.0, 0], 3), method="BFGS", options={"gtol": 1e-7})
    assert naive(found) <= oracle.fun + 1e-13
    assert abs(slopes(naive, found)).max() < 1e-8


def test_unpenalised_matrix_scaling_is_multinomial_regression():
    _, y, p = overconfident(400, 4, seed=4)
    reference = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000).fit(np.log(p), y)
    fitted = MatrixCalibrator(penalty=None, pseudo_rows=0).fit(p, y)
    np.testing.assert_allclose(
        fitted.predict_proba(p), reference.predict_proba(np.log(p)), atol=1e-5
    )
    # where they differ, ours is nearer the optimum
    assert log_loss(fitted.predict_proba(p), y) <= (
        log_loss(reference.predict_proba(np.log(p)), y) + 1e-14
    )


def test_many_classes_reach_the_certificate_too():
    k, n = 30, 900
    _, y, p = overconfident(n, k, seed=5)
    fitted = MatrixCalibrator().fit(p, y)
    diagonal, off, bias = ridge("odir", k, n)
    f = np.log(p)
    residuals = softmax(f @ fitted.coef_.T + fitted.intercept_, axis=1)
    residuals[np.arange(n), y] -= 1
    gradient = residuals.T @ f / n
    pull = np.where(np.eye(k), diagonal * (fitted.coef_ - np.eye(k)), off * fitted.coef_)
    assert abs(gradient + 2 * pull).max() < 1e-6
    assert abs(residuals.mean(axis=0) + 2 * bias * fitted.intercept_).max() < 1e-6


@pytest.mark.parametrize("maker", PENALISED)
@pytest.mark.parametrize("penalty", ["odir", "l2"])
def test_the_map_approaches_the_identity_on_calibrated_predictions(maker, penalty):
    errors = []
    for n in (300, 30_000):
        p, y, _ = overconfident(n, 3, seed=6)
        errors.append(abs(maker(penalty=penalty).fit(p, y).predict_proba(p) - p).mean())
    assert errors[0] < 0.05
    assert errors[1] < 0.006


@pytest.mark.parametrize("maker", MAPS)
def test_integer_weights_are_repetition(maker):
    _, y, p = overconfident(80, 3, seed=7)
    weight = np.arange(80) % 3
    rows = np.repeat(np.arange(80), weight)
    repeated = maker().fit(p[rows], y[rows]).predict_proba(p)
    counted = maker(weight_type="frequency").fit(p, y, sample_weight=weight).predict_proba(p)
    np.testing.assert_allclose(counted, repeated, atol=1e-7)


@pytest.mark.parametrize("maker", PENALISED)
def test_without_guards_weights_have_no_scale(maker):
    _, y, p = overconfident(80, 3, seed=8)
    weight = 1 + np.arange(80) % 3
    rows = np.repeat(np.arange(80), weight)
    bare = {"penalty": None, "pseudo_rows": 0}
    repeated = maker(**bare).fit(p[rows], y[rows]).predict_proba(p)
    weighted = maker(**bare).fit(p, y, sample_weight=weight / 7).predict_proba(p)
    np.testing.assert_allclose(weighted, repeated, atol=1e-7)


@pytest.mark.parametrize("maker", PENALISED)
def test_a_penalty_without_end_is_the_identity_or_its_multiple(maker):
    _, y, p = overconfident(80, 3, seed=9)
    fitted = maker(penalty="l2", strength=1e9, pseudo_rows=0).fit(p, y)
    np.testing.assert_allclose(fitted.predict_proba(p), p, atol=1e-6)


def degenerate_samples():
    rng = np.random.default_rng(10)
    p = softmax(rng.normal(size=(40, 5)) * 2, axis=1)
    exact = np.eye(5)[rng.integers(5, size=40)]
    return {
        "a class is absent": (p, rng.integers(4, size=40)),
        "one class only": (p, np.full(40, 2)),
        "fewer rows than parameters": (p[:3], np.array([0, 1, 4])),
        "one row": (p[:1], np.array([3])),
        "separable": (p, p.argmax(axis=1)),
        "never right": (p, p.argmin(axis=1)),
        "all scores equal": (np.full((40, 5), 0.2), rng.integers(5, size=40)),
        "only zeros and ones": (exact, rng.integers(5, size=40)),
        "only zeros and ones, all right": (exact, exact.argmax(axis=1)),
    }


@pytest.mark.parametrize("case", degenerate_samples())
@pytest.mark.parametrize("maker", MAPS)
def test_degenerate_samples_give_finite_maps(maker, case):
    p, y = degenerate_samples()[case]
    fitted = maker(labels=list(range(5))).fit(p, y)
    fresh = softmax(np.random.default_rng(11).normal(size=(20, 5)) * 5, axis=1)
    for rows in (p, fresh, np.eye(5)):
        calibrated = fitted.predict_proba(rows)
        assert np.isfinite(np.log(calibrated)).all()
        np.testing.assert_allclose(calibrated.sum(axis=1), 1, rtol=1e-9)
    json.dumps(encode(fitted), allow_nan=False)


@pytest.mark.parametrize("maker", PENALISED)
def test_without_a_penalty_separable_rows_are_doubtful_but_finite(maker):
    p, _ = degenerate_samples()["separable"]
    fitted = maker(penalty=None)
    with pytest.warns(VeridicalWarning, match="no optimum"):
        fitted.fit(p, p.argmax(axis=1))
    assert np.isfinite(fitted.predict_proba(p)).all()


def test_the_ridge_prevents_the_blow_up_of_matrix_scaling_on_few_rows():
    posterior, y, p = overconfident(2300, 20, seed=12)  # 420 parameters for 300 rows
    train, test = slice(0, 300), slice(300, None)
    guarded = MatrixCalibrator().fit(p[train], y[train])
    bare = MatrixCalibrator(penalty=None, pseudo_rows=0).fit(p[train], y[train])
    best, raw = log_loss(posterior[test], y[test]), log_loss(p[test], y[test])
    assert log_loss(bare.predict_proba(p[test]), y[test]) > raw + 1
    assert log_loss(guarded.predict_proba(p[test]), y[test]) < best + 0.1 < raw


@pytest.mark.parametrize("maker", PENALISED)
def test_without_a_penalty_an_absent_class_is_doubtful_but_finite(maker):
    p, y = degenerate_samples()["a class is absent"]
    fitted = maker(penalty=None, labels=list(range(5)))
    with pytest.warns(VeridicalWarning):
        fitted.fit(p, y)
    assert np.isfinite(np.log(fitted.predict_proba(p))).all()


@pytest.mark.parametrize("maker", PENALISED)
@pytest.mark.parametrize(
    "options", [{"penalty": "ridge"}, {"strength": -1}, {"strength": "1"}, {"pseudo_rows": -1}]
)
def test_options_are_checked(maker, options):
    with pytest.raises(InvalidInputError, match=next(iter(options))):
        maker(**options).fit([0.2, 0.7], [0, 1])
