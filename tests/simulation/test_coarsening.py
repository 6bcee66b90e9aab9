"""Coarsened truths: calibrated whatever the cells (Vaicenavicius et al. 2019, Proposition 1)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm

from veridical.exceptions import InvalidInputError
from veridical.simulation._tasks.coarsening import CoarsenedClassifier, coarsen
from veridical.simulation._tasks.examples import survey_three_class_task, two_normals_task
from veridical.simulation._tasks.gaussian import GaussianMixtureTask
from veridical.simulation._tasks.truth import true_calibration_error

POSTERIOR = [[0.5, 0.25, 0.25], [0.75, 0.25, 0.0], [0.0, 0.5, 0.5], [0.25, 0.25, 0.5]]


def test_means_of_cells():
    found = coarsen(POSTERIOR, ["a", "a", "b", "b"])
    first, second = [0.625, 0.25, 0.125], [0.125, 0.375, 0.5]
    assert found.tolist() == [first, first, second, second]


def test_weights_are_repetitions_and_zero_is_removal():
    p, cells = [0.125, 0.5, 0.75, 0.25], [2, 2, 7, 2]
    expected = (2 * 0.125 + 0.5) / 3
    found = coarsen(p, cells, sample_weight=[2, 1, 5, 0])
    assert found == pytest.approx([expected, expected, 0.75, expected], abs=1e-15)
    np.testing.assert_allclose(coarsen(p, cells, sample_weight=[20, 10, 50, 0]), found, rtol=1e-15)


def test_the_finest_cells_change_nothing_and_the_coarsest_leave_the_prior():
    assert coarsen(POSTERIOR, range(4)).tolist() == POSTERIOR
    mean = np.mean(POSTERIOR, axis=0)
    np.testing.assert_allclose(coarsen(POSTERIOR, [0] * 4), np.tile(mean, (4, 1)), rtol=1e-15)


def test_equal_answers_have_the_mean_truth_of_their_rows():
    """E[posterior | answer] = answer, though two cells may answer alike."""
    rng = np.random.default_rng(0)
    p = rng.dirichlet([1, 2, 3], 500)
    answer = coarsen(p, (p[:, 0] * 7).astype(int))
    for value in np.unique(answer, axis=0):
        rows = (answer == value).all(axis=1)
        np.testing.assert_allclose(p[rows].mean(axis=0), value, rtol=1e-12)


def test_cuts_of_the_line_are_exact_and_right_closed():
    classifier = CoarsenedClassifier.from_edges(two_normals_task(), [-0.5, 1.0])
    joint = np.array([norm.cdf(1, m) - norm.cdf(-0.5, m) for m in (-1, 1)])
    middle = joint / joint.sum()
    left = norm.cdf(-0.5, [-1, 1])
    found = classifier([-0.5, -0.4, 1.0])
    np.testing.assert_allclose(found[0], left / left.sum(), rtol=1e-12)
    np.testing.assert_allclose(found[1:], [middle, middle], rtol=1e-12)
    np.testing.assert_allclose(classifier.mass[1], joint.sum() / 2, rtol=1e-12)
    assert not classifier.standard_error.any()


@pytest.mark.parametrize("edges", [[], [0.3], np.linspace(-3, 3, 30)])
def test_cuts_are_calibrated_in_the_population(edges):
    task = two_normals_task()
    classifier = CoarsenedClassifier.from_edges(task, edges)
    assert true_calibration_error(task, classifier) < 1e-7
    assert true_calibration_error(task, classifier, lens="confidence") < 1e-7
    # What is lost is sharpness: no cut is as good as the posterior.
    x = task.sample(20_000, rng=0)
    loss = ((x.posterior - classifier(x.x)) ** 2)[:, 1].mean()
    assert loss > 1e-4


def test_without_cuts_the_prior_is_answered():
    task = GaussianMixtureTask([0, 1], [1, 1], [0, 1], prior=[0.25, 0.75])
    found = CoarsenedClassifier.from_edges(task, [])([[5.0], [-3.0]])
    np.testing.assert_allclose(found, [[0.25, 0.75]] * 2, rtol=1e-14)
    # A cell without mass, forty deviations away, knows no better either.
    far = CoarsenedClassifier.from_edges(task, [60.0])
    assert far([70.0])[0].tolist() == [0.25, 0.75]


def test_a_statistic_by_drawing_is_within_its_errors():
    """The sign of x: right with probability Phi(1)."""
    task = two_normals_task()
    found = CoarsenedClassifier.from_statistic(
        task, lambda x: np.sign(x[:, 0]).astype(int), n_draws=100_000, rng=0
    )
    assert found.cells.tolist() == [-1, 1]
    expected = np.array([[norm.cdf(1), norm.cdf(-1)], [norm.cdf(-1), norm.cdf(1)]])
    assert (found.standard_error < 2e-3).all()
    assert (np.abs(found.table - expected) < 4 * found.standard_error).all()
    assert found.mass == pytest.approx([0.5, 0.5], abs=4 * math.sqrt(0.25 / 100_000))
    np.testing.assert_array_equal(found([-0.1, 0.1]), found.table)
    assert found([0.0])[0].tolist() == [0.5, 0.5]  # a sign never drawn: the prior


def test_a_statistic_of_the_posterior_keeps_three_classes_calibrated():
    """Cells by the most probable class; fresh rows agree within binomial noise."""
    task = survey_three_class_task()
    found = CoarsenedClassifier.from_statistic(
        task, lambda x: task.posterior(x).argmax(axis=1), n_draws=50_000, rng=1
    )
    fresh = task.sample(50_000, rng=2)
    answers = found(fresh.x)
    for row in found.table:
        rows = (answers == row).all(axis=1)
        for k, label in enumerate(task.labels):
            spread = math.sqrt(row[k] * (1 - row[k]) / rows.sum())
            assert abs((fresh.y[rows] == label).mean() - row[k]) < 4.5 * spread


def test_wrong_input():
    with pytest.raises(InvalidInputError, match=r"`cells` must be of shape \(4,\)"):
        coarsen(POSTERIOR, [1, 2])
    with pytest.raises(InvalidInputError, match="`cells` must be free of missing values"):
        coarsen([0.5, 0.5], [1.0, np.nan])
    with pytest.raises(InvalidInputError, match="`posterior` must be rows that sum to 1"):
        coarsen([[0.5, 0.6]], [1])
    with pytest.raises(InvalidInputError, match="`sample_weight` must be positive in each cell"):
        coarsen([0.5, 0.5], [0, 1], sample_weight=[1, 0])
    with pytest.raises(InvalidInputError, match="`edges` must be finite, 1-d"):
        CoarsenedClassifier.from_edges(two_normals_task(), [np.inf])
    space = GaussianMixtureTask([[0, 0], [1, 1]], [np.eye(2)] * 2, [0, 1])
    with pytest.raises(InvalidInputError, match="`task` must be of one feature"):
        CoarsenedClassifier.from_edges(space, [0.0])
