"""The same rows with labels of every kind, in every container; all of them mean one number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

_RNG = np.random.default_rng(20)
N = 64
P = np.round(_RNG.beta(2, 2, N), 3).clip(0.001, 0.999)
Y = (_RNG.random(N) < P).astype(int)
P3 = np.round(_RNG.dirichlet(np.ones(3), N), 3)
P3[:, 2] = (1000 - 1000 * P3[:, 0].round(3) - 1000 * P3[:, 1].round(3)).round() / 1000
P3 = np.abs(P3)
Y3 = (_RNG.random(N)[:, None] > P3.cumsum(axis=1)).sum(axis=1).clip(max=2)


@dataclass(frozen=True)
class Kind:
    """How labels and columns are written.

    Attributes
    ----------
    labels : in class order, the positive one of two last
    columns : names in the order they stand in
    declared : categories of an ordered type, or None
    """

    labels: tuple[Any, ...]
    columns: tuple[str, ...] = ("p",)
    declared: tuple[Any, ...] | None = None

    @property
    def y(self) -> np.ndarray:
        """Class indices."""
        return Y if len(self.labels) == 2 else Y3

    @property
    def values(self) -> np.ndarray:
        """Labels of all rows."""
        return np.array(self.labels)[self.y]

    @property
    def place(self) -> list[int]:
        """Class of each column."""
        if len(self.columns) == 1:
            return [1]
        return [[str(x) for x in self.labels].index(c.split("_")[-1]) if "_" in c else int(c[1:])
                for c in self.columns]  # fmt: skip

    def p_of(self, k: int) -> np.ndarray:
        """Predictions of class k."""
        return (P if k else 1 - P) if len(self.labels) == 2 else P3[:, k]

    def needs_pos_label(self, container: str) -> bool:
        """Whether only an option can say which class is the positive one."""
        if len(self.labels) > 2 or len(self.columns) == 2:
            return False
        if "_" in self.columns[0]:
            return container in ("arrays", "pyarrow")  # whose arrays have no names
        if self.declared is not None:
            return container in ("arrays", "CSV")  # which have no types to declare an order with
        return bool(self.labels[0] > self.labels[1])

    def needs_labels(self, container: str) -> bool:
        """Whether only an option can say in which order unnamed columns stand."""
        return len(self.labels) > 2 and self.declared is not None and container in ("arrays", "CSV")


KINDS: dict[str, Kind] = {
    "bool": Kind((False, True)),
    "0/1": Kind((0, 1)),
    "1/2": Kind((1, 2)),
    "strings": Kind(("good", "ill")),
    "strings, positive first": Kind(("good", "bad")),
    "strings, positive first, column named": Kind(("good", "bad"), ("p_bad",)),
    "two columns, positive first": Kind(("good", "bad"), ("p_bad", "p_good")),
    "ordered categorical": Kind(("lo", "hi"), declared=("lo", "mid", "hi")),
    "Enum": Kind(("lo", "hi"), declared=("lo", "hi")),
    "three named, shuffled": Kind(("a", "b", "c"), ("p_c", "p_a", "p_b")),
    "three ordered": Kind(("lo", "mid", "hi"), ("p0", "p1", "p2"), ("lo", "mid", "hi")),
}


@dataclass(frozen=True)
class Cell:
    """Rows of a kind in a container.

    Attributes
    ----------
    y, p : as array-likes, or None where there is only a table
    table : frame, query or file, or None where there are only arrays
    options : what has to be said: `pos_label` or `labels`
    """

    kind: Kind
    y: Any = None
    p: Any = None
    table: Any = None
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def prob(self) -> str | list[str]:
        """Names of columns."""
        return self.kind.columns[0] if len(self.kind.columns) == 1 else list(self.kind.columns)


def _pandas(kind: Kind) -> pd.DataFrame:
    y = kind.values
    if kind.declared is not None:
        y = pd.Categorical(y, categories=list(kind.declared), ordered=True)
    columns = {c: kind.p_of(k) for c, k in zip(kind.columns, kind.place, strict=True)}
    return pd.DataFrame({"y": y, **columns})


def _polars(kind: Kind) -> pl.DataFrame:
    frame = pl.DataFrame(
        {"y": kind.values.tolist(), **_pandas(kind).drop(columns="y").to_dict("list")}
    )
    if kind.declared is None:
        return frame
    return frame.with_columns(pl.col("y").cast(pl.Enum(list(kind.declared))))


def _duckdb(kind: Kind) -> Any:
    import duckdb

    connection = duckdb.connect()
    plain = _pandas(kind).assign(y=kind.values)
    connection.register("plain", pa.Table.from_pandas(plain))
    if kind.declared is None:
        return connection.sql("SELECT * FROM plain")
    listed = ", ".join(f"'{one}'" for one in kind.declared)
    connection.execute(f"CREATE TYPE grade AS ENUM ({listed})")
    return connection.sql("SELECT * REPLACE (y::grade AS y) FROM plain")


def _of_frame(kind: Kind, frame: Any) -> Cell:
    """A frame whose columns are also passed as arrays."""
    names = list(kind.columns)
    several = frame.select(names) if not isinstance(frame, pd.DataFrame) else frame[names]
    p = frame[names[0]] if len(names) == 1 else several
    return Cell(kind, frame["y"], p, frame)


def _arrays(kind: Kind) -> Cell:
    p = np.column_stack([kind.p_of(k) for k in sorted(kind.place)])  # in class order
    if len(kind.labels) == 2 and len(kind.columns) == 2:
        p = p[:, ::-1] if kind.labels[0] > kind.labels[1] else p  # sorted labels
    return Cell(kind, kind.values, p[:, 0] if p.shape[1] == 1 else p)


def _file(kind: Kind, folder: Path, name: str) -> Cell:
    path = folder / name
    if name.endswith(".csv"):
        _polars(kind).write_csv(path)
    else:
        _pandas(kind).to_parquet(path)
    return Cell(kind, table=path)


CONTAINERS: dict[str, Callable[[Kind, Path], Cell]] = {
    "arrays": lambda kind, _: _arrays(kind),
    "pandas": lambda kind, _: _of_frame(kind, _pandas(kind)),
    "polars": lambda kind, _: _of_frame(kind, _polars(kind)),
    "pyarrow": lambda kind, _: _of_frame(kind, pa.Table.from_pandas(_pandas(kind))),
    "CSV": lambda kind, folder: _file(kind, folder, "rows.csv"),
    "Parquet": lambda kind, folder: _file(kind, folder, "rows.parquet"),
    "lazy": lambda kind, _: Cell(kind, table=_polars(kind).lazy()),
    "DuckDB": lambda kind, _: Cell(kind, table=_duckdb(kind)),
}


def cell_of(kind: str, container: str, folder: Path) -> Cell:
    """Rows of a kind in a container, with the one option that it needs, if it needs one."""
    known = KINDS[kind]
    cell = CONTAINERS[container](known, folder)
    cell.options.update(options_of(kind, container))
    return cell


def options_of(kind: str, container: str) -> dict[str, Any]:
    """What neither values nor types nor names say."""
    known = KINDS[kind]
    if known.needs_pos_label(container):
        return {"pos_label": known.labels[1]}
    return {"labels": list(known.labels)} if known.needs_labels(container) else {}


def brier(kind: str) -> float:
    """By the definition, from the plain 0/1 arrays."""
    known = KINDS[kind]
    if len(known.labels) == 2:
        return float(np.mean((P - Y) ** 2))
    return float(np.mean(((P3 - np.eye(3)[Y3]) ** 2).sum(axis=1)))
