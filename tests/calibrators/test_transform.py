"""Calibrated columns in frames and engines are those of `predict_proba`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
import pytest
from export import maps

from veridical._core.formula import Column, interpolation, step
from veridical.calibrators import (
    GroupedCalibrator,
    HistogramCalibrator,
    IsotonicCalibrator,
    NotFittedError,
    PlattCalibrator,
    SimplexHistogramCalibrator,
    TemperatureCalibrator,
)
from veridical.exceptions import InvalidInputError
from veridical.frames._expressions.columns import with_formulas
from veridical.frames._expressions.lookup import most_pieces
from veridical.selection import AutoCalibrator

CLOSE = 1e-12
Need = Callable[[str], Any]


def _polars(need: Need, frame: pl.DataFrame) -> Any:
    return frame.lazy()


def _duckdb(need: Need, frame: pl.DataFrame) -> Any:
    base = need("duckdb").connect(config={"threads": 1})  # not the default connection
    return base.from_arrow(frame.to_arrow())


def _ibis(need: Need, frame: pl.DataFrame) -> Any:
    need("duckdb")
    return need("ibis").memtable(frame.to_arrow())


def _dask(need: Need, frame: pl.DataFrame) -> Any:
    return need("dask.dataframe").from_pandas(frame.to_pandas(), npartitions=2)


def _collected(made: Any) -> pl.DataFrame:
    """Rows of any lazy frame, run by its engine."""
    if isinstance(made, pl.LazyFrame):
        return made.collect()
    if hasattr(made, "compute"):
        return pl.from_pandas(made.compute().reset_index(drop=True))
    return made.to_polars() if hasattr(made, "to_polars") else made.pl()


LAZY = {"polars": _polars, "duckdb": _duckdb, "ibis": _ibis, "dask": _dask}


def _frame(scores: Any, names: list[str]) -> pl.DataFrame:
    matrix = np.reshape(scores, (len(scores), -1))
    columns = dict(zip(names, matrix.T, strict=True))
    return pl.DataFrame({"id": np.arange(len(matrix)), **columns})


def _check(need: Need, engine: str, calibrator: Any, scores: Any, names: list[str]) -> None:
    lazy = LAZY[engine](need, _frame(scores, names))
    made = calibrator.transform(lazy, prob=names)
    assert type(made) is type(lazy)
    found = _collected(made)
    assert found["id"].to_list() == list(range(len(scores)))
    expected = calibrator.predict_proba(scores)
    if len(names) == 1:
        expected = expected[:, [int(calibrator.classes_[1] > calibrator.classes_[0])]]
    new = found.select(found.columns[1 + len(names) :]).to_numpy()
    assert new.shape == expected.shape
    assert np.abs(new - expected).max() < CLOSE, (type(calibrator).__name__, calibrator.input)


FEW = ("platt", "isotonic", "venn", "temperature", "conditional", "one_vs_rest_bare", "spline")
EACH = [("polars", name) for name in maps.ALL] + [("duckdb", name) for name in FEW]
EACH += [("ibis", "isotonic"), ("ibis", "beta"), ("dask", "isotonic")]


@pytest.mark.parametrize(("engine", "name"), EACH)
def test_one_column(need: Need, engine: str, name: str) -> None:
    calibrator = maps.fitted(name)
    _check(need, engine, calibrator, maps.hard_scores(calibrator), ["p"])


@pytest.mark.parametrize("name", maps.ALL)
def test_two_columns_the_positive_class_first(need: Need, name: str) -> None:
    p = maps.hard_scores(maps.fitted("histogram"))
    _check(
        need, "polars", maps.fitted(name, labels=(1, 0)), np.column_stack([p, 1 - p]), ["y", "n"]
    )


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
@pytest.mark.parametrize("input", ["probability", "logit"])
def test_three_classes(need: Need, engine: str, input: str) -> None:
    rows = maps.hard_rows()
    names = list(maps.ANY)
    if input == "logit":
        far = [[900.0, -900.0, 0.0], [0.0, 0.0, 0.0], [1e4, 1e4 + 1, 1e4]]
        rows, names = np.concatenate([maps.three_logits(rows), far]), list(maps.SMOOTH)
    for name in names if engine == "polars" else names[::3]:
        _check(need, engine, maps.fitted_three(name, input=input), rows, ["a", "b", "c"])


def test_one_column_of_scores(need: Need) -> None:
    for name in ("platt", "isotonic", "venn", "histogram"):
        calibrator = maps.fitted(name, input="score")
        _check(need, "polars", calibrator, maps.hard_scores(calibrator), ["z"])


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("n_edges", [100, 2000])
def test_long_lookups_are_those_of_searchsorted(
    need: Need, engine: str, side: Any, n_edges: int
) -> None:
    rng = np.random.default_rng(n_edges)
    edges, values = np.sort(rng.random(n_edges)), rng.random(n_edges + 1)
    x = np.concatenate([[0.0, 1.0], rng.random(500), edges[::7], np.nextafter(edges[::7], 0)])
    lazy = LAZY[engine](need, _frame(x, ["p"]))
    nodes = {
        "q": step(Column(0), edges, values, side),
        "r": interpolation(Column(0), edges, values[1:]),
    }
    most = most_pieces(nw.from_native(lazy))
    assert most is not None
    assert len(edges) > most
    made = with_formulas(lazy, ["p"], nodes, input="probability", caller="test")
    found = _collected(made)
    assert found["id"].to_list() == list(range(len(x)))  # joins would lose the order
    np.testing.assert_array_equal(found["q"], values[np.searchsorted(edges, x, side=side)])
    np.testing.assert_allclose(found["r"], np.interp(x, edges, values[1:]), rtol=0, atol=CLOSE)


@pytest.mark.parametrize("engine", ["polars", "duckdb", "pandas", "pyarrow", "dask"])
def test_rows_that_cannot_be_calibrated_are_missing(need: Need, engine: str) -> None:
    p = [None, 0.25, -0.1, 1.5, float("nan"), float("inf"), 1.0]
    frame = pl.DataFrame({"p": p})
    given = {"pandas": frame.to_pandas, "pyarrow": frame.to_arrow}
    source = given[engine]() if engine in given else LAZY[engine](need, frame)
    calibrator = maps.fitted("isotonic")
    made = calibrator.transform(source, names="q")
    if engine == "pyarrow":
        found = made["q"].to_pylist()
    else:
        table = made if engine == "pandas" else _collected(made).to_pandas()
        found = [None if np.isnan(value) else value for value in table["q"]]
    expected = calibrator.predict_proba([0.25, 1.0])[:, 1]
    assert found == [None, expected[0], None, None, None, None, expected[1]]


def test_rows_that_do_not_sum_to_one_are_missing(need: Need) -> None:
    rows = pl.DataFrame({"a": [0.5, 0.5], "b": [0.5, 0.3], "c": [0.0, 0.0]})
    calibrator = maps.fitted_three("vector")
    for source in (rows, rows.lazy()):
        found = calibrator.transform(source, prob=["a", "b", "c"]).lazy().collect()
        assert found.columns[3:] == ["calibrated_0", "calibrated_1", "calibrated_2"]
        assert found["calibrated_1"].is_null().to_list() == [False, True]
    single = rows.with_columns(b=pl.Series([0.5, 0.4997])).cast(pl.Float32)
    for source in (single, single.lazy()):  # single precision is allowed a thousandth
        found = calibrator.transform(source, prob=["a", "b", "c"]).lazy().collect()
        assert found["calibrated_1"].null_count() == 0


def test_no_row_of_a_query_is_read() -> None:
    def fail(_: pl.DataFrame) -> pl.DataFrame:
        raise AssertionError

    frame = pl.LazyFrame({"p": [0.5]}).map_batches(fail, schema={"p": pl.Float64})
    made = maps.fitted("venn").transform(frame)
    assert made.collect_schema().names() == ["p", "calibrated"]


def test_frames_in_memory_keep_their_kind_and_index(need: Need) -> None:
    pd = need("pandas")
    calibrator = maps.fitted("platt")
    frame = pd.DataFrame({"p": [0.25, 0.75]}, index=["x", "y"])
    made = calibrator.transform(frame)
    assert made.index.tolist() == ["x", "y"]
    assert made["calibrated"].tolist() == calibrator.predict_proba([0.25, 0.75])[:, 1].tolist()
    assert frame.columns.tolist() == ["p"]
    table = need("pyarrow").table({"p": [0.25, 0.75]})
    assert calibrator.transform(table)["calibrated"].to_pylist() == made["calibrated"].tolist()
    assert isinstance(calibrator.transform(pl.DataFrame({"p": [0.5]})), pl.DataFrame)


def test_a_pool_of_many_maps(need: Need) -> None:
    p, y = maps.binary_rows()
    auto = AutoCalibrator(candidates=maps.CANDIDATES).fit(p, y)
    _check(need, "polars", auto, maps.hard_scores(maps.fitted("isotonic")), ["p"])


def test_temperature_two_turns_odds_of_nine_into_three() -> None:
    calibrator = TemperatureCalibrator(pseudo_rows=0).fit([0.9] * 4, [1, 1, 1, 0])
    found = calibrator.transform(pl.LazyFrame({"p": [0.9, 0.5, 0.1]})).collect()["calibrated"]
    assert found.to_list() == pytest.approx([0.75, 0.5, 0.25], abs=1e-9)


def test_columns_of_the_fitted_frame_are_the_default() -> None:
    p, y = maps.three_rows()
    frame = pl.DataFrame(p, schema=["p_0", "p_1", "p_2"])
    calibrator = TemperatureCalibrator().fit(frame, y)
    turned = frame.select("p_2", "p_0", "p_1").lazy()
    found = calibrator.transform(turned, prob="p_*").collect()
    np.testing.assert_allclose(
        found.select(pl.col("^calibrated_.*$")), calibrator.predict_proba(frame), rtol=0, atol=CLOSE
    )
    assert found.equals(calibrator.transform(turned).collect())


def test_what_cannot_be_done_is_refused() -> None:
    calibrator = maps.fitted("platt")
    frame = pl.LazyFrame({"p": [0.5], "calibrated": [1.0], "text": ["a"]})
    with pytest.raises(InvalidInputError, match=r"(?s)'calibrated', which is there.*names="):
        calibrator.transform(frame)
    with pytest.raises(InvalidInputError, match="nothing is overwritten"):
        calibrator.transform(frame.collect(), names="P")
    with pytest.raises(InvalidInputError, match="arrays have no columns"):
        calibrator.transform([0.5], names="q")
    with pytest.raises(InvalidInputError, match=r"'text' of type String"):
        calibrator.transform(frame, prob="text", names="q")
    with pytest.raises(InvalidInputError, match="one or two columns"):
        calibrator.transform(frame, prob=["p", "text", "calibrated"])
    with pytest.raises(InvalidInputError, match=r"1 name\(s\)"):
        calibrator.transform(frame, names=["a", "b"])
    with pytest.raises(InvalidInputError, match="repeated names"):
        calibrator.transform(
            pl.LazyFrame({"a": [0.5], "b": [0.5]}), prob=["a", "b"], names=["q", "q"]
        )
    with pytest.raises(InvalidInputError, match=r"`prob` must be given"):
        calibrator.transform(pl.LazyFrame({"x": [0.5]}))
    with pytest.raises(InvalidInputError, match="a column of the data"):
        calibrator.transform(frame, prob="q")
    with pytest.raises(NotFittedError, match="fit"):
        PlattCalibrator().transform(frame)


def test_maps_without_a_formula_work_in_memory_only() -> None:
    p, y = maps.three_rows()
    frame = pl.DataFrame(p, schema=["a", "b", "c"])
    calibrator = SimplexHistogramCalibrator(n_bins=2).fit(p, y)
    found = calibrator.transform(frame, prob=["a", "b", "c"])
    np.testing.assert_array_equal(found[:, 3:].to_numpy(), calibrator.predict_proba(p))
    with pytest.raises(InvalidInputError, match="one that has a formula"):
        calibrator.transform(frame.lazy(), prob=["a", "b", "c"])
    grouped = GroupedCalibrator(PlattCalibrator()).fit(p[:, 0], y == 0, by=np.arange(240) % 2)
    with pytest.raises(InvalidInputError, match="`by`"):
        grouped.transform(frame, prob="a")


def test_names_may_hold_anything(need: Need) -> None:
    name = 'a "b"; --'
    frame = pl.DataFrame({name: [0.25], "_veridical_0": [1]})
    calibrator = HistogramCalibrator(n_bins=2).fit([0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1])
    for engine in ("polars", "duckdb"):
        made = calibrator.transform(LAZY[engine](need, frame), prob=[name], names="q'r")
        found = _collected(made)
        assert found.columns == [name, "_veridical_0", "q'r"]
        assert found["q'r"].to_list() == calibrator.predict_proba([0.25])[:, 1].tolist()


def test_integers_and_booleans_are_numbers() -> None:
    calibrator = IsotonicCalibrator().fit([0.0, 0.2, 0.8, 1.0], [0, 1, 0, 1])
    expected = calibrator.predict_proba([0.0, 1.0])[:, 1].tolist()
    for values in ([0, 1], [False, True]):
        found = calibrator.transform(pl.LazyFrame({"p": values})).collect()["calibrated"]
        assert found.to_list() == expected
