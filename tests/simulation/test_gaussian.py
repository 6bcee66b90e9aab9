"""Gaussian mixtures: posteriors against densities of scipy, draws against both."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import kstest, multivariate_normal, norm

from veridical.exceptions import InvalidInputError
from veridical.results.figures import BayesFigures
from veridical.simulation._tasks.examples import (
    LogisticModel,
    random_gaussian_task,
    two_normals_model,
    two_normals_task,
)
from veridical.simulation._tasks.gaussian import GaussianMixtureTask

PRIOR = [0.2, 0.5, 0.3]
MEANS = [[0.0, 0.0], [2.0, 1.0], [-1.0, 2.0], [1.0, -2.0]]
COVARIANCES = [
    [[1.0, 0.5], [0.5, 2.0]],
    [[0.5, -0.2], [-0.2, 0.3]],
    [[1.0, 0.0], [0.0, 1.0]],
    [[3.0, 1.0], [1.0, 1.0]],
]
CLASSES = [0, 1, 1, 2]
SHARES = [1.0, 0.25, 0.75, 1.0]


def plane():
    return GaussianMixtureTask(
        MEANS, COVARIANCES, CLASSES, mode_share=SHARES, prior=PRIOR, labels=["a", "b", "c"]
    )


def joint(x):
    """P(Y = k) f(x | k), (n, 3), by scipy."""
    parts = np.zeros((len(x), 3))
    for mean, covariance, k, share in zip(MEANS, COVARIANCES, CLASSES, SHARES, strict=True):
        parts[:, k] += PRIOR[k] * share * multivariate_normal(mean, covariance).pdf(x)
    return parts


def test_posteriors_and_densities_are_those_of_the_definition():
    x = np.random.default_rng(0).normal(0, 3, (200, 2))
    expected = joint(x)
    np.testing.assert_allclose(plane().density(x), expected.sum(axis=1), rtol=1e-10)
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(plane().posterior(x), expected, rtol=1e-9, atol=1e-300)


def test_rows_are_drawn_from_the_densities():
    task, n = plane(), 60_000
    sample = task.sample(n, rng=1)
    assert sample.x.shape == (n, 2)
    assert len(sample) == n
    for label, share, k in zip("abc", PRIOR, range(3), strict=True):
        rows = sample.y == label
        # Binomial, four standard deviations: once in 15,000 seeds.
        assert abs(rows.mean() - share) < 4 * math.sqrt(share * (1 - share) / n)
        if k == 1:
            cdf = lambda v: 0.25 * norm.cdf(v, 2, 0.5**0.5) + 0.75 * norm.cdf(v, -1, 1)  # noqa: E731
            assert kstest(sample.x[rows, 0], cdf).pvalue > 1e-3
    first = sample.x[sample.y == "a"]
    np.testing.assert_allclose(np.cov(first.T), COVARIANCES[0], atol=0.08)
    np.testing.assert_array_equal(sample.posterior, task.posterior(sample.x))


def test_the_mean_posterior_is_the_prior_and_labels_follow_posteriors():
    sample = plane().sample(60_000, rng=2)
    error = sample.posterior.std(axis=0) / math.sqrt(60_000)
    assert (np.abs(sample.posterior.mean(axis=0) - PRIOR) < 4 * error).all()
    p = sample.posterior[:, 1]
    hit = sample.y == "b"
    for low, high in ((0, 0.1), (0.1, 0.3), (0.3, 0.7), (0.7, 0.95), (0.95, 1.01)):
        rows = (p >= low) & (p < high)
        # Sum of independent Bernoulli outcomes of known probabilities.
        spread = math.sqrt((p[rows] * (1 - p[rows])).sum())
        assert abs(hit[rows].sum() - p[rows].sum()) < 4 * spread


def test_posteriors_far_from_every_mode_are_limits_not_nan():
    task = two_normals_task()
    # Log odds 2 x: at 300, exp(-600) is representable; densities themselves are not.
    assert task.posterior([300.0])[0, 0] == pytest.approx(math.exp(-600), rel=1e-10)
    assert task.posterior([-1e6])[0].tolist() == [1.0, 0.0]
    wide = GaussianMixtureTask([0, 0], [1, 4], [0, 1])
    assert wide.posterior([1e100])[0].tolist() == [0.0, 1.0]  # the wider class has heavier tails


def test_one_seed_one_sample():
    task = plane()
    first, again, other = (task.sample(50, rng=seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.x, again.x)
    np.testing.assert_array_equal(first.y, again.y)
    assert not np.array_equal(first.x, other.x)


def test_masses_of_intervals():
    task = GaussianMixtureTask([-1, 3, 1], [1, 4, 0.25], [0, 0, 1], prior=[0.25, 0.75])
    found = task.interval_mass([-np.inf, -2.0, 0.5, 9.0, 30.0, np.inf])

    def cdf(v):
        return np.array(
            [0.125 * (norm.cdf(v, -1, 1) + norm.cdf(v, 3, 2)), 0.75 * norm.cdf(v, 1, 0.5)]
        )

    for row, low, high in zip(found[:3], (-np.inf, -2, 0.5), (-2, 0.5, 9), strict=True):
        np.testing.assert_allclose(row, cdf(high) - cdf(low), rtol=1e-12)
    # Far out, where differences of distribution functions are zero.
    assert found[3, 0] == pytest.approx(0.125 * norm.sf(9, 3, 2), rel=1e-10)
    assert found[4, 0] == pytest.approx(0.125 * norm.sf(30, 3, 2), rel=1e-10)
    np.testing.assert_allclose(found.sum(axis=0), [0.25, 0.75], rtol=1e-14)


def test_another_prior_changes_posteriors_by_the_ratio():
    task = plane()
    shifted = task.with_prior([0.6, 0.3, 0.1])
    x = np.random.default_rng(5).normal(0, 2, (50, 2))
    odds = joint(x) * (np.array([0.6, 0.3, 0.1]) / PRIOR)
    expected = odds / odds.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(shifted.posterior(x), expected, rtol=1e-9)
    assert shifted.labels.tolist() == ["a", "b", "c"]


def test_bayes_figures_of_two_normals():
    figures = two_normals_task().bayes_figures()
    assert figures.accuracy == pytest.approx(norm.cdf(1), abs=1e-9)
    p = lambda x: expit(2 * x)  # noqa: E731
    f = lambda x: (norm.pdf(x, -1) + norm.pdf(x, 1)) / 2  # noqa: E731
    brier = quad(lambda x: f(x) * p(x) * (1 - p(x)), -12, 12)[0]
    entropy = quad(
        lambda x: f(x) * (np.logaddexp(0, -2 * x) * p(x) + np.logaddexp(0, 2 * x) * p(-x)), -12, 12
    )[0]
    assert figures.brier == pytest.approx(brier, abs=1e-9)
    assert figures.log_loss == pytest.approx(entropy, abs=1e-8)
    assert figures.method == "quadrature"
    assert figures.accuracy_error < 1e-7
    assert BayesFigures.from_json(figures.to_json()) == figures


def test_bayes_figures_in_space_are_within_their_errors():
    """Two normals along the diagonal of four features: the distance of the means decides."""
    centre = np.full(4, 0.5)  # means 2 apart
    task = GaussianMixtureTask([-centre, centre], [np.eye(4)] * 2, [0, 1])
    found = task.bayes_figures(n_draws=100_000, rng=0)
    exact = two_normals_task().bayes_figures()
    assert found.method == "monte carlo"
    for name in ("accuracy", "brier", "log_loss"):
        error = getattr(found, f"{name}_error")
        assert 0 < error < 1e-3
        assert abs(getattr(found, name) - getattr(exact, name)) < 4 * error


def test_brier_of_three_classes_is_summed_over_them():
    """Three classes that are alike: posteriors of a third, 1 - 3 / 9."""
    figures = GaussianMixtureTask([0, 0, 0], [1, 1, 1], [0, 1, 2]).bayes_figures()
    assert figures.brier == pytest.approx(2 / 3, abs=1e-10)
    assert figures.log_loss == pytest.approx(math.log(3), abs=1e-10)
    assert figures.accuracy == pytest.approx(1 / 3, abs=1e-10)


def test_the_three_logistic_models():
    """002 section 5.1: g_1, the probability of class -1, is 1 / (1 + exp(-(b_0 + b_1 x)))."""
    x = np.array([-1.5, 0.0, 0.5, 2.0])
    for kind, (intercept, slope) in {
        "perfect": (0, -2),
        "constant": (0, 0),
        "uncalibrated": (1, 1),
    }.items():
        g = 1 / (1 + np.exp(-(intercept + slope * x)))
        np.testing.assert_allclose(
            two_normals_model(kind)(x), np.column_stack([g, 1 - g]), rtol=1e-12
        )
    task = two_normals_task()
    np.testing.assert_allclose(task.posterior(x), two_normals_model("perfect")(x), rtol=1e-12)
    sample = task.sample(20_000, rng=0)
    assert set(sample.y.tolist()) == {-1, 1}
    assert abs(sample.x[sample.y == -1].mean() + 1) < 4 / math.sqrt(9000)


def test_random_tasks_follow_the_paper():
    """001 section 5.1: four modes a class, means in the unit cube, covariances A A^T, |a| < 0.3."""
    entries, means = [], []
    for seed in range(40):
        task = random_gaussian_task(5, 2, rng=seed)
        assert task.classes.tolist() == np.repeat(range(5), 4).tolist()
        assert task.mode_share.tolist() == [0.25] * 20
        means.append(task.modes.means)
        entries.append(task.modes.covariances)
    means, entries = np.concatenate(means), np.concatenate(entries)
    assert kstest(means.ravel(), "uniform").pvalue > 1e-3
    # E[A A^T] = d 0.3^2 / 3 on the diagonal, 0 beside; 800 modes.
    np.testing.assert_allclose(entries.mean(axis=0), np.eye(2) * 0.06, atol=0.005)
    assert entries[:, 0, 0].max() <= 2 * 0.09


@pytest.mark.parametrize("d", [2, 7])
def test_posteriors_of_random_tasks_are_correct(d):
    task = random_gaussian_task(3, d, n_modes=2, rng=8)
    x = task.sample(100, rng=0).x
    density = np.zeros((100, 3))
    for mean, covariance, k in zip(
        task.modes.means, task.modes.covariances, task.classes, strict=True
    ):
        density[:, k] += multivariate_normal(mean, covariance, allow_singular=True).pdf(x)
    expected = density / density.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(task.posterior(x), expected, atol=1e-6)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([0, 1], [1, 0], [0, 1]), {}, "`covariances` must be symmetric and positive definite"),
        (([0, 1], [1, -1], [0, 1]), {}, "`covariances` must be symmetric and positive definite"),
        (([0, 1], [1, 1, 1], [0, 1]), {}, r"`covariances` must be of shape \(2, 1, 1\) or \(2,\)"),
        (([0, np.nan], [1, 1], [0, 1]), {}, "`means` must be finite"),
        (([0, 1], [1, 1], [0, 0]), {}, "`classes` must be 2 indices"),
        (([0, 1], [1, 1], [0, 2]), {}, "`classes` must be 2 indices"),
        (([0, 1], [1, 1], [0, 1]), {"prior": [0.5, 0.6]}, "`prior` must be positive with sum 1"),
        (([0, 1], [1, 1], [0, 1]), {"prior": [1.0]}, "`prior` must be a list of 2"),
        (([0, 1], [1, 1], [0, 1]), {"labels": ["b", "a"]}, "`labels` must be 2 ascending"),
        (([0, 1], [1, 1], [0, 1]), {"mode_share": [0.5, 1]}, "`mode_share` must be positive"),
    ],
)
def test_wrong_parameters(arguments, options, message):
    with pytest.raises(InvalidInputError, match=message):
        GaussianMixtureTask(*arguments, **options)


def test_wrong_calls():
    task = plane()
    with pytest.raises(InvalidInputError, match=r"`x` must be of shape \(n, 2\)"):
        task.posterior([1.0, 2.0])
    with pytest.raises(InvalidInputError, match="`x` must be finite"):
        two_normals_task().posterior([np.nan])
    with pytest.raises(InvalidInputError, match="`n` must be a positive integer"):
        task.sample(0)
    with pytest.raises(InvalidInputError, match="`task` must be of one feature"):
        task.interval_mass([0.0, 1.0])
    with pytest.raises(InvalidInputError, match="`edges` must be ascending"):
        two_normals_task().interval_mass([1.0, 1.0])
    with pytest.raises(InvalidInputError, match="did you mean 'perfect'"):
        two_normals_model("perfekt")
    with pytest.raises(InvalidInputError, match="`n_classes` must be an integer of 2 or more"):
        random_gaussian_task(1, 2)
    with pytest.raises(InvalidInputError, match="`spread` must be a positive number"):
        random_gaussian_task(2, 2, spread=0)
    with pytest.raises(InvalidInputError, match=r"`x` must be of shape \(n,\) or \(n, 1\)"):
        LogisticModel(0, 1)([[1.0, 2.0]])
