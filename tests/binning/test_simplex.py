"""Cells of the probability simplex."""

from __future__ import annotations

import signal

import numpy as np
import oracles
import pytest

from veridical import (
    BinnedError,
    ClassSpecific,
    Grouped,
    InvalidInputError,
    SimplexBins,
    TopK,
    UniformBins,
    VarianceSplitBins,
    consistency_test,
)
from veridical._core.sample import BinarySample, MulticlassSample
from veridical.binning._bins import partition as module
from veridical.lenses.reading import RawData


def sample(p, w=None, y=None):
    y = np.zeros(len(p), int) if y is None else y
    return MulticlassSample(y=y, p=p, weight=w, classes=tuple(range(p.shape[1])))


def same_cells(found, expected):
    """Whether two numberings group the rows alike."""
    pairs = set(zip(list(found), list(expected), strict=True))
    return len(pairs) == len(set(found)) == len(set(expected))


def random_simplex(n=90, k=3, seed=0, dtype=np.float64, grid=None):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(k, 0.5), n)
    return (p if grid is None else rng.multinomial(grid, p) / grid).astype(dtype)


@pytest.fixture
def in_time():
    """Give up after five seconds where the system has an alarm clock."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def give_up(*_):
        msg = "still splitting after five seconds"
        raise TimeoutError(msg)

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, 5)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("grid", [None, 5, 10])
@pytest.mark.parametrize("n_bins", [1, 2, 5, 10])
def test_grid_cells_are_bins_of_all_coordinates(dtype, grid, n_bins):
    p = random_simplex(dtype=dtype, grid=grid, k=4)
    partition = SimplexBins(n_bins).fit(sample(p))
    expected = oracles.grid_cells(p.tolist(), n_bins, dtype)
    assert same_cells(partition.assign(p).tolist(), expected)
    assert partition.n_cells == len(set(expected))


def test_two_classes_are_binned_like_one_probability():
    q = np.linspace(0, 1, 101)
    p = np.column_stack([1 - q, q])
    expected = oracles.bins_by_edges(q, oracles.uniform_edges(15))
    assert same_cells(SimplexBins(15).fit(sample(p)).assign(p).tolist(), expected)


def test_thirty_classes_need_keys_longer_than_an_integer():
    p = random_simplex(200, 30, grid=8)
    p = np.concatenate([p, p[::3]])
    partition = SimplexBins(15).fit(sample(p))
    assert 29 * np.log2(15) > 63
    assert same_cells(partition.assign(p).tolist(), oracles.grid_cells(p.tolist(), 15))


@pytest.mark.parametrize("k", [3, 30])
def test_a_cell_not_seen_when_fitting_is_minus_one(k):
    p = np.zeros((2, k))
    p[:, 0] = 1.0
    partition = SimplexBins(10).fit(sample(p))
    other = np.zeros((1, k))
    other[0, -1] = 1.0
    assert partition.assign(np.concatenate([p, other])).tolist() == [0, 0, -1]


@pytest.mark.parametrize("grid", [None, 4, 10])
@pytest.mark.parametrize("threshold", ["mean", "median"])
@pytest.mark.parametrize("min_size", [2, 5, 20, 90, 91])
def test_variance_split_cells_are_those_of_the_recursion(grid, threshold, min_size):
    for seed in range(3):
        p = random_simplex(seed=seed, grid=grid)
        partition = VarianceSplitBins(min_size, threshold).fit(sample(p))
        expected = oracles.variance_split_cells(p.tolist(), min_size, threshold)
        assert same_cells(partition.assign(p).tolist(), expected)
        assert partition.n_cells == len(set(expected))


@pytest.mark.parametrize("threshold", ["mean", "median"])
def test_variance_split_of_weighted_rows_is_that_of_the_recursion(threshold):
    p = random_simplex(60, 4)
    w = np.random.default_rng(4).gamma(0.7, size=60)
    partition = VarianceSplitBins(6, threshold).fit(sample(p, w))
    expected = oracles.variance_split_cells(p.tolist(), 6, threshold, w)
    assert same_cells(partition.assign(p).tolist(), expected)


def test_only_cells_of_min_size_rows_are_split():
    p = random_simplex(500)
    for min_size in (20, 100):
        partition = VarianceSplitBins(min_size, "median").fit(sample(p))
        counts = np.bincount(partition.assign(p))
        assert counts.max() < min_size
        assert counts.min() >= min_size // 2  # the median halves a cell of distinct values
    assert VarianceSplitBins(501).fit(sample(p)).n_cells == 1


@pytest.mark.usefixtures("in_time")
@pytest.mark.parametrize("threshold", ["mean", "median"])
def test_saturated_single_precision_scores_are_split_in_finite_time(threshold):
    top = np.float32(1) - np.finfo(np.float32).epsneg
    q = np.array([top] * 4 + [1] * 16, dtype=np.float32)
    p = np.column_stack([q, 1 - q, np.zeros_like(q)])
    partition = VarianceSplitBins(5, threshold).fit(sample(p))
    counts = np.bincount(partition.assign(p), minlength=partition.n_cells)
    assert counts.tolist() in ([4, 16], [16, 4], [20])


@pytest.mark.usefixtures("in_time")
def test_single_precision_rows_fall_into_the_cells_they_were_fitted_to():
    p = random_simplex(4000, 3, dtype=np.float32)
    p /= p.sum(axis=1, keepdims=True)
    partition = VarianceSplitBins(10).fit(sample(p))
    assert (np.bincount(partition.assign(p), minlength=partition.n_cells) > 0).all()


def test_equal_predictions_are_one_cell():
    p = np.full((50, 3), 1 / 3)
    assert VarianceSplitBins(2).fit(sample(p)).n_cells == 1
    assert SimplexBins(7).fit(sample(p)).n_cells == 1


@pytest.mark.parametrize("n", [0, -2, 2.5, "sqrt", None])
def test_bins_an_axis_are_a_positive_integer(n):
    with pytest.raises(InvalidInputError, match="SimplexBins: `n` must be a positive integer"):
        SimplexBins(n)


@pytest.mark.parametrize("min_size", [1, 0, 2.5, "many"])
def test_a_cell_that_is_split_holds_two_rows(min_size):
    with pytest.raises(InvalidInputError, match="`min_size` must be an integer of 2 or more"):
        VarianceSplitBins(min_size)


def test_unknown_threshold_is_answered_with_the_nearest():
    with pytest.raises(InvalidInputError, match="did you mean 'median'"):
        VarianceSplitBins(10, "medain")


def test_numpy_integers_are_integers():
    assert SimplexBins(np.int64(4)).n == 4
    assert VarianceSplitBins(np.int64(40)).min_size == 40


def test_uniform_bins_stand_for_the_grid_on_a_vector_problem():
    p = random_simplex()
    y = np.random.default_rng(1).integers(0, 3, len(p))
    found = BinnedError(UniformBins(4))(y, p, lens="canonical")
    assert found == BinnedError(SimplexBins(4))(y, p, lens="canonical")
    cells = oracles.grid_cells(p.tolist(), 4)
    assert found == pytest.approx(oracles.canonical_error(y, p.tolist(), cells), rel=1e-9)


def test_names_say_what_the_cells_are():
    assert SimplexBins(5).name == "simplex grid, 5 bins an axis"
    assert VarianceSplitBins(40, "median").name == "variance-split cells of 40, at the median"


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("threshold", ["mean", "median"])
@pytest.mark.parametrize("weighted", [False, True])
def test_one_probability_is_split_into_intervals_by_the_same_recursion(dtype, threshold, weighted):
    rng = np.random.default_rng(8)
    q = rng.beta(2, 0.5, 150).round(2).astype(dtype)
    w = rng.gamma(0.7, size=150) if weighted else None
    scores = BinarySample(y=np.zeros(150, int), p=q, weight=w)
    partition = VarianceSplitBins(12, threshold).fit(scores)
    expected = oracles.variance_split_cells(q[:, None].tolist(), 12, threshold, w)
    assert same_cells(partition.assign(q).tolist(), expected)
    assert partition.n_cells == len(set(expected))
    pair = np.column_stack([1 - q, q])
    assert same_cells(VarianceSplitBins(12, threshold).fit(sample(pair, w)).assign(pair), expected)


@pytest.mark.parametrize(
    "lens", ["confidence", TopK(1), Grouped([[0], [1, 2]]), ClassSpecific(1), "classwise"]
)
def test_errors_of_problems_of_one_probability_take_variance_split_bins(lens):
    p = random_simplex(400)
    y = np.random.default_rng(3).integers(0, 3, 400)
    error = BinnedError(VarianceSplitBins(50))
    problem = RawData(y, p).through(lens, caller="test").problem
    several = lens == "classwise"
    parts = [problem.problem(k) for k in range(3)] if several else [problem]
    expected = [
        oracles.binned_error(
            part.y, part.p, oracles.variance_split_cells(part.p[:, None].tolist(), 50)
        )
        for part in parts
    ]
    assert error(y, p, lens=lens) == pytest.approx(np.mean(expected))
    test = consistency_test(error, y, p, lens=lens, n_resamples=19, rng=0)
    assert test.statistic == pytest.approx(np.mean(expected))


@pytest.mark.usefixtures("in_time")
def test_a_hundred_classes_are_cells_without_comparing_rows():
    p = random_simplex(5_000, 100)
    p = np.concatenate([p, p])
    cells = SimplexBins(15).fit(sample(p))
    found = cells.assign(p)
    assert cells.n_cells == len(
        {tuple(row) for row in np.ceil(p[:20_000] * 15).clip(1).astype(int)}
    )
    np.testing.assert_array_equal(found[:5_000], found[5_000:])
    assert found.min() == 0


def test_cells_that_share_a_hash_are_told_apart(monkeypatch):
    def same_for_all(n_bins, n_axes):
        yield np.zeros(n_axes, dtype=np.uint64)  # every cell has the hash 0
        yield from real(n_bins, n_axes)

    real = module._factors
    p = random_simplex(60, 30, grid=8)
    expected = SimplexBins(15).fit(sample(p)).assign(p)
    monkeypatch.setattr(module, "_factors", same_for_all)
    np.testing.assert_array_equal(SimplexBins(15).fit(sample(p)).assign(p), expected)
