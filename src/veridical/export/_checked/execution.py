"""Exported maps, run by what they are written for."""

from __future__ import annotations

import json
import platform
import sqlite3
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from veridical._core.runtime.optional import is_installed, require
from veridical._core.typing import Array, FloatArray
from veridical.frames.tables import run_in_duckdb

_SECONDS = 120  # after which a check is given up
_RUNNER = """\
import json, sys
source, name, rows, features = json.load(sys.stdin)
space = {}
exec(source, space)
values = zip(*features.values()) if features else [()] * len(rows)
by = [[dict(zip(features, row))] if features else [] for row in values]
json.dump([space[name](row, *own) for row, own in zip(rows, by)], sys.stdout)
"""


class Run(NamedTuple):
    """What an engine made of rows, (n, number of outputs), and which one; or why there is none."""

    values: FloatArray | None
    by: str


TABLE, ROW = "scored", "row of veridical"  # what queries are run over, and what orders its rows


def run_sql(written: str | Sequence[str], dialect: str, table: Mapping[str, Array]) -> Run:
    """Run SQL where there is an engine for its dialect: DuckDB, or SQLite of Python itself.

    `written` is a query over `TABLE` that keeps `ROW`, or a list of expressions.
    """
    if dialect not in ("duckdb", "sqlite"):
        return Run(None, f"no engine of {dialect} is here")
    if dialect == "duckdb" and not is_installed("duckdb"):
        return Run(None, "DuckDB is not installed")
    table = {ROW: np.arange(len(next(iter(table.values())))), **table}
    if isinstance(written, str):
        query = f"SELECT * FROM (\n{written}\n) AS written ORDER BY 1"
    else:
        named = "".join(f", ({each}) AS c{k}" for k, each in enumerate(written))
        query = f'SELECT "{ROW}"{named} FROM {TABLE} ORDER BY 1'
    run = Run(*run_in_duckdb(query, table)) if dialect == "duckdb" else _in_sqlite(query, table)
    return run if run.values is None else Run(run.values[:, 1:], run.by)


def _in_sqlite(query: str, table: Mapping[str, Array]) -> Run:
    base = sqlite3.connect(":memory:")
    try:
        base.execute("SELECT EXP(1.0), LN(2.0)")
    except sqlite3.OperationalError:
        return Run(None, "this SQLite has no mathematical functions")
    finally:
        base.close()
    base = sqlite3.connect(":memory:")
    names = ['"' + name.replace('"', '""') + '"' for name in table]
    base.execute(f"CREATE TABLE {TABLE} ({', '.join(names)})")
    marks = ", ".join("?" * len(names))
    columns = [column.tolist() for column in table.values()]
    base.executemany(f"INSERT INTO {TABLE} VALUES ({marks})", zip(*columns, strict=True))
    rows = base.execute(query).fetchall()
    base.close()
    return Run(np.array(rows, dtype=np.float64), f"SQLite {sqlite3.sqlite_version}")


def run_python(source: str, name: str, rows: FloatArray, by: Mapping[str, Array]) -> Run:
    """Run source in a Python of its own, which sees neither this one's modules nor its folder."""
    features = {feature: values.tolist() for feature, values in by.items()}
    given = json.dumps([source, name, rows.tolist(), features])
    command = [sys.executable, "-I", "-c", _RUNNER]
    try:
        done = subprocess.run(
            command, input=given, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return Run(None, f"it took more than {_SECONDS} seconds")
    if done.returncode:
        return Run(None, f"it failed: {done.stderr.strip().splitlines()[-1][:200]}")
    return Run(np.array(json.loads(done.stdout)), f"Python {platform.python_version()}")


def run_onnx(graph: bytes, rows: FloatArray, by: Mapping[str, Array]) -> Run:
    """Run a graph in onnxruntime, on one thread."""
    if not is_installed("onnxruntime"):
        return Run(None, "onnxruntime is not installed")
    runtime: Any = require("onnxruntime", extra="onnx", purpose="running ONNX")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = runtime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    feed: dict[str, Any] = {session.get_inputs()[0].name: rows}
    for each in session.get_inputs()[1:]:
        text = each.type == "tensor(string)"
        values = ["" if v is None and text else v for v in by[each.name].tolist()]
        feed[each.name] = np.array(values, dtype=object if text else np.float64)
    [found] = session.run(["calibrated"], feed)
    return Run(np.asarray(found), f"onnxruntime {runtime.__version__}")
