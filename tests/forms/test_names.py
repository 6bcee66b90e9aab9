"""Results are asked by name, in any spelling; a wrong one is answered with the nearest."""

from __future__ import annotations

import pytest
from forms.every_result import binary

import veridical as v
from veridical.exceptions import UnknownNameError


@pytest.fixture(scope="module")
def evaluation():
    y, p = binary(400)
    return v.evaluate(y, p, by=["a", "B"] * 200, rng=0, n_resamples=50)


@pytest.mark.parametrize("name", ["ECE", "ece", " Ece "])
def test_errors_and_figures_in_any_case(evaluation, name):
    assert evaluation.error(name).name == "ECE"
    assert evaluation[name] == evaluation.error("ECE").value
    assert evaluation.interval(name) == evaluation.interval("ECE")


def test_every_figure_is_found_under_its_name(evaluation):
    for name, *_, value in evaluation.figures():
        assert evaluation[name] == value
    assert evaluation["auc"] == evaluation.auc
    assert evaluation["Slope"] == evaluation.slope.estimate
    assert evaluation["calibration_in_the_large"] == evaluation.calibration_in_the_large
    assert evaluation["ece_equal_mass"] == evaluation.error("ECE equal-mass").value


def test_groups_are_found_exactly_first(evaluation):
    groups = dict(evaluation.groups)
    assert evaluation.group("b") is groups["B"]
    assert evaluation.group("a") is groups["a"]


@pytest.mark.parametrize("name", ["ecee", "ace", 3])
def test_a_wrong_name_is_a_key_error_with_the_nearest(evaluation, name):
    with pytest.raises(UnknownNameError, match=r"must be one of .*'ECE'") as caught:
        evaluation[name]
    assert isinstance(caught.value, KeyError)
    assert isinstance(caught.value, v.InvalidInputError)
    assert str(caught.value).startswith("Evaluation: `name` must be")  # not quoted
    if name == "ecee":
        assert caught.value.hint == "did you mean 'ECE'?"


def test_models_candidates_and_tests_by_name():
    y, p = binary(400)
    comparison = v.compare({"Raw": p, "half": p / 2}, y, rng=0, n_resamples=50)
    assert comparison["raw"] is comparison.evaluations[0]
    assert comparison.difference("RAW", "half", "LOG") is comparison.differences[1].difference or (
        comparison.difference("RAW", "half", "LOG").estimator == "log"
    )
    with pytest.raises(UnknownNameError, match="did you mean 'Raw'"):
        comparison["rav"]
    report = v.calibration_tests(y, p, rng=0, n_resamples=200)
    assert report["Spiegelhalter"] is report.test("spiegelhalter")
