"""The release gate: figures, limits, tests, groups and baselines that requirements speak of."""

from __future__ import annotations

import math
import warnings

import numpy as np
import polars as pl
import pytest
from scipy import stats

from veridical import (
    BinnedError,
    BrierScore,
    bootstrap_interval,
    cox_test,
    equivalence_test,
    evaluate,
    grid_summary,
    paired_difference,
    required_sample_size,
)
from veridical.evaluation._gate.gate import check_requirements
from veridical.exceptions import InvalidInputError, VeridicalWarning
from veridical.results.gate import GateResult

Z = 1.959963984540054  # 97.5 % quantile of the standard normal


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(5)
    p = rng.random(2000)
    return (rng.random(2000) < p).astype(int), p


def check(*arguments, **options):
    """Without the doubts, which are asked for where they matter."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VeridicalWarning)
        return check_requirements(*arguments, **options)


def value(requirement, *arguments, **options):
    return check(*arguments, requirements=requirement, **options).checks[0].value


def test_figures_are_those_of_an_evaluation(rows):
    found = {figure.name: figure for figure in check(*rows, requirements=[]).measured.figures}
    e = evaluate(*rows)
    assert found["ece_equal_mass"].value == e.error("ECE equal-mass").value
    assert found["auc"].value == e.auc
    assert found["log"].value == e.scores["log"]
    assert found["zero_one"].value == 1 - e.accuracy
    assert found["slope"].value == e.slope.estimate
    limits = found["slope"].low, found["slope"].high
    assert limits == pytest.approx((e.slope.low, e.slope.high), abs=0.02)  # robust, of many rows
    assert found["observed_expected"].value == e.observed_expected
    assert value("ece.pvalue > 0", *rows) == e.error("ECE").pvalue
    assert value("ece.null_q95 > 0", *rows) == e.error("ECE").null_q95


def test_limits_of_errors_are_those_of_the_interval_by_itself(rows):
    interval = bootstrap_interval(BinnedError(), *rows, confidence_level=0.9)
    assert value("ece.high < 1", *rows, confidence_level=0.9) == interval.high
    assert value("ece.low < 1", *rows, confidence_level=0.9) == interval.low


def test_limits_of_scores_are_those_of_the_interval_by_itself(rows):
    y, p = rows
    interval = bootstrap_interval(BrierScore(), *rows)
    assert value("brier.high < 1", *rows) == interval.high
    assert value("brier.low < 1", *rows) == interval.low
    right = int(((p > 0.5) == y).sum())
    exact = stats.binomtest(right, len(y)).proportion_ci(method="exact")
    assert value("accuracy.low > 0", *rows) == pytest.approx(exact.low)
    assert value("accuracy.high > 0", *rows) == pytest.approx(exact.high)


def test_thirty_of_thirty_right_is_not_certainty():
    y, p = [1] * 30, [0.9] * 30
    assert value("accuracy.low > 0", y, p) == pytest.approx(0.025 ** (1 / 30))
    for score in ("brier", "log", "spherical"):
        limits = [value(f"{score}.{end} < 9", y, p) for end in ("low", "high")]
        assert limits[0] < limits[1]


@pytest.mark.parametrize(
    ("requirement", "outcome"),
    [
        ("accuracy.low > 0.5", "met"),
        ("accuracy.low > 0.8", "undecided"),
        ("accuracy.low > 0.95", "not met"),
        ("accuracy.low >= 0.588", "met"),
        ("zero_one.high < 0.5", "met"),
        ("zero_one.high < 0.2", "undecided"),
        ("zero_one.high < 0.1", "not met"),
        ("accuracy > 0.7", "met"),
        ("accuracy > 0.8", "not met"),
        ("accuracy.high > 0.85", "met"),
        ("accuracy.high > 0.9", "not met"),
        ("equivalence(0.4).pvalue < 0.05", "met"),
        ("equivalence(0.03).pvalue < 0.05", "undecided"),
        ("equivalence(0.03).high < 0.4", "met"),
        ("intercept.low > -9", "met"),
    ],
)
def test_not_shown_is_not_passed(requirement, outcome):
    """30 of 40 are right: 0.588 to 0.873 by Clopper and Pearson."""
    y = [0, 0, 0, 1] * 5 + [1, 1, 1, 0] * 5
    p = [0.25] * 20 + [0.75] * 20
    found = check(y, p, requirements=requirement)
    assert (found.checks[0].outcome, found.outcome) == (outcome, outcome)
    assert found.passed == (outcome == "met")


def test_what_is_shown_to_be_broken_outranks_what_is_open(rows):
    texts = ["ece.high < 0.9", "ece.high < 0.001", "accuracy.low > 0.99"]
    found = check(*rows, requirements=texts)
    assert [each.outcome for each in found.checks] == ["met", "undecided", "not met"]
    assert found.outcome == "not met"
    assert [each.requirement for each in found.undecided] == ["ece.high < 0.001"]


def test_rows_that_would_decide_do_decide():
    """As many rows as were said to be enough, of the same law, show it in most samples."""
    rng = np.random.default_rng(4)

    def drawn(n):
        p = rng.random(n)
        return (rng.random(n) < p).astype(int), p

    needed = check(*drawn(300), requirements="brier.high < 0.18").checks[0].rows
    assert needed > 300
    met = [check(*drawn(2 * needed), requirements="brier.high < 0.18").passed for _ in range(8)]
    assert sum(met) >= 6


def test_calibrated_needs_evidence_and_nothing_against_it():
    rng = np.random.default_rng(7)
    p = rng.random(6000)
    y = (rng.random(6000) < p).astype(int)
    assert check(y, p, requirements="calibrated").outcome == "met"
    few = check(y[:200], p[:200], requirements="calibrated")
    assert few.outcome == "undecided"
    assert few.checks[0].rows > 200
    assert few.checks[0].limit == pytest.approx(0.1 * min(y[:200].mean(), 1 - y[:200].mean()))
    assert check(y, p**1.5, requirements="calibrated").outcome == "not met"
    assert check(y, p, requirements="calibrated(50%)").outcome == "met"
    assert check(y, p, requirements="calibrated(0.0001)").outcome == "undecided"


def test_vectors_off_behind_a_perfect_confidence_are_not_calibrated():
    """In the manner of 002's Example 1: every row is off by a total variation of 0.1."""
    p = np.array([[1, 3, 6], [1, 6, 3], [3, 1, 6], [3, 6, 1], [6, 1, 3], [6, 3, 1]]) / 10
    truth = np.array([[2, 2, 6], [0, 6, 4], [2, 2, 6], [4, 6, 0], [6, 2, 2], [6, 2, 2]]) / 10
    rng = np.random.default_rng(0)
    row = rng.integers(0, 6, 2000)
    y = (rng.random((2000, 1)) > truth[row].cumsum(axis=1)).sum(axis=1).clip(max=2)
    texts = ["ece.high < 0.05", "calibrated", "canonical_ece.high < 0.05", "canonical_ece.low > 0"]
    found = check(y, p[row], requirements=texts)
    assert [each.outcome for each in found.checks] == ["met", "not met", "not met", "met"]
    assert "confidence" in found.checks[0].definition
    assert found.verdict.kind == "miscalibrated"


def test_reversed_predictions_meet_nothing(rows):
    y, p = rows
    found = check(y, 1 - p, requirements="brier.high < 9")
    assert [each.outcome for each in found.checks] == ["not met", "met"]
    assert found.outcome == "not met"
    assert "pos_label" in found.checks[0].definition


def test_every_line_says_its_class_and_its_lens():
    y, p = ["no", "no", "no", "yes"] * 25, [0.25] * 100
    frame = pl.DataFrame({"answer": y, "p": p})
    found = check(frame, y="answer", prob="p", requirements=["ece.high < 1", "slope.low > -99"])
    for each in found.checks:
        assert "answer = 'yes'" in each.definition
        assert "binary" in each.definition


def test_a_limit_that_the_forecast_0_meets_says_nothing():
    rng = np.random.default_rng(1)
    y = (rng.random(5000) < 0.004).astype(int)
    texts = ["ece.high < 0.05", "equivalence(0.01).pvalue < 0.05", "calibrated(0.01)"]
    found = check(y, np.full(5000, 0.004), requirements=texts)
    assert [each.outcome for each in found.checks] == ["met", "met", "undecided"]
    notes = " ".join(found.notes)
    assert "'ece.high < 0.05' says nothing here: the forecast 0 meets it too" in notes
    assert "a margin of 0.01 says nothing here" in notes


def test_limits_of_weighted_scores_are_those_of_the_interval_by_itself(rows):
    y, p = rows
    w = np.random.default_rng(1).integers(0, 3, len(y))
    interval = bootstrap_interval(BrierScore(), y, p, sample_weight=w)
    assert value("brier.high < 1", y, p, sample_weight=w) == pytest.approx(interval.high)
    kept = w > 0
    alone = check(y[kept], p[kept], requirements="brier.high<1", sample_weight=w[kept])
    both = check(y, p, requirements="brier.high<1", sample_weight=w)
    assert alone.checks == both.checks


@pytest.mark.parametrize("shape", ["one column", "positive first", "two columns"])
def test_tests_are_those_of_the_functions(rows, shape):
    y, p = rows
    names = np.array(["ill", "well"])[y]
    options = {}
    given = p
    if shape == "positive first":
        options, given = {"pos_label": "ill"}, 1 - p
    elif shape == "two columns":
        options, given = {"labels": ["well", "ill"]}, np.column_stack([p, 1 - p])
    found = check(
        names, given,
        requirements=["cox().pvalue > 0", "equivalence(0.05).pvalue < 1",
                      "equivalence(0.05).high < 1", "cox().statistic < 100"],
        **options,
    )  # fmt: skip
    cox = cox_test(names, given, **options)
    equivalent = equivalence_test(names, given, delta=0.05, **options)
    expected = [cox.pvalue, equivalent.pvalue, equivalent.upper, cox.statistic]
    assert [each.value for each in found.checks] == pytest.approx(expected, rel=1e-9)


def test_all_requirements_must_be_met(rows):
    result = check(*rows, requirements=["auc > 0.5", "auc > 0.99", "ece.high < 0.5"])
    assert [each.passed for each in result.checks] == [True, False, True]
    assert not result.passed
    assert [each.requirement for each in result.failed] == ["auc > 0.99"]
    assert check(*rows, requirements=[]).passed


def test_a_test_that_does_not_reject_is_no_evidence(rows):
    with pytest.warns(VeridicalWarning, match="no evidence of calibration"):
        result = check_requirements(*rows, requirements="cox().pvalue > 0.001")
    assert result.passed
    assert any("no evidence of calibration" in note for note in result.notes)
    with pytest.warns(VeridicalWarning, match=r"'ece.high' is its limit"):
        check_requirements(*rows, requirements="ece < 0.3")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_requirements(*rows, requirements=["ece.high < 0.3", "auc.low > 0.5"])


def test_rows_that_would_have_been_enough_are_told():
    rng = np.random.default_rng(8)
    p = rng.random(400)
    y = (rng.random(400) < p).astype(int)
    result = check(y, p, requirements="equivalence(0.02).pvalue < 0.05")
    assert not result.passed
    needed = required_sample_size(0.02, goal="equivalence", y_prob=p).n
    assert result.checks[0].rows == needed
    assert f"about {needed:,} rows would decide" in str(result).replace("\n      ", " ")
    wrong = check(y, 1 - p, requirements="equivalence(0.2).pvalue < 0.05")  # rows were enough
    assert wrong.checks[-1].outcome == "not met"
    assert wrong.checks[-1].rows is None


def test_doubts_about_figures_not_asked_for_are_left_out():
    y, p = [0, 0, 0, 1] * 250 + [1, 1, 1, 0] * 250, [0.25] * 1000 + [0.75] * 1000
    assert check(y, p, requirements="auc.low > 0").notes == ()
    notes = check(y, p, requirements="ece_equal_mass.high < 1").notes
    assert any(note.startswith("ECE equal-mass: ") for note in notes)


def test_few_rows_pass_a_test_but_not_a_limit():
    # Predictions 0.5 and a true rate of 0.6: 20 rows do not show it, and prove nothing.
    y, p = [1] * 12 + [0] * 8, [0.5] * 20
    result = check(y, p, requirements=["cox().pvalue > 0.05", "ece.high < 0.1"])
    assert [each.passed for each in result.checks] == [True, False]


def test_every_group_is_asked_by_itself(rows):
    y, p = rows
    region = np.where(np.arange(len(y)) % 3 == 0, "north", "south")
    texts = ["ece.high < 1", "groups: equivalence(0.1).pvalue < 1", "all: cox().pvalue > 0"]
    result = check(y, p, requirements=texts, by=region)
    assert [each.group for each in result.checks] == [
        None, "north", "south", "north", "south", None,
    ]  # fmt: skip
    for found in result.checks:
        kept = np.ones(len(y), bool) if found.group is None else region == found.group
        text = found.requirement.split(": ")[-1]
        assert found.value == value(text, y[kept], p[kept])
        assert found.n_samples == kept.sum()
    assert any("all 2 groups must pass" in note for note in result.notes)


def test_what_cannot_be_told_of_a_group_fails_with_a_reason(rows):
    y, p = rows
    lonely = np.where(p > 0.999, "few", "many")
    y = np.where(p > 0.999, 1, y)
    result = check(y, p, requirements=["groups: auc > 0", "groups: auc.low > 0"][:1], by=lonely)
    few, many = result.checks
    assert (few.group, few.passed, few.value) == ("few", False, None)
    assert "no value" in few.reason
    assert many.passed


def test_an_infinite_score_fails():
    y, p = [0, 1] * 50, [0.2, 0.8] * 49 + [0.0, 0.0]
    result = check(y, p, requirements=["log < 100"])
    assert result.checks[0].value == math.inf
    assert not result.passed
    assert check(y, p, requirements=["log.high < 1"]).outcome == "not met"
    assert check(y, p, requirements=["brier.high < 1"]).outcome == "met"


@pytest.mark.parametrize(
    ("requirement", "message"),
    [
        ("ecee < 1", "did you mean 'ece'?"),
        ("equivalense < 1", "did you mean 'equivalence'?"),
        ("something < 1", "figures: accuracy, auc"),
        ("mean_observed.high < 1", "figures with limits: accuracy, auc, calibration_in_the_large"),
        ("auc.pvalue < 1", "figures with a null level: ece"),
        ("difference(log).high < 1", "`against` must be given"),
        ("log - baseline.log < 1", "`against` must be given"),
        ("groups: ece < 1", "`by` must be given"),
    ],
)
def test_what_is_not_there_is_refused_with_what_is(rows, requirement, message):
    with pytest.raises(InvalidInputError) as caught:
        check(*rows, requirements=requirement)
    assert message in str(caught.value)


def test_an_evaluation_has_figures_but_no_rows(rows):
    e = evaluate(*rows, by=rows[0])
    result = check(e, requirements=["all: ece.high < 1", "groups: brier < 2"])
    assert result.checks[0].value == e.error("ECE").high
    assert [each.group for each in result.checks] == [None, "0", "1"]
    with pytest.raises(InvalidInputError, match="an evaluation, which has no rows"):
        check(e, requirements="cox().pvalue > 0")
    assert check(e, requirements="brier.high < 1").checks[0].value == e.interval("brier")[1]
    with pytest.raises(InvalidInputError, match="`by` must be unset with an evaluation"):
        check(e, requirements="ece < 1", by="region")


def test_a_frame_names_columns(rows):
    y, p = rows
    frame = pl.DataFrame({"out": y, "new": p, "old": np.clip(p + 0.1, 0, 1), "part": y % 2})
    result = check(
        frame, y="out", prob="new", by="part", against_prob="old",
        requirements=["difference(brier).high < 1"],
    )  # fmt: skip
    assert [each.group for each in result.checks] == [None, "0", "1"]
    difference = paired_difference(BrierScore(), y, p, frame["old"].to_numpy())
    assert result.checks[0].value == difference.high
    assert "guessed" not in " ".join(result.notes)


def test_paired_differences_by_hand():
    # Two of four rows differ, by 1/4 each, which is the most they can: 1/4 of Clopper-Pearson's.
    options = {"against_prob": [0, 1, 0, 1]}
    y, p = [0, 1, 0, 1], [0.5, 0.5, 0.0, 1.0]
    assert value("difference(brier).value < 1", y, p, **options) == 0.125
    assert value("difference(brier).high < 1", y, p, **options) == pytest.approx(
        stats.beta.ppf(0.975, 3, 2) / 4
    )
    # Ties go to the first class, so one row of four is wrong where none was.
    assert value("difference(accuracy).value < 1", y, p, **options) == -0.25
    with pytest.raises(InvalidInputError, match="differences of brier, log, spherical"):
        check(y, p, requirements="difference(ece).high < 1", **options)


def test_several_classes_are_asked_through_the_confidence_by_default():
    rng = np.random.default_rng(2)
    p = rng.dirichlet([1.0, 1.0, 1.0], 600)
    y = np.array([rng.choice(3, p=row) for row in p])
    result = check(y, p, requirements=["ece.high < 1", "classwise_ece < 1", "brier.high < 2"])
    assert result.lens == "confidence"
    assert result.checks[0].value == bootstrap_interval(BinnedError(), y, p).high
    assert result.checks[2].value == pytest.approx(
        bootstrap_interval(BrierScore(), y, p, lens="canonical").high
    )
    with pytest.raises(InvalidInputError, match="a single binary problem"):
        check(y, p, requirements="equivalence(0.1).pvalue < 1", lens="classwise")


def test_sums_meet_the_requirements_that_their_rows_meet(rows, tmp_path):
    y, p = rows[0], np.round(rows[1], 3)  # cells of their own, so that nothing is lost
    group = np.arange(len(y)) % 2
    texts = ["ece.high < 1", "equivalence(0.1).pvalue < 2", "cox().pvalue < 2", "slope.low > 0",
             "consistency().pvalue < 2", "auc > 0"]  # fmt: skip
    wanted = check(y, p, requirements=texts, by=group)
    path = tmp_path / "rows.csv"
    lines = [f"{a},{b},{c}" for a, b, c in zip(y, p, group, strict=True)]
    path.write_text("\n".join(["y,p,g", *lines]))
    pushed = check(path, y="y", prob="p", by="g", requirements=texts, engine="pushdown")
    for found in (check(grid_summary(y, p, by=group), requirements=texts), pushed):
        assert [c.group for c in found.checks] == [c.group for c in wanted.checks]
        values = [c.value for c in found.checks]
        assert values == pytest.approx([c.value for c in wanted.checks])
        assert any("made from sums" in note for note in found.notes)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"requirements": [], "against_prob": [0.5]}, "rows here; got a summary"),
        ({"requirements": [], "engine": "memory"}, "rows here; got a summary"),
    ],
)
def test_what_sums_do_not_tell_is_refused(rows, options, message):
    with pytest.raises(InvalidInputError, match=message):
        check(grid_summary(*rows), **options)


def test_the_same_seed_gives_the_same_result(rows):
    texts = ["consistency().pvalue > 0", "ece.pvalue > 0"]
    first = check(*rows, requirements=texts, rng=3, n_resamples=200)
    assert first == check(*rows, requirements=texts, rng=3, n_resamples=200)
    assert GateResult.from_json(first.to_json()) == first


def test_requirements_must_be_texts(rows):
    for bad in (3, [3], {"ece": 1}):
        with pytest.raises(InvalidInputError, match="`requirements` must be"):
            check(*rows, requirements=bad)


def test_the_risk_of_answers_is_exact_and_undecided_where_nothing_is_answered():
    rng = np.random.default_rng(0)
    p = rng.dirichlet([0.5, 0.4, 0.3], 800)
    y = (p.cumsum(axis=1) > rng.random((800, 1))).argmax(axis=1)
    texts = ["risk(0.8).high < 0.2", "risk(80%).value < 0.2", "risk(1.0).high < 0.5"]
    result = check(y, p, requirements=texts, n_resamples=10)
    top = p.max(axis=1) >= 0.8
    wrong, n = int((p.argmax(axis=1) != y)[top].sum()), int(top.sum())
    high = stats.beta.ppf(0.975, wrong + 1, n - wrong)  # Clopper & Pearson
    assert result.checks[0].value == pytest.approx(high)
    assert result.checks[1].value == pytest.approx(wrong / n)
    assert result.checks[2].outcome == "undecided"


@pytest.mark.parametrize("text", ["risk.high < 0.1", "risk(2).high < 0.1", "risk(0.8).pvalue < 1"])
def test_a_risk_needs_a_confidence_and_a_limit(text):
    with pytest.raises(InvalidInputError):
        check_requirements([0, 1], [0.2, 0.8], requirements=text)
