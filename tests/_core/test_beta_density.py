"""Beta kernels against the densities of scipy at every place, and what is known of them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import beta

from veridical._core.numeric.beta_density import (
    BETA_KERNELS,
    WIDEST,
    BetaSmoother,
    arcsine_places,
    beta_score_density,
    resolve_beta_bandwidth,
)
from veridical._core.numeric.density import RULES, choose_bandwidth
from veridical._core.sample import BinarySample


def rows(n, seed=0, shape=(0.7, 0.5)):
    rng = np.random.default_rng(seed)
    p = rng.beta(*shape, n)
    y = (rng.random(n) < p**1.5).astype(int)
    return BinarySample(y=y, p=p, weight=rng.gamma(1.0, size=n))


def rho(x, b):
    return 2 * b**2 + 2.5 - math.sqrt(4 * b**4 + 6 * b**2 + 2.25 - x**2 - x / b)


def parameters(kernel, x, b):
    """Chen (1999), his first and second estimator."""
    if kernel == "beta":
        return x / b + 1, (1 - x) / b + 1
    return (
        rho(x, b) if x < 2 * b else x / b,
        rho(1 - x, b) if x > 1 - 2 * b else (1 - x) / b,
    )


def by_rows(sample, places, kernel, b):
    """Density of all and of positive rows, not divided by the mass."""
    weight = sample.weight / sample.weight.sum()
    heights = np.array([beta.pdf(sample.p, *parameters(kernel, x, b)) for x in places])
    return heights @ weight, heights @ (weight * sample.y)


@pytest.mark.parametrize("kernel", BETA_KERNELS)
@pytest.mark.parametrize("h", [0.03, 0.25])
@pytest.mark.parametrize("shape", [(2.0, 2.0), (0.3, 0.3)])
def test_density_is_the_sum_over_rows(kernel, h, shape):
    sample = rows(100, shape=shape)
    found = beta_score_density(sample, bandwidth=h, kernel=kernel)
    density, joint = by_rows(sample, found.grid, kernel, 4 * h**2)
    total = np.trapezoid(density, found.grid)
    for ours, direct in ((found.density, density), (found.joint, joint)):
        assert np.trapezoid(np.abs(ours - direct / total), found.grid) < 1e-4
    error = np.abs(joint - found.grid * density)
    expected = np.trapezoid(error, found.grid) / total
    gap = np.abs(found.joint - found.grid * found.density)
    assert found.quadrature @ gap == pytest.approx(expected, abs=3e-6)


@pytest.mark.parametrize("kernel", BETA_KERNELS)
def test_density_on_another_support_is_that_of_stretched_scores(kernel):
    sample = rows(100)
    moved = BinarySample(y=sample.y, p=0.25 + 0.75 * sample.p, weight=sample.weight)
    plain = beta_score_density(sample, bandwidth=0.08, kernel=kernel)
    found = beta_score_density(moved, bandwidth=0.06, kernel=kernel, support=(0.25, 1.0))
    np.testing.assert_allclose(found.grid, 0.25 + 0.75 * plain.grid, atol=1e-15)
    np.testing.assert_allclose(found.density * 0.75, plain.density, rtol=1e-9, atol=1e-12)
    assert found.quadrature @ found.density == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("kernel", BETA_KERNELS)
@pytest.mark.parametrize("h", [0.05, 0.25, 1.0])
def test_mass_is_one_whatever_the_bandwidth(kernel, h):
    for p in (rows(50).p, np.zeros(3), np.ones(3), np.array([0.0, 1.0, 0.5])):
        sample = BinarySample(y=np.arange(len(p)) % 2, p=p)
        found = beta_score_density(sample, bandwidth=h, kernel=kernel)
        assert found.quadrature @ found.density == pytest.approx(1, abs=1e-12)
        assert found.density.min() >= 0
        assert (found.joint <= found.density).all()


@pytest.mark.parametrize("kernel", BETA_KERNELS)
def test_bandwidth_is_the_standard_deviation_at_the_middle(kernel):
    """b / 4 of the variance is 1/4 of Chen's first order; the rest is of the order b."""
    h = 0.03
    smoother = BetaSmoother(4 * h**2, kernel)
    height = smoother.heights(np.array([0.5]))[0]
    moments = [np.trapezoid(height * smoother.nodes**k, smoother.nodes) for k in range(3)]
    assert moments[0] == pytest.approx(1, abs=1e-4)
    assert moments[1] == pytest.approx(0.5, abs=1e-4)
    assert math.sqrt(moments[2] - moments[1] ** 2) == pytest.approx(h, rel=0.01)


def test_masses_keep_the_total_and_the_mean():
    sample = rows(300)
    smoother = BetaSmoother(0.01, "beta")
    mass = smoother.mass(sample)
    weight = sample.weight / sample.weight.sum()
    assert mass.sum() == pytest.approx(1, abs=1e-12)
    assert mass[1].sum() == pytest.approx(weight @ sample.y, abs=1e-12)
    assert mass.sum(axis=0) @ smoother.nodes == pytest.approx(weight @ sample.p, abs=1e-12)
    at_nodes = BinarySample(y=np.zeros(3, dtype=int), p=np.array([0.0, 0.5, 1.0]))
    assert np.flatnonzero(smoother.mass(at_nodes)[0]).tolist() == [
        0,
        len(smoother.nodes) // 2,
        len(smoother.nodes) - 1,
    ]


def test_places_are_symmetric():
    places = arcsine_places(64)
    np.testing.assert_array_equal(places + places[::-1], 1.0)
    assert (np.diff(places) > 0).all()
    np.testing.assert_allclose(places, np.sin(np.pi * np.arange(65) / 128) ** 2, atol=1e-15)


@pytest.mark.parametrize("rule", RULES)
def test_rules_hold_at_the_mean_score(rule):
    sample = rows(500, shape=(0.5, 3.0))
    mean = sample.weight @ sample.p / sample.weight.sum()
    found = resolve_beta_bandwidth(sample, rule)
    b = 4 * found**2
    assert b * mean * (1 - mean) == pytest.approx(choose_bandwidth(sample, rule) ** 2, rel=1e-12)


@pytest.mark.parametrize("p", [[0.0, 0.0], [1.0], [0.0, 1.0]])
def test_rules_give_at_most_the_widest(p):
    sample = BinarySample(y=np.zeros(len(p), dtype=int), p=np.array(p))
    assert resolve_beta_bandwidth(sample, "silverman") == WIDEST
    assert resolve_beta_bandwidth(sample, 0.7) == WIDEST
