"""Bins: every score in exactly one, the one exact arithmetic says."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

import veridical as v
from veridical._core.sample import BinarySample, MulticlassSample
from veridical.binning import partition_from_dict

DTYPES = [np.float32, np.float64]
SAMPLES = st.from_type(BinarySample)


def exact_bins(p, n_bins, closed="right"):
    """Bin k iff edge_k < p <= edge_(k+1), by rationals; edges are k/B in the type of p."""
    edges = [Fraction(float(p.dtype.type(k / n_bins))) for k in range(1, n_bins)]
    find = bisect_left if closed == "right" else bisect_right
    return [find(edges, Fraction(float(value))) for value in p]


def uniform_bins(p, n_bins, closed="right"):
    sample = BinarySample(y=np.zeros(len(p), dtype=int), p=p)
    return v.UniformBins(n_bins, closed=closed).fit(sample).assign(p).tolist()


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=30),
    st.integers(1, 1000),
    st.sampled_from(DTYPES),
    st.sampled_from(["right", "left"]),
)
def test_uniform_bins_of_any_score_are_exact(values, n_bins, dtype, closed):
    p = np.array(values, dtype=dtype)
    assert uniform_bins(p, n_bins, closed) == exact_bins(p, n_bins, closed)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("closed", ["right", "left"])
def test_uniform_bins_of_hundredths_are_exact(dtype, closed):
    p = (np.arange(101) / 100).astype(dtype)
    for n_bins in range(1, 101):
        assert uniform_bins(p, n_bins, closed) == exact_bins(p, n_bins, closed)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("closed", ["right", "left"])
def test_uniform_bins_beside_every_edge_are_exact(dtype, closed):
    for n_bins in range(1, 101):
        edges = (np.arange(n_bins + 1) / n_bins).astype(dtype)
        beside = [np.nextafter(edges, dtype(0)), edges, np.nextafter(edges, dtype(1))]
        p = np.concatenate(beside)
        assert uniform_bins(p, n_bins, closed) == exact_bins(p, n_bins, closed)


@given(SAMPLES, st.integers(1, 30), st.floats(0, 0.9), st.sampled_from(["right", "left"]))
def test_bins_of_a_part_of_the_interval_agree_with_their_edges(sample, n_bins, low, closed):
    partition = v.UniformBins(n_bins, support=(low, 1.0), closed=closed).fit(sample)
    inner = partition.edges[1:-1].astype(sample.p.dtype)
    side = "left" if closed == "right" else "right"
    expected = np.searchsorted(inner, sample.p, side=side)
    np.testing.assert_array_equal(partition.assign(sample.p), expected)


BINNINGS = st.one_of(
    st.builds(v.UniformBins, st.integers(1, 30) | st.sampled_from(["sqrt", "cbrt", "cv"])),
    st.builds(v.UniformBins, st.integers(1, 30), min_count=st.integers(1, 10)),
    st.builds(v.QuantileBins, st.integers(1, 50) | st.sampled_from(["sqrt", "cbrt", "cv"])),
    st.just(v.SweepBins()),
    st.lists(st.integers(1, 99), max_size=8, unique=True).map(
        lambda k: v.EdgeBins([i / 100 for i in sorted(k)])
    ),
)


@given(SAMPLES, BINNINGS)
def test_every_score_is_in_exactly_one_bin(sample, binning):
    partition = binning.fit(sample)
    assert len(partition.edges) == partition.n_cells + 1
    assert partition.edges[0] == 0
    assert partition.edges[-1] == 1
    assert (np.diff(partition.edges) > 0).all()
    cells = partition.assign(sample.p)
    assert ((cells >= 0) & (cells < partition.n_cells)).all()
    summary = v.summarise(sample, binning)
    assert summary.count.sum() == sample.n
    np.testing.assert_array_equal(summary.count[0], np.bincount(cells, minlength=partition.n_cells))


@given(SAMPLES, BINNINGS)
def test_bins_hold_neighbours(sample, binning):
    """A larger score is never in a lower bin, and equal scores are together."""
    cells = binning.fit(sample).assign(sample.p)
    order = np.argsort(sample.p, kind="stable")
    assert (np.diff(cells[order]) >= 0).all()
    for value in np.unique(sample.p):
        assert len(set(cells[sample.p == value])) == 1


@given(SAMPLES, st.integers(1, 50))
def test_no_quantile_bin_is_empty(sample, n_bins):
    partition = v.QuantileBins(n_bins).fit(sample)
    counts = np.bincount(partition.assign(sample.p), minlength=partition.n_cells)
    assert counts.min() > 0
    assert partition.n_cells <= min(n_bins, len(np.unique(sample.p)))
    assert (partition.doubt is None) == (partition.n_cells == n_bins)


@given(SAMPLES)
def test_no_sweep_bin_is_empty_and_frequencies_never_fall(sample):
    summary = v.summarise(sample, v.SweepBins())
    assert summary.count.min() > 0
    assert (np.diff(summary.mean_y[0]) >= -1e-9).all()


@given(SAMPLES, st.integers(1, 15), st.integers(1, 12))
def test_merged_bins_hold_enough_rows(sample, n_bins, min_count):
    counted = replace(sample, weight_type="frequency")
    summary = v.summarise(counted, v.UniformBins(n_bins, min_count=min_count))
    if summary.count.shape[1] > 1:
        assert summary.size.min() >= min_count * (1 - 1e-9)


@given(SAMPLES, st.integers(1, 20))
def test_shared_rows_keep_their_weight(sample, n_bins):
    for assignment in ("linear", "linear-inverted"):
        shared = v.summarise(sample, v.UniformBins(n_bins), assignment=assignment)
        whole = v.summarise(sample, v.UniformBins(n_bins))
        for name in ("count", "sum_w", "sum_wp", "sum_wy"):
            total = getattr(whole, name).sum()
            np.testing.assert_allclose(getattr(shared, name).sum(), total, rtol=1e-12)


@given(SAMPLES, BINNINGS)
def test_partitions_survive_being_written(sample, binning):
    partition = binning.fit(sample)
    again = partition_from_dict(partition.to_dict())
    assert again == partition
    np.testing.assert_array_equal(again.assign(sample.p), partition.assign(sample.p))


CELLS = st.one_of(
    st.builds(v.SimplexBins, st.integers(1, 8)),
    st.builds(v.VarianceSplitBins, st.integers(2, 12), st.sampled_from(["mean", "median"])),
)


@given(st.from_type(MulticlassSample), CELLS)
def test_every_vector_is_in_exactly_one_cell_and_no_cell_is_empty(sample, binning):
    partition = binning.fit(sample)
    cells = partition.assign(sample.p)
    counts = np.bincount(cells, minlength=partition.n_cells)
    assert counts.sum() == sample.n
    assert len(counts) == partition.n_cells
    assert counts.min() > 0
    again = partition_from_dict(partition.to_dict())
    assert again == partition
    np.testing.assert_array_equal(again.assign(sample.p), cells)
