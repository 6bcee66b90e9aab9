"""Errors found in other packages, which must not be made here.

Each test is named after what goes wrong there; the comment says where and with what number.
"""

from __future__ import annotations

import numpy as np
import pytest

from veridical import (
    BinnedError,
    InvalidInputError,
    QuantileBins,
    UniformBins,
    classwise_calibration_error,
    expected_calibration_error,
    maximum_calibration_error,
    reliability_curve,
    summarise,
)
from veridical._core.sample import BinarySample

# Toy data: fewer than ten rows decide the largest gap, which a warning says.
pytestmark = pytest.mark.filterwarnings("ignore:.*mostly noise:veridical.VeridicalWarning")


@pytest.fixture
def three_classes():
    rng = np.random.default_rng(0)
    p = rng.dirichlet([0.7, 0.7, 0.7], 300)
    return np.array([rng.choice(3, p=row) for row in p]), p


@pytest.mark.parametrize("n_bins", [6, 14, 24, 28, 29, 49, *range(1, 30)])
def test_certain_and_always_wrong_has_error_one(n_bins):
    # PyCalib: last edge 0.9999999999999999 for 6, 14, ... bins loses the rows (error 0); with 49
    # bins there are 50 edges (error 2).
    y, p = [0] * 80, np.ones(80)
    assert expected_calibration_error(y, p, n_bins=n_bins) == 1.0
    assert maximum_calibration_error(y, p, n_bins=n_bins) == 1.0
    certain = np.tile([0.0, 1.0, 0.0], (80, 1))
    assert expected_calibration_error(y, certain, n_bins=n_bins, lens="confidence") == 1.0
    assert expected_calibration_error(y, certain, n_bins=n_bins, lens="canonical") == 1.0
    assert classwise_calibration_error(y, certain, n_bins=n_bins) == pytest.approx(2 / 3)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_probability_of_exactly_one_has_no_bin_of_its_own(dtype):
    # torchmetrics and relplot put 1.0 into a phantom bin after the last one: 0.525 here.
    y, p = [1, 0] * 10, np.array([0.95, 1.0] * 10, dtype=dtype)
    found = expected_calibration_error(y, p, n_bins=10)
    assert found == pytest.approx(0.975 - 0.5, abs=1e-7)
    assert len(reliability_curve(y, p, n_bins=10)) == 1


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_probability_of_exactly_zero_is_not_lost(dtype):
    # calzone drops scores of 0; MAPIE gives them a bin of their own.
    y, p = [1, 0] * 10, np.array([0.0, 0.1] * 10, dtype=dtype)
    assert expected_calibration_error(y, p, n_bins=10) == pytest.approx(0.45, abs=1e-7)
    assert reliability_curve(y, p, n_bins=10).count.tolist() == [20]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_hundredths_are_counted_exactly_for_every_number_of_bins(dtype):
    # ceil(p B) and floor(p / (1 / B)) put some k/100 into the wrong bin (0.3 / 0.1 = 2.99...96).
    k = np.arange(101)
    p = (k / 100).astype(dtype)
    sample = BinarySample(y=np.zeros(101, int), p=p)
    for n_bins in range(1, 101):
        right = np.maximum(-(-k * n_bins // 100) - 1, 0)  # ceil(k B / 100) - 1 in integers
        assert UniformBins(n_bins).fit(sample).assign(p).tolist() == right.tolist()
        left = np.minimum(k * n_bins // 100, n_bins - 1)
        found = UniformBins(n_bins, closed="left").fit(sample).assign(p)
        assert found.tolist() == left.tolist()


def test_classes_that_did_not_occur_keep_their_column(three_classes):
    # netcal raises; probmetrics and dirichletcal take the classes that occur for all there are.
    y, p = three_classes
    q = np.column_stack([p, np.zeros((300, 2))])  # classes 3 and 4 are never predicted nor seen
    expected = classwise_calibration_error(y, p, n_bins=10)
    assert classwise_calibration_error(y, q, n_bins=10) == pytest.approx(3 / 5 * expected)
    found = expected_calibration_error(y, q, n_bins=10)
    assert found == pytest.approx(expected_calibration_error(y, p, n_bins=10))
    two = np.minimum(y, 1)  # the third class is predicted but does not occur
    gap = np.abs(np.bincount(two, minlength=3) / 300 - p.mean(axis=0))
    assert classwise_calibration_error(two, p, n_bins=1) == pytest.approx(gap.mean())


def test_swapped_arguments_raise():
    # relplot takes (f, y) without looking: a plausible number comes out.
    rng = np.random.default_rng(0)
    p = rng.random(100)
    y = (rng.random(100) < p).astype(int)
    for function in (expected_calibration_error, maximum_calibration_error, reliability_curve):
        with pytest.raises(InvalidInputError, match="the arguments look swapped"):
            function(p, y)


def test_swapped_matrices_raise(three_classes):
    y, p = three_classes
    with pytest.raises(InvalidInputError, match="`y_true` must be a 1-d array of labels"):
        expected_calibration_error(p, y)


def test_text_labels_give_the_number_of_integer_labels(three_classes):
    # PyCalib compares text with column numbers: .587 instead of .067.
    y, p = three_classes
    for names in (np.array(["a", "b", "c"]), np.array(["1", "10", "2"]), np.array([5, 7, 9])):
        for lens in ("confidence", "classwise", "canonical"):
            expected = expected_calibration_error(y, p, n_bins=5, lens=lens)
            assert expected_calibration_error(names[y], p, n_bins=5, lens=lens) == expected


def test_class_numbers_are_not_taken_for_indicators(three_classes):
    # uu-sml/calibration broadcasts 1-d class numbers against the matrix: .282 instead of .043.
    y, p = three_classes
    by_hand = 0.0
    cells = np.minimum(np.ceil(p * 10).astype(int), 10)
    for cell in np.unique(cells, axis=0):
        own = (cells == cell).all(axis=1)
        by_hand += (
            np.abs(np.eye(3)[y[own]].mean(axis=0) - p[own].mean(axis=0)).sum() / 2 * own.mean()
        )
    found = BinnedError(UniformBins(10))(y, p, lens="canonical")
    assert found == pytest.approx(by_hand, rel=1e-9)


def test_indicator_rows_are_refused_with_the_way_out(three_classes):
    y, p = three_classes
    with pytest.raises(InvalidInputError, match=r"y\.argmax\(axis=1\)"):
        expected_calibration_error(np.eye(3, dtype=int)[y], p)


def test_the_last_equal_mass_bin_is_not_dropped():
    # A popular snippet loses the rows beyond the last whole bin.
    p = np.arange(1, 104) / 104
    y = np.zeros(103, int)
    curve = reliability_curve(y, p, binning=QuantileBins(10))
    assert curve.count.sum() == 103
    assert len(curve) == 10
    found = BinnedError(QuantileBins(10))(y, p)
    assert found == pytest.approx(p.mean())  # nothing ever happens: the gap is the prediction


@pytest.mark.parametrize("n_bins", [2, 5, 10])
def test_a_score_on_a_bin_centre_belongs_wholly_to_that_bin(n_bins):
    # explicalib swaps the two shares, so a centre gives everything to its neighbour, and the first
    # centre (0.1 of five bins) everything to the last bin.
    for index in range(n_bins):
        p = np.array([(index + 0.5) / n_bins])
        summary = summarise(
            BinarySample(y=np.array([1]), p=p), UniformBins(n_bins), assignment="linear"
        )
        assert summary.count[0] == pytest.approx(np.eye(n_bins)[index], abs=1e-9)


def test_support_is_used_for_edges_and_membership_alike():
    # explicalib makes edges on [1/K, 1] but assigns on [0, 1]: 0.5 is in bin 5 instead of 2.
    bins = UniformBins(10, support=(1 / 3, 1))
    p = np.array([0.5])
    assert bins.fit(BinarySample(y=np.array([1]), p=p)).assign(p).tolist() == [2]


@pytest.mark.parametrize("value", [1.7, -0.2, np.nan, np.inf])
def test_values_that_are_no_probabilities_raise(value):
    # relplot returns 0.70 for p = 1.7; scikit-learn's calibration_curve passes NaN on.
    for function in (expected_calibration_error, reliability_curve):
        with pytest.raises(InvalidInputError, match="`y_prob` must be"):
            function([0, 1], [0.5, value])


def test_many_rows_are_counted_beyond_single_precision():
    # torchmetrics counts in float32, which stops at 2^24: 0 instead of .25.
    found = expected_calibration_error([0, 1, 0, 1], [0.75] * 4, n_bins=1, sample_weight=[1e7] * 4)
    assert found == pytest.approx(0.25, abs=1e-12)


def test_the_binary_error_is_not_that_of_the_confidence():
    # A source of repeated confusion: torchmetrics #1105, netcal #25.
    rng = np.random.default_rng(1)
    p = rng.random(2000)
    y = (rng.random(2000) < 0.5).astype(int)
    binary = expected_calibration_error(y, p)
    confidence = expected_calibration_error(y, p, lens="confidence")
    assert binary == pytest.approx(0.25, abs=0.03)  # E|p - 1/2| over all bins
    assert abs(binary - confidence) > 1e-3


@pytest.mark.parametrize("n_bins", [3, 10, 15])
def test_equal_scores_are_not_split_between_bins(n_bins):
    # kyle's and PyCalib's quantile edges make bins of zero width when scores repeat.
    p = np.repeat([0.2, 0.4, 0.6, 0.8], 30)
    y = np.tile([0, 1, 1], 40)
    curve = reliability_curve(y, p, binning=QuantileBins(n_bins))
    assert (curve.upper > curve.lower).all()
    assert curve.count.sum() == 120
    assert set((curve.count % 30).tolist()) == {0.0}
