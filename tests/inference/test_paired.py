"""Paired differences against direct formulas and resampling."""

import json

import numpy as np
import pytest

from veridical import (
    BinnedError,
    BrierScore,
    InvalidInputError,
    LogScore,
    QuantileBins,
    UniformBins,
    ZeroOneLoss,
)
from veridical.inference import bootstrap_interval, paired_difference
from veridical.results import Difference


def softened(p, power=0.6):
    return p**power / (p**power + (1 - p) ** power)


def test_difference_of_scores_is_that_of_many_rows_a_paired_t_like_interval():
    rng = np.random.default_rng(2)
    p = rng.random(50_000)
    y = (rng.random(len(p)) < p).astype(int)
    q = softened(p, 0.97)
    d = paired_difference(BrierScore(), y, p, q)
    rows = (p - y) ** 2 - (q - y) ** 2
    assert d.estimate == pytest.approx(rows.mean(), rel=1e-12)
    assert d.high - d.estimate == pytest.approx(1.959964 * rows.std() / np.sqrt(len(y)), rel=0.02)
    from scipy.stats import norm

    z = rows.mean() / (rows.std() / np.sqrt(len(y)))
    assert d.pvalue == pytest.approx(2 * norm.sf(abs(z)), rel=0.05)
    assert d.first == BrierScore()(y, p)
    assert d.second == BrierScore()(y, q)


def test_pairing_is_narrower_than_two_intervals(binary):
    y, p = binary.y, binary.p
    q = softened(p, 0.9)
    d = paired_difference(LogScore(), y, p, q)
    widths = [bootstrap_interval(LogScore(), y, s).width for s in (p, q)]
    assert d.width < 0.3 * np.hypot(*widths)


@pytest.mark.parametrize("estimator", [BrierScore(), BinnedError(norm=2)], ids=lambda e: e.name)
def test_exchanging_the_models_changes_the_sign(estimator, binary):
    q = softened(binary.p)
    one = paired_difference(estimator, binary.y, binary.p, q)
    two = paired_difference(estimator, binary.y, q, binary.p)
    assert two.estimate == -one.estimate
    assert (two.low, two.high) == pytest.approx((-one.high, -one.low), rel=1e-12)
    assert two.pvalue == pytest.approx(one.pvalue, rel=1e-12)


@pytest.mark.parametrize("estimator", [BrierScore(), BinnedError(norm=2)], ids=lambda e: e.name)
def test_a_model_does_not_differ_from_itself(estimator, binary):
    d = paired_difference(estimator, binary.y, binary.p, binary.p)
    assert (d.estimate, d.low, d.high, d.pvalue) == (0.0, 0.0, 0.0, 1.0)


def test_squared_error_and_its_jackknife(binary):
    """The jackknife of the plug-in, less twice the squares of what pairs of rows add."""
    y, p = binary.y[:200], binary.p[:200]
    q = softened(p)
    estimator = BinnedError(UniformBins(5), norm=2)

    def plug_in(rows):
        return estimator(y[rows], p[rows]) ** 2 - estimator(y[rows], q[rows]) ** 2

    d = paired_difference(estimator, y, p, q)
    everything = np.arange(200)
    moved = np.array([plug_in(np.delete(everything, i)) for i in range(200)])
    jackknife = 199 / 200 * ((moved - moved.mean()) ** 2).sum()

    def pairs(p):
        bins = np.ceil(p * 5).clip(min=1)
        alike = bins[:, None] == bins
        return alike * np.outer(y - p, y - p) / (200 * alike.sum(axis=1))

    added = pairs(p) - pairs(q)
    np.fill_diagonal(added, 0)
    noise = (added**2).sum()
    assert 0.02 < 2 * noise / jackknife < 0.5
    error = (d.high - d.low) / 2 / 1.959964
    assert error**2 == pytest.approx(jackknife - 2 * noise, rel=0.1)
    debiased = BinnedError(UniformBins(5), norm=2, debias=True)
    assert d.first == pytest.approx(debiased(y, p) ** 2, abs=1e-12)
    assert d.estimator == "squared RMSCE debiased"


def test_classwise_squares_are_means_over_classes(multiclass):
    y, p = multiclass.y, multiclass.p
    q = softened(p)
    q = q / q.sum(axis=1, keepdims=True)
    d = paired_difference(BinnedError(norm=2), y, p, q, lens="classwise")
    debiased = BinnedError(norm=2, debias=True)
    assert d.first == pytest.approx(debiased(y, p, lens="classwise") ** 2, abs=1e-12)
    assert d.low < d.estimate < d.high


@pytest.mark.parametrize("method", ["percentile", "basic", "bca"])
def test_bootstraps_agree_with_the_analytic_interval(method, binary):
    q = softened(binary.p)
    normal = paired_difference(BrierScore(), binary.y, binary.p, q)
    drawn = paired_difference(
        BrierScore(), binary.y, binary.p, q, method=method, rng=0, n_resamples=4000
    )
    assert drawn.low == pytest.approx(normal.low, abs=0.1 * normal.width)
    assert drawn.high == pytest.approx(normal.high, abs=0.1 * normal.width)
    assert drawn.n_resamples == 4000


def test_clusters_of_copies_count_once(binary):
    y, p = binary.y[:100], binary.p[:100]
    q = softened(p)
    alone = paired_difference(BrierScore(), y, p, q)
    copies = np.repeat(np.arange(100), 5)
    clustered = paired_difference(BrierScore(), y[copies], p[copies], q[copies], groups=copies)
    assert clustered.width == pytest.approx(alone.width, rel=1e-12)
    naive = paired_difference(BrierScore(), y[copies], p[copies], q[copies])
    assert naive.width == pytest.approx(alone.width / np.sqrt(5), rel=0.1)


@pytest.mark.parametrize(("better", "worse", "both"), [(0, 0, 30), (6, 0, 24), (3, 9, 100)])
def test_difference_of_accuracies_is_that_of_a_bounded_variable(better, worse, both):
    """Limits by drawing; where no row is discordant, those of nothing in n."""
    y = np.ones(better + worse + both, int)
    p = np.repeat([0.9, 0.1, 0.9], [better, worse, both])
    q = np.repeat([0.1, 0.9, 0.9], [better, worse, both]) - 0.01
    d = paired_difference(ZeroOneLoss(), y, p, q)
    rng = np.random.default_rng(0)
    values = (p < 0.5).astype(float) - (q < 0.5)
    ends = (-1.0, 1.0)
    shares = rng.dirichlet(np.ones(len(y) + 1), 40_000)
    drawn = [
        np.quantile(shares @ np.append(values, end), tail)
        for end, tail in zip(ends, (0.025, 0.975), strict=True)
    ]
    assert [d.low, d.high] == pytest.approx(drawn, abs=0.02 * max(d.width, 1e-9))
    assert (d.pvalue <= 0.05) == (d.low > 0 or d.high < 0)


@pytest.mark.parametrize(
    "estimator", [BrierScore(), ZeroOneLoss(), BinnedError(norm=2)], ids=lambda e: e.name
)
def test_weights_obey_the_laws(estimator, binary):
    y, p = binary.y, binary.p
    q = softened(p)
    weight = np.random.default_rng(2).integers(0, 4, len(y))
    rows = np.repeat(np.arange(len(y)), weight)
    frequency = paired_difference(estimator, y, p, q, sample_weight=weight, weight_type="frequency")
    repeated = paired_difference(estimator, y[rows], p[rows], q[rows])
    assert frequency.low == pytest.approx(repeated.low, abs=1e-12)
    assert frequency.high == pytest.approx(repeated.high, abs=1e-12)
    importance = paired_difference(estimator, y, p, q, sample_weight=binary.w)
    scaled = paired_difference(estimator, y, p, q, sample_weight=7 * binary.w)
    assert importance.low == pytest.approx(scaled.low, abs=1e-12)


@pytest.mark.parametrize(
    ("estimator", "options", "what"),
    [
        (BinnedError(), {}, "estimator"),
        (BinnedError(norm=2, assignment="linear"), {}, "estimator"),
        (BinnedError(QuantileBins(5), norm=2), {"method": "bca"}, "method"),
        (BrierScore(), {"method": "t"}, "method"),
    ],
)
def test_what_has_no_interval_is_refused(estimator, options, what, binary):
    with pytest.raises(InvalidInputError, match=f"`{what}`"):
        paired_difference(estimator, binary.y, binary.p, binary.p, **options)


def test_vectors_and_other_classes_are_refused(binary, multiclass):
    y, p = multiclass.y, multiclass.p
    with pytest.raises(InvalidInputError, match="`lens`"):
        paired_difference(BinnedError(UniformBins(3), norm=2), y, p, p, lens="canonical")
    with pytest.raises(InvalidInputError, match="`other`"):
        paired_difference(BrierScore(), (y > 0).astype(int), (y > 0) * 0.5, p)


def test_result_reads_back(binary):
    d = paired_difference(BrierScore(), binary.y, binary.p, softened(binary.p))
    assert Difference.from_dict(json.loads(d.to_json())) == d
    assert "p = " in str(d)
