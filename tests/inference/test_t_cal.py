"""T-Cal: double loops over rows of every cell, exact null distributions, laws."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from veridical import InvalidInputError, VeridicalWarning
from veridical._core.data.randomness import Draws
from veridical._core.loops import library
from veridical._core.resampling.events import draw_events
from veridical.inference._draws.trials import Trials
from veridical.inference._kernel import t_cal, t_cal_rows
from veridical.inference._kernel.nulls import ObservedTrials, observed_trials
from veridical.inference._kernel.t_cal import CellTree, t_cal_test
from veridical.inference._kernel.t_cal_rows import RowTree
from veridical.lenses.reading import RawData


def rows(n=60, k=2, seed=0, tied=False):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(k), n)
    p = rng.multinomial(8, p) / 8 if tied else p
    y = (rng.random(n)[:, None] > p.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return (y, p[:, 1]) if k == 2 else (y, p)


def problem(y, p, weight=None, weight_type="importance"):
    labels = [0, 1] if np.ndim(p) == 1 else list(range(np.shape(p)[1]))
    data = RawData(y, p, labels=labels).weighted(weight, weight_type)
    return data.through("canonical", caller="test").problem


def cell(p, m):
    """Right-closed cells of width 1 / m on every axis of a vector."""
    axes = p if np.ndim(p) else [p]
    return tuple(next(j for j in range(1, m + 1) if x <= j / m) for x in axes)


def double_loop(y, p, m, w):
    """T and its variance over pairs of rows of a cell, by definition."""
    e = y - p if p.ndim == 1 else np.eye(p.shape[1])[y] - p
    cells = [cell(q, m) for q in p]
    mass = {c: sum(w[i] for i in range(len(w)) if cells[i] == c) for c in set(cells)}
    spread = [np.atleast_2d(q * (1 - q)) if p.ndim == 1 else np.diag(q) - np.outer(q, q) for q in p]
    value = variance = 0.0
    for i, j in itertools.permutations(range(len(y)), 2):
        if cells[i] == cells[j]:
            pair = w[i] * w[j] / mass[cells[i]]
            value += pair * np.dot(e[i], e[j])
            variance += 2 * pair**2 * np.trace(spread[i] @ spread[j])
    return value / w.sum(), variance / w.sum() ** 2


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_errors_and_variances_of_all_scales(k, tied, weighted):
    y, p = rows(k=k, tied=tied)
    w = np.random.default_rng(1).gamma(2.0, size=60) if weighted else np.ones(60)
    trials = observed_trials(problem(y, p, w if weighted else None), caller="test")
    tree = CellTree(trials, [16, 8, 4, 2])
    found, spread = tree.errors(*trials.observed())[:, 0], tree.variances()
    for level, m in enumerate(tree.scales):
        value, variance = double_loop(y, p, m, w)
        assert found[level] == pytest.approx(value, rel=1e-10, abs=1e-14)
        assert spread[level] == pytest.approx(variance, rel=1e-10, abs=1e-16)


def test_statistic_is_the_largest_of_the_standardised_errors():
    y, p = rows()
    found = t_cal_test(y, p, rng=0, n_resamples=1)
    levels = math.floor(2 * math.log2(60 / math.sqrt(math.log(60))))
    z = {}
    for b in range(1, levels + 1):
        value, variance = double_loop(y, p, 2**b, np.ones(60))
        z[2**b] = value / math.sqrt(variance) if variance else -math.inf
    best = max(z, key=z.get)
    assert found.statistic == pytest.approx(z[best])
    assert f"2 to {2**levels} bins, found at {best} bins" in found.definition


@pytest.mark.parametrize(("n", "s"), [(60, 1.0), (60, 0.25), (200, 0.6)])
def test_smoothness_decides_the_number_of_bins(n, s):
    y, p = rows(n)
    p = np.round(p, 2)  # many scores on edges
    m = int(n ** (2 / (4 * s + 1)))
    found = t_cal_test(y, p, adaptive=False, smoothness=s, rng=0, n_resamples=1)
    value, variance = double_loop(y, p, m, np.ones(n))
    assert found.statistic == pytest.approx(value / math.sqrt(variance))
    assert f"{m} bins" in found.definition


def test_pvalue_of_one_bin_is_exact():
    """Ten rows at one score: T grows with |X - 5|, X binomial."""
    options = {"adaptive": False, "smoothness": 50.0, "rng": 0, "n_resamples": 50_000}
    found = t_cal_test([1] * 8 + [0] * 2, [0.5] * 10, **options)
    tail = 2 * sum(math.comb(10, k) for k in range(3)) / 1024
    assert found.pvalue == pytest.approx(tail, abs=4.5 * math.sqrt(tail * (1 - tail) / 50_000))


@pytest.mark.parametrize("k", [2, 3])
def test_pvalue_is_the_chance_of_a_statistic_as_large(k):
    """Five rows: all outcomes with their chances, each by double loops over every scale."""
    y, p = rows(5, k, seed=4)
    matrix = np.column_stack([1 - p, p]) if k == 2 else p
    n_scales = math.floor(2 / (k - 1) * math.log2(5 / math.sqrt(math.log(5))))

    def statistic(outcomes):
        best = -math.inf
        for b in range(1, max(n_scales, 1) + 1):
            value, variance = double_loop(np.array(outcomes), p, 2**b, np.ones(5))
            best = max(best, value / math.sqrt(variance) if variance > 0 else 0.0)
        return best

    observed, chance = statistic(y), 0.0
    for outcomes in itertools.product(range(k), repeat=5):
        if statistic(outcomes) >= observed - 1e-9:
            chance += math.prod(matrix[i, c] for i, c in enumerate(outcomes))
    found = t_cal_test(y, p, lens="canonical", labels=range(k), rng=0, n_resamples=20_000)
    assert found.statistic == pytest.approx(observed)
    assert 0.05 < chance < 0.95
    error = math.sqrt(chance * (1 - chance) / 20_000)
    assert found.pvalue == pytest.approx(chance, abs=4.5 * error)


def test_order_of_rows_does_not_matter():
    for y, p in (rows(tied=True), rows(k=3)):
        order = np.random.default_rng(0).permutation(60)
        options = {"rng": 1, "n_resamples": 50, "lens": "canonical"}
        first, second = t_cal_test(y, p, **options), t_cal_test(y[order], p[order], **options)
        assert first.pvalue == second.pvalue
        assert first.statistic == pytest.approx(second.statistic)


def test_frequencies_are_repetitions():
    w = np.random.default_rng(2).integers(0, 4, 60)
    for y, p in (rows(tied=True), rows(k=3)):
        options = {"rng": 1, "n_resamples": 4000, "lens": "canonical"}
        weighted = t_cal_test(y, p, sample_weight=w, weight_type="frequency", **options)
        repeated = t_cal_test(np.repeat(y, w), np.repeat(p, w, axis=0), **options)
        assert weighted.statistic == pytest.approx(repeated.statistic)
        assert weighted.pvalue == pytest.approx(repeated.pvalue, abs=0.05)


def test_importance_weights_have_no_scale_and_zero_removes():
    y, p = rows()
    w = np.random.default_rng(2).gamma(1.0, size=60)
    w[:9] = 0
    first = t_cal_test(y, p, sample_weight=w, rng=0)
    second = t_cal_test(y, p, sample_weight=8 * w, rng=0)
    third = t_cal_test(y[9:], p[9:], sample_weight=w[9:], rng=0)
    assert first.pvalue == second.pvalue == third.pvalue
    assert first.statistic == pytest.approx(second.statistic)


def test_nothing_to_test_is_told():
    with pytest.warns(VeridicalWarning, match="nothing can be tested"):
        found = t_cal_test([0, 1], [0.0, 1.0], rng=0)
    assert (found.statistic, found.pvalue) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"smoothness": 1.0}, "None if adaptive"),
        ({"adaptive": False}, "smoothness"),
        ({"adaptive": False, "smoothness": 0}, "smoothness"),
        ({"adaptive": "yes"}, "adaptive"),
        ({"lens": "classwise"}, "lens"),
        ({"n_resamples": 0}, "n_resamples"),
        ({"sample_weight": [1.5] * 60, "weight_type": "frequency"}, "whole numbers"),
    ],
)
def test_refusals(options, match):
    y, p = rows(k=3)
    with pytest.raises(InvalidInputError, match=match):
        t_cal_test(y, p, **options)


def rows_of_many_kinds(n, seed):
    """Predictions in order: crowded ones, equal ones, corners."""
    rng = np.random.default_rng(seed)
    p = np.concatenate([rng.beta(0.1, 5, n // 2), np.round(rng.random(n // 4), 2), rng.random(n)])
    p[:4] = [0.0, 1.0, 0.5, 0.5]
    p = np.sort(p)
    return (rng.random(len(p)) < p).astype(float), p


@pytest.mark.parametrize("scales", [[2**b for b in range(22, 0, -1)], [37]])
def test_cells_of_sorted_rows_have_the_errors_of_the_tree(scales):
    y, p = rows_of_many_kinds(600, 1)
    trials = ObservedTrials(Trials(p, np.ones(len(p)), np.ones(len(p))), y)
    tree, rows = CellTree(trials, scales), RowTree(p, scales)
    np.testing.assert_allclose(rows.errors(y), tree.errors(*trials.observed())[:, 0], atol=1e-12)
    np.testing.assert_allclose(rows.variances(), tree.variances(), rtol=1e-9, atol=1e-18)


def drawn_and_their_outcomes(monkeypatch, p, scales, at_once):
    """Errors of 21 draws by scale, and the outcomes that were drawn."""
    monkeypatch.setattr(t_cal_rows, "_DRAWN_AT_ONCE", at_once * len(p))
    monkeypatch.setattr(t_cal_rows, "_ROWS_AT_ONCE", 100)
    outcomes = []

    def recorded(chance, n, rng):
        events = draw_events(chance, n, rng)
        outcomes.append(events.copy())
        return events

    monkeypatch.setattr(t_cal_rows, "draw_events", recorded)
    rows = RowTree(p, scales)
    blocks = list(rows.drawn(Draws(21, np.random.default_rng(0))))
    found = np.hstack([errors for _, errors in blocks])
    parts = -(-len(p) // 100)
    drawn = [np.vstack(outcomes[i * parts : (i + 1) * parts]) for i in range(len(blocks))]
    return found, np.hstack(drawn) ^ (p > 0.5)[:, None]


@pytest.mark.parametrize("small", [30_000, 20])
def test_drawn_errors_are_those_of_the_outcomes_drawn(monkeypatch, small):
    """Counts in two bytes or more, and sums in single precision, to 1e-4 standard deviations."""
    _, p = rows_of_many_kinds(900, 2)
    scales = [2**b for b in range(24, 0, -1)]
    monkeypatch.setattr(t_cal_rows, "_MOST_SMALL", small)
    monkeypatch.setattr(t_cal_rows, "library", lambda: None)
    found, every = drawn_and_their_outcomes(monkeypatch, p, scales, 5)
    rows = RowTree(p, scales)
    expected = np.column_stack([rows.errors(each.astype(float)) for each in every.T])
    deviation = np.sqrt(rows.variances())[:, None]
    assert found.shape == (len(scales), 21)
    assert (np.abs(found - expected) <= 1e-4 * deviation).all()


@pytest.mark.parametrize("at_once", [5, 8, 19])
@pytest.mark.parametrize(
    "scales", [[2**b for b in range(24, 0, -1)], [4], [2**40, 2**3], [2**50, 2**49, 2]]
)
def test_compiled_sums_are_those_of_pairs_of_the_outcomes_drawn(monkeypatch, scales, at_once):
    if library() is None:
        pytest.skip("not compiled")
    _, p = rows_of_many_kinds(150, 3)
    found, every = drawn_and_their_outcomes(monkeypatch, p, scales, at_once)
    expected = np.zeros_like(found)
    for level, m in enumerate(scales):
        bins = np.maximum(np.ceil(p * m), 1)
        for held in (np.flatnonzero(bins == b) for b in np.unique(bins)):
            e = every[held] - p[held, None]
            expected[level] += (e.sum(axis=0) ** 2 - (e**2).sum(axis=0)) / len(held)
    assert found == pytest.approx(expected / len(p), abs=1e-12)


def test_many_rows_are_judged_alike(monkeypatch):
    rng = np.random.default_rng(5)
    p = rng.random(5000).astype(np.float32)
    y = (rng.random(5000) < p + 0.04 * np.sign(np.sin(12 * p))).astype(int)
    many = t_cal_test(y, p, n_resamples=400, rng=0)
    monkeypatch.setattr(t_cal, "MANY_ROWS", 10**9)
    few = t_cal_test(y, p, n_resamples=400, rng=1)
    assert many.statistic == pytest.approx(few.statistic, rel=1e-9)
    assert many.definition == few.definition
    assert abs(many.pvalue - few.pvalue) < 5 * np.sqrt(2 * 0.25 / 400)
    assert t_cal_test(y, p, sample_weight=np.full(5000, 3.0), rng=0, n_resamples=9).notes == ()
