"""Whole queries are executed by the engines and compared with `predict_proba`."""

from __future__ import annotations

import sqlite3
from typing import Any

import numpy as np
import pytest
from export import maps
from scipy.special import expit, logit, softmax

from veridical.calibrators import (
    AveragedCalibrator,
    BetaCalibrator,
    ClassConditionalCalibrator,
    CompactCalibrator,
    EnsembleTemperatureCalibrator,
    HistogramCalibrator,
    IdentityCalibrator,
    IsotonicCalibrator,
    OneVsRestCalibrator,
    SplineCalibrator,
    StructuredMatrixCalibrator,
    TemperatureCalibrator,
    VennAbersCalibrator,
)
from veridical.exceptions import InvalidInputError
from veridical.export import to_sql

CLOSE = 1e-12
POOL = [BetaCalibrator(), SplineCalibrator(smoothness=1.0), VennAbersCalibrator()]
EDGES = [0.0, 5e-324, 1e-300, 1e-17, 0.5, 1 - 2.0**-53, 1.0]


def binary_rows(n: int = 900) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(2)
    p = expit(rng.normal(0, 2.5, n))
    return p, (rng.random(n) < expit(0.5 * logit(p))).astype(int)


def several_rows(k: int, n: int = 900) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    p = softmax(rng.normal(0, 1.5, (n, k)), axis=1)
    return p, (rng.random(n)[:, None] > p.cumsum(axis=1)).sum(axis=1).clip(max=k - 1)


def run_duckdb(sql: str, table: dict[str, Any]) -> np.ndarray:
    duckdb = pytest.importorskip("duckdb")
    base = duckdb.connect()
    columns = ", ".join(f'"{name}" DOUBLE' for name in table)
    base.execute(f"CREATE TABLE scores (id INTEGER, {columns})")
    rows = [(i, *row) for i, row in enumerate(zip(*table.values(), strict=True))]
    base.executemany(f"INSERT INTO scores VALUES ({', '.join('?' * (len(table) + 1))})", rows)
    found = sorted(base.execute(sql).fetchall())
    return np.array([row[1:] for row in found], dtype=np.float64)


def run_sqlite(sql: str, table: dict[str, Any]) -> np.ndarray:
    base = sqlite3.connect(":memory:")
    columns = ", ".join(f'"{name}" REAL' for name in table)
    base.execute(f"CREATE TABLE scores (id INTEGER, {columns})")
    rows = [(i, *row) for i, row in enumerate(zip(*table.values(), strict=True))]
    base.executemany(f"INSERT INTO scores VALUES ({', '.join('?' * (len(table) + 1))})", rows)
    return np.array([row[1:] for row in sorted(base.execute(sql).fetchall())], dtype=np.float64)


RUN = {"duckdb": run_duckdb, "sqlite": run_sqlite}
each_engine = pytest.mark.parametrize("dialect", list(RUN))


def plain(values: np.ndarray) -> list[float]:
    return [float(value) for value in values]


@each_engine
@pytest.mark.parametrize("input", ["probability", "logit"])
def test_one_function_for_a_pool_of_two_classes(dialect: str, input: str) -> None:
    p, y = binary_rows()
    values = p if input == "probability" else logit(p)
    map = CompactCalibrator(AveragedCalibrator(POOL), input=input).fit(values, y)
    near = [map.edges_, np.nextafter(map.edges_, np.inf), np.nextafter(map.edges_, -np.inf)]
    ends = EDGES if input == "probability" else [-1e300, 0.0, 1e300]
    limits = (0, 1) if input == "probability" else (-1e300, 1e300)
    at = np.clip(np.concatenate([values[:200], *near, ends]), *limits)
    sql = to_sql(map, dialect=dialect, table="scores", keep="id")
    found = RUN[dialect](sql, {"p": plain(at)})
    assert np.abs(found[:, 0] - map.predict_proba(at)[:, 1]).max() < CLOSE


@each_engine
def test_two_columns_that_saturate(dialect: str) -> None:
    z = np.random.default_rng(1).normal(0, 40, 900)
    y = (np.random.default_rng(2).random(900) < expit(z / 10)).astype(int)
    pairs = np.column_stack([expit(-z), expit(z)])
    map = CompactCalibrator(AveragedCalibrator(POOL)).fit(pairs, y)
    sql = to_sql(map, dialect=dialect, columns=["no", "yes"], table="scores", keep=["id"])
    found = RUN[dialect](sql, {"no": plain(pairs[:, 0]), "yes": plain(pairs[:, 1])})
    assert np.abs(found[:, 0] - map.predict_proba(pairs)[:, 1]).max() < CLOSE


@each_engine
@pytest.mark.parametrize(
    "calibrator",
    [
        AveragedCalibrator(
            [
                StructuredMatrixCalibrator(),
                EnsembleTemperatureCalibrator(),
                OneVsRestCalibrator(IsotonicCalibrator(centered=True)),
                OneVsRestCalibrator(SplineCalibrator(smoothness=10.0)),
                IdentityCalibrator(),
            ]
        ),
        ClassConditionalCalibrator(TemperatureCalibrator()),
    ],
)
def test_five_classes(dialect: str, calibrator: Any) -> None:
    p, y = several_rows(5)
    map = calibrator.fit(p, y)
    sql = to_sql(map, dialect=dialect, table="scores", keep="id")
    at = np.concatenate([p[:100], np.eye(5)])
    found = RUN[dialect](sql, {f"p{k}": plain(at[:, k]) for k in range(5)})
    assert np.abs(found - map.predict_proba(at)).max() < CLOSE
    assert len(sql) < sum(map_len for map_len in map_lengths(map))


def map_lengths(map: Any) -> list[int]:
    return [len(text) for text in to_sql(map)]


@each_engine
def test_rows_that_cannot_be_calibrated_stay_as_null(dialect: str) -> None:
    p, y = binary_rows()
    map = CompactCalibrator(AveragedCalibrator(POOL)).fit(p, y)
    refused = [0.25, None, -0.1, 1.5, float("nan"), float("inf")]
    found = RUN[dialect](to_sql(map, dialect=dialect, table="scores", keep="id"), {"p": refused})
    assert np.isnan(found[:, 0]).tolist() == [False, True, True, True, True, True]


@pytest.mark.parametrize("dialect", ["postgres", "spark", "bigquery", "snowflake"])
def test_other_dialects_name_what_they_repeat(dialect: str) -> None:
    p, y = several_rows(4)
    map = StructuredMatrixCalibrator().fit(p, y)
    sql = to_sql(map, dialect=dialect, table="main.scores", keep="id")
    assert isinstance(sql, str)
    assert sql.count("EXP(") == 8  # two softmaxes of four classes, each power once
    assert sql.count("main") == 1


def test_spark_runs_a_query(spark_session: Any) -> None:
    p, y = several_rows(4, 300)
    map = StructuredMatrixCalibrator().fit(p, y)
    cells = [(i, *plain(row)) for i, row in enumerate(p[:30])]
    columns = ", ".join(f"p{k} DOUBLE" for k in range(4))
    frame = spark_session.createDataFrame(cells, f"id INT, {columns}")
    frame.createOrReplaceTempView("scores")
    sql = to_sql(map, dialect="spark", table="scores", keep="id")
    found = sorted(tuple(row) for row in spark_session.sql(sql).collect())
    expected = map.predict_proba(p[:30])
    assert np.abs(np.array(found)[:, 1:] - expected).max() < CLOSE


def test_a_hundred_classes_are_refused_with_a_way_out() -> None:
    p, y = several_rows(100, 1500)
    parts = [StructuredMatrixCalibrator().fit(p, y)] * 5
    map = AveragedCalibrator.of_fitted(parts, np.ones(5), np.arange(100))
    for options in ({}, {"table": "scores"}):
        with pytest.raises(InvalidInputError, match="million letters") as caught:
            to_sql(map, **options)
        assert "to_onnx" in caught.value.hint
        assert 'strategy="select"' in caught.value.hint


@pytest.mark.parametrize(
    ("options", "param"),
    [
        ({"keep": "id"}, "keep"),
        ({"table": ""}, "table"),
        ({"table": "a..b"}, "table"),
        ({"table": 3}, "table"),
        ({"table": "t", "keep": [3]}, "keep"),
        ({"table": "t", "keep": "Calibrated"}, "keep"),
    ],
)
def test_what_a_query_needs(options: dict[str, Any], param: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        to_sql(maps.fitted("histogram"), **options)
    assert caught.value.param == param


def test_names_of_the_user_are_quoted_and_never_taken() -> None:
    map = HistogramCalibrator(n_bins=2).fit([0.1, 0.2, 0.3, 0.7, 0.8, 0.9], [0, 0, 1, 1, 1, 1])
    sql = to_sql(map, columns="c1", table='we"ird', keep="c2")
    assert 'FROM "we""ird"' in sql
    base = sqlite3.connect(":memory:")
    base.execute('CREATE TABLE "we""ird" (c1 REAL, c2 TEXT)')
    base.execute("INSERT INTO \"we\"\"ird\" VALUES (0.25, 'a'), (0.75, 'b')")
    text = to_sql(map, columns="c1", table='we"ird', keep="c2", dialect="sqlite")
    assert sorted(base.execute(text).fetchall()) == [("a", 0.4), ("b", 0.8)]
