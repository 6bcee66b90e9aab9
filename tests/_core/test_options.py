"""Options that do not exist: the message lists those that do and names the nearest."""

from __future__ import annotations

import pytest

import veridical as v
from veridical.exceptions import invalid, unknown_option

Y, P = [0, 1, 1, 0], [0.2, 0.7, 0.6, 0.4]
ECE, CURVE = v.expected_calibration_error, v.reliability_curve

# (call, caller, parameter, value, nearest)
MISSPELT = [
    (lambda: ECE(Y, P, lens="confidense"), "expected_calibration_error", "lens", "confidense",
     "confidence"),
    (lambda: ECE(Y, P, lens="class-wise"), "expected_calibration_error", "lens", "class-wise",
     "classwise"),
    (lambda: v.evaluate(Y, P, lens="binery"), "evaluate", "lens", "binery", "binary"),
    (lambda: v.decompose(Y, P, lens="cannonical"), "decompose", "lens", "cannonical", "canonical"),
    (lambda: ECE(Y, P, strategy="quantiles"), "expected_calibration_error", "strategy",
     "quantiles", "quantile"),
    (lambda: v.maximum_calibration_error(Y, P, strategy="unifrom"), "maximum_calibration_error",
     "strategy", "unifrom", "uniform"),
    (lambda: v.classwise_calibration_error(Y, P, strategy="Sweep"), "classwise_calibration_error",
     "strategy", "Sweep", "sweep"),
    (lambda: ECE(Y, P, weight_type="frequencies"), "expected_calibration_error", "weight_type",
     "frequencies", "frequency"),
    (lambda: v.decompose(Y, P, rule="brier_score"), "decompose", "rule", "brier_score", "brier"),
    (lambda: v.decompose(Y, P, method="isotone"), "decompose", "method", "isotone", "isotonic"),
    (lambda: CURVE(Y, P, strategy="quantil"), "reliability_curve", "strategy", "quantil",
     "quantile"),
    (lambda: CURVE(Y, P, method="bin"), "reliability_curve", "method", "bin", "bins"),
    (lambda: CURVE(Y, P, interval="wilsson"), "reliability_curve", "interval", "wilsson",
     "wilson"),
    (lambda: v.BinnedError(assignment="inear"), "BinnedError", "assignment", "inear", "linear"),
    (lambda: v.BinnedError(aggregate="maximum"), "BinnedError", "aggregate", "maximum", "max"),
    (lambda: v.BinnedError(distance="realized"), "BinnedError", "distance", "realized",
     "realised"),
    (lambda: v.UniformBins(closed="righ"), "UniformBins", "closed", "righ", "right"),
    (lambda: v.EdgeBins([0.5], closed="lef"), "EdgeBins", "closed", "lef", "left"),
    (lambda: v.VarianceSplitBins(threshold="medain"), "VarianceSplitBins", "threshold", "medain",
     "median"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("call", "caller", "param", "value", "nearest"),
    MISSPELT,
    ids=[f"{caller} {value}" for _, caller, _, value, _ in MISSPELT],
)
def test_a_misspelt_option_names_the_nearest(call, caller, param, value, nearest):
    with pytest.raises(v.InvalidInputError) as caught:
        call()
    first, hint = str(caught.value).split("\n")
    assert first.startswith(f"{caller}: `{param}` must be one of '")
    assert first.endswith(f"; got {value!r}.")
    assert repr(nearest) in first
    assert hint == f"Hint: did you mean {nearest!r}?"


@pytest.mark.parametrize("value", ["zzz", 3, ("binary",), v.Confidence])
def test_an_option_like_no_other_lists_them_all(value):
    with pytest.raises(v.InvalidInputError, match="`lens` must be one of 'binary', 'confidence'"):
        ECE(Y, P, lens=value)


@pytest.mark.parametrize("value", [0, -3, 2.5, "many", None, True, [10]])
@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_a_bin_count_is_a_positive_integer_or_a_rule(value, strategy):
    expected = 'must be a positive integer, "sqrt", "cbrt" or "cv"; got '
    with pytest.raises(v.InvalidInputError, match=expected):
        ECE(Y, P, n_bins=value, strategy=strategy)


@pytest.mark.parametrize("value", [0, 1, 95, -0.5, float("nan"), "high", None])
@pytest.mark.parametrize("function", [v.reliability_curve, v.evaluate])
def test_a_confidence_level_is_a_fraction(function, value):
    expected = f"{function.__name__}: `confidence_level` must be between 0 and 1; got "
    with pytest.raises(v.InvalidInputError, match=expected):
        function(Y, P, confidence_level=value)


@pytest.mark.parametrize("value", [0.5, "inf", None, True, float("nan"), -1])
def test_a_norm_is_at_least_one(value):
    with pytest.raises(v.InvalidInputError, match='`norm` must be a number >= 1 or "max"; got '):
        ECE(Y, P, norm=value)


def test_messages_have_one_form():
    error = invalid("f", "x", "small", "7", hint="try 3.")
    assert str(error) == "f: `x` must be small; got 7.\nHint: try 3."
    assert isinstance(error, (v.VeridicalError, ValueError))


def test_an_unlikely_option_suggests_the_first():
    text = str(unknown_option("f", "x", "qqq", ["left", "right"]))
    assert (
        text == "f: `x` must be one of 'left', 'right'; got 'qqq'.\nHint: choose 'left' if unsure."
    )


def test_missing_dependencies_are_import_errors():
    assert issubclass(v.MissingDependencyError, ImportError)
    assert issubclass(v.MissingDependencyError, v.VeridicalError)
    assert issubclass(v.VeridicalWarning, UserWarning)
    assert not issubclass(v.VeridicalWarning, v.VeridicalError)
