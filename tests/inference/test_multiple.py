"""Corrections for several tests: against definitions, other implementations and independence."""

import json

import numpy as np
import pytest

from veridical import (
    BinnedError,
    CumulativeError,
    InvalidInputError,
    QuantileBins,
    SweepBins,
    UniformBins,
)
from veridical.inference import adjust_pvalues, consistency_test, multiple_test
from veridical.lenses import ClassSpecific
from veridical.results import MultipleTest


@pytest.mark.parametrize("seed", range(5))
def test_benjamini_hochberg_is_that_of_scipy(seed):
    from scipy.stats import false_discovery_control

    p = np.random.default_rng(seed).random(20) ** 2
    expected = false_discovery_control(p)
    np.testing.assert_allclose(adjust_pvalues(p, method="benjamini-hochberg"), expected)


@pytest.mark.parametrize("seed", range(5))
def test_holm_rejects_as_the_step_down_procedure_does(seed):
    p = np.random.default_rng(seed).random(8) ** 3
    adjusted = adjust_pvalues(p)
    for level in (0.01, 0.05, 0.2, 0.5):
        rejected, left = set(), list(np.argsort(p))
        while left and p[left[0]] <= level / len(left):
            rejected.add(int(left.pop(0)))
        assert set(np.flatnonzero(adjusted <= level).tolist()) == rejected


def test_bonferroni_multiplies_and_nothing_exceeds_one():
    assert adjust_pvalues([0.2, 0.01, 0.9], method="bonferroni").tolist() == [
        pytest.approx(0.6),
        pytest.approx(0.03),
        1.0,
    ]
    assert adjust_pvalues([], method="holm").size == 0
    assert adjust_pvalues([0.3]).tolist() == [0.3]


@pytest.mark.parametrize("bad", [[0.1, 1.2], [[0.1]], [np.nan], ["a"]])
def test_bad_pvalues_are_refused(bad):
    with pytest.raises(InvalidInputError, match="pvalues"):
        adjust_pvalues(bad)


@pytest.mark.parametrize("estimator", [BinnedError(UniformBins(5)), CumulativeError()])
def test_each_class_is_tested_like_a_class_by_itself(estimator, multiclass):
    y, p = multiclass.y, multiclass.p
    family = multiple_test(estimator, y, p, rng=0, n_resamples=2000, correction="holm")
    assert family.over == "class"
    assert family.names == (0, 1, 2)
    for k in range(3):
        alone = consistency_test(estimator, y, p, lens=ClassSpecific(k), rng=1, n_resamples=2000)
        assert family.statistics[k] == pytest.approx(alone.statistic, rel=1e-12)
        noise = 5 * np.sqrt(2 * alone.pvalue * (1 - alone.pvalue) / 2000) + 2e-3
        assert family.pvalues[k] == pytest.approx(alone.pvalue, abs=noise)
    np.testing.assert_allclose(family.adjusted, adjust_pvalues(family.pvalues))


def test_the_largest_of_independent_groups_is_corrected_like_sidak():
    # Groups share no rows, so the chance that none of m is as extreme is (1 - p)^m; standardised
    # statistics of groups of one kind are exchangeable.
    rng = np.random.default_rng(4)
    n, m = 400, 6
    p = rng.random(n * m)
    y = rng.random(n * m) < p
    by = np.repeat(np.arange(m), n)
    test = multiple_test(CumulativeError(), y, p, by=by, rng=0, n_resamples=1500)
    assert test.over == "group"
    assert test.n_samples == (n,) * m
    sidak = 1 - (1 - np.array(test.pvalues)) ** m
    np.testing.assert_allclose(test.adjusted, sidak, atol=0.12)
    assert (np.array(test.adjusted) >= np.array(test.pvalues)).all()


def test_the_largest_of_identical_tests_needs_no_correction():
    # Both classes of a binary problem hold the same information: as if there were one test.
    rng = np.random.default_rng(5)
    p = rng.random(500)
    y = (rng.random(500) < p).astype(int)
    test = multiple_test(
        BinnedError(UniformBins(4)),
        y,
        np.column_stack([1 - p, p]),
        over="classes",
        rng=0,
        n_resamples=500,
    )
    assert test.pvalues[0] == pytest.approx(test.pvalues[1], abs=1e-9)
    assert test.adjusted == pytest.approx(test.pvalues, abs=1e-9)


def test_bins_are_tested_by_their_gaps(binary):
    family = multiple_test(BinnedError(QuantileBins(5)), binary.y, binary.p, rng=0)
    assert family.over == "bin"
    assert sum(family.n_samples) == len(binary.y)
    curve_gap = _gaps(binary)
    order = np.argsort(family.statistics)
    assert (order == np.argsort(curve_gap)).all()
    assert all(0 < p <= 1 for p in family.adjusted)


def _gaps(data):
    """Gap of each bin over its standard deviation if the predictions are right."""
    from veridical.lenses import Binary
    from veridical.summaries import summarise

    s = summarise(Binary().induce(_sample(data)), QuantileBins(5))
    variance = s.sum_wpq[0] / s.sum_w[0] ** 2
    return np.abs(s.mean_y[0] - s.mean_p[0]) / np.sqrt(variance)


def _sample(data):
    from veridical._core.data.validation import check_sample

    return check_sample(data.y, data.p, caller="test")


def test_bin_pvalues_are_binomial_when_predictions_are_equal():
    from scipy.stats import binom

    y = [1] * 16 + [0] * 4
    test = multiple_test(BinnedError(UniformBins(1)), y, [0.5] * 20, rng=0, n_resamples=20_000)
    exact = 2 * binom(20, 0.5).sf(15)
    assert test.pvalues[0] == pytest.approx(exact, abs=4 * np.sqrt(exact / 20_000))
    assert test.adjusted == test.pvalues


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"over": "rows"}, "over"),
        ({"over": "groups"}, "by"),
        ({"over": "bins", "by": [0] * 600}, "by"),
        ({"correction": "sidak"}, "correction"),
        ({"over": "bins", "estimator": BinnedError(SweepBins())}, "estimator"),
        ({"over": "bins", "estimator": CumulativeError()}, "estimator"),
        ({"over": "bins", "lens": "classwise"}, "lens"),
        ({"by": [0] * 3}, "by"),
    ],
)
def test_bad_questions_are_refused(options, what, binary):
    options = {"estimator": BinnedError(), "n_resamples": 5} | options
    estimator = options.pop("estimator")
    with pytest.raises(InvalidInputError, match=f"`{what}`"):
        multiple_test(estimator, binary.y, binary.p, **options)


def test_frequency_weights_are_repeated_rows(multiclass):
    weight = np.random.default_rng(3).integers(1, 4, len(multiclass.y))
    rows = np.repeat(np.arange(len(weight)), weight)
    y, p = multiclass.y, multiclass.p
    options = {"rng": 0, "n_resamples": 100}
    weighted = multiple_test(
        BinnedError(), y, p, sample_weight=weight, weight_type="frequency", **options
    )
    repeated = multiple_test(BinnedError(), y[rows], p[rows], **options)
    assert weighted.adjusted == repeated.adjusted


def test_result_reads_back_and_prints_the_worst_first(multiclass):
    test = multiple_test(BinnedError(), multiclass.y, multiclass.p, rng=0, n_resamples=99)
    assert MultipleTest.from_dict(json.loads(test.to_json())) == test
    lines = str(test).splitlines()
    worst = int(np.argmin(test.adjusted))
    assert len(lines) == 5
    assert lines[2].split()[0] == str(test.names[worst])
    assert test.to_frame().shape == (3, 9)
    assert set(test.rejected(0.05)) == {
        name for name, p in zip(test.names, test.adjusted, strict=True) if p <= 0.05
    }
