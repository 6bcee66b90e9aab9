"""Fitted partitions: linear shares, equality, and writing them down."""

from __future__ import annotations

import json

import numpy as np
import oracles
import pytest

from veridical._core.sample import BinarySample, MulticlassSample
from veridical.binning import (
    EdgeBins,
    GridPartition,
    IntervalPartition,
    QuantileBins,
    SimplexBins,
    SweepBins,
    UniformBins,
    VarianceSplitBins,
    partition_from_dict,
)


def fitted():
    y, p, _ = oracles.random_rows("tied")
    binary = BinarySample(y=y, p=p)
    rng = np.random.default_rng(0)
    few, many = rng.dirichlet(np.ones(3), 80), rng.dirichlet(np.ones(30), 80)
    for binning in (
        UniformBins(7), UniformBins(7, closed="left"), UniformBins(7, support=(1 / 3, 1)),
        UniformBins(30, min_count=9), QuantileBins(5), SweepBins(), EdgeBins([0.2, 0.9]),
    ):  # fmt: skip
        yield binning, binary
    for p_matrix in (few, many):
        vector = MulticlassSample(y=y, p=p_matrix, classes=tuple(range(p_matrix.shape[1])))
        yield SimplexBins(4), vector
        yield VarianceSplitBins(9), vector
        yield VarianceSplitBins(9, "median"), vector


@pytest.mark.parametrize(("binning", "sample"), list(fitted()))
def test_a_partition_survives_json_and_assigns_alike(binning, sample):
    partition = binning.fit(sample)
    back = partition_from_dict(json.loads(json.dumps(partition.to_dict())))
    assert back == partition
    assert back.n_cells == partition.n_cells
    np.testing.assert_array_equal(back.assign(sample.p), partition.assign(sample.p))


def test_partitions_differ_by_edges_and_by_side():
    p = BinarySample(y=np.array([0]), p=np.array([0.5]))
    ten = UniformBins(10).fit(p)
    assert ten == UniformBins(10).fit(p)
    assert ten != UniformBins(11).fit(p)
    assert ten != UniformBins(10, closed="left").fit(p)
    assert ten != "ten bins"
    assert ten == EdgeBins(np.arange(11) / 10).fit(p)


def test_a_tree_is_not_a_grid():
    p = np.random.default_rng(0).dirichlet(np.ones(3), 50)
    sample = MulticlassSample(y=np.zeros(50, int), p=p, classes=(0, 1, 2))
    grid = SimplexBins(3).fit(sample)
    assert isinstance(grid, GridPartition)
    assert grid != VarianceSplitBins(10).fit(sample)


@pytest.mark.parametrize(
    "edges", [[0.0, 1.0], [0.0, 0.5, 1.0], [0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [0.0, 0.1, 0.7, 1.0]]
)
@pytest.mark.parametrize("kind", ["plain", "extreme", "single"])
def test_a_score_is_shared_between_the_two_nearest_centres(edges, kind):
    _, p, _ = oracles.random_rows(kind)
    partition = IntervalPartition(np.array(edges))
    p = np.concatenate([p, partition.centres.astype(p.dtype), np.array(edges, dtype=p.dtype)])
    lower, to_upper = partition.share(p)
    found = np.zeros((len(p), partition.n_cells))
    rows = np.arange(len(p))
    np.add.at(found, (rows, lower), 1 - to_upper)
    np.add.at(found, (rows, np.minimum(lower + 1, partition.n_cells - 1)), to_upper)
    expected = oracles.linear_shares(p, partition.centres.tolist())
    np.testing.assert_allclose(found, expected, atol=1e-6 if kind == "single" else 1e-12)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
