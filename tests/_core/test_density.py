"""Densities of scores against sums over rows, their mass, and rules for the bandwidth."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm

from veridical._core.numeric.density import (
    KERNELS,
    RULES,
    SMALLEST,
    ScoreDensity,
    choose_bandwidth,
    diffusion_time,
    grid_mass,
    score_density,
)
from veridical._core.sample import BinarySample


def sample(p, y=None, w=None, weight_type="importance"):
    y = np.zeros(len(p), dtype=int) if y is None else y
    return BinarySample(y=y, p=np.asarray(p), weight=w, weight_type=weight_type)


def rows(n, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.beta(0.7, 0.5, n)
    return p, (rng.random(n) < p**1.5).astype(int), rng.gamma(1.0, size=n)


def kernel_at(name, distance, h):
    """The kernel written out with its textbook constant, standard deviation h."""
    u = np.abs(distance) / h
    if name == "gaussian":
        return np.exp(-(u**2) / 2) / (h * math.sqrt(2 * math.pi))
    if name == "triweight":  # variance 1/9 on [-1, 1]
        return np.where(u < 3, 35 / 32 * np.clip(1 - (u / 3) ** 2, 0, None) ** 3, 0) / (3 * h)
    a = 1 / math.sqrt(1 - 8 / math.pi**2)  # cosine: variance 1 - 8/pi^2 on [-1, 1]
    return np.where(u < a, math.pi / 4 * np.cos(math.pi / 2 * u / a), 0) / (a * h)


def by_rows(p, y, w, grid, name, h, low=0.0, high=1.0):
    """Sum over rows, and over four mirror images of each to either side."""
    density, joint = np.zeros(len(grid)), np.zeros(len(grid))
    length = high - low
    for pi, yi, wi in zip(p, y, w / w.sum(), strict=True):
        for m in range(-4, 5):
            for image in (pi + 2 * m * length, 2 * low - pi + 2 * m * length):
                value = wi * kernel_at(name, grid - image, h)
                density += value
                joint += yi * value
    return density, joint


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("h", [0.02, 0.1, 0.6])
def test_density_is_the_sum_of_mirrored_kernels(name, h):
    p, y, w = rows(40)
    found = score_density(sample(p, y, w), bandwidth=h, kernel=name, n_grid=1 << 14)
    density, joint = by_rows(p, y, w, found.grid, name, h)
    # The cosine has a corner at its ends, where sharing a row between two points shows.
    close = {"rtol": 0, "atol": (3e-4 if name == "cosine" else 3e-6) * density.max()}
    np.testing.assert_allclose(found.density, density, **close)
    np.testing.assert_allclose(found.joint, joint, **close)


def test_density_can_be_mirrored_at_another_place():
    p, y, w = rows(60)
    p = 0.25 + 0.75 * p
    found = score_density(
        sample(p, y, w), bandwidth=0.1, kernel="triweight", n_grid=4096, support=(0.25, 1.0)
    )
    density, _ = by_rows(p, y, w, found.grid, "triweight", 0.1, low=0.25)
    assert (found.grid[0], found.grid[-1]) == (0.25, 1.0)
    np.testing.assert_allclose(found.density, density, rtol=0, atol=1e-5)
    assert found.quadrature @ found.density == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("h", [1e-4, 0.003, 0.05, 1.0])
def test_mass_is_one_whatever_the_bandwidth(name, h):
    for p in (rows(50)[0], np.zeros(3), np.ones(3), np.array([0.0, 1.0, 0.5])):
        found = score_density(sample(p), bandwidth=h, kernel=name, n_grid=256)
        assert found.quadrature @ found.density == pytest.approx(1, abs=1e-12)
        assert found.density.min() >= 0


@pytest.mark.parametrize("name", KERNELS)
def test_bandwidth_is_the_standard_deviation_of_the_kernel(name):
    found = score_density(sample([0.5]), bandwidth=0.05, kernel=name, n_grid=1 << 14)
    moments = [found.quadrature @ (found.density * found.grid**k) for k in (1, 2)]
    assert moments[0] == pytest.approx(0.5, abs=1e-12)
    assert math.sqrt(moments[1] - moments[0] ** 2) == pytest.approx(0.05, rel=2e-4)


def test_joint_density_is_at_most_the_density():
    p, y, w = rows(80)
    found = score_density(sample(p, y, w), bandwidth="silverman", kernel="cosine", n_grid=512)
    assert (found.joint <= found.density).all()
    assert found.quadrature @ found.joint == pytest.approx((w * y).sum() / w.sum(), abs=1e-12)


def test_frequency_is_missing_where_nothing_is():
    found = score_density(
        sample([0.2, 0.8], np.array([0, 1])), bandwidth=0.01, kernel="triweight", n_grid=1024
    )
    frequency = found.frequency
    assert np.isnan(frequency[np.abs(found.grid - 0.5) < 0.2]).all()
    assert frequency[np.abs(found.grid - 0.2).argmin()] == 0
    assert frequency[np.abs(found.grid - 0.8).argmin()] == 1


def test_narrow_kernels_get_a_finer_grid():
    p = rows(30)[0]
    coarse = score_density(sample(p), bandwidth=0.2, kernel="triweight", n_grid=256)
    fine = score_density(sample(p), bandwidth=0.01, kernel="triweight", n_grid=256)
    assert len(coarse.grid) == 257
    assert 32 <= 0.01 * (len(fine.grid) - 1) < 64


def test_scores_on_grid_points_stay_there_and_others_are_shared():
    mass = grid_mass(sample([0.0, 0.25, 0.3125, 1.0], np.array([0, 1, 1, 0])), 4)
    np.testing.assert_allclose(mass[0], [0.25, 0, 0, 0, 0.25])
    np.testing.assert_allclose(mass[1], [0, 0.25 + 0.75 / 4, 0.25 / 4, 0, 0])


def test_rules_give_the_values_of_kdepy():
    """KDEpy 1.1, doctests of `silvermans_rule` and `scotts_rule` for 0, 1, ..., 8."""
    scores = sample(np.arange(9) / 8)
    assert 8 * choose_bandwidth(scores, "silverman") == pytest.approx(1.8692607078355594)
    assert 8 * choose_bandwidth(scores, "scott") == pytest.approx(1.76474568962182)


@pytest.mark.parametrize("n", [2, 3, 10, 61, 400])
def test_silverman_takes_the_smaller_of_two_spreads(n):
    p = rows(n, seed=n)[0]
    for scores in (p, p**8):
        low, high = np.quantile(scores, [0.25, 0.75])
        spread = min(np.std(scores, ddof=1), (high - low) / (norm.ppf(0.75) - norm.ppf(0.25)))
        expected = (4 / 3) ** 0.2 * spread * n**-0.2
        assert choose_bandwidth(sample(scores), "silverman") == pytest.approx(
            max(expected, SMALLEST)
        )


@pytest.mark.parametrize("rule", RULES)
def test_frequency_weights_equal_repetition(rule):
    p, _, _ = rows(200)
    times = np.random.default_rng(1).integers(1, 4, len(p))
    weighted = sample(p, w=times.astype(float), weight_type="frequency")
    repeated = sample(np.repeat(p, times))
    expected = choose_bandwidth(repeated, rule)
    assert choose_bandwidth(weighted, rule) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("rule", RULES)
def test_importance_weights_are_scale_free_and_order_free(rule):
    p, _, w = rows(200)
    expected = choose_bandwidth(sample(p, w=w), rule)
    moved = np.random.default_rng(2).permutation(len(p))
    for weight in (w, 0.1 * w, 1e6 * w):
        found = choose_bandwidth(sample(p[moved], w=weight[moved]), rule)
        assert found == pytest.approx(expected, rel=1e-11)
    for constant in (0.1, 3.0):
        found = choose_bandwidth(sample(p, w=np.full(len(p), constant)), rule)
        assert found == pytest.approx(choose_bandwidth(sample(p), rule), rel=1e-11)


@pytest.mark.parametrize("rule", RULES)
def test_equal_scores_get_the_smallest_bandwidth(rule):
    for p in ([0.3], [0.3] * 7, [0.1] * 10):
        assert choose_bandwidth(sample(p), rule) == SMALLEST


def test_the_deviation_stands_in_if_the_middle_half_is_equal():
    p = np.r_[0.1, np.full(10, 0.5), 0.9]
    expected = np.std(p, ddof=1) * (0.75 * len(p)) ** -0.2
    assert choose_bandwidth(sample(p), "silverman") == pytest.approx(expected)


def test_diffusion_time_is_that_of_the_authors_program():
    """KDEpy 1.1, doctests of `_fixed_point`: Botev's MATLAB code, coefficients not yet halved."""
    for pilot, size, top, expected in (
        (0.01, 50, 51, 0.0099076220293967618515),
        (0.07, 25, 11, 0.068342291525717486795),
    ):
        numbers = np.arange(1.0, top)
        found = pilot - diffusion_time(pilot, size, numbers, numbers / 4)
        assert found == pytest.approx(expected, rel=1e-13)


def test_improved_sheather_jones_finds_the_best_bandwidth_for_two_peaks():
    """Two normal peaks, as quantiles: within 5 % of the minimiser of the asymptotic error.

    Silverman's rule, made for one peak, gives ten times as much.
    """
    n, peaks = 100_000, ((0.3, 0.03), (0.8, 0.02))
    levels = (np.arange(n) + 0.5) / n
    scores = sample(np.concatenate([norm.ppf(levels, mean, sd) for mean, sd in peaks]))
    x = np.linspace(0, 1, 200_001)
    curvature = sum(
        0.5 * norm.pdf(x, mean, sd) * (((x - mean) / sd) ** 2 - 1) / sd**2 for mean, sd in peaks
    )
    best = (2 * math.sqrt(math.pi) * 2 * n * np.trapezoid(curvature**2, x)) ** -0.2
    assert choose_bandwidth(scores, "isj") == pytest.approx(best, rel=0.05)
    assert choose_bandwidth(scores, "silverman") > 9 * best


def test_improved_sheather_jones_falls_back_where_it_has_no_answer():
    flat = sample((np.arange(1000) + 0.5) / 1000)
    assert choose_bandwidth(flat, "isj") == choose_bandwidth(flat, "silverman")


def test_quadrature_is_trapezoidal_on_uneven_points_too():
    grid = np.array([0.0, 0.1, 0.4, 1.0])
    found = ScoreDensity(grid, np.ones(4), np.zeros(4), 0.1)
    np.testing.assert_allclose(found.quadrature @ grid**2, np.trapezoid(grid**2, grid))
