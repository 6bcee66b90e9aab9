"""How often bands of a reliability curve hold the truth."""

from __future__ import annotations

import math

import numpy as np
import pytest

from veridical import reliability_curve


def tolerance(level, repetitions):
    """Four standard deviations of a share of `repetitions` that has mean `level`."""
    return 4 * math.sqrt(level * (1 - level) / repetitions)


@pytest.mark.parametrize("power", [1.0, 1.5], ids=["calibrated", "p^1.5"])
@pytest.mark.parametrize("digits", [2, 16], ids=["tied", "distinct"])
def test_simultaneous_bands_hold_the_whole_curve(power, digits):
    """At least 95 % of the time, for any n: here n = 500, read at 1,001 points."""
    rng = np.random.default_rng([0, digits])
    at = np.linspace(0, 1, 1001)
    repetitions, inside, width = 150, 0, 0.0
    for _ in range(repetitions):
        p = rng.random(500).round(digits)
        y = (rng.random(500) < p**power).astype(int)
        band = reliability_curve(y, p, method="isotonic", interval="simultaneous").at(at)
        inside += bool(((band.low <= at**power) & (at**power <= band.high)).all())
        width += float(np.mean(band.high - band.low)) / repetitions
    assert inside / repetitions > 0.95 - tolerance(0.95, repetitions)
    assert width < 0.55  # wide at n = 500, but not useless


@pytest.mark.parametrize("n", [100, 800])
@pytest.mark.parametrize(
    "truth",
    [lambda q: q, lambda q: q**1.5, lambda q: np.where(q > 0.5, 0.8, 0.2)],
    ids=["calibrated", "p^1.5", "step"],
)
def test_pointwise_limits_hold_each_point_of_an_isotonic_curve(truth, n):
    """At least 95 % of the time at every point, for any n."""
    rng = np.random.default_rng([7, n])
    at = np.array([0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98])
    repetitions, inside = 200, np.zeros(len(at))
    for _ in range(repetitions):
        p = rng.random(n)
        y = (rng.random(n) < truth(p)).astype(int)
        band = reliability_curve(y, p, method="isotonic", interval="pointwise").at(at)
        inside += (band.low <= truth(at)) & (truth(at) <= band.high)
    assert (inside / repetitions > 0.95 - tolerance(0.95, repetitions)).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_bootstrapped_bins_cover_about_as_often_as_they_say(weighted):
    """The percentile bootstrap of a frequency in about 50 rows falls a little short."""
    rng = np.random.default_rng(1)
    repetitions, level, inside = 200, 0.9, 0
    truth = 0.2 + 0.6 * (np.arange(10) + 0.5) / 10
    for _ in range(repetitions):
        p = ((rng.integers(0, 10, 500)) + 0.5) / 10
        y = (rng.random(500) < 0.2 + 0.6 * p).astype(int)
        curve = reliability_curve(
            y,
            p,
            n_bins=10,
            interval="bootstrap",
            confidence_level=level,
            n_resamples=200,
            rng=rng,
            sample_weight=rng.uniform(0.5, 1.5, 500) if weighted else None,
        )
        inside += int(((curve.low <= truth) & (truth <= curve.high)).sum())
    coverage = inside / (10 * repetitions)
    assert level - 0.03 - tolerance(level, 10 * repetitions) < coverage
    assert coverage < level + tolerance(level, 10 * repetitions)


@pytest.mark.parametrize("method", ["density", "smooth"])
def test_bootstrapped_smooth_curves_cover_a_straight_truth_inside(method):
    """Smoothing does not bend a line away from the ends, so only variance is left."""
    rng = np.random.default_rng(2)
    repetitions, level, inside = 100, 0.9, 0
    at = np.array([0.3, 0.5, 0.7])
    for _ in range(repetitions):
        p = rng.random(400)
        y = (rng.random(400) < 0.2 + 0.6 * p).astype(int)
        band = reliability_curve(
            y,
            p,
            method=method,
            bandwidth=0.08,
            interval="bootstrap",
            confidence_level=level,
            n_resamples=100,
            rng=rng,
        ).at(at)
        inside += int(((band.low <= 0.2 + 0.6 * at) & (0.2 + 0.6 * at <= band.high)).sum())
    # Points of one curve depend on each other: the tolerance counts curves.
    assert abs(inside / (3 * repetitions) - level) < tolerance(level, repetitions)


@pytest.mark.parametrize(
    ("shape", "slope"), [((1, 1), 0.5), ((0.3, 0.3), 0.5), ((0.5, 5), 1.5)], ids=str
)
def test_pointwise_limits_of_smooth_curves_hold_wrong_slopes_near_the_ends(shape, slope):
    """Bootstrap limits that count no bias hold 69 to 85 % there; evidence/curves.py has more."""
    rng = np.random.default_rng(11)
    repetitions, level = 60, 0.95
    at = np.quantile(rng.beta(*shape, 100_000), [0.01, 0.05, 0.5, 0.95, 0.99])

    def truth(p):
        return p**slope / (p**slope + (1 - p) ** slope)

    inside = np.zeros(len(at))
    for _ in range(repetitions):
        p = rng.beta(*shape, 400)
        y = (rng.random(400) < truth(p)).astype(int)
        band = reliability_curve(y, p, labels=[0, 1], method="smooth", interval="pointwise").at(at)
        inside += (band.low <= truth(at)) & (truth(at) <= band.high)
    assert (inside / repetitions > level - tolerance(level, repetitions)).all()


@pytest.mark.parametrize("method", ["bins", "isotonic", "density", "smooth"])
def test_consistency_limits_hold_the_curves_of_calibrated_models(method):
    rng = np.random.default_rng(3)
    p = rng.random(400).round(2)
    level, repetitions, inside = 0.9, 80, 0.0
    for _ in range(repetitions):
        y = (rng.random(400) < p).astype(int)
        curve = reliability_curve(
            y,
            p,
            method=method,
            bandwidth=None if method in ("bins", "isotonic") else 0.1,
            interval="consistency",
            confidence_level=level,
            n_resamples=100,
            rng=rng,
        )
        held = (curve.low - 1e-9 <= curve.observed) & (curve.observed <= curve.high + 1e-9)
        inside += float(np.average(held, weights=curve.count)) / repetitions
    # Counts of bins are discrete, so their limits hold a little more.
    assert level - tolerance(level, repetitions) < inside
    assert inside < level + tolerance(level, repetitions)
