"""A sample of rows from every engine: sizes, weights and repetition."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
from engines.engine_frames import CHEAP

from veridical.exceptions import InvalidInputError, MissingDependencyError
from veridical.frames._grid.sample import sample_rows

N = 3000
Y = np.array(["common", "rare"])[(np.arange(N) % 100 == 7).astype(int)].astype(object)
DATA = {"y": Y, "id": np.arange(N), "p": np.linspace(0, 1, N)}


def _column(table: Any, name: str) -> np.ndarray:
    return table.column(name, caller="f", param="columns")


@pytest.mark.parametrize("engine", CHEAP)
def test_every_class_keeps_its_share_and_weights_restore_the_counts(
    engine: str, frame_of: Any
) -> None:
    frame = frame_of(engine, DATA)
    table = sample_rows(frame, ["y", "id"], n=400, stratify="y", seed=5, caller="f")
    assert table.columns == ["y", "id", "sampling_weight"]
    y, ids, weight = (_column(table, name) for name in table.columns)
    assert len(set(ids.tolist())) == len(ids)  # without replacement
    np.testing.assert_array_equal(y, Y[ids])
    # 30 rare rows are fewer than 400 / 2: all are kept, and 370 of the 2970 others.
    assert (y == "rare").sum() == 30
    assert (y == "common").sum() == 370
    assert set(weight[y == "rare"].tolist()) == {1.0}
    assert set(weight[y == "common"].tolist()) == {2970 / 370}


@pytest.mark.parametrize("engine", ["pandas", "polars", "pyarrow", "polars-lazy", "duckdb"])
def test_the_same_seed_gives_the_same_rows_and_another_seed_others(
    engine: str, frame_of: Any
) -> None:
    def ids(seed: int) -> set[int]:
        table = sample_rows(frame_of(engine, DATA), ["id"], n=300, seed=seed, caller="f")
        return set(_column(table, "id").tolist())

    assert len(ids(1)) == 300
    assert ids(1) == ids(1)
    # Two samples of a tenth share about a tenth: 30, with standard deviation below 6.
    assert len(ids(1) & ids(2)) < 60


@pytest.mark.parametrize("engine", CHEAP)
def test_rows_are_drawn_evenly(engine: str, frame_of: Any) -> None:
    table = sample_rows(frame_of(engine, DATA), ["p"], n=1000, seed=3, caller="f")
    p = _column(table, "p")
    # Mean of 1000 of 3000 uniform numbers: 1/2, standard deviation sqrt(2/3 / 12 / 1000) = 0.0075.
    assert abs(p.mean() - 0.5) < 5 * 0.0075
    assert abs((p < 0.25).mean() - 0.25) < 5 * 0.0112


@pytest.mark.parametrize("engine", CHEAP)
def test_a_small_table_is_taken_whole(engine: str, frame_of: Any) -> None:
    small = {name: values[:50] for name, values in DATA.items()}
    table = sample_rows(frame_of(engine, small), ["id"], n=80, stratify="y", seed=0, caller="f")
    assert sorted(_column(table, "id").tolist()) == list(range(50))
    assert set(_column(table, "sampling_weight").tolist()) == {1.0}


def test_columns_and_numbers_are_checked(frame_of: Any) -> None:
    frame = frame_of("polars-lazy", DATA)
    with pytest.raises(InvalidInputError, match="`stratify` must be a column of the data"):
        sample_rows(frame, ["id"], n=5, stratify="Y", seed=0, caller="f")
    with pytest.raises(InvalidInputError, match="`n` must be a positive integer; got 0"):
        sample_rows(frame, ["id"], n=0, seed=0, caller="f")
    with pytest.raises(InvalidInputError, match="`source` must be non-empty"):
        sample_rows(frame.head(0), ["id"], n=5, seed=0, caller="f")


@pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")  # Ibis on DuckDB
@pytest.mark.parametrize(
    ("engine", "wanted"), [("duckdb", r'"duckdb>=[\d.]+" "pyarrow>=[\d.]+"'), ("ibis", "pyarrow")]
)
def test_an_engine_without_pyarrow_says_what_to_install(
    engine: str, wanted: str, frame_of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = frame_of(engine, DATA)
    real = importlib.import_module

    def absent(name: str, package: str | None = None) -> Any:
        if name == "pyarrow":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return real(name, package)

    monkeypatch.setattr(importlib, "import_module", absent)
    message = rf"reading what {engine} returns needs pyarrow\.\nHint: pip install {wanted}\."
    with pytest.raises(MissingDependencyError, match=message):
        sample_rows(frame, ["y"], n=400, seed=5, caller="f")
