"""Whatever is passed, nothing but `InvalidInputError` comes out."""

from __future__ import annotations

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

import veridical as v

NAN = float("nan")
STRUCTURED = np.array([(1, 0.5), (2, 0.5)], dtype=[("a", int), ("b", float)])


class Unreadable:
    """Looks like an array until it is read."""

    def __array__(self, dtype=None, copy=None):
        raise ValueError("cannot")


ODD_PROBABILITIES = {
    "nothing": None,
    "number": 0.5,
    "numpy number": np.float64(0.5),
    "text": "half",
    "bytes": b"\x00\x01",
    "dictionary": {"a": 0.5, "b": 0.5},
    "set": {0.25, 0.75},
    "generator": (value for value in (0.25, 0.75)),
    "function": len,
    "type": float,
    "object": object(),
    "ellipsis": ...,
    "slice": slice(0, 2),
    "unreadable": Unreadable(),
    "lazy frame": pl.LazyFrame({"p": [0.5, 0.5]}),
    "sparse matrix": scipy.sparse.eye(2, format="csr"),
    "structured": STRUCTURED,
    "empty": [],
    "empty rows": [[], []],
    "ragged": [[0.5, 0.5], [0.5]],
    "nested": [[[0.5]], [[0.5]]],
    "deep": np.full((2, 2, 2), 0.5),
    "words": ["low", "high"],
    "blank": ["", ""],
    "half a word": [0.5, "x"],
    "lists and numbers": [0.5, [0.5]],
    "none": [None, 0.5],
    "all none": [None, None],
    "pandas NA": pd.array([0.5, pd.NA], dtype="Float64"),
    "pandas NA as object": pd.Series([0.5, pd.NA], dtype=object),
    "not a time": np.array(["NaT", "NaT"], dtype="M8[s]"),
    "dates": pd.to_datetime(["2020-01-01", "2021-01-01"]),
    "date objects": [datetime.date(2020, 1, 1), datetime.date(2021, 1, 1)],
    "polars null": pl.Series([0.5, None]),
    "polars lists": pl.Series([[0.5], [0.5, 0.5]]),
    "pyarrow null": pa.array([0.5, None]),
    "pyarrow text": pa.array(["low", "high"]),
    "pandas frame of text": pd.DataFrame({"a": ["x", "y"], "b": [0.5, 0.5]}),
    "masked": np.ma.masked_invalid([0.5, NAN]),
    "nan": [NAN, NAN],
    "infinite": [np.inf, 0.5],
    "negative": [-0.5, 0.5],
    "large": [1e300, 0.5],
    "large integer": [10**30, 0],
    "decimal above one": [Decimal("1.5"), Decimal("0.5")],
    "too short": [0.5],
    "too long": [0.5, 0.5, 0.5],
    "transposed": [[0.5, 0.5, 0.5], [0.5, 0.5, 0.5]],
    "nan matrix": [[NAN, 1.0], [0.5, 0.5]],
}

ODD_LABELS = {
    "nothing": None,
    "number": 1,
    "text": "ab",
    "bytes": b"ab",
    "dictionary": {0: 1, 1: 0},
    "set": {0, 1},
    "generator": (value for value in (0, 1)),
    "function": len,
    "object": object(),
    "objects": [object(), object()],
    "dictionaries": [{}, {}],
    "unreadable": Unreadable(),
    "zero-dimensional": np.array(1),
    "lazy frame": pl.LazyFrame({"y": [0, 1]}),
    "sparse matrix": scipy.sparse.eye(2, format="csr"),
    "ragged": [[0], [0, 1]],
    "one-hot": [[1, 0], [0, 1]],
    "deep": np.zeros((2, 1, 1)),
    "none": [None, 1],
    "none and word": ["a", None],
    "nan": [NAN, 1],
    "infinite": [np.inf, 0],
    "fractions": [0.25, 1],
    "fractions as objects": np.array([0.25, 1], dtype=object),
    "pandas NA": pd.array([1, pd.NA], dtype="Int64"),
    "pandas NA text": pd.array(["a", pd.NA], dtype="string"),
    "pandas NaT": pd.Series([pd.NaT, pd.Timestamp("2020-01-01")]),
    "not a time": np.array(["NaT", "2020-01-01"], dtype="M8[D]"),
    "polars null": pl.Series(["a", None]),
    "polars null integer": pl.Series([1, None]),
    "polars null boolean": pl.Series([True, None]),
    "pyarrow null": pa.array([1, None]),
    "pyarrow null dictionary": pa.array(["a", None]).dictionary_encode(),
    "masked": np.ma.masked_equal([0, 1], 1),
    "tuples": pd.MultiIndex.from_tuples([("a", 1), ("b", 2)]),
    "decimals": [Decimal(0), Decimal(1)],
    "word and number": np.array(["a", 1], dtype=object),
    "one class": ["a", "a"],
    "too short": [0],
    "too long": [0, 1, 1],
}

ODD_WEIGHTS = {
    "number": 1.0,
    "zero-dimensional": np.array(1.0),
    "text": "ones",
    "function": len,
    "dictionary": {0: 1.0, 1: 1.0},
    "words": ["a", "b"],
    "objects": [object(), object()],
    "negative": [1.0, -1.0],
    "nan": [1.0, NAN],
    "infinite": [1.0, np.inf],
    "none": [1.0, None],
    "pandas NA": pd.array([1.0, pd.NA], dtype="Float64"),
    "zeros": [0.0, 0.0],
    "empty": [],
    "too short": [1.0],
    "too long": [1.0, 1.0, 1.0],
    "row": [[1.0, 1.0]],
    "masked": np.ma.masked_equal([0.0, 1.0], 0.0),
}

FUNCTIONS = [v.brier_score, v.expected_calibration_error, v.decompose, v.reliability_curve]
TAKE_TABLES = {v.decompose, v.reliability_curve}  # without predictions, labels should be a table
functions = pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)


@functions
@pytest.mark.parametrize("odd", ODD_PROBABILITIES)
def test_odd_probabilities_are_refused(function, odd):
    param = "y_true" if odd == "nothing" and function in TAKE_TABLES else "y_prob"
    with pytest.raises(v.InvalidInputError, match=f"^{function.__name__}: `{param}` must be "):
        function([0, 1], ODD_PROBABILITIES[odd])


@functions
@pytest.mark.parametrize("odd", ODD_LABELS)
def test_odd_labels_are_refused(function, odd):
    with pytest.raises(v.InvalidInputError, match=f"^{function.__name__}: `y_(true|prob)` must be"):
        function(ODD_LABELS[odd], [0.25, 0.75])


@functions
@pytest.mark.parametrize("odd", ODD_WEIGHTS)
def test_odd_weights_are_refused(function, odd):
    with pytest.raises(
        v.InvalidInputError, match=f"^{function.__name__}: `sample_weight` must be "
    ):
        function([0, 1], [0.25, 0.75], sample_weight=ODD_WEIGHTS[odd])


@functions
@pytest.mark.parametrize("odd", [k for k in ODD_LABELS if not k.startswith("too")])
def test_odd_labels_are_refused_with_a_list_of_labels_too(function, odd):
    with pytest.raises(v.InvalidInputError):
        function(ODD_LABELS[odd], [0.25, 0.75], labels=["x", "y"])
