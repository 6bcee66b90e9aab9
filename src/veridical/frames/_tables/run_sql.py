"""Expressions of SQL, computed over arrays by DuckDB."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from veridical._core.runtime.optional import require
from veridical._core.typing import Array, FloatArray


def run_in_duckdb(query: str, table: Mapping[str, Array]) -> tuple[FloatArray, str]:
    """What a query over the table `scored` gives, (n, number of columns), NaN for NULL.

    Also says what has run them. Nothing outside of memory is read or written.
    """
    duckdb: Any = require("duckdb", extra="duckdb", purpose="running SQL")
    settings = {"threads": 1, "enable_external_access": "false"}
    with duckdb.connect(config=settings) as base:
        base.register("scored", dict(table))
        found = base.execute(query).fetchnumpy()
    columns = [np.ma.filled(each.astype(np.float64), np.nan) for each in found.values()]
    return np.column_stack(columns), f"DuckDB {duckdb.__version__}"
