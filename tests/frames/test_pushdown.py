"""Scans of frames and files: cells, files, queries, types of columns."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from engines.naive_grid import assert_same_sums, naive_scores, naive_sums
from needs import needed

from veridical._core.sample import BinarySample
from veridical.binning import UniformBins
from veridical.exceptions import InvalidInputError
from veridical.frames._grid import (
    checks as _grid_classes,
    checks as _grid_faults,
    scan as _grid_scan,
)
from veridical.frames._grid.grid import grid_table
from veridical.frames._tables.open import run


def binary(source: Any, **options: Any) -> Any:
    arguments = {"y": "y", "prob": "p", "problems": ["binary"], "n_bins": 15, "caller": "f"}
    return grid_table(source, **(arguments | options))


@pytest.fixture
def queries(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Columns of the answer of each query that is run."""
    seen: list[list[str]] = []

    def watched(query: Any) -> Any:
        table = run(query)
        seen.append(table.columns)
        return table

    for module in (_grid_scan, _grid_classes, _grid_faults):
        monkeypatch.setattr(module, "run", watched)
    return seen


def row_by_row(p: np.ndarray, **options: Any) -> tuple[np.ndarray, np.ndarray]:
    """Bin and cell of each row: every row is a group of its own."""
    n = len(p)
    frame = pl.LazyFrame({"y": np.arange(n) % 2, "p": p, "row": np.arange(n)})
    table = binary(frame, by="row", scores=False, **options)
    assert table.groups == tuple(range(n))
    assert table.group.tolist() == list(range(n))
    return table.bin, table.cell


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_bins", [1, 7, 10, 15, 49, 100])
def test_bins_are_those_of_uniform_bins_to_the_last_bit(dtype: Any, n_bins: int) -> None:
    edges = (np.arange(n_bins + 1) / n_bins).astype(dtype)
    zero, one = dtype(0), dtype(1)
    near = [edges, np.nextafter(edges, zero), np.nextafter(edges, one), np.arange(1001) / 1000]
    p = np.unique(np.concatenate(near).astype(dtype))
    sample = BinarySample(y=np.arange(len(p)) % 2, p=p)
    expected = UniformBins(n_bins).fit(sample).assign(p)
    np.testing.assert_array_equal(row_by_row(p, n_bins=n_bins)[0], expected)


@pytest.mark.parametrize("resolution", [64, 2048])
def test_cells_are_ordered_and_narrow(resolution: int) -> None:
    odds = np.exp(np.linspace(-34, 34, 4000))
    p = np.unique(np.concatenate([odds / (1 + odds), np.linspace(0, 1, 3001), [1e-300, 0.5]]))
    _, cell = row_by_row(p, resolution=resolution)
    assert (np.diff(cell) >= 0).all()
    for one in np.unique(cell):
        inside = p[cell == one]
        assert inside[-1] - inside[0] <= 1 / resolution
        if inside[0] > 1e-15 and inside[-1] < 1 - 1e-15:
            logit = np.log(inside / (1 - inside))
            assert logit[-1] - logit[0] <= 64 / resolution + 1e-9
    assert (cell == cell[p == 0.5]).sum() == 1


def test_the_middle_stands_alone_among_its_nearest_neighbours() -> None:
    p = np.array([0.0, 5e-324, np.nextafter(0.5, 0), 0.5, np.nextafter(0.5, 1), 1 - 2**-53, 1.0])
    _, cell = row_by_row(p)
    assert len(set(cell[2:5].tolist())) == 3
    y = np.ones(7, dtype=np.int64)
    for pos_label in (1, 0):
        table = binary(pl.LazyFrame({"y": y, "p": p}), labels=[0, 1], pos_label=pos_label)
        expected = naive_scores(y, p, positive=pos_label)["zero-one"]
        assert table.scores["zero-one"].tolist() == [expected]


def test_a_single_column_takes_one_query_and_several_one_more(queries: list[list[str]]) -> None:
    p = [0.25, 0.5, 0.75]
    table = {"y": [0, 1, 1], "p": p, "p_0": p[::-1], "p_1": p}
    # An engine that runs no Python; others hand their rows to the kernel.
    frame = needed("ibis").memtable(pl.DataFrame(table))
    binary(frame, problems=["binary", "confidence", 0], by="y")
    assert len(queries) == 1
    queries.clear()
    binary(frame, prob=["p_0", "p"], labels=[0, 1], problems=["binary", "confidence", 0])
    assert len(queries) == 1
    queries.clear()
    binary(frame, prob=["p_0", "p_1"])
    assert queries[0] == ["v_label"]
    assert len(queries) == 2


def test_weight_zero_is_removal_but_its_label_is_known() -> None:
    frame = pl.LazyFrame(
        {"y": ["a", "b", "b"], "p": [0.25, 0.5, 1.0], "w": [0, 2, 1], "g": [7, 8, 8]}
    )
    table = binary(frame, sample_weight="w", by="g")
    assert table.classes == ("a", "b")
    assert table.groups == (8,)
    assert table.rows.tolist() == [2]
    assert table.total_w.tolist() == [3]
    assert table.total_w2.tolist() == [5]
    assert table.class_weight.tolist() == [[0, 3]]


def test_two_columns_in_either_order_and_either_class() -> None:
    rng = np.random.default_rng(3)
    p = rng.random(60).round(1)
    y = (rng.random(60) < p).astype(np.int64)
    frame = pl.LazyFrame({"y": y, "no": 1 - p, "yes": p})
    problems = ["binary", "confidence", 0, 1]
    for prob, labels, pos_label in (
        (["no", "yes"], [0, 1], None),
        (["yes", "no"], [1, 0], None),
        (["no", "yes"], [0, 1], 0),
    ):
        table = binary(frame, prob=prob, labels=labels, pos_label=pos_label, problems=problems)
        matrix = np.column_stack([1 - p, p] if prob[0] == "no" else [p, 1 - p])
        code = np.array([labels.index(label) for label in y])
        positive = labels.index(1 if pos_label is None else pos_label)
        assert table.positive == positive
        expected = naive_sums(code, matrix, problems=problems, n_bins=15, positive=positive)
        assert_same_sums(table, expected)
        for rule, score in naive_scores(code, matrix, positive=positive).items():
            assert table.scores[rule][0] == pytest.approx(score, rel=1e-10)


def test_forty_classes_do_not_multiply_the_cells() -> None:
    rng = np.random.default_rng(4)
    matrix = rng.dirichlet(np.ones(40), 300)
    code = rng.integers(0, 40, 300)
    names = [f"p_{k}" for k in range(40)]
    frame = pl.LazyFrame({"y": code, **dict(zip(names, matrix.T, strict=True))})
    table = binary(frame, prob=names, problems=["confidence"])
    assert_same_sums(table, naive_sums(code, matrix, problems=["confidence"], n_bins=15))
    assert table.class_count[0].tolist() == np.bincount(code, minlength=40).tolist()
    for rule, score in naive_scores(code, matrix).items():
        assert table.scores[rule][0] == pytest.approx(score, rel=1e-10)


def test_columns_of_other_types() -> None:
    y, p = np.array([0, 1, 1, 0]), np.array([0.0, 1.0, 1.0, 0.0])
    expected = naive_sums(y, p, problems=["binary"], n_bins=15)
    whole = p.astype(np.int64)
    decimals = pl.Series([Decimal(int(q)) for q in p], dtype=pl.Decimal(10, 2))
    text = pl.Series(["no", "yes", "yes", "no"])
    for frame in (
        pl.LazyFrame({"y": y, "p": whole}),
        pl.LazyFrame({"y": y, "p": whole == 1}),
        pl.LazyFrame({"y": y, "p": decimals}),
        pl.LazyFrame({"y": decimals, "p": p}),
        pl.LazyFrame({"y": text.cast(pl.Categorical), "p": p}),
        pl.LazyFrame({"y": text.cast(pl.Enum(["no", "yes"])), "p": p}),
        pl.LazyFrame({"y": text.replace("no", "zero").cast(pl.Enum(["zero", "yes"])), "p": p}),
        pd.DataFrame({"y": pd.array(y, dtype="Int64"), "p": pd.array(p, dtype="Float64")}),
    ):
        assert_same_sums(binary(frame), expected)


def test_files_are_streamed(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    p = rng.random(50).round(3)
    y = (rng.random(50) < p).astype(np.int64)
    frame = pl.DataFrame({"note": ["x"] * 50, "y": y, "p": p})
    expected = naive_sums(y, p, problems=["binary"], n_bins=15)
    frame.write_csv(tmp_path / "all.csv")
    frame.write_ipc(tmp_path / "all.arrow")
    for part in (0, 1):
        frame[25 * part : 25 * (part + 1)].write_parquet(tmp_path / f"part-{part}.parquet")
    for name in ("all.csv", "all.arrow", "part-*.parquet"):
        assert_same_sums(binary(tmp_path / name), expected)


def test_a_csv_whose_types_change_far_down_is_read_all_the_same(tmp_path: Path) -> None:
    lines = ["y,p", *["1,1"] * 10_500, "no,0.25"]
    path = tmp_path / "late.csv"
    path.write_text("\n".join(lines) + "\n")
    table = binary(path)
    assert table.classes == ("1", "no")
    assert table.class_count.tolist() == [[10_500, 1]]


def test_options_are_checked() -> None:
    frame = pl.LazyFrame({"y": [0, 1], "p": [0.5, 0.5], "t": ["a", "b"]})
    for options, message in (
        ({"n_bins": 0}, "`n_bins` must be a positive integer; got 0"),
        ({"resolution": 100}, "`resolution` must be a multiple of 64; got 100"),
        ({"problems": ["classwise"]}, "`problems` must be .*got 'classwise'"),
        ({"problems": [2]}, "`problems` must be .*got 2"),
        ({"prob": "q"}, "`prob` must be a column of the data; got 'q'"),
        ({"by": "Y"}, "`by` must be a column of the data; got 'Y'"),
        ({"prob": "t"}, "`prob` must be numeric; got column 't' of type String"),
        ({"sample_weight": "t"}, "`sample_weight` must be numeric; got column 't'"),
    ):
        with pytest.raises(InvalidInputError, match=message):
            binary(frame, **options)
