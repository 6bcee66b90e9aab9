"""Guessing the outcome and the probabilities by name."""

from __future__ import annotations

import dataclasses

import pytest

from veridical.exceptions import InvalidInputError
from veridical.frames.tables import ColumnGuess, guess_columns


def guess(available, **given):
    return guess_columns(available, caller="f", **given)


@pytest.mark.parametrize(
    "name", ["y", "y_true", "label", "labels", "target", "outcome", "truth", "class", "Label", "Y"]
)
def test_outcome_names_are_known(name):
    assert guess(["id", name, "p"]).y == name


@pytest.mark.parametrize(
    "name", ["p", "prob", "proba", "probability", "y_prob", "y_proba", "P", "Proba"]
)
def test_probability_names_are_known(name):
    assert guess(["y", "id", name]).prob == (name,)


@pytest.mark.parametrize("prefix", ["p_", "prob_", "proba_", "probability_", "P_"])
def test_families_of_columns_are_known(prefix):
    names = [f"{prefix}b", f"{prefix}a"]
    assert guess(["y", *names]).prob == tuple(names)


def test_numbered_families_are_in_numerical_order():
    assert guess(["p_10", "p_9", "y"]).prob == ("p_9", "p_10")


def test_the_guess_is_said_in_one_sentence():
    result = guess(["label", "p"])
    assert result == ColumnGuess(y="label", prob=("p",), said="guessed y = 'label', prob = 'p'")
    assert guess(["label", "p_a", "p_b"]).said == "guessed y = 'label', prob = 'p_a', 'p_b'"


def test_what_is_given_is_not_guessed():
    result = guess(["label", "target", "p"], y="target")
    assert (result.y, result.prob, result.said) == ("target", ("p",), "guessed prob = 'p'")
    result = guess(["label", "p", "prob", "p_1", "p_0"], prob="p_*")
    assert (result.y, result.prob, result.said) == ("label", ("p_0", "p_1"), "guessed y = 'label'")
    assert guess(["a", "b"], y="a", prob=["b"]) == ColumnGuess(y="a", prob=("b",), said="")


def test_a_column_given_for_one_purpose_is_not_guessed_for_the_other():
    assert guess(["p_y", "p_a", "p_b"], y="p_y").prob == ("p_a", "p_b")
    assert guess(["y", "label"], prob="y").y == "label"


@pytest.mark.parametrize(
    ("available", "param", "got"),
    [
        (["label", "target", "p"], "y", "several candidates: 'label', 'target'"),
        (["kind", "p"], "y", r"none that is known by name \(columns: 'kind', 'p'\)"),
        (["y", "p", "prob"], "prob", "several candidates: 'p', 'prob'"),
        (["y", "p", "p_a", "p_b"], "prob", "several candidates: 'p', 'p_a', 'p_b'"),
        (["y", "p_a", "p_b", "prob_a", "prob_b"], "prob", "several candidates"),
        (["y", "score"], "prob", r"none that is known by name \(columns: 'y', 'score'\)"),
        (["y", "y_score"], "prob", "none that is known by name"),
        (["y", "p_a"], "prob", "none that is known by name"),
        ([], "y", r"none that is known by name \(columns: none\)"),
    ],
)
def test_doubt_is_an_error_that_lists_the_columns(available, param, got):
    message = rf"f: `{param}` must be given when the names leave a doubt; got {got}"
    with pytest.raises(InvalidInputError, match=message) as caught:
        guess(available)
    assert "Hint: say which column holds" in str(caught.value)


def test_given_columns_must_exist():
    with pytest.raises(InvalidInputError, match=r"`y` must be a column .*\n.*did you mean 'label'"):
        guess(["label", "p"], y="lable")
    with pytest.raises(InvalidInputError, match=r"`prob` must be a column .*\n.*name one of the"):
        guess(["label", "p"], prob="xxxx")


def test_a_guess_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        guess(["y", "p"]).y = "other"
