"""SQL is executed by the engines and compared with `predict_proba`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from export import maps

from veridical.calibrators import (
    ConfidenceReducedCalibrator,
    GroupedCalibrator,
    HistogramCalibrator,
    IsotonicCalibrator,
    NotFittedError,
    PlattCalibrator,
    SimplexHistogramCalibrator,
    TemperatureCalibrator,
)
from veridical.exceptions import InvalidInputError
from veridical.export import to_sql
from veridical.export._text.sql_dialects import DIALECTS
from veridical.selection import AutoCalibrator, CalibratedClassifier

CLOSE = 1e-12
ENGINES = ["duckdb", "postgres", "sqlite"]  # Spark, which is slow to start: test_sql_spark.py
each_engine = pytest.mark.parametrize("engine", ENGINES, indirect=True)


def _compare(engine: Any, cases: list[tuple[Any, np.ndarray, Any]]) -> None:
    """Execute (calibrator, scores, columns) and compare with `predict_proba`."""
    dialect, run = engine
    for calibrator, scores, columns in cases:
        sql = to_sql(calibrator, dialect=dialect, columns=columns)
        expected = calibrator.predict_proba(scores)
        names = [columns] if isinstance(columns, str) else columns
        table = dict(zip(names, np.reshape(scores, (len(scores), -1)).T, strict=True))
        if isinstance(sql, str):
            sql, expected = (
                [sql],
                expected[:, [int(calibrator.classes_[1] > calibrator.classes_[0])]],
            )
        found = run(sql, table)
        assert found.shape == expected.shape
        assert np.abs(found - expected).max() < CLOSE, (type(calibrator).__name__, calibrator.input)


@each_engine
def test_one_column_of_probabilities(engine: Any) -> None:
    fitted = [maps.fitted(name) for name in maps.ALL]
    _compare(engine, [(each, maps.hard_scores(each), "p") for each in fitted])


@each_engine
def test_two_columns_the_positive_class_first(engine: Any) -> None:
    fitted = [maps.fitted(name, labels=(1, 0)) for name in maps.ALL]
    cases = []
    for each in fitted:
        p = maps.hard_scores(maps.fitted("histogram"))
        cases.append((each, np.column_stack([p, 1 - p]), ["yes", "no"]))
    _compare(engine, cases)


@each_engine
@pytest.mark.parametrize("input", ["logit", "score"])
def test_one_column_of_logits_or_scores(engine: Any, input: str) -> None:
    names = [name for name, each in maps.ALL.items() if input in _inputs(each)]
    fitted = [maps.fitted(name, input=input) for name in names]
    _compare(engine, [(each, maps.hard_scores(each), "z") for each in fitted])


def _inputs(calibrator: Any) -> tuple[str, ...]:
    part = getattr(calibrator, "calibrator", None) or calibrator
    return _inputs(part) if part is not calibrator else type(part)._inputs


@each_engine
def test_two_columns_of_logits(engine: Any) -> None:
    rng = np.random.default_rng(3)
    rows = np.concatenate([rng.normal(0, 4, (60, 2)), [[700.0, -700.0], [1e5, 1e5], [0.0, -0.0]]])
    names = ("beta", "spline", "isotonic", "uniform", "temperature", "dirichlet", "matrix")
    fitted = [maps.fitted(name, input="logit") for name in names]
    _compare(engine, [(each, rows, ["z0", "z1"]) for each in fitted])


@each_engine
@pytest.mark.parametrize("input", ["probability", "logit"])
def test_three_classes(engine: Any, input: str) -> None:
    rows, names = maps.hard_rows(), maps.ANY
    if input == "logit":
        names = {name: None for name in maps.SMOOTH if (name, engine[0]) != ("mixing", "sqlite")}
        far = [[900.0, -900.0, 0.0], [0.0, 0.0, 0.0], [1e4, 1e4 + 1, 1e4]]
        rows = np.concatenate([maps.three_logits(rows), far])
    fitted = [maps.fitted_three(name, input=input) for name in names]
    _compare(engine, [(each, rows, ["a", "b", "c"]) for each in fitted])


@each_engine
def test_average_of_many_folds(engine: Any) -> None:
    p, y = maps.binary_rows()
    auto = AutoCalibrator(candidates=maps.CANDIDATES).fit(p, y)
    _compare(engine, [(auto, maps.hard_scores(maps.fitted("isotonic")), "p")])


@each_engine
def test_temperature_two_turns_odds_of_nine_into_three(engine: Any) -> None:
    dialect, run = engine
    map = TemperatureCalibrator(pseudo_rows=0).fit([0.9] * 4, [1, 1, 1, 0])
    sql = to_sql(map, dialect=dialect)
    assert isinstance(sql, str)
    found = run([sql], {"p": np.array([0.9, 0.5, 0.1])})
    assert found[:, 0] == pytest.approx([0.75, 0.5, 0.25], abs=1e-9)


@each_engine
def test_what_predict_proba_refuses_is_null(engine: Any) -> None:
    dialect, run = engine
    refused = np.array([None, 0.25, -0.1, 1.5, float("nan"), float("inf")], dtype=object)
    for name in ("platt", "histogram", "isotonic", "temperature", "one_vs_rest_bare"):
        sql = to_sql(maps.fitted(name), dialect=dialect)
        assert isinstance(sql, str)
        found = run([sql], {"p": refused})[:, 0]
        assert np.isnan(found).tolist() == [True, False, True, True, True, True]
    sql = to_sql(maps.fitted("platt", input="score"), dialect=dialect)
    assert isinstance(sql, str)
    infinite = np.array([None, 0.25, -1e308, 1e308, float("nan"), float("inf")], dtype=object)
    found = run([sql], {"p": infinite})[:, 0]
    assert np.isnan(found).tolist() == [True, False, False, False, True, True]


@each_engine
def test_names_may_hold_anything(engine: Any) -> None:
    dialect, run = engine
    map = maps.fitted("platt")
    for name in ('a"b', "x; DROP TABLE scored; --", "sélect", "it's", "p) OR (1=1"):
        sql = to_sql(map, dialect=dialect, columns=name)
        assert isinstance(sql, str)
        found = run([sql], {name: np.array([0.25])})
        assert abs(found[0, 0] - map.predict_proba([0.25])[0, 1]) < CLOSE


@pytest.mark.parametrize(
    ("engine", "kind"), [("duckdb", "FLOAT"), ("postgres", "float4")], indirect=["engine"]
)
def test_columns_in_single_precision_are_widened_first(engine: Any, kind: str) -> None:
    dialect, run = engine
    map = maps.fitted("temperature", input="logit")
    rows = np.random.default_rng(5).normal(0, 3, (50, 2)).astype(np.float32).astype(np.float64)
    sql = to_sql(map, dialect=dialect, columns=["a", "b"])
    assert isinstance(sql, str)
    found = run([sql], dict(zip("ab", rows.T, strict=True)), kind)
    assert np.abs(found[:, 0] - map.predict_proba(rows)[:, 1]).max() < CLOSE


def test_names_of_the_fitted_frame_are_the_default() -> None:
    import pandas as pd

    p, y = maps.three_rows()
    frame = pd.DataFrame(p, columns=["cat", "dog", "owl"])
    sql = to_sql(TemperatureCalibrator(labels=[0, 1, 2]).fit(frame, y))
    assert isinstance(sql, list)
    assert len(sql) == 3
    assert all('"cat"' in each and '"owl"' in each for each in sql)
    plain = to_sql(TemperatureCalibrator().fit(p, y))
    assert all('"p0"' in each and '"p2"' in each for each in plain)


@pytest.mark.parametrize(
    ("dialect", "number", "name"),
    [
        ("bigquery", "0.5e0", "`a\\`b`"),
        ("snowflake", "'0.5'::DOUBLE", '"a`b"'),
    ],
)
def test_other_dialects_say_that_they_are_not_executed(
    dialect: str, number: str, name: str
) -> None:
    map = HistogramCalibrator(n_bins=2).fit([0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1])
    sql = to_sql(map, dialect=dialect, columns="a`b")
    assert isinstance(sql, str)
    assert sql.startswith(f"/* {dialect}: generated, not executed by us */")
    assert number in sql
    assert name in sql


def test_brackets_stay_shallow(sqlite: Any) -> None:
    """Engines limit the depth of expressions, SQLite's parser to about a hundred entries."""
    p, y = np.random.default_rng(1).random(3000), np.random.default_rng(2).integers(0, 2, 3000)
    map = IsotonicCalibrator(strict=True).fit(p, y)
    sql = to_sql(map, dialect="sqlite")
    assert isinstance(sql, str)
    assert (
        np.abs(sqlite([sql], {"p": p[:50]})[:, 0] - map.predict_proba(p[:50])[:, 1]).max() < CLOSE
    )
    depth = np.cumsum([(word == "CASE") - (word == "END") for word in sql.split()])
    assert sql.count("WHEN") > 900
    assert depth.max() < 16


@pytest.mark.parametrize(
    "calibrator",
    [
        SimplexHistogramCalibrator(n_bins=2),
        ConfidenceReducedCalibrator(IsotonicCalibrator()),
    ],
)
def test_maps_without_a_formula_name_an_alternative(calibrator: Any) -> None:
    p, y = maps.three_rows()
    with pytest.raises(InvalidInputError, match=r"(?s)one that has a formula.*save"):
        to_sql(calibrator.fit(p, y))


def test_steps_on_odds_of_several_classes_would_differ_between_engines() -> None:
    with pytest.raises(InvalidInputError, match="fit it to probabilities"):
        to_sql(maps.fitted_three("one_vs_rest", input="logit"))


def test_sqlite_refuses_what_its_parser_could_not_read() -> None:
    with pytest.raises(InvalidInputError, match=r"(?s)nests deeper.*to_python"):
        to_sql(maps.fitted_three("mixing", input="logit"), dialect="sqlite")


def test_sqlite_does_not_send_those_to_probabilities_who_are_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(DIALECTS, "sqlite", replace(DIALECTS["sqlite"], stack=12))
    with pytest.raises(InvalidInputError, match=r"use `to_python` or another dialect\.$"):
        to_sql(maps.fitted("platt"), dialect="sqlite")


def test_a_group_is_no_input_of_a_formula() -> None:
    p, y = maps.binary_rows()
    grouped = GroupedCalibrator(PlattCalibrator()).fit(p, y, by=np.arange(240) % 2)
    with pytest.raises(InvalidInputError, match="GroupedCalibrator"):
        to_sql(grouped)


def test_what_cannot_be_written_is_refused() -> None:
    map = maps.fitted("platt")
    with pytest.raises(NotFittedError, match="fit"):
        to_sql(PlattCalibrator())
    with pytest.raises(InvalidInputError, match="the class PlattCalibrator"):
        to_sql(PlattCalibrator)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="CalibratedClassifier"):
        to_sql(CalibratedClassifier(PlattCalibrator()))  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="postgres"):
        to_sql(map, dialect="postgresql")
    with pytest.raises(InvalidInputError, match="one or two names"):
        to_sql(map, columns=["a", "b", "c"])
    with pytest.raises(InvalidInputError, match="3 names"):
        to_sql(maps.fitted_three("vector"), columns="p")
    with pytest.raises(InvalidInputError, match="unquoted"):
        to_sql(map, columns=[""])
