"""Bad rows in an engine: the words of the in-memory border, with rows instead of an index."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import polars as pl
import pytest

from veridical._core.data.validation import check_sample
from veridical.exceptions import InvalidInputError
from veridical.frames._grid.grid import grid_table

NAN = float("nan")


def pushed(columns: dict[str, Any], **options: Any) -> str:
    """Message of the scan; p is one column, or those called p_0, p_1, ..."""
    several = [name for name in columns if name.startswith("p_")]
    arguments: dict[str, Any] = {"y": "y", "prob": several or "p", "problems": ["confidence"]}
    if "w" in columns:
        arguments["sample_weight"] = "w"
    with pytest.raises(InvalidInputError) as caught:
        grid_table(
            pl.LazyFrame(columns, strict=False), **arguments, **options, n_bins=5, caller="f"
        )
    return str(caught.value)


def in_memory(columns: dict[str, Any], **options: Any) -> str:
    several = [name for name in columns if name.startswith("p_")]

    def floats(name: str) -> np.ndarray:
        return pl.Series(columns[name]).cast(pl.Float64).to_numpy()

    p = np.column_stack([floats(name) for name in several]) if several else floats("p")
    weight = floats("w") if "w" in columns else None
    y = np.array(columns["y"], dtype=object if None in columns["y"] else None)
    with pytest.raises(InvalidInputError) as caught:
        check_sample(y, p, sample_weight=weight, caller="f", **options)
    return str(caught.value)


def frame_of_message(message: str) -> tuple[str, str]:
    """What was expected of which argument, and the hint."""
    head, hint = message.split("\nHint: ")
    return head.split("; got ")[0], hint


GOOD = {"y": [0, 1, 1, 0], "p": [0.25, 0.5, 1.0, 0.0]}
ROWS = {"y": [0, 1, 2], "p_0": [0.5, 0.0, 0.25], "p_1": [0.5, 1.0, 0.25], "p_2": [0.0, 0.0, 0.5]}

CASES: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "missing label": (
        GOOD | {"y": ["a", None, "b", "a"]},
        {},
        "a missing value in column 'y' (1 of 4 rows; for example p=0.5)",
    ),
    "NaN label": (
        GOOD | {"y": [0.0, NAN, 1.0, NAN]},
        {},
        "a missing value in column 'y' (2 of 4 rows; for example p=0.5; p=0)",
    ),
    "fractions": (
        GOOD | {"y": [0.5, 1.0, 0.0, 0.25]},
        {},
        "0.5 in column 'y' (2 of 4 rows; for example y=0.5; y=0.25)",
    ),
    "swapped": (
        {"y": [0.5, 0.75, 0.25, 1.0], "p": [0.0, 1.0, 1.0, 0.0]},
        {},
        "fractions in y_true and only 0 and 1 in y_prob",
    ),
    "NULL prediction": (
        GOOD | {"p": [0.5, None, 0.5, 0.5]},
        {},
        "nan in column 'p' (1 of 4 rows; for example y=1, p=nan)",
    ),
    "infinite prediction": (
        GOOD | {"p": [0.5, 0.5, float("inf"), 0.5]},
        {},
        "inf in column 'p' (1 of 4 rows; for example y=1, p=inf)",
    ),
    "percentages": (
        GOOD | {"p": [50.0, 0.5, 1.3, 0.5]},
        {},
        "50 in column 'p' (2 of 4 rows; for example y=0, p=50; y=1, p=1.3)",
    ),
    "logits": (
        GOOD | {"p": [-2.0, 0.5, 1.3, 0.5]},
        {},
        "-2 in column 'p' (2 of 4 rows; for example y=0, p=-2; y=1, p=1.3)",
    ),
    "hardly above one": (
        GOOD | {"p": [0.5, 0.5, 1.0000000000000002, 0.5]},
        {},
        "1.0000000000000002 in column 'p' (1 of 4 rows; for example y=1, p=1.0000000000000002)",
    ),
    "sums": (
        ROWS | {"p_2": [0.0, 0.25, 0.5]},
        {},
        "a sum of 1.25 (1 of 3 rows; for example y=1, p_0=0, p_1=1, p_2=0.25)",
    ),
    "NULL among several": (
        ROWS | {"p_0": [None, 0.0, 0.25]},
        {},
        "nan in column 'p_0' (1 of 3 rows; for example y=0, p_0=nan)",
    ),
    "negative among several": (
        ROWS | {"p_0": [0.75, 0.0, 0.25], "p_2": [-0.25, 0.0, 0.5]},
        {},
        "-0.25 in column 'p_2' (1 of 3 rows; for example y=0, p_2=-0.25)",
    ),
    "negative weight": (
        GOOD | {"w": [1.0, -1.0, 0.0, 2.0]},
        {},
        "-1 in column 'w' (1 of 4 rows; for example y=1, w=-1)",
    ),
    "NaN weight": (
        GOOD | {"w": [1.0, 1.0, NAN, 2.0]},
        {},
        "nan in column 'w' (1 of 4 rows; for example y=1, w=nan)",
    ),
    "weights all zero": (GOOD | {"w": [0.0] * 4}, {}, "all zeros"),
    "unknown label": (
        GOOD | {"y": [0, 1, 5, 5]},
        {"labels": [0, 1]},
        "5 in column 'y' (2 of 4 rows; for example y=5; y=5)",
    ),
    "unknown label of several": (
        ROWS | {"y": [0, 7, 2]},
        {"labels": [0, 1, 2]},
        "7 in column 'y' (1 of 3 rows; for example y=7)",
    ),
    "another kind of label": (
        GOOD,
        {"labels": ["a", "b"]},
        "labels such as 0 while `labels` holds 'a', 'b'",
    ),
    "another kind of several": (
        ROWS,
        {"labels": ["a", "b", "c"]},
        "labels such as 0 while `labels` holds 'a', 'b', 'c'",
    ),
    "too many classes": (
        GOOD | {"y": [3, 4, 5, 3]},
        {},
        "3 classes (3, 4, 5) for binary probabilities",
    ),
    "one class": (GOOD | {"y": [3] * 4}, {}, "only 3"),
    "pos_label": (GOOD, {"pos_label": 9}, "9"),
    "pos_label of several": (ROWS, {"pos_label": 1}, "1 with 3 classes"),
}


@pytest.mark.parametrize("case", CASES)
def test_messages_are_those_of_the_border(case: str) -> None:
    columns, options, got = CASES[case]
    message = pushed(columns, **options)
    assert frame_of_message(message) == frame_of_message(in_memory(columns, **options))
    found = re.search(r"; got (.*)\.\nHint", message, re.DOTALL)
    assert found is not None
    assert found[1] == got


def test_no_rows() -> None:
    for prob in ("p", ["p", "q"]):
        frame = pl.LazyFrame({"y": [0], "p": [0.5], "q": [0.5]}).head(0)
        with pytest.raises(InvalidInputError, match="`y_true` must be non-empty; got 0 rows"):
            grid_table(frame, y="y", prob=prob, problems=["binary"], n_bins=5, caller="f")


def test_many_rows_are_written_with_commas() -> None:
    p = np.full(2_000, 0.5)
    p[:1_200] = 3.0
    message = pushed({"y": np.arange(2_000) % 2, "p": p})
    assert "(1,200 of 2,000 rows; for example y=0, p=3; y=1, p=3; y=0, p=3)" in message


def test_a_row_of_single_precision_may_sum_to_one_within_a_thousandth() -> None:
    columns = {"y": [0, 1], "p_0": [0.5, 0.5], "p_1": [0.4995, 0.5]}
    frame = pl.LazyFrame(columns)
    narrow = frame.with_columns(pl.col("p_0", "p_1").cast(pl.Float32))
    names = ["p_0", "p_1"]
    table = grid_table(narrow, y="y", prob=names, problems=["binary"], n_bins=5, caller="f")
    assert table.rows.tolist() == [2]
    with pytest.raises(InvalidInputError, match="rows that sum to 1 within 1e-06"):
        grid_table(frame, y="y", prob=names, problems=["binary"], n_bins=5, caller="f")
