"""Intervals of the figures of an evaluation: a small sample of evidence/intervals.py.

Bounds are 2.5 % and four standard errors of a binomial share.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import expit, logit

from veridical._core.sample import BinarySample
from veridical.evaluation._data.source import SampleSource
from veridical.evaluation._figures.limits import figure_limits
from veridical.inference import paired_difference
from veridical.inference.core import recalibration_line
from veridical.inference.intervals import rows_of, unbinned_limits
from veridical.lenses import Binary
from veridical.miscalibration import BinnedError, CumulativeError, LoessError, SmoothError

REPETITIONS = 80
MOST = 0.025 + 4 * math.sqrt(0.025 * 0.975 / REPETITIONS)


def missed(limits, truth, draw, seed):
    """Shares of samples whose upper limit is below the truth, and whose lower one is above."""
    rng = np.random.default_rng(seed)
    found = [limits(draw(rng)) for _ in range(REPETITIONS)]
    low, high = np.array([each for each in found if each is not None]).T
    return np.mean(high < truth - 1e-9), np.mean(low > truth + 1e-9)


def calibrated(n, clusters=None):
    def draw(rng):
        p = rng.beta(0.6, 4, n)
        y = (rng.random(n) < p).astype(int)
        return BinarySample(y=y, p=p, clusters=clusters)

    return draw


def area_of_population():
    p = np.sort(np.random.default_rng(0).beta(0.6, 4, 400_000))
    below = np.cumsum(1 - p) - (1 - p) / 2
    return float(p @ below / (p.sum() * (1 - p).sum()))


def of_figure(name):
    def limits(sample):
        source = SampleSource(sample, Binary())
        area = source.areas[0]
        return None if area is None else figure_limits(source, area, 0.95).get(name)

    return limits


@pytest.mark.parametrize("n", [30, 200])
@pytest.mark.parametrize(
    ("name", "truth"),
    [
        ("AUC", area_of_population()),
        ("observed/expected", 1.0),
        ("calibration in the large", 0.0),
        ("brier miscalibration", 0.0),
        # Variance of Beta(0.6, 4).
        ("brier discrimination", 0.6 * 4 / (4.6**2 * 5.6)),
    ],
)
def test_limits_of_figures_hold_with_few_events(name, truth, n):
    assert max(missed(of_figure(name), truth, calibrated(n), seed=n)) <= MOST


@pytest.mark.parametrize("slope", [0.25, 0.5])
def test_a_right_level_is_not_doubted_where_the_slope_is_wrong(slope):
    """Uniform predictions: by symmetry the intercept of slope 1 is 0; rows differ in weight."""

    def draw(rng):
        p = rng.random(500)
        y = (rng.random(500) < expit(slope * logit(p))).astype(int)
        return BinarySample(y=y, p=p, weight=np.where(rng.random(500) < 0.05, 20.0, 1.0))

    def limits(sample):
        level = recalibration_line(sample, 0.95).in_the_large
        return level.low, level.high

    assert max(missed(limits, 0.0, draw, seed=3)) <= MOST


def test_clusters_are_taken_into_account():
    """Twenty clusters whose outcomes all say the same: four hundred rows are as good as twenty."""

    def draw(rng):
        p = np.repeat(rng.random(20), 20)
        y = np.repeat((rng.random(20) < p[::20]).astype(int), 20)
        return BinarySample(y=y, p=p, clusters=np.repeat(np.arange(20), 20))

    assert max(missed(of_figure("calibration in the large"), 0.0, draw, seed=4)) <= MOST


def test_the_standard_error_of_squared_differences_is_right_where_models_are_calibrated():
    """Two models that know different halves of what decides the outcome."""
    rng = np.random.default_rng(5)
    nodes, weight = np.polynomial.hermite_e.hermegauss(15)
    estimates, errors = [], []
    for _ in range(200):
        x = rng.normal(size=(2, 500))
        y = (rng.random(500) < expit(1.2 * x.sum(axis=0))).astype(int)
        p, q = (expit(1.2 * (each[:, None] + nodes)) @ weight / weight.sum() for each in x)
        found = paired_difference(BinnedError(norm=2), y, p, q)
        estimates.append(found.estimate)
        errors.append(found.width / 2 / 1.959964)
    ratio = np.mean(errors) / np.std(estimates)
    assert 0.85 < ratio < 1.35  # 1.13; it was 1.6


UNBINNED = [
    CumulativeError(),
    CumulativeError("kuiper"),
    SmoothError(),
    LoessError(),
    LoessError("p90"),
]


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("estimator", UNBINNED, ids=lambda e: e.name)
def test_limits_of_errors_without_bins_hold_at_calibration_and_away_from_it(estimator, clustered):
    """Predictions 0.2 and 0.7, right or 0.15 too low: an error of 0 or 0.15 in every sense.

    Clusters of five rows with one prediction, whose outcomes are all the same.
    """

    def limits(sample):
        return unbinned_limits(estimator, rows_of(sample), 0.95)

    for gap in (0.0, 0.15):

        def draw(rng, gap=gap):
            size = 5 if clustered else 1
            p = rng.choice([0.2, 0.7], 40)
            y = (rng.random(40) < p + gap).astype(int)
            clusters = np.repeat(np.arange(40), size) if clustered else None
            return BinarySample(y=np.repeat(y, size), p=np.repeat(p, size), clusters=clusters)

        assert max(missed(limits, gap, draw, seed=6)) <= MOST
