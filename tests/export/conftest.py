"""Engines that execute exported SQL, and scores that are hard on them."""

from __future__ import annotations

import os
import shutil
import sqlite3
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pytest
from needs import lacking
from postgres_server import PostgresServer

Table = Mapping[str, np.ndarray]
Engine = Callable[[list[str], Table], np.ndarray]


def _cells(table: Table) -> list[tuple[Any, ...]]:
    """Rows of a table after their numbers; NaN stays NaN, None is NULL."""
    columns = [column.tolist() for column in table.values()]
    return [(i, *row) for i, row in enumerate(zip(*columns, strict=True))]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _select(expressions: list[str]) -> str:
    return f"SELECT {', '.join(expressions)} FROM scored ORDER BY row_number_"


def _create(table: Table, kind: str) -> str:
    columns = ", ".join(f"{_quoted(name)} {kind}" for name in table)
    return f"CREATE TABLE scored (row_number_ INTEGER, {columns})"


@pytest.fixture
def sqlite() -> Engine:
    """SQLite of the standard library."""

    def run(expressions: list[str], table: Table, kind: str = "REAL") -> np.ndarray:
        base = sqlite3.connect(":memory:")
        try:
            base.execute("SELECT EXP(1.0), LN(2.0)")
        except sqlite3.OperationalError:
            lacking("this SQLite has no mathematical functions")
        base.execute(_create(table, kind))
        marks = ", ".join("?" * (len(table) + 1))
        base.executemany(f"INSERT INTO scored VALUES ({marks})", _cells(table))
        rows = base.execute(_select(expressions)).fetchall()
        base.close()
        return np.array(rows, dtype=np.float64)

    return run


@pytest.fixture
def duckdb(need: Callable[[str], Any]) -> Engine:
    """DuckDB in memory."""
    base = need("duckdb").connect(config={"threads": 1})

    def run(expressions: list[str], table: Table, kind: str = "DOUBLE") -> np.ndarray:
        base.execute(_create(table, kind).replace("CREATE TABLE", "CREATE OR REPLACE TABLE"))
        rows = ", ".join(f"({', '.join(map(_duck_number, row))})" for row in _cells(table))
        base.execute(f"INSERT INTO scored VALUES {rows}")
        rows = base.execute(_select(expressions)).fetchall()
        return np.array(rows, dtype=np.float64)

    return run


def _duck_number(value: Any) -> str:
    return "NULL" if value is None else f"'{value!r}'::DOUBLE"


@pytest.fixture(scope="session")
def spark_session() -> Iterator[Any]:
    """Spark in this process, with two threads, that talks to nothing beyond this machine."""
    if shutil.which("java") is None:
        lacking("Java, which Spark needs, is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a library says of its own imports
        try:
            from pyspark.sql import SparkSession
        except ModuleNotFoundError:
            lacking("pyspark is not installed")
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    # Hundreds of long expressions over few rows: compiling each would take most of the time.
    session.conf.set("spark.sql.codegen.wholeStage", "false")
    session.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    yield session
    session.stop()


@pytest.fixture
def spark(spark_session: Any) -> Engine:
    """Spark, rows in and out through Python."""

    def run(expressions: list[str], table: Table, kind: str = "DOUBLE") -> np.ndarray:
        names = [name.replace("`", "``") for name in table]
        schema = ", ".join(["row_number_ INT", *(f"`{name}` {kind}" for name in names)])
        frame = spark_session.createDataFrame(_cells(table), schema).coalesce(1)
        columns = [f"{each} AS c{k}" for k, each in enumerate(expressions)]
        rows = frame.selectExpr("row_number_", *columns).collect()
        rows.sort(key=lambda row: row[0])
        return np.array([row[1:] for row in rows], dtype=np.float64)

    return run


@pytest.fixture
def postgres(postgres_server: PostgresServer) -> Engine:
    """PostgreSQL through its own client."""

    def run(expressions: list[str], table: Table, kind: str = "float8") -> np.ndarray:
        lines = "".join("\t".join(map(_copy_number, row)) + "\n" for row in _cells(table))
        made = _create(table, kind).replace("CREATE TABLE", "CREATE TEMP TABLE")
        script = f"{made};\nCOPY scored FROM STDIN;\n{lines}\\.\n{_select(expressions)};\n"
        answer = postgres_server.psql(script)
        rows = [line.split("|") for line in answer.splitlines()]
        return np.array([[float(cell or "nan") for cell in row] for row in rows])

    return run


def _copy_number(value: Any) -> str:
    return "\\N" if value is None else repr(value)


@pytest.fixture
def engine(request: pytest.FixtureRequest) -> tuple[str, Engine]:
    """Indirect: the dialect of this name and what executes it."""
    return request.param, request.getfixturevalue(request.param)
