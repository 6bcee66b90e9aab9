"""Bins of equal mass and the monotone sweep."""

from __future__ import annotations

import numpy as np
import oracles
import pytest

from veridical import (
    BinnedError,
    InvalidInputError,
    QuantileBins,
    SweepBins,
    UniformBins,
    VeridicalWarning,
    expected_calibration_error,
)
from veridical._core.sample import BinarySample


def sample(y, p, w=None):
    return BinarySample(y=np.asarray(y), p=np.asarray(p), weight=w)


@pytest.mark.parametrize("kind", oracles.KINDS)
@pytest.mark.parametrize("n_bins", [1, 2, 3, 7, 15, 79, 80, 200])
def test_equal_mass_bins_are_those_of_the_definition(kind, n_bins):
    y, p, w = oracles.random_rows(kind)
    partition = QuantileBins(n_bins).fit(sample(y, p, w))
    expected = oracles.quantile_bins(p, n_bins, w)
    found = partition.assign(p)
    assert found.tolist() == expected
    assert partition.n_cells == len(set(expected))  # no empty bin
    assert (np.diff(partition.edges) > 0).all()  # and none of zero width


def test_quantile_bins_keep_ties_together():
    p = np.array([0.1, 0.2, 0.2, 0.2, 0.2, 0.9])
    found = QuantileBins(3).fit(sample(np.zeros(6, int), p)).assign(p)
    assert len({int(b) for b in found[1:5]}) == 1


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_neighbours_in_floating_point_can_be_told_apart(dtype):
    low = dtype(0.7)
    p = np.array([low, np.nextafter(low, dtype(1)), dtype(1) - np.finfo(dtype).epsneg, dtype(1)])
    assert QuantileBins(4).fit(sample([0, 1, 0, 1], p)).assign(p).tolist() == [0, 1, 2, 3]


def test_without_ties_every_bin_holds_the_same_number_of_rows():
    p = np.random.default_rng(0).permutation(60) / 60
    counts = np.bincount(QuantileBins(15).fit(sample(np.zeros(60, int), p)).assign(p))
    assert counts.tolist() == [4] * 15


def test_support_moves_the_outer_ends_and_no_row():
    rows = sample([0, 1, 1, 0], [0.5, 0.6, 0.8, 0.9])
    plain, within = QuantileBins(2).fit(rows), QuantileBins(2, support=(0.5, 1)).fit(rows)
    np.testing.assert_allclose(within.edges, [0.5, 0.7, 1.0])
    np.testing.assert_allclose(within.centres, [0.6, 0.85])
    assert within.assign(rows.p).tolist() == plain.assign(rows.p).tolist() == [0, 0, 1, 1]


def test_scores_outside_the_support_join_the_outer_bins():
    p = np.arange(1, 10) / 10
    partition = QuantileBins(9, support=(0.32, 0.68)).fit(sample(np.zeros(9, int), p))
    np.testing.assert_allclose(partition.edges, [0.32, 0.35, 0.45, 0.55, 0.65, 0.68])
    assert partition.assign(p).tolist() == [0, 0, 0, 1, 2, 3, 4, 4, 4]


def test_linear_shares_follow_the_support():
    """Rows at 0.6 and 0.9, an edge at 0.75: centres 0.625 and 0.875 on [1/2, 1]."""
    y, p = [1, 0] * 10, [0.6, 0.9] * 10
    error = BinnedError(QuantileBins(2, support=(0.5, 1.0)), assignment="linear")
    assert error(y, p) == pytest.approx((0.4 + 0.9) / 2)  # both lie beyond the outer centres
    # On [0, 1] the centres are 0.375 and 0.875: 0.6 gives 0.45 of itself to the second bin.
    shared = BinnedError(QuantileBins(2), assignment="linear")
    assert shared(y, p) == pytest.approx((0.55 * 0.4 + abs(0.45 * 0.4 - 0.9)) / 2)


@pytest.mark.parametrize("support", [(0.5, 0.5), (-0.1, 1), 0.5])
def test_the_support_is_an_interval_within_zero_and_one(support):
    with pytest.raises(InvalidInputError, match="`support` must be"):
        QuantileBins(10, support=support)


def test_the_remainder_is_spread_and_no_row_is_dropped():
    p = np.arange(1, 104) / 104
    counts = np.bincount(QuantileBins(10).fit(sample(np.zeros(103, int), p)).assign(p))
    assert counts.sum() == 103
    assert set(counts.tolist()) == {10, 11}


def test_more_bins_than_rows_mean_fewer_bins_and_a_warning():
    with (
        pytest.warns(VeridicalWarning, match="15 equal-mass bins asked for, 4 made: more bins"),
        pytest.warns(VeridicalWarning, match="1.0 rows a bin on average"),
    ):
        error = expected_calibration_error([0, 1, 0, 1], [0.1, 0.2, 0.7, 0.9], strategy="quantile")
    assert error == pytest.approx((0.1 + 0.8 + 0.7 + 0.1) / 4)


def test_ties_mean_fewer_bins_and_a_warning_that_says_so():
    y, p = [0, 1] * 20, [0.25, 0.75] * 20
    with pytest.warns(VeridicalWarning, match="5 equal-mass bins asked for, 2 made: equal scores"):
        expected_calibration_error(y, p, strategy="quantile", n_bins=5)


def test_weights_move_the_edges_as_repetition_does():
    y, p, _ = oracles.random_rows("plain", 50)
    w = np.random.default_rng(1).integers(1, 5, 50)
    repeated = QuantileBins(7).fit(sample(np.repeat(y, w), np.repeat(p, w)))
    weighted = QuantileBins(7).fit(sample(y, p, w.astype(float)))
    np.testing.assert_array_equal(weighted.edges, repeated.edges)


@pytest.mark.parametrize("kind", ["plain", "tied", "extreme", "single"])
def test_cross_validated_count_is_the_one_of_leaving_out_each_row(kind):
    for seed in range(4):
        y, p, _ = oracles.random_rows(kind, 50, seed)

        def bins_of(n_bins, p=p):
            return oracles.quantile_bins(p, n_bins)

        expected = oracles.leave_one_out_count(y, p, bins_of, 25)
        partition = QuantileBins("cv").fit(sample(y, p))
        assert partition.assign(p).tolist() == oracles.quantile_bins(p, expected)


@pytest.mark.parametrize("rule", ["cv", "sqrt", "cbrt"])
@pytest.mark.parametrize("binning", [QuantileBins, UniformBins])
def test_rules_count_frequency_weights_as_repetition(rule, binning):
    for seed in range(5):
        y, p, _ = oracles.random_rows("plain", 60, seed)
        w = np.random.default_rng(seed).integers(1, 6, 60)
        repeated = binning(rule).fit(sample(np.repeat(y, w), np.repeat(p, w)))
        counted = BinarySample(y=y, p=p, weight=w.astype(float), weight_type="frequency")
        assert binning(rule).fit(counted) == repeated


@pytest.mark.parametrize("kind", oracles.KINDS)
def test_sweep_bins_are_those_of_trying_every_count(kind):
    for seed in range(5):
        y, p, w = oracles.random_rows(kind, 40, seed)
        found = SweepBins().fit(sample(y, p, w)).assign(p)
        assert found.tolist() == oracles.sweep_bins(y, p, w)


@pytest.mark.parametrize("heavy", [30.0, 1e6, 1e9])
def test_one_heavy_row_is_one_row_to_the_sweep(heavy):
    for seed in range(5):
        y, p, _ = oracles.random_rows("plain", 40, seed)
        w = np.ones(40)
        w[seed] = heavy
        found = SweepBins().fit(sample(y, p, w)).assign(p)
        assert found.tolist() == oracles.sweep_bins(y, p, w)


def test_a_row_counted_many_times_is_swept_as_its_repetition():
    for seed in range(5):
        y, p, _ = oracles.random_rows("plain", 40, seed)
        w = np.ones(40, int)
        w[seed] = 300  # more bins than scores: the other way to look for the first broken count
        counted = BinarySample(y=y, p=p, weight=w.astype(float), weight_type="frequency")
        repeated = sample(np.repeat(y, w), np.repeat(p, w))
        assert SweepBins().fit(counted) == SweepBins().fit(repeated)
        assert SweepBins().fit(counted).assign(p).tolist() == oracles.sweep_bins(y, p, w, w.sum())


def test_sweep_frequencies_never_decrease():
    y, p, _ = oracles.random_rows("plain", 3000)
    bins = SweepBins().fit(sample(y, p)).assign(p)
    frequency = np.bincount(bins, weights=y) / np.bincount(bins)
    assert (np.diff(frequency) >= 0).all()
    assert len(frequency) > 3


def test_sweep_of_one_class_separates_every_score():
    p = np.linspace(0.1, 0.9, 17)
    for outcome in (0, 1):
        assert SweepBins().fit(sample(np.full(17, outcome), p)).n_cells == 17


@pytest.mark.parametrize(("swapped", "n_bins"), [(0, 5000), (1, 2500)])
def test_sweep_of_nearly_separated_scores_tries_thousands_of_counts(swapped, n_bins):
    n = 5000
    p = (np.arange(n) + 0.5) / n
    y = (p > 0.5).astype(int)
    y[n // 2 - swapped : n // 2 + swapped] ^= 1
    # With one pair swapped around the middle, pairs of rows are the finest monotone bins.
    assert SweepBins().fit(sample(y, p)).n_cells == n_bins


def test_sweep_error_is_the_error_in_the_swept_bins():
    y, p, w = oracles.random_rows("weighted", 60)
    found = BinnedError(SweepBins())(y, p, sample_weight=w)
    expected = oracles.binned_error(y, p, oracles.sweep_bins(y, p, w), w)
    assert found == pytest.approx(expected, rel=1e-9)
    assert found == expected_calibration_error(y, p, strategy="sweep", sample_weight=w)
