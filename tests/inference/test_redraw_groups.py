"""How outcomes are redrawn where rows belong together."""

import itertools
import math

import numpy as np
import pytest
from inference.redrawn import drawn, sample_of, three_classes
from scipy import stats

from veridical._core.resampling.groups import _shared_by_one, shared_by_two
from veridical._core.resampling.hypothesis import redraw_of
from veridical._core.resampling.redraw import Redraw, Sharing

pytestmark = pytest.mark.filterwarnings("ignore::veridical.VeridicalWarning")

W = np.array([6.0, 1.5])  # of either label
N = 20_000


def sharing(p, group, correlation, freedom=1e9):
    p = np.column_stack([1 - p, p])
    together = Sharing(group, correlation, freedom, 1.0)
    return Redraw(p, p, np.ones_like(p), together, "", np.arange(len(p)))


def test_draws_of_groups_keep_the_probabilities():
    rng = np.random.default_rng(10)
    p = rng.random(40)
    mean = drawn(sharing(p, np.repeat(np.arange(8), 5), 0.6, 3.0), N).mean(axis=0)
    assert (np.abs(mean - p) < 4.5 * np.sqrt(p * (1 - p) / N)).all()


@pytest.mark.parametrize(("a", "b"), [(0.3, 0.3), (0.5, 0.5), (0.2, 0.7)])
def test_pairs_of_a_group_are_correlated_as_stated(a, b):
    """rho of pairs share their uniform number: rho (min(a, b) - a b), nothing between groups."""
    rho, p = 0.4, np.array([a, b, a])
    y = drawn(sharing(p, np.array([0, 0, 1]), rho), 4 * N).astype(float)
    for other, covariance in ((1, rho * (min(a, b) - a * b)), (2, 0.0)):
        product = (y[:, 0] - a) * (y[:, other] - p[other])
        assert abs(product.mean() - covariance) < 4.5 * product.std() / math.sqrt(4 * N)


def test_few_groups_widen_the_correlation():
    """E min(rho nu / X, 1) of a chi-square X, in closed form."""
    rho, nu, p = 0.1, 8.0, np.full(2, 0.5)
    y = drawn(sharing(p, np.zeros(2, dtype=int), rho, nu), 4 * N).astype(float)
    expected = stats.chi2(nu).cdf(rho * nu) + rho * nu / (nu - 2) * stats.chi2(nu - 2).sf(rho * nu)
    product = (y[:, 0] - 0.5) * (y[:, 1] - 0.5) / 0.25
    assert abs(product.mean() - expected) < 4.5 * product.std() / math.sqrt(4 * N)


@pytest.mark.parametrize("weighted", [False, True])
def test_what_a_group_shares_is_a_sum_over_pairs(weighted):
    rng = np.random.default_rng(11)
    p, group = rng.random(30).round(1), rng.permutation(np.repeat(np.arange(6), 5))
    y = np.arange(30) % 2
    redraw = redraw_of(sample_of(y, p, W[y] if weighted else rng.gamma(3.0, size=30)))
    found = shared_by_two(redraw, group, 6)
    chance, step = redraw.chance[:, 1], redraw.residuals[:, 1] - redraw.residuals[:, 0]
    expected = np.zeros(6)
    for i, j in itertools.permutations(range(30), 2):
        if group[i] == group[j]:
            covariance = min(chance[i], chance[j]) - chance[i] * chance[j]
            expected[group[i]] += step[i] * step[j] * covariance
    np.testing.assert_allclose(found, expected, atol=1e-10)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_correlation_is_that_of_the_data(n_classes):
    """Of groups in which rho of the pairs have one uniform number, of many groups."""
    rng = np.random.default_rng(12)
    n_groups, size, rho = 4000, 5, 0.3
    g = np.repeat(np.arange(n_groups), size)
    p = rng.dirichlet(np.ones(n_classes), len(g))
    shared = rng.random(len(g)) < math.sqrt(rho)
    uniform = np.where(shared, rng.random(n_groups)[g], rng.random(len(g)))
    y = (uniform[:, None] >= p.cumsum(axis=1)[:, :-1]).sum(axis=1)
    made = redraw_of(sample_of(y, p[:, 1] if n_classes == 2 else p, clusters=g))
    assert made.sharing.correlation == pytest.approx(rho, abs=0.03)
    assert "together within 4,000 groups" in made.said


def sharing_classes(p, group, correlation, classes):
    together = Sharing(group, correlation, 1e9, 1.0, classes=np.array(classes))
    return Redraw(p, p, np.ones_like(p), together, "", np.arange(len(p)))


def test_draws_of_classes_that_go_together_keep_the_probabilities():
    p = np.random.default_rng(10).dirichlet(np.ones(4), 20)
    y = drawn(sharing_classes(p, np.repeat(np.arange(5), 4), 0.2, [0.1, 0.0, 0.0, 0.3]), N)
    for k in range(4):
        share = (y == k).mean(axis=0)
        assert (np.abs(share - p[:, k]) < 4.5 * np.sqrt(p[:, k] * (1 - p[:, k]) / N)).all()


def test_a_class_goes_together_as_stated():
    """rho of pairs share whether the class occurs, which the others do not tell."""
    rho, p = 0.4, np.array([[0.2, 0.5, 0.3], [0.4, 0.2, 0.4]])
    y = drawn(sharing_classes(p, np.zeros(2, dtype=int), 0.0, [0.0, 0.0, rho]), 4 * N)
    both = rho * (0.3 - 0.3 * 0.4)  # min - product
    # Of class 0: that it is not class 2 is shared, then 2 / 7 and 4 / 6 are.
    for k, covariance in ((2, both), (0, both * (0.2 / 0.7) * (0.4 / 0.6))):
        product = ((y[:, 0] == k) - p[0, k]) * ((y[:, 1] == k) - p[1, k])
        assert abs(product.mean() - covariance) < 4.5 * product.std() / math.sqrt(4 * N)


@pytest.mark.parametrize("weighted", [False, True])
def test_what_a_group_shares_of_a_class_is_a_sum_over_pairs(weighted):
    """Residuals if the class occurs, less their mean if another does, by definition."""
    y, p, w = three_classes()
    w = w if weighted else np.ones(3)
    redraw = redraw_of(sample_of(y, p, w[y], clusters=np.arange(30) % 6))
    group = redraw.sharing.group
    for k in range(3):
        step = np.empty(30)
        for i, row in enumerate(redraw.rows):
            chance = p[row] / w / (p[row] / w).sum()
            residual = w * ((np.arange(3) == k) - p[row, k])
            others = np.arange(3) != k
            step[i] = residual[k] - chance[others] @ residual[others] / chance[others].sum()
        expected = np.zeros(6)
        for i, j in itertools.permutations(range(30), 2):
            if group[i] == group[j]:
                a, b = redraw.chance[i, k], redraw.chance[j, k]
                expected[group[i]] += step[i] * step[j] * (min(a, b) - a * b)
        np.testing.assert_allclose(_shared_by_one(redraw, group, 6, k), expected, atol=1e-10)


def test_ordered_grades_go_together_at_the_ends():
    """Gaussian copula of ordered classes: the first and the last are correlated more."""
    rng = np.random.default_rng(13)
    g = np.repeat(np.arange(2000), 6)
    p = rng.dirichlet(np.full(3, 5.0), len(g))
    latent = math.sqrt(0.4) * rng.normal(size=2000)[g] + math.sqrt(0.6) * rng.normal(size=len(g))
    y = (stats.norm.cdf(latent)[:, None] >= p.cumsum(axis=1)[:, :-1]).sum(axis=1)
    found = redraw_of(sample_of(y, p, clusters=g)).sharing
    assert found.classes[1] < 0.01 < 0.04 < found.classes[[0, 2]].min()
