"""Expressions of SQL, computed over arrays by DuckDB."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from veridical._core.runtime.optional import require
from veridical._core.typing import Array, FloatArray


def run_in_duckdb(expressions: Sequence[str], table: Mapping[str, Array]) -> tuple[FloatArray, str]:
    """Values of expressions over the columns of a table, (n, number of them), NaN for NULL.

    Also says what has run them. Nothing outside of memory is read or written.
    """
    duckdb: Any = require("duckdb", extra="duckdb", purpose="running SQL")
    settings = {"threads": 1, "enable_external_access": "false"}
    with duckdb.connect(config=settings) as base:
        base.register("scored", dict(table))
        named = ", ".join(f"({each}) AS c{k}" for k, each in enumerate(expressions))
        found = base.execute(f"SELECT {named} FROM scored").fetchnumpy()
    columns = [np.ma.filled(found[f"c{k}"].astype(np.float64), np.nan) for k in range(len(found))]
    return np.column_stack(columns), f"DuckDB {duckdb.__version__}"
