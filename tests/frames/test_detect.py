"""What counts as a frame, and what importing the package loads."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import veridical.frames
from veridical.frames.tables import column_names, is_frame, open_table


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"p": [0.5]}),
        pl.DataFrame({"p": [0.5]}),
        pl.LazyFrame({"p": [0.5]}),
        pa.table({"p": [0.5]}),
        nw.from_native(pl.DataFrame({"p": [0.5]})),
        nw.from_native(pl.LazyFrame({"p": [0.5]})),
    ],
    ids=["pandas", "polars", "lazy", "pyarrow", "narwhals", "narwhals-lazy"],
)
def test_frames_of_every_library_are_frames(frame):
    assert is_frame(frame) is True
    assert column_names(frame, caller="f") == ["p"]
    assert open_table(frame, columns=["p"], caller="f").n_rows == 1


@pytest.mark.parametrize(
    "other",
    [
        *([0.5], np.zeros((2, 2)), {"p": [0.5]}, "data.csv", Path("data.csv"), None, 1),
        *(pd.Series([0.5]), pl.Series([0.5]), pa.array([0.5])),
    ],
    ids=lambda value: type(value).__module__ + "." + type(value).__name__,
)
def test_series_arrays_paths_and_dicts_are_not_frames(other):
    assert is_frame(other) is False


def run(code: str) -> str:
    source = Path(veridical.frames.__file__).parents[2]
    env = {**os.environ, "PYTHONPATH": str(source)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_importing_the_package_and_asking_about_a_list_loads_no_frame_library():
    code = (
        "import sys; from veridical.frames.tables import is_frame, find_columns;"
        "assert not is_frame([1]);"
        "print(sorted({'pandas', 'polars', 'pyarrow', 'narwhals'} & set(sys.modules)))"
    )
    assert run(code) == "[]"


def test_a_polars_frame_is_recognised_without_loading_pandas_or_pyarrow():
    code = (
        "import sys, polars as pl; from veridical.frames.tables import is_frame, open_table;"
        "frame = pl.DataFrame({'y': ['a', None], 'p': [1.0, None]}); assert is_frame(frame);"
        "open_table(frame, caller='f').column('y', caller='f', param='y');"
        "print(sorted({'pandas', 'pyarrow'} & set(sys.modules)))"
    )
    assert run(code) == "[]"
