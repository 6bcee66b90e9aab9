"""One answer whatever holds the values, and the caller's data are left alone."""

from __future__ import annotations

import array
from collections import deque

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

CLOSE = {"rtol": 1e-12, "atol": 1e-12}
COLUMNS = ["p_0", "p_1", "p_2"]


def _chunked(values):
    half = len(values) // 2
    return pa.chunked_array([pa.array(values[:half]), pa.array(values[half:])])


def _table(values, make):
    return make({name: values[:, i] for i, name in enumerate(COLUMNS)})


def _chunked_table(values):
    return pa.table({name: _chunked(values[:, i]) for i, name in enumerate(COLUMNS)})


# container -> (how a column becomes one, how a matrix becomes one)
USUAL = {
    "lists": (np.ndarray.tolist, np.ndarray.tolist),
    "pandas": (
        lambda c: pd.Series(c, index=np.arange(len(c))[::-1]),
        lambda m: pd.DataFrame(m, columns=COLUMNS, index=np.arange(len(m))[::-1]),
    ),
    "polars": (pl.Series, lambda m: _table(m, pl.DataFrame)),
    "pyarrow": (pa.array, lambda m: _table(m, pa.table)),
}
OTHER = {
    "tuples": (tuple, lambda m: tuple(map(tuple, m))),
    "deque": (deque, lambda m: deque(map(list, m))),
    "list of arrays": (list, list),
    "pyarrow chunks": (_chunked, _chunked_table),
    "pyarrow batch": (pa.array, lambda m: _table(m, pa.RecordBatch.from_pydict)),
    "pandas from pyarrow": (
        lambda c: pd.Series(c).convert_dtypes(dtype_backend="pyarrow"),
        lambda m: pd.DataFrame(m, columns=COLUMNS).convert_dtypes(dtype_backend="pyarrow"),
    ),
    "pandas nullable": (
        lambda c: pd.Series(c).convert_dtypes(),
        lambda m: pd.DataFrame(m, columns=COLUMNS).astype("Float64"),
    ),
}


def _assert_same_in(containers, metric, data):
    expected = metric.of(data, weighted=True)
    for name, (column, matrix) in containers.items():
        p = column(data.p) if data.p.ndim == 1 else matrix(data.p)
        given = metric(column(data.y), p, sample_weight=column(data.w))
        np.testing.assert_allclose(given, expected, **CLOSE, err_msg=name)


def test_lists_and_frames_give_the_number_of_arrays(metric, data):
    _assert_same_in(USUAL, metric, data)


def test_other_containers_give_the_number_of_arrays(border_metric, data):
    _assert_same_in(OTHER, border_metric, data)


def test_buffers_give_the_number_of_arrays(border_metric, data):
    given = border_metric(array.array("b", data.y), memoryview(data.p))
    np.testing.assert_array_equal(given, border_metric.of(data))


def test_inputs_are_not_changed_and_may_be_read_only(metric, data):
    before = data.copy()
    expected = metric(data.y, data.p, sample_weight=data.w)
    for name in ("y", "p", "w"):
        np.testing.assert_array_equal(getattr(data, name), getattr(before, name))
        getattr(data, name).setflags(write=False)
    given = metric(data.y, data.p, sample_weight=data.w)
    np.testing.assert_array_equal(given, expected)


def test_strided_and_reversed_views_give_the_number_of_their_copies(metric, data):
    y, p, w = data.y[::-2], data.p[::-2], data.w[::-2]
    expected = metric(y.copy(), np.ascontiguousarray(p), sample_weight=w.copy())
    np.testing.assert_allclose(metric(y, p, sample_weight=w), expected, **CLOSE)


def test_columns_of_a_larger_matrix_are_accepted(border_metric, data):
    metric = border_metric
    wide = np.zeros((len(data.y), 2 * data.p.reshape(len(data.y), -1).shape[1]))
    view = wide[:, ::2]
    view[:] = data.p.reshape(len(data.y), -1)
    given = metric(data.y, view[:, 0] if data.p.ndim == 1 else view)
    np.testing.assert_allclose(given, metric.of(data), **CLOSE)


def test_fortran_order_gives_the_same_number(multiclass_metric, data):
    expected = multiclass_metric.of(data, weighted=True)
    given = multiclass_metric(data.y, np.asfortranarray(data.p), sample_weight=data.w)
    np.testing.assert_allclose(given, expected, **CLOSE)


def test_one_and_two_columns_agree_with_a_vector(binary_metric, data):
    expected = binary_metric.of(data)
    one = binary_metric(data.y, data.p[:, None])
    np.testing.assert_array_equal(one, expected)
    both = np.column_stack([1 - data.p, data.p])
    if "first class" in binary_metric.name:  # a single column is that of `pos_label`
        both = both[:, ::-1]
    np.testing.assert_array_equal(binary_metric(data.y, both), expected)


def test_a_column_of_labels_or_weights_is_a_vector(border_metric, data):
    metric = border_metric
    expected = metric.of(data, weighted=True)
    given = metric(data.y[:, None], data.p, sample_weight=data.w[:, None])
    np.testing.assert_array_equal(given, expected)
