"""Arithmetic of the league's tables, on a table small enough to work out by hand."""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

pd = pytest.importorskip("pandas")

SOURCE = Path(__file__).parents[2] / "benchmarks" / "league" / "tables.py"

# Losses of (uncalibrated, x, y) in three cells: two of set A, one of set B that y did not meet.
LOSSES = {
    ("A", 100, 500): (0.50, 0.40, 0.50),
    ("A", 1000, 2000): (0.50, 0.52, 0.45),
    ("B", 100, 2000): (0.30, 0.30, None),
}


@pytest.fixture(scope="module")
def tables() -> ModuleType:
    if not SOURCE.exists():
        pytest.skip("the benchmarks are not part of this copy")
    spec = importlib.util.spec_from_file_location("league_tables", SOURCE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def frame() -> Any:
    rows = []
    for (data, n, n_test), losses in LOSSES.items():
        cell = {"data": data, "model": "m", "split": 0, "n": n, "n_test": n_test, "n_classes": 2}
        for method, loss in zip(("uncalibrated", "x", "y"), losses, strict=True):
            if loss is not None:
                failed = "ValueError: no" if (method, data) == ("x", "B") else ""
                rows.append(
                    {**cell, "method": method, "loss": loss, "seconds": n / 100, "failure": failed}
                )
    return pd.DataFrame(rows)


def test_ranks_average_ties_and_spread_over_missing_methods(tables: ModuleType, frame: Any) -> None:
    ranks = tables.ranks(tables.wide(frame, "loss"))
    # In the third cell the two methods present tie at 1.5 of 2, which is 2 of 3.
    assert ranks["uncalibrated"].tolist() == [2.5, 2, 2]
    assert ranks["x"].tolist() == [1, 3, 2]
    assert ranks["y"].dropna().tolist() == [2.5, 1]


def test_league_counts_every_data_set_once(tables: ModuleType, frame: Any) -> None:
    table = tables.league(frame, "loss")
    assert table.index.tolist() == ["y", "x", "uncalibrated"]
    assert table["mean_rank"].tolist() == [1.75, 2, 2.125]
    assert table["win_rate"].tolist() == [0.625, 0.5, 0.4375]
    # x: A has the mean of -0.10 and +0.02, B has 0.
    assert table.loc["x", "mean_change"] == pytest.approx(-0.02)
    assert table.loc["y", "mean_change"] == pytest.approx(-0.025)
    assert table["cells"].tolist() == [2, 3, 3]
    assert table["failures"].tolist() == [0, 1, 0]
    assert table.loc["x", "seconds"] == 1


def test_harm_and_worst_cases(tables: ModuleType, frame: Any) -> None:
    table = tables.league(frame, "loss")
    assert table.loc["x", "harmed"] == 0.25  # one of two cells of A, none of B
    assert table.loc["y", "harmed"] == 0
    assert table.loc["x", "worst"] == pytest.approx(0.02)
    assert table.loc["y", "worst"] == 0
    # Only the second cell has a thousand rows on both sides.
    assert table.loc["y", "worst_large"] == pytest.approx(-0.05)


def test_pairwise_counts_ties_as_half(tables: ModuleType, frame: Any) -> None:
    table = tables.pairwise(tables.wide(frame, "loss"))
    assert table.loc["y", "uncalibrated"] == 0.75
    assert table.loc["uncalibrated", "y"] == 0.25
    assert table.loc["x", "uncalibrated"] == 0.5  # a win, a loss, and a tie in the other set
    assert pd.isna(table.loc["x", "x"])


def test_best_method_met_every_cell(tables: ModuleType, frame: Any) -> None:
    assert tables.best_method(frame, "loss", lambda _: True) == "x"
    assert tables.best_method(frame, "loss", lambda name: name != "x") == "uncalibrated"


def test_difference_is_over_common_cells(tables: ModuleType, frame: Any) -> None:
    gap = tables.difference(frame, "loss", "x", "y")
    # Only set A is common: (-0.10 + 0.07)/2, and one set redrawn is the same set.
    assert gap.tolist() == pytest.approx([-0.015, -0.015, -0.015])


def test_interval_redraws_data_sets(tables: ModuleType) -> None:
    # Of two sets, a quarter of resamples holds one of them twice: beyond both 2.5% limits.
    by_sets = pd.DataFrame({"gap": [0.0, 1.0]}, index=["A", "B"])
    assert tables.interval(by_sets).loc["gap"].tolist() == [0.5, 0.0, 1.0]


def test_a_method_wins_against_rivals_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set A: won against one of two rivals, then against both; set B: a tie and a defeat."""
    monkeypatch.syspath_prepend(str(SOURCE.parent))
    editions = importlib.import_module("editions")
    index = pd.MultiIndex.from_tuples(
        [("A", "m", 0, 100), ("A", "m", 0, 200), ("B", "m", 0, 100)],
        names=["data", "model", "split", "n"],
    )
    losses = pd.DataFrame(
        {"auto": [0.4, 0.3, 0.2], "x": [0.5, 0.4, 0.2], "y": [0.3, 0.4, 0.1]}, index=index
    )
    found = editions.win_rate(losses, "auto", ["auto", "x", "y"])
    assert found == pytest.approx(((0.5 + 1.0) / 2 + 0.25) / 2)


def test_pools_are_compared_with_the_average_of_folds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(SOURCE.parent))
    pools = importlib.import_module("pools")
    losses = {"folds": (0.50, 0.40), "refit": (0.51, 0.39), "compact": (0.51, 0.3901)}
    frame = pd.DataFrame(
        {"data": data, "model": "m", "split": 0, "n": 100, "n_classes": 2, "pool": pool,
         "log_loss": loss}
        for pool, values in losses.items()
        for data, loss in zip("AB", values, strict=True)
    )  # fmt: skip
    found = pools.summary(frame, "try").set_index("pool")
    assert found.loc["refit", "cells"] == 2
    assert float(found.loc["refit", "lowest"]) == pytest.approx(-0.01)
    assert float(found.loc["refit", "highest"]) == pytest.approx(0.01)
    assert float(found.loc["compact", "from_refit"]) == pytest.approx(1e-4, rel=0.01)
