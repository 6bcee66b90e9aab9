"""The language of requirements: what is read, what is refused, what is doubted."""

from __future__ import annotations

import math

import pytest

from veridical.evaluation._gate.gate import doubt_of
from veridical.evaluation._gate.language import Quantity, read_rule
from veridical.exceptions import InvalidInputError


def read(text):
    return read_rule(text, caller="check_requirements")


@pytest.mark.parametrize(
    ("text", "quantity", "operator", "limit"),
    [
        ("ece.high < 0.05", Quantity("ece", "high"), "<", 0.05),
        ("ece<0.05", Quantity("ece", "value"), "<", 0.05),
        ("  auc  >=  .8 ", Quantity("auc", "value"), ">=", 0.8),
        ("ECE_equal_mass.low <= 5e-2", Quantity("ece_equal_mass", "low"), "<=", 0.05),
        ('"ECE equal-mass".high < 1', Quantity("ece_equal_mass", "high"), "<", 1.0),
        ("'observed/expected' > 0.9", Quantity("observed_expected", "value"), ">", 0.9),
        ("intercept.low > -0.1", Quantity("intercept", "low"), ">", -0.1),
        ("intercept.low > +1.", Quantity("intercept", "low"), ">", 1.0),
        ("equivalence(0.03).pvalue < 0.05", Quantity("equivalence", "pvalue", 0.03), "<", 0.05),
        ("equivalence( 3e-2 ) . high < 0.03", Quantity("equivalence", "high", 0.03), "<", 0.03),
        ("equivalence(5%).high < 0.03", Quantity("equivalence", "high", "5%"), "<", 0.03),
        ("calibrated", Quantity("calibrated", "verdict"), "", None),
        ("calibrated()", Quantity("calibrated", "verdict"), "", None),
        ("calibrated(20%)", Quantity("calibrated", "verdict", "20%"), "", None),
        ("calibrated(0.03)", Quantity("calibrated", "verdict", 0.03), "", None),
        ("cox().pvalue > 0.05", Quantity("cox", "pvalue"), ">", 0.05),
        ("hosmer_lemeshow().statistic < 20", Quantity("hosmer_lemeshow", "statistic"), "<", 20.0),
        ("difference('zero-one').high < 0", Quantity("difference", "high", "zero_one"), "<", 0.0),
    ],
)
def test_requirements_are_read(text, quantity, operator, limit):
    rule = read(text)
    assert (rule.quantity, rule.operator, rule.limit) == (quantity, operator, limit)
    assert (rule.minus, rule.scope, rule.text) == (None, "", text.strip())


def test_a_baseline_and_a_scope_are_read():
    rule = read("groups: log - baseline.log < 0.01")
    assert (rule.scope, rule.quantity, rule.minus) == (
        "groups", Quantity("log", "value"), Quantity("log", "value"),
    )  # fmt: skip
    assert read("all:brier.high-baseline.brier.high<=0").minus == Quantity("brier", "high")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a requirement; got ''"),
        ("ece", "a comparison after 'ece.value'; got the end"),
        ("ece.high", "a comparison after 'ece.high'; got the end"),
        ("ece.hgh < 1", "did you mean 'high'?"),
        ("ece. < 1", "a known field; got '<'"),
        ("ece == 0.05", "got '=='"),
        ("ece = 0.05", "compare with <, <=, > or >="),
        ("ece <", "one number after '<'; got the end"),
        ("ece < high", "one number after '<'; got 'high'"),
        ("ece < 0.05 and auc > 0.8", "got 'and'"),
        ("ece < 5%", "got '5%'"),
        ("ece < 0.05x", "got '0.05x'"),
        ("0.05 > ece", "write the figure first"),
        ("< 0.05", "the name of a figure; got '<'"),
        ("equivalence < 0.05", "write 'equivalence(0.03).pvalue'"),
        ("equivalence() < 0.05", "a margin between 0 and 1"),
        ("equivalence(2).pvalue < 0.05", "a margin between 0 and 1"),
        ("equivalence(0.03) < 0.05", "a field after 'equivalence()'"),
        ("equivalence(0.03.pvalue < 0.05", "0.03.pvalue"),
        ("calibrated < 0.05", "nothing after 'calibrated'; got '<'"),
        ("calibrated(2)", "a margin between 0 and 1 in 'calibrated()'"),
        ("equivalence(100%).pvalue < 0.05", "a margin between 0 and 1"),
        ("cox(1).pvalue > 0.05", "a closing bracket"),
        ("cox().high > 0.05", "of a known field; got 'high'"),
        ("coks().pvalue > 0.05", "did you mean 'cox'?"),
        ("difference().high < 0", "a figure in 'difference()'"),
        ("log - brier < 0", "'baseline' after the minus; got 'brier'"),
        ("log - baseline < 0", "a dot after 'baseline'"),
        ("cox().pvalue - baseline.log < 0", "figures on both sides"),
        ("group: ece < 1", "did you mean 'groups'?"),
        ("ece[0] < 1", "got '[0] < 1'"),
        ("__import__('os').system('true') < 1", "of a known function"),
        ("ece < 1; auc > 0", "got '; auc > 0'"),
    ],
)
def test_what_is_no_requirement_is_refused_with_a_hint(text, message):
    with pytest.raises(InvalidInputError) as caught:
        read(text)
    said = str(caught.value)
    assert said.startswith("check_requirements: `requirements` must be ")
    assert "\nHint: " in said
    assert message in said


@pytest.mark.parametrize(
    ("operator", "value", "passes"),
    [
        ("<", 0.4, True), ("<", 0.5, False), ("<=", 0.5, True), ("<=", 0.6, False),
        (">", 0.6, True), (">", 0.5, False), (">=", 0.5, True), (">=", 0.4, False),
    ],
)  # fmt: skip
def test_comparisons(operator, value, passes):
    assert read(f"ece {operator} 0.5").holds(value) is passes


@pytest.mark.parametrize("operator", ["<", "<=", ">", ">="])
def test_none_and_nan_never_pass(operator):
    rule = read(f"ece {operator} 0.5")
    assert not rule.holds(None)
    assert not rule.holds(math.nan)


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        ("cox().pvalue > 0.05", "no evidence of calibration"),
        ("ece.pvalue >= 0.05", "no evidence of calibration"),
        ("cox().pvalue < 0.05", "asks that calibration is rejected"),
        ("equivalence(0.1).pvalue > 0.05", "asks that calibration is not shown"),
        ("difference(log).pvalue < 0.05", "does not say which of the two is better"),
        ("ece.low < 0.05", "the easier to meet the fewer the rows"),
        ("slope.high > 0.9", "require the 'low' limit"),
        ("log - baseline.log < 0.01", "'difference(log)' has limits"),
    ],
)
def test_requirements_that_prove_nothing_are_doubted(text, doubt):
    assert doubt in doubt_of(read(text))


@pytest.mark.parametrize(
    "text",
    ["ece.high < 0.05", "slope.low > 0.9", "equivalence(0.03).pvalue < 0.05", "auc > 0.8",
     "difference(log).high < 0.01", "accuracy.low >= 0.7"],
)  # fmt: skip
def test_evidence_is_not_doubted(text):
    assert doubt_of(read(text)) is None
