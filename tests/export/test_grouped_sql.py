"""A map of groups as SQL: keys are literals, whatever they hold; strangers get the pooled map."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from veridical.calibrators import (
    ConfidenceReducedCalibrator,
    GroupedCalibrator,
    HistogramCalibrator,
    IsotonicCalibrator,
    PlattCalibrator,
    TemperatureCalibrator,
)
from veridical.exceptions import InvalidInputError
from veridical.export import load, save, to_sql
from veridical.export.core import export_map

ODD = [
    "a",
    "it's",
    "b\\",
    "'; DROP TABLE scored; --",
    "x'); --",
    "ß*/ /*",
    "${x}:y?%s",
    "\U0001f600",
]
CLOSE = 1e-12


def _fitted(keys: list[Any], calibrator: Any = None, **options: Any) -> GroupedCalibrator:
    rng = np.random.default_rng(5)
    n = 40 * len(keys)
    p = rng.random(n)
    shift = np.arange(n) % len(keys) / len(keys)
    y = (rng.random(n) < np.clip(p**2 + shift / 2, 0, 1)).astype(int)
    by = [keys[i % len(keys)] for i in range(n)]
    map = GroupedCalibrator(calibrator or PlattCalibrator(), shrinkage=20, **options)
    return map.fit(p, y, by=by)


def _rows(keys: list[Any]) -> tuple[np.ndarray, list[Any]]:
    scores = np.linspace(0, 1, 5 * len(keys))
    return scores, [keys[i % len(keys)] for i in range(len(scores))]


def _duckdb(need: Any, sql: str, scores: np.ndarray, keys: list[Any], kind: str) -> np.ndarray:
    base = need("duckdb").connect(config={"threads": 1})
    base.execute(f'CREATE TABLE scored (i INTEGER, p DOUBLE, "the site" {kind})')
    base.executemany(
        "INSERT INTO scored VALUES (?, ?, ?)",
        list(zip(range(len(keys)), scores, keys, strict=True)),
    )
    return np.array(base.execute(f"SELECT {sql} FROM scored ORDER BY i").fetchall())[:, 0]


def _sqlite(need: Any, sql: str, scores: np.ndarray, keys: list[Any], kind: str) -> np.ndarray:
    import sqlite3

    base = sqlite3.connect(":memory:")
    base.execute('CREATE TABLE scored (p REAL, "the site")')
    base.executemany(
        "INSERT INTO scored VALUES (?, ?)", list(zip(scores.tolist(), keys, strict=True))
    )
    found = base.execute(f"SELECT {sql} FROM scored ORDER BY rowid").fetchall()
    base.close()
    return np.array(found)[:, 0]


RUN = {"duckdb": _duckdb, "sqlite": _sqlite}


@pytest.mark.parametrize("dialect", RUN)
@pytest.mark.parametrize(
    ("keys", "stranger", "kind"),
    [
        (ODD, "new", "VARCHAR"),
        ([1, 2, -3], 7, "INTEGER"),
        ([0.5, 1.25], 2.0, "DOUBLE"),
        ([False, True], None, "BOOLEAN"),
        (["a", None], "(nobody)", "VARCHAR"),
    ],
)
def test_every_group_gets_its_map_and_a_stranger_the_pooled_one(
    need, dialect, keys, stranger, kind
):
    map = _fitted(keys)
    scores, by = _rows([*keys, stranger] if stranger is not None else keys)
    sql = to_sql(map, dialect=dialect, by="the site")
    expected = map.predict_proba(scores, by=np.array(by, dtype=object))[:, 1]
    found = RUN[dialect](need, sql, scores, by, kind)
    np.testing.assert_allclose(found, expected, rtol=0, atol=CLOSE)


def test_a_missing_group_that_was_not_fitted_gets_the_pooled_map(need):
    map = _fitted(["a", "b"])
    scores = np.linspace(0.1, 0.9, 4)
    found = _duckdb(need, to_sql(map, by="the site"), scores, [None] * 4, "VARCHAR")
    np.testing.assert_allclose(found, map.pooled_.predict_proba(scores)[:, 1], atol=CLOSE)


def test_postgres_reads_odd_keys_as_they_are(postgres_server):
    map = _fitted(ODD)
    scores, by = _rows([*ODD, "new"])
    made = 'CREATE TEMP TABLE scored (i int, p float8, "the site" text);\n'
    lines = "".join(
        f"{i}\t{x!r}\t{key.replace(chr(92), chr(92) * 2)}\n"
        for i, (x, key) in enumerate(zip(scores.tolist(), by, strict=True))
    )
    sql = to_sql(map, dialect="postgres", by="the site")
    script = f"{made}COPY scored FROM STDIN;\n{lines}\\.\nSELECT {sql} FROM scored ORDER BY i;\n"
    for setting in ("on", "off"):  # whatever a backslash means in plain literals
        told = f"SET standard_conforming_strings = {setting};\n{script}"
        found = np.array([float(x) for x in postgres_server.psql(told).split()])
        expected = map.predict_proba(scores, by=by)[:, 1]
        np.testing.assert_allclose(found, expected, rtol=0, atol=CLOSE)


def test_spark_reads_odd_keys_as_they_are(spark_session):
    map = _fitted(ODD)
    scores, by = _rows([*ODD, "new"])
    rows = [(i, float(x), key) for i, (x, key) in enumerate(zip(scores, by, strict=True))]
    frame = spark_session.createDataFrame(rows, "i INT, p DOUBLE, `the site` STRING").coalesce(1)
    frame.createOrReplaceTempView("scored")
    sql = to_sql(map, dialect="spark", by="the site")
    found = spark_session.sql(f"SELECT i, {sql} AS q FROM scored").collect()
    found = [row["q"] for row in sorted(found, key=lambda row: row["i"])]
    np.testing.assert_allclose(found, map.predict_proba(scores, by=by)[:, 1], rtol=0, atol=CLOSE)


@pytest.mark.parametrize("dialect", ["postgres", "spark", "bigquery", "snowflake"])
def test_nothing_of_a_key_ends_its_literal_where_backslashes_escape(dialect):
    sql = to_sql(_fitted(ODD), dialect=dialect, by="site")
    assert "DROP TABLE" in sql  # as letters within a literal
    for sign in (";", "--", "${", "%s", "?", "''", "\\'"):
        assert sign not in sql.replace("*/", "").replace("/*", "")


def test_several_classes_and_the_positive_one_first(need):
    rng = np.random.default_rng(0)
    p = rng.dirichlet([1, 1, 1], 240)
    y = (rng.random(240)[:, None] > p.cumsum(axis=1)).sum(axis=1).clip(max=2)
    by = np.array(["a", "b"])[np.arange(240) % 2]
    map = GroupedCalibrator(TemperatureCalibrator()).fit(p, y, by=by)
    _, made = export_map(map, "sql", by="site")
    assert made.max_error <= CLOSE
    first = GroupedCalibrator(IsotonicCalibrator(), pos_label=False).fit(p[:, 0], y > 0, by=by)
    _, made = export_map(first, "sql", dialect="sqlite", by="site")
    assert made.max_error <= CLOSE
    assert made.output == "one expression, the probability of False"


def test_the_column_of_a_frame_is_remembered(tmp_path, need):
    map = _fitted(["a", "b"])
    scores, by = _rows(["a", "b"])
    frame = pl.DataFrame({"p": scores, "y": [0, 1] * 5, "the site": by})
    map.fit(frame, "y", prob="p", by="the site")
    save(map, tmp_path / "map.json")
    back = load(tmp_path / "map.json")
    assert "\"the site\" = 'a'" in to_sql(back)
    assert back.outcome_name_ == "y"
    assert export_map(back, "json")[1].max_error == 0


def test_what_cannot_be_written_is_refused():
    with pytest.raises(InvalidInputError, match="`by` must be given for a `GroupedCalibrator`"):
        to_sql(_fitted(["a", "b"]))
    platt = PlattCalibrator().fit([0.2, 0.7], [0, 1])
    with pytest.raises(InvalidInputError, match="`by` must be unset"):
        to_sql(platt, by="site")
    reduced = _fitted(["a", "b"], ConfidenceReducedCalibrator(PlattCalibrator()))
    with pytest.raises(InvalidInputError, match="one that has a formula"):
        to_sql(reduced, by="site")
    dates = _fitted(list(np.array(["2024-01-01", "2024-01-02"], dtype="datetime64[D]")))
    with pytest.raises(InvalidInputError, match="of groups of plain keys"):
        to_sql(dates, by="site")


def test_the_text_that_missing_groups_are_called_is_the_same_group():
    duckdb = pytest.importorskip("duckdb")
    p = np.linspace(0.05, 0.95, 30)
    y = (np.arange(30) % 3 == 0).astype(int)
    groups = (["a", "(missing)", None] * 10)[:30]
    grouped = GroupedCalibrator(HistogramCalibrator(n_bins=1), shrinkage=1)
    grouped.fit(p, y, by=np.array(groups, dtype=object))
    assert grouped.groups_ == ["(missing)", "a"]
    base = duckdb.connect()
    base.execute("CREATE TABLE scores (risk DOUBLE, site VARCHAR)")
    base.executemany("INSERT INTO scores VALUES (?, ?)", list(zip(p.tolist(), groups, strict=True)))
    found = base.execute(f"SELECT {to_sql(grouped, columns='risk', by='site')} FROM scores")
    expected = grouped.predict_proba(p, by=np.array(groups, dtype=object))[:, 1]
    np.testing.assert_allclose([row[0] for row in found.fetchall()], expected, rtol=0, atol=1e-12)


def test_huge_keys_beside_small_ones_stay_apart():
    p, y = np.linspace(0.05, 0.95, 30), (np.arange(30) % 5 == 0).astype(int)
    keys = [5, 2**64 - 1, 2**64 - 2] * 10  # a plain array would make floats of them
    grouped = GroupedCalibrator(HistogramCalibrator(n_bins=1), shrinkage=1).fit(p, y, by=keys)
    assert grouped.groups_ == [5, 2**64 - 2, 2**64 - 1]
