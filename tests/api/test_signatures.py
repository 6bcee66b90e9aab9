"""One signature for all: `f(y_true, y_prob, *, ...)`, one spelling of every option."""

from __future__ import annotations

import inspect
from functools import partial
from inspect import Parameter

import pytest
from public_names import NAMES

import veridical
from veridical.miscalibration import Estimator

# Functions that take something else first, by the design.
EXCEPTIONS = {
    "audit_segments": ("y_true", "y_prob", "features"),
    "adjust_priors": ("y_prob", "train", "deploy"),
    "adjust_pvalues": ("pvalues",),
    "allocate": ("values", "costs", "budget"),
    "bootstrap_interval": ("estimator", "y_true", "y_prob"),
    "compare": ("predictions", "y_true"),
    "consistency_test": ("estimator", "y_true", "y_prob"),
    "correct_downsampling": ("y_prob", "rate"),
    "cost_threshold": ("cost_fp", "cost_fn"),
    "decide": ("y_prob", "costs"),
    "detectable_error": ("n",),
    "estimate_priors": ("y_prob",),
    "estimate_rate": ("y_true", "y_prob", "unlabelled"),
    "expected_cost": ("y_true", "y_prob", "costs"),
    "fake_classifier_for": ("accuracy", "ece"),
    "fit_fake_classifier": ("y_prob",),
    "load": ("path",),
    "mean_ranks": ("scores",),
    "measure_summary": ("estimator", "summary"),
    "merge_stores": ("paths",),
    "monitor_report": ("monitor",),
    "miscalibration_cost": ("y_true", "y_prob", "costs"),
    "multiple_test": ("estimator", "y_true", "y_prob"),
    "null_level": ("estimator", "y_true", "y_prob"),
    "paired_difference": ("estimator", "y_true", "y_prob", "other"),
    "plan_labels": ("y_prob",),
    "prior_threshold": ("train", "deploy"),
    "scorer": ("measure",),
    "required_sample_size": ("delta",),
    "save": ("calibrator", "path"),
    "simulate_decisions": ("process", "source"),
    "survey_binary_task": (),
    "survey_three_class_task": (),
    "summary_curve": ("summary",),
    "to_onnx": ("calibrator", "path"),
    "to_python": ("calibrator",),
    "to_sql": ("calibrator",),
    "to_torch": ("calibrator",),
    "summarise": ("problem", "binning"),
}

# Options that exist under one name only, and spellings that must not appear.
FORBIDDEN = {
    "alpha", "bins", "kwargs", "nbins", "num_bins", "positive_label", "prob_true", "random_state",
    "seed", "weight", "weights", "y_pred", "y_proba", "y_score",
}  # fmt: skip
DEFAULTS = {
    "aggregate": "norm",
    "confidence_level": 0.95,
    "debias": False,
    "labels": None,
    "lens": None,
    "n_bins": 15,
    "n_resamples": 1000,
    "pos_label": None,
    "rng": None,
    "sample_weight": None,
    "strategy": "uniform",
    "weight_type": "importance",
}

# What a test is known by: Hosmer and Lemeshow's has ten groups. Simulations repeat themselves.
OWN_DEFAULTS = {("hosmer_lemeshow_test", "n_bins"): 10, ("simulate_decisions", "rng"): 0}
OWN_DEFAULTS |= {("audit_segments", "n_bins"): 4, ("audit_segments", "n_resamples"): 999}
OWN_DEFAULTS[("summary_curve", "n_bins")] = None  # those of the summary
# Functions of numbers, not of data.
EXPORTED = {"save": ("None",), "to_python": ("str",), "to_sql": ("str", "list[str]")}
EXPORTED |= {"to_onnx": ("onnx.ModelProto",), "to_torch": ("torch.nn.Module",)}
ARRAYS = ("adjust_priors", "adjust_pvalues", "correct_downsampling", "cost_threshold")
RETURNS = dict.fromkeys((*ARRAYS, "prior_threshold"), ("FloatArray",)) | EXPORTED
ARGUMENTS = {"CostWeightedError": ((1.0, 2.0),), "FunctionMeasure": (max,)}

FUNCTIONS = [name for name in NAMES if inspect.isfunction(getattr(veridical, name))]
ESTIMATORS = [
    name
    for name in NAMES
    if inspect.isclass(getattr(veridical, name)) and issubclass(getattr(veridical, name), Estimator)
]
CALLS = {name: getattr(veridical, name) for name in FUNCTIONS} | {
    f"{name}.__call__": getattr(veridical, name).__call__ for name in ESTIMATORS
}


def _parameters(name):
    parameters = list(inspect.signature(CALLS[name]).parameters.values())
    return [parameter for parameter in parameters if parameter.name != "self"]


def test_there_are_functions_and_estimators_to_check():
    assert {"brier_score", "evaluate", "expected_calibration_error"} <= set(FUNCTIONS)
    assert {"BinnedError", "BrierScore"} <= set(ESTIMATORS)


@pytest.mark.parametrize("name", CALLS)
def test_data_come_first_and_the_rest_by_keyword(name):
    leading = EXCEPTIONS.get(name, ("y_true", "y_prob"))
    first, rest = _parameters(name)[: len(leading)], _parameters(name)[len(leading) :]
    assert tuple(parameter.name for parameter in first) == leading
    assert {parameter.kind for parameter in first} <= {Parameter.POSITIONAL_OR_KEYWORD}
    assert {parameter.kind for parameter in rest} <= {Parameter.KEYWORD_ONLY}


@pytest.mark.parametrize("name", CALLS)
def test_typos_are_not_swallowed(name):
    kinds = {parameter.kind for parameter in _parameters(name)}
    assert not kinds & {Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL}


@pytest.mark.parametrize("name", CALLS)
def test_options_have_one_spelling_and_one_default(name):
    options = {parameter.name: parameter.default for parameter in _parameters(name)}
    assert not FORBIDDEN & set(options)
    for option in set(DEFAULTS) & set(options):
        assert options[option] == OWN_DEFAULTS.get((name, option), DEFAULTS[option]), option


@pytest.mark.parametrize("name", CALLS)
def test_everything_that_takes_data_takes_weights_and_labels(name):
    options = {parameter.name for parameter in _parameters(name)}
    if "y_true" in options:
        assert {"sample_weight", "labels", "pos_label"} <= options


@pytest.mark.parametrize("name", CALLS)
def test_parameters_and_results_are_annotated(name):
    signature = inspect.signature(CALLS[name])
    assert signature.return_annotation is not inspect.Signature.empty
    for parameter in _parameters(name):
        assert parameter.annotation is not Parameter.empty, parameter.name


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_parameter_is_in_the_docstring(name):
    text = inspect.getdoc(getattr(veridical, name))
    for parameter in _parameters(name):
        assert parameter.name in text, parameter.name


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_return_a_number_or_one_named_result(name):
    returned = str(inspect.signature(getattr(veridical, name)).return_annotation)
    for part in returned.split("|"):
        named = part.strip()
        assert named in ("float", *RETURNS.get(name, ())) or named in NAMES


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators_are_values(name):
    """Equal parameters make equal, hashable estimators that print how they were made."""
    estimator = partial(getattr(veridical, name), *ARGUMENTS.get(name, ()))
    assert estimator() == estimator()
    assert hash(estimator()) == hash(estimator())
    assert repr(estimator()).startswith(f"{name}(")
    assert estimator().name
    assert estimator().definition
