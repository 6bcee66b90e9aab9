"""Ensemble temperature scaling: optimality conditions, order of classes, limits."""

from __future__ import annotations

import json

import numpy as np
import pytest
from calibrators.multiclass_oracles import log_loss, overconfident
from scipy.special import softmax

from veridical._core.numeric.simplex import simplex_weights
from veridical.calibrators._base.persistence import encode
from veridical.calibrators._softmax.temperature import (
    EnsembleTemperatureCalibrator,
    TemperatureCalibrator,
)


def blunders(n, seed):
    """Sharp predictions of three classes, whose label is drawn at random in one row of five."""
    rng = np.random.default_rng(seed)
    posterior, y, _ = overconfident(n, 3, seed)
    sharp = softmax(3 * np.log(posterior), axis=1)
    y = (rng.random(n)[:, None] > sharp.cumsum(axis=1)[:, :-1]).sum(axis=1)
    random = rng.random(n) < 0.2
    return sharp, np.where(random, rng.integers(3, size=n), y)


@pytest.mark.parametrize("seed", range(10))
def test_no_weights_on_a_grid_are_better(seed):
    rng = np.random.default_rng(seed)
    likelihoods = rng.beta(0.5, 0.5, size=(40, 3)) + 1e-9
    share = rng.dirichlet(np.ones(40))
    fit = simplex_weights(likelihoods, share)
    grid = [(i / 60, j / 60) for i in range(61) for j in range(61 - i)]
    losses = [-share @ np.log(likelihoods @ [a, b, 1 - a - b]) for a, b in grid]
    assert -share @ np.log(likelihoods @ fit.weights) <= min(losses) + 1e-9
    assert fit.weights.min() >= 0
    assert fit.weights.sum() == pytest.approx(1)
    gains = share @ (likelihoods / (likelihoods @ fit.weights)[:, None])  # Kuhn-Tucker
    assert gains.max() <= 1 + 1e-8
    np.testing.assert_allclose(gains[fit.weights > 1e-6], 1, atol=1e-6)


def test_two_forecasts_have_a_closed_form():
    """Sure forecasts of opposite outcomes: each weight is the share of its outcome."""
    likelihoods = np.array([[1.0, 1e-300]] * 3 + [[1e-300, 1.0]])
    fit = simplex_weights(likelihoods, np.full(4, 0.25))
    np.testing.assert_allclose(fit.weights, [0.75, 0.25], atol=1e-9)


def test_the_optimality_conditions_hold_for_the_fitted_map():
    p, y = blunders(2000, seed=1)
    fitted = EnsembleTemperatureCalibrator(pseudo_rows=0).fit(p, y)
    rows = np.arange(len(y))
    scaled = softmax(fitted.inverse_temperature_ * np.log(p), axis=1)
    parts = np.column_stack([scaled[rows, y], p[rows, y], np.full(len(y), 1 / 3)])
    gains = (parts / (parts @ fitted.weights_)[:, None]).mean(axis=0)
    assert gains.max() < 1 + 1e-8
    expected = fitted.weights_[0] * scaled + fitted.weights_[1] * p + fitted.weights_[2] / 3
    np.testing.assert_allclose(fitted.predict_proba(p), expected, rtol=1e-10)


def test_the_share_of_random_labels_is_recovered_and_a_temperature_is_beaten():
    p, y = blunders(20_000, seed=2)
    fitted = EnsembleTemperatureCalibrator().fit(p, y)
    # truth: 0.8 p + 0.2 / 3, so weight 0.2 on the uniform part whatever T is, if raw p is used
    truth = log_loss(0.8 * p + 0.2 / 3, y)
    mixed = log_loss(fitted.predict_proba(p), y)
    scaled = log_loss(TemperatureCalibrator().fit(p, y).predict_proba(p), y)
    assert mixed < truth + 1e-3
    assert scaled > mixed + 0.02
    assert fitted.weights_[2] == pytest.approx(0.2, abs=0.02)


def test_the_mixture_is_never_worse_than_its_parts():
    for seed in range(5):
        _, y, p = overconfident(100, 4, seed)
        bare = EnsembleTemperatureCalibrator(pseudo_rows=0).fit(p, y)
        scaled = TemperatureCalibrator(pseudo_rows=0).fit(p, y)
        found = log_loss(bare.predict_proba(p), y)
        assert found <= log_loss(scaled.predict_proba(p), y) + 1e-9
        assert found <= log_loss(p, y) + 1e-9


def test_the_order_of_classes_is_kept():
    _, y, p = overconfident(300, 5, seed=3)
    calibrated = EnsembleTemperatureCalibrator().fit(p, y).predict_proba(p)
    np.testing.assert_array_equal(calibrated.argsort(axis=1), p.argsort(axis=1))


def test_mixing_bounds_the_loss_of_a_first_mistake():
    z = np.array([[0.0, 900.0], [900.0, 0.0]] * 10)
    mistake = np.array([[0.0, 1e6]])
    y = z.argmax(axis=1)
    bare = EnsembleTemperatureCalibrator(input="logit", pseudo_rows=0).fit(z, y)
    guarded = EnsembleTemperatureCalibrator(input="logit").fit(z, y)
    assert bare.predict_proba(mistake)[0, 0] < 1e-6
    assert guarded.predict_proba(mistake)[0, 0] >= 1 / 42 - 1e-12


def test_a_fitted_map_is_json_safe():
    _, y, p = overconfident(50, 3, seed=4)
    json.dumps(encode(EnsembleTemperatureCalibrator().fit(p, y)), allow_nan=False)
