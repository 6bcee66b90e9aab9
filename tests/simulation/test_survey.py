"""The survey's tasks: its figures in numbers (Silva Filho et al. 2023, sections 5.2 and 5.4)."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import norm

from veridical.simulation._tasks.examples import (
    survey_binary_task,
    survey_f_over,
    survey_f_under,
    survey_mlp,
    survey_three_class_task,
)
from veridical.simulation._tasks.gaussian import GaussianMixtureTask
from veridical.simulation._tasks.truth import true_calibration_error, true_reliability

CLASS_1 = [(-4, 960), (64, 1280)]
CLASS_2 = [(4, 980), (-72, 1024)]


def density(x, modes):
    return np.mean([norm.pdf(x, mean, variance**0.5) for mean, variance in modes], axis=0)


def test_posteriors_of_both_tasks():
    x = np.linspace(-250, 250, 201)
    one, two, three = density(x, CLASS_1), density(x, CLASS_2), norm.pdf(x, 0, 8)
    np.testing.assert_allclose(
        survey_binary_task().posterior(x), np.column_stack([two, one] / (one + two)), rtol=1e-9
    )
    found = survey_three_class_task().posterior(x)
    expected = np.column_stack([one, two, three] / (one + two + three))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-300)
    assert survey_three_class_task().labels.tolist() == [1, 2, 3]


def test_the_third_class_is_capped_near_0_8_only_with_a_deviation_of_8():
    """Figure 20: predictions for class 3 are capped around 0.8."""
    x = np.linspace(-20, 20, 4001)
    assert survey_three_class_task().posterior(x)[:, 2].max() == pytest.approx(0.777, abs=5e-4)
    one, two = density(x, CLASS_1), density(x, CLASS_2)
    third = norm.pdf(x, 0, 8**0.5)
    assert (third / (one + two + third)).max() == pytest.approx(0.908, abs=5e-4)


def test_the_decision_boundary_is_nearly_at_zero():
    """Section 5.2: x = 0 is "nearly Bayes-optimal"; in numbers, three rows in a thousand."""
    accuracy = survey_binary_task().bayes_figures().accuracy
    at_zero = (norm.sf(0, [-4, 64], [960**0.5, 1280**0.5]).mean()
               + norm.cdf(0, [4, -72], [980**0.5, 1024**0.5]).mean()) / 2  # fmt: skip
    assert 0 <= accuracy - at_zero < 5e-3
    larger = lambda x: max(density(x, CLASS_1), density(x, CLASS_2)) / 2  # noqa: E731
    expected = quad(larger, -400, 400, limit=500, points=[-100, -50, -10, 0, 10, 50, 100])[0]
    assert accuracy == pytest.approx(expected, abs=1e-7)
    assert accuracy == pytest.approx(0.714909, abs=1e-6)


@pytest.mark.parametrize(
    ("model", "slope", "binary", "confidence"),
    [
        (survey_f_under, 0.01, 0.112160, 0.105531),
        (survey_f_over, 0.05, 0.120627, 0.120249),
    ],
)
def test_true_errors_of_the_hypothetical_classifiers(model, slope, binary, confidence):
    """Also integrals over a grid in tests/calibrators/test_survey_tasks.py."""
    task = survey_binary_task()
    x = np.linspace(-500, 500, 400_001)
    mass = (density(x, CLASS_1) + density(x, CLASS_2)) / 2 * (x[1] - x[0])
    posterior = density(x, CLASS_1) / (density(x, CLASS_1) + density(x, CLASS_2))
    expected = np.abs(expit(slope * x) - posterior) @ mass
    assert expected == pytest.approx(binary, abs=1e-6)
    assert true_calibration_error(task, model) == pytest.approx(expected, abs=1e-7)
    found = true_calibration_error(task, model, lens="confidence")
    assert found == pytest.approx(confidence, abs=1e-6)


def test_slopes_of_the_reliability_diagrams_of_figure_12():
    """Steeper than the diagonal for the under-confident one, shallower for the other."""
    task, ends = survey_binary_task(), np.array([0.25, 0.75])
    under, over = (
        np.diff(true_reliability(task, model, ends, n_nodes=1 << 14))[0] / 0.5
        for model in (survey_f_under, survey_f_over)
    )
    assert over < 1 < under
    # "The output probabilities barely reach the outside of the interval [0.1, 0.9]."
    p = survey_f_under(task.sample(10_000, rng=0).x)[:, 1]
    assert ((p < 0.1) | (p > 0.9)).mean() < 0.01


def test_a_small_network_of_the_survey():
    """Classes 40 deviations apart: training ends soon and nearly every row is right."""
    task = GaussianMixtureTask([-20, 20], [1, 1], [0, 1], labels=["no", "yes"])
    model = survey_mlp(task, n_train=100, rng=0)
    assert model.hidden_layer_sizes == (128, 128)
    assert model.activation == "relu"
    assert list(model.classes_) == ["no", "yes"]
    again = survey_mlp(task, n_train=100, rng=0)
    fresh = task.sample(200, rng=1)
    np.testing.assert_array_equal(model.predict_proba(fresh.x), again.predict_proba(fresh.x))
    assert (model.predict(fresh.x) == fresh.y).all()


@pytest.mark.slow
def test_the_network_of_the_survey_learns_the_three_classes():
    """Figure 20: its predictions for class 3 are capped around 0.8, too; a quarter of the rows."""
    task = survey_three_class_task()
    model = survey_mlp(task, n_train=2500, rng=1)
    x = np.linspace(-60, 60, 2401)[:, None]
    assert 0.7 < model.predict_proba(x)[:, 2].max() < 0.88
    error = true_calibration_error(task, model.predict_proba, lens="classwise", n_nodes=1 << 14)
    assert 0.002 < error < 0.1
