"""Labels of any kind give the same numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

TEXT = np.array(["ant", "bee", "cat"])
GRADES = np.array(["mid", "lo", "hi"])  # in an order that only a declaration can give

# kind of label -> (labels in class order, function of class indices that makes the column)
COMMON = {
    "int8": ((0, 1, 2), lambda i: i.astype(np.int8)),
    "uint8": ((0, 1, 2), lambda i: i.astype(np.uint8)),
    "big-endian": ((0, 1, 2), lambda i: i.astype(">i4")),
    "floats": ((0, 1, 2), lambda i: i.astype(np.float64)),
    "float16": ((0, 1, 2), lambda i: i.astype(np.float16)),
    "from one": ((1, 2, 3), lambda i: i + 1),
    "negative": ((-20, -10, 30), lambda i: np.array([-20, -10, 30])[i]),
    "object integers": ((0, 1, 2), lambda i: i.astype(object)),
    "strings": (tuple(TEXT), lambda i: TEXT[i]),
    "list of strings": (tuple(TEXT), lambda i: TEXT[i].tolist()),
    "object strings": (tuple(TEXT), lambda i: TEXT[i].astype(object)),
    "pandas categorical": (
        tuple(TEXT),
        lambda i: pd.Series(pd.Categorical(TEXT[i], categories=TEXT[::-1])),
    ),
    "pandas integer categorical": ((0, 1, 2), lambda i: pd.Categorical(i)),
    "pandas string": (tuple(TEXT), lambda i: pd.Series(TEXT[i], dtype="string")),
    "pandas Int64": ((0, 1, 2), lambda i: pd.Series(i, dtype="Int64")),
    "polars string": (tuple(TEXT), lambda i: pl.Series(TEXT[i].tolist())),
    "polars categorical": (
        tuple(TEXT),
        lambda i: pl.Series(TEXT[i].tolist(), dtype=pl.Categorical),
    ),
    "polars enum": (
        tuple(GRADES),
        lambda i: pl.Series(GRADES[i].tolist(), dtype=pl.Enum(GRADES.tolist())),
    ),
    "pandas ordered": (
        tuple(GRADES),
        lambda i: pd.Series(pd.Categorical(GRADES[i], categories=GRADES, ordered=True)),
    ),
    "pyarrow string": (tuple(TEXT), lambda i: pa.array(TEXT[i].tolist())),
    "pyarrow dictionary": (
        tuple(TEXT),
        lambda i: pa.array(TEXT[i].tolist()).dictionary_encode(),
    ),
}
BINARY = {
    "bool": ((False, True), lambda i: i.astype(bool)),
    "list of bool": ((False, True), lambda i: i.astype(bool).tolist()),
    "object bool": ((False, True), lambda i: i.astype(bool).astype(object)),
    "minus one and one": ((-1, 1), lambda i: 2 * i - 1),
    "pandas boolean": ((False, True), lambda i: pd.Series(i, dtype="boolean")),
    "polars boolean": ((False, True), lambda i: pl.Series(i.astype(bool))),
    "pyarrow boolean": ((False, True), lambda i: pa.array(i.astype(bool))),
    **{name: (classes[:2], make) for name, (classes, make) in COMMON.items()},
}


USUAL = {"bool", "floats", "from one", "strings", "pandas ordered", "polars enum"}


def _assert_same_for(kinds, metric, data):
    expected = metric.of(data, weighted=True)
    known = BINARY if metric.kind == "binary" else COMMON
    for kind in kinds & set(known):
        classes, make = known[kind]
        given = metric(make(data.y), data.p, classes=classes, sample_weight=data.w)
        np.testing.assert_array_equal(given, expected, err_msg=kind)


def test_usual_labels_give_the_same_numbers(metric, data):
    _assert_same_for(USUAL, metric, data)


def test_labels_of_every_kind_give_the_same_numbers(border_metric, data):
    _assert_same_for(set(BINARY), border_metric, data)
