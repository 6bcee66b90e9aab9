"""Labels of every type that can hold them give the figures of 64-bit integers, to the last bit.

The whole product of paths, rows, classes and types runs with VERIDICAL_ALL_SLOW=1; otherwise a
seeded sample of it, which holds int8, int16 and uint8 on every path.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from engines.engine_frames import _SPARK, make_frame

import veridical as v

pytestmark = pytest.mark.filterwarnings("ignore::veridical.VeridicalWarning")

WHOLE = os.environ.get("VERIDICAL_ALL_SLOW") == "1"
# Paths by name, with what pytest has to know of an engine.
PATHS: dict[str, Any] = {"arrays": (), "file": ()}
PATHS |= dict.fromkeys(("pandas", "polars", "polars-lazy", "duckdb", "dask"), ())
PATHS["spark"] = _SPARK.marks
SIZES, MANY_ROWS = (100, 3_000, 12_000, 40_000), 2_000_000
CLASSES = (2, 3, 10, 300)
TYPES = ("int8", "int16", "int32", "uint8", "uint16", "uint32", "uint64", "float32", "float64")


class Problem(NamedTuple):
    """Size of a problem, and the types that its labels are written in."""

    n: int
    n_classes: int
    types: tuple[str, ...]


# Products of a label and this number of rows do not fit int8 or int16.
NARROW = Problem(12_000, 10, ("int8", "int16", "uint8"))


def _types(n_classes: int) -> tuple[str, ...]:
    """Types other than int64 that can hold the labels 0, 1, ... of so many classes."""
    if n_classes == 2:
        return (*TYPES, "bool")
    return tuple(one for one in TYPES if one[0] == "f" or n_classes - 1 <= np.iinfo(one).max)


def _whole_product() -> Iterator[Problem]:
    """All problems, except two million rows of 300 classes, which take gigabytes."""
    for n, n_classes in itertools.product((*SIZES, MANY_ROWS), CLASSES):
        if n < MANY_ROWS or n_classes < 300:
            yield Problem(n, n_classes, _types(n_classes))


def _sample(rng: np.random.Generator) -> Iterator[Problem]:
    """The narrow types, and two types of a problem drawn at random."""
    yield NARROW
    n, n_classes = int(rng.choice(SIZES)), int(rng.choice(CLASSES[:3]))
    types = rng.choice(_types(n_classes), 2, replace=False)
    yield Problem(n, n_classes, tuple(types.tolist()))


def _cases() -> Iterator[Any]:
    for number, (path, marks) in enumerate(PATHS.items()):
        problems = _whole_product() if WHOLE else _sample(np.random.default_rng([7, number]))
        for one in problems:
            yield pytest.param(path, one, marks=marks, id=f"{path}-{one.n}-{one.n_classes}")


@lru_cache(maxsize=1)
def _rows(n: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng([n, n_classes])
    p = rng.dirichlet(np.ones(n_classes), n)
    y = (rng.random(n)[:, None] > p.cumsum(axis=1)).sum(axis=1).clip(max=n_classes - 1)
    y[:2] = 0, n_classes - 1
    return y, p


def _figures(value: Any) -> Iterator[str]:
    """All numbers of a nested result, exactly; the labels False and True are written 0 and 1."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for one in value:
            yield from _figures(one)
    elif isinstance(value, (int, float)):
        yield repr(float(value))


def _source(path: str, columns: dict[str, np.ndarray], folder: Path, request: Any) -> Any:
    if path not in ("file", "spark"):
        return make_frame(path, columns, request.getfixturevalue)
    file = folder / "rows.parquet"
    pq.write_table(pa.table(columns), file)
    if path == "file":
        return file
    # Spark has no unsigned types: it reads those of a file as wider signed ones.
    return request.getfixturevalue("spark").read.parquet(str(file))


@pytest.mark.parametrize(("path", "problem"), list(_cases()))
def test_type_of_labels_changes_no_figure(
    path: str, problem: Problem, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    y, p = _rows(problem.n, problem.n_classes)
    prob = [f"p{k}" for k in range(problem.n_classes)]
    columns = dict(zip(prob, p.T, strict=True))
    options: dict[str, Any] = {"n_resamples": 20, "rng": 0}
    if path not in ("arrays", "pandas", "polars"):
        options["engine"] = "pushdown"

    def figures(kind: str) -> list[str]:
        labels = y.astype(kind)
        if path == "arrays":
            found = v.evaluate(labels, p if len(prob) > 2 else p[:, 1], **options)
        else:
            source = _source(path, {"y": labels, **columns}, tmp_path, request)
            found = v.evaluate(source, y="y", prob=prob if len(prob) > 2 else "p1", **options)
        return list(_figures(found.to_dict()))

    expected = figures("int64")
    assert len(expected) > 100
    assert [kind for kind in problem.types if figures(kind) != expected] == []
