"""The consistency test against enumeration, a naive loop and the survey's example."""

import itertools
import json

import numpy as np
import pytest

from veridical import (
    BinnedError,
    BrierScore,
    CumulativeError,
    InvalidInputError,
    QuantileBins,
    SweepBins,
    UniformBins,
    VarianceSplitBins,
    VeridicalWarning,
)
from veridical._core.data.randomness import Draws
from veridical.inference import consistency_test
from veridical.inference._draws.monte_carlo import monte_carlo_pvalue
from veridical.results import ConsistencyTest


def four_sigma(p, n):
    return 4 * np.sqrt(p * (1 - p) / n) + 2 / n


def exact_pvalue(estimator, y, p, lens=None):
    """Probability of outcomes whose estimate is at least the observed one, by enumeration."""
    rows = p if p.ndim == 2 else np.column_stack([1 - p, p])
    observed, total = estimator(y, p, lens=lens), 0.0
    for outcome in itertools.product(range(rows.shape[1]), repeat=len(p)):
        drawn = np.array(outcome)
        if estimator(drawn, p, lens=lens) >= observed * (1 - 1e-12):
            total += rows[np.arange(len(p)), drawn].prod()
    return total


@pytest.mark.parametrize(
    "estimator",
    [BinnedError(UniformBins(2)), BinnedError(UniformBins(3), norm=2), CumulativeError()],
    ids=lambda e: e.name,
)
def test_binary_pvalue_is_the_probability_of_outcomes_as_extreme(estimator):
    p = np.array([0.1, 0.3, 0.4, 0.6, 0.65, 0.9])
    y = np.array([1, 0, 1, 0, 0, 1])
    exact = exact_pvalue(estimator, y, p)
    test = consistency_test(estimator, y, p, n_resamples=20_000, rng=1)
    assert test.pvalue == pytest.approx(exact, abs=four_sigma(exact, 20_000))


@pytest.mark.filterwarnings("ignore:.*mostly noise")
@pytest.mark.parametrize(
    ("estimator", "lens"),
    [
        (BinnedError(UniformBins(2)), "classwise"),
        (BinnedError(UniformBins(3), norm=2, aggregate="max"), "classwise"),
        (BinnedError(QuantileBins(2)), "classwise"),
        (BinnedError(UniformBins(2)), "canonical"),
        (BinnedError(VarianceSplitBins(3)), "canonical"),
        (BinnedError(UniformBins(3)), "confidence"),
    ],
)
def test_multiclass_pvalue_is_the_probability_of_outcomes_as_extreme(estimator, lens):
    p = np.array([[0.1, 0.3, 0.6], [0.5, 0.2, 0.3], [0.8, 0.1, 0.1], [0.2, 0.2, 0.6],
                  [0.3, 0.4, 0.3], [0.6, 0.3, 0.1]])  # fmt: skip
    y = np.array([0, 1, 0, 2, 2, 2])
    exact = exact_pvalue(estimator, y, p, lens)
    assert 0.01 < exact < 0.99
    test = consistency_test(estimator, y, p, lens=lens, n_resamples=20_000, rng=2)
    assert test.pvalue == pytest.approx(exact, abs=four_sigma(exact, 20_000))


# 000 Table 3: probabilities of classes 1 to 3 in thirtieths, and the class.
TABLE_3 = np.array([
    (30, 0, 0, 1), (27, 3, 0, 1), (24, 3, 3, 1), (21, 3, 6, 1), (18, 9, 3, 1), (12, 3, 15, 1),
    (10, 10, 10, 1), (10, 10, 10, 1), (6, 12, 12, 1), (3, 15, 12, 1), (24, 6, 0, 2), (21, 0, 9, 2),
    (15, 6, 9, 2), (12, 12, 6, 2), (12, 6, 12, 2), (9, 12, 9, 2), (6, 9, 15, 2), (3, 18, 9, 2),
    (3, 9, 18, 2), (0, 6, 24, 2), (24, 6, 0, 3), (24, 3, 3, 3), (24, 0, 6, 3), (18, 0, 12, 3),
    (9, 0, 21, 3), (6, 18, 6, 3), (6, 12, 12, 3), (0, 12, 18, 3), (0, 9, 21, 3), (0, 9, 21, 3),
])  # fmt: skip


def test_survey_example_of_classwise_ece():
    # 000 section 6 prints 0.016 from 1,000 draws; 0.0126 with ties counted and 0.0115 without.
    y, p = TABLE_3[:, 3], TABLE_3[:, :3] / 30
    estimator = BinnedError(UniformBins(5))
    test = consistency_test(estimator, y, p, lens="classwise", n_resamples=50_000, rng=3)
    assert test.pvalue == pytest.approx(0.0126, abs=four_sigma(0.0126, 50_000))
    larger = (test.null_level.sample > test.statistic * (1 + 1e-12)).mean()
    assert larger == pytest.approx(0.0115, abs=four_sigma(0.0115, 50_000))


def test_pvalue_counts_ties_and_the_observed_value_itself():
    null = np.array([0.1, 0.2, 0.2 * (1 - 1e-15), 0.3])
    assert monte_carlo_pvalue(0.2, null) == 4 / 5
    assert monte_carlo_pvalue(0.2, null, "less") == 4 / 5
    assert monte_carlo_pvalue(0.3, null) == 2 / 5
    assert monte_carlo_pvalue(0.3, null, "two-sided") == 4 / 5
    assert monte_carlo_pvalue(0.2, null, "two-sided") == 1.0
    assert monte_carlo_pvalue(-0.1, np.array([-0.1, -0.2])) == 2 / 3


def test_null_sample_is_that_of_the_null_level(binary):
    from veridical import null_level

    test = consistency_test(BinnedError(), binary.y, binary.p, rng=5)
    level = null_level(BinnedError(), binary.y, binary.p, rng=5)
    assert test.null_level == level
    assert test.statistic == level.estimate == BinnedError()(binary.y, binary.p)


@pytest.mark.parametrize("lens", ["confidence", "classwise", "canonical"])
def test_row_order_and_seed(lens, multiclass):
    estimator = BinnedError(UniformBins(4))
    shuffled = np.random.default_rng(0).permutation(len(multiclass.y))
    first = consistency_test(estimator, multiclass.y, multiclass.p, lens=lens, rng=7)
    again = consistency_test(estimator, multiclass.y, multiclass.p, lens=lens, rng=7)
    other = consistency_test(
        estimator, multiclass.y[shuffled], multiclass.p[shuffled], lens=lens, rng=7
    )
    assert first == again
    assert other.pvalue == first.pvalue
    np.testing.assert_allclose(other.null_level.sample, first.null_level.sample, atol=1e-12)


@pytest.mark.parametrize("estimator", [BinnedError(), CumulativeError()], ids=lambda e: e.name)
def test_frequency_weights_are_repeated_rows(estimator, binary):
    weight = np.random.default_rng(3).integers(0, 4, len(binary.y))
    rows = np.repeat(np.arange(len(weight)), weight)
    weighted = consistency_test(
        estimator, binary.y, binary.p, sample_weight=weight, weight_type="frequency", rng=1
    )
    repeated = consistency_test(estimator, binary.y[rows], binary.p[rows], rng=1)
    assert weighted.pvalue == repeated.pvalue
    np.testing.assert_allclose(weighted.null_level.sample, repeated.null_level.sample, atol=1e-12)


@pytest.mark.parametrize("lens", ["classwise", "canonical"])
def test_frequency_weights_of_several_classes_are_repeated_rows(lens, multiclass):
    estimator = BinnedError(UniformBins(4))
    weight = np.random.default_rng(3).integers(0, 4, len(multiclass.y))
    rows = np.repeat(np.arange(len(weight)), weight)
    y, p = multiclass.y, multiclass.p
    options = {"lens": lens, "rng": 1, "n_resamples": 200}
    weighted = consistency_test(
        estimator, y, p, sample_weight=weight, weight_type="frequency", **options
    )
    repeated = consistency_test(estimator, y[rows], p[rows], **options)
    assert weighted.pvalue == repeated.pvalue


@pytest.mark.parametrize("lens", ["classwise", "canonical"])
@pytest.mark.parametrize("by_label", [False, True])
def test_weighted_sums_by_class_are_those_of_a_naive_loop(lens, by_label, multiclass):
    """Same outcomes: the residual of a cell is drawn, what it is divided by is that of the data."""
    from veridical._core.resampling.hypothesis import redraw_of
    from veridical.inference._nulls.null import null_sample
    from veridical.lenses.reading import RawData

    y, p = multiclass.y, multiclass.p
    w = np.array([1.0, 4.0, 0.5])[y] if by_label else multiclass.w
    induced = RawData(y, p).weighted(w).through(lens, caller="test")
    estimator = BinnedError(UniformBins(4))
    fast = null_sample(estimator, induced.problem, Draws(20, np.random.default_rng(0)))
    redraw = redraw_of(induced.sample)
    drawn = np.vstack(list(redraw.outcomes(Draws(20, np.random.default_rng(0)))))
    q, total = p[redraw.rows], w.sum()
    cell = np.clip(np.ceil(q * 4) - 1, 0, 3).astype(int)  # (a, b], as bins are
    slow = []
    for outcome in drawn:
        sums = {}
        for i, k in enumerate(outcome):
            weight = redraw.weight[i, k]
            for c in range(3):
                key = (c, cell[i, c]) if lens == "classwise" else (c, *cell[i])
                sums[key] = sums.get(key, 0.0) + weight * ((k == c) - q[i, c])
        apart = sum(abs(each) for each in sums.values()) / total
        slow.append(apart / (3 if lens == "classwise" else 2))  # mean of classes, half of L1
    np.testing.assert_allclose(fast, slow, rtol=1e-9)


def test_a_null_map_is_what_outcomes_are_drawn_from():
    rng = np.random.default_rng(8)
    p = rng.random(4000)
    y = rng.random(4000) < p**2
    rejected = consistency_test(BinnedError(), y, p, rng=0)
    kept = consistency_test(BinnedError(), y, p, rng=0, null_map=np.square)
    assert rejected.pvalue == 1 / 1001
    assert kept.pvalue > 0.01
    assert kept.null_level.mean == pytest.approx(1 / 6, abs=0.01)  # E (p - p^2)
    identity = consistency_test(BinnedError(), y, p, rng=0, null_map=lambda q: q)
    assert identity.pvalue == rejected.pvalue
    assert "null map" in kept.null


def test_a_null_map_works_for_vectors(multiclass):
    def flat(p):
        return np.full(p.shape, 1 / 3)

    y, p = multiclass.y, multiclass.p
    same = {"lens": "classwise", "rng": 0, "n_resamples": 200}
    drawn = consistency_test(BinnedError(UniformBins(1)), y, p, null_map=flat, **same)
    # One bin: the gap is that between the class frequency, 1/3 on average, and the mean p.
    expected = np.abs(p.mean(axis=0) - 1 / 3).mean()
    assert drawn.null_level.mean == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize(
    ("null_map", "what"),
    [
        (lambda p: p * 2, r"in \[0, 1\]"),
        (lambda p: p[:3], "of shape"),
        (lambda p: p * np.nan, "finite"),
    ],
)
def test_a_bad_null_map_is_refused(null_map, what, binary):
    with pytest.raises(InvalidInputError, match=what):
        consistency_test(BinnedError(), binary.y, binary.p, null_map=null_map)


def test_bootstrapped_predictions_warn_and_widen_the_null(binary):
    with pytest.warns(VeridicalWarning, match="does not hold its level"):
        test = consistency_test(
            BrierScore(), binary.y, binary.p, predictions="bootstrap", rng=0, n_resamples=400
        )
    fixed = consistency_test(BrierScore(), binary.y, binary.p, rng=0, n_resamples=400)
    # Drawing rows adds the variance of p (1 - p) to that of the outcomes.
    p = binary.p
    added = np.var(p * (1 - p)) / len(p)
    assert test.null_level.std**2 == pytest.approx(fixed.null_level.std**2 + added, rel=0.35)
    assert test.notes


def test_bootstrapped_predictions_through_the_classwise_lens(multiclass):
    with pytest.warns(VeridicalWarning, match="level"):
        test = consistency_test(
            BinnedError(), multiclass.y, multiclass.p, lens="classwise",
            predictions="bootstrap", n_resamples=20, rng=0,
        )  # fmt: skip
    assert 0 < test.pvalue <= 1


def test_sweep_bins_fixed_or_made_anew(binary):
    estimator = BinnedError(SweepBins())
    anew = consistency_test(estimator, binary.y, binary.p, rng=0, n_resamples=200)
    fixed = consistency_test(
        estimator, binary.y, binary.p, rng=0, n_resamples=200, refit_bins=False
    )
    # The number of bins follows the outcomes when bins are made anew.
    assert anew.statistic == fixed.statistic
    assert not np.array_equal(anew.null_level.sample, fixed.null_level.sample)


@pytest.mark.parametrize(
    ("estimator", "predictions"),
    [
        (CumulativeError(), "fixed"),
        (BinnedError(assignment="linear"), "fixed"),
        (BinnedError(QuantileBins(5)), "bootstrap"),
    ],
)
def test_bins_that_cannot_be_fixed_are_refused(estimator, predictions, binary):
    with pytest.raises(InvalidInputError, match="refit_bins"):
        consistency_test(
            estimator, binary.y, binary.p, refit_bins=False, predictions=predictions, n_resamples=5
        )


def test_scores_smaller_than_promised_are_evidence_too():
    rng = np.random.default_rng(0)
    p = np.where(rng.random(2000) < 0.5, 0.3, 0.7)
    y = rng.random(2000) < np.where(p > 0.5, 0.85, 0.15)  # under-confident
    options = {"rng": 0, "n_resamples": 500}
    assert consistency_test(BrierScore(), y, p, **options).pvalue > 0.9
    assert consistency_test(BrierScore(), y, p, alternative="less", **options).pvalue < 0.01
    both = consistency_test(BrierScore(), y, p, alternative="two-sided", **options)
    assert both.pvalue == pytest.approx(2 / 501)


@pytest.mark.parametrize("option", [{"predictions": "fixd"}, {"alternative": "both"}])
def test_unknown_options_are_named(option, binary):
    with pytest.raises(InvalidInputError, match=next(iter(option))):
        consistency_test(BinnedError(), binary.y, binary.p, **option)


def test_what_cannot_be_called_is_no_estimator(binary):
    with pytest.raises(InvalidInputError, match="`estimator` must be"):
        consistency_test("ece", binary.y, binary.p)


def test_result_reads_back_and_prints(binary):
    test = consistency_test(BinnedError(), binary.y, binary.p, rng=0, n_resamples=99)
    assert ConsistencyTest.from_dict(json.loads(test.to_json())) == test
    assert str(test).startswith("consistency test of ECE: statistic")
    assert "99 draws of outcomes" in str(test)
    assert test.to_frame()["pvalue"][0] == test.pvalue
