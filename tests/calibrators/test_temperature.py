"""Temperature scaling against naive minimisation, closed forms and scikit-learn."""

from __future__ import annotations

import json

import numpy as np
import pytest
from calibrators.multiclass_oracles import draw, log_loss, overconfident, recorded_input
from scipy.optimize import minimize_scalar
from scipy.special import expit, log_softmax, softmax

from veridical.calibrators._base.persistence import encode
from veridical.calibrators._softmax.inverse_temperature import _slope_after
from veridical.calibrators._softmax.temperature import TemperatureCalibrator
from veridical.exceptions import InvalidInputError


def naive_loss(inverse, logits, y, weight=None):
    scores = log_softmax(inverse * logits, axis=1)
    return np.average(-scores[np.arange(len(y)), y], weights=weight)


def naive_slope(inverse, logits, y):
    """Derivative of the mean log loss in the logarithm of the inverse temperature."""
    p = softmax(inverse * logits, axis=1)
    return inverse * ((p * logits).sum(axis=1) - logits[np.arange(len(y)), y]).mean()


@pytest.mark.parametrize("temperature", [1e-3, 0.05, 0.5, 1, 2, 20, 1e3])
@pytest.mark.parametrize("k", [2, 5])
def test_a_known_temperature_is_recovered(temperature, k):
    rng = np.random.default_rng(3)
    truth = rng.normal(size=(20_000, k)) * 2
    p = softmax(truth, axis=1)
    y = draw(p, rng)
    fitted = TemperatureCalibrator(input="logit").fit(temperature * truth, y)
    spread = ((p * truth**2).sum(axis=1) - (p * truth).sum(axis=1) ** 2).mean()
    sigma = 1 / np.sqrt(len(y) * spread)  # Fisher information of log T
    assert abs(np.log(fitted.temperature_ / temperature)) < 4 * sigma


@pytest.mark.parametrize("seed", range(8))
def test_no_other_temperature_has_a_smaller_loss(seed):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 7))
    logits = rng.normal(size=(80, k)) * 10 ** rng.uniform(-2, 2)
    y = draw(softmax(rng.normal(size=(80, k)) + logits / logits.std(), axis=1), rng)
    fitted = TemperatureCalibrator(input="logit").fit(logits, y)
    oracle = minimize_scalar(
        lambda u: naive_loss(np.exp(u) / logits.std(), logits, y),
        bounds=(-8, 8),
        method="bounded",
        options={"xatol": 1e-12},
    )
    found = naive_loss(fitted.inverse_temperature_, logits, y)
    assert found <= oracle.fun + 1e-14
    assert abs(naive_slope(fitted.inverse_temperature_, logits, y)) < 1e-8
    assert fitted.gradient_norm_ < 1e-8


def test_many_rows_which_start_from_a_part_reach_the_same_optimum():
    _, y, p = overconfident(20_000, 60, seed=1)
    fitted = TemperatureCalibrator().fit(p, y)
    assert abs(naive_slope(fitted.inverse_temperature_, np.log(p), y)) < 1e-8
    assert fitted.n_iter_ <= 5


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1, 1e3, 1e9])
def test_a_rough_search_in_single_precision_ends_at_the_optimum_of_any_scale(scale):
    _, y, p = overconfident(5_000, 60, seed=8)  # beyond 1e6 single precision is not used
    logits = np.log(p) * scale
    fitted = TemperatureCalibrator(input="logit").fit(logits, y)
    slope = abs(naive_slope(fitted.inverse_temperature_, logits, y))
    assert slope < 1e-9
    assert slope <= fitted.gradient_norm_ + 1e-13  # a bound, up to rounding of either sum


def test_the_slope_after_a_newton_step_is_within_its_bound():
    rng = np.random.default_rng(9)
    logits = rng.normal(size=(200, 4))
    y = draw(softmax(logits, axis=1), rng)
    widest = np.ptp(logits, axis=1).max()
    for inverse in np.linspace(0.7, 1.3, 13):
        p = softmax(inverse * logits, axis=1)
        mean = (p * logits).sum(axis=1)
        curvature = ((p * logits**2).sum(axis=1) - mean**2).mean()
        step = -naive_slope(inverse, logits, y) / inverse / curvature
        end = inverse + step
        bound = _slope_after(step, curvature, widest)
        assert abs(naive_slope(end, logits, y) / end) <= bound
        assert bound < np.inf or widest * abs(step) >= 1


def test_scikit_learn_finds_the_same_temperature_to_the_precision_of_its_search():
    y, p = recorded_input()
    theirs = 0.44516825398419924  # scikit-learn 1.9.1, _TemperatureScaling().fit(p, y).beta_
    fitted = TemperatureCalibrator().fit(p, y)
    assert fitted.inverse_temperature_ == pytest.approx(theirs, rel=1e-7)
    ours, other = (abs(naive_slope(b, np.log(p), y)) for b in (fitted.inverse_temperature_, theirs))
    assert ours < other


def test_probmetrics_gives_the_same_mixed_probabilities():
    y, p = recorded_input()
    # probmetrics 1.3.0, get_calibrator("ts-mix"): float32 bisection, then 1/(n+1) of uniform
    theirs = [0.02697714, 0.91836415, 0.05465871]
    found = TemperatureCalibrator().fit(p, y).predict_proba(p)[0]
    np.testing.assert_allclose(found, theirs, atol=2e-8)


def test_every_form_of_a_binary_prediction_has_the_same_temperature():
    rng = np.random.default_rng(5)
    z = rng.normal(size=500) * 2
    y = (rng.random(500) < expit(z / 2)).astype(int)
    p = expit(z)
    pair = np.column_stack([1 - p, p])
    forms = [
        TemperatureCalibrator().fit(p, y),
        TemperatureCalibrator().fit(pair, y),
        TemperatureCalibrator(input="logit").fit(z, y),
        TemperatureCalibrator(input="score").fit(z, y),
        TemperatureCalibrator(input="logit").fit(np.column_stack([0 * z, z]), y),
        TemperatureCalibrator(input="logit").fit(np.column_stack([-z, 0 * z]), y),
    ]
    np.testing.assert_allclose([f.temperature_ for f in forms], forms[0].temperature_, rtol=1e-7)
    np.testing.assert_allclose(forms[2].predict_proba(z), forms[1].predict_proba(pair), rtol=1e-6)


def test_the_order_of_classes_is_kept():
    _, y, p = overconfident(400, 6, seed=2)
    calibrated = TemperatureCalibrator().fit(p, y).predict_proba(p)
    np.testing.assert_array_equal(calibrated.argsort(axis=1), p.argsort(axis=1))


def test_dividing_logits_divides_the_temperature():
    _, y, p = overconfident(300, 4, seed=3)
    z = np.log(p)
    one = TemperatureCalibrator(input="logit").fit(z, y)
    other = TemperatureCalibrator(input="logit").fit(z * 1000 + 7, y)
    assert other.temperature_ == pytest.approx(1000 * one.temperature_, rel=1e-7)


@pytest.mark.parametrize("ties", [False, True])
def test_separable_rows_stop_where_n_rows_support_no_more(ties):
    rng = np.random.default_rng(6)
    z = rng.normal(size=(50, 4))
    y = z.argmax(axis=1)
    limit = 0.0
    if ties:
        z[0] = [1, 1, -5, -6]
        y[0] = 0
        limit = np.log(2) / 50
    fitted = TemperatureCalibrator(input="logit").fit(z, y)
    excess = naive_loss(fitted.inverse_temperature_, z, y) - limit
    assert excess == pytest.approx(1 / 51, rel=1e-9)


def test_mixing_bounds_the_loss_of_a_first_mistake():
    z = np.array([[0.0, 900.0], [900.0, 0.0]] * 10)
    y = z.argmax(axis=1)
    mistake = np.array([[0.0, 1e6]])
    bare = TemperatureCalibrator(input="logit", pseudo_rows=0).fit(z, y)
    guarded = TemperatureCalibrator(input="logit").fit(z, y)
    assert bare.predict_proba(mistake)[0, 0] == 0  # an infinite log loss
    assert guarded.predict_proba(mistake)[0, 0] == pytest.approx(1 / 42, rel=1e-12)


def test_scores_that_point_the_wrong_way_become_nearly_uniform():
    z = np.array([[0.0, 2.0], [2.0, 0.0], [0.0, 1.0]])
    fitted = TemperatureCalibrator(input="logit").fit(z, [0, 1, 1])
    assert fitted.inverse_temperature_ == pytest.approx(1e-6 / 2)
    p = fitted.predict_proba(z)
    np.testing.assert_allclose(p, 0.5, atol=1e-6)
    np.testing.assert_array_equal(p.argmax(axis=1), z.argmax(axis=1))


def test_rows_without_information_leave_the_temperature_alone():
    fitted = TemperatureCalibrator().fit(np.full((5, 4), 0.25), [0, 1, 2, 3, 0])
    assert fitted.temperature_ == 1


def test_integer_weights_are_repetition():
    _, y, p = overconfident(60, 3, seed=4)
    weight = np.arange(60) % 4
    rows = np.repeat(np.arange(60), weight)
    repeated = TemperatureCalibrator().fit(p[rows], y[rows])
    counted = TemperatureCalibrator(weight_type="frequency").fit(p, y, sample_weight=weight)
    scaled = TemperatureCalibrator(pseudo_rows=0).fit(p, y, sample_weight=weight * 0.1)
    np.testing.assert_allclose(counted.predict_proba(p), repeated.predict_proba(p), rtol=1e-7)
    assert scaled.temperature_ == pytest.approx(repeated.temperature_, rel=1e-7)
    assert counted.mix_ == repeated.mix_ == 1 / (len(rows) + 1)


def test_exact_zeros_and_ones_stay_finite():
    p = np.array([[1.0, 0, 0], [0, 1, 0], [0, 0.5, 0.5], [0.2, 0.8, 0]])
    calibrated = TemperatureCalibrator().fit(p, [0, 1, 0, 2]).predict_proba(p)
    assert np.isfinite(np.log(calibrated)).all()
    np.testing.assert_allclose(calibrated.sum(axis=1), 1)


def test_a_fitted_map_is_json_safe():
    y, p = recorded_input()
    json.dumps(encode(TemperatureCalibrator().fit(p, y)), allow_nan=False)


@pytest.mark.parametrize("pseudo_rows", [-1, float("nan"), "1", None])
def test_a_useless_pseudo_rows_is_named(pseudo_rows):
    with pytest.raises(InvalidInputError, match="pseudo_rows"):
        TemperatureCalibrator(pseudo_rows=pseudo_rows).fit([0.2, 0.7], [0, 1])


def test_calibration_lowers_the_loss_on_new_rows():
    _, y, p = overconfident(2000, 3, seed=7)
    fitted = TemperatureCalibrator().fit(p[:1000], y[:1000])
    assert log_loss(fitted.predict_proba(p[1000:]), y[1000:]) < log_loss(p[1000:], y[1000:]) - 0.1
