"""What binned errors read on average, compared with what is true."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.polynomial.legendre import leggauss

from veridical import BinnedError, QuantileBins, UniformBins, expected_calibration_error, summarise
from veridical._core.sample import BinarySample
from veridical.miscalibration._errors.binned import powered_gaps

pytestmark = pytest.mark.filterwarnings("ignore::veridical.VeridicalWarning")

# True frequency at prediction p, for uniformly distributed predictions.
MODELS = {
    "calibrated": lambda p: p,
    "overconfident": lambda p: 0.5 + 0.6 * (p - 0.5),
    "over-forecasting": lambda p: p**1.5,
}


def draw(rng, n, model):
    p = rng.random(n)
    return (rng.random(n) < MODELS[model](p)).astype(int), p


def expected_plug_in(n, n_bins):
    """Exact expected ECE of calibrated, uniformly distributed predictions.

    The sum S of y - p over a bin has E|S| = 2/pi * integral of (1 - Re phi(t)^n) / t^2, where phi
    is the characteristic function of one row's contribution (zero outside the bin).
    """
    nodes, weights = leggauss(24)
    t = np.linspace(0, 200, 8001)[1:]
    total = 0.0
    for b in range(n_bins):
        p = (b + (nodes + 1) / 2) / n_bins
        phi = np.zeros(len(t), dtype=complex)
        for value, weight in zip(p, weights / 2, strict=True):
            phi += weight * (
                value * np.exp(1j * t * (1 - value)) + (1 - value) * np.exp(-1j * t * value)
            )
        row = 1 - 1 / n_bins + phi / n_bins
        integrand = (1 - (row**n).real) / t**2
        start = n * np.sum(weights / 2 * p * (1 - p)) / n_bins / 2  # its limit at zero
        integral = np.trapezoid(np.append(start, integrand), np.append(0, t))
        tail = (1 - (1 - 1 / n_bins) ** n) / t[-1]
        total += 2 / math.pi * (integral + tail)
    return total / n


def test_plug_in_error_of_a_calibrated_model_is_not_zero():
    expected = expected_plug_in(200, 15)
    assert expected == pytest.approx(0.086, abs=0.001)
    rng = np.random.default_rng(0)
    found = [expected_calibration_error(*draw(rng, 200, "calibrated")) for _ in range(600)]
    standard_error = np.std(found) / math.sqrt(len(found))
    assert abs(np.mean(found) - expected) < 4 * standard_error
    assert np.mean(np.array(found) > 0.03) > 0.99  # hardly ever near zero


def test_plug_in_error_of_a_calibrated_model_falls_with_the_root_of_the_rows():
    # normal approximation: E|S| = sqrt(2 n v / (pi B)) in each bin, and the mean of sqrt(p (1 - p))
    # over a uniform p is pi / 8
    for n in (1000, 4000):
        approximate = math.sqrt(2 / math.pi) * math.sqrt(15 / n) * math.pi / 8
        assert expected_plug_in(n, 15) == pytest.approx(approximate, rel=0.02)


def fixed_bin_error(model, norm, n_bins=15):
    p = (np.arange(n_bins * 4000) + 0.5) / (n_bins * 4000)
    gaps = (MODELS[model](p) - p).reshape(n_bins, -1).mean(axis=1)
    return np.mean(np.abs(gaps) ** norm) ** (1 / norm)


def biases(n, norm, model, repetitions=300):
    """Bias of the plug-in and of the debiased error, and the noise of their difference."""
    rng = np.random.default_rng([n, norm])
    plain, debiased = BinnedError(norm=norm), BinnedError(norm=norm, debias=True)
    pairs = []
    for _ in range(repetitions):
        y, p = draw(rng, n, model)
        pairs.append((plain(y, p), debiased(y, p)))
    noise = np.std(np.diff(pairs, axis=1)) / math.sqrt(repetitions)
    return *(np.mean(pairs, axis=0) - fixed_bin_error(model, norm)), noise


@pytest.mark.parametrize("n", [200, 1000])
@pytest.mark.parametrize(
    ("norm", "model"),
    [
        (norm, model)
        for norm in (1, 2)
        for model in MODELS
        if (norm, model) != (1, "over-forecasting")
    ],
)
def test_debiased_errors_are_less_biased(n, norm, model):
    plain, debiased, noise = biases(n, norm, model)
    assert abs(debiased) + 4 * noise < abs(plain)


def test_the_correction_of_norm_one_overshoots_a_little_where_there_is_no_bias():
    """With gaps of about two standard deviations the plug-in error is nearly unbiased."""
    plain, debiased, _ = biases(1000, 1, "over-forecasting")
    assert abs(plain) < 0.003
    assert -0.01 < debiased < 0


def squared_debiased(y, p, binning):
    """Debiased mean square before it is cut at zero."""
    s = summarise(BinarySample(y=y, p=p), binning)
    mean_y = np.where(s.occupied, s.mean_y, 0.0)
    gap = np.abs(mean_y - np.where(s.occupied, s.mean_p, 0.0))
    return float(powered_gaps(gap, s.share, s.size, 2, mean_y * (1 - mean_y))[0])


@pytest.mark.parametrize("shift", [0.0, 0.1])
@pytest.mark.parametrize("rows", [2, 10])
def test_debiased_square_is_unbiased_for_fixed_predictions_in_each_bin(shift, rows):
    rng = np.random.default_rng(rows)
    centres = (np.arange(10) + 0.5) / 10
    p = np.repeat(centres, rows)
    frequency = np.clip(p + shift, 0, 1)
    truth = np.mean((np.clip(centres + shift, 0, 1) - centres) ** 2)
    found = []
    for _ in range(1500):
        y = (rng.random(len(p)) < frequency).astype(int)
        found.append(squared_debiased(y, p, UniformBins(10)))
    standard_error = np.std(found) / math.sqrt(len(found))
    assert abs(np.mean(found) - truth) < 4 * standard_error
    if shift == 0:
        assert min(found) < 0  # unbiased at zero means negative now and then


@pytest.mark.parametrize("binning", [UniformBins(15), QuantileBins(15)])
def test_bias_shrinks_as_rows_are_added(binning):
    rng = np.random.default_rng(1)
    means = []
    for n in (100, 400, 1600):
        found = [BinnedError(binning)(*draw(rng, n, "calibrated")) for _ in range(100)]
        means.append(np.mean(found))
    assert means[0] > 1.5 * means[1] > 2.25 * means[2]
