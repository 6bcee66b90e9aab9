"""Dirichlet-kernel errors: against loops, the authors' program and known truths; their laws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import beta, dirichlet

from veridical import ClassSpecific, InvalidInputError, VeridicalWarning, null_level
from veridical.miscalibration._errors import dirichlet_kernel as module
from veridical.miscalibration._errors.dirichlet_kernel import DirichletKernelError

CLOSE = {"rel": 1e-11, "abs": 1e-12}
GRID = [*np.logspace(-5, -1, 15), 0.2, 0.4, 0.6, 0.8, 1.0]


def rows(n=60, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(n_classes, 0.7), n).clip(1e-6)
    p /= p.sum(axis=1, keepdims=True)
    return rng.integers(0, n_classes, n), p, rng.gamma(1.0, size=n)


def tempered(n, power, seed):
    """Uniform predictions of three classes whose truth is a power of them."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(3), n)
    truth = p**power / (p**power).sum(axis=1, keepdims=True)
    y = (rng.random(n)[:, None] > truth.cumsum(axis=1)).sum(axis=1).clip(max=2)
    return y, p, truth


def kernel(i, j, p, h):
    """Density at the prediction of row i of the kernel of row j; zeros moved in as documented."""
    parameter = p[j] / h + 1
    normaliser = math.lgamma(parameter.sum()) - sum(math.lgamma(a) for a in parameter)
    return normaliser + ((parameter - 1) * np.log(np.maximum(p[i], 1e-7))).sum()


def means(y, p, w, h):
    """Mean outcome of all other rows at each row, by a double loop."""
    n, n_classes = p.shape
    result = np.zeros((n, n_classes))
    for i in range(n):
        logs = [kernel(i, j, p, h) for j in range(n) if j != i]
        values = np.exp(np.array(logs) - max(logs)) * np.delete(w, i)
        for j, value in zip((j for j in range(n) if j != i), values, strict=True):
            result[i, y[j]] += value
        result[i] /= values.sum()
    return result


def double_loop(y, p, w, h, norm=1):
    gap = np.abs(means(y, p, w, h) - p) ** norm
    return ((w @ gap.sum(axis=1)) / w.sum() / 2) ** (1 / norm)


def test_the_oracle_is_a_dirichlet_density():
    _, p, _ = rows(4)
    expected = dirichlet.logpdf(p[0] / p[0].sum(), p[1] / 0.1 + 1)
    assert kernel(0, 1, p, 0.1) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("h", [0.002, 0.05, 1.0])
@pytest.mark.parametrize("norm", [1, 2, 3.5])
def test_error_is_that_of_a_double_loop(h, norm):
    for n_classes in (3, 5):
        y, p, w = rows(40, n_classes)
        found = DirichletKernelError(h, norm)(y, p, lens="canonical", sample_weight=w)
        assert found == pytest.approx(double_loop(y, p, w, h, norm), rel=1e-9)


def test_ties_and_zeros_are_those_of_a_double_loop():
    rng = np.random.default_rng(1)
    p = rng.multinomial(4, [0.5, 0.3, 0.2], 40) / 4
    y, w = rng.integers(0, 3, 40), rng.gamma(1.0, size=40)
    assert (p == 0).any()
    assert len(np.unique(p, axis=0)) < 16
    for h in (0.01, 0.3):
        found = DirichletKernelError(h)(y, p, lens="canonical", sample_weight=w)
        assert found == pytest.approx(double_loop(y, p, w, h), rel=1e-9)


def authors_rows():
    k = np.arange(1, 13)
    weights = np.column_stack([(7 * k) % 11 + 1, (5 * k) % 13 + 1, (3 * k) % 7 + 1])
    return k, weights


@pytest.mark.parametrize(
    ("h", "norm", "vector", "binary"),
    [
        (0.01, 1, 0.9217286803901672, 0.4217171079867994),
        (0.01, 2, 0.3600873174460282, 0.11414138673543578),
        (0.1, 1, 0.5784389335528346, 0.286850054186005),
        (0.1, 2, 0.18435907606501598, 0.0469214966891755),
    ],
)
def test_error_is_that_of_the_authors_program(h, norm, vector, binary):
    """`get_ece_kde` of github.com/tpopordanoska/ece-kde, commit d9f60c0, in double precision.

    Its functions transcribed and run with torch 2.13.0; "canonical", and for one column. It is
    twice our error to the power.
    """
    k, weights = authors_rows()
    p = weights / weights.sum(axis=1, keepdims=True)
    error = DirichletKernelError(h, norm)
    found = error(k * k % 3, p, lens="canonical")
    assert 2 * found**norm == pytest.approx(vector, rel=1e-10)
    scores = weights[:, 0] / weights[:, :2].sum(axis=1)
    assert 2 * error(k % 3 == 0, scores) ** norm == pytest.approx(binary, rel=1e-10)


def test_two_classes_have_beta_kernels():
    rng = np.random.default_rng(2)
    p, h = rng.beta(0.8, 0.6, 50).clip(1e-6, 1 - 1e-6), 0.03
    y = rng.integers(0, 2, 50)
    gaps = []
    for i in range(50):
        heights = beta.pdf(p[i], p / h + 1, (1 - p) / h + 1)
        heights[i] = 0
        gaps.append(abs(heights @ y / heights.sum() - p[i]))
    found = DirichletKernelError(h)(y, p)
    assert found == pytest.approx(np.mean(gaps), rel=1e-9)
    both = np.column_stack([1 - p, p])
    for options in ({}, {"pos_label": 0}, {"lens": "canonical"}):
        assert DirichletKernelError(h)(y, both, **options) == pytest.approx(found, rel=1e-9)
    assert DirichletKernelError(h)(y, both[:, ::-1], labels=[1, 0]) == pytest.approx(found)


def test_error_of_the_uncalibrated_gaussian_model():
    """002 section 5.1 with beta = (1, 1), whose true error is 0.563751; n = 1000."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 1000)
    x = rng.normal(np.where(y == 1, -1.0, 1.0))
    spread = np.std(np.abs(expit(-2 * x) - expit(1 + x))) / math.sqrt(1000)
    for bandwidth in (0.001, 0.005, "auto"):
        found = DirichletKernelError(bandwidth)(y, expit(1 + x))
        assert found == pytest.approx(0.563751, abs=5 * spread)


def test_error_of_three_classes_approaches_the_truth():
    """Truth over a million other predictions; the bandwidth falls with the root of n."""
    _, p, truth = tempered(1_000_000, 2.5, 9)
    gap = np.abs(p - truth)
    expected = gap.sum(axis=1).mean() / 2, math.sqrt((gap**2).sum(axis=1).mean() / 2)
    assert expected[0] == pytest.approx(0.182, abs=1e-3)
    for norm, target in zip((1, 2), expected, strict=True):
        distance = []
        for n in (100, 1600):
            estimates = [
                DirichletKernelError(0.3 / math.sqrt(n), norm)(*tempered(n, 2.5, k)[:2],
                                                               lens="canonical")
                for k in range(4)
            ]  # fmt: skip
            distance.append(abs(np.mean(estimates) - target))
        assert distance[1] < distance[0] / 2
        assert distance[1] < 0.02


def test_error_of_a_calibrated_model_falls_with_n():
    """Noise goes with (n h)^(-1/2), here n^(-1/4): half as much for 16 times as many rows."""
    few, many = (
        np.mean(
            [
                DirichletKernelError(0.3 / math.sqrt(n))(*tempered(n, 1.0, k)[:2], lens="canonical")
                for k in range(4)
            ]
        )
        for n in (100, 1600)
    )
    assert many < few / 1.5


def test_a_null_level_tells_noise_from_error():
    options = {"lens": "canonical", "n_resamples": 40, "rng": 0}
    error = DirichletKernelError(0.03)
    calibrated = null_level(error, *tempered(300, 1.0, 6)[:2], **options)
    assert calibrated.sample.min() < calibrated.estimate < calibrated.sample.max()
    wrong = null_level(error, *tempered(300, 2.5, 6)[:2], **options)
    assert wrong.estimate > wrong.sample.max()


def test_auto_takes_the_bandwidth_that_predicts_best():
    y, p, _ = tempered(40, 1.5, 7)
    w = np.random.default_rng(8).gamma(1.0, size=40)
    outcome = np.eye(3)[y]
    losses = [w @ ((means(y, p, w, h) - outcome) ** 2).sum(axis=1) for h in GRID]
    best = GRID[int(np.argmin(losses))]
    assert 1e-5 < best < 1
    options = {"lens": "canonical", "sample_weight": w}
    expected = DirichletKernelError(best)(y, p, **options)
    assert DirichletKernelError()(y, p, **options) == pytest.approx(expected, **CLOSE)


def test_likelihood_takes_the_bandwidth_under_which_predictions_are_likely():
    y, p, w = rows(50)
    likelihood = []
    for h in GRID:
        heights = np.array([[kernel(i, j, p, h) for j in range(50)] for i in range(50)])
        np.fill_diagonal(heights, -np.inf)
        likelihood.append(w @ np.logaddexp.reduce(heights + np.log(w), axis=1))
    best = GRID[int(np.argmax(likelihood))]
    assert 1e-5 < best < 1
    options = {"lens": "canonical", "sample_weight": w}
    expected = DirichletKernelError(best)(y, p, **options)
    found = DirichletKernelError("likelihood")(y, p, **options)
    assert found == pytest.approx(expected, **CLOSE)


@pytest.mark.parametrize("rule", ["auto", "likelihood"])
def test_rules_judge_some_of_many_predictions(rule, monkeypatch):
    y, p, _ = tempered(400, 2.5, 10)
    monkeypatch.setattr(module, "_JUDGED", 400)
    by_width = [DirichletKernelError(float(h))(y, p, lens="canonical") for h in GRID]
    best = by_width.index(DirichletKernelError(rule)(y, p, lens="canonical"))
    monkeypatch.setattr(module, "_JUDGED", 200)
    moved = np.random.default_rng(1).permutation(400)
    found = DirichletKernelError(rule)(y, p, lens="canonical")
    assert found in by_width[best - 1 : best + 2]  # the same width or the next one
    again = DirichletKernelError(rule)(y[moved], p[moved], lens="canonical")
    assert again == pytest.approx(found, **CLOSE)


def test_tiles_do_not_matter(monkeypatch):
    y, p, w = rows()
    options = {"lens": "canonical", "sample_weight": w}
    expected = DirichletKernelError()(y, p, **options)
    monkeypatch.setattr(module, "_TILE", 150)
    assert DirichletKernelError()(y, p, **options) == pytest.approx(expected, **CLOSE)


@pytest.mark.parametrize("bandwidth", ["auto", "likelihood", 0.03])
def test_laws_of_weights_and_order(bandwidth):
    y, p, w = rows(80)
    p[1::2] = p[::2]  # ties
    estimator = DirichletKernelError(bandwidth)

    def error(y, p, **options):
        return estimator(y, p, lens="canonical", **options)

    plain, weighted = error(y, p), error(y, p, sample_weight=w)
    moved = np.random.default_rng(1).permutation(len(y))
    assert error(y[moved], p[moved]) == pytest.approx(plain, **CLOSE)
    assert error(y, p, sample_weight=np.ones(len(y))) == pytest.approx(plain, **CLOSE)
    assert error(y, p, sample_weight=0.1 * w) == pytest.approx(weighted, **CLOSE)
    kept, zeros = moved[:60], np.zeros(len(y))
    zeros[kept] = w[kept]
    removed = error(y[kept], p[kept], sample_weight=w[kept])
    assert error(y, p, sample_weight=zeros) == pytest.approx(removed, **CLOSE)
    times = np.random.default_rng(2).integers(0, 4, len(y))
    repeated = error(np.repeat(y, times), np.repeat(p, times, axis=0))
    counted = error(y, p, sample_weight=times, weight_type="frequency")
    assert counted == pytest.approx(repeated, **CLOSE)


def test_classwise_error_is_the_norm_over_classes():
    y, p, _ = rows()
    for norm in (1, 2):
        error = DirichletKernelError(0.05, norm)
        each = [error(y, p, lens=ClassSpecific(k)) for k in range(3)]
        expected = np.mean(np.power(each, norm)) ** (1 / norm)
        assert error(y, p, lens="classwise") == pytest.approx(expected, **CLOSE)


def test_a_distant_prediction_is_compared_with_the_nearest():
    """Kernels of width 1e-6 are zero to a computer everywhere but at their own mode."""
    p = [0.1, 0.101, 0.9, 0.902]
    found = DirichletKernelError(1e-6)([0, 1, 0, 1], p)
    assert found == pytest.approx((0.9 + 0.101 + 0.1 + 0.902) / 4, rel=1e-9)


def test_one_row_has_none_to_compare_with():
    for options in ({}, {"sample_weight": [0.5]}, {"sample_weight": [5.0]}):
        with pytest.raises(InvalidInputError, match="two rows or more"):
            DirichletKernelError(0.1)([1], [0.7], labels=[0, 1], **options)
    twice = {"sample_weight": [2], "weight_type": "frequency"}
    found = DirichletKernelError(0.1)([1], [0.7], labels=[0, 1], **twice)
    assert found == pytest.approx(0.3, **CLOSE)


def test_few_distinct_predictions_raise_a_doubt():
    with pytest.warns(VeridicalWarning, match="only 2 distinct predictions"):
        DirichletKernelError()([0, 1, 1, 0], [0.2, 0.2, 0.8, 0.8])


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"bandwidth": "silverman"}, "bandwidth"),
        ({"bandwidth": 0.0}, "bandwidth"),
        ({"bandwidth": True}, "bandwidth"),
        ({"bandwidth": math.inf}, "bandwidth"),
        ({"norm": 0.5}, "norm"),
        ({"norm": "max"}, "norm"),
    ],
)
def test_bad_options_are_named(options, named):
    with pytest.raises(InvalidInputError, match=f"DirichletKernelError: `{named}` must be"):
        DirichletKernelError(**options)


def test_names_and_definitions_say_what_is_computed():
    assert DirichletKernelError().name == "Dirichlet-kernel error"
    assert DirichletKernelError(norm=2).name == "Dirichlet-kernel RMS error"
    assert DirichletKernelError(0.1).definition == "Dirichlet kernel, bandwidth 0.1, leave-one-out"
