"""Bins of equal width, given edges, and how many bins."""

from __future__ import annotations

import numpy as np
import oracles
import pytest

from veridical import EdgeBins, InvalidInputError, UniformBins, expected_calibration_error
from veridical._core.sample import BinarySample


def sample(p, y=None, **rest):
    p = np.asarray(p)
    return BinarySample(y=np.zeros(len(p), int) if y is None else np.asarray(y), p=p, **rest)


def around(edges, dtype):
    """Every edge and its two neighbours in floating point, within [0, 1]."""
    edges = np.asarray(edges, dtype=dtype)
    values = np.concatenate([np.nextafter(edges, dtype(0)), edges, np.nextafter(edges, dtype(1))])
    return values[(values >= 0) & (values <= 1)]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("closed", ["right", "left"])
def test_membership_is_decided_by_comparing_with_the_edges(dtype, closed):
    for n_bins in [*range(1, 60), 97, 100, 128, 333, 1000]:
        edges = oracles.uniform_edges(n_bins, dtype)
        p = around(edges, dtype)[:400]
        found = UniformBins(n_bins, closed=closed).fit(sample(p)).assign(p)
        assert found.tolist() == oracles.bins_by_edges(p, edges, closed), n_bins


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_tenths_are_in_the_bin_they_close(dtype):
    p = np.array([0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0], dtype=dtype)
    found = UniformBins(10).fit(sample(p)).assign(p)
    assert found.tolist() == [0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    found = UniformBins(10, closed="left").fit(sample(p)).assign(p)
    assert found.tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9]


@pytest.mark.parametrize("closed", ["right", "left"])
@pytest.mark.parametrize("support", [(1 / 3, 1.0), (0.5, 1.0), (0.25, 0.75), (0.1, 1.0)])
def test_support_is_divided_and_scores_outside_join_the_outer_bins(support, closed):
    for n_bins in (1, 3, 10, 15, 40):
        edges = oracles.uniform_edges(n_bins, np.float64, *support)
        p = np.concatenate([around(edges, np.float64), np.linspace(0, 1, 101)])
        found = UniformBins(n_bins, support=support, closed=closed).fit(sample(p)).assign(p)
        assert found.tolist() == oracles.bins_by_edges(p, edges, closed)


def test_so_many_bins_that_rounding_would_matter_are_searched():
    n_bins = (1 << 20) + 1
    p = np.random.default_rng(0).random(500)
    found = UniformBins(n_bins).fit(sample(p)).assign(p)
    edges = np.arange(n_bins + 1) / n_bins
    assert (edges[found] < p).all()
    assert (p <= edges[found + 1]).all()


@pytest.mark.parametrize("kind", ["plain", "tied", "extreme"])
@pytest.mark.parametrize("min_count", [1, 2, 7, 30, 79, 80, 81])
def test_small_bins_are_merged_from_the_left(kind, min_count):
    _, p, _ = oracles.random_rows(kind)
    for n_bins in (1, 5, 15, 60):
        partition = UniformBins(n_bins, min_count=min_count).fit(sample(p))
        fine = oracles.bins_by_edges(p, oracles.uniform_edges(n_bins))
        expected = oracles.merged_bins(fine, n_bins, min_count)
        assert partition.assign(p).tolist() == expected
        counts = np.bincount(partition.assign(p), minlength=partition.n_cells)
        assert (counts >= min_count).all() or partition.n_cells == 1


def test_merging_counts_weighted_rows_by_their_effective_number():
    p = np.array([0.05, 0.15, 0.25, 0.35])
    w = np.array([1.0, 1.0, 10.0, 10.0])
    two = UniformBins(10, min_count=2)
    assert two.fit(sample(p, weight=w)).assign(p).tolist() == [0, 0, 1, 1]
    by_mass = two.fit(sample(p, weight=w, weight_type="frequency"))
    assert by_mass.assign(p).tolist() == [0, 0, 1, 2]


@pytest.mark.parametrize(
    ("n", "rule", "count"),
    [(1, "sqrt", 1), (99, "sqrt", 9), (100, "sqrt", 10), (101, "sqrt", 10),
     (1, "cbrt", 1), (26, "cbrt", 2), (27, "cbrt", 3), (1000, "cbrt", 10)],
)  # fmt: skip
def test_rules_of_thumb_are_the_floor_of_a_root(n, rule, count):
    assert UniformBins(rule).fit(sample(np.full(n, 0.5))).n_cells == count


def test_rules_of_thumb_use_the_effective_size_of_weighted_data():
    p, w = np.full(100, 0.5), np.repeat([1.0, 0.25], 50)
    kish = w.sum() ** 2 / (w**2).sum()
    assert UniformBins("sqrt").fit(sample(p, weight=w)).n_cells == int(np.sqrt(kish))
    assert UniformBins("sqrt").fit(sample(p, weight=7 * w)).n_cells == int(np.sqrt(kish))
    counted = sample(p, weight=4 * w, weight_type="frequency")
    assert UniformBins("sqrt").fit(counted).n_cells == int(np.sqrt(4 * w.sum()))


@pytest.mark.parametrize("kind", ["plain", "tied", "extreme", "single"])
def test_cross_validated_count_is_the_one_of_leaving_out_each_row(kind):
    for seed in range(4):
        y, p, _ = oracles.random_rows(kind, 60, seed)

        def bins_of(n_bins, p=p):
            return oracles.bins_by_edges(p, oracles.uniform_edges(n_bins, p.dtype.type))

        expected = oracles.leave_one_out_count(y, p, bins_of, 30)
        assert UniformBins("cv").fit(sample(p, y)).n_cells == expected


def test_a_bin_count_from_numpy_is_the_same_number():
    y, p, _ = oracles.random_rows("plain", 1000)
    for number in (np.int64(15), np.int32(15), np.uint8(15)):
        assert UniformBins(number).fit(sample(p)).n_cells == 15
        found = expected_calibration_error(y, p, n_bins=number)
        assert found == expected_calibration_error(y, p, n_bins=15)


@pytest.mark.parametrize("n", [0, -1, 2.5, 15.0, True, "root", None, [10]])
def test_a_bin_count_is_a_positive_integer_or_a_rule(n):
    with pytest.raises(InvalidInputError, match="`n_bins` must be a positive integer"):
        UniformBins(n)


@pytest.mark.parametrize("support", [(0.5, 0.5), (1, 0), (-0.1, 1), (0, 1.1), (np.nan, 1), 0.5])
def test_support_is_an_interval_within_zero_and_one(support):
    with pytest.raises(InvalidInputError, match="`support` must be"):
        UniformBins(10, support=support)


def test_unknown_side_is_answered_with_the_nearest():
    with pytest.raises(InvalidInputError, match="did you mean 'right'"):
        UniformBins(10, closed="rigth")


@pytest.mark.parametrize("min_count", ["many", -3])
def test_min_count_is_a_positive_integer(min_count):
    with pytest.raises(InvalidInputError, match="`min_count` must be"):
        UniformBins(10, min_count=min_count)


def test_names_say_what_the_bins_are():
    assert UniformBins(10).name == "10 equal-width bins"
    assert "left-closed" in UniformBins(10, closed="left").name
    assert "[0.5, 1]" in UniformBins(10, support=(0.5, 1)).name
    assert "at least 30 rows" in UniformBins(10, min_count=30).name


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("closed", ["right", "left"])
def test_given_edges_are_compared_in_the_type_of_the_scores(dtype, closed):
    edges = [0.1, 0.3, 0.35, 0.7]
    full = [0.0, *(float(dtype(e)) for e in edges), 1.0]
    p = around(full, dtype)
    found = EdgeBins(edges, closed=closed).fit(sample(p)).assign(p)
    assert found.tolist() == oracles.bins_by_edges(p, full, closed)


def test_zero_and_one_are_added_to_given_edges_once():
    p = sample([0.5])
    for edges in ([0.2, 0.8], [0, 0.2, 0.8, 1], [0.0, 0.2, 0.8], np.array([0.2, 0.8, 1.0])):
        assert EdgeBins(edges).fit(p).edges.tolist() == [0.0, 0.2, 0.8, 1.0]
    assert EdgeBins([]).fit(p).edges.tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    "edges", [[0.5, 0.5], [0.6, 0.5], [-0.1, 0.5], [0.5, 1.5], [np.nan], ["a"], [[0.1, 0.5]]]
)
def test_given_edges_increase_within_zero_and_one(edges):
    with pytest.raises(InvalidInputError, match="`edges` must be increasing"):
        EdgeBins(edges)


def test_given_edges_are_values_that_can_be_compared():
    edges = EdgeBins(np.array([0.2, 0.5]))
    assert edges == EdgeBins(np.array([0.2, 0.5]))
    assert edges != EdgeBins(np.array([0.2, 0.6]))
    assert len({edges, EdgeBins([0.2, 0.5])}) == 1
