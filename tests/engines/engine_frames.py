"""Engines to run a test on, and their frames made of NumPy columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

Columns = Mapping[str, np.ndarray]

_IBIS = pytest.param(
    "ibis",
    marks=pytest.mark.filterwarnings("ignore:fetch_arrow_table.. is deprecated:DeprecationWarning"),
)
_SPARK = pytest.param(
    "spark",
    marks=[
        pytest.mark.filterwarnings("ignore:PySpark does not yet fully support:FutureWarning"),
        pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
    ],
)

EAGER = ["pandas", "polars", "pyarrow"]
# Engines within this process, which answer at once.
CHEAP = [*EAGER, "polars-lazy", "duckdb", _IBIS]
# Dask and Spark start processes, and take seconds for a query.
ENGINES = [*CHEAP, "dask", _SPARK]


def make_frame(engine: str, columns: Columns, get_fixture: Any) -> Any:
    """Return columns as a frame of an engine; `get_fixture` starts those that need it.

    Object columns are text in which None is missing.
    """
    table = pa.table({name: pa.array(values) for name, values in columns.items()})
    if engine == "pyarrow":
        return table
    if engine == "polars":
        return pl.from_arrow(table)
    if engine == "polars-lazy":
        return pl.from_arrow(table).lazy()
    if engine == "pandas":
        return table.to_pandas()
    if engine == "duckdb":
        return get_fixture("duckdb_connection").from_arrow(table)
    if engine == "ibis":
        return get_fixture("ibis_table")(table)
    if engine == "dask":
        import dask.dataframe as dd

        get_fixture("dask_cluster")
        return dd.from_pandas(table.to_pandas(), npartitions=3)
    return get_fixture("spark").createDataFrame(table)
