"""True calibration by quadrature: closed forms, integrals of scipy, and large samples."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import norm

from veridical.exceptions import InvalidInputError
from veridical.simulation._tasks.examples import (
    LogisticModel,
    survey_three_class_task,
    two_normals_model,
    two_normals_task,
)
from veridical.simulation._tasks.gaussian import GaussianMixtureTask
from veridical.simulation._tasks.truth import true_calibration_error, true_reliability


def density(x):
    return (norm.pdf(x, -1) + norm.pdf(x, 1)) / 2


def integral(function, points=()):
    return quad(function, -14, 14, limit=500, points=[-3, -1, 0, 1, 3, *points], epsabs=1e-12)[0]


@pytest.mark.parametrize("norm_", [1, 2, 3.5])
@pytest.mark.parametrize("kind", ["perfect", "constant"])
def test_calibrated_models_have_no_error(kind, norm_):
    found = true_calibration_error(two_normals_task(), two_normals_model(kind), norm=norm_)
    assert found < 1e-7


@pytest.mark.parametrize("norm_", [1, 2, 3.5])
def test_error_of_a_monotone_score_is_an_integral_over_the_feature(norm_):
    gap = lambda x: density(x) * abs(expit(-2 * x) - expit(1 + x)) ** norm_  # noqa: E731
    expected = integral(gap, [-1 / 3]) ** (1 / norm_)  # sign change at -2 x = 1 + x
    model = two_normals_model("uncalibrated")
    found = true_calibration_error(two_normals_task(), model, norm=norm_)
    assert found == pytest.approx(expected, abs=1e-7)
    # Of two classes, both have the same error.
    assert true_calibration_error(
        two_normals_task(), model, lens="classwise", norm=norm_
    ) == pytest.approx(expected, abs=1e-7)


def test_the_uncalibrated_model_through_both_lenses():
    """Values of an independent quadrature, in the module's docstring of the model too."""
    task, model = two_normals_task(), two_normals_model("uncalibrated")
    assert true_calibration_error(task, model) == pytest.approx(0.563751, abs=1e-6)
    found = true_calibration_error(task, model, lens="confidence")
    # x and -2 - x have the same confidence and opposite answers: pool by hand, u = x + 1 > 0.

    def gap(u):
        here, there = density(u - 1), density(-u - 1)
        right = here * expit(-2 * (u - 1)) + there * expit(2 * (-u - 1))
        return abs(right - expit(u) * (here + there))

    expected = quad(gap, 0, 16, limit=500, points=[0.5, 1, 2, 4], epsabs=1e-12)[0]
    assert expected == pytest.approx(0.500346, abs=1e-6)
    assert found == pytest.approx(expected, abs=1e-6)


def test_scores_that_fold_the_line_are_pooled():
    """The score depends on |x| alone and the task is symmetric: one half is right everywhere."""
    task = two_normals_task()
    folded = lambda x: expit(np.abs(x[:, 0]) - 0.5)  # noqa: E731
    expected = integral(lambda x: density(x) * abs(0.5 - expit(abs(x) - 0.5)), [-0.5, 0.5])
    assert true_calibration_error(task, folded) == pytest.approx(expected, abs=1e-6)
    np.testing.assert_allclose(true_reliability(task, folded, [0.4, 0.6, 0.9]), 0.5, atol=1e-7)


def test_steps_are_cells_with_exact_masses():
    """Below 0 the model says 0.3, above 0.6; true are Phi(-1) and Phi(1)."""
    task = two_normals_task()
    steps = lambda x: np.where(x[:, 0] < 0, 0.3, 0.6)  # noqa: E731
    low, high = norm.cdf(-1), norm.cdf(1)
    expected = (abs(low - 0.3) + abs(high - 0.6)) / 2
    assert true_calibration_error(task, steps) == pytest.approx(expected, abs=1e-8)
    squared = math.sqrt(((low - 0.3) ** 2 + (high - 0.6) ** 2) / 2)
    assert true_calibration_error(task, steps, norm=2) == pytest.approx(squared, abs=1e-8)
    found = true_reliability(task, steps, [0.3, 0.6])
    np.testing.assert_allclose(found, [low, high], atol=2e-5)


def test_reliability_of_a_monotone_score_is_the_posterior_there():
    """Scores expit(a + b x), log odds 2 x, so logit r(s) = 2 (logit s - a) / b."""
    scores = np.array([0.01, 0.2, 0.5, 0.77, 0.99])
    for a, b in ((0.0, 1.0), (0.3, -0.7), (-1.0, 5.0)):
        odds = 2 * (np.log(scores / (1 - scores)) - a) / b
        found = true_reliability(two_normals_task(), LogisticModel(a, b), scores)
        np.testing.assert_allclose(found, expit(odds), atol=1e-7)


def test_reliability_is_unknown_where_no_score_is():
    found = true_reliability(two_normals_task(), lambda x: 0.5 + 0.25 * np.tanh(x), [0.1, 0.5])
    assert math.isnan(found[0])
    assert found[1] == pytest.approx(0.5, abs=1e-7)
    # A stretch of equal scores outweighs the points that happen to have it too.
    partly = lambda x: np.where(x[:, 0] > 1, 0.3, expit(x[:, 0]))  # noqa: E731
    mass = norm.sf(1, [-1, 1]) / 2
    expected = mass[1] / mass.sum()
    assert true_reliability(two_normals_task(), partly, [0.3])[0] == pytest.approx(
        expected, abs=1e-8
    )


def test_three_classes_by_hand():
    """The true posterior is calibrated through every lens; a constant is off by the prior."""
    task = survey_three_class_task()
    for options in ({}, {"lens": "classwise"}, {"label": 3}):
        found = true_calibration_error(task, task.posterior, **options)
        assert found < 1e-6
    even = GaussianMixtureTask([0, 1, 2], [1, 1, 1], [0, 1, 2], prior=[0.5, 0.3, 0.2])
    constant = lambda x: np.tile([0.7, 0.2, 0.1], (len(x), 1))  # noqa: E731
    assert true_calibration_error(even, constant) == pytest.approx(0.2, abs=1e-9)
    assert true_calibration_error(even, constant, label=1) == pytest.approx(0.1, abs=1e-9)
    found = true_calibration_error(even, constant, lens="classwise")
    assert found == pytest.approx((0.2 + 0.1 + 0.1) / 3, abs=1e-9)
    found = true_calibration_error(even, constant, lens="classwise", norm=2)
    assert found == pytest.approx(math.sqrt((0.04 + 0.01 + 0.01) / 3), abs=1e-9)


def test_a_large_sample_reads_what_the_integral_says():
    """Three classes, confidence: no symmetry, several folds; means of posteriors in fine bins."""
    task = survey_three_class_task()

    def sharp(x):
        power = task.posterior(x) ** 2.5
        return power / power.sum(axis=1, keepdims=True)

    sample = task.sample(200_000, rng=3)
    p = sharp(sample.x)
    top = p.argmax(axis=1)
    score, truth = p.max(axis=1), sample.posterior[np.arange(len(p)), top]
    bins = (score * 400).astype(int).clip(max=399)
    naive = np.abs(np.bincount(bins, truth - score)).sum() / len(p)
    # Noise of a mean of 200,000 truths of spread below 0.3, and of the signs of few sparse bins.
    found = true_calibration_error(task, sharp)
    assert found == pytest.approx(naive, abs=0.003)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"norm": 0.5}, "`norm` must be a number of 1 or more"),
        ({"lens": "binery"}, "did you mean 'binary'"),
        ({"lens": "binary", "label": 1}, "`label` must be given without `lens`"),
        ({"label": 7}, "`label` must be one of the classes"),
        ({"n_nodes": 0}, "`n_nodes` must be a positive integer"),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(InvalidInputError, match=message):
        true_calibration_error(two_normals_task(), two_normals_model("perfect"), **options)


def test_wrong_questions():
    task, model = two_normals_task(), two_normals_model("perfect")
    space = GaussianMixtureTask([[0, 0], [1, 1]], [np.eye(2)] * 2, [0, 1])
    with pytest.raises(InvalidInputError, match="`task` must be a task with one feature"):
        true_calibration_error(space, space.posterior)
    with pytest.raises(InvalidInputError, match='`lens` must be "binary" or "confidence"'):
        true_reliability(task, model, [0.5], lens="classwise")
    with pytest.raises(InvalidInputError, match="`lens` must be one for several classes"):
        true_calibration_error(survey_three_class_task(), model, lens="binary")
    with pytest.raises(InvalidInputError, match="`scores` must be 1-d"):
        true_reliability(task, model, [1.5])
    with pytest.raises(InvalidInputError, match="`classifier` must be callable"):
        true_calibration_error(task, 0.5)
    with pytest.raises(InvalidInputError, match=r"answers shape \(n, 3\)"):
        true_calibration_error(survey_three_class_task(), model)
    with pytest.raises(InvalidInputError, match=r"`classifier` must be in \[0, 1\]"):
        true_calibration_error(task, lambda x: x)
