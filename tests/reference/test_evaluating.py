"""Examples of Vaicenavicius et al. (2019), "Evaluating model calibration in classification".

arXiv 1902.06977 ("002" in the documentation). Known conditional distributions enter as weights.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, special
from scipy.stats import norm

from veridical import (
    BinnedError,
    ClassSpecific,
    Grouped,
    SimplexBins,
    TopK,
    UniformBins,
    VeridicalWarning,
    classwise_calibration_error,
    expected_calibration_error,
)

TABLE_1 = [
    ((0.1, 0.3, 0.6), (0.2, 0.2, 0.6)),
    ((0.1, 0.6, 0.3), (0.0, 0.7, 0.3)),
    ((0.3, 0.1, 0.6), (0.2, 0.2, 0.6)),
    ((0.3, 0.6, 0.1), (0.4, 0.5, 0.1)),
    ((0.6, 0.1, 0.3), (0.7, 0.0, 0.3)),
    ((0.6, 0.3, 0.1), (0.5, 0.4, 0.1)),
]
TABLE_2 = [((0.6, 0.1, 0.3), (0.7, 0.2, 0.1)), ((0.4, 0.6, 0.0), (0.3, 0.5, 0.2))]


def population(table):
    """Every prediction with every class, weighted by the true probability of the class."""
    y = np.tile([1, 2, 3], len(table))
    p = np.repeat([prediction for prediction, _ in table], 3, axis=0)
    return y, p, np.concatenate([truth for _, truth in table])


def error(table, lens, n_bins=10):
    y, p, w = population(table)
    return expected_calibration_error(y, p, lens=lens, n_bins=n_bins, sample_weight=w)


def test_example_1_looks_calibrated_through_every_lens_but_the_canonical():
    assert error(TABLE_1, "confidence") == pytest.approx(0, abs=1e-12)
    y, p, w = population(TABLE_1)
    assert classwise_calibration_error(y, p, n_bins=10, sample_weight=w) == pytest.approx(
        0, abs=1e-12
    )
    deviation = [sum(abs(a - b) for a, b in zip(*row, strict=True)) / 2 for row in TABLE_1]
    assert deviation == pytest.approx([0.1] * 6)
    assert error(TABLE_1, "canonical") == pytest.approx(0.1, abs=1e-12)


def test_example_1_looks_calibrated_through_the_two_largest_predictions_too():
    # sorted, every prediction is (.6, .3, .1); the truth of each second largest:
    second = [0.2, 0.3, 0.2, 0.4, 0.3, 0.4]
    assert sum(second) / 6 == pytest.approx(0.3)
    assert error(TABLE_1, TopK(1)) == pytest.approx(0, abs=1e-12)
    assert error(TABLE_1, TopK(2)) == pytest.approx(0, abs=1e-12)


@pytest.mark.filterwarnings("ignore::veridical.VeridicalWarning")
def test_example_3_is_confidence_calibrated_without_calibrated_marginals():
    assert error(TABLE_2, "confidence") == pytest.approx(0, abs=1e-12)
    for label, expected in ((1, 0.1), (2, 0.1), (3, 0.2)):
        assert error(TABLE_2, ClassSpecific(label)) == pytest.approx(expected, abs=1e-12)
    assert error(TABLE_2, "classwise") == pytest.approx((0.1 + 0.1 + 0.2) / 3, abs=1e-12)
    assert error(TABLE_2, "canonical") == pytest.approx(0.2, abs=1e-12)
    # classes 1 and 2 together against 3: predicted .3 and 0, true .1 and .2
    assert error(TABLE_2, Grouped([[1, 2], [3]])) == pytest.approx(0.2, abs=1e-12)


def test_example_5_one_row_in_one_bin():
    bins = BinnedError(SimplexBins(1))
    with pytest.warns(VeridicalWarning, match="rows a bin"):
        assert bins([0], [[1.0, 0.0, 0.0]], lens="canonical") == 0.0
    with pytest.warns(VeridicalWarning, match="rows a bin"):
        assert BinnedError(UniformBins(1))([1], [0.5]) == 0.5


# Section 5.1: Y is -1 or 1 with probability one half, X | Y ~ N(Y, 1); the uncalibrated model
# gives class -1 the probability 1 / (1 + exp(-(1 + x))), while the truth is 1 / (1 + exp(2 x)).


def density(x):
    return (norm.pdf(x, -1) + norm.pdf(x, 1)) / 2


def model(x):
    """Predicted probability of the larger label, 1."""
    return special.expit(-(1 + x))


def truth(x):
    return special.expit(2 * x)


def deviation(x):
    return (truth(x) - model(x)) * density(x)


def confidence_deviation(x):
    """At confidence c two inputs meet: x, which predicts -1, and -2 - x, which predicts 1."""
    other = -2 - x
    c = 1 - model(x)
    return (1 - truth(x) - c) * density(x) + (truth(other) - c) * density(other)


def fixed_bin_limit(n_bins):
    """Limit of the binned estimate for ever more data (Theorem 2), by integration over bins."""
    with np.errstate(divide="ignore"):
        edges = np.clip(-special.logit(np.arange(n_bins, -1, -1) / n_bins) - 1, -12, 12)
    return sum(abs(integrate.quad(deviation, a, b)[0]) for a, b in pairwise(sorted(edges)))


@pytest.fixture(scope="module")
def grid():
    x = np.linspace(-9, 9, 200_001)
    y = np.repeat([-1, 1], len(x))
    w = np.concatenate([density(x) * (1 - truth(x)), density(x) * truth(x)])
    return y, np.tile(model(x), 2), w


def test_expected_miscalibration_of_the_uncalibrated_model():
    binary = integrate.quad(lambda x: abs(deviation(x)), -12, 12, points=[-1 / 3], limit=200)[0]
    assert binary == pytest.approx(0.563751, abs=5e-7)  # "approximately 0.56"
    confidence = integrate.quad(lambda x: abs(confidence_deviation(x)), -1, 14, limit=400)[0]
    assert confidence == pytest.approx(0.500346, abs=5e-7)


@pytest.mark.parametrize(("n_bins", "golden"), [(10, 0.558357), (100, 0.563749)])
def test_error_of_the_whole_population_is_the_fixed_bin_limit(grid, n_bins, golden):
    y, p, w = grid
    assert fixed_bin_limit(n_bins) == pytest.approx(golden, abs=5e-7)
    found = expected_calibration_error(y, p, n_bins=n_bins, sample_weight=w)
    assert found == pytest.approx(golden, abs=1e-5)
    other = expected_calibration_error(y, 1 - p, n_bins=n_bins, sample_weight=w, pos_label=-1)
    assert other == pytest.approx(golden, abs=1e-5)


def test_fine_bins_reach_the_expected_miscalibration(grid):
    y, p, w = grid
    fine = BinnedError(UniformBins(1000))
    assert fine(y, p, sample_weight=w) == pytest.approx(0.563751, abs=1e-5)
    assert fine(y, p, sample_weight=w, lens="confidence") == pytest.approx(0.500346, abs=1e-5)


def test_the_limit_rises_with_nested_bins_but_never_above_the_truth(grid):
    y, p, w = grid
    limits = [fixed_bin_limit(n) for n in (1, 2, 10, 20, 100)]
    assert limits == sorted(limits)
    assert limits[-1] < 0.563751 + 5e-7
    found = [expected_calibration_error(y, p, n_bins=n, sample_weight=w) for n in (1, 2, 10, 20)]
    assert found == pytest.approx(limits[:4], abs=1e-5)


@pytest.mark.filterwarnings("ignore::veridical.VeridicalWarning")
@pytest.mark.parametrize("n", [100, 300, 1000])
def test_small_samples_read_above_the_limit_on_average(n):
    rng = np.random.default_rng(n)
    found = []
    for _ in range(100):
        y = rng.choice([-1, 1], n)
        found.append(expected_calibration_error(y, model(rng.normal(y, 1.0)), n_bins=100))
    standard_error = np.std(found) / np.sqrt(len(found))
    assert np.mean(found) - 3 * standard_error > fixed_bin_limit(100)


def test_the_perfect_and_the_constant_model_are_calibrated(grid):
    y, _, w = grid
    x = np.tile(np.linspace(-9, 9, 200_001), 2)
    error = BinnedError(UniformBins(10))
    assert error(y, truth(x), sample_weight=w) == pytest.approx(0, abs=1e-9)
    assert error(y, np.full(len(y), 0.5), sample_weight=w) == pytest.approx(0, abs=1e-9)
