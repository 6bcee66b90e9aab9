"""Whatever holds values becomes an array, without copies where possible."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from veridical import InvalidInputError, brier_score
from veridical._core.data.arrays import missing_values, to_numpy


def convert(values):
    return to_numpy(values, caller="f", param="x")


TEXT = ["b", "a", "b"]


@pytest.mark.parametrize(
    "values",
    [
        TEXT,
        np.array(TEXT),
        pd.Series(TEXT),
        pd.Series(TEXT, dtype="string"),
        pd.Series(TEXT, dtype="category"),
        pd.Categorical(TEXT, categories=["b", "a", "never"]),
        pd.Index(TEXT),
        pl.Series(TEXT),
        pl.Series(TEXT, dtype=pl.Categorical),
        pl.Series(TEXT, dtype=pl.Enum(["c", "b", "a"])),
        pa.array(TEXT),
        pa.array(TEXT, type=pa.large_string()),
        pa.array(TEXT).dictionary_encode(),
        pa.chunked_array([["b"], ["a", "b"]]),
        pa.chunked_array([pa.array(part).dictionary_encode() for part in (["b", "a"], ["b"])]),
    ],
    ids=str,
)
def test_text_of_every_library_is_read(values):
    assert convert(values).tolist() == TEXT


@pytest.mark.parametrize(
    "values",
    [
        [0.25, 1.0],
        (0.25, 1.0),
        np.array([0.25, 1.0]),
        np.ma.masked_array([0.25, 1.0], [False, False]),
        pd.Series([0.25, 1.0]),
        pd.array([0.25, 1.0], dtype="Float64"),
        pd.array([0.25, 1.0], dtype="Float32"),
        pl.Series([0.25, 1.0]),
        pl.Series([0.25, 1.0], dtype=pl.Float32),
        pa.array([0.25, 1.0]),
        pa.chunked_array([[0.25], [], [1.0]]),
    ],
    ids=lambda v: type(v).__name__,
)
def test_numbers_of_every_library_are_read(values):
    array = convert(values)
    assert array.shape == (2,)
    assert array.astype(float).tolist() == [0.25, 1.0]


@pytest.mark.parametrize(
    "values",
    [
        [[0.25, 0.75], [1.0, 0.0]],
        np.array([[0.25, 0.75], [1.0, 0.0]]),
        pd.DataFrame({"a": [0.25, 1.0], "b": [0.75, 0.0]}),
        pl.DataFrame({"a": [0.25, 1.0], "b": [0.75, 0.0]}),
        pa.table({"a": [0.25, 1.0], "b": [0.75, 0.0]}),
        pa.table({"a": pa.chunked_array([[0.25], [1.0]]), "b": pa.chunked_array([[0.75], [0.0]])}),
        pa.record_batch({"a": [0.25, 1.0], "b": [0.75, 0.0]}),
    ],
    ids=lambda v: type(v).__name__,
)
def test_matrices_of_every_library_are_read(values):
    array = convert(values)
    assert type(array) is np.ndarray
    assert array.tolist() == [[0.25, 0.75], [1.0, 0.0]]


def test_arrays_and_columns_are_not_copied():
    column = np.array([0.25, 0.5])
    for values in (column, column[::-1], pl.Series(column), pa.array(column), memoryview(column)):
        again = convert(values)
        assert np.shares_memory(again, convert(values))


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (pd.Series([0, 1], dtype="Int64"), "iO"),
        (pd.Series([True, False], dtype="boolean"), "bO"),
        (pl.Series([True, False]), "b"),
        (pa.array([True, False]), "b"),
        (pa.array([1, 2], type=pa.int8()), "i"),
        (range(2), "i"),
    ],
    ids=["Int64", "boolean", "polars", "pyarrow", "int8", "range"],
)
def test_integers_and_booleans_stay_what_they_are(values, kind):
    assert convert(values).dtype.kind in kind


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (np.array([0.5, np.nan]), [False, True]),
        (np.array([1j, np.nan]), [False, True]),
        (np.array(["NaT", "2020-01-01"], dtype="M8[D]"), [True, False]),
        (np.array([1, 2], dtype="m8[s]"), [False, False]),
        (np.array([None, pd.NA, float("nan"), "nan", 0], dtype=object), [True] * 3 + [False] * 2),
        (np.array(["", "nan"]), [False, False]),
        (np.array([0, 1]), [False, False]),
    ],
    ids=["float", "complex", "datetime", "timedelta", "object", "text", "integer"],
)
def test_missing_values_are_found_in_every_kind(values, expected):
    assert missing_values(values).tolist() == expected


class _Device:
    def __init__(self, kind):
        self.type = kind

    def __str__(self):
        return f"{self.type}:0"


class _Tensor:
    """What matters of a tensor: where it is, and whether NumPy can read it."""

    dtype = "bfloat16"

    def __init__(self, device="cpu", readable=True):
        self.device = _Device(device)
        self.readable = readable

    def detach(self):
        return self

    def __array__(self, dtype=None, copy=None):
        if not self.readable:
            raise TypeError("unsupported scalar type")
        return np.array([0.25, 0.75])


def test_a_tensor_in_cpu_memory_is_read():
    assert brier_score([0, 1], _Tensor()) == 0.0625


def test_a_tensor_elsewhere_says_how_to_move_it():
    message = r"`y_prob` must be in CPU memory; got a tensor on cuda:0\.\nHint: .*`y_prob\.cpu\(\)`"
    with pytest.raises(InvalidInputError, match=message):
        brier_score([0, 1], _Tensor("cuda"))


def test_a_tensor_numpy_cannot_read_says_how_to_convert_it():
    message = r"of a type NumPy has; got a tensor of type bfloat16\.\nHint: .*`y_prob\.float\(\)`"
    with pytest.raises(InvalidInputError, match=message):
        brier_score([0, 1], _Tensor(readable=False))


def test_torch_tensors_are_read(need):
    torch = need("torch")
    y, p = torch.tensor([0, 1]), torch.tensor([0.25, 0.75], requires_grad=True)
    assert brier_score(y, p) == 0.0625
    assert brier_score(y, torch.stack([1 - p, p], dim=1)) == 0.0625
    with pytest.raises(InvalidInputError, match=r"`y_prob\.float\(\)`"):
        brier_score(y, p.detach().to(torch.bfloat16))


def test_reading_columns_imports_no_library_they_do_not_come_from():
    code = (
        "import polars, veridical, sys; s = polars.Series([0.25, 0.75]);"
        "veridical.brier_score(polars.Series([0, 1]), s);"
        "print(*{'pandas', 'pyarrow'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
