"""Exact figures against integrals written here, closed forms and plain simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import dblquad, quad

from veridical.exceptions import InvalidInputError
from veridical.simulation._fakes.dirichlet import (
    DirichletFakeClassifier,
    DirichletMixtureFakeClassifier,
)
from veridical.simulation._fakes.dirichlet_means import PowerConfidence, mean_largest
from veridical.simulation._fakes.exact import GROUPS, cross_fitted_error
from veridical.simulation._fakes.fit import EmpiricalFakeClassifier
from veridical.simulation._fakes.maps import (
    CallableMap,
    ClassPowerMap,
    IdentityMap,
    PowerMap,
    TopComponentMap,
)


@pytest.mark.parametrize("k", [2, 3, 7, 100])
def test_mean_largest_of_a_uniform_vector_is_a_harmonic_number(k):
    expected = sum(1 / j for j in range(1, k + 1)) / k
    assert mean_largest(np.ones(k)) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("a", "b"), [(0.5, 0.5), (0.02, 0.3), (3.0, 40.0), (1e3, 1e3)])
def test_mean_largest_of_two_classes_is_a_beta_integral(a, b):
    # E[q; q > 1/2] + E[1 - q; q < 1/2] = mean * P(Beta(a + 1, b) > 1/2) + ...
    from scipy.special import betainc

    above = a / (a + b) * (1 - betainc(a + 1, b, 0.5))
    below = b / (a + b) * betainc(a, b + 1, 0.5)
    assert mean_largest(np.array([a, b])) == pytest.approx(above + below, rel=1e-10)


def _power_confidence_2(b):
    return 2 * quad(lambda p: p**b / (p**b + (1 - p) ** b), 0.5, 1)[0]


def _power_confidence_3(b):
    # Three times the part of the uniform simplex (density 2) where the first is the largest.
    def inner(y, x):
        z = 1 - x - y
        return 6 * x**b / (x**b + y**b + z**b) if x >= y and x >= z else 0.0

    low = dblquad(inner, 1 / 3, 1 / 2, lambda x: 1 - 2 * x, lambda x: x, epsabs=1e-8)[0]
    high = dblquad(inner, 1 / 2, 1, lambda x: 0, lambda x: 1 - x, epsabs=1e-8)[0]
    return low + high


@pytest.mark.parametrize("b", [0.2, 1.0, 3.0, 12.0])
def test_power_confidence_against_quadrature(b):
    assert PowerConfidence(1.0, 2)(b) == pytest.approx(_power_confidence_2(b), abs=1e-8)
    assert PowerConfidence(1.0, 3)(b) == pytest.approx(_power_confidence_3(b), abs=2e-7)


@pytest.mark.parametrize(("alpha", "k"), [(0.001, 100), (0.3, 5), (50.0, 10)])
def test_power_one_leaves_the_mean_largest(alpha, k):
    expected = mean_largest(np.full(k, alpha))
    assert PowerConfidence(alpha, k)(1.0) == pytest.approx(expected, abs=1e-8)


def test_cube_of_uniform_vectors_has_the_known_figures():
    two = DirichletFakeClassifier([1, 1], map=PowerMap(3))
    assert two.accuracy().value == pytest.approx(0.75, abs=1e-9)
    assert two.expected_calibration_error().value == pytest.approx(
        _power_confidence_2(3) - 0.75, abs=1e-8
    )
    assert two.expected_calibration_error().value == pytest.approx(0.141399, abs=1e-6)  # kyle
    three = DirichletFakeClassifier([1, 1, 1], map=PowerMap(3))
    assert three.accuracy().value == pytest.approx(11 / 18, abs=1e-9)
    assert three.expected_calibration_error().value == pytest.approx(
        _power_confidence_3(3) - 11 / 18, abs=1e-6
    )
    assert three.expected_calibration_error().value == pytest.approx(0.2098, abs=2e-4)  # kyle


def test_all_errors_of_two_classes_agree_with_one_integral():
    # With two classes and a symmetric map every lens asks the same question.
    fake = DirichletFakeClassifier([1, 1], map=PowerMap(3))
    expected = _power_confidence_2(3) - 0.75
    for figure in (fake.classwise_error(), fake.canonical_error()):
        assert figure.method == "quadrature"
        assert figure.value == pytest.approx(expected, abs=1e-5)
        assert abs(figure.value - expected) <= figure.error + 1e-9


def test_classwise_error_of_three_classes_against_a_conditional_integral():
    # Oracle: at fixed p_1 = x the other two are x-independent shares s and 1 - s, s uniform, so the
    # law of (p_1, s) has density 2 (1 - x). Classes are exchangeable. Conditional mean on fine
    # bins of c_1, over Gauss-Legendre nodes of both variables.
    nodes, weights = np.polynomial.legendre.leggauss(400)
    x, wx = (nodes + 1) / 2, weights / 2
    first, s = x[:, None], x[None, :]
    weight = 2 * (1 - first) * wx[:, None] * wx[None, :]
    c = first**3 / (first**3 + ((1 - first) * s) ** 3 + ((1 - first) * (1 - s)) ** 3)
    bins = np.minimum((c * 60).astype(int), 59).ravel()
    gap = np.bincount(bins, weights=(weight * (first - c)).ravel(), minlength=60)
    fake = DirichletFakeClassifier([1, 1, 1], map=PowerMap(3))
    assert fake.classwise_error().value == pytest.approx(np.abs(gap).sum(), abs=5e-4)


def test_canonical_error_of_three_classes_against_quadrature():
    def variation(y, x):
        p = np.array([x, y, 1 - x - y])
        return float(np.abs(p**3 / (p**3).sum() - p).sum())  # density 2, half the sum

    expected = dblquad(variation, 0, 1, 0, lambda x: 1 - x, epsabs=1e-4)[0]
    fake = DirichletFakeClassifier([1, 1, 1], map=PowerMap(3))
    assert fake.canonical_error().value == pytest.approx(expected, abs=2e-4)


def test_monte_carlo_errors_cover_the_integrals():
    # Equal alpha and a power map have integrals, the equivalent callable map has not.
    exact = DirichletFakeClassifier(np.full(5, 0.7), map=PowerMap(2))
    drawn = DirichletFakeClassifier(
        np.full(5, 0.7),
        map=CallableMap(lambda p: p**2 / (p**2).sum(axis=1, keepdims=True), injective=True),
    )
    for name in ("accuracy", "mean_confidence", "expected_calibration_error"):
        truth, figure = getattr(exact, name)(), getattr(drawn, name)(n_draws=100_000, rng=3)
        assert (truth.method, figure.method) == ("quadrature", "monte carlo")
        assert abs(truth.value - figure.value) < 1.5 * figure.error
        assert 0 < figure.error < 0.003


def test_a_calibrated_classifier_has_no_error_by_any_lens():
    for fake in (
        DirichletFakeClassifier([0.5, 1.0, 2.0]),
        DirichletFakeClassifier([0.5, 1.0, 2.0, 3.0]),
        DirichletMixtureFakeClassifier([[1, 2, 3, 4], [4, 3, 2, 1]], [1, 1]),
    ):
        assert isinstance(fake.map, IdentityMap)
        for figure in (
            fake.expected_calibration_error(n_draws=5000),
            fake.classwise_error(n_draws=5000),
            fake.canonical_error(n_draws=5000),
        ):
            assert figure.value == pytest.approx(0.0, abs=1e-12)


def test_conditional_error_is_below_the_row_wise_one_where_signs_mix():
    # Rows of one confidence: half are right with 0.9, half with 0.5, all report 0.7.
    p = [[0.9, 0.1, 0.0], [0.5, 0.3, 0.2]]
    flat = EmpiricalFakeClassifier(
        p, map=CallableMap(lambda rows: np.tile([0.7, 0.2, 0.1], (len(rows), 1)))
    )
    assert flat.expected_calibration_error().value == pytest.approx(0.0, abs=1e-15)
    assert flat.classwise_error().value == pytest.approx((0.0 + 0.0 + 0.0) / 3, abs=1e-15)
    with pytest.raises(InvalidInputError, match="injective"):
        flat.canonical_error()


def test_sign_changes_are_found_where_the_curve_crosses():
    # K = 2, uniform p; the top component moves towards 0.75 by half: over-confident below,
    # under-confident above. E|gap| = E|z - 3/4| / 2 with z uniform on [1/2, 1], which is 1/16.
    shrink = TopComponentMap(lambda z: 0.75 + (z - 0.75) / 2, preserves_argmax=True)
    fake = DirichletFakeClassifier([1, 1], map=shrink)
    assert fake.accuracy().value == pytest.approx(0.75, abs=1e-9)
    expected = quad(lambda z: 2 * abs(z - 0.75) / 2, 0.5, 1, points=[0.75])[0]
    assert expected == pytest.approx(1 / 16)
    figure = fake.expected_calibration_error()
    assert figure.value == pytest.approx(expected, abs=1e-4)
    assert abs(figure.value - expected) <= figure.error + 1e-9


def test_exact_ece_agrees_with_a_binned_estimate_of_sampled_labels():
    fake = DirichletFakeClassifier([0.5, 1.0, 2.0], map=ClassPowerMap([0.5, 1.0, 3.0]))
    sample = fake.sample(200_000, rng=8)
    z = sample.y_prob.max(axis=1)
    right = sample.y_prob.argmax(axis=1) == sample.y
    assert right.mean() == pytest.approx(fake.accuracy().value, abs=4 * 0.5 / 200_000**0.5)
    bins = np.minimum((z * 30).astype(int), 29)
    gap = np.bincount(bins, weights=right - z, minlength=30) / len(z)
    assert np.abs(gap).sum() == pytest.approx(fake.expected_calibration_error().value, abs=0.004)


def test_cross_fitting_is_not_biased_by_noise():
    # Pure noise: the plain figure is E|mean of noise| over bins, the cross-fitted one about 0.
    noise = np.random.default_rng(2).normal(size=(GROUPS, 1, 256)) / 256
    plain = np.abs(noise.mean(axis=0)).sum()
    assert plain == pytest.approx(math.sqrt(2 / math.pi / GROUPS), rel=0.15)
    value, error = cross_fitted_error(noise)
    assert abs(value) < plain / 2
    assert abs(value) < error


def test_mixture_figures_are_weighted_means_of_components():
    easy, hard = [0.2, 0.2, 0.2], [5.0, 5.0, 5.0]
    fake = DirichletMixtureFakeClassifier([easy, hard], [0.25, 0.75], map=PowerMap(2))
    parts = [DirichletFakeClassifier(alpha, map=PowerMap(2)) for alpha in (easy, hard)]
    accuracy = 0.25 * parts[0].accuracy().value + 0.75 * parts[1].accuracy().value
    assert fake.accuracy().value == pytest.approx(accuracy, abs=1e-9)
    # Over-confident on every row, so the error is a difference of means, which mix.
    ece = sum(
        share * part.expected_calibration_error().value
        for share, part in zip((0.25, 0.75), parts, strict=True)
    )
    assert fake.expected_calibration_error().value == pytest.approx(ece, abs=2e-5)


@pytest.mark.parametrize("bad", [10, 1e6, "many", True])
def test_number_of_draws_is_checked(bad):
    fake = DirichletFakeClassifier(np.ones(4), map=PowerMap(2))
    with pytest.raises(InvalidInputError, match="`n_draws` must be"):
        fake.classwise_error(n_draws=bad)
