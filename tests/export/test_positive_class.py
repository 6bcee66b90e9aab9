"""Maps that were told their positive class: every export reads one column as its probability."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from export import maps
from sklearn.base import clone

from veridical.calibrators import Calibrator, HistogramCalibrator
from veridical.export import load, save, to_onnx, to_python, to_sql, to_torch
from veridical.selection import AutoCalibrator

CLOSE = 1e-12
MAPS: dict[str, Calibrator] = maps.ALL | {"auto": AutoCalibrator(candidates=maps.CANDIDATES)}
# Labels in column order: the positive class, "bad", is the smaller one, first or last.
ORDERS = {"first": None, "last": ["good", "bad"]}
each_order = pytest.mark.parametrize("order", ORDERS)


@cache
def told(name: str, order: str) -> Calibrator:
    """A map of the probability that Status = bad, fitted to one column of a frame."""
    p, y = maps.binary_rows()
    frame = pl.DataFrame({"PD": p, "Status": np.array(["good", "bad"])[y]})
    calibrator = clone(MAPS[name]).set_params(pos_label="bad", labels=ORDERS[order])
    return calibrator.fit(frame, "Status", prob="PD")


def cases(order: str, names: Any = MAPS) -> list[tuple[Calibrator, np.ndarray, np.ndarray]]:
    """Every map, scores that are hard on it, and what it makes of them."""
    found = []
    for name in names:
        calibrator = told(name, order)
        scores = maps.hard_scores(calibrator)
        found.append((calibrator, scores, calibrator.predict_proba(scores)))
    return found


def close(found: Any, expected: np.ndarray, calibrator: Calibrator) -> None:
    found = np.asarray(found, dtype=np.float64)
    assert found.shape == expected.shape, type(calibrator).__name__
    assert np.abs(found - expected).max() < CLOSE, type(calibrator).__name__


def place(calibrator: Calibrator) -> int:
    return calibrator.classes_.tolist().index("bad")


# Planning long expressions takes DuckDB long; the positive class last is in test_sql.py, too.
@pytest.mark.parametrize(
    ("engine", "order"),
    [("duckdb", "first"), ("sqlite", "first"), ("sqlite", "last")],
    indirect=["engine"],
)
def test_sql(engine: Any, order: str) -> None:
    dialect, run = engine
    for calibrator, scores, expected in cases(order):
        sql = to_sql(calibrator, dialect=dialect)  # of the column it was fitted to
        assert isinstance(sql, str)
        assert sql.startswith("/* probability that Status = bad */\n")
        close(run([sql], {"PD": scores})[:, 0], expected[:, place(calibrator)], calibrator)


@each_order
def test_python(order: str) -> None:
    for calibrator, scores, expected in cases(order):
        space: dict[str, Any] = {}
        exec(to_python(calibrator), space)
        assert space["CLASSES"] == calibrator.classes_.tolist()
        close([space["calibrate"](p) for p in scores.tolist()], expected, calibrator)
        said = space["calibrate"].__doc__
        assert "or one number, the probability that Status = bad." in said
        assert f"[{place(calibrator)}]: probability that Status = bad\n" in said


@each_order
def test_onnx(need: Any, order: str) -> None:
    runtime = need("onnxruntime")
    need("onnx")
    for calibrator, scores, expected in cases(order):
        model = to_onnx(calibrator, one_column=True)
        options = {"providers": ["CPUExecutionProvider"]}
        session = runtime.InferenceSession(model.SerializeToString(), **options)
        close(session.run(None, {"probabilities": scores})[0], expected, calibrator)
        said = session.get_modelmeta().custom_metadata_map
        assert json.loads(said["veridical.positive"]) == "bad"
        words = json.loads(said["veridical.columns"])
        assert words[place(calibrator)] == "probability that Status = bad"
        assert model.graph.output[0].doc_string == "; ".join(words)


@each_order
def test_torch(need: Any, order: str) -> None:
    torch = need("torch")
    for calibrator, scores, expected in cases(order):
        module = to_torch(calibrator)
        close(module(torch.from_numpy(scores)).numpy(), expected, calibrator)
        assert module.columns[place(calibrator)] == "probability that Status = bad"


@each_order
def test_files(tmp_path: Path, order: str) -> None:
    for calibrator, scores, expected in cases(order):
        save(calibrator, tmp_path / "map.json")
        again = load(tmp_path / "map.json")
        assert (again.pos_label, again.positive_label, again.outcome_name_) == (
            *("bad", "bad"),
            "Status",
        )
        np.testing.assert_array_equal(again.predict_proba(scores), expected)


OF_FRAMES = ("platt", "isotonic", "temperature")
FORMS = {
    "polars": lambda frame, _: frame,
    "lazy": lambda frame, _: frame.lazy(),
    "pandas": lambda frame, _: frame.to_pandas(),
    "pyarrow": lambda frame, _: frame.to_arrow(),
    "duckdb": lambda frame, base: base.from_arrow(frame.to_arrow()),
}


@each_order
@pytest.mark.parametrize("form", FORMS)
def test_transform(need: Any, order: str, form: str) -> None:
    base = need("duckdb").connect() if form == "duckdb" else None
    for calibrator, scores, expected in cases(order, OF_FRAMES):
        frame = pl.DataFrame({"i": np.arange(len(scores)), "PD": scores})
        after = calibrator.transform(FORMS[form](frame, base))
        table = after.arrow() if form == "duckdb" else after
        table = table.read_all() if hasattr(table, "read_all") else table
        if not isinstance(table, (pl.DataFrame, pl.LazyFrame)):
            table = pl.DataFrame(table)
        found = table.lazy().sort("i").collect()["calibrated"].to_numpy()
        close(found, expected[:, place(calibrator)], calibrator)
    if base is not None:
        base.close()


def test_odd_names_stay_words() -> None:
    """Names go into comments and docstrings, which they must not end."""
    p, y = maps.binary_rows()
    odd = np.array(['*/ DROP "\n', '/* \\ """ \ud800'.replace("\ud800", "\u2028")])[y]
    map = HistogramCalibrator(n_bins=2, pos_label=odd[y == 1][0])
    map.fit(pl.DataFrame({"p": p, 'a*/\n"""b': odd}), 'a*/\n"""b', prob="p")
    expected = map.predict_proba([0.9])
    space: dict[str, Any] = {}
    exec(to_python(map), space)
    assert space["calibrate"](0.9) == pytest.approx(expected[0].tolist(), abs=CLOSE)
    sql = str(to_sql(map, dialect="sqlite"))
    first, rest = sql.split("\n", 1)
    assert first.startswith("/* ")
    assert first.endswith(" */")
    assert "*" not in first[2:-2]
    assert "*" not in rest
