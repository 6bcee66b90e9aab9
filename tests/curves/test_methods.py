"""Isotonic, density and smooth curves against loops and direct sums."""

from __future__ import annotations

import math
from itertools import groupby

import numpy as np
import oracles
import pytest

from veridical import (
    InvalidInputError,
    ReliabilityCurve,
    SmoothError,
    UniformBins,
    reliability_curve as curve_of,
)

METHODS = ("bins", "isotonic", "density", "smooth")


@pytest.mark.parametrize("kind", oracles.KINDS)
def test_an_isotonic_point_is_a_block_of_the_fit(kind):
    y, p, w = oracles.random_rows(kind)
    curve = curve_of(y, p, sample_weight=w, method="isotonic")
    fit = oracles.isotonic(y, p, w)
    mass = oracles.ones(w, len(y))
    rows = sorted(range(len(y)), key=lambda i: p[i])
    blocks = [list(g) for _, g in groupby(rows, key=lambda i: round(fit[i], 9))]
    assert len(curve) == len(blocks)
    for i, block in enumerate(blocks):
        total = sum(mass[j] for j in block)
        assert curve.lower[i] == float(min(p[j] for j in block))
        assert curve.upper[i] == float(max(p[j] for j in block))
        assert curve.count[i] == len(block)
        assert curve.weight[i] == pytest.approx(total)
        assert curve.predicted[i] == pytest.approx(
            sum(mass[j] * float(p[j]) for j in block) / total
        )
        assert curve.observed[i] == pytest.approx(fit[block[0]])
    np.testing.assert_array_equal(curve.gap, curve.observed - curve.predicted)
    assert (np.diff(curve.observed) > 0).all()
    assert (curve.lower[1:] > curve.upper[:-1]).all()


def mirrored_sums(y, p, w, at, shape):
    """Density, and density of positive rows, by adding up all kernels and their images."""
    p = p.astype(float)
    images = np.concatenate([sign * p + 2 * m for m in range(-4, 5) for sign in (1, -1)])
    copies = len(images) // len(p)
    w = np.ones(len(p)) if w is None else w
    height = shape(np.abs(at[:, None] - images))
    return height @ np.tile(w, copies) / w.sum(), height @ np.tile(w * y, copies) / w.sum()


def gaussian(h):
    return lambda u: np.exp(-((u / h) ** 2) / 2) / (h * math.sqrt(2 * math.pi))


def triweight(h):
    return lambda u: 35 / 32 * np.maximum(1 - (u / (3 * h)) ** 2, 0) ** 3 / (3 * h)


@pytest.mark.parametrize("kind", ["plain", "tied", "extreme", "weighted", "tied single weighted"])
@pytest.mark.parametrize("h", [0.03, 0.2])
@pytest.mark.parametrize(
    ("options", "shape"),
    [
        ({"method": "density"}, triweight),
        ({"method": "density", "kernel": "gaussian"}, gaussian),
        ({"method": "smooth"}, gaussian),
    ],
    ids=["triweight", "gaussian", "smooth"],
)
def test_a_curve_on_a_grid_is_the_ratio_of_direct_sums(kind, h, options, shape):
    y, p, w = oracles.random_rows(kind)
    curve = curve_of(y, p, sample_weight=w, bandwidth=h, **options)
    middle = (np.arange(200) + 0.5) / 200
    density, joint = mirrored_sums(y, p, w, middle, shape(h))
    clearly = density > 1.01e-3
    assert set(middle[clearly]) <= set(curve.predicted.tolist())
    assert (density[np.isin(middle, curve.predicted)] > 0.99e-3).all()
    kept = np.isin(curve.predicted, middle[clearly])
    np.testing.assert_allclose(
        curve.observed[kept], joint[clearly] / density[clearly], atol=2e-4, rtol=0
    )
    total = len(y) if w is None else w.sum()
    np.testing.assert_allclose(curve.weight[kept], total * density[clearly] / 200, rtol=2e-3)
    plain, _ = mirrored_sums(y, p, None, curve.predicted, shape(h))
    np.testing.assert_allclose(curve.count, len(y) * plain / 200, atol=2e-4 * len(y))
    np.testing.assert_allclose(curve.upper - curve.lower, 1 / 200)
    np.testing.assert_allclose((curve.upper + curve.lower) / 2, curve.predicted)


def test_cells_with_less_than_a_thousandth_of_the_mean_density_are_left_out():
    y, p, _ = oracles.random_rows("plain")
    p = 0.4 + 0.1 * p
    middle = (np.arange(200) + 0.5) / 200
    density, _ = mirrored_sums(y, p, None, middle, gaussian(0.03))
    assert 40 < (density > 1e-3).sum() < 80
    for options in ({"method": "smooth"}, {"method": "density", "kernel": "gaussian"}):
        curve = curve_of(y, p, bandwidth=0.03, **options)
        np.testing.assert_allclose(curve.predicted, middle[density > 1e-3])


def test_expected_rows_add_up_to_the_rows():
    y, p, w = oracles.random_rows("weighted", 300)
    for method in ("density", "smooth"):
        curve = curve_of(y, p, sample_weight=w, method=method)
        assert curve.count.sum() == pytest.approx(300, rel=1e-3)
        assert curve.weight.sum() == pytest.approx(w.sum(), rel=1e-3)


@pytest.mark.parametrize("kind", ["plain", "tied", "weighted"])
def test_the_fixed_point_is_the_smooth_calibration_error(kind):
    y, p, w = oracles.random_rows(kind, 400)
    error = SmoothError()(y, p, sample_weight=w)
    by_rule = curve_of(y, p, sample_weight=w, method="smooth")
    assert by_rule.definition.endswith(f"bandwidth {error:.4g} (fixed-point)")
    given = curve_of(y, p, sample_weight=w, method="smooth", bandwidth=error)
    np.testing.assert_allclose(by_rule.observed, given.observed, atol=1e-4)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("score", [0.0, 0.5, 1.0])
def test_equal_scores_give_their_frequency(method, score):
    curve = curve_of([0, 1, 1, 1] * 5, np.full(20, score), method=method)
    assert len(curve) >= 1
    np.testing.assert_allclose(curve.observed, 0.75, rtol=1e-9)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("outcome", [0, 1])
def test_one_class_only_is_a_flat_curve(method, outcome):
    y = np.full(30, outcome)
    curve = curve_of(y, np.linspace(0.1, 0.9, 30), labels=[0, 1], method=method)
    np.testing.assert_allclose(curve.observed, outcome, atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_a_single_row_gives_a_curve(method):
    curve = curve_of([1], [0.3], labels=[0, 1], method=method)
    np.testing.assert_allclose(curve.observed, 1.0)


@pytest.mark.parametrize("method", METHODS[1:])
def test_curves_obey_the_laws_of_weights_and_order(method):
    y, p, _ = oracles.random_rows("tied", 90)
    w = np.random.default_rng(5).integers(0, 4, 90)
    options = {"method": method} | ({} if method == "isotonic" else {"bandwidth": 0.1})
    weighted = curve_of(y, p, sample_weight=w, **options)
    repeated = curve_of(np.repeat(y, w), np.repeat(p, w), **options)
    scaled = curve_of(y, p, sample_weight=0.1 * w, **options)
    order = np.random.default_rng(0).permutation(90)
    shuffled = curve_of(y[order], p[order], sample_weight=w[order], **options)
    for other in (repeated, scaled, shuffled):
        np.testing.assert_allclose(other.lower, weighted.lower)
        np.testing.assert_allclose(other.observed, weighted.observed, atol=1e-9)


def test_without_being_asked_only_bins_have_limits():
    y, p, _ = oracles.random_rows("plain")
    assert curve_of(y, p).interval == "wilson"
    for method in METHODS[1:]:
        curve = curve_of(y, p, method=method)
        assert (curve.method, curve.interval, curve.low) == (method, None, None)
        assert curve.n_samples == len(y)


@pytest.mark.parametrize("method", METHODS)
def test_every_curve_survives_json_and_prints(method):
    y, p, _ = oracles.random_rows("plain")
    curve = curve_of(y, p, method=method, interval="consistency", n_resamples=20, rng=0)
    assert ReliabilityCurve.from_json(curve.to_json()) == curve
    lines = str(curve).splitlines()
    assert len(lines) <= 43
    assert "95% consistency" in lines[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "isotonic", "interval": "wilson"}, '`interval` must be "pointwise"'),
        ({"method": "smooth", "interval": "binomial"}, '`interval` must be "pointwise"'),
        ({"interval": "simultaneous"}, 'method="isotonic"'),
        ({"method": "density", "interval": "simultaneous"}, 'method="isotonic"'),
        ({"method": "isotonic", "binning": UniformBins(3)}, "`binning` must be left out"),
        ({"bandwidth": 0.1}, "`bandwidth` must be left out"),
        ({"method": "smooth", "kernel": "gaussian"}, "`kernel` must be left out"),
        ({"method": "density", "kernel": "box"}, "`kernel` must be one of"),
        ({"method": "density", "bandwidth": "fixed-point"}, "`bandwidth` must be one of"),
        ({"method": "smooth", "bandwidth": "isj"}, "`bandwidth` must be one of"),
        ({"method": "smooth", "bandwidth": 0.001}, "from 0.005"),
        ({"method": "density", "bandwidth": math.nan}, "from 0.005"),
        ({"interval": "bootstrap", "n_resamples": 0}, "`n_resamples` must be a positive"),
        ({"interval": "bootstrap", "rng": "seed"}, "`rng` must be a seed"),
        (
            {"method": "isotonic", "interval": "simultaneous", "sample_weight": [1.0, 2.0, 3.0]},
            "`sample_weight` must be left out, or counts",
        ),
    ],
    ids=str,
)
def test_options_that_do_not_go_together_are_refused(options, message):
    with pytest.raises(InvalidInputError, match=message):
        curve_of([0, 1, 0], [0.5, 0.25, 0.25], **options)
