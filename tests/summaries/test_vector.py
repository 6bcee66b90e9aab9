"""Sums by cell of whole probability vectors."""

from __future__ import annotations

import json

import numpy as np
import oracles
import pytest

from veridical import (
    InvalidInputError,
    QuantileBins,
    SimplexBins,
    UniformBins,
    VarianceSplitBins,
    summarise,
)
from veridical._core.sample import MulticlassSample
from veridical.summaries import VectorSummary

NAMES = ("count", "sum_w", "sum_w2", "sum_wp", "sum_wy", "sum_wpq")


@pytest.fixture(params=["plain", "weighted", "single"])
def sample(request):
    rng = np.random.default_rng(2)
    p = rng.dirichlet([0.5, 0.5, 0.5], 120)
    w = rng.gamma(0.7, size=120) if request.param == "weighted" else None
    dtype = np.float32 if request.param == "single" else np.float64
    y = rng.integers(0, 3, 120)
    return MulticlassSample(y=y, p=p.astype(dtype), weight=w, classes=("a", "b", "c"))


@pytest.mark.parametrize("binning", [SimplexBins(3), VarianceSplitBins(15)])
def test_sums_are_those_of_a_loop_over_rows(sample, binning):
    rules = ("brier", "log", "spherical", "zero-one")
    summary = summarise(sample, binning, rules=rules)
    cells = summary.partition.assign(sample.p)
    w = oracles.ones(sample.weight, sample.n)
    assert sorted(set(cells.tolist())) == list(range(len(summary.count)))
    for cell in range(len(summary.count)):
        rows = [i for i in range(sample.n) if cells[i] == cell]
        assert summary.count[cell] == len(rows)
        assert summary.sum_w[cell] == pytest.approx(sum(w[i] for i in rows))
        assert summary.sum_w2[cell] == pytest.approx(sum(w[i] ** 2 for i in rows))
        for k in range(3):
            p = {i: float(sample.p[i, k]) for i in rows}
            hits = sum(w[i] for i in rows if sample.y[i] == k)
            assert summary.sum_wy[cell, k] == pytest.approx(hits)
            assert summary.sum_wp[cell, k] == pytest.approx(sum(w[i] * p[i] for i in rows))
            spread = sum(w[i] * p[i] * (1 - p[i]) for i in rows)
            assert summary.sum_wpq[cell, k] == pytest.approx(spread)
        for rule in rules:
            total = sum(w[i] * oracles.score(rule, sample.p[i].tolist(), sample.y[i]) for i in rows)
            assert summary.scores[rule][cell] == pytest.approx(total)


def test_means_are_sums_over_weights(sample):
    summary = summarise(sample, SimplexBins(3))
    np.testing.assert_allclose(summary.mean_p.sum(axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(summary.mean_y.sum(axis=1), 1)
    assert summary.share.sum() == pytest.approx(1)


def test_a_summary_survives_json(sample):
    summary = summarise(sample, VarianceSplitBins(15), rules=("log",))
    back = VectorSummary.from_dict(json.loads(json.dumps(summary.to_dict(), allow_nan=False)))
    assert back.partition == summary.partition
    assert (back.classes, back.weight_type) == (summary.classes, summary.weight_type)
    for name in NAMES:
        np.testing.assert_array_equal(getattr(back, name), getattr(summary, name))
    np.testing.assert_array_equal(back.scores["log"], summary.scores["log"])


def test_merging_a_summary_with_itself_doubles_every_sum(sample):
    summary = summarise(sample, VarianceSplitBins(15), rules=("log",))
    merged = summary.merge(summary)
    for name in NAMES:
        np.testing.assert_allclose(getattr(merged, name), 2 * getattr(summary, name))
    np.testing.assert_allclose(merged.scores["log"], 2 * summary.scores["log"])


def test_summaries_that_were_made_differently_cannot_be_merged(sample):
    mine = summarise(sample, VarianceSplitBins(15))
    others = {
        "cells": summarise(sample, VarianceSplitBins(30)),
        "grid": summarise(sample, SimplexBins(3)),
        "scores": summarise(sample, VarianceSplitBins(15), rules=("log",)),
    }
    for other in others.values():
        for first, second in ((mine, other), (other, mine)):
            with pytest.raises(InvalidInputError, match="merge: `other` must be binned"):
                first.merge(second)


def test_weights_of_different_meaning_cannot_be_merged():
    rng = np.random.default_rng(0)
    p, y, w = rng.dirichlet(np.ones(3), 60), rng.integers(0, 3, 60), np.ones(60)
    first, second = (
        summarise(
            MulticlassSample(y=y, p=p, weight=w, weight_type=kind, classes=(0, 1, 2)),
            VarianceSplitBins(15),
        )
        for kind in ("importance", "frequency")
    )
    with pytest.raises(InvalidInputError, match="merge"):
        first.merge(second)


def test_vectors_need_cells_of_the_simplex_and_hard_assignment(sample):
    with pytest.raises(InvalidInputError, match="`binning` must be cells of the simplex"):
        summarise(sample, QuantileBins(5))
    with pytest.raises(InvalidInputError, match=r'`assignment` must be "hard" on the simplex'):
        summarise(sample, UniformBins(5), assignment="linear")
