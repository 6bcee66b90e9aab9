"""The solver hits its targets, keeps its direction, and says why it cannot."""

from __future__ import annotations

import numpy as np
import pytest

from veridical.exceptions import InvalidInputError
from veridical.simulation._fakes.maps import IdentityMap
from veridical.simulation._fakes.solver import fake_classifier_for


def _simulated(fake, n, seed):
    """Truth and confidence of the top class from gamma variables, without the library's draws.

    Log gamma variables of shape a are those of shape a + 1 plus log(U) / a.
    """
    rng = np.random.default_rng(seed)
    a, b = fake.alpha[0], getattr(fake.map, "exponent", 1.0)
    shape = (n, fake.n_classes)
    log_g = np.log(rng.gamma(a + 1, size=shape)) + np.log(rng.random(shape)) / a
    log_g -= log_g.max(axis=1, keepdims=True)
    return 1 / np.exp(log_g).sum(axis=1), 1 / np.exp(b * log_g).sum(axis=1)


GRID = [
    (k, accuracy, share, direction)
    for k in (2, 3, 5, 10, 100)
    for accuracy in (1 / k + 0.1, 0.9)
    for share, direction in ((0.1, "over"), (0.8, "over"), (0.1, "under"), (0.8, "under"))
]


def _bound(accuracy, k, direction):
    return 1 - accuracy if direction == "over" else accuracy - 1 / k


@pytest.mark.parametrize(("k", "accuracy", "share", "direction"), GRID)
def test_targets_are_hit_and_lemma_1_holds(k, accuracy, share, direction):
    target = share * _bound(accuracy, k, direction)
    fake = fake_classifier_for(accuracy, target, n_classes=k, direction=direction)
    truth, confidence = _simulated(fake, 40_000 if k < 100 else 20_000, seed=k)
    gap = confidence - truth if direction == "over" else truth - confidence
    assert (gap >= -1e-12).all()  # always over-confident or always under-confident
    # One-sided on every row, so the ECE is the mean gap. Three standard errors are below 0.005.
    assert 3 * max(truth.std(), gap.std()) / np.sqrt(len(gap)) < 0.005
    assert truth.mean() == pytest.approx(accuracy, abs=0.005)
    assert gap.mean() == pytest.approx(target, abs=0.005)
    # Lemma 1: ECE <= 1 - acc, and ECE <= acc (sharper: acc - 1/K).
    limit = 1 - truth.mean() if direction == "over" else truth.mean() - 1 / k
    assert gap.mean() <= limit + 1e-12
    assert limit <= (1 - truth.mean() if direction == "over" else truth.mean())


@pytest.mark.parametrize("k", [2, 3, 5, 10, 100])
def test_figures_of_the_solution_are_the_targets(k):
    fake = fake_classifier_for(0.8, 0.07, n_classes=k)
    assert fake.accuracy().value == pytest.approx(0.8, abs=1e-7)
    figure = fake.expected_calibration_error()
    assert figure.value == pytest.approx(0.07, abs=1e-7)
    assert figure.method == "quadrature"
    assert figure.value <= 1 - fake.accuracy().value


def test_uniform_vectors_are_found_by_their_accuracy():
    # E max of a uniform vector of ten is H_10 / 10.
    harmonic = sum(1 / j for j in range(1, 11)) / 10
    fake = fake_classifier_for(harmonic, 0.0, n_classes=10)
    np.testing.assert_allclose(fake.alpha, 1.0, rtol=1e-7)
    assert isinstance(fake.map, IdentityMap)


@pytest.mark.parametrize("direction", ["over", "under"])
def test_tiny_errors_are_no_trouble(direction):
    fake = fake_classifier_for(0.8, 1e-9, n_classes=4, direction=direction)
    assert fake.map.exponent == pytest.approx(1.0, abs=1e-7)
    assert (fake.map.exponent > 1) == (direction == "over")


def test_direction_under_lowers_confidence():
    over = fake_classifier_for(0.8, 0.1, n_classes=4, direction="over")
    under = fake_classifier_for(0.8, 0.1, n_classes=4, direction="under")
    assert over.alpha == under.alpha
    assert over.mean_confidence().value == pytest.approx(0.9, abs=1e-7)
    assert under.mean_confidence().value == pytest.approx(0.7, abs=1e-7)


def test_impossible_over_confidence_cites_the_bound():
    message = r"`ece` must be below 1 - accuracy = 0\.01; got 0\.5\.\nHint: .*Lemma 1 i,"
    with pytest.raises(InvalidInputError, match=message):
        fake_classifier_for(0.99, 0.5, n_classes=3)


def test_impossible_under_confidence_cites_the_bound():
    message = r"accuracy - 1 / n_classes = 0\.2; got 0\.3\.\nHint: .*Lemma 1 ii,"
    with pytest.raises(InvalidInputError, match=message):
        fake_classifier_for(0.7, 0.3, n_classes=2, direction="under")


def test_the_bound_itself_is_out_of_reach():
    with pytest.raises(InvalidInputError, match="`ece` must be below"):
        fake_classifier_for(0.75, 0.25, n_classes=2)
    with pytest.raises(InvalidInputError, match="by a millionth"):
        fake_classifier_for(0.75, 0.25 - 1e-9, n_classes=2)


@pytest.mark.parametrize(
    ("arguments", "options", "param"),
    [
        ((0.3, 0.1), {"n_classes": 3}, "accuracy"),
        ((1 / 3, 0.1), {"n_classes": 3}, "accuracy"),
        ((1.0, 0.0), {"n_classes": 3}, "accuracy"),
        (("high", 0.0), {"n_classes": 3}, "accuracy"),
        ((1 - 1e-9, 0.0), {"n_classes": 3}, "accuracy"),
        ((0.8, -0.1), {"n_classes": 3}, "ece"),
        ((0.8, float("nan")), {"n_classes": 3}, "ece"),
        ((0.8, 0.1), {"n_classes": 1}, "n_classes"),
        ((0.8, 0.1), {"n_classes": 2.0}, "n_classes"),
        ((0.8, 0.1), {"n_classes": 3, "direction": "ovr"}, "direction"),
    ],
)
def test_bad_input_is_named(arguments, options, param):
    with pytest.raises(InvalidInputError, match=f"`{param}` must be"):
        fake_classifier_for(*arguments, **options)
