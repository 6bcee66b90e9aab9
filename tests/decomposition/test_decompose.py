"""Parts of a mean score, by bins, isotonic regression or equal predictions."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import oracles
import pytest

from veridical import (
    Decomposition,
    QuantileBins,
    SimplexBins,
    UniformBins,
    brier_score,
    decompose,
    evaluate,
)

RULES = ("brier", "log", "spherical", "zero-one")


def rows(kind, n=70, seed=0):
    """Random rows whose log score is finite."""
    y, p, w = oracles.random_rows(kind, n, seed)
    return y, np.clip(p, p.dtype.type(0.02), p.dtype.type(0.98)), w


def simplex(n=60, k=3, seed=0, few=None):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(k, 0.8), n)
    p = p if few is None else p[rng.integers(0, few, n)]
    return np.array([rng.choice(k, p=row) for row in p]), p


def check_sum(d):
    total = d.miscalibration - d.discrimination + d.uncertainty + d.within_bin
    assert d.score == pytest.approx(total, abs=1e-12)
    assert d.refinement == pytest.approx(d.uncertainty - d.discrimination, abs=1e-12)


@pytest.mark.parametrize("kind", oracles.KINDS)
@pytest.mark.parametrize("rule", RULES)
def test_binned_parts_are_those_of_a_loop_over_bins(kind, rule):
    y, p, w = rows(kind)
    d = decompose(y, p, rule=rule, method="bins", n_bins=6, sample_weight=w)
    bins = oracles.bins_by_edges(p, oracles.uniform_edges(6, p.dtype.type))
    expected = oracles.murphy(y, p, bins, rule, w)
    close = {"abs": 1e-6} if p.dtype == np.float32 else {"abs": 1e-10}
    for part in ("score", "miscalibration", "refinement", "uncertainty"):
        assert getattr(d, part) == pytest.approx(expected[part], **close)
    check_sum(d)


@pytest.mark.parametrize("kind", oracles.KINDS)
def test_what_bins_hide_is_variance_minus_covariance(kind):
    y, p, w = rows(kind)
    d = decompose(y, p, method="bins", n_bins=4, sample_weight=w)
    bins = oracles.bins_by_edges(p, oracles.uniform_edges(4, p.dtype.type))
    expected = oracles.murphy(y, p, bins, "brier", w)
    assert d.within_bin_variance == pytest.approx(expected["variance"], abs=1e-7)
    assert d.within_bin_covariance == pytest.approx(expected["covariance"], abs=1e-7)
    hidden = expected["variance"] - expected["covariance"]
    assert d.within_bin == pytest.approx(hidden, abs=1e-7)
    assert decompose(y, p, rule="log", method="bins").within_bin_variance is None


@pytest.mark.parametrize("kind", oracles.KINDS)
@pytest.mark.parametrize("rule", RULES)
def test_isotonic_parts_are_those_of_the_min_max_fit(kind, rule):
    y, p, w = rows(kind, 50)
    d = decompose(y, p, rule=rule, method="isotonic", sample_weight=w)
    fit, weight = oracles.isotonic(y, p, w), oracles.ones(w, len(y))
    scale = 0.5 if rule == "brier" else 1.0
    after = sum(
        wi * scale * oracles.score(rule, (1 - c, c), yi)
        for wi, c, yi in zip(weight, fit, y, strict=True)
    ) / sum(weight)
    assert d.refinement == pytest.approx(after, abs=1e-9)
    assert d.miscalibration == pytest.approx(max(d.score - after, 0), abs=1e-9)
    assert d.miscalibration >= 0
    assert d.discrimination >= -1e-12
    check_sum(d)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("kind", ["tied", "tied weighted", "plain"])
def test_unique_parts_group_rows_of_the_same_prediction(kind, rule):
    y, p, w = rows(kind)
    d = decompose(y, p, rule=rule, method="unique", sample_weight=w)
    expected = oracles.murphy(y, p, [float(v) for v in p], rule, w)
    for part in ("score", "miscalibration", "refinement", "uncertainty"):
        assert getattr(d, part) == pytest.approx(expected[part], abs=1e-10)
    assert d.within_bin == 0
    check_sum(d)


@pytest.mark.parametrize("rule", RULES)
def test_vectors_are_grouped_by_equal_rows(rule):
    y, p = simplex(few=4)
    d = decompose(y, p, rule=rule, method="unique")
    miscalibration = refinement = 0.0
    for row in np.unique(p, axis=0):
        own = (p == row).all(axis=1)
        c = np.bincount(y[own], minlength=3) / own.sum()
        entropy = oracles.expected_score(rule, c, c)
        miscalibration += own.mean() * (oracles.expected_score(rule, row, c) - entropy)
        refinement += own.mean() * entropy
    base = np.bincount(y, minlength=3) / len(y)
    assert d.miscalibration == pytest.approx(miscalibration)
    assert d.refinement == pytest.approx(refinement)
    assert d.uncertainty == pytest.approx(oracles.expected_score(rule, base, base))
    check_sum(d)


@pytest.mark.parametrize("rule", RULES)
def test_vectors_are_binned_on_the_simplex_by_default(rule):
    y, p = simplex()
    d = decompose(y, p, rule=rule, binning=SimplexBins(3))
    assert (d.method, d.lens) == ("bins", "canonical")
    cells = oracles.grid_cells(p.tolist(), 3)
    miscalibration = 0.0
    for cell in set(cells):
        own = np.array([c == cell for c in cells])
        f, g = np.bincount(y[own], minlength=3) / own.sum(), p[own].mean(axis=0)
        extra = oracles.expected_score(rule, g, f) - oracles.expected_score(rule, f, f)
        miscalibration += own.mean() * extra
    assert d.miscalibration == pytest.approx(miscalibration)
    check_sum(d)


def test_what_cells_of_the_simplex_hide_is_variance_minus_covariance():
    y, p = simplex()
    d = decompose(y, p, n_bins=2)
    cells = oracles.grid_cells(p.tolist(), 2)
    variance = 0.0
    for cell in set(cells):
        own = np.array([c == cell for c in cells])
        variance += ((p[own] - p[own].mean(axis=0)) ** 2).sum() / len(y)
    assert d.within_bin_variance == pytest.approx(variance)
    assert d.within_bin == pytest.approx(d.within_bin_variance - d.within_bin_covariance)


@pytest.mark.parametrize("method", ["isotonic", "bins", "unique"])
def test_over_the_classwise_lens_parts_are_averaged(method):
    y, p = simplex()
    d = decompose(y, p, lens="classwise", method=method, n_bins=5)
    each = [decompose((y == k).astype(int), p[:, k], method=method, n_bins=5) for k in range(3)]
    for part in ("score", "miscalibration", "discrimination", "uncertainty", "refinement"):
        assert getattr(d, part) == pytest.approx(np.mean([getattr(e, part) for e in each]))
    assert d.score == pytest.approx(brier_score(y, p) / 3)
    assert d.lens == "classwise"
    check_sum(d)


def test_the_default_is_the_isotonic_decomposition_of_the_whole_binary_prediction():
    y, p, _ = rows("plain")
    d = decompose(y, np.column_stack([1 - p, p]))
    assert (d.method, d.lens, d.rule, d.n_samples) == ("isotonic", "binary", "brier", 70)
    assert d == decompose(y, p)


def test_a_recalibrated_prediction_has_no_miscalibration():
    y, p, _ = rows("plain")
    d = decompose(y, oracles.isotonic(y, p))
    assert d.miscalibration == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("method", ["isotonic", "bins", "unique"])
def test_an_impossible_event_makes_score_and_miscalibration_infinite(method):
    d = decompose([1, 0, 1, 0], [0.0, 0.2, 0.9, 0.4], rule="log", method=method, n_bins=10)
    assert d.score == math.inf
    assert math.isfinite(d.refinement)
    assert math.isfinite(d.uncertainty)
    assert max(d.miscalibration, d.within_bin) == math.inf
    assert not math.isnan(d.within_bin)
    assert Decomposition.from_json(d.to_json()) == d


def test_an_infinite_bin_leaves_no_undefined_part():
    d = decompose([1, 0, 1], [0.0, 0.0, 0.9], rule="log", method="bins", n_bins=5)
    assert d.miscalibration == math.inf
    assert d.within_bin == 0.0


def test_text_says_the_parts_and_how_they_were_made():
    d = decompose([0, 1, 0, 1], [0.25, 0.25, 0.75, 0.75], method="bins", n_bins=2)
    assert str(d) == (
        "brier 0.3125 = MCB 0.0625 - DSC 0.0000 + UNC 0.2500 + within-bin 0.0000"
        "  (2 equal-width bins, n=4)"
    )


def test_a_part_that_is_zero_but_for_rounding_has_no_sign():
    d = replace(decompose([0, 1], [0.5, 0.5]), miscalibration=-1e-17, discrimination=-1e-17)
    assert "MCB 0.0000 - DSC 0.0000" in str(d)
    y, p, _ = oracles.random_rows("plain", 300, 0)
    e = replace(evaluate(y, p), decompositions=(d,))
    assert "-0.0000" not in str(e)


@pytest.mark.parametrize("binning", [UniformBins(4), QuantileBins(4)])
def test_any_binning_may_be_given(binning):
    y, p, _ = rows("plain")
    d = decompose(y, p, method="bins", binning=binning)
    assert d.definition == binning.name
    check_sum(d)
