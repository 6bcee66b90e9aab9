"""Kernel tests: double loops, closed cases, bounds by hand, exact null distributions, laws."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binom

from veridical import InvalidInputError, KernelError, UCMEError, VeridicalWarning
from veridical._core.data.randomness import Draws
from veridical._core.numeric.gram import pair_sums
from veridical.inference._kernel.nulls import (
    Similarity,
    bootstrap_null,
    consistency_null,
    observed_trials,
)
from veridical.inference._kernel.test import kernel_test
from veridical.lenses.reading import RawData

KERNELS = ["laplacian", "gaussian", "total-variation"]

pytestmark = pytest.mark.filterwarnings("ignore:kernel_test. .* few for the bootstrap")


def binary_rows(n=40, seed=0, tied=False):
    rng = np.random.default_rng(seed)
    p = rng.integers(1, 10, n) / 10 if tied else rng.beta(0.8, 0.6, n)
    return (rng.random(n) < p).astype(int), p


def vector_rows(n=40, k=3, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(k), n)
    return (rng.random(n)[:, None] > p.cumsum(axis=1)[:, :-1]).sum(axis=1), p


def problem(y, p, weight=None, weight_type="importance", lens="canonical"):
    labels = [0, 1] if np.ndim(p) == 1 else list(range(np.shape(p)[1]))
    data = RawData(y, p, labels=labels).weighted(weight, weight_type)
    return data.through(lens, caller="test").problem


def similarities(p, kernel, h):
    """Kernel of all pairs, by its definition."""
    gap = p[:, None] - p
    if p.ndim == 1:
        distance = np.abs(gap)
    elif kernel == "total-variation":
        distance = np.abs(gap).sum(axis=2) / 2
    else:
        distance = np.sqrt((gap**2).sum(axis=2))
    return np.exp(-((distance / h) ** 2) / 2 if kernel == "gaussian" else -distance / h)


def terms(y, p, kernel, h):
    """Matrix of h_ij."""
    if p.ndim == 1:
        return 2 * np.outer(y - p, y - p) * similarities(p, kernel, h)
    e = np.eye(p.shape[1])[y] - p
    return e @ e.T * similarities(p, kernel, h)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("h", [0.001, 0.3])
@pytest.mark.parametrize("width", [1, 3])
def test_sums_of_many_charges_are_those_of_the_whole_matrix(kernel, h, width):
    rng = np.random.default_rng(1)
    p = np.sort(rng.random(600)) if width == 1 else rng.dirichlet(np.ones(3), 600)
    charges, factor = rng.normal(size=(600, 70)), rng.normal(size=(600, 2))
    whole = similarities(p, kernel, h)
    expected = np.einsum("ir,ij,jr->r", charges, whole, charges)
    np.testing.assert_allclose(pair_sums(p, charges, kernel, h), expected, rtol=1e-10, atol=1e-9)
    expected = np.einsum("ir,ij,jr->r", charges, whole * (factor @ factor.T), charges)
    found = pair_sums(p, charges, kernel, h, factor)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-9)
    expected = np.einsum("i,ij,j->", factor[:, 0], whole, factor[:, 0])
    found = pair_sums(p, np.ones((600, 1)), kernel, h, factor[:, 0])
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-9)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("method", ["consistency", "bootstrap", "distribution-free"])
def test_statistic_is_the_unbiased_error(kernel, method):
    for y, p in (binary_rows(), binary_rows(tied=True), vector_rows()):
        options = {"kernel": kernel, "bandwidth": 0.3, "n_resamples": 2, "rng": 0}
        found = kernel_test(y, p, method=method, **options)
        h = terms(y, p, kernel, 0.3)
        expected = (h.sum() - np.trace(h)) / (40 * 39)
        assert found.statistic == pytest.approx(expected, rel=1e-9, abs=1e-14)
        assert found.lens == ("binary" if p.ndim == 1 else "canonical")


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("weighted", [None, "importance", "frequency"])
def test_drawn_statistics_have_the_exact_distribution(kernel, weighted):
    """Three rows: all outcomes with their chances, each by a double loop."""
    vectors = np.array([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.1, 0.8, 0.1]])
    for p in (np.array([0.2, 0.5, 0.5]), vectors):
        matrix = np.column_stack([1 - p, p]) if p.ndim == 1 else p
        w = {None: np.ones(3), "importance": np.array([1.0, 2.5, 0.5])}.get(weighted)
        if weighted == "frequency":
            w = np.array([1.0, 2.0, 1.0])
            copies = np.repeat(np.arange(3), w.astype(int))
            matrix, used, w_used = matrix[copies], p[copies], np.ones(4)
        else:
            used, w_used = p, w
        pairs = np.outer(w_used, w_used) - np.diag(w_used**2)
        exact = {}
        for y in itertools.product(range(matrix.shape[1]), repeat=len(matrix)):
            chance = math.prod(matrix[i, k] for i, k in enumerate(y))
            value = (pairs * terms(np.array(y), used, kernel, 0.4)).sum() / pairs.sum()
            exact[round(value, 9)] = exact.get(round(value, 9), 0) + chance
        weight = None if weighted is None else w
        sample = problem([0, 1, 1], p, weight, weighted or "importance")
        trials = observed_trials(sample, caller="test")
        draws = 20_000
        rng = np.random.default_rng(0)
        _, null = consistency_null(trials, Similarity(kernel, 0.4), Draws(draws, rng))
        values, counts = np.unique(null.round(9), return_counts=True)
        seen = dict(zip((values + 0.0).tolist(), counts.tolist(), strict=True))
        assert all(any(abs(v - e) < 3e-9 for e in exact) for v in seen)
        for value, chance in exact.items():
            count = sum(c for v, c in seen.items() if abs(v - value) < 3e-9)
            error = math.sqrt(chance * (1 - chance) / draws)
            assert abs(count / draws - chance) < 4.5 * error + 1e-12


def test_bootstrap_statistics_are_those_of_a_double_loop():
    """The same multinomial counts, rows sorted by prediction and outcome."""
    for y, p in (binary_rows(12), vector_rows(12)):
        order = np.lexsort((y, *np.atleast_2d(p.T)[::-1]))
        h = terms(y[order], p[order], "laplacian", 0.3)
        counts = np.random.default_rng(3).multinomial(12, np.full(12, 1 / 12), 5)
        _, found = bootstrap_null(
            problem(y, p), Similarity("laplacian", 0.3), Draws(5, np.random.default_rng(3))
        )
        for c, value in zip(counts, found, strict=True):
            total = 0.0
            for i in range(12):
                for j in range(12):
                    total += (c[i] - 1) * (c[j] - 1) * h[i, j] * (i != j)
            assert value == pytest.approx(total / (12 * 11), rel=1e-10, abs=1e-14)


def test_pvalue_counts_draws_at_least_as_large():
    """Equal predictions: the statistic decides by |X - n/2| alone, X binomial."""
    found = kernel_test([1] * 8 + [0] * 2, [0.5] * 10, rng=0, n_resamples=50_000)
    tail = 2 * sum(math.comb(10, k) for k in range(3)) / 1024
    assert found.pvalue == pytest.approx(tail, abs=4.5 * math.sqrt(tail * (1 - tail) / 50_000))
    assert found.n_resamples == 50_000


def test_no_evidence_at_all_gives_the_largest_pvalue():
    found = kernel_test([0, 1, 1], [0.0, 1.0, 1.0], rng=0)
    assert (found.statistic, found.pvalue) == (0.0, 1.0)


def test_an_impossible_outcome_is_told():
    for p in ([0.0, 1.0, 1.0, 0.5], [[1.0, 0, 0], [0, 1, 0], [0, 1, 0], [0.2, 0.4, 0.4]]):
        with pytest.warns(VeridicalWarning, match="2 outcomes were given the probability zero"):
            found = kernel_test(
                [1, 1, 0, 1], p, rng=0, labels=range(max(2, len(np.shape(p)) * 3 - 3))
            )
        assert found.notes


def test_blocks_give_a_one_sided_z_test():
    """Pairs of rows at one prediction: h is 2 e e', twice as often 1/2 as -1/2."""
    y = [1, 1, 0, 0, 1, 0] * 20
    found = kernel_test(y, [0.5] * 120, method="asymptotic-block")
    values = np.array([0.5, 0.5, -0.5] * 20)
    z = values.mean() / (values.std(ddof=1) / math.sqrt(60))
    assert found.statistic == pytest.approx(z)
    assert found.pvalue == pytest.approx(math.erfc(z / math.sqrt(2)) / 2)
    weighted = kernel_test(
        y, [0.5] * 120, method="asymptotic-block", sample_weight=np.full(120, 3.0)
    )
    assert weighted.statistic == pytest.approx(z)


def test_blocks_of_unequal_weight_are_a_ratio_of_sums():
    y, p = binary_rows(200)
    w = np.random.default_rng(5).gamma(2.0, size=200)
    h = terms(y, p, "laplacian", 0.3)
    found = kernel_test(y, p, method="asymptotic-block", bandwidth=0.3, sample_weight=w)
    pairs = w[::2] * w[1::2]
    sums = pairs * np.array([h[i, i + 1] for i in range(0, 200, 2)])
    mean = sums.sum() / pairs.sum()
    error = math.sqrt(100 / 99 * ((sums - mean * pairs) ** 2).sum()) / pairs.sum()
    assert found.statistic == pytest.approx(mean / error)


def test_few_blocks_are_doubted():
    y, p = binary_rows(60)
    with pytest.warns(VeridicalWarning, match="30 blocks"):
        kernel_test(y, p, method="asymptotic-block")


def test_bounds_by_hand():
    """All right where a half was predicted: unbiased, block and biased estimates are 1/2."""
    y, p = [1] * 101, [0.5] * 101
    options = {"method": "distribution-free"}
    assert kernel_test(y, p, **options).pvalue == pytest.approx(math.exp(-50 * 0.25 / 8))
    found = kernel_test(y, p, estimator="block", block_size=5, **options)
    assert found.pvalue == pytest.approx(math.exp(-20 * 2 * 0.25 / 8))
    found = kernel_test(y, p, estimator="biased", **options)
    assert found.pvalue == pytest.approx(math.exp(-((math.sqrt(101 / 4) - 1) ** 2) / 2))
    w = np.random.default_rng(0).gamma(1.0, size=101)
    size = w.sum() ** 2 / (w @ w)
    found = kernel_test(y, p, estimator="biased", sample_weight=w, **options)
    assert found.pvalue == pytest.approx(math.exp(-((math.sqrt(size / 4) - 1) ** 2) / 2))


def test_a_negative_estimate_is_no_evidence():
    """-2 exp(-1), the case of CalibrationErrors.jl: the bound of its square would be below 1."""
    options = {"method": "distribution-free", "bandwidth": 1.0}
    with_estimate = kernel_test([0, 1], [1.0, 0.0], **options)
    assert with_estimate.statistic == pytest.approx(-2 * math.exp(-1))
    assert with_estimate.pvalue == 1.0


def test_embedding_statistic_by_its_definition():
    places, targets = [[0.6, 0.2, 0.2], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4]], [0, 1, 0]
    y, p = vector_rows(30)
    found = kernel_test(
        y, p, method="ucme", test_predictions=places, test_targets=targets, bandwidth=0.3, rng=0
    )
    d, c = np.zeros(3), np.zeros((3, 3))
    for i in range(30):
        near = np.exp(-np.linalg.norm(np.array(places) - p[i], axis=1) / 0.3)
        d += near * [(y[i] == u) - p[i, u] for u in targets]
        for j, u in enumerate(targets):
            for k, v in enumerate(targets):
                c[j, k] += near[j] * near[k] * ((u == v) * p[i, u] - p[i, u] * p[i, v])
    assert found.statistic == pytest.approx(d @ np.linalg.solve(c, d))
    y, p = binary_rows(30)
    found = kernel_test(y, p, method="ucme", test_predictions=[0.5], bandwidth=0.3, rng=0)
    near = np.exp(-np.abs(p - 0.5) / 0.3)
    z = near @ (y - p) / math.sqrt((near**2) @ (p * (1 - p)))
    assert found.statistic == pytest.approx(z**2)
    assert UCMEError([0.5]).name in found.definition


def test_confidence_lens_is_the_binary_problem():
    y, p = vector_rows(50)
    found = kernel_test(y, p, lens="confidence", rng=0)
    right, top = (p.argmax(axis=1) == y).astype(int), p.max(axis=1)
    assert found.statistic == pytest.approx(KernelError()(right, top))
    assert found.pvalue == kernel_test(right, top, rng=0).pvalue


@pytest.mark.parametrize("method", ["consistency", "bootstrap", "ucme", "distribution-free"])
def test_order_of_rows_and_seed(method):
    for y, p in (binary_rows(tied=True), vector_rows()):
        rows = np.random.default_rng(0).permutation(40)
        options = {"method": method, "n_resamples": 50, "rng": 3}
        first, second = kernel_test(y, p, **options), kernel_test(y[rows], p[rows], **options)
        assert first.pvalue == second.pvalue
        assert first.statistic == pytest.approx(second.statistic, abs=1e-14)


@pytest.mark.parametrize("method", ["consistency", "ucme", "bootstrap", "distribution-free"])
def test_frequencies_are_repetitions(method):
    rng = np.random.default_rng(2)
    for y, p in (binary_rows(tied=True), vector_rows()):
        w = rng.integers(0, 4, 40)
        options = {"method": method, "n_resamples": 4000, "rng": 1, "bandwidth": 0.3}
        weighted = kernel_test(y, p, sample_weight=w, weight_type="frequency", **options)
        repeated = kernel_test(np.repeat(y, w), np.repeat(p, w, axis=0), **options)
        assert weighted.statistic == pytest.approx(repeated.statistic, rel=1e-6, abs=1e-13)
        assert weighted.pvalue == pytest.approx(repeated.pvalue, abs=0.05)


def test_importance_weights_have_no_scale_and_zero_removes():
    w = np.random.default_rng(2).gamma(1.0, size=40)
    w[:7] = 0
    for y, p in (binary_rows(), vector_rows()):
        first = kernel_test(y, p, sample_weight=w, rng=0)
        second = kernel_test(y, p, sample_weight=4 * w, rng=0)
        third = kernel_test(y[7:], p[7:], sample_weight=w[7:], rng=0)
        assert first.pvalue == second.pvalue == third.pvalue
        assert first.statistic == pytest.approx(second.statistic)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"method": "bootstap"}, "bootstrap"),
        ({"estimator": "biased"}, "estimator"),
        ({"kernel": "cosine"}, "kernel"),
        ({"bandwidth": 0}, "bandwidth"),
        ({"lens": "classwise"}, "lens"),
        ({"method": "bootstrap", "sample_weight": np.arange(1, 41)}, "sample_weight"),
        ({"method": "distribution-free", "sample_weight": np.arange(1, 41)}, "biased"),
        (
            {"method": "asymptotic-block", "sample_weight": [2] * 40, "weight_type": "frequency"},
            "blocks depend on rows",
        ),
        ({"sample_weight": [1.5] * 40, "weight_type": "frequency"}, "whole numbers"),
        ({"method": "asymptotic-block", "block_size": 30}, "block_size"),
        ({"n_resamples": 0}, "n_resamples"),
        ({"rng": "seed"}, "rng"),
        ({"method": "ucme", "test_predictions": [0.5]}, "test_targets|test_predictions"),
    ],
)
def test_refusals(options, match):
    y, p = vector_rows()
    with pytest.raises(InvalidInputError, match=match):
        kernel_test(y, p, **options)


def test_one_row_is_refused():
    with pytest.raises(InvalidInputError, match="two rows"):
        kernel_test([1], [0.5], labels=[0, 1])


@pytest.mark.parametrize("method", ["consistency", "bootstrap", "asymptotic-block", "ucme"])
@pytest.mark.parametrize("lens", ["confidence", "canonical"])
@pytest.mark.filterwarnings("ignore::veridical.VeridicalWarning")  # few rows for a bootstrap
def test_a_kernel_of_the_user_tests_as_the_same_known_one_does(method, lens):
    def gaussian(a, b):
        a, b = a.reshape(len(a), -1), b.reshape(len(b), -1)
        return np.exp(-((a[:, None] - b[None]) ** 2).sum(axis=-1) / (2 * 0.2**2))

    rng = np.random.default_rng(2)
    p = rng.dirichlet(np.ones(3), 90)
    y = (rng.random(90)[:, None] > p.cumsum(axis=1)).sum(axis=1).clip(max=2)
    options = {"method": method, "lens": lens, "n_resamples": 50, "rng": 0, "block_size": 3}
    known = kernel_test(y, p, kernel="gaussian", bandwidth=0.2, **options)
    own = kernel_test(y, p, kernel=gaussian, **options)
    assert own.statistic == pytest.approx(known.statistic, rel=1e-6)
    assert own.pvalue == pytest.approx(known.pvalue)


def test_no_bound_is_known_for_a_kernel_of_the_user():
    with pytest.raises(InvalidInputError, match="`kernel` must be known, and thus bounded"):
        kernel_test([0, 1], [0.2, 0.5], kernel=np.outer, method="distribution-free")


def crowded(seed, n, factor):
    """Nearly all predictions are almost 0: half of their distances are below 1e-8."""
    rng = np.random.default_rng([41, seed])
    p = rng.beta(0.02, 10, n)
    return (rng.random(n) < np.clip(factor * p, 0, 1)).astype(int), p


def rejections(n, factor, repeats):
    samples = (crowded(seed, n, factor) for seed in range(repeats))
    found = [kernel_test(*each, labels=[0, 1], n_resamples=99, rng=0).pvalue for each in samples]
    return sum(p <= 0.05 for p in found)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::veridical.VeridicalWarning")
@pytest.mark.parametrize("n", [1500, 4000])
def test_crowded_predictions_keep_the_level_and_are_told_apart(n):
    repeats = 100
    assert binom.sf(rejections(n, 1.0, repeats) - 1, repeats, 0.05) > 1e-3
    assert rejections(n, 3.5, repeats) > 0.6 * repeats
