"""Maps of features elsewhere: the same probabilities, whatever the values of a row are."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from veridical.calibrators import (
    BoostedCalibrator,
    CalibrationTree,
    PlattCalibrator,
    SegmentCalibrator,
    TemperatureCalibrator,
)
from veridical.exceptions import InvalidInputError
from veridical.export import to_onnx, to_python, to_sql, to_torch

sys.path.insert(0, str(Path(__file__).parents[1]))
from calibrators.feature_data import three_classes, two_classes

CLOSE = 1e-12
ODD = "it's; -- /* ${x}"
MAPS = {
    "segments": SegmentCalibrator(TemperatureCalibrator()),
    "tree": CalibrationTree(TemperatureCalibrator()),
    "boosted": BoostedCalibrator(TemperatureCalibrator(), max_rounds=10),
}
SEXES = ("f", "m", "unseen", None)
REGIONS = ("North", "South", ODD, " ", "\t \t", None)
AGES = (0.0, 20.0, 30.0, 33.5, 79.0, 1e9, None)


@pytest.fixture(scope="module", params=[(name, k) for name in MAPS for k in (2, 3)], ids=str)
def fitted(request: Any) -> Any:
    """A map, predictions and features of every kind, and what it says of them."""
    name, n_classes = request.param
    frame, p, y = (two_classes if n_classes == 2 else three_classes)(n=2500)
    frame = frame.with_columns(pl.col("region").replace("North", ODD))
    labels = np.array(["a", "b", "c"])[y]
    map = MAPS[name].fit(p, labels, by=frame)
    assert len(map.leaves_ if name == "boosted" else map.slopes_)
    cells = [(s, r, a) for s in SEXES for r in REGIONS for a in AGES]
    rows = pl.DataFrame(
        {
            "sex": [s for s, _, _ in cells],
            "region": [r for _, r, _ in cells],
            "age": pl.Series([a for _, _, a in cells], dtype=pl.Float64),
            "member": [[True, False, None][k % 3] for k in range(len(cells))],
        }
    )
    rng = np.random.default_rng(0)
    scores = rng.random(len(cells)) if n_classes == 2 else rng.dirichlet(np.ones(3), len(cells))
    return map, scores, rows, map.predict_proba(scores, by=rows)


def _columns(scores: np.ndarray) -> list[str]:
    return ["p"] if scores.ndim == 1 else ["p0", "p1", "p2"]


def _expressions(map: Any, scores: np.ndarray, dialect: str) -> list[str]:
    found = to_sql(map, dialect=dialect, columns=_columns(scores))
    return [found] if isinstance(found, str) else found


def _expected(q: np.ndarray) -> np.ndarray:
    return q[:, 1:] if q.shape[1] == 2 else q


@pytest.mark.parametrize("engine", ["duckdb", "sqlite", "postgres"])
def test_sql_says_the_same(fitted: Any, engine: str, request: Any) -> None:
    map, scores, rows, q = fitted
    run = request.getfixturevalue(engine)
    table = dict(zip(_columns(scores), scores.reshape(len(scores), -1).T, strict=True))
    # The table holds numbers only: texts and truth values are made of them in the query.
    quoted = {}
    for name in ("sex", "region", "member"):
        values = list(dict.fromkeys(rows[name].to_list()))
        known = {value: float(k) for k, value in enumerate(values)}
        table[f"{name}_code"] = np.array([known[value] for value in rows[name].to_list()])
        literal = {True: "TRUE", False: "FALSE", None: "NULL"}
        cases = " ".join(
            f'WHEN "{name}_code" = {k} THEN '
            + (literal[v] if v in literal else "'" + v.replace("'", "''") + "'")
            for v, k in known.items()
        )
        quoted[f'"{name}"'] = f"(CASE {cases} END)"
    table["age"] = rows["age"].fill_null(float("nan")).to_numpy()
    expressions = _expressions(map, scores, engine)
    for name, text in quoted.items():
        expressions = [each.replace(name, text) for each in expressions]
    np.testing.assert_allclose(run(expressions, table), _expected(q), rtol=0, atol=CLOSE)


def test_python_says_the_same(fitted: Any) -> None:
    map, scores, rows, q = fitted
    space: dict[str, Any] = {}
    exec(to_python(map), space)  # what was written here
    found = [
        space["calibrate"](p.tolist() if p.ndim else float(p), by)
        for p, by in zip(scores, rows.to_dicts(), strict=True)
    ]
    np.testing.assert_allclose(found, q, rtol=0, atol=CLOSE)


def test_onnx_says_the_same(fitted: Any, need: Any) -> None:
    need("onnx")
    runtime = need("onnxruntime")
    map, scores, rows, q = fitted
    model = to_onnx(map, one_column=scores.ndim == 1)
    session = runtime.InferenceSession(model.SerializeToString())
    feed = {"probabilities": scores, "age": rows["age"].fill_null(float("nan")).to_numpy()}
    feed["member"] = rows["member"].cast(pl.Float64).fill_null(float("nan")).to_numpy()
    for name in ("sex", "region"):
        texts = [(value or "").strip() for value in rows[name].to_list()]
        feed[name] = np.array(texts, dtype=object)
    np.testing.assert_allclose(session.run(None, feed)[0], q, rtol=0, atol=CLOSE)


def test_queries_say_the_same(fitted: Any) -> None:
    map, scores, rows, q = fitted
    columns = _columns(scores)
    matrix = scores.reshape(len(scores), -1)
    frame = rows.with_columns(pl.Series(c, matrix[:, k]) for k, c in enumerate(columns))
    lazy = map.transform(frame.lazy(), prob=columns).collect()
    here = map.transform(frame, prob=columns)
    assert lazy.columns == here.columns
    for k in range(len(_expected(q)[0])):
        at = -len(_expected(q)[0]) + k
        np.testing.assert_allclose(lazy[:, at].to_numpy(), _expected(q)[:, k], rtol=0, atol=CLOSE)
        np.testing.assert_array_equal(here[:, at].to_numpy(), _expected(q)[:, k])


def test_what_cannot_be_written_says_so() -> None:
    frame, p, y = two_classes(n=600)
    map = SegmentCalibrator(PlattCalibrator()).fit(p, y, by=frame)
    with pytest.raises(InvalidInputError, match="4 names of columns"):
        to_sql(map, by="sex")
    with pytest.raises(InvalidInputError, match="`table` must be unset"):
        to_sql(map, table="scores")
    with pytest.raises(InvalidInputError, match="another column"):
        to_sql(map, columns="age")
    with pytest.raises(InvalidInputError, match="predictions alone"):
        to_torch(map)
    with pytest.raises(InvalidInputError, match="column of feature 'age'"):
        map.transform(frame.drop("age").with_columns(p=pl.lit(0.5)).lazy(), prob="p")
    dates = frame.select(day=pl.date(2020, 1, 1) + pl.duration(days=pl.col("age").fill_null(0)))
    map = SegmentCalibrator(PlattCalibrator()).fit(p, y, by=dates)
    for write in (to_sql, to_python):
        with pytest.raises(InvalidInputError, match="without dates"):
            write(map)
