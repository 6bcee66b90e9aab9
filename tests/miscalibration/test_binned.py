"""Binned errors against loops over rows, norms, distances, debiasing, regions."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import oracles
import pytest

from veridical import (
    BinnedError,
    ClassSpecific,
    InvalidInputError,
    QuantileBins,
    SimplexBins,
    UniformBins,
    VarianceSplitBins,
    VeridicalWarning,
    bootstrap_interval,
    classwise_calibration_error,
    expected_calibration_error,
    maximum_calibration_error,
    null_level,
)
from veridical._core.sample import MulticlassSample

# Toy data: fewer than ten rows decide the largest gap, which a warning says.
pytestmark = pytest.mark.filterwarnings("ignore:.*mostly noise:veridical.VeridicalWarning")

NORMS = [1, 2, 3.5, "max"]


def tolerance(p):
    return {"rel": 1e-9, "abs": 1e-12} if p.dtype == np.float64 else {"rel": 1e-6, "abs": 1e-7}


def uniform(p, n_bins):
    return oracles.bins_by_edges(p, oracles.uniform_edges(n_bins, p.dtype.type))


def simplex(n=120, k=4, seed=0, dtype=np.float64, grid=None):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(k, 0.6), n)
    y = np.array([rng.choice(k, p=row) for row in p**0.8 / (p**0.8).sum(axis=1, keepdims=True)])
    return y, (p if grid is None else rng.multinomial(grid, p) / grid).astype(dtype)


@pytest.mark.parametrize("kind", oracles.KINDS)
@pytest.mark.parametrize("norm", NORMS)
def test_uniform_error_is_that_of_a_loop_over_bins(kind, norm):
    y, p, w = oracles.random_rows(kind)
    for n_bins in (1, 4, 10, 15):
        found = BinnedError(UniformBins(n_bins), norm=norm)(y, p, sample_weight=w)
        expected = oracles.binned_error(y, p, uniform(p, n_bins), w, norm)
        assert found == pytest.approx(expected, **tolerance(p))


@pytest.mark.parametrize("kind", ["plain", "single", "weighted"])
@pytest.mark.parametrize("norm", NORMS)
def test_equal_mass_error_is_that_of_a_loop_over_bins(kind, norm):
    y, p, w = oracles.random_rows(kind)
    bins = oracles.quantile_bins(p, 6, w)
    found = BinnedError(QuantileBins(6), norm=norm)(y, p, sample_weight=w)
    assert found == pytest.approx(oracles.binned_error(y, p, bins, w, norm), **tolerance(p))


@pytest.mark.parametrize("kind", oracles.KINDS)
@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("weight_type", ["importance", "frequency"])
def test_debiased_error_is_that_of_a_loop_over_bins(kind, norm, weight_type):
    y, p, w = oracles.random_rows(kind)
    w = None if w is None else w + (1.0 if weight_type == "frequency" else 0.0)
    error = BinnedError(UniformBins(5), norm=norm, debias=True)
    found = error(y, p, sample_weight=w, weight_type=weight_type)
    expected = oracles.binned_error(y, p, uniform(p, 5), w, norm, True, weight_type)
    assert found == pytest.approx(expected, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("grid", [None, 10])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("norm", [1, 2, "max"])
def test_classwise_error_is_the_norm_of_the_errors_of_each_class(dtype, grid, weighted, norm):
    y, p = simplex(dtype=dtype, grid=grid)
    w = np.random.default_rng(5).gamma(0.7, size=len(y)) if weighted else None
    each = [
        oracles.binned_error((y == k).astype(int), p[:, k], uniform(p[:, k], 10), w, norm)
        for k in range(4)
    ]
    for k in range(4):
        single = BinnedError(UniformBins(10), norm=norm)
        found = single(y, p, lens=ClassSpecific(k), sample_weight=w)
        assert found == pytest.approx(each[k], **tolerance(p))
    power = 1 if norm == "max" else norm
    together = max(each) if norm == "max" else np.mean(np.power(each, power)) ** (1 / power)
    for aggregate, expected in (("norm", together), ("mean", np.mean(each)), ("max", max(each))):
        found = classwise_calibration_error(
            y, p, n_bins=10, norm=norm, aggregate=aggregate, sample_weight=w
        )
        assert found == pytest.approx(expected, **tolerance(p))


@pytest.mark.parametrize("binning", [SimplexBins(3), VarianceSplitBins(20)])
@pytest.mark.parametrize("weighted", [False, True])
def test_canonical_error_is_the_total_variation_of_a_loop_over_cells(binning, weighted):
    y, p = simplex(k=3)
    w = np.random.default_rng(5).gamma(0.7, size=len(y)) if weighted else None
    found = BinnedError(binning)(y, p, lens="canonical", sample_weight=w)
    if isinstance(binning, SimplexBins):
        cells = oracles.grid_cells(p.tolist(), 3)
    else:
        cells = oracles.variance_split_cells(p.tolist(), 20, "mean", w)
    assert found == pytest.approx(oracles.canonical_error(y, p.tolist(), cells, w), rel=1e-9)


@pytest.mark.parametrize("kind", oracles.KINDS)
def test_linear_error_is_equation_1_of_001(kind):
    y, p, w = oracles.random_rows(kind)
    for n_bins in (1, 2, 8):
        centres = [(k + 0.5) / n_bins for k in range(n_bins)]
        found = BinnedError(UniformBins(n_bins), assignment="linear")(y, p, sample_weight=w)
        assert found == pytest.approx(oracles.linear_error(y, p, centres, w), **tolerance(p))


def test_linear_assignment_works_on_equal_mass_bins_too():
    y, p, w = oracles.random_rows("weighted")
    bins = QuantileBins(5)
    found = BinnedError(bins, assignment="linear")(y, p, sample_weight=w)
    ends = sorted(set(p.tolist()))
    cut = oracles.quantile_bins(p, 5, w)
    last = [max(v for v, b in zip(p.tolist(), cut, strict=True) if b == k) for k in range(4)]
    inner = [(v + ends[ends.index(v) + 1]) / 2 for v in last]
    edges = [0.0, *inner, 1.0]
    centres = [(a + b) / 2 for a, b in pairwise(edges)]
    assert found == pytest.approx(oracles.linear_error(y, p, centres, w), rel=1e-9)


@pytest.mark.parametrize(
    ("distance", "expected"),
    [("tv", 0.3), ("l1", 0.6), ("l2", math.sqrt(0.14)), ("sqeuclidean", 0.14),
     ("realised", 0.2 * 0.3 + 0.3 * 0.2 + 0.5 * 0.1)],
)  # fmt: skip
def test_distances_between_vectors_have_their_formulas(distance, expected):
    p = np.tile([0.5, 0.1, 0.4], (10, 1))
    y = [0, 0, 1, 1, 1, 2, 2, 2, 2, 2]  # frequencies .2 .3 .5, so the gaps are .3 .2 .1
    found = BinnedError(SimplexBins(1), distance=distance)(y, p, lens="canonical")
    assert found == pytest.approx(expected)


def test_a_distance_may_be_a_function():
    y, p = simplex(k=3)

    def largest(observed, predicted):
        return np.abs(observed - predicted).max(axis=1)

    found = BinnedError(SimplexBins(1), distance=largest)(y, p, lens="canonical")
    gap = np.abs(np.bincount(y, minlength=3) / len(y) - p.mean(axis=0)).max()
    assert found == pytest.approx(gap)


def test_the_squared_euclidean_distance_of_a_binary_problem_counts_both_classes():
    y, p, _ = oracles.random_rows("plain")
    found = BinnedError(UniformBins(5), distance="sqeuclidean")(y, p)
    cells = oracles.bin_means(y, p, uniform(p, 5))
    expected = sum(2 * c["share"] * (c["mean_y"] - c["mean_p"]) ** 2 for c in cells)
    assert found == pytest.approx(expected)


def test_euclidean_debiasing_of_a_binary_problem_counts_both_classes():
    y, p, _ = oracles.random_rows("plain", 400)
    plain = BinnedError(UniformBins(5), norm=2, debias=True)(y, p**2)
    euclidean = BinnedError(UniformBins(5), norm=2, debias=True, distance="l2")(y, p**2)
    assert euclidean == pytest.approx(math.sqrt(2) * plain)


def test_debiased_vector_error_subtracts_the_variance_of_every_class():
    y, p = simplex(300, 3)
    cells = SimplexBins(2)
    found = BinnedError(cells, norm=2, debias=True)(y, p, lens="canonical")
    total = 0.0
    grid = oracles.grid_cells(p.tolist(), 2)
    for cell in set(grid):
        rows = [i for i, own in enumerate(grid) if own == cell]
        for k in range(3):
            f, g = np.mean(y[rows] == k), p[rows, k].mean()
            total += len(rows) / 300 * ((f - g) ** 2 - f * (1 - f) / (len(rows) - 1))
    assert found == pytest.approx(math.sqrt(max(total, 0)))


def test_bins_of_one_row_do_not_count_in_the_debiased_root_mean_square():
    y, p = [1, 0, 1, 1], [0.1, 0.6, 0.7, 0.9]
    found = BinnedError(UniformBins(2), norm=2, debias=True)(y, p)
    gap2 = (2 / 3 - 2.2 / 3) ** 2 - (2 / 3) * (1 / 3) / 2  # of the upper bin; cut at zero
    assert found == math.sqrt(max(gap2, 0.0))


def test_one_row_a_bin_cannot_be_debiased():
    with pytest.raises(InvalidInputError, match="two rows in some bin"):
        BinnedError(UniformBins(10), norm=2, debias=True)([0, 1], [0.1, 0.9])


def test_region_keeps_predictions_in_a_closed_interval():
    y, p, w = oracles.random_rows("tied weighted")
    inside = (p >= 0.5) & (p <= 0.9)
    found = BinnedError(UniformBins(10), region=(0.5, 0.9))(y, p, sample_weight=w)
    expected = BinnedError(UniformBins(10))(y[inside], p[inside], sample_weight=w[inside])
    assert found == pytest.approx(expected)
    same = BinnedError(UniformBins(10), region=lambda q: (q >= 0.5) & (q <= 0.9))
    assert same(y, p, sample_weight=w) == pytest.approx(expected)


def test_region_of_a_classwise_problem_is_taken_for_each_class():
    y, p = simplex(200, 3)
    found = BinnedError(UniformBins(5), region=(0.2, 1))(y, p, lens="classwise")
    each = [
        BinnedError(UniformBins(5))((y == k)[p[:, k] >= 0.2], p[p[:, k] >= 0.2, k])
        for k in range(3)
    ]
    assert found == pytest.approx(np.mean(each))


@pytest.mark.parametrize("debias", [False, True])
def test_functions_and_objects_agree(debias):
    y, p, w = oracles.random_rows("weighted", 200)
    for strategy, bins in (("uniform", UniformBins(8)), ("quantile", QuantileBins(8))):
        found = expected_calibration_error(
            y, p, n_bins=8, strategy=strategy, norm=2, debias=debias, sample_weight=w
        )
        assert found == BinnedError(bins, norm=2, debias=debias)(y, p, sample_weight=w)
    largest = maximum_calibration_error(y, p, n_bins=8, sample_weight=w)
    assert largest == BinnedError(UniformBins(8), norm="max")(y, p, sample_weight=w)
    assert largest == expected_calibration_error(y, p, n_bins=8, norm="max", sample_weight=w)


def test_few_rows_a_bin_are_warned_about():
    with pytest.warns(VeridicalWarning, match=r"BinnedError: 1\.0 rows a bin on average"):
        BinnedError(UniformBins(10))([0, 1], [0.1, 0.9])


def test_frequency_weights_are_rows_when_rows_a_bin_are_counted():
    y, p, counts = [0, 1] * 3, np.repeat([0.2, 0.5, 0.8], 2), np.array([80, 20, 50, 50, 20, 80])
    error = BinnedError(UniformBins(10))
    found = error(y, p, sample_weight=counts, weight_type="frequency")  # 100 rows a bin: no doubt
    assert found == pytest.approx(error(np.repeat(y, counts), np.repeat(p, counts)), abs=1e-12)


# --- every bin alike, and figures that are mostly noise


@pytest.mark.parametrize("norm", [1, 2, 3.5])
@pytest.mark.parametrize("kind", ["plain", "tied", "weighted"])
def test_every_bin_alike_is_the_plain_mean_over_bins(norm, kind):
    y, p, w = oracles.random_rows(kind)
    bins = uniform(p, 7)
    cells = oracles.bin_means(y, p, bins, w)
    gaps = [abs(cell["mean_y"] - cell["mean_p"]) for cell in cells]
    expected = (sum(gap**norm for gap in gaps) / len(gaps)) ** (1 / norm)
    error = BinnedError(UniformBins(7), norm=norm, average="bins")
    assert error(y, p, sample_weight=w) == pytest.approx(expected)


def test_adaptive_calibration_error_is_the_mean_over_classes_and_ranges():
    """Nixon et al. (2019), section 3: 1 / (K R) times the sum of gaps of equal-mass ranges."""
    rng = np.random.default_rng(4)
    p, y, gaps = rng.dirichlet(np.ones(3), 90), rng.integers(0, 3, 90), []
    for k in range(3):
        for part in np.split(np.argsort(p[:, k]), 6):
            gaps.append(abs((y[part] == k).mean() - p[part, k].mean()))
    error = BinnedError(QuantileBins(6), average="bins")
    assert error(y, p, lens="classwise") == pytest.approx(np.mean(gaps))
    assert (error.name, error.definition) == ("ACE", "6 equal-mass bins, every bin alike")


def test_cells_alike_and_their_null_level():
    rng = np.random.default_rng(5)
    p, y = rng.dirichlet(np.ones(3), 300), rng.integers(0, 3, 300)
    cells = VarianceSplitBins(60).fit(MulticlassSample(y=y, p=p, classes=(0, 1, 2))).assign(p)
    gaps = [
        np.abs(np.eye(3)[y[cells == c]].mean(axis=0) - p[cells == c].mean(axis=0)).sum() / 2
        for c in np.unique(cells)
    ]
    error = BinnedError(VarianceSplitBins(60), average="bins")
    assert error(y, p, lens="canonical") == pytest.approx(np.mean(gaps))
    level = null_level(error, y, p, lens="canonical", n_resamples=20, rng=0)
    assert level.estimate == pytest.approx(np.mean(gaps))
    with pytest.raises(InvalidInputError, match="hard-binned error of norm 1, 2 or max"):
        bootstrap_interval(BinnedError(average="bins"), y, p)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("lens", "what"), [("canonical", "cell"), ("confidence", "bin")])
def test_a_maximum_of_few_rows_is_called_noise(lens, what):
    y = [0] * 48 + [1] * 6 + [2] * 6 + [2] * 3
    p = [[0.8, 0.1, 0.1]] * 60 + [[0.3, 0.6, 0.1]] * 3
    message = f"the largest gap is that of a {what} of 3 rows: the figure is mostly noise"
    with pytest.warns(VeridicalWarning, match=message):
        maximum_calibration_error(y, p, lens=lens, n_bins=10)
    maximum_calibration_error(y * 4, p * 4, lens=lens, n_bins=10)


@pytest.mark.filterwarnings("error")
def test_cells_of_few_rows_are_called_noise():
    rng = np.random.default_rng(7)
    p, y = rng.dirichlet(np.ones(3), 700), rng.integers(0, 3, 700)
    with pytest.warns(VeridicalWarning, match="% of the rows are in cells of fewer than 10"):
        BinnedError(SimplexBins(15))(y, p, lens="canonical")
    BinnedError(SimplexBins(3))(y, p, lens="canonical")
    expected_calibration_error(y, p)
