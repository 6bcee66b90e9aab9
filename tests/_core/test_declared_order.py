"""Ordered categories give the order of classes, and the positive one, wherever labels are read."""

from __future__ import annotations

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import veridical as v
from veridical._core.data.classes import declared_order
from veridical.frames._tables.order import order_in

duckdb = pytest.importorskip("duckdb")

GRADES = ("lo", "mid", "hi")  # sorted they would be hi, lo, mid
RNG = np.random.default_rng(3)
P3 = RNG.dirichlet(np.ones(3), 60)
Y3 = (RNG.random(60)[:, None] > P3.cumsum(axis=1)).sum(axis=1).clip(max=2)
P = RNG.beta(2, 2, 60)
Y = (RNG.random(60) < P).astype(int) * 2  # lo and hi: mid is declared and absent

SERIES = {
    "pandas": lambda y: pd.Series(
        pd.Categorical(np.array(GRADES)[y], categories=GRADES, ordered=True)
    ),
    "pandas.Categorical": lambda y: pd.Categorical(
        np.array(GRADES)[y], categories=GRADES, ordered=True
    ),
    "polars": lambda y: pl.Series("y", np.array(GRADES)[y], dtype=pl.Enum(GRADES)),
    "pyarrow": lambda y: pa.DictionaryArray.from_arrays(
        pa.array(y.astype(np.int8)), list(GRADES), ordered=True
    ),
    "pyarrow chunks": lambda y: pa.chunked_array([SERIES["pyarrow"](y)]),
    "narwhals": lambda y: nw.from_native(SERIES["polars"](y), series_only=True),
    "frame": lambda y: pd.DataFrame({"y": SERIES["pandas"](y)}),
}


@pytest.mark.parametrize("kind", SERIES)
def test_the_order_of_arrays(kind):
    make = SERIES[kind]
    assert declared_order(make(Y)) == GRADES
    assert v.brier_score(make(Y), P) == v.brier_score(Y, P)
    assert v.brier_score(make(Y), np.column_stack([1 - P, P])) == v.brier_score(Y, P)
    assert v.brier_score(make(Y3), P3) == v.brier_score(Y3, P3)
    fitted = v.TemperatureCalibrator().fit(P3, make(Y3))
    assert fitted.classes_.tolist() == list(GRADES)
    # an explicit order of labels stays what it is
    assert v.brier_score(make(Y3), P3[:, ::-1], labels=GRADES[::-1]) == pytest.approx(
        v.brier_score(Y3, P3)
    )


def test_declared_classes_may_be_absent():
    few = Y3[Y3 != 1]
    rows = P3[Y3 != 1]
    for kind in ("pandas", "polars"):
        given = v.brier_score(SERIES[kind](few), rows)
        assert given == v.brier_score(few, rows, labels=[0, 1, 2])


def test_unordered_categories_are_sorted():
    names = np.array(["b", "a"])[(Y == 2).astype(int)]  # the larger label is that of Y = 0
    plain = v.brier_score(names, P)
    for given in (
        pd.Categorical(names, categories=["b", "a"]),
        pl.Series(names, dtype=pl.Categorical),
        pa.array(names).dictionary_encode(),
    ):
        assert declared_order(given) is None
        assert v.brier_score(given, P) == plain


@pytest.mark.parametrize("values", [[30, 10, 20], [3.0, 1.0, 2.0]])
def test_numbers_may_be_ordered(values):
    y = pd.Categorical(np.array(values)[Y3], categories=values, ordered=True)
    assert v.brier_score(y, P3) == v.brier_score(Y3, P3)


def _frames(tmp_path):
    """Frames, queries and files of the same rows."""
    columns = {"y": SERIES["polars"](Y3)} | {f"c{k}": P3[:, k] for k in range(3)}
    polars = pl.DataFrame(columns)
    pandas = pd.DataFrame(columns | {"y": SERIES["pandas"](Y3)})
    arrow = pa.Table.from_pandas(pandas)
    polars.write_parquet(tmp_path / "polars.parquet")
    polars.write_ipc(tmp_path / "polars.arrow")
    pandas.to_parquet(tmp_path / "pandas.parquet")
    pandas.to_feather(tmp_path / "pandas.feather")
    connection = duckdb.connect()
    connection.execute("CREATE TYPE grade AS ENUM ('lo', 'mid', 'hi')")
    connection.register("rows", polars.with_columns(pl.col("y").cast(pl.String)).to_arrow())
    return {
        "polars": polars,
        "pandas": pandas,
        "pyarrow": arrow,
        "lazy": polars.lazy(),
        "DuckDB": connection.sql("SELECT y::grade AS y, c0, c1, c2 FROM rows"),
        **{path.name: path for path in sorted(tmp_path.iterdir())},
    }, connection


def test_the_order_of_frames_queries_and_files(tmp_path):
    frames, _connection = _frames(tmp_path)
    assert len(frames) == 9
    expected = v.grid_summary(Y3, P3).table
    for kind, frame in frames.items():
        assert order_in(frame, "y", caller="f") == GRADES, kind
        for engine in ("memory", "pushdown"):
            found = v.grid_summary(frame, y="y", prob=["c0", "c1", "c2"], engine=engine).table
            assert found.classes == GRADES, kind
            np.testing.assert_array_equal(found.class_count, expected.class_count)
            np.testing.assert_allclose(found.scores["brier"], expected.scores["brier"], rtol=1e-12)
        fitted = v.TemperatureCalibrator().fit(frame, y="y", prob=["c0", "c1", "c2"])
        assert fitted.classes_.tolist() == list(GRADES), kind
        assert fitted.feature_names_in_.tolist() == ["c0", "c1", "c2"]


def test_named_columns_of_ordered_labels_stand_in_their_order():
    names = [f"p_{grade}" for grade in GRADES]
    shuffled = pd.DataFrame(P3, columns=names)[[names[2], names[0], names[1]]]
    frame = shuffled.assign(y=SERIES["pandas"](Y3))
    expected = v.grid_summary(Y3, P3).table
    for engine in ("memory", "pushdown"):
        found = v.grid_summary(frame, y="y", prob="p_*", engine=engine).table
        assert found.classes == GRADES
        np.testing.assert_allclose(found.scores["brier"], expected.scores["brier"], rtol=1e-12)
    fitted = v.TemperatureCalibrator().fit(frame, y="y", prob="p_*")
    assert fitted.feature_names_in_.tolist() == names
    lazily = v.TemperatureCalibrator().fit(pl.from_pandas(shuffled).with_columns(
        y=SERIES["polars"](Y3)).lazy(), y="y", prob="p_*")  # fmt: skip
    assert lazily.classes_.tolist() == list(GRADES)
    assert lazily.temperature_ == pytest.approx(fitted.temperature_, rel=1e-6)
    calibrated = fitted.transform(frame)
    np.testing.assert_allclose(
        calibrated[[f"calibrated_{grade}" for grade in GRADES]], fitted.predict_proba(P3)
    )


def test_files_must_agree(tmp_path):
    for part, order in enumerate((GRADES, GRADES[::-1])):
        column = pl.Series("y", ["lo", "hi"], dtype=pl.Enum(order))
        pl.DataFrame([column, pl.Series("p", [0.2, 0.8])]).write_parquet(
            tmp_path / f"{part}.parquet"
        )
    with pytest.raises(v.InvalidInputError, match="agree on the order"):
        order_in(tmp_path / "*.parquet", "y", caller="f")


@pytest.mark.filterwarnings("ignore::veridical.VeridicalWarning")
def test_compare_and_tests_follow_the_order():
    y, options = SERIES["polars"](Y), {"n_resamples": 50, "rng": 0}
    models = {"a": P, "b": P**2}
    given, expected = v.compare(models, y, **options), v.compare(models, Y, **options)
    assert given.difference("a", "b", "log") == expected.difference("a", "b", "log")
    assert v.spiegelhalter_test(y, P, rng=0).pvalue == v.spiegelhalter_test(Y, P, rng=0).pvalue
    assert v.reliability_curve(y, P).gap.tolist() == v.reliability_curve(Y, P).gap.tolist()
