"""Columns and matrices of every frame library."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from veridical.exceptions import InvalidInputError
from veridical.frames.tables import column_names, open_table

BUILD = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "lazy": pl.LazyFrame,
    "pyarrow": pa.table,
}


@pytest.fixture(params=list(BUILD))
def build(request):
    return BUILD[request.param]


def column(frame, name="c"):
    return open_table(frame, caller="f").column(name, caller="f", param="y")


def matrix(frame, names):
    return open_table(frame, caller="f").matrix(names, caller="f", param="prob")


def test_table_knows_its_columns_and_rows(build):
    table = open_table(build({"y": [0, 1, 1], "p": [0.1, 0.2, 0.3]}), caller="f")
    assert table.columns == ["y", "p"]
    assert table.n_rows == 3
    assert repr(table) == "Table(n_rows=3, columns=['y', 'p'])"


def test_only_the_columns_asked_for_are_kept_in_the_order_asked_for_and_once(build):
    frame = build({"a": [1], "b": [2], "c": [3]})
    table = open_table(frame, columns=["c", "a", "c"], caller="f")
    assert table.columns == ["c", "a"]


def test_column_names_come_without_reading(build):
    assert column_names(build({"b": [1], "a": [2]}), caller="f") == ["b", "a"]


@pytest.mark.parametrize("dtype", ["int64", "int8", "uint16", "float64", "float32", "bool"])
def test_numbers_and_booleans_come_out_as_they_are(build, dtype):
    values = np.array([0, 1, 1], dtype=dtype)
    result = column(build({"c": values}))
    assert result.dtype == values.dtype
    np.testing.assert_array_equal(result, values)


def test_missing_integers_become_nan(build):
    data = {"c": pd.array([1, None, 3], dtype="Int64") if build is pd.DataFrame else [1, None, 3]}
    np.testing.assert_array_equal(column(build(data)), [1.0, np.nan, 3.0])


def test_missing_floats_become_nan(build):
    np.testing.assert_array_equal(column(build({"c": [0.5, None, 1.0]})), [0.5, np.nan, 1.0])


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame({"c": pl.Series([0.5, None], dtype=pl.Float32)}),
        pa.table({"c": pa.array([0.5, None], type=pa.float32())}),
        pd.DataFrame({"c": pd.array([0.5, None], dtype="Float32")}),
        pd.DataFrame({"c": pd.Series([0.5, None], dtype="float[pyarrow]")}),
    ],
    ids=["polars", "pyarrow", "pandas", "pandas-arrow"],
)
def test_missing_values_leave_float32_alone(frame):
    result = column(frame)
    assert result.dtype == np.float32
    np.testing.assert_array_equal(result, np.array([0.5, np.nan], dtype=np.float32))


def test_text_comes_out_as_text(build):
    result = column(build({"c": ["cat", "dog", "cat"]}))
    assert result.dtype.kind in "UO"
    assert result.tolist() == ["cat", "dog", "cat"]


def test_missing_text_is_none(build):
    assert column(build({"c": ["cat", None, "dog"]})).tolist() == ["cat", None, "dog"]


TEXTS = ["cat", None, "dog"]


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"c": pd.Series(TEXTS, dtype=object)}),
        pd.DataFrame({"c": pd.Series(["cat", np.nan, "dog"], dtype=object)}),
        pd.DataFrame({"c": pd.Series(TEXTS, dtype="string[python]")}),
        pd.DataFrame({"c": pd.Series(TEXTS, dtype="string[pyarrow]")}),
        pd.DataFrame({"c": pd.Series(TEXTS, dtype="category")}),
        pd.DataFrame({"c": pd.Categorical(TEXTS, categories=["dog", "cat"], ordered=True)}),
        pl.DataFrame({"c": pl.Series(TEXTS, dtype=pl.Categorical)}),
        pl.DataFrame({"c": pl.Series(TEXTS, dtype=pl.Enum(["dog", "cat", "eel"]))}),
        pa.table({"c": pa.array(TEXTS).dictionary_encode()}),
        pa.table({"c": pa.array(TEXTS, type=pa.large_string())}),
    ],
    ids=[
        *("pandas-object", "pandas-object-nan", "pandas-string", "pandas-arrow-string"),
        *("pandas-category", "pandas-ordered", "polars-categorical", "polars-enum"),
        *("pyarrow-dictionary", "pyarrow-large-string"),
    ],
)
def test_text_categories_and_enums_are_alike_in_every_library(frame):
    assert column(frame).tolist() == TEXTS


def test_categories_that_are_numbers_stay_numbers():
    assert column(pd.DataFrame({"c": pd.Categorical([3, 1, 3])})).tolist() == [3, 1, 3]
    coded = pa.table({"c": pa.array([3, None, 1]).dictionary_encode()})
    np.testing.assert_array_equal(column(coded), [3, np.nan, 1])


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"c": pd.array([True, None], dtype="boolean")}),
        pd.DataFrame({"c": [True, None]}),
        pl.DataFrame({"c": [True, None]}),
        pa.table({"c": [True, None]}),
    ],
    ids=["pandas-nullable", "pandas-object", "polars", "pyarrow"],
)
def test_missing_booleans_are_none(frame):
    assert column(frame).tolist() == [True, None]


@pytest.mark.parametrize("build_null", [pl.DataFrame, pa.table], ids=["polars", "pyarrow"])
def test_a_column_of_nothing_is_nan(build_null):
    np.testing.assert_array_equal(column(build_null({"c": [None, None]})), [np.nan, np.nan])
    assert matrix(build_null({"c": [None, None]}), ["c"]).dtype == np.float64


def test_decimals_and_wide_integers_become_floats():
    decimals = [Decimal("0.25"), None]
    np.testing.assert_array_equal(column(pl.DataFrame({"c": decimals})), [0.25, np.nan])
    np.testing.assert_array_equal(column(pa.table({"c": decimals})), [0.25, np.nan])
    wide = pl.DataFrame({"c": pl.Series([1, 2], dtype=pl.Int128)})
    assert column(wide).tolist() == [1.0, 2.0]


def test_dates_keep_their_type_and_missing_ones_are_nat():
    result = column(pl.DataFrame({"c": [dt.date(2024, 1, 1), None]}))
    assert result.dtype.kind == "M"
    assert np.isnat(result).tolist() == [False, True]


def test_the_frame_is_left_as_it_was():
    frame = pd.DataFrame({"c": ["cat", np.nan]}, dtype=object)
    column(frame)
    assert isinstance(frame["c"][1], float)


def test_matrix_is_c_contiguous_float64_in_the_order_of_the_names(build):
    frame = build({"a": [0.1, 0.2], "b": [0.9, 0.8], "c": [0, 1]})
    result = matrix(frame, ["c", "a", "b"])
    assert result.dtype == np.float64
    assert result.flags.c_contiguous
    np.testing.assert_array_equal(result, [[0, 0.1, 0.9], [1, 0.2, 0.8]])


def test_matrix_of_float32_columns_stays_float32(build):
    half = np.array([0.5, 0.25], dtype=np.float32)
    assert matrix(build({"a": half, "b": half}), ["a", "b"]).dtype == np.float32
    assert matrix(build({"a": half, "b": half.astype(float)}), ["a", "b"]).dtype == np.float64


def test_matrix_of_many_blocks_equals_the_columns():
    rng = np.random.default_rng(0)
    data = rng.random((70_001, 3))
    frame = pl.DataFrame(data, schema=["a", "b", "c"])
    np.testing.assert_array_equal(matrix(frame, ["a", "b", "c"]), data)


def test_matrix_of_no_rows_has_the_right_shape(build):
    empty = np.array([], dtype=np.float64)
    assert matrix(build({"a": empty, "b": empty}), ["a", "b"]).shape == (0, 2)


def test_matrix_has_nan_where_numbers_are_missing(build):
    result = matrix(build({"a": [0.5, None], "b": [0.5, 0.5]}), ["a", "b"])
    np.testing.assert_array_equal(result, [[0.5, 0.5], [np.nan, 0.5]])


def test_text_that_reads_as_numbers_is_numbers(build):
    result = matrix(build({"a": ["0.5", None, "1e-3"]}), ["a"])
    np.testing.assert_array_equal(result, [[0.5], [np.nan], [0.001]])


def test_text_in_a_matrix_is_named_with_column_and_row(build):
    frame = build({"a": [0.1, 0.2, 0.3, 0.4], "p": ["0.5", None, "oops", "??"]})
    message = r"f: `prob` must be numeric; got 'oops' in column 'p' at index 2 \(2 of 4 values\)"
    with pytest.raises(InvalidInputError, match=message):
        matrix(frame, ["a", "p"])


def test_a_column_of_words_only_asks_for_another_column(build):
    with pytest.raises(
        InvalidInputError, match=r"(?s)numeric; got 'a'.*choose a column of numbers"
    ):
        matrix(build({"p": ["a", "b"]}), ["p"])


def test_dates_are_no_numbers():
    frame = pl.DataFrame({"p": [dt.date(2024, 1, 1)]})
    with pytest.raises(InvalidInputError, match="`prob` must be numeric; got column 'p' of type"):
        matrix(frame, ["p"])


def test_nested_columns_are_refused():
    frame = pl.DataFrame({"c": [[0.5, 0.5]]})
    with pytest.raises(InvalidInputError, match=r"`y` must be a column of numbers.*List"):
        column(frame)


def test_matrix_of_no_columns_is_refused(build):
    with pytest.raises(InvalidInputError, match="`prob` must be at least one column; got none"):
        matrix(build({"p": [0.5]}), [])


def test_a_missing_column_is_reported_with_those_there_are_and_the_nearest(build):
    frame = build({"label": [0, 1], "p": [0.1, 0.2]})
    message = (
        r"^f: `y` must be a column of the data; got 'Lable' \(columns: 'label', 'p'\)\.\n"
        r"Hint: did you mean 'label'\?$"
    )
    with pytest.raises(InvalidInputError, match=message):
        column(frame, "Lable")
    with pytest.raises(InvalidInputError, match=r"`prob` must be a column .*\n.*name one of the"):
        matrix(frame, ["p", "zzzzzz"])
    with pytest.raises(InvalidInputError, match=r"`columns` must be a column of the data"):
        open_table(frame, columns=["label", "q"], caller="f")


def test_many_columns_are_listed_in_short():
    frame = pl.DataFrame({f"c{k}": [0] for k in range(40)})
    with pytest.raises(InvalidInputError, match=r"'c11', \.\.\. \(40 in all\)"):
        column(frame, "nothing like it")


def test_numbered_pandas_columns_are_reached_by_their_text():
    frame = pd.DataFrame(np.array([[0.2, 0.8], [0.6, 0.4]]))
    table = open_table(frame, columns=["1", "0"], caller="f")
    assert table.columns == ["1", "0"]
    assert column_names(frame, caller="f") == ["0", "1"]
    np.testing.assert_array_equal(matrix(frame, ["1"]), [[0.8], [0.4]])
    assert list(frame.columns) == [0, 1]


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame([[1, 2]], columns=["a", "a"]),
        pd.DataFrame([[1, 2]], columns=[1, "1"]),
        pa.table([[1], [2]], names=["a", "a"]),
    ],
    ids=["pandas", "pandas-number-and-text", "pyarrow"],
)
def test_repeated_column_names_are_refused(frame):
    with pytest.raises(InvalidInputError, match="`data` must be a frame with distinct column name"):
        open_table(frame, caller="f", param="data")


@pytest.mark.parametrize("source", [[1, 2], None, np.zeros(3), pd.Series([1])])
def test_anything_else_is_refused(source):
    message = "`source` must be a frame or a path; got an object of type"
    with pytest.raises(InvalidInputError, match=message):
        open_table(source, caller="f")
    with pytest.raises(InvalidInputError, match=message):
        column_names(source, caller="f")
