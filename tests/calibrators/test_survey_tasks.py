"""Known posteriors: the two- and three-class tasks of the survey, and families with the truth.

Silva Filho et al. (2023), Machine Learning 112, doi 10.1007/s10994-023-06336-7, sections 5.2 and
5.4. A score that is a strictly increasing function of the only feature has the posterior of that
feature, so distances from the truth are integrals, taken here on a fine grid.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from calibrators.multiclass_oracles import three_class_task
from scipy.optimize import minimize
from scipy.special import expit, logit
from scipy.stats import beta, norm
from sklearn.base import clone

from veridical import expected_calibration_error
from veridical.calibrators._logistic.beta import BetaCalibrator
from veridical.calibrators._logistic.platt import PlattCalibrator
from veridical.calibrators._logistic.quadratic import QuadraticCalibrator
from veridical.calibrators._logistic.spline import SplineCalibrator
from veridical.calibrators._softmax.linear import VectorCalibrator
from veridical.calibrators._softmax.temperature import TemperatureCalibrator
from veridical.calibrators._steps.bbq import BBQCalibrator
from veridical.calibrators._steps.density import DensityCalibrator
from veridical.calibrators._steps.histogram import HistogramCalibrator
from veridical.calibrators._steps.isotonic import IsotonicCalibrator
from veridical.calibrators._steps.near_isotonic import NearIsotonicCalibrator
from veridical.calibrators._steps.venn_abers import VennAbersCalibrator
from veridical.calibrators._wrappers.reductions import OneVsRestCalibrator
from veridical.calibrators._wrappers.scaling_binning import ScalingBinningCalibrator

# The second numbers the survey prints are variances: its figure 11 has no room for such deviations.
MEANS = np.array([[4, -72], [-4, 64]])  # of class 0 (the survey's 2) and class 1
DEVIATIONS = np.sqrt([[980, 1024], [960, 1280]])
SLOPES = {"under": 0.01, "over": 0.05}
N = 4000
X = np.linspace(-400, 400, 20_001)
STEP = X[1] - X[0]
MEAN_ABSOLUTE_CHERNOFF = 0.41273655  # Groeneboom & Wellner (2001), doi 10.1198/10618600152627997


def class_densities(x):
    """Density of each class, (2, ...)."""
    return norm.pdf(np.asarray(x)[None, ..., None], MEANS[:, None], DEVIATIONS[:, None]).mean(-1)


F0, F1 = class_densities(X)
MASS = (F0 + F1) / 2 * STEP
ETA = F1 / (F0 + F1)
STRAIGHT = {"platt", "beta", "quadratic", "scaling-binning"}
MAPS = {
    "platt": PlattCalibrator(),
    "beta": BetaCalibrator(),
    "quadratic": QuadraticCalibrator(),
    "spline": SplineCalibrator(),
    "histogram": HistogramCalibrator(),
    "isotonic": IsotonicCalibrator(),
    "centred isotonic": IsotonicCalibrator(centered=True),
    "strict isotonic": IsotonicCalibrator(strict=True),
    "near-isotonic": NearIsotonicCalibrator(),
    "bbq": BBQCalibrator(),
    "scaling-binning": ScalingBinningCalibrator(),
    "venn-abers": VennAbersCalibrator(),
    "density": DensityCalibrator(),
}


def sample(n, seed):
    rng = np.random.default_rng(seed)
    y, half = rng.integers(2, size=(2, n))
    return rng.normal(MEANS[y, half], DEVIATIONS[y, half]), y


def distance(q, eta=ETA, mass=MASS):
    """Mean distance of a map on the grid from the posterior."""
    return float(np.abs(q - eta) @ mass)


def calibration_error(q):
    """E|q - P(1 | q)|: values the map gives to several scores are pooled first."""
    _, level = np.unique(q, return_inverse=True)
    return float(np.abs(np.bincount(level, MASS * (q - ETA))).sum())


def parametric_noise(n_parameters, n):
    """Bound of the mean distance between a fitted map and the best one of its family.

    Twice the excess log loss times n is chi-squared, so the mean excess is k / (2 n), and by
    Pinsker's inequality the mean distance is at most the root of half the excess. Four times the
    mean excess leaves room for luck.
    """
    return 2 * math.sqrt(n_parameters / (4 * n))


def best_of_family(features, start, bounds=None, eta=ETA, mass=MASS):
    """The map of least population log loss among logit q = features . theta."""

    def loss(theta):
        z = features @ theta
        return mass @ (np.logaddexp(0, z) - eta * z), features.T @ (mass * (expit(z) - eta))

    found = minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B", tol=1e-14)
    return expit(features @ found.x)


def isotonic_noise(n):
    """Asymptotic mean distance of isotonic regression, of order n^(-1/3).

    Brunk (1970): n^(1/3) (g - eta) has the law of (4 eta (1 - eta) eta' / f)^(1/3) Z, Z being
    Chernoff's variable.
    """
    density = MASS / STEP
    slope = np.maximum(np.gradient(ETA, X), 0)
    local = np.cbrt(4 * ETA * (1 - ETA) * slope / density)
    return MEAN_ABSOLUTE_CHERNOFF * float(local @ MASS) / n ** (1 / 3)


def within_bins(n_bins, share=None):
    """Mean distance of the posterior from its mean in each of so many bins, by default of mass."""
    share = MASS.cumsum() if share is None else share
    bins = np.minimum((share * n_bins).astype(int), n_bins - 1)
    means = np.bincount(bins, MASS * ETA) / np.bincount(bins, MASS)
    return distance(means[bins]), means


def bin_noise(n_bins, n):
    """Mean distance of frequencies of bins from their expectations: normal, each of n / B rows."""
    _, means = within_bins(n_bins)
    return float(np.sqrt(2 / np.pi * means * (1 - means) * n_bins / n).mean())


def best_straight(slope):
    z = slope * X
    return distance(best_of_family(np.column_stack([np.ones_like(z), z]), [0.0, 1.0]))


def best_beta(slope):
    z = slope * X
    features = np.column_stack([np.ones_like(z), -np.logaddexp(0, -z), np.logaddexp(0, z)])
    return distance(best_of_family(features, [0.0, 1.0, 1.0], [(None, None), (0, None), (0, None)]))


def bounds_of(name, slope):
    """Largest distance from the posterior and largest calibration error the theory leaves room for.

    For one-to-one maps both are the same number.
    """
    if name == "platt":
        distant = best_straight(slope) + parametric_noise(2, N)
    elif name == "beta":
        distant = best_beta(slope) + parametric_noise(3, N)
    elif name == "quadratic":  # a parabola through a nearly odd function bends little
        distant = best_straight(slope) + parametric_noise(3, N)
    elif name == "scaling-binning":  # half of the rows fit the line
        wrong = best_straight(slope) + parametric_noise(2, N / 2)
        return wrong + within_bins(10)[0], wrong
    elif name == "histogram":
        noise = 1.5 * bin_noise(10, N)
        return within_bins(10)[0] + noise, noise
    elif name == "density":  # its kernel reaches about 0.2 to both sides: like five equal widths
        distant = within_bins(5, expit(slope * X))[0] + bin_noise(5, N)
    elif name in ("bbq", "spline"):
        # No worse than the best histogram of a given number of bins, and half as much again.
        counts = range(4, 60)
        distant = 1.5 * min(within_bins(b)[0] + bin_noise(b, N) for b in counts)
    else:
        distant = 1.5 * isotonic_noise(N)
    return distant, distant


@pytest.mark.parametrize(
    ("model", "class_1", "confidence"),
    [("under", 0.112160, 0.105531), ("over", 0.120627, 0.120249)],
)
def test_true_errors_of_the_uncalibrated_models(model, class_1, confidence):
    """Integrals on the grid, and what estimators read on many rows."""
    p = expit(SLOPES[model] * X)
    assert distance(p) == pytest.approx(class_1, abs=2e-6)
    # x and -x have the same confidence: P(right | confidence) mixes both.
    right = np.where(X > 0, ETA, 1 - ETA) * MASS
    pooled = (right + right[::-1])[X > 0]
    mass = (MASS + MASS[::-1])[X > 0]
    exact = np.abs(p[X > 0] * mass - pooled).sum()
    assert exact == pytest.approx(confidence, abs=2e-6)
    x, y = sample(400_000, 1)
    p = expit(SLOPES[model] * x)
    # 50 bins of a curve with few sign changes; the noise of a mean of 400,000 rows is 0.0008.
    assert expected_calibration_error(y, p, n_bins=50) == pytest.approx(class_1, abs=0.0025)
    found = expected_calibration_error(y, p, n_bins=50, lens="confidence")
    assert found == pytest.approx(confidence, abs=0.0025)


@pytest.mark.parametrize("model", SLOPES)
@pytest.mark.parametrize("name", MAPS)
def test_posteriors_are_approached_as_theory_allows(name, model):
    slope = SLOPES[model]
    x, y = sample(N, 2)
    fitted = clone(MAPS[name]).fit(expit(slope * x), y)
    q = fitted.predict_proba(expit(slope * X))[:, 1]
    distant, wrong = bounds_of(name, slope)
    assert distance(q) <= distant
    assert calibration_error(q) <= wrong
    # The best line in log odds halves the distance, the noise of 4,000 rows takes some of it back.
    factor = 1.5 if name in STRAIGHT else 1.8 if name == "density" else 2
    assert distance(q) < distance(expit(slope * X)) / factor


def test_the_best_line_halves_the_distance_and_the_scale_of_log_odds_does_not_matter():
    """Premise of the factor above; the survey's figure 15 has lines in probabilities instead."""
    assert best_straight(0.01) == pytest.approx(best_straight(0.05), rel=1e-3)
    assert best_straight(0.05) < 0.112160 / 1.9


@pytest.mark.parametrize("name", ["isotonic", "venn-abers", "near-isotonic"])
def test_monotone_maps_converge_like_the_cube_root(name):
    """64 times the rows, a quarter of the distance; 3 leaves room for luck."""
    found = []
    for n in (500, 32_000):
        x, y = sample(n, 3)
        fitted = clone(MAPS[name]).fit(expit(0.05 * x), y)
        found.append(distance(fitted.predict_proba(expit(0.05 * X))[:, 1]))
    assert found[1] < found[0] / 3
    assert found[1] == pytest.approx(isotonic_noise(32_000), rel=0.3)


@pytest.mark.parametrize("n", [400, 6400, 102_400])
@pytest.mark.parametrize("name", ["platt", "beta", "quadratic"])
def test_two_normal_classes_of_equal_variance_are_in_the_family(name, n):
    """Means -1 and 1, deviation 1: log odds 2 x; predicted are 5 x - 1."""
    rng = np.random.default_rng(4)
    y = rng.integers(2, size=n)
    x = rng.normal(2 * y - 1, 1)
    fitted = clone(MAPS[name]).fit(expit(5 * x - 1), y)
    grid = np.linspace(-6, 6, 4001)
    mass = (norm.pdf(grid, -1) + norm.pdf(grid, 1)) / 2 * (grid[1] - grid[0])
    q = fitted.predict_proba(expit(5 * grid - 1))[:, 1]
    k = 2 if name == "platt" else 3
    assert distance(q, expit(2 * grid), mass) < parametric_noise(k, n)


@pytest.mark.parametrize("n", [1000, 64_000])
def test_beta_distributed_scores_have_the_parameters_of_the_two_laws(n):
    """Beta(4, 2) and Beta(2, 3): a = 4 - 2, b = 3 - 2, c = ln B(2, 3) / B(4, 2) = ln(20 / 12)."""
    rng = np.random.default_rng(5)
    y = rng.integers(2, size=n)
    s = np.where(y == 1, rng.beta(4, 2, n), rng.beta(2, 3, n))
    fitted = BetaCalibrator(penalty=None).fit(s, y)
    grid = (np.arange(4000) + 0.5) / 4000
    mass = (beta.pdf(grid, 4, 2) + beta.pdf(grid, 2, 3)) / 2 / 4000
    truth = expit(2 * np.log(grid) - np.log1p(-grid) + math.log(5 / 3))
    features = np.column_stack([np.log(grid), -np.log1p(-grid), np.ones(4000)])
    information = (features * (mass * truth * (1 - truth))[:, None]).T @ features
    error = np.sqrt(np.diag(np.linalg.inv(information)) / n)
    found = np.array([fitted.a_, fitted.b_, fitted.c_])
    assert (np.abs(found - [2, 1, math.log(5 / 3)]) < 3.5 * error).all()
    q = fitted.predict_proba(grid)[:, 1]
    assert distance(q, truth, mass) < parametric_noise(3, n)


@pytest.mark.parametrize("n", [2000, 32_000])
@pytest.mark.parametrize(
    ("maker", "shift", "k"),
    [(TemperatureCalibrator, [0, 0, 0], 1), (VectorCalibrator, [0.5, 0, -0.5], 5)],
)
def test_three_classes_within_the_family(maker, shift, k, n):
    y, posterior = three_class_task(n + 20_000, seed=6)
    z = 2 * np.log(np.maximum(posterior, 1e-12)) + shift
    fitted = maker(input="logit").fit(z[:n], y[:n])
    found = fitted.predict_proba(z[n:])
    # Pinsker's inequality bounds the total variation, as it did for two classes.
    assert np.abs(found - posterior[n:]).sum(axis=1).mean() / 2 < parametric_noise(k, n)


@pytest.mark.parametrize("n", [2000, 32_000])
def test_three_classes_each_with_a_scale_of_its_own(n):
    """Log odds of each class stretched and shifted: one Platt map a class undoes it exactly."""
    y, posterior = three_class_task(n + 20_000, seed=7)
    stretch, shift = np.array([3.0, 0.5, 1.5]), np.array([-1.0, 2.0, 0.0])
    scores = stretch * logit(np.clip(posterior, 1e-6, 1 - 1e-6)) + shift
    part = PlattCalibrator(input="score")
    fitted = OneVsRestCalibrator(part, input="score").fit(scores[:n], y[:n])
    found = fitted.predict_proba(scores[n:])
    # Each of three maps may err as a map alone does.
    assert np.abs(found - posterior[n:]).sum(axis=1).mean() / 2 < 3 * parametric_noise(2, n)
