"""`veridical export`: what is written says what the calibrator says, and the check is real."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from veridical.calibrators import (
    GroupedCalibrator,
    IsotonicCalibrator,
    PlattCalibrator,
    SimplexHistogramCalibrator,
    TemperatureCalibrator,
)
from veridical.cli import main
from veridical.export import load, save
from veridical.export._checked.export_map import _rows


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    p = rng.random(300)
    status = np.where(rng.random(300) < p**2, "bad", "good")
    frame = pl.DataFrame({"PD": p, "Status": status})
    save(IsotonicCalibrator(pos_label="bad").fit(frame, "Status", prob="PD"), "map.json")
    three = rng.dirichlet([1, 1, 1], 300)
    y = (rng.random(300)[:, None] > three.cumsum(axis=1)).sum(axis=1).clip(max=2)
    save(TemperatureCalibrator().fit(three, np.array(["a", "b", "c"])[y]), "three.json")
    return tmp_path


def run(capsys, *arguments):
    """Exit code, standard output and standard error; anything but SystemExit is a traceback."""
    try:
        code = main(["export", *map(str, arguments)])
    except SystemExit as stopped:
        code = stopped.code
    captured = capsys.readouterr()
    return code, captured.out, captured.err


SCORES = np.array([0.0, 0.1, 0.25, 0.5, 0.9, 1.0])


def expected():
    return load("map.json").predict_proba(SCORES)


def test_sql_is_an_expression_of_the_named_class(capsys):
    options = ["map.json", "--to", "sql", "--dialect", "sqlite", "--column", "risk"]
    code, out, err = run(capsys, *options)
    assert code == 0
    assert "the probability that Status = bad" in err
    assert "10,000 scores in SQLite" in err
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE t (risk REAL)")
    base.executemany("INSERT INTO t VALUES (?)", [(x,) for x in SCORES.tolist()])
    found = [row[0] for row in base.execute(f"SELECT {out} FROM t")]
    base.close()
    np.testing.assert_allclose(found, expected()[:, 0], atol=1e-12)


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_a_query_hands_columns_on(capsys, need, dialect):
    options = ["map.json", "--to", "sql", "--dialect", dialect, "--column", "risk"]
    code, out, err = run(capsys, *options, "--table", "main.scores", "--keep", "id,risk")
    assert code == 0
    assert "one column of a query" in err
    assert "10,000 scores in" in err
    rows = list(enumerate(SCORES.tolist()))[::-1]
    base = sqlite3.connect(":memory:") if dialect == "sqlite" else need("duckdb").connect()
    base.execute("CREATE TABLE scores (id INTEGER, risk DOUBLE)")
    base.executemany("INSERT INTO scores VALUES (?, ?)", rows)
    found = sorted(base.execute(out).fetchall())
    base.close()
    np.testing.assert_array_equal([row[:2] for row in found], sorted(rows))
    np.testing.assert_allclose([row[2] for row in found], expected()[:, 0], rtol=0, atol=1e-12)


def test_python_is_a_module(capsys):
    code, out, _ = run(capsys, "map.json", "--to", "python", "-o", "map.py")
    assert code == 0
    assert "IsotonicCalibrator as Python" in out
    assert "10,000 scores in Python" in out
    space = {}
    exec(Path("map.py").read_text(), space)
    found = [space["calibrate"](x) for x in SCORES.tolist()]
    np.testing.assert_allclose(found, expected(), atol=1e-12)


def test_onnx_is_a_file(capsys, need):
    runtime = need("onnxruntime")
    code, out, _ = run(capsys, "map.json", "--to", "onnx", "-o", "map.onnx", "--format", "json")
    assert code == 0
    made = json.loads(out)
    assert made["size"] == Path("map.onnx").stat().st_size
    assert made["max_error"] <= 1e-12
    session = runtime.InferenceSession("map.onnx")
    found = session.run(None, {"probabilities": SCORES})[0]
    np.testing.assert_allclose(found, expected(), atol=1e-12)


def test_json_is_the_map_again(capsys):
    assert run(capsys, "map.json", "--to", "json", "-o", "again.json")[0] == 0
    np.testing.assert_array_equal(load("again.json").predict_proba(SCORES), expected())


def test_several_classes_are_a_list_for_select(capsys, need):
    duckdb = need("duckdb")
    options = ["--to", "sql", "--column", "p_a,p_b", "--column", "p_c"]
    code, out, err = run(capsys, "three.json", *options)
    assert code == 0
    assert "columns 'p_a', 'p_b', 'p_c', the probabilities of 'a', 'b', 'c'" in err
    row = "SELECT 0.2 AS p_a, 0.3 AS p_b, 0.5 AS p_c"
    found = duckdb.connect().execute(f"SELECT {out} FROM ({row})").fetchnumpy()
    assert list(found) == ["calibrated_a", "calibrated_b", "calibrated_c"]
    want = load("three.json").predict_proba([[0.2, 0.3, 0.5]])[0]
    np.testing.assert_allclose([v[0] for v in found.values()], want, atol=1e-12)


@pytest.mark.parametrize("dialect", ["postgres", "spark", "bigquery", "snowflake"])
def test_what_cannot_be_run_here_is_said(capsys, dialect):
    options = ["map.json", "--to", "sql", "--dialect", dialect, "-o", "map.sql"]
    code, out, _ = run(capsys, *options)
    assert code == 0
    assert "checked: no, not executed" in out
    assert f"no engine of {dialect} is here" in out


def test_without_duckdb_the_same_formula_runs_in_sqlite(capsys, monkeypatch):
    from veridical.export._checked import execution

    monkeypatch.setattr(execution, "is_installed", lambda name: False)
    _, out, _ = run(capsys, "map.json", "--to", "sql", "-o", "map.sql")
    assert "10,000 scores in SQLite" in out
    assert "DuckDB is not installed: the same formula was run as SQL for sqlite" in out
    _, out, _ = run(capsys, "map.json", "--to", "onnx", "-o", "map.onnx")
    assert "not executed: onnxruntime is not installed" in out


def test_a_difference_is_found_and_is_no_success(capsys, monkeypatch):
    from veridical.export._checked import export_map as module

    true = module.to_python
    other = PlattCalibrator().fit([0.2, 0.4, 0.7, 0.8], [0, 1, 0, 1])
    monkeypatch.setattr(module, "to_python", lambda _, name: true(other, name=name))
    code, _, err = run(capsys, "map.json", "--to", "python", "-o", "map.py")
    assert code == 1
    assert "it differs from the calibrator by" in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["map.json"], "required: --to"),
        (["map.json", "--to", "pickle"], "invalid choice"),
        (["map.json", "--to", "onnx"], "`--output` must be given with --to onnx"),
        (["map.json", "--to", "python", "--dialect", "spark", "-o", "x"], "left out with --to"),
        (["map.json", "--to", "sql", "--column", "a,b,c", "-o", "x"], "`--column` must be one or"),
        (["map.json", "--to", "sql", "--column", "good", "-o", "x"], "that of 'bad'"),
        (["map.json", "--to", "json", "-o", "map.json"], "another file"),
        (["map.json", "--to", "sql", "--format", "json"], "`--output` must be given"),
        (["no.json", "--to", "sql", "-o", "x"], "`CALIBRATOR` must be a file"),
        (["cells.json", "--to", "sql", "-o", "x"], "one that has a formula"),
    ],
)
def test_bad_input_is_refused_in_one_line_and_writes_nothing(capsys, options, message):
    p = np.random.default_rng(0).dirichlet([1, 1, 1], 60)
    save(SimplexHistogramCalibrator().fit(p, p.argmax(axis=1)), "cells.json")
    before = {path.name: path.read_bytes() for path in Path.cwd().iterdir()}
    code, out, err = run(capsys, *options)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert message in err
    assert {path.name: path.read_bytes() for path in Path.cwd().iterdir()} == before


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["map.json", "--to", "sql", "--column", "p,p"], "`--column` must be different names"),
        (["map.json", "--to", "sql", "--by", "site"], "`--by` must be unset"),
        (["map.json", "--to", "python", "--by", "site"], "`--by` must be left out"),
        (["map.json", "--to", "sql", "--keep", "id"], "`--keep` must be left out without --table"),
        (["groups.json", "--to", "sql", "--column", "p", "--by", "p"], "must be another column"),
    ],
)
def test_columns_that_cannot_be_meant_are_refused(capsys, options, message):
    _saved_groups()
    code, out, err = run(capsys, *options)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert message in err


def test_the_column_of_groups_goes_in(capsys):
    _saved_groups()
    code, _, err = run(capsys, "groups.json", "--to", "sql", "--by", "my site")
    assert code == 0
    assert "in: column 'p', the probability of 1; groups in column 'my site'" in err


def _saved_groups():
    rng = np.random.default_rng(0)
    p = rng.random(200)
    y = (rng.random(200) < p).astype(int)
    save(GroupedCalibrator(PlattCalibrator()).fit(p, y, by=np.arange(200) % 2), "groups.json")


def test_the_check_is_made_where_scores_were_seen():
    scores = np.linspace(2e6, 9e7, 400)
    y = (np.random.default_rng(0).random(400) < scores / 1e8).astype(int)
    map = IsotonicCalibrator(input="score").fit(scores, y)
    rows = _rows(map, one_column=True)
    assert len(rows) == 10_000
    assert np.isin(map.knots_, rows).all()
