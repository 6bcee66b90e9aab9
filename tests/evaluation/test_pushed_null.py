"""Outcomes drawn by cell: frequencies are rows, weights keep mean and variance."""

from __future__ import annotations

import numpy as np
import pytest

from veridical import BinnedError, UniformBins, VeridicalWarning, compare, null_level
from veridical._core.data.randomness import Draws
from veridical._core.sample import BinarySample
from veridical.evaluation._data.sums import outcomes_of
from veridical.evaluation._figures.summary import grid_summary
from veridical.inference._draws.trials import Trials
from veridical.inference.draws import null_summaries
from veridical.summaries import summarise

N = 20_000


def drawn_sums(sample, n_bins, outcomes=None, n=N, seed=0):
    summary = summarise(sample, UniformBins(n_bins))
    rng = np.random.default_rng(seed)
    return null_summaries(sample, summary, Draws(n, rng), outcomes=outcomes).sum_wy


def rows(p, count):
    p, count = np.asarray(p, float), np.asarray(count, float)
    y = np.zeros(len(p), dtype=np.uint8)
    return BinarySample(y=y, p=p, weight=count, weight_type="frequency")


def assert_moments(sums, mean, variance):
    """Mean and variance within five standard errors of those of N draws of a binomial sum."""
    error = np.sqrt(variance / len(sums))
    assert abs(sums.mean() - mean) <= 5 * error
    assert abs(sums.var() / variance - 1) <= 5 * np.sqrt(3 / len(sums))


def test_a_frequency_is_as_many_rows():
    sums = drawn_sums(rows([0.5], [10]), 1)[:, 0]
    share = np.bincount(sums.astype(int), minlength=11) / N
    from scipy.stats import binom

    exact = binom.pmf(np.arange(11), 10, 0.5)
    assert np.abs(share - exact).max() <= 5 * np.sqrt(0.25 / N)
    assert_moments(sums, 5.0, 2.5)


@pytest.mark.parametrize(
    ("p", "count"),
    [
        ([1e-6, 3e-6], [1_000_000, 300_000]),  # rare: binomials, as normal would be wrong
        ([0.1, 0.3], [70_000, 30_000]),  # many: normal
        ([0.2, 0.9], [30, 20]),  # few: written out
    ],
)
def test_counts_have_the_mean_and_variance_of_their_binomials(p, count):
    p, count = np.array(p), np.array(count)
    sums = drawn_sums(rows(p, count), 1)[:, 0]
    assert_moments(sums, count @ p, count @ (p * (1 - p)))
    # Whole numbers, up to the last digit of a sum.
    np.testing.assert_allclose(sums, np.rint(sums), rtol=0, atol=1e-12)
    assert np.rint(sums).min() >= 0


def test_rare_events_are_not_drawn_as_normal():
    sums = drawn_sums(rows([1e-6], [2_000_000]), 1)[:, 0]
    none = np.exp(-2)  # Poisson
    assert abs((sums == 0).mean() - none) <= 5 * np.sqrt(none * (1 - none) / N)


def test_repeated_rows_and_frequencies_draw_the_same():
    rng = np.random.default_rng(1)
    p, count = rng.random(40), rng.integers(1, 30, 40)
    whole = BinarySample(y=np.zeros(count.sum(), dtype=np.uint8), p=np.repeat(p, count))
    np.testing.assert_array_equal(drawn_sums(rows(p, count), 5, n=50), drawn_sums(whole, 5, n=50))
    order = rng.permutation(40)  # and their order does not matter
    np.testing.assert_array_equal(
        drawn_sums(rows(p, count), 5, n=50), drawn_sums(rows(p[order], count[order]), 5, n=50)
    )


@pytest.mark.parametrize("wrong", [False, True])
@pytest.mark.parametrize("by_label", [False, True])
def test_weights_keep_mean_and_variance(by_label, wrong):
    """A sum of w (y - p) varies by the sum of w^2 p (1 - p), or of w_0 w_1 p (1 - p) with one
    weight a label, whatever the cells and whether or not predictions are right.
    """
    rng = np.random.default_rng(2)
    p = np.repeat([0.2, 0.21, 0.7], 100)
    y = (rng.random(300) < (1 - p if wrong else p)).astype(int)
    w = np.array([20.0, 1.5])[y] if by_label else rng.gamma(1.0, 1.0, 300)
    square = 30.0 if by_label else w**2
    cells = grid_summary(y, p, sample_weight=w, n_bins=2).cells()
    summary = cells.summary(UniformBins(2))
    drawn = null_summaries(
        cells.sample, summary, Draws(N, np.random.default_rng(0)), outcomes=outcomes_of(cells)
    )
    low = p < 0.5
    for k, rows_of in enumerate((low, ~low)):
        variance = (square * p * (1 - p))[rows_of].sum()
        assert_moments(drawn.sum_wy[:, k], (w * p)[rows_of].sum(), variance)


def test_many_weighted_cells_are_drawn_as_normal():
    p = np.linspace(0.3, 0.4, 2000)
    unit = np.linspace(0.5, 1.5, 2000)
    outcomes = Trials(p, np.full(2000, 3.0), unit)
    sample = BinarySample(y=np.zeros(2000, dtype=np.uint8), p=p, weight=3 * unit)
    sums = drawn_sums(sample, 1, outcomes)[:, 0]
    assert_moments(sums, 3 * unit @ p, 3 * unit**2 @ (p * (1 - p)))


def test_null_levels_of_frequencies_are_those_of_rows_in_a_comparison():
    """A comparison of frequencies draws as many outcomes as they say."""
    rng = np.random.default_rng(4)
    p = rng.random(30).round(2)
    y, count = (rng.random(30) < p).astype(int), np.full(30, 40)
    models = {"a": p, "b": np.clip(p + 0.01, 0, 1)}
    options = {"n_bins": 4, "weight_type": "frequency", "sample_weight": count}
    with pytest.warns(VeridicalWarning, match="rows a bin on average"):
        comparison = compare(models, y, **options)
    level = null_level(BinnedError(UniformBins(4)), np.repeat(y, 40), np.repeat(p, 40), rng=0)
    assert comparison.evaluations[0].error("ECE").null_mean == pytest.approx(level.mean, rel=1e-9)
