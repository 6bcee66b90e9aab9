"""Single precision and double precision agree, down to the bin."""

from __future__ import annotations

import numpy as np
import pytest

import veridical

# Toy data: fewer than ten rows decide the largest gap, which a warning says.
pytestmark = pytest.mark.filterwarnings("ignore:.*mostly noise:veridical.VeridicalWarning")

DTYPES = [np.float32, np.float64]


def test_single_precision_is_close_to_double(metric, data):
    single = metric(data.y, data.p.astype(np.float32), sample_weight=data.w.astype(np.float32))
    double = metric.of(data, weighted=True)
    np.testing.assert_allclose(single, double, rtol=2e-5, atol=2e-6)


def test_half_precision_is_read_as_single(border_metric, data):
    half = data.p.astype(np.float16)
    given = border_metric(data.y, half)
    np.testing.assert_array_equal(given, border_metric(data.y, half.astype(np.float32)))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("closed", ["right", "left"])
def test_hundredths_are_in_the_bin_exact_arithmetic_puts_them_in(dtype, closed):
    """j/100 is in bin ceil(j B / 100), or floor(...) + 1 if closed on the left; by integers."""
    j = np.arange(101)
    p = (j / 100).astype(dtype)
    y = j % 2
    for n_bins in range(1, 101):
        curve = veridical.reliability_curve(
            y, p, binning=veridical.UniformBins(n_bins, closed=closed), interval=None
        )
        exact = -(-j * n_bins // 100) if closed == "right" else j * n_bins // 100 + 1
        expected = np.bincount(exact.clip(1, n_bins) - 1, minlength=n_bins)
        np.testing.assert_array_equal(curve.count, expected[expected > 0])
        np.testing.assert_allclose(
            curve.lower, np.flatnonzero(expected) / n_bins, rtol=0, atol=1e-15
        )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n_bins", [1, 2, 3, 7, 10, 15, 20, 25, 50])
def test_matrix_columns_are_binned_like_vectors(dtype, n_bins):
    """The classwise path bins a whole matrix at once; it must use the same edges."""
    j = np.tile(np.arange(101), 3)
    hundredths = np.column_stack([(100 - j) // 2, (100 - j) - (100 - j) // 2, j])
    p, y = (hundredths / 100).astype(dtype), np.arange(len(j)) % 3
    one_by_one = [
        veridical.maximum_calibration_error(y, p, n_bins=n_bins, lens=veridical.ClassSpecific(k))
        for k in range(3)
    ]
    whole = veridical.classwise_calibration_error(y, p, n_bins=n_bins, norm="max")
    np.testing.assert_allclose(whole, max(one_by_one), rtol=1e-12)
