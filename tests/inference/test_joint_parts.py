"""What the joint test is made of: cells, draws, scores of their tails, steps down."""

import numpy as np
import pytest
from scipy import stats

from veridical._core.numeric import poisson_binomial
from veridical.inference._joint.draws import Trials, drawn_residuals
from veridical.inference._joint.family import Members, judge, tail_scores
from veridical.inference._joint.forms import Cells, Surprise, contrasts, surprises, upper_edges
from veridical.inference._joint.layout import split_cells, variance_splits


def test_contrasts_are_uncorrelated_with_variance_one():
    rng = np.random.default_rng(2)
    variance, odds = rng.random((3, 20)), np.sort(rng.normal(size=(3, 20)), axis=1)
    c = contrasts(variance, odds, 5)
    for k in range(3):
        covariance = c[k].T @ np.diag(variance[k]) @ c[k]
        assert covariance == pytest.approx(np.eye(7), abs=1e-10)


def test_what_cells_cannot_show_is_left_out():
    c = contrasts(np.array([1.0, 2.0]), np.array([0.0, 1.0]), 4)
    assert (c[:, 2:] == 0).all()
    assert (contrasts(np.zeros(3), np.zeros(3), 2) == 0).all()


def test_equal_predictions_share_a_cell():
    p = np.sort(np.repeat(np.linspace(0, 1, 301), 3))
    edges = upper_edges(p, p * (1 - p), 20)
    assert len(edges) <= 20
    assert edges[-1] == 1.0
    assert np.isin(edges, p).all()
    vectors = np.repeat(np.random.default_rng(0).dirichlet(np.ones(3), 300), 2, axis=0)
    cell = split_cells(vectors, variance_splits(vectors, 50))
    assert (cell[::2] == cell[1::2]).all()
    assert len(np.unique(cell)) == 50


@pytest.mark.parametrize(
    ("p", "count"),
    [
        (np.array([0.3]), np.array([40.0])),
        (np.linspace(0.01, 0.2, 50), np.ones(50)),
        (np.linspace(0.8, 0.99, 50), np.ones(50)),
        (np.linspace(0.001, 0.02, 900), np.ones(900)),  # neighbours are pooled
        (np.array([0.1, 0.5, 0.9]), np.array([7.0, 100.0, 3.0])),
    ],
)
def test_counts_have_the_poisson_binomial_law(p, count):
    n = 40_000
    trials = Trials(p, count)
    drawn = drawn_residuals(trials, np.zeros(len(p), dtype=int), 1, n, np.random.default_rng(3))
    number = drawn[:, 0] + count @ p
    assert number == pytest.approx(np.rint(number), abs=1e-8)
    law = poisson_binomial.pmf(np.repeat(p, count.astype(int)))
    seen = np.bincount(np.rint(number).astype(int), minlength=len(law))
    common = law * n >= 5
    assert stats.chisquare(
        np.append(seen[common], seen[~common].sum()),
        np.append(law[common], law[~common].sum()) * n,
    ).pvalue > 1e-4  # fmt: skip


@pytest.mark.parametrize("rare", [False, True])
def test_weighted_sums_have_their_moments(rare):
    rng = np.random.default_rng(4)
    p = np.sort(rng.random(3000) * (0.02 if rare else 1.0))
    weight = rng.exponential(size=3000)
    cell = np.arange(3000) * 3 // 3000
    drawn = drawn_residuals(Trials(p, np.ones(3000), weight), cell, 3, 20_000, rng)
    each = weight**2 * p * (1 - p)
    skew = weight**3 * p * (1 - p) * (1 - 2 * p)
    for c in range(3):
        held, variance = drawn[:, c], each[cell == c].sum()
        assert abs(held.mean()) < 5 * np.sqrt(variance / 20_000)
        assert held.var() == pytest.approx(variance, rel=0.06)
        expected = skew[cell == c].sum() / variance**1.5
        assert stats.skew(held) == pytest.approx(expected, abs=0.12)


def test_scores_of_squared_normals_are_their_tails():
    values = np.square(np.random.default_rng(5).standard_normal((4001, 1)))
    scores = tail_scores(values)
    tail = stats.chi2(1).sf(values)
    far = values[:, 0] > 6
    assert scores[far] == pytest.approx(-np.log(tail[far]), rel=0.15)
    order = np.argsort(values[:, 0])
    assert (np.diff(scores[order, 0]) >= 0).all()


def test_stepping_down_against_a_loop():
    rng = np.random.default_rng(6)
    values = rng.gamma(2.0, size=(200, 5))
    values[0] *= [6, 1, 3, 1, 1]
    part = np.array([0, 1, 1, 2, 2])
    members = Members(values, part, np.array([1.0, 0.5, 0.5, 0.5, 0.5]), np.zeros(5, dtype=bool))
    judged = judge(members, 3)
    scores = tail_scores(values) + np.log(members.share)
    parts = np.column_stack([scores[:, part == k].max(axis=1) for k in range(3)])
    left, before = [0, 1, 2], 0.0
    for k in sorted(left, key=lambda k: -parts[0, k]):
        largest = parts[1:][:, left].max(axis=1)
        before = max(before, (1 + (largest >= parts[0, k] - 1e-9).sum()) / 200)
        assert judged.adjusted[k] == pytest.approx(before)
        left.remove(k)


def test_few_members_reject_whatever_holm_does():
    rng = np.random.default_rng(18)
    for _ in range(200):
        values = rng.gamma(1.0, size=(500, 3))
        values[0, 0] *= 3
        none = np.zeros(3, dtype=bool)
        judged = judge(Members(values, np.arange(3), np.ones(3), none), 3)
        assert judged.adjusted.min() <= 0.05 or 3 * judged.own.min() > 0.05


def test_surprise_of_a_cell_is_its_deviance():
    # One cell of 50 rows, one of 100 that say 1e-4: an event there is no matter of variance.
    number, p = np.array([50.0, 100.0]), np.array([0.3, 1e-4])
    mean, variance, none = number * p, number * p * (1 - p), np.zeros((2, 2))
    seen = np.array([[15.0, 0.0], [15.0, 1.0], [24.0, 0.0], [0.0, 5.0], [50.0, 100.0]])
    residuals = (seen - mean)[:, None]
    law = stats.binom(number, p)
    # Of the saturated model every cell has its own probability.
    best = stats.binom.logpmf(seen, number, seen / number)
    deviance = 2 * (best - law.logpmf(seen))
    for scale in (1.0, 1e-3):
        unit = np.full(2, scale)
        given = (none, scale * mean, scale**2 * variance, unit)
        total = Surprise(*given, largest=False).values(scale * residuals)
        assert total[:, 0] == pytest.approx(deviance.sum(axis=1), rel=1e-6, abs=1e-6)
        largest = Surprise(*given, largest=True).values(scale * residuals)[:4, 0]
        tail = stats.chi2(1).sf(deviance.max(axis=1))[:4]
        assert np.exp(-largest) == pytest.approx(1 - (1 - tail) ** 2, rel=1e-3)


def test_surprises_are_free_of_level_and_spread():
    variance, odds = np.array([4.0, 9.0, 2.0, 1.0]), np.array([-2.0, -1.0, 0.5, 2.0])
    cells = Cells(np.zeros(4), variance, odds)
    for one in surprises(cells, 3 * variance, np.ones(4)):
        none = one.values(np.zeros((1, 1, 4)))
        tilted = one.values((variance * (0.4 + 0.3 * odds))[None, None])
        assert tilted == pytest.approx(none, abs=1e-5)
