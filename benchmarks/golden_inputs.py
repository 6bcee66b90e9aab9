"""Fourteen inputs of the golden record: arrays, weights, clusters, frames, files and a summary.

Every input is drawn from a fixed seed. The last three hold the rows of the input "by" in other
containers, so that one glance at two records shows whether a path gives other figures.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import veridical as v

PARQUET, SUMMARY = "rows.parquet", "summary.json"  # in the working folder, so no path is recorded


@dataclass(frozen=True)
class Input:
    """Rows, the options that describe them, and the container they come in.

    Attributes
    ----------
    y, p, challenger : labels, predictions, and the predictions of a second model
    features : two columns for `audit_segments`
    options : sample_weight, weight_type or groups
    by : subgroups to be reported
    table : a frame, a file name or a saved summary that stands for the arrays
    columns : options that name the columns of `table`
    engine : the engine to ask for, if `table` is read by one
    """

    name: str
    y: np.ndarray
    p: np.ndarray
    challenger: np.ndarray
    features: dict[str, np.ndarray]
    options: dict[str, Any] = field(default_factory=dict)
    by: Any = None
    table: Any = None
    columns: dict[str, Any] = field(default_factory=dict)
    engine: dict[str, Any] = field(default_factory=dict)

    @property
    def rows(self) -> tuple[Any, ...]:
        """Positional arguments of a public function."""
        return (self.y, self.p) if self.table is None else (self.table,)

    @property
    def n_classes(self) -> int:
        return 2 if self.p.ndim == 1 else self.p.shape[1]


def make_inputs() -> dict[str, Input]:
    """Build every input and write the files that two of them are read from."""
    array_inputs = [
        _two_classes("two classes, 40 rows", 40, seed=1),
        _two_classes("two classes, 4,000 rows", 4000, seed=2),
        _ties(),
        _rare_events(),
        _three_classes(),
        _ten_saturated_classes(),
        *_weighted_inputs(),
        _clusters(),
    ]
    subgroups = _subgroups()
    inputs = [*array_inputs, subgroups, *_containers(subgroups)]
    return {entry.name: entry for entry in inputs}


def _binary(
    name: str, p: np.ndarray, rng: np.random.Generator, *, true_p: np.ndarray | None = None, **rest
) -> Input:
    """Two classes with labels drawn from `true_p`, or from overconfident predictions."""
    if true_p is None:
        true_p = 0.15 + 0.6 * p
    y = (rng.random(p.size) < true_p).astype(int)
    return Input(name, y, p, 0.1 + 0.75 * p, _features(p.size, rng), **rest)


def _features(n_rows: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    return {"age": rng.normal(50, 12, n_rows).round(1), "site": rng.integers(0, 3, n_rows)}


def _two_classes(name: str, n_rows: int, *, seed: int) -> Input:
    rng = np.random.default_rng(seed)
    return _binary(name, rng.beta(1.5, 1.5, n_rows), rng)


def _ties() -> Input:
    rng = np.random.default_rng(3)
    return _binary("ties", rng.integers(0, 11, 600) / 10, rng)


def _rare_events() -> Input:
    rng = np.random.default_rng(4)
    p = rng.beta(0.6, 40, 3000)
    return _binary("rare events", p, rng, true_p=np.minimum(1.6 * p, 1.0))


def _vectors(name: str, p: np.ndarray, true_p: np.ndarray, labels: Any, rng: Any) -> Input:
    """Several classes with labels drawn from `true_p`."""
    n_rows, n_classes = p.shape
    drawn_index = (rng.random(n_rows)[:, None] > true_p.cumsum(axis=1)).sum(axis=1)
    y = np.asarray(labels)[drawn_index.clip(max=n_classes - 1)]
    return Input(name, y, p, 0.8 * p + 0.2 / n_classes, _features(n_rows, rng))


def _three_classes() -> Input:
    rng = np.random.default_rng(5)
    p = rng.dirichlet(np.full(3, 0.8), 500)
    true_p = 0.7 * p + 0.1
    return _vectors("three classes", p, true_p, ["cat", "dog", "fox"], rng)


def softmax(logits: np.ndarray) -> np.ndarray:
    p = np.exp(logits - logits.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True)


def _ten_saturated_classes() -> Input:
    rng = np.random.default_rng(6)
    p = softmax(rng.normal(0, 30, (600, 10)))
    p[p < 1e-8] = 0  # as in single precision: 77% of values are 0, a third of rows has a 1
    p /= p.sum(axis=1, keepdims=True)
    return _vectors("ten saturated classes", p, 0.7 * p + 0.03, np.arange(10), rng)


def _weighted_inputs() -> list[Input]:
    rng = np.random.default_rng(7)
    p = rng.beta(1.5, 1.5, 600)
    plain = _binary("importance weights", p, rng)
    importance = rng.gamma(2.0, 1.0, 600)
    frequency = rng.integers(0, 4, 600)
    label_weight = np.where(plain.y == 1, 1.0, 5.0)
    rest = (plain.y, plain.p, plain.challenger, plain.features)
    counts = {"sample_weight": frequency, "weight_type": "frequency"}
    return [
        Input("importance weights", *rest, options={"sample_weight": importance}),
        Input("frequency weights", *rest, options=counts),
        Input("per-label weights", *rest, options={"sample_weight": label_weight}),
    ]


def _clusters() -> Input:
    rng = np.random.default_rng(8)
    cluster_ids = np.repeat(np.arange(75), 8)
    p = rng.beta(1.5, 1.5, 600)
    shift = rng.normal(0, 0.15, 75)[cluster_ids]
    options = {"groups": cluster_ids}
    return _binary("clusters", p, rng, true_p=np.clip(p + shift, 0, 1), options=options)


def _subgroups() -> Input:
    rng = np.random.default_rng(9)
    segment = np.array(["north", "south", "west"])[rng.integers(0, 3, 1500)]
    p = rng.beta(1.5, 1.5, 1500)
    true_p = np.where(segment == "south", 0.2 + 0.5 * p, p)
    return _binary("by", p, rng, true_p=true_p, by=segment)


def _containers(subgroups: Input) -> list[Input]:
    """The rows of `subgroups` as a lazy frame, as a file and as a summary read back."""
    frame = pl.DataFrame(
        {"y": subgroups.y, "p": subgroups.p, "challenger": subgroups.challenger}
        | {"segment": subgroups.by}
        | subgroups.features
    )
    has_label = pl.int_range(pl.len()) < frame.height // 2
    frame = frame.with_columns(y_first_half=pl.when(has_label).then("y"))  # for estimate_rate
    frame.write_parquet(PARQUET)
    summary = v.grid_summary(subgroups.y, subgroups.p, by=subgroups.by)
    Path(SUMMARY).write_text(summary.to_json(), encoding="utf-8")
    read_back = v.GridSummary.from_json(Path(SUMMARY).read_text(encoding="utf-8"))
    rest = (subgroups.y, subgroups.p, subgroups.challenger, subgroups.features)
    columns = {"y": "y", "prob": "p"}
    pushdown = {"engine": "pushdown"}
    return [
        Input("lazy frame", *rest, table=frame.lazy(), columns=columns, by="segment"),
        Input(
            "Parquet, pushdown",
            *rest,
            table=PARQUET,
            columns=columns,
            by="segment",
            engine=pushdown,
        ),
        Input("saved summary", *rest, table=read_back),
    ]
