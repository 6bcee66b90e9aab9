"""Summaries: parts merge into the whole, survive JSON, and hold all an error needs."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

import veridical as v
from veridical._core.sample import BinarySample, MulticlassSample
from veridical.lenses import Classwise

BINARY, MULTICLASS = st.from_type(BinarySample), st.from_type(MulticlassSample)
ARRAYS = ("count", "sum_w", "sum_w2", "sum_wp", "sum_wy", "sum_wpq")
FIXED = st.one_of(
    st.builds(v.UniformBins, st.integers(1, 20), closed=st.sampled_from(["right", "left"])),
    st.just(v.EdgeBins([0.1, 0.5, 0.75])),
)
RULES = st.lists(st.sampled_from(["brier", "log", "spherical", "zero-one"]), unique=True)
ASSIGNMENTS = st.sampled_from(["hard", "linear", "linear-inverted"])


def assert_same(one, other, atol=1e-12):
    for name in ARRAYS:
        np.testing.assert_allclose(
            getattr(one, name), getattr(other, name), rtol=1e-12, atol=atol, err_msg=name
        )
    assert set(one.scores) == set(other.scores)
    for rule, values in one.scores.items():
        np.testing.assert_allclose(values, other.scores[rule], rtol=1e-12, atol=atol)


def cut(sample, at):
    """Two parts, both with rows."""
    rows = np.arange(sample.n)
    middle = 1 + at % (sample.n - 1)
    return sample.take(rows[:middle]), sample.take(rows[middle:])


def away(sample):
    """Without scores of 0 and 1, whose log score may be infinite."""
    return replace(sample, p=sample.p.clip(0.01, 0.99))


@given(BINARY.filter(lambda s: s.n > 1).map(away), st.integers(0), FIXED, ASSIGNMENTS, RULES)
def test_parts_merge_into_the_whole(sample, at, binning, assignment, rules):
    first, second = cut(sample, at)
    options = {"assignment": assignment, "rules": rules}
    merged = v.summarise(first, binning, **options).merge(v.summarise(second, binning, **options))
    whole = v.summarise(sample, binning, **options)
    assert_same(merged, whole)
    error = v.BinnedError(binning, assignment=assignment)
    assert error.from_summary(merged) == pytest.approx(error.measure(sample), abs=1e-12)


@given(MULTICLASS.filter(lambda s: s.n > 1), st.integers(0), st.integers(1, 15))
def test_classwise_parts_merge_into_the_whole(sample, at, n_bins):
    binning = v.UniformBins(n_bins)
    first, second = (v.summarise(Classwise().induce(part), binning) for part in cut(sample, at))
    whole = v.summarise(Classwise().induce(sample), binning)
    assert_same(first.merge(second), whole)
    error = v.BinnedError(binning)
    expected = error.measure(Classwise().induce(sample))
    assert error.from_summary(first.merge(second)) == pytest.approx(expected, abs=1e-9)


@given(MULTICLASS, st.integers(1, 5))
def test_cells_of_equal_samples_merge(sample, n_bins):
    binning = v.SimplexBins(n_bins)
    once = v.summarise(sample, binning, rules=("brier",))
    twice = v.summarise(sample.take(np.tile(np.arange(sample.n), 2)), binning, rules=("brier",))
    assert_same(once.merge(once), twice)
    error = v.BinnedError(binning)
    assert error.from_summary(once.merge(once)) == pytest.approx(error.measure(sample), abs=1e-12)


@given(BINARY, FIXED, RULES)
def test_summaries_survive_json_unchanged(sample, binning, rules):
    summary = v.summarise(sample, binning, rules=rules)
    text = json.dumps(summary.to_dict(), allow_nan=False)
    again = v.Summary.from_dict(json.loads(text))
    assert again.to_dict() == summary.to_dict()
    assert again.partitions == summary.partitions
    assert again.names == summary.names
    assert again.weight_type == summary.weight_type
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(again, name), getattr(summary, name))
    for rule, values in summary.scores.items():
        np.testing.assert_array_equal(again.scores[rule], values)
    assert v.BinnedError().from_summary(again) == v.BinnedError().from_summary(summary)


@given(MULTICLASS, st.sampled_from([v.SimplexBins(4), v.VarianceSplitBins(5)]), RULES)
def test_summaries_of_vectors_survive_json_unchanged(sample, binning, rules):
    summary = v.summarise(sample, binning, rules=rules)
    text = json.dumps(summary.to_dict(), allow_nan=False)
    again = v.VectorSummary.from_dict(json.loads(text))
    assert again.to_dict() == summary.to_dict()
    assert again.partition == summary.partition
    assert again.classes == summary.classes
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(again, name), getattr(summary, name))
    assert v.BinnedError().from_summary(again) == v.BinnedError().from_summary(summary)


@given(BINARY, FIXED)
def test_means_and_sizes_of_bins_are_what_they_say(sample, binning):
    summary = v.summarise(sample, binning)
    cells = summary.partitions[0].assign(sample.p)
    w = np.ones(sample.n) if sample.weight is None else sample.weight
    assert summary.share.sum() == pytest.approx(1)
    for k in range(summary.count.shape[1]):
        rows = cells == k
        if not rows.any():
            assert not summary.occupied[0, k]
            assert np.isnan(summary.mean_p[0, k])
            continue
        mean_p = np.average(sample.p[rows].astype(float), weights=w[rows])
        assert summary.mean_p[0, k] == pytest.approx(mean_p, abs=1e-12)
        mean_y = np.average(sample.y[rows], weights=w[rows])
        assert summary.mean_y[0, k] == pytest.approx(mean_y, abs=1e-12)
        kish = w[rows].sum() ** 2 / (w[rows] ** 2).sum()
        size = w[rows].sum() if sample.weight_type == "frequency" else kish
        assert summary.size[0, k] == pytest.approx(size)


@pytest.mark.parametrize(
    ("binning", "options"),
    [
        (v.UniformBins(4), {}),
        (v.UniformBins(5, closed="left"), {}),
        (v.UniformBins(5), {"rules": ("log",)}),
        (v.EdgeBins([0.2]), {}),
    ],
    ids=["other count", "other side", "other scores", "other edges"],
)
def test_unlike_summaries_do_not_merge(binning, options):
    sample = BinarySample(y=np.array([0, 1]), p=np.array([0.25, 0.75]))
    summary = v.summarise(sample, v.UniformBins(5))
    with pytest.raises(v.InvalidInputError, match=r"merge: .*\nHint: "):
        summary.merge(v.summarise(sample, binning, **options))
