"""Null levels against exact enumeration and brute force."""

import itertools
import warnings
from dataclasses import replace

import numpy as np
import pytest

import veridical
from veridical import (
    BinnedError,
    InvalidInputError,
    QuantileBins,
    SimplexBins,
    SweepBins,
    UniformBins,
)
from veridical._core.data.randomness import Draws
from veridical._core.numeric import poisson_binomial
from veridical._core.resampling.rows import OutcomeDraws
from veridical._core.sample import MulticlassSample


def calibrated(n, seed, shape=(1.0, 1.0)):
    rng = np.random.default_rng(seed)
    p = rng.beta(*shape, n)
    return (rng.random(n) < p).astype(int), p


@pytest.mark.parametrize("n", [1, 2, 7, 63, 64, 65, 200, 1000])
def test_poisson_binomial_probabilities_are_those_of_one_trial_after_another(n):
    p = np.random.default_rng(n).random(n)
    exact = np.ones(1)
    for q in p:
        exact = np.append(exact, 0.0) * (1 - q) + np.append(0.0, exact) * q
    np.testing.assert_allclose(poisson_binomial.pmf(p), exact, atol=1e-14)


def test_equal_probabilities_give_the_binomial_distribution():
    stats = pytest.importorskip("scipy.stats")
    expected = stats.binom(300, 0.125).pmf(np.arange(301))
    np.testing.assert_allclose(poisson_binomial.pmf(np.full(300, 0.125)), expected, atol=1e-14)


def test_mean_is_the_expectation_over_all_outcomes():
    p = np.array([0.1, 0.3, 0.4, 0.6, 0.65, 0.9])
    estimator = BinnedError(UniformBins(2))
    expected = 0.0
    for outcome in itertools.product([0, 1], repeat=len(p)):
        y = np.array(outcome)
        probability = np.prod(np.where(y == 1, p, 1 - p))
        expected += probability * estimator(y, p)
    level = veridical.null_level(estimator, [0, 1, 0, 1, 0, 1], p, n_resamples=40_000, rng=0)
    assert abs(level.mean - expected) < 4 * level.std / np.sqrt(40_000)


@pytest.mark.parametrize(
    "estimator",
    [
        BinnedError(),
        BinnedError(norm=2),
        BinnedError(norm="max"),
        BinnedError(debias=True),
        BinnedError(norm=2, debias=True),
        BinnedError(QuantileBins(10)),
        BinnedError(UniformBins("sqrt")),
        BinnedError(distance="l1"),
    ],
    ids=lambda e: f"{e.name} {e.definition}",
)
@pytest.mark.parametrize("weighted", [False, True])
def test_drawing_sums_equals_drawing_rows(estimator, weighted):
    y, p = calibrated(400, seed=1, shape=(0.5, 1.5))
    rng = np.random.default_rng(2)
    w = rng.random(400) if weighted else None
    level = veridical.null_level(estimator, y, p, sample_weight=w, n_resamples=4000, rng=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", veridical.VeridicalWarning)  # maxima are those of few rows
        brute = np.array([estimator(rng.random(400) < p, p, sample_weight=w) for _ in range(400)])
    error = np.hypot(level.std / np.sqrt(4000), brute.std() / np.sqrt(400))
    assert abs(level.mean - brute.mean()) < 4.5 * error
    assert level.std == pytest.approx(brute.std(), rel=0.2)


def test_bins_of_large_variance_agree_with_exact_draws(monkeypatch):
    y, p = calibrated(40_000, seed=4)
    normal = veridical.null_level(BinnedError(UniformBins(5)), y, p, n_resamples=20_000, rng=5)
    monkeypatch.setattr("veridical.inference._draws.sums.NORMAL_FROM", np.inf)
    exact = veridical.null_level(BinnedError(UniformBins(5)), y, p, n_resamples=20_000, rng=6)
    error = np.hypot(normal.std, exact.std) / np.sqrt(20_000)
    assert abs(normal.mean - exact.mean) < 4.5 * error
    for q in (0.05, 0.5, 0.95, 0.99):
        assert normal.quantile(q) == pytest.approx(exact.quantile(q), rel=0.04)


@pytest.mark.parametrize("lens", ["confidence", "classwise", "canonical"])
def test_several_classes_are_drawn_together(lens):
    rng = np.random.default_rng(7)
    P = rng.dirichlet([1, 2, 3], 300)
    estimator = BinnedError(UniformBins(4))
    y = rng.integers(0, 3, 300)
    level = veridical.null_level(estimator, y, P, lens=lens, n_resamples=600, rng=8)
    draws = [(rng.random(300)[:, None] > P.cumsum(axis=1)).sum(axis=1) for _ in range(600)]
    brute = np.array([estimator(draw, P, lens=lens) for draw in draws])
    assert abs(level.mean - brute.mean()) < 4.5 * np.hypot(level.std, brute.std()) / np.sqrt(600)


@pytest.mark.parametrize("n", [1, 40, 9000, 20_000])  # at once, alone, in blocks of rows
@pytest.mark.parametrize("weighted", [False, True])
def test_draws_at_once_are_those_of_one_after_another(n, weighted):
    rng = np.random.default_rng(14)
    p = rng.dirichlet([1, 2, 3], n)
    weight = rng.random(n) if weighted else None
    sample = MulticlassSample(y=rng.integers(0, 3, n), p=p, weight=weight, classes=(0, 1, 2))
    outcomes = OutcomeDraws(sample)
    cells = rng.integers(0, 7, (3, n))
    one = np.random.default_rng(15)
    expected = [outcomes.cell_sums(cells, 8, Draws(1, one))[0] for _ in range(5)]
    found = outcomes.cell_sums(cells, 8, Draws(5, np.random.default_rng(15)))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    "options",
    [{}, {"norm": 2, "debias": True}, {"norm": "max"}, {"distance": "l2"}, {"average": "bins"},
     {"distance": lambda a, b: np.abs(a - b).max(axis=-1)}],
)  # fmt: skip
def test_errors_of_many_sums_of_vectors_are_those_of_one_after_another(options):
    rng = np.random.default_rng(16)
    estimator = BinnedError(SimplexBins(3), **options)
    p = rng.dirichlet([1, 2, 3], 200)
    sample = MulticlassSample(y=rng.integers(0, 3, 200), p=p, classes=(0, 1, 2))
    summary = estimator.summarise(sample)
    sums = summary.sum_w[:, None] * rng.dirichlet([1, 1, 1], (4, len(summary.sum_w)))
    expected = [estimator.from_summary(replace(summary, sum_wy=one)) for one in sums]
    np.testing.assert_array_equal(estimator.each_vector(summary, sums), expected)


@pytest.mark.parametrize(
    "estimator", [BinnedError(), BinnedError(SweepBins()), veridical.BrierScore()]
)
@pytest.mark.parametrize("weighted", [False, True])
def test_row_order_does_not_matter(estimator, weighted):
    y, p = calibrated(120, seed=9)
    p = p.round(2)
    w = np.random.default_rng(10).random(120) if weighted else None
    order = np.random.default_rng(11).permutation(120)
    first = veridical.null_level(estimator, y, p, sample_weight=w, n_resamples=50, rng=12)
    other = veridical.null_level(
        estimator,
        y[order],
        p[order],
        sample_weight=None if w is None else w[order],
        n_resamples=50,
        rng=12,
    )
    np.testing.assert_allclose(first.sample, other.sample, rtol=0, atol=1e-12)


def test_the_same_seed_gives_the_same_numbers_and_another_does_not():
    y, p = calibrated(100, seed=13)
    first, same, other = (veridical.null_level(BinnedError(), y, p, rng=seed) for seed in (1, 1, 2))
    assert first == same
    assert first != other


def test_result_reads_back_unchanged_and_says_what_it_is():
    y, p = calibrated(100, seed=14)
    level = veridical.null_level(BinnedError(), y, p, rng=0, n_resamples=20)
    assert veridical.NullLevel.from_json(level.to_json()) == level
    assert "null" in str(level)
    assert "15 equal-width bins" in str(level)
    assert level.to_frame()["null_mean"][0] == level.mean
    assert level.standardised == pytest.approx((level.estimate - level.mean) / level.std)


def test_certain_predictions_have_a_null_level_of_zero():
    level = veridical.null_level(BinnedError(), [0, 1, 1], [0.0, 1.0, 1.0], rng=0)
    assert level.mean == level.std == level.standardised == 0
    wrong = veridical.null_level(BinnedError(), [1, 1, 1], [0.0, 1.0, 1.0], rng=0)
    assert wrong.standardised == np.inf


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"n_resamples": 0}, "`n_resamples` must be a positive integer"),
        ({"n_resamples": 2.5}, "`n_resamples` must be a positive integer"),
        ({"rng": "seed"}, "`rng` must be a seed or a generator"),
        ({"rng": -1}, "`rng` must be a seed or a generator"),
        ({"lens": "confidance"}, "did you mean 'confidence'"),
    ],
)
def test_bad_options_are_refused(options, match):
    with pytest.raises(InvalidInputError, match=match):
        veridical.null_level(BinnedError(), [0, 1], [0.2, 0.7], **options)


def test_a_function_is_an_estimator():
    found = veridical.null_level(veridical.brier_score, [0, 1], [0.2, 0.7], n_resamples=9, rng=0)
    known = veridical.null_level(veridical.BrierScore(), [0, 1], [0.2, 0.7], n_resamples=9, rng=0)
    assert found.sample.tolist() == pytest.approx(known.sample.tolist())
