"""Fake classifiers: the convention, sampling and bad input."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from veridical.exceptions import InvalidInputError
from veridical.results.figures import ExactValue
from veridical.simulation._fakes.dirichlet import (
    DirichletFakeClassifier,
    DirichletMixtureFakeClassifier,
    draw_log_dirichlet,
)
from veridical.simulation._fakes.fake import FakeClassifier, draw_labels
from veridical.simulation._fakes.fit import EmpiricalFakeClassifier
from veridical.simulation._fakes.maps import IdentityMap, PowerMap

FAKES = [
    DirichletFakeClassifier([0.5, 1.0, 2.0], map=PowerMap(2)),
    DirichletMixtureFakeClassifier.for_classes([2, 1, 1], peak=5.0, map=PowerMap(2)),
    EmpiricalFakeClassifier([[0.7, 0.2, 0.1], [0.3, 0.3, 0.4]], map=PowerMap(2)),
]
by_type = pytest.mark.parametrize("fake", FAKES, ids=lambda fake: type(fake).__name__)


@by_type
def test_labels_are_drawn_from_the_truth_and_the_map_of_it_is_reported(fake):
    sample = fake.sample(30_000, rng=1)
    assert len(sample) == 30_000
    squares = sample.p_true**2
    np.testing.assert_allclose(
        sample.y_prob, squares / squares.sum(axis=1, keepdims=True), rtol=1e-9
    )
    for k in range(3):
        # Residuals have mean zero among rows of large and of small truth alike: 4 deviations.
        for part in (sample.p_true[:, k] > 0.35, sample.p_true[:, k] <= 0.35):
            gap = (sample.y[part] == k) - sample.p_true[part, k]
            assert abs(gap.sum()) <= 4 * 0.5 * np.sqrt(part.sum())


@by_type
def test_same_seed_same_rows(fake):
    first, second, other = (fake.sample(50, rng=seed) for seed in (4, 4, 5))
    np.testing.assert_array_equal(first.y_prob, second.y_prob)
    np.testing.assert_array_equal(first.y, second.y)
    assert not np.array_equal(first.y_prob, other.y_prob)


@by_type
def test_an_argmax_preserving_map_keeps_accuracy(fake):
    calibrated = replace(fake, map=IdentityMap())
    assert fake.accuracy().value == pytest.approx(calibrated.accuracy().value, abs=1e-12)
    assert fake.expected_calibration_error().value > 0.05
    assert calibrated.expected_calibration_error().value == pytest.approx(0.0, abs=1e-12)


@by_type
def test_sampled_rows_have_the_exact_figures(fake):
    sample = fake.sample(100_000, rng=2)
    right = sample.y_prob.argmax(axis=1) == sample.y
    # Four standard deviations of a share.
    assert right.mean() == pytest.approx(fake.accuracy().value, abs=4 * 0.5 / np.sqrt(100_000))
    confidence = sample.y_prob.max(axis=1).mean()
    assert confidence == pytest.approx(fake.mean_confidence().value, abs=0.005)


def test_the_convention_is_that_of_the_sampler_and_not_the_reverse():
    # Reversed (scores uniform, truth their cube) accuracy would be 0.8914.
    fake = DirichletFakeClassifier([1, 1], map=PowerMap(3))
    sample = fake.sample(40_000, rng=0)
    assert (sample.y_prob.argmax(axis=1) == sample.y).mean() == pytest.approx(0.75, abs=0.01)
    assert fake.accuracy().value == pytest.approx(0.75, abs=1e-9)


def test_log_dirichlet_moments():
    from scipy.special import psi

    alpha = np.array([0.05, 0.5, 3.0])
    log_p = draw_log_dirichlet(alpha, 200_000, np.random.default_rng(3))
    p = np.exp(log_p)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(p.mean(axis=0), alpha / alpha.sum(), atol=0.002)
    # E log p_k = psi(alpha_k) - psi(sum alpha); the first has a standard deviation of 20.
    expected = psi(alpha) - psi(alpha.sum())
    np.testing.assert_allclose(log_p.mean(axis=0), expected, atol=0.2)


def test_log_truth_is_finite_where_probabilities_underflow():
    log_p = draw_log_dirichlet(np.full(5, 1e-4), 1000, np.random.default_rng(0))
    assert np.isfinite(log_p).all()
    assert (np.exp(log_p) == 0).any()


def test_class_of_probability_zero_never_comes():
    p = np.tile([0.0, 0.4, 0.6, 0.0], (20_000, 1))
    labels = draw_labels(p, np.random.default_rng(0))
    assert set(labels) == {1, 2}
    assert (labels == 1).mean() == pytest.approx(0.4, abs=0.015)


def test_class_weights_rule_how_often_classes_come():
    fake = DirichletMixtureFakeClassifier.for_classes([6, 3, 1], peak=50.0)
    # E p_k = (49 w_k + 1) / 52 for parameters 1, ..., 50, ..., 1.
    expected = (49 * np.array([0.6, 0.3, 0.1]) + 1) / 52
    shares = np.bincount(fake.sample(50_000, rng=6).y, minlength=3) / 50_000
    np.testing.assert_allclose(shares, expected, atol=0.01)


def test_empirical_weights_repeat_and_remove():
    p = np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]])
    weighted = EmpiricalFakeClassifier(p, map=PowerMap(2), sample_weight=[2, 0, 1])
    repeated = EmpiricalFakeClassifier(p[[0, 0, 2]], map=PowerMap(2))
    for name in ("accuracy", "expected_calibration_error", "classwise_error", "canonical_error"):
        one, other = getattr(weighted, name)(), getattr(repeated, name)()
        assert one.value == pytest.approx(other.value, abs=1e-15)
        assert (one.method, one.error) == ("finite sum", 0.0)
    assert weighted.accuracy().value == pytest.approx((2 * 0.9 + 0.8) / 3)


def test_one_column_of_an_empirical_truth_is_the_second_class():
    fake = EmpiricalFakeClassifier([0.25, 0.5])
    np.testing.assert_array_equal(fake.p_true, [[0.75, 0.25], [0.5, 0.5]])


def test_own_distribution_needs_only_its_draws():
    class TwoPoints(FakeClassifier):
        map = PowerMap(2)
        n_classes = 4

        def draw_log_truth(self, n, generator):
            rows = np.array([[0.4, 0.3, 0.2, 0.1], [0.7, 0.1, 0.1, 0.1]])
            return np.log(rows[generator.integers(0, 2, n)])

    fake = TwoPoints()
    assert fake.accuracy(n_draws=20_000).value == pytest.approx(0.55, abs=0.01)
    # max c: 0.16 / 0.30 and 0.49 / 0.52; over-confident on both points.
    expected = (0.16 / 0.3 + 0.49 / 0.52) / 2 - 0.55
    figure = fake.expected_calibration_error(n_draws=20_000)
    assert figure.value == pytest.approx(expected, abs=0.005)
    assert figure.method == "monte carlo"


def test_figures_by_draws_repeat_and_follow_rng():
    fake = DirichletFakeClassifier([1, 2, 3, 4], map=PowerMap(2))
    figures = [fake.classwise_error(n_draws=5000, rng=seed).value for seed in (0, 0, 1)]
    assert figures[0] == figures[1] != figures[2]
    assert fake.classwise_error(n_draws=5000).value == figures[0]


def test_exact_value_survives_a_dictionary():
    figure = DirichletFakeClassifier([1, 1], map=PowerMap(3)).expected_calibration_error()
    assert ExactValue.from_dict(figure.to_dict()) == figure
    assert float(figure) == figure.value
    assert "quadrature" in str(figure)


@pytest.mark.parametrize(
    ("make", "param"),
    [
        (lambda: DirichletFakeClassifier([1.0]), "alpha"),
        (lambda: DirichletFakeClassifier([1.0, 0.0]), "alpha"),
        (lambda: DirichletFakeClassifier([1.0, np.inf]), "alpha"),
        (lambda: DirichletFakeClassifier([[1.0, 2.0]]), "alpha"),
        (lambda: DirichletFakeClassifier(["a", "b"]), "alpha"),
        (lambda: DirichletFakeClassifier([1, 1], map=np.square), "map"),
        (lambda: DirichletMixtureFakeClassifier([[1, 1], [1, 2]], [1]), "weights"),
        (lambda: DirichletMixtureFakeClassifier([[1, 1], [1, 2]], [-1, 2]), "weights"),
        (lambda: DirichletMixtureFakeClassifier([[1, 1], [1, 2]], [0, 0]), "weights"),
        (lambda: DirichletMixtureFakeClassifier([1, 1], [1]), "alphas"),
        (lambda: DirichletMixtureFakeClassifier.for_classes([1, 1], peak=-2.0), "alphas"),
        (lambda: EmpiricalFakeClassifier([[0.5, 0.6]]), "p_true"),
        (lambda: EmpiricalFakeClassifier(np.empty((0, 3))), "p_true"),
        (lambda: EmpiricalFakeClassifier([[0.5, 0.5]], sample_weight=[0]), "sample_weight"),
        (lambda: DirichletFakeClassifier([1, 1]).sample(0), "n"),
        (lambda: DirichletFakeClassifier([1, 1]).sample(2.5), "n"),
        (lambda: DirichletFakeClassifier([1, 1]).sample(5, rng="seed"), "rng"),
    ],
)
def test_bad_input_is_named(make, param):
    with pytest.raises(InvalidInputError, match=f"`{param}` must be"):
        make()
