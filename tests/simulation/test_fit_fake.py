"""Fitting a fake classifier to outputs: recovery of what made them, and oracles."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import dirichlet

from veridical.exceptions import InvalidInputError, VeridicalWarning
from veridical.simulation._fakes.dirichlet import (
    DirichletFakeClassifier,
    DirichletMixtureFakeClassifier,
)
from veridical.simulation._fakes.dirichlet_means import fit_dirichlet
from veridical.simulation._fakes.fit import EmpiricalFakeClassifier, fit_fake_classifier
from veridical.simulation._fakes.maps import IdentityMap, PowerMap, TemperatureMap

REAL = DirichletFakeClassifier([0.4, 0.8, 1.5], map=TemperatureMap(0.5))


def test_likelihood_is_that_of_a_general_optimiser():
    p = np.random.default_rng(1).dirichlet([0.7, 3.0, 12.0], size=400)

    def loss(log_alpha):
        return -dirichlet.logpdf(p.T, np.exp(log_alpha)).mean()

    best = minimize(
        loss, np.zeros(3), method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-13}
    )
    np.testing.assert_allclose(fit_dirichlet(np.log(p), np.ones(400)), np.exp(best.x), rtol=1e-4)


@pytest.mark.parametrize("alpha", [[0.01, 0.02, 0.05], [1.0, 1.0, 1.0], [300.0, 20.0, 1.0]])
def test_the_likelihood_equation_is_solved(alpha):
    from scipy.special import psi

    rng = np.random.default_rng(2)
    log_g = np.log(rng.gamma(np.add(alpha, 1), size=(3000, 3)))
    log_g += np.log(rng.random((3000, 3))) / alpha
    log_p = log_g - np.log(np.exp(log_g - log_g.max(1)[:, None]).sum(1))[:, None]
    log_p -= log_g.max(1)[:, None]
    fitted = fit_dirichlet(log_p, np.ones(3000))
    gradient = psi(fitted.sum()) - psi(fitted) + log_p.mean(axis=0)
    np.testing.assert_allclose(gradient * fitted, 0.0, atol=1e-5)
    np.testing.assert_allclose(fitted, alpha, rtol=0.15)


def test_weights_repeat_and_remove():
    p = np.random.default_rng(3).dirichlet([1.0, 2.0], size=60)
    weight = np.arange(60) % 3
    weighted = fit_fake_classifier(p, sample_weight=weight)
    repeated = fit_fake_classifier(np.repeat(p, weight, axis=0))
    np.testing.assert_allclose(weighted.alpha, repeated.alpha, rtol=1e-8)


def test_outputs_alone_are_taken_for_the_truth():
    p = np.random.default_rng(4).dirichlet([2.0, 5.0], size=20_000)
    fake = fit_fake_classifier(p)
    assert isinstance(fake.map, IdentityMap)
    np.testing.assert_allclose(fake.alpha, [2.0, 5.0], rtol=0.05)
    np.testing.assert_allclose(fit_fake_classifier(p[:, 1]).alpha, fake.alpha, rtol=1e-6)


def test_labels_tell_the_temperature_and_the_fit_copies_the_error():
    real = REAL.sample(40_000, rng=5)
    fake = fit_fake_classifier(real.y_prob, y_true=real.y)
    assert isinstance(fake, DirichletFakeClassifier)
    np.testing.assert_allclose(fake.alpha, REAL.alpha, rtol=0.1)
    assert fake.map.temperature == pytest.approx(0.5, rel=0.06)
    assert fake.accuracy().value == pytest.approx(REAL.accuracy().value, abs=0.01)
    assert fake.expected_calibration_error().value == pytest.approx(
        REAL.expected_calibration_error().value, abs=0.01
    )


def test_string_labels_and_their_order_are_understood():
    real = REAL.sample(3000, rng=6)
    names = np.array(["cat", "dog", "ant"])
    plain = fit_fake_classifier(real.y_prob, y_true=real.y)
    named = fit_fake_classifier(real.y_prob, y_true=names[real.y], labels=names)
    assert named == plain


def test_empirical_method_reports_the_rows_it_was_given():
    real = REAL.sample(5000, rng=7)
    fake = fit_fake_classifier(real.y_prob, y_true=real.y, method="empirical")
    assert isinstance(fake, EmpiricalFakeClassifier)
    np.testing.assert_allclose(fake.map(fake.p_true), real.y_prob, atol=1e-6)
    # A perturbation keeps accuracy and moves calibration.
    bolder = replace(fake, map=PowerMap(6))
    assert bolder.accuracy().value == pytest.approx(fake.accuracy().value, abs=1e-12)
    assert bolder.mean_confidence().value > fake.mean_confidence().value > fake.accuracy().value


def test_mixture_has_a_component_for_each_predicted_class():
    made = DirichletMixtureFakeClassifier.for_classes([0.5, 0.3, 0.2], peak=40.0)
    real = made.sample(20_000, rng=8)
    fake = fit_fake_classifier(real.y_prob, method="mixture")
    assert isinstance(fake, DirichletMixtureFakeClassifier)
    np.testing.assert_allclose(fake.weights, [0.5, 0.3, 0.2], atol=0.02)
    np.testing.assert_allclose(fake.alphas, made.alphas, rtol=0.15)
    assert fake.accuracy().value == pytest.approx(made.accuracy().value, abs=0.01)


def test_classes_hardly_predicted_share_a_component():
    rng = np.random.default_rng(9)
    p = np.vstack(
        [
            rng.dirichlet([20, 1, 1, 1], 500),
            rng.dirichlet([1, 20, 1, 1], 10),
            rng.dirichlet([1, 1, 20, 1], 15),
        ]
    )
    fake = fit_fake_classifier(p, method="mixture")
    assert len(fake.weights) == 2
    assert sorted(fake.weights) == pytest.approx([25 / 525, 500 / 525])


def test_weights_count_as_rows_only_if_they_are_frequencies():
    rng = np.random.default_rng(11)
    p = np.vstack([rng.dirichlet([20, 1, 1], 60), rng.dirichlet([1, 20, 1], 12)])
    weight = np.full(72, 3)
    importance = fit_fake_classifier(p, method="mixture", sample_weight=weight)
    unweighted = fit_fake_classifier(p, method="mixture")
    assert importance.weights == pytest.approx(unweighted.weights)
    frequency = {"sample_weight": weight, "weight_type": "frequency"}
    repeated = fit_fake_classifier(np.repeat(p, 3, axis=0), method="mixture")
    np.testing.assert_allclose(
        fit_fake_classifier(p, method="mixture", **frequency).alphas, repeated.alphas, rtol=1e-8
    )


def test_zeros_are_warned_of():
    p = np.vstack([np.random.default_rng(10).dirichlet([1, 1, 1], 50), [[1.0, 0.0, 0.0]]])
    with pytest.warns(VeridicalWarning, match="2 probabilities of zero"):
        fit_fake_classifier(p)


def test_perfect_predictions_have_no_best_temperature():
    p = np.array([[0.9, 0.1], [0.2, 0.8], [0.7, 0.3]])
    with pytest.warns(VeridicalWarning, match="no temperature"):
        fit_fake_classifier(p, y_true=[0, 1, 0], method="empirical")


@pytest.mark.parametrize(
    ("make", "param"),
    [
        (lambda: fit_fake_classifier([[0.5, 0.5], [0.5, 0.5]]), "y_prob"),
        (lambda: fit_fake_classifier(np.empty((0, 2))), "y_prob"),
        (lambda: fit_fake_classifier([[0.5, 0.6]]), "y_prob"),
        (lambda: fit_fake_classifier([[0.4, 0.6]], method="dirichlett"), "method"),
        (lambda: fit_fake_classifier([[0.4, 0.6]], y_true=[0, 1]), "y_prob"),
        (lambda: fit_fake_classifier([[0.4, 0.6]], sample_weight=[-1]), "sample_weight"),
        (lambda: fit_fake_classifier([[0.4, 0.6]], labels=["a", "b"]), "labels"),
        (lambda: fit_fake_classifier([[0.4, 0.6]], weight_type="counts"), "weight_type"),
    ],
)
def test_bad_input_is_named(make, param):
    with pytest.raises(InvalidInputError, match=f"`{param}` must be"):
        make()
