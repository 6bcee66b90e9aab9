"""Small tables out."""

from __future__ import annotations

import importlib

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from veridical.exceptions import InvalidInputError, MissingDependencyError
from veridical.frames.tables import open_table, small_table

KINDS = {"polars": pl.DataFrame, "pandas": pd.DataFrame, "pyarrow": pa.Table}
DATA = {"model": ["a", "b"], "ece": np.array([0.5, 0.25]), "n": (10, 7), "low": [None, 0.5]}


@pytest.mark.parametrize("backend", list(KINDS))
def test_each_backend_holds_the_same_table(backend):
    frame = small_table(DATA, backend=backend, caller="f")
    assert type(frame) is KINDS[backend]
    table = open_table(frame, caller="f")
    assert table.columns == list(DATA)
    assert table.column("model", caller="f", param="y").tolist() == ["a", "b"]
    values = table.matrix(["ece", "n", "low"], caller="f", param="y")
    np.testing.assert_array_equal(values, [[0.5, 10, np.nan], [0.25, 7, 0.5]])


def test_polars_is_the_default():
    assert type(small_table(DATA, caller="f")) is pl.DataFrame


@pytest.mark.parametrize("backend", list(KINDS))
def test_integers_beside_fractions_are_floats(backend):
    frame = small_table({"value": [1, 0.5]}, backend=backend, caller="f")
    result = open_table(frame, caller="f").column("value", caller="f", param="y")
    assert result.tolist() == [1.0, 0.5]


@pytest.mark.parametrize("backend", ["panda", None, ["polars"]])
def test_an_unknown_backend_is_refused(backend):
    with pytest.raises(InvalidInputError, match="`backend` must be one of 'polars', 'pandas', 'py"):
        small_table(DATA, backend=backend, caller="f")


def test_columns_of_unequal_length_are_refused():
    message = "`data` must be columns of equal length; got 'a' of 1, 'b' of 2"
    with pytest.raises(InvalidInputError, match=message):
        small_table({"a": [1], "b": [1, 2]}, caller="f")


@pytest.mark.parametrize("backend", ["pandas", "pyarrow"])
def test_a_library_that_is_not_installed_is_named_with_the_install_command(monkeypatch, backend):
    real = importlib.import_module

    def absent(name, package=None):
        if name == backend:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return real(name, package)

    monkeypatch.setattr(importlib, "import_module", absent)
    message = rf"f with backend='{backend}' needs {backend}\.\nHint: pip install"
    with pytest.raises(MissingDependencyError, match=message):
        small_table(DATA, backend=backend, caller="f")
