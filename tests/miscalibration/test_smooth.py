"""The smooth error against a direct sum over kernels, closed forms and relplot."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import oracles
import pytest

from veridical import ClassSpecific, InvalidInputError
from veridical._core.numeric.density import (
    absolute_integral,
    bin_linearly,
    cosine_spectrum,
    halve_cells,
    smoothed_density,
)
from veridical.miscalibration._errors.smooth import SmoothError

REFERENCE = json.loads(
    (Path(__file__).parents[1] / "reference" / "relplot_smooth.json").read_text(encoding="utf-8")
)


def direct_error(y, p, width, w=None, n_points=8001):
    """Sum of Gaussians at every score and its mirror images, integrated by trapezoids."""
    w, t = oracles.ones(w, len(p)), np.linspace(0, 1, n_points)
    r = np.zeros(n_points)
    for yi, pi, wi in zip(y, map(float, p), w, strict=True):
        for k in range(-math.ceil(4 * width) - 1, math.ceil(4 * width) + 2):
            for centre in (pi + 2 * k, -pi + 2 * k):
                r += wi * (yi - pi) * np.exp(-(((t - centre) / width) ** 2) / 2)
    integral = (np.abs(r).sum() - (abs(r[0]) + abs(r[-1])) / 2) / (n_points - 1)
    return float(integral) / (width * math.sqrt(2 * math.pi) * sum(w))


def direct_fixed_point(y, p, w=None):
    low, high = 0.0, 1.0
    for _ in range(20):
        middle = (low + high) / 2
        if direct_error(y, p, middle, w) > middle:
            low = middle
        else:
            high = middle
    return (low + high) / 2


@pytest.mark.parametrize("kind", oracles.KINDS)
@pytest.mark.parametrize("width", [0.01, 0.07, 0.4, 1.5])
def test_given_bandwidth_gives_the_direct_sum_over_kernels(kind, width):
    y, p, w = oracles.random_rows(kind)
    found = SmoothError(width)(y, p, sample_weight=w)
    assert found == pytest.approx(direct_error(y, p, width, w), abs=5e-6)


@pytest.mark.parametrize("kind", oracles.KINDS)
def test_fixed_point_is_that_of_the_direct_sum(kind):
    y, p, w = oracles.random_rows(kind, n=30)
    found = SmoothError()(y, p, sample_weight=w)
    assert found == pytest.approx(direct_fixed_point(y, p, w), abs=3e-6)


@pytest.mark.parametrize("case", REFERENCE["cases"], ids=lambda case: case["name"])
def test_error_is_that_of_relplot_up_to_its_bisection(case):
    data = REFERENCE["inputs"][case["input"]]
    found = SmoothError(case["settings"]["bandwidth"])(data["y_true"], data["y_prob"])
    assert found == pytest.approx(case["output"], abs=case["tolerance"])


@pytest.mark.parametrize("p", [0.0, 0.3, 0.5, 1.0])
@pytest.mark.parametrize("positive", [0, 3, 20])
@pytest.mark.parametrize("bandwidth", ["fixed-point", 0.05])
def test_one_score_has_the_gap_to_its_frequency(p, positive, bandwidth):
    y = [1] * positive + [0] * (20 - positive)
    found = SmoothError(bandwidth)(y, [p] * 20)
    assert found == pytest.approx(abs(positive / 20 - p), abs=1e-12)


def test_residuals_of_one_sign_have_their_mean_whatever_the_bandwidth():
    p = np.linspace(0.1, 0.9, 30)
    for bandwidth in ("fixed-point", 0.003, 0.2, 30.0):
        assert SmoothError(bandwidth)([1] * 30, p) == pytest.approx((1 - p).mean(), abs=1e-12)


@pytest.mark.parametrize("width", [0.02, 0.1, 0.3, 0.8])
def test_opposite_residuals_at_both_ends_have_their_fourier_series(width):
    terms = (
        (-1) ** (k // 2) * math.exp(-((math.pi * k * width) ** 2) / 2) / k for k in range(1, 200, 2)
    )
    found = SmoothError(width)([1, 0], [0.0, 1.0])
    assert found == pytest.approx(4 / math.pi * sum(terms), abs=1e-5)


def test_frequencies_equal_to_the_scores_have_no_error():
    assert SmoothError()([0, 1, 0, 1], [0, 1, 0, 1]) == 0
    assert SmoothError()([0, 1, 0, 0, 0, 1], [0.5, 0.5, 0.25, 0.25, 0.25, 0.25]) == 0
    assert SmoothError(0.1)([0, 1], [0.5, 0.5]) == 0


def test_bandwidths_may_be_absurd():
    y, p, _ = oracles.random_rows("plain")
    assert SmoothError(1e-320)(y, p) == pytest.approx(np.abs(y - p).mean(), abs=1e-12)
    assert SmoothError(1e300)(y, p) == pytest.approx(abs(np.mean(y - p)), abs=1e-12)


def test_error_falls_with_the_bandwidth_and_meets_it_once():
    y, p, _ = oracles.random_rows("plain", 300)
    errors = [SmoothError(width)(y, p) for width in np.geomspace(1e-3, 3, 30)]
    assert all(b <= a + 1e-6 for a, b in pairwise(errors))
    found = SmoothError()(y, p)
    assert SmoothError(found)(y, p) == pytest.approx(found, abs=1e-9)


@pytest.mark.parametrize("kind", oracles.KINDS)
def test_error_is_between_the_gap_of_means_and_that_of_equal_scores(kind):
    y, p, w = oracles.random_rows(kind)
    w = np.ones(len(y)) if w is None else w
    gaps = [np.dot(w[p == v], y[p == v] - p[p == v].astype(float)) for v in set(p.tolist())]
    found = SmoothError()(y, p, sample_weight=w)
    assert abs(sum(gaps)) / w.sum() - 1e-12 <= found <= np.abs(gaps).sum() / w.sum() + 1e-12


def test_a_finer_grid_changes_little():
    y, p, _ = oracles.random_rows("plain", 2000)
    for bandwidth in ("fixed-point", 0.002, 0.05):
        found = SmoothError(bandwidth)(y, p)
        assert found == pytest.approx(SmoothError(bandwidth, n_grid=2**20)(y, p), abs=1e-5)


@pytest.mark.parametrize("n_grid", [1024, 16384])
def test_errors_below_the_resolution_are_right_to_within_a_cell(n_grid):
    rng = np.random.default_rng(0)
    for scale in (1e-5, 1e-3, 1e-2):
        p = (0.4 + scale * rng.normal(size=5000)).clip(0, 1)
        y = (rng.random(5000) < p).astype(int)
        p = np.where(rng.random(5000) < 0.05, p, y)  # nearly all rows are certain and right
        finest = SmoothError(n_grid=2**20)(y, p)
        assert SmoothError(n_grid=n_grid)(y, p) == pytest.approx(finest, abs=1 / n_grid)


def test_calibrated_predictions_read_what_the_docstring_says():
    rng = np.random.default_rng(1)
    p = rng.random((100, 200))
    found = [SmoothError()((rng.random(200) < row).astype(int), row) for row in p]
    assert 0.047 < np.mean(found) < 0.055


def test_linear_binning_keeps_mass_and_mean_and_nests():
    rng = np.random.default_rng(2)
    p, mass = np.append(rng.random(300), [0.0, 1.0, 0.5]), rng.normal(size=303)
    fine = bin_linearly(p, mass, 4096)
    assert fine.sum() == pytest.approx(mass.sum())
    assert fine @ np.linspace(0, 1, 4097) == pytest.approx(mass @ p)
    np.testing.assert_allclose(halve_cells(fine), bin_linearly(p, mass, 2048), atol=1e-13)


def test_smoothing_keeps_mass_and_does_nothing_in_the_limit():
    nodes = np.random.default_rng(3).random(1025)
    spectrum = cosine_spectrum(nodes)
    for width in (1e-9, 0.01, 0.5, 50.0):
        smooth = smoothed_density(spectrum, width)
        assert absolute_integral(smooth) == pytest.approx(nodes.sum())
    sharp = smoothed_density(spectrum, 1e-9) / 1024
    np.testing.assert_allclose(sharp[1:-1], nodes[1:-1], atol=1e-9)
    np.testing.assert_allclose(sharp[[0, -1]], 2 * nodes[[0, -1]], atol=1e-9)


@pytest.mark.parametrize("estimator", [SmoothError(), SmoothError(0.03)])
def test_weights_and_row_order_obey_the_laws(estimator, binary):
    y, p, w = binary.y, binary.p, binary.w
    rng = np.random.default_rng(4)
    times, order = rng.integers(0, 4, len(y)), rng.permutation(len(y))
    weighted = estimator(y, p, sample_weight=w)
    assert estimator(y, p, sample_weight=np.ones(len(y))) == pytest.approx(
        estimator(y, p), abs=1e-12
    )
    assert estimator(y, p, sample_weight=9 * w) == pytest.approx(weighted, abs=1e-12)
    assert estimator(y[order], p[order], sample_weight=w[order]) == pytest.approx(
        weighted, abs=1e-12
    )
    for weight_type in ("importance", "frequency"):
        assert estimator(y, p, sample_weight=times, weight_type=weight_type) == pytest.approx(
            estimator(np.repeat(y, times), np.repeat(p, times)), abs=1e-12
        )


def test_single_precision_is_as_good(binary):
    found = SmoothError()(binary.y, binary.p.astype(np.float32))
    assert found == pytest.approx(SmoothError()(binary.y, binary.p), abs=1e-6)


def test_classwise_is_the_mean_over_classes_and_vectors_are_refused(multiclass):
    y, p, w = multiclass.y, multiclass.p, multiclass.w
    each = [SmoothError()(y, p, lens=ClassSpecific(k), sample_weight=w) for k in range(3)]
    found = SmoothError()(y, p, lens="classwise", sample_weight=w)
    assert found == pytest.approx(np.mean(each), abs=1e-12)
    with pytest.raises(InvalidInputError, match="SmoothError: `lens`"):
        SmoothError()(y, p, lens="canonical")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bandwidth": "auto"}, "`bandwidth` must be a positive number"),
        ({"bandwidth": 0}, "`bandwidth` must be a positive number"),
        ({"bandwidth": -0.1}, "`bandwidth` must be a positive number"),
        ({"bandwidth": True}, "`bandwidth` must be a positive number"),
        ({"bandwidth": None}, "`bandwidth` must be a positive number"),
        ({"bandwidth": math.nan}, "`bandwidth` must be a positive number"),
        ({"bandwidth": math.inf}, "`bandwidth` must be a positive number"),
        ({"n_grid": 512}, "`n_grid` must be a power of two"),
        ({"n_grid": 3000}, "`n_grid` must be a power of two"),
        ({"n_grid": 4096.0}, "`n_grid` must be a power of two"),
        ({"n_grid": "fine"}, "`n_grid` must be a power of two"),
    ],
    ids=str,
)
def test_options_that_make_no_sense_are_refused_at_once(options, message):
    with pytest.raises(InvalidInputError, match=message):
        SmoothError(**options)


def test_the_definition_says_kernel_and_bandwidth():
    assert SmoothError().name == "smECE"
    assert "bandwidth equal to the error" in SmoothError().definition
    assert "bandwidth 0.05" in SmoothError(0.05).definition
    assert SmoothError() == SmoothError("fixed-point")
