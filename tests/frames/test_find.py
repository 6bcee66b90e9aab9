"""Finding the outcome and its predictions by values, and by names where values leave a doubt."""

from __future__ import annotations

import dataclasses

import numpy as np
import polars as pl
import pytest

from veridical.exceptions import InvalidInputError
from veridical.frames.tables import ColumnGuess, find_columns

N = 400
RNG = np.random.default_rng(7)
P = RNG.uniform(size=N).round(3)
Q = RNG.uniform(size=N)
Y = (RNG.uniform(size=N) < P).astype(int)
Z = RNG.integers(0, 2, N)
V = RNG.dirichlet(np.ones(3), N)
K = np.array([RNG.choice(3, p=row) for row in V])
ABC = np.array(["a", "b", "c"])[K]
YES = np.where(Y == 1, "yes", "no")
SAID = "; pass others if that is wrong"


def find(columns, **given):
    return find_columns(pl.DataFrame(columns), caller="f", **given)


def vectors(*names):
    return dict(zip(names, V.T, strict=True))


@pytest.mark.parametrize("y", ["y", "y_true", "label", "Label ", "target", "truth", "Status"])
@pytest.mark.parametrize("p", ["p", "prob", "y_proba", " P", "risk", "pd_hat", "score", "PDHat"])
def test_usual_names_are_found_beside_others_that_fit(y, p):
    columns = {"id": np.arange(N), y: Y, "x": Z, "u": Q, p: P}
    guess = find(columns)
    assert (guess.y, guess.prob) == (y, (p,))


# What a table holds, and which of its columns are the outcome and its predictions.
READINGS = {
    "names that say nothing": ({"a": YES, "b": P}, "a", ["b"]),
    "booleans": ({"a": Y == 1, "b": P}, "a", ["b"]),
    "codes 1 and 2": ({"a": Y + 1, "b": P}, "a", ["b"]),
    "codes -1 and 1": ({"a": 2 * Y - 1, "b": P}, "a", ["b"]),
    "whole floats with gaps": ({"a": np.where(Z, np.nan, Y), "b": P}, "a", ["b"]),
    "gaps in predictions": ({"a": Y, "b": np.where(Z, np.nan, P)}, "a", ["b"]),
    "percent signs": ({"a": Y, "b": [f"{100 * p:.1f} %" for p in P]}, "a", ["b"]),
    "row numbers": ({"": np.arange(N), "a": Y, "b": P}, "a", ["b"]),
    "dates as text": ({"d": [f"2026-01-{1 + k:02}" for k in Z], "a": Y, "b": P}, "a", ["b"]),
    "constant columns": ({"c": [1] * N, "d": [0.5] * N, "a": Y, "b": P}, "a", ["b"]),
    "weights": ({"w": 1 + Q, "weight": Q, "a": Y, "b": P}, "a", ["b"]),
    "features": ({"age": 20 + K, "income": 1e4 * Q, "a": Y, "b": P}, "a", ["b"]),
    "hard predictions": ({"y_true": Y, "y_pred": Z, "y_prob": P}, "y_true", ["y_prob"]),
    "a group of texts": ({"sex": np.where(Z, "m", "f"), "a": Y, "b": P}, "a", ["b"]),
    "a ticket class": ({"class": ABC, "survived": Y, "p": P}, "survived", ["p"]),
    "both columns": ({"Status": YES, "p_no": 1 - P, "p_yes": P}, "Status", ["p_no", "p_yes"]),
    "class names": ({"s": ABC} | vectors("c", "a", "b"), "s", ["c", "a", "b"]),
    "names of classes far apart": (
        {"s": ABC, "a": V[:, 0], "u": Q, "b": V[:, 1], "c": V[:, 2]},
        "s",
        ["a", "b", "c"],
    ),
    "numbered": ({"i": np.arange(N), "k": K} | vectors("p0", "p1", "p2"), "k", ["p0", "p1", "p2"]),
    "numbered from 1": ({"k": K + 1} | vectors("q1", "q2", "q3"), "k", ["q1", "q2", "q3"]),
    "neighbours": ({"k": K, "u": Q} | vectors("one", "two", "six"), "k", ["one", "two", "six"]),
    "truth beside": (
        {"label": K} | vectors("p_0", "p_1", "p_2") | {f"true_{k}": v for k, v in enumerate(V.T)},
        "label",
        ["p_0", "p_1", "p_2"],
    ),
    "rounded": (
        {"k": K} | {f"p{k}": v.round(2) for k, v in enumerate(V.T)},
        "k",
        ["p0", "p1", "p2"],
    ),
    "labels of a risk": ({"Risk": YES, "p_yes": P}, "Risk", ["p_yes"]),
    "shares beside a prediction": (
        {"won": Y, "male": Q, "female": 1 - Q, "model_output": P},
        "won",
        ["model_output"],
    ),
    # Values do not fit: names decide, and whoever checks the values says what is wrong.
    "swapped": ({"label": P, "p": Y}, "label", ["p"]),
    "one class": ({"label": [0] * N, "p": P}, "label", ["p"]),
    "percentages": ({"label": Y, "score": 100 * P}, "label", ["score"]),
    "logits": ({"label": Y, "score": 3 * P - 1}, "label", ["score"]),
    "three classes and one column": ({"label": K, "p": P, "sex": Z}, "label", ["p"]),
    "rows that do not sum to one": ({"y": K} | vectors("p_0", "p_1", "p_2"), "y", None),
}


@pytest.mark.parametrize("name", READINGS)
def test_the_only_reading_is_taken(name):
    columns, y, prob = READINGS[name]
    guess = find(columns)
    assert guess.y == y
    if prob is not None:
        assert guess.prob == tuple(prob)


# What a table holds, the argument to give, and the ways the message names.
DOUBTS = {
    "two outcomes": ({"a": Y, "b": Z, "p": P}, "y", ["y='a'", "y='b'"]),
    "two known outcomes": ({"label": Y, "target": Z, "p": P}, "y", ["y='label'", "y='target'"]),
    "two models": ({"y": Y, "p_rf": P, "p_gb": Q}, "prob", ["prob='p_rf'", "prob='p_gb'"]),
    "two scores": ({"y": Y, "p": P, "score": Q}, "prob", ["prob='p'", "prob='score'"]),
    "two families": (
        {"y": K} | vectors("p_0", "p_1", "p_2") | vectors("prob_0", "prob_1", "prob_2"),
        "prob",
        ["prob=['p_0', 'p_1', 'p_2']", "prob=['prob_0', 'prob_1', 'prob_2']"],
    ),
    "a group only": ({"sex": Z, "p": P}, "y", ["y='sex'"]),
    "a share only": ({"y": Y, "ratio": P}, "prob", ["prob='ratio'"]),
    "a name against values": ({"label": K, "smoker": Z, "p": P}, "y", ["'smoker'", "'label'"]),
    "values out of range": ({"y": Y, "p": 2 * P, "x": Q}, "prob", ["prob='x'", "prob='p'"]),
    "any two shares": ({"won": Y, "male": P, "female": 1 - P}, "prob", ["prob=['male', 'female']"]),
    "a share named percent": ({"y": Y, "risk_pct": P}, "prob", ["scale='percent'", "'risk_pct'"]),
    "confidence in a predicted label": (
        {"label": YES, "prediction": YES[::-1], "confidence": np.maximum(P, 1 - P)},
        "prob",
        ["'label' == 'prediction'", "prob='confidence'"],
    ),
    "no labels": ({"a": P, "b": Q}, "y", ["y='label'"]),
    "nothing": ({"a": [0.5]}, "y", ["no column that can hold labels (columns: 'a')"]),
}


@pytest.mark.parametrize("name", DOUBTS)
def test_doubt_is_an_error_that_lists_the_readings(name):
    columns, param, ways = DOUBTS[name]
    with pytest.raises(InvalidInputError) as caught:
        find(columns)
    assert caught.value.param == param
    assert all(way in str(caught.value) for way in ways)
    assert str(caught.value).startswith(f"f: `{param}` must be given where the data leave a doubt")


def test_the_guess_is_said_in_one_sentence():
    guess = find({"label": Y, "p": P})
    said = "guessed y='label', prob='p'" + SAID
    assert guess == ColumnGuess(y="label", prob=("p",), said=said)
    assert find({"label": Y, "p": P}, y="label").said == "guessed prob='p'" + SAID
    guess = find({"s": ABC} | vectors("a", "b", "c"))
    assert guess.said == "guessed y='s', prob=['a', 'b', 'c']" + SAID
    many = {f"p{k}": column for k, column in enumerate(RNG.dirichlet(np.ones(12), N).T)}
    guess = find({"k": RNG.integers(0, 12, N)} | many)
    assert guess.said == f"guessed y='k', prob=['p0', 'p1', ..., 'p11'] (12 columns){SAID}"


def test_what_is_given_is_not_guessed():
    columns = {"label": Y, "target": Z, "p": P, "prob": Q}
    assert find(columns, y="target", prob="p") == ColumnGuess(y="target", prob=("p",), said="")
    columns = {"label": Y, "target": Z, "p": P}
    guess = find(columns, y="target")
    assert (guess.y, guess.prob, guess.said) == ("target", ("p",), "guessed prob='p'" + SAID)
    columns = {"label": Y, "p": Q, "p_1": P, "p_0": 1 - P}
    guess = find(columns, prob="p_*")
    assert (guess.y, guess.prob) == ("label", ("p_0", "p_1"))


def test_columns_named_for_something_else_are_no_candidates():
    columns = {"a": Y, "b": Z, "p": P, "q": Q}
    guess = find(columns, without=["b", "q", None])
    assert (guess.y, guess.prob) == ("a", ("p",))


def test_numbered_columns_are_in_numerical_order():
    order = [10, 9, 2, 0, 1, 3, 4, 5, 6, 7, 8]
    many = dict(zip([f"p{k}" for k in order], RNG.dirichlet(np.ones(11), N).T, strict=True))
    assert find({"k": RNG.integers(0, 11, N)} | many).prob == tuple(f"p{k}" for k in range(11))


@pytest.mark.parametrize("scale", ["percent", "logit"])
def test_the_scale_says_what_values_can_be_predictions(scale):
    score = 100 * P if scale == "percent" else np.log(P + 0.01) - np.log(1.01 - P)
    guess = find({"y": Y, "share": Q, "score": score}, scale=scale)
    assert guess.prob == ("score",)


def test_given_columns_must_exist():
    with pytest.raises(InvalidInputError, match=r"`y` must be a column .*\n.*did you mean 'label'"):
        find({"label": Y, "p": P}, y="lable")
    with pytest.raises(InvalidInputError, match=r"`prob` must be a column .*\n.*name one of the"):
        find({"label": Y, "p": P}, prob="xxxx")


def test_a_guess_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        find({"y": Y, "p": P}).y = "other"


def _sorted_columns(n=30_000):
    rng = np.random.default_rng(3)
    p = np.sort(rng.uniform(size=n))
    return {"row": np.arange(n), "hit": np.sort(rng.integers(0, 2, n)), "u": p, "sex": p < 0.01}


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "csv", "parquet", "arrow"])
def test_all_of_a_long_table_is_looked_at(kind, tmp_path):
    """The first 15,000 outcomes are 0: only the rows spread over the table show both."""
    frame = pl.DataFrame(_sorted_columns())
    source = {
        "pandas": lambda: frame.to_pandas(),
        "polars": lambda: frame,
        "pyarrow": lambda: frame.to_arrow(),
    }.get(kind, lambda: tmp_path / f"x.{kind}")()
    if kind == "csv":
        frame.write_csv(source)
    elif kind == "parquet":
        frame.write_parquet(source)
    elif kind == "arrow":
        frame.write_ipc(source)
    guess = find_columns(source, caller="f")
    assert (guess.y, guess.prob) == ("hit", ("u",))


@pytest.mark.parametrize("engine", ["lazy", "duckdb"])
def test_of_a_query_the_first_rows_are_asked_for(engine):
    frame = pl.DataFrame({"ill": np.tile(YES, 50), "risk": np.tile(P, 50)})
    source = frame.lazy()
    if engine == "duckdb":
        duckdb = pytest.importorskip("duckdb")
        source = duckdb.connect().from_arrow(frame.to_arrow())
    guess = find_columns(source, caller="f")
    assert (guess.y, guess.prob) == ("ill", ("risk",))


def test_several_files_are_looked_at_from_first_to_last(tmp_path):
    for part, value in enumerate((0, 0, 0, 1)):
        pl.DataFrame({"a": [value] * N, "b": P}).write_csv(tmp_path / f"part-{part}.csv")
    guess = find_columns(str(tmp_path / "part-*.csv"), caller="f")
    assert (guess.y, guess.prob) == ("a", ("b",))
