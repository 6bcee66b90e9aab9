"""Files are data, not trust: whatever is changed in a saved map is refused, or is another map."""

from __future__ import annotations

import ast
import json
import os
import random
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from calibrators.every_calibrator import BINARY, EVERY, NEW, fit, predict, untied_three
from calibrators.mutations import CANARY, mutations
from export import maps

from veridical._core.data.schema import SEAL, seal
from veridical.calibrators import Calibrator
from veridical.evaluation import grid_summary
from veridical.exceptions import InvalidInputError
from veridical.export import load, save, to_python, to_sql
from veridical.export._text.sql_dialects import DIALECTS
from veridical.selection import AutoCalibrator
from veridical.summaries import GridSummary

ALL = os.environ.get("VERIDICAL_ALL_SLOW") == "1"
SAMPLE = 60  # changes of each map without it
NAMES = [name for name in EVERY if name != "auto"]  # a pool of 60: the averages stand for it


@cache
def saved(name: str) -> tuple[Calibrator, str]:
    """A map of few rows, and its file."""
    if name in BINARY:
        rng = np.random.default_rng(0)
        p = rng.random(60).round(2)
        y = (rng.random(60) < p**0.7).astype(int)
    else:
        p, y = untied_three()
        p, y = p[:80], y[:80]
    model = fit(EVERY[name], p, y)
    return model, json.dumps(model.to_dict())


def scores(name: str) -> np.ndarray:
    """Predictions to try a map on."""
    if name in BINARY:
        return NEW
    corners = [[1, 0, 0], [0, 0.5, 0.5], [1 / 3, 1 / 3, 1 / 3]]
    return np.vstack([untied_three()[0][:6], corners])


def changed(data: dict[str, Any], name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Changed files: a seeded sample of them, or all."""
    found = list(mutations(data))
    kept = found if ALL else random.Random(name).sample(found, min(SAMPLE, len(found)))
    return ((str(each), each.of(data)) for each in kept)


@pytest.mark.parametrize("name", NAMES)
def test_a_change_under_the_old_hash_is_damage(name: str) -> None:
    data = json.loads(saved(name)[1])
    data[SEAL] = seal(data)
    assert Calibrator.from_dict(data)
    for what, other in changed(data, name):
        if SEAL in what or SEAL not in other:
            continue
        with pytest.raises(InvalidInputError, match="got a damaged one"):
            Calibrator.from_dict(other)


@pytest.mark.parametrize("name", NAMES)
def test_a_change_without_a_hash_is_refused_or_another_map(name: str) -> None:
    model, text = saved(name)
    new, counts = scores(name), Counter[str]()
    expected = predict(model, new)
    for index, (what, other) in enumerate(changed(json.loads(text), name)):
        if index % 2:
            other[SEAL] = seal(other)  # as whoever means to would do
        counts[outcome(other, new, expected, what)] += 1
        other.pop(SEAL, None)
    print(f"{name}: {dict(counts)}")
    assert set(counts) <= {"refused", "same", "other", "not fitted"}
    assert counts["refused"] > 0.8 * counts.total()


def outcome(data: dict[str, Any], new: np.ndarray, expected: np.ndarray, what: str) -> str:
    """What becomes of a changed file: anything but a refusal must be a map of probabilities."""
    try:
        calibrator = Calibrator.from_dict(data)
    except InvalidInputError as error:
        return "refused" if error.param and len(str(error)) < 1500 else f"unclear: {what}"
    if not hasattr(calibrator, "classes_"):
        return "not fitted"  # `load` refuses it
    try:
        p = predict(calibrator, new)
    except InvalidInputError:
        return "refused"  # e.g. fewer classes than columns
    assert np.isfinite(p).all(), what
    assert p.min() >= 0, what
    assert p.max() <= 1, what
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=0, atol=1e-6, err_msg=what)
    check_texts(calibrator, what)
    return "same" if np.array_equal(p, expected) else "other"


def check_texts(calibrator: Calibrator, what: str) -> None:
    """No text of the file stands in SQL, and in Python only as a literal."""
    try:
        written = [to_sql(calibrator, dialect=each) for each in DIALECTS]
        source = to_python(calibrator)
    except InvalidInputError:
        return
    for sql in written:
        assert "DROP TABLE" not in (sql if isinstance(sql, str) else "".join(sql)), what
    check_source(source)


def check_source(source: str) -> None:
    """Only functions of numbers: texts are docstrings, labels or the two error messages."""
    tree = ast.parse(source)
    allowed = (ast.Expr, ast.Import, ast.ImportFrom, ast.Assign, ast.FunctionDef)
    assert all(isinstance(node, allowed) for node in tree.body)
    names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
    assert not names & {"eval", "exec", "__import__", "open", "compile", "globals", "getattr"}
    imported = {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
    assert imported == {"math"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            continue
        if isinstance(node, (ast.Call, ast.Attribute, ast.Name)):
            assert "DROP" not in ast.unparse(node) or isinstance(node, ast.Call)
    calls = {ast.unparse(n.func) for n in ast.walk(tree) if isinstance(n, ast.Call)}
    known = {"math.log", "math.exp", "max", "min", "sum", "len", "float", "any", "hasattr",
             "ValueError", "bisect_left", "bisect_right", "_logistic", "_softmax",
             "_log_sum_exp", "math.isfinite", "range", "zip", "abs", "_code", "_cases", "all",
             "isinstance", "value.strip", "math.fsum"}  # fmt: skip
    assert all(call in known or call.endswith(".index") for call in calls), calls


@pytest.mark.parametrize("form", ["json", "parquet"])
def test_summaries(form: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    p = rng.random(30).round(2)
    y, by = (rng.random(30) < p).astype(int), np.array(["a", "b"])[rng.integers(0, 2, 30)]
    summary = grid_summary(y, p, by=by, n_bins=5)
    data, counts = json.loads(summary.to_json()), Counter[str]()
    for what, other in changed(data, form):
        if SEAL in what or (form == "parquet" and ("entries" in what or "deep" in what)):
            continue
        if "format" not in what:  # else it is no summary at all
            with pytest.raises(InvalidInputError, match="got a damaged one"):
                GridSummary.from_dict(other)
        other.pop(SEAL, None)
        try:
            if form == "json":
                again = GridSummary.from_dict(other)
            else:
                again = through_parquet(summary, other, tmp_path / "sums.parquet")
        except InvalidInputError as error:
            counts["refused" if error.param else f"unclear: {what}"] += 1
            continue
        assert str(again), what
        _, q, count = again.arrays()
        assert ((q >= 0) & (q <= 1) & np.isfinite(count) & (count > 0)).all(), what
        counts["same" if again == summary else "other"] += 1
    print(f"summary as {form}: {dict(counts)}")
    assert set(counts) <= {"refused", "same", "other"}
    assert counts["refused"] > 0.8 * counts.total()


def through_parquet(summary: GridSummary, data: dict[str, Any], path: Path) -> GridSummary:
    """The head of a changed summary beside the entries as they were."""
    import polars as pl

    summary.to_parquet(path)
    frame = pl.read_parquet(path)
    text = next(name for name in frame.columns if frame[name].dtype == pl.String)
    head = json.dumps({key: value for key, value in data.items() if key != "entries"})
    frame = frame.with_columns(pl.Series(text, [head] + [None] * (len(frame) - 1)))
    frame.write_parquet(path)
    return GridSummary.from_parquet(path)


def test_changed_columns_of_a_parquet_file(tmp_path: Path) -> None:
    import polars as pl

    path = tmp_path / "sums.parquet"
    grid_summary([0, 1, 1], [0.2, 0.4, 0.9], n_bins=2).to_parquet(path)
    frame = pl.read_parquet(path)
    for column in ("count", "bin", "sum_wp"):
        frame.with_columns(pl.col(column) + 1).write_parquet(path)
        with pytest.raises(InvalidInputError, match="got a damaged one"):
            GridSummary.from_parquet(path)


HOSTILE = [CANARY, "*/ DROP TABLE secrets; /*", '"""\nraise SystemExit\n"""', "`; --\n", "%s :x ?"]


@cache
def hostile(text: str) -> Calibrator:
    """A map whose every text is of another's choosing."""
    data = json.loads(json.dumps(maps.fitted("isotonic").to_dict()))
    data["parameters"]["labels"] = data["parameters"]["pos_label"] = None
    data["fitted"]["classes_"] = {"array": [text, "zzz"], "shape": [2], "dtype": "<U9"}
    data["fitted"]["positive_index_"] = 0
    data["fitted"]["outcome_name_"] = data["fitted"]["fitted_on_"] = text
    data["fitted"]["feature_names_in_"] = {"array": [text], "shape": [1], "dtype": "<U9"}
    return Calibrator.from_dict(data)


@pytest.mark.parametrize("engine", ["duckdb", "postgres", "sqlite"])
@pytest.mark.parametrize("text", HOSTILE)
def test_texts_in_sql_are_names_and_nothing_more(
    engine: str, text: str, request: pytest.FixtureRequest
) -> None:
    run, calibrator = request.getfixturevalue(engine), hostile(text)
    p = np.array([0.1, 0.45, 0.9])
    sql = to_sql(calibrator, dialect=engine)
    assert isinstance(sql, str)
    comment = sql[: sql.index("*/") + 2]
    assert not set(comment[2:-2]) & set("\"'`;:%?\\*/\n")
    found = run([sql], {text: p, "secrets": np.ones(3)})
    expected = calibrator.predict_proba(p)[:, 0]
    assert np.abs(found[:, 0] - expected).max() < 1e-12
    assert run([sql, '"secrets"'], {text: p, "secrets": np.ones(3)})[:, 1].tolist() == [1, 1, 1]


@pytest.mark.parametrize("text", HOSTILE)
def test_texts_in_python_are_literals_and_nothing_more(text: str) -> None:
    source = to_python(hostile(text))
    check_source(source)
    space: dict[str, Any] = {}
    exec(compile(source, "map", "exec"), space)
    assert space["CLASSES"] == [text, "zzz"]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("value", [CANARY, float("nan"), float("inf"), True, None, [1.0]])
def test_a_map_changed_in_memory_is_not_written(dialect: str, value: Any) -> None:
    calibrator = Calibrator.from_dict(maps.fitted("beta").to_dict())
    calibrator.c_ = value  # type: ignore[attr-defined]
    for write in (lambda: to_sql(calibrator, dialect=dialect), lambda: to_python(calibrator)):
        with pytest.raises(InvalidInputError, match="made of finite numbers"):
            write()


ATTACKS: dict[str, tuple[str, dict[str, Any], str]] = {
    "SQL for a number": ("beta", {"c_": CANARY}, "`c_` must be a finite number"),
    "a slope that is not a number": ("platt", {"slope_": float("nan")}, "`slope_` must be"),
    "a share of -5": ("temperature", {"mix_": -5}, "`mix_` must be a number from 0 up to 1"),
    "sums that cancel to NaN": ("beta", {"a_": 1e308, "b_": 1e308}, "`a_` must be"),
    "a text as wide as memory": (
        "platt",
        {"classes_": {"array": [0, 1], "shape": [2], "dtype": "<U900000000"}},
        "`classes_` must be of values of dtype",
    ),
    "a shape as large as memory": (
        "isotonic",
        {"knots_": {"array": [0.1], "shape": [10**6, 10**6], "dtype": "<f8"}},
        "`knots_` must be of shape",
    ),
    "one label twice": (
        "platt",
        {"classes_": {"array": [1, 1], "shape": [2], "dtype": "<i8"}},
        "`classes_` must be different",
    ),
    "labels that cannot be sorted": (
        "platt",
        {"classes_": {"array": [1, "a"], "shape": [2], "dtype": "|O"}},
        "`classes_` must be of one kind",
    ),
    "half a letter": ("platt", {"outcome_name_": "\ud800"}, "`outcome_name_` must be a text"),
    "a method": ("platt", {"predict_proba": 1}, "foreign to PlattCalibrator"),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_attacks(attack: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from veridical.cli.main import main

    name, fields, message = ATTACKS[attack]
    data = json.loads(json.dumps(maps.fitted(name).to_dict()))
    data["fitted"] |= fields
    data[SEAL] = seal(data)
    path, rows = tmp_path / "map.json", tmp_path / "rows.csv"
    path.write_text(json.dumps(data))
    with pytest.raises(InvalidInputError, match=message) as caught:
        load(path)
    assert caught.value.param
    rows.write_text("p\n0.2\n0.7\n")
    code = main(["apply", str(path), str(rows), "-o", str(tmp_path / "out.csv")])
    assert code == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert not (tmp_path / "out.csv").exists()


def test_a_map_that_takes_other_scores_than_the_whole_is_refused() -> None:
    data = json.loads(json.dumps(maps.fitted("mixing").to_dict()))
    part = data["fitted"]["part_"]["calibrator"]
    part["parameters"]["input"] = "logit"
    with pytest.raises(InvalidInputError, match=r"`part_.input` must be as in the whole"):
        Calibrator.from_dict(data)
    part["parameters"]["input"] = "<x>"
    with pytest.raises(InvalidInputError, match=r"`part_.input` must be"):
        Calibrator.from_dict(data)


def test_maps_within_maps_without_end_are_refused(tmp_path: Path) -> None:
    whole = json.loads(json.dumps(maps.fitted("mixing").to_dict()))
    data = whole
    for _ in range(150):
        parameters = {**whole["parameters"], "calibrator": {"calibrator": data}}
        data = {**whole, "parameters": parameters, "fitted": {}}
    with pytest.raises(InvalidInputError, match="levels deep"):
        Calibrator.from_dict(data)


def test_what_is_saved_can_be_read(tmp_path: Path) -> None:
    calibrator = Calibrator.from_dict(maps.fitted("platt").to_dict())
    calibrator.slope_ = float("nan")  # type: ignore[attr-defined]
    with pytest.raises(InvalidInputError, match="save: `slope_` must be"):
        save(calibrator, tmp_path / "map.json")
    assert not list(tmp_path.iterdir())
    auto = AutoCalibrator(candidates=maps.CANDIDATES).fit(*maps.binary_rows())
    save(auto, tmp_path / "map.json")
    data = json.loads((tmp_path / "map.json").read_text())
    data["fitted"]["evidence_"]["evidence"]["n_samples"] = "many"
    data.pop(SEAL)
    with pytest.raises(InvalidInputError, match=r"`evidence_.n_samples` must be a whole number"):
        Calibrator.from_dict(data)


def test_predictions_that_are_no_numbers_are_said() -> None:
    calibrator = Calibrator.from_dict(maps.fitted("platt").to_dict())
    calibrator.slope_ = float("nan")  # type: ignore[attr-defined]
    with pytest.raises(InvalidInputError, match="where the map has a value; got NaN at index 0"):
        calibrator.predict_proba([0.2, 0.4])
