"""Density errors: against sums over rows, on tasks whose true error is known, and their laws."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import beta, norm

from veridical import (
    ClassSpecific,
    InvalidInputError,
    VeridicalWarning,
    local_calibration_error,
    reliability_curve,
)
from veridical.miscalibration._errors.density import DensityError

NORMS = [1, 2, 3.5, "max"]
CLOSE = {"rel": 1e-12, "abs": 1e-12}


def rows(n=300, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.beta(0.8, 0.6, n)
    return (rng.random(n) < 0.1 + 0.7 * p**1.5).astype(int), p, rng.gamma(1.0, size=n)


def stratified(components, posterior, n):
    """Quantiles of each equally likely component, twice: each outcome weighs its probability."""
    levels = (np.arange(n) + 0.5) / n
    x = np.concatenate([norm.ppf(levels, mean, sd) for mean, sd in components])
    eta = posterior(x)
    y = np.repeat([1, 0], len(x))
    return y, np.concatenate([x, x]), np.concatenate([eta, 1 - eta])


def true_error(components, posterior, score):
    def gap(x):
        density = np.mean([norm.pdf(x, mean, sd) for mean, sd in components])
        return density * abs(posterior(x) - score(x))

    low = min(mean - 12 * sd for mean, sd in components)
    high = max(mean + 12 * sd for mean, sd in components)
    return quad(gap, low, high, limit=500, points=[-100, -40, 0, 40, 100] if low < -200 else None)[
        0
    ]


def naive(y, p, w, norm_, h):
    """Triweight densities by sums over rows on 4096 steps, then the definition."""
    s = np.linspace(0, 1, 4097)
    f, g = np.zeros(4097), np.zeros(4097)
    for yi, pi, wi in zip(y, p, w / w.sum(), strict=True):
        for image in (pi, -pi, 2 - pi):
            u = np.abs(s - image) / (3 * h)
            value = wi * np.where(u < 1, 35 / (96 * h) * (1 - u**2) ** 3, 0)
            f, g = f + value, g + yi * value
    if norm_ == "max":
        held = f >= 0.01
        return np.abs(g[held] / f[held] - s[held]).max()
    held = f > 1e-9
    terms = np.zeros(4097)
    terms[held] = f[held] * np.abs(g[held] / f[held] - s[held]) ** norm_
    return np.trapezoid(terms, s) ** (1 / norm_)


@pytest.mark.parametrize("norm_", NORMS)
@pytest.mark.parametrize("h", [0.02, 0.08, 0.3])
def test_error_is_that_of_sums_over_rows(norm_, h):
    y, p, w = rows()
    found = DensityError(bandwidth=h, norm=norm_)(y, p, sample_weight=w)
    within = 2e-5 if norm_ == "max" else 1e-6
    assert found == pytest.approx(naive(y, p, w, norm_, h), abs=within)


GAUSSIANS = [(-1.0, 1.0), (1.0, 1.0)]  # 002 section 5.1, classes -1 and 1


@pytest.mark.parametrize("kernel", ["triweight", "gaussian", "cosine"])
def test_error_of_the_uncalibrated_gaussian_model_converges(kernel):
    """002 section 5.1 with beta = (1, 1): 0.563751; smoothing costs of the order h^2."""
    posterior = lambda x: expit(-2 * x)  # noqa: E731
    truth = true_error(GAUSSIANS, posterior, lambda x: expit(1 + x))
    assert truth == pytest.approx(0.563751, abs=1e-6)
    y, x, w = stratified(GAUSSIANS, posterior, 50_000)
    errors = [
        abs(DensityError(bandwidth=h, kernel=kernel)(y, expit(1 + x), sample_weight=w) - truth)
        for h in (0.04, 0.02, 0.01, 0.005)
    ]
    assert errors[-1] < 5e-5
    assert all(after < before / 3 for before, after in pairwise(errors))
    assert DensityError()(y, expit(1 + x), sample_weight=w) == pytest.approx(truth, abs=2e-3)


@pytest.mark.parametrize("kernel", ["beta", "beta-modified"])
def test_error_with_beta_kernels_converges(kernel):
    """The same task; b = 4 h^2, and smoothing costs of the order b."""
    posterior = lambda x: expit(-2 * x)  # noqa: E731
    truth = true_error(GAUSSIANS, posterior, lambda x: expit(1 + x))
    y, x, w = stratified(GAUSSIANS, posterior, 20_000)
    errors = [
        abs(DensityError(bandwidth=h, kernel=kernel)(y, expit(1 + x), sample_weight=w) - truth)
        for h in (0.08, 0.02)
    ]
    assert errors[1] < min(1.5e-3, errors[0] / 4)
    found = DensityError(kernel=kernel)(y, expit(1 + x), sample_weight=w)
    assert found == pytest.approx(truth, abs=5e-3)


def uniform_and_perfect(n=20_000):
    p = (np.arange(n) + 0.5) / n
    return np.repeat([1, 0], n), np.tile(p, 2), np.concatenate([p, 1 - p])


@pytest.mark.parametrize("h", [0.03, 0.1, 0.25])
def test_a_beta_kernel_leans_inwards(h):
    """A perfect model with uniform scores: the kernel at x has mean (x + b) / (1 + 2 b)."""
    y, p, w = uniform_and_perfect()
    b = 4 * h**2
    found = DensityError(bandwidth=h, kernel="beta")(y, p, sample_weight=w)
    assert found == pytest.approx(b / (2 + 4 * b), rel=1e-4)


def test_the_modified_beta_kernel_leans_next_to_the_ends_only():
    """There the mean of Beta(rho, (1 - x) / b) is used, elsewhere it is x."""
    y, p, w = uniform_and_perfect()
    h = 0.1
    b = 4 * h**2

    def lean(x):
        rho = 2 * b**2 + 2.5 - math.sqrt(4 * b**4 + 6 * b**2 + 2.25 - x**2 - x / b)
        return abs(rho / (rho + (1 - x) / b) - x)

    expected = 2 * quad(lean, 0, 2 * b)[0]
    assert expected < 2 * b**2
    found = DensityError(bandwidth=h, kernel="beta-modified")(y, p, sample_weight=w)
    assert found == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("kernel", ["beta", "beta-modified"])
@pytest.mark.parametrize("bandwidth", ["silverman", 0.05])
def test_laws_of_weights_and_order_hold_for_beta_kernels(kernel, bandwidth):
    y, p, w = rows()
    estimator = DensityError(bandwidth, kernel, norm=2)
    moved = np.random.default_rng(1).permutation(len(y))
    weighted = estimator(y, p, sample_weight=w)
    again = estimator(y[moved], p[moved], sample_weight=0.1 * w[moved])
    assert again == pytest.approx(weighted, **CLOSE)
    times = np.random.default_rng(2).integers(0, 4, len(y))
    repeated = estimator(np.repeat(y, times), np.repeat(p, times))
    counted = estimator(y, p, sample_weight=times, weight_type="frequency")
    assert counted == pytest.approx(repeated, **CLOSE)


@pytest.mark.parametrize("h", [0.05, 0.2])
def test_a_curve_of_beta_kernels_is_the_ratio_of_direct_sums(h):
    y, p, w = rows()
    b = 4 * h**2
    curve = reliability_curve(
        y, p, method="density", kernel="beta", bandwidth=h, sample_weight=w, interval=None
    )
    heights = np.array([beta.pdf(p, x / b + 1, (1 - x) / b + 1) for x in curve.predicted])
    np.testing.assert_allclose(curve.observed, heights @ (w * y) / (heights @ w), atol=2e-4)
    assert len(curve) == 200
    assert curve.weight.sum() == pytest.approx(w.sum())
    assert curve.count.sum() == pytest.approx(len(y))
    assert curve.definition == f"beta kernel, bandwidth {h}"


def test_limits_of_a_curve_of_beta_kernels_hold_it():
    y, p, _ = rows()
    curve = local_calibration_error(
        y, p, kernel="beta-modified", interval="bootstrap", n_resamples=50, rng=0
    )
    inside = (curve.low <= curve.observed) & (curve.observed <= curve.high)
    assert inside.mean() > 0.8
    assert (curve.high - curve.low > 0.01).all()


def test_curves_of_beta_kernels_refuse_what_they_cannot_do():
    options = {"method": "density", "kernel": "beta"}
    with pytest.raises(InvalidInputError, match=r"`bandwidth` must be at most 0\.25"):
        reliability_curve([0, 1], [0.2, 0.8], bandwidth=0.3, **options)
    with pytest.raises(InvalidInputError, match="`kernel` must be one that sees the scores"):
        reliability_curve([0, 1], [0.0, 1.0], **options)


def test_scores_at_the_ends_that_a_beta_kernel_loses_raise_a_doubt():
    y, p, _ = rows()
    p[:60] = 0
    with pytest.warns(VeridicalWarning, match=r"2\d\.\d% of the scores are so close to 0 or 1"):
        DensityError(kernel="beta")(y, p)
    with pytest.warns(VeridicalWarning, match="100.0% of the scores"):
        found = DensityError(0.1, "beta-modified")([0, 1, 0, 0], [0.0] * 4)
    assert found == pytest.approx(0.25, abs=1e-9)


def test_error_of_calibrated_gaussian_models_is_small():
    posterior = lambda x: expit(-2 * x)  # noqa: E731
    y, x, w = stratified(GAUSSIANS, posterior, 50_000)
    assert DensityError(bandwidth=0.005)(y, posterior(x), sample_weight=w) < 5e-4


SURVEY = [(-4.0, 960**0.5), (64.0, 1280**0.5), (4.0, 980**0.5), (-72.0, 1024**0.5)]


def survey_posterior(x):
    """P(Y = 1 | x) of survey section 5.2; the second parameter of its Gaussians is a variance."""
    parts = [norm.pdf(x, mean, sd) for mean, sd in SURVEY]
    return (parts[0] + parts[1]) / sum(parts)


@pytest.mark.parametrize(("slope", "expected"), [(0.01, 0.112160), (0.05, 0.120627)])
def test_error_of_the_two_class_task_of_the_survey(slope, expected):
    score = lambda x: expit(slope * x)  # noqa: E731
    truth = true_error(SURVEY, survey_posterior, score)
    assert truth == pytest.approx(expected, abs=1e-6)
    y, x, w = stratified(SURVEY, survey_posterior, 25_000)
    for h, within in ((0.02, 5e-3), (0.005, 3e-4), (0.001, 3e-5)):
        found = DensityError(bandwidth=h)(y, score(x), sample_weight=w)
        assert found == pytest.approx(truth, abs=within)
    for rule in ("silverman", "scott", "isj"):
        found = DensityError(bandwidth=rule)(y, score(x), sample_weight=w)
        assert found == pytest.approx(truth, abs=5e-3)


def test_mirroring_makes_a_perfect_model_read_the_square_of_the_bandwidth():
    p = (np.arange(20_000) + 0.5) / 20_000
    y, weight = np.repeat([1, 0], len(p)), np.concatenate([p, 1 - p])
    for h in (0.05, 0.1):
        found = DensityError(bandwidth=h)(y, np.tile(p, 2), sample_weight=weight)
        assert found == pytest.approx(h**2, rel=1e-4)


def test_numbers_of_numpy_are_numbers():
    y, p, _ = rows()
    expected = DensityError(bandwidth=0.25, norm=2)(y, p)
    assert DensityError(bandwidth=np.float32(0.25), norm=np.int64(2))(y, p) == expected
    assert DensityError(bandwidth=np.int64(1))(y, p) == DensityError(bandwidth=1.0)(y, p)


def test_norms_increase():
    y, p, w = rows()
    errors = [DensityError(bandwidth=0.1, norm=norm_)(y, p, sample_weight=w) for norm_ in NORMS]
    assert errors == sorted(errors)
    assert 0 < errors[0] < errors[-1] <= 1


@pytest.mark.parametrize("outcome", [0, 1])
def test_one_class_gives_the_mean_distance_of_smoothed_scores(outcome):
    p = rows()[1]
    estimator = DensityError(bandwidth=0.01)
    found = estimator(np.full(len(p), outcome), p, labels=[0, 1])
    assert found == pytest.approx(np.abs(outcome - p).mean(), abs=1e-3)


def test_equal_scores_give_the_plain_gap_and_a_warning():
    with pytest.warns(VeridicalWarning, match="DensityError: all scores are equal"):
        assert DensityError()([0, 1, 1, 1], [0.5] * 4) == pytest.approx(0.25, abs=1e-9)
    assert DensityError(bandwidth=0.01)([0, 1, 1, 1], [0.5] * 4) == pytest.approx(0.25, abs=1e-9)


@pytest.mark.parametrize("bandwidth", ["silverman", "scott", "isj", 0.05])
@pytest.mark.parametrize("norm_", NORMS)
def test_laws_of_weights_and_order(bandwidth, norm_):
    y, p, w = rows()
    estimator = DensityError(bandwidth=bandwidth, norm=norm_)
    plain, weighted = estimator(y, p), estimator(y, p, sample_weight=w)
    moved = np.random.default_rng(1).permutation(len(y))
    assert estimator(y[moved], p[moved]) == pytest.approx(plain, **CLOSE)
    assert estimator(y, p, sample_weight=np.ones(len(y))) == pytest.approx(plain, **CLOSE)
    assert estimator(y, p, sample_weight=0.1 * w) == pytest.approx(weighted, **CLOSE)
    kept = moved[:200]
    zeros = np.zeros(len(y))
    zeros[kept] = w[kept]
    removed = estimator(y[kept], p[kept], sample_weight=w[kept])
    assert estimator(y, p, sample_weight=zeros) == pytest.approx(removed, **CLOSE)
    times = np.random.default_rng(2).integers(0, 4, len(y))
    repeated = estimator(np.repeat(y, times), np.repeat(p, times))
    counted = estimator(y, p, sample_weight=times, weight_type="frequency")
    assert counted == pytest.approx(repeated, **CLOSE)
    if bandwidth == 0.05:
        assert estimator(y, p, sample_weight=times) == pytest.approx(repeated, **CLOSE)
    single = estimator(y, p.astype(np.float32), sample_weight=w.astype(np.float32))
    assert single == pytest.approx(weighted, rel=2e-5, abs=2e-6)


def test_classwise_error_is_the_mean_over_classes():
    rng = np.random.default_rng(3)
    p = rng.dirichlet(np.ones(3), 200)
    y = rng.integers(0, 3, 200)
    each = [DensityError()(y, p, lens=ClassSpecific(k)) for k in range(3)]
    assert DensityError()(y, p, lens="classwise") == pytest.approx(np.mean(each))
    with pytest.raises(InvalidInputError, match="lens"):
        DensityError()(y, p, lens="canonical")


def test_confidences_can_be_mirrored_at_one_over_k():
    rng = np.random.default_rng(4)
    p = rng.dirichlet(np.ones(4), 400)
    y = rng.integers(0, 4, 400)
    narrow = DensityError(support=(0.25, 1.0))
    assert narrow(y, p) != DensityError()(y, p)
    assert "mirrored at 0.25 and 1" in narrow.definition


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"bandwidth": "silvermann"}, "bandwidth"),
        ({"bandwidth": 0.0}, "bandwidth"),
        ({"bandwidth": math.nan}, "bandwidth"),
        ({"bandwidth": True}, "bandwidth"),
        ({"bandwidth": 3}, "bandwidth"),
        ({"kernel": "epanechnikov"}, "kernel"),
        ({"kernel": "beta", "bandwidth": 0.3}, "bandwidth"),
        ({"norm": 0.5}, "norm"),
        ({"norm": "inf"}, "norm"),
        ({"n_grid": 4.5}, "n_grid"),
        ({"n_grid": 2}, "n_grid"),
        ({"support": (0.5, 0.5)}, "support"),
    ],
)
def test_bad_options_are_named(options, named):
    with pytest.raises(InvalidInputError, match=f"DensityError: `{named}` must be"):
        DensityError(**options)


def test_names_and_definitions_say_what_is_computed():
    assert DensityError().name == "density ECE"
    assert DensityError(norm="max").name == "density MCE"
    assert DensityError(norm=3).name == "density L3 error"
    assert DensityError(bandwidth=0.05).definition == "triweight kernel, bandwidth 0.05"
    inner = DensityError(0.05, "beta", support=(0.5, 1.0))
    assert inner.definition == "beta kernel, bandwidth 0.05, between 0.5 and 1"
