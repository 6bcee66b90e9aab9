"""Batches of an engine that runs Python, through the kernel, into sums."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from veridical._core.runtime.optional import require
from veridical._core.runtime.threads import map_in_order
from veridical.frames._grid import kernel as kernel_module, parts, units, worker
from veridical.frames._grid.compiled import compiled_loops
from veridical.frames._grid.events import CODE, code_of, sum_tolerance
from veridical.frames._grid.kernel import CHUNK, Kernel, Question
from veridical.frames._grid.parts import encoded
from veridical.frames._grid.rows import LABEL, WEIGHT, EngineRows
from veridical.frames._grid.scan import Sums
from veridical.frames._grid.worker import (
    KEY,
    Columns,
    entries_of,
    in_arrow,
    named,
    part_of,
    total_of,
)
from veridical.frames._tables.engines import Engine, engine_of
from veridical.frames._tables.open import run
from veridical.frames._tables.table import Table

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw

    from veridical._core.typing import Array, FloatArray, IntArray
    from veridical.frames._grid.cells import Grid


_FEW_COLUMNS = 4
SHIPPED = kernel_module, parts, units, worker  # what Spark sends to its workers


@dataclass(frozen=True)
class Asked:
    """What a scan is to sum up, whoever does it.

    Attributes
    ----------
    grid : bins and cells
    numbers : events, as `events_of_column` and `events_of_columns` number them
    classes : labels of several columns, in their order; none of a single column
    positive : index of the positive one
    scores : whether scores are wanted
    """

    grid: Grid
    numbers: tuple[int, ...]
    classes: tuple[Any, ...]
    positive: int
    scores: bool


def sums_of_batches(rows: EngineRows, asked: Asked, *, caller: str) -> Sums:
    """Sum up all rows, each batch where it is."""
    frame, columns = _columns(rows, asked)
    question = Question(
        n_bins=asked.grid.n_bins,
        resolution=asked.grid.resolution,
        single=rows.single,
        n_classes=len(asked.classes),
        positive=asked.positive,
        numbers=asked.numbers,
        tolerance=sum_tolerance(rows),
        weighted=rows.sample_weight is not None,
        grouped=bool(rows.by),
        scores=asked.scores,
    )
    kernel = Kernel(question, compiled_loops())
    how = engine_of(frame).runs
    names = [*([] if asked.classes else [LABEL]), *rows.by_names]
    if how in ("workers", "partitions"):
        entries = _on_spark if how == "workers" else _on_dask
        return _collected(entries(frame, question, columns), kernel, columns, names, caller)

    def part(batch: Any) -> Any:
        return part_of(FrameBatch(batch), kernel, columns)

    total = total_of(map_in_order(part, batches(frame)), kernel, columns)
    values, key, sums = entries_of(total, columns)
    arrays = [_array(each) for each in values]
    return _named(kernel, dict(zip(names, arrays, strict=True)), key, sums)


def _columns(rows: EngineRows, asked: Asked) -> tuple[nw.LazyFrame[Any], Columns]:
    """The query whose batches are summed up, and what its columns are."""
    import narwhals.stable.v2 as nw

    frame, weight = rows.frame, None if rows.sample_weight is None else WEIGHT
    p, by = tuple(rows.p_names), tuple(rows.by_names)
    numbered = asked.classes == tuple(range(len(asked.classes)))
    coded = bool(asked.classes) and numbered and rows.label_type.is_signed_integer()
    given = rows.untouched if engine_of(frame).runs in ("batches", "partitions") else None
    if len({rows.y, *rows.by}) <= len(rows.by):  # a column that is asked for twice
        given = None
    if given is not None and (coded or not asked.classes):
        label = {"code": rows.y, "label": None} if coded else {"code": None, "label": rows.y}
        columns = Columns(p=rows.prob, weight=rows.sample_weight, by=rows.by, **label)
        needed: dict[Any, None] = dict.fromkeys([rows.y, *rows.prob, *rows.by])
        if weight is not None:
            needed[columns.weight] = None
        return given.select(*needed), columns
    if not asked.classes:
        return frame, Columns(p, None, LABEL, weight, by)
    code = code_of(asked.classes, rows.label_type)
    if coded:
        code = nw.col(LABEL).cast(nw.Int64)  # checked with the rest of the row
    kept = [*p, *by, *([] if weight is None else [weight])]
    return frame.select(code.alias(CODE), *map(nw.col, kept)), Columns(p, CODE, None, weight, by)


def batches(frame: nw.LazyFrame[Any]) -> Iterator[nw.DataFrame[Any]]:
    """All rows in order, `CHUNK` (of many columns half) at a time, however the engine cuts them."""
    import narwhals.stable.v2 as nw

    engine, own = engine_of(frame), frame.to_native()
    size = CHUNK if len(frame.collect_schema()) <= _FEW_COLUMNS else CHUNK // 2
    if engine.streams:
        for batch in own.collect_batches(chunk_size=size, maintain_order=True, engine="streaming"):
            yield nw.from_native(batch, eager_only=True)
    elif engine.arrow:
        require("pyarrow", extra=engine.extra, purpose=f"reading what {engine.name} returns")
        for table in _cut(_reader(own), size):
            yield nw.from_native(table, eager_only=True)
    else:
        whole = frame.collect()
        for start in range(0, len(whole), size):
            yield whole[start : start + size]


def _reader(relation: Any) -> Any:
    """Batches of a DuckDB relation; newer versions spell it otherwise."""
    if hasattr(relation, "to_arrow_reader"):
        return relation.to_arrow_reader(CHUNK)
    return relation.fetch_record_batch(CHUNK)


def _cut(reader: Any, size: int) -> Iterator[Any]:
    """Tables of so many rows, whatever the batches are."""
    import pyarrow as pa

    held: list[Any] = []
    n = 0
    for batch in reader:
        held.append(batch)
        n += batch.num_rows
        while n >= size:
            table = pa.Table.from_batches(held)
            yield table.slice(0, size)
            held, n = table.slice(size).to_batches(), n - size
    if n:
        yield pa.Table.from_batches(held)


class FrameBatch:
    """Columns of a frame in memory, as the kernel takes them."""

    def __init__(self, frame: nw.DataFrame[Any]) -> None:
        self._frame, self.n = frame, len(frame)

    def numbers(self, name: str) -> Any:
        """Values of a column of numbers, NaN where one is missing."""
        series = self._frame.get_column(name)
        values = series.to_numpy()
        if values.dtype.kind in "iu" or (values.dtype.kind == "f" and not series.null_count()):
            return values
        return series.cast(_double()).to_numpy().astype(np.float64)

    def encoded(self, name: str) -> tuple[Any, list[Any]]:
        """Number of each value among the distinct ones, and those; None is a missing one."""
        series = self._frame.get_column(name)
        own = series.to_native()
        dtype = series.dtype
        if series.null_count() == 0 and (dtype.is_integer() or dtype == _boolean()):
            return encoded(series.to_numpy())
        if series.implementation.is_polars():
            import polars as pl

            own = own.cast(pl.String) if own.dtype in (pl.Categorical, pl.Enum) else own
            distinct = own.unique(maintain_order=True)
            codes = own.replace_strict(distinct, range(len(distinct)), return_dtype=pl.Int64)
            return codes.to_numpy(), distinct.to_list()
        if series.implementation.is_pyarrow():
            kept = own.combine_chunks().dictionary_encode(null_encoding="encode")
            return kept.indices.to_numpy(zero_copy_only=False), kept.dictionary.to_pylist()
        codes, values = own.factorize(use_na_sentinel=False)
        return codes, _without_marks(values)


class PandasBatch(FrameBatch):
    """Columns of rows of a pandas frame, without copies where its numbers are those of NumPy."""

    def __init__(self, rows: Any) -> None:
        import narwhals.stable.v2 as nw

        super().__init__(nw.from_native(rows, eager_only=True))
        self._rows = rows

    def numbers(self, name: str) -> Any:
        """Values of a column of numbers, NaN where one is missing."""
        values = self._rows[name]
        if isinstance(values.dtype, np.dtype) and values.dtype.kind in "iuf":
            return values.to_numpy()
        return super().numbers(name)


def _without_marks(values: Any) -> list[Any]:
    """Distinct values of a pandas series, None for its several marks of a missing one."""
    absent = values.isna()
    return [None if gone else value for value, gone in zip(values.tolist(), absent, strict=True)]


def _double() -> Any:
    import narwhals.stable.v2 as nw

    return nw.Float64


def _boolean() -> Any:
    import narwhals.stable.v2 as nw

    return nw.Boolean


def _on_spark(frame: nw.LazyFrame[Any], question: Question, columns: Columns) -> nw.LazyFrame[Any]:
    """Entries of every partition, made by the workers' Python, which need not know this library."""
    import narwhals.stable.v2 as nw
    from pyspark.sql import types

    own = frame.to_native()
    fields = [own.schema[name] for name in columns.keys]
    fields = [types.StructField(each.name, each.dataType, nullable=True) for each in fields]
    fields.append(types.StructField(KEY, types.LongType()))
    fields += [
        types.StructField(named(name), types.DoubleType()) for name in Kernel(question).names
    ]
    with shipped(*SHIPPED):
        entries = own.mapInArrow(in_arrow(question, columns), types.StructType(fields))
    return nw.from_native(entries)


@contextmanager
def shipped(*modules: Any) -> Iterator[None]:
    """Send modules to Spark's workers as they are, with what is made of them meanwhile."""
    from pyspark import cloudpickle

    for module in modules:
        cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        for module in modules:
            cloudpickle.unregister_pickle_by_value(module)  # type: ignore[no-untyped-call]


def worker_errors(engine: Engine) -> tuple[type[Exception], ...]:
    """What is raised if workers of an engine cannot run Python."""
    if engine.runs != "workers":
        return ()
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    return PySparkException, Py4JError


def _on_dask(frame: nw.LazyFrame[Any], question: Question, columns: Columns) -> nw.LazyFrame[Any]:
    """Entries of every partition, made by Dask's workers."""
    import narwhals.stable.v2 as nw

    own = frame.to_native()
    sum_up = PartitionSums(question, columns)
    return nw.from_native(own.map_partitions(sum_up, meta=sum_up(own._meta)))


@dataclass(frozen=True)
class PartitionSums:
    """Entries of a pandas frame, as one."""

    question: Question
    columns: Columns

    def __call__(self, partition: Any) -> Any:
        import pandas as pd

        kernel = Kernel(self.question, compiled_loops())
        sums_of_parts = (
            part_of(PandasBatch(partition.iloc[start : start + CHUNK]), kernel, self.columns)
            for start in range(0, len(partition), CHUNK)
        )
        values, key, sums = entries_of(total_of(sums_of_parts, kernel, self.columns), self.columns)
        made: dict[str, Any] = {
            name: pd.Series(each, dtype=_nullable(partition[name].dtype))
            for name, each in zip(self.columns.keys, values, strict=True)
        }
        made[KEY] = key
        made |= {named(name): row for name, row in zip(kernel.names, sums, strict=True)}
        return pd.DataFrame(made)


def _nullable(dtype: Any) -> Any:
    """The type itself, of whole numbers and booleans that of their missing values too."""
    return {"i": "Int64", "u": "UInt64", "b": "boolean"}.get(getattr(dtype, "kind", ""), dtype)


def _collected(
    entries: nw.LazyFrame[Any], kernel: Kernel, columns: Columns, names: list[str], caller: str
) -> Sums:
    """Sums of the entries of all partitions, added up where they are; keys are called `names`."""
    import narwhals.stable.v2 as nw

    keys, sums = [*columns.keys, KEY], [named(name) for name in kernel.names]
    table = run(entries.group_by(*keys).agg(*(nw.col(name).sum() for name in sums)))

    def column(name: str) -> Array:
        return table.column(name, caller=caller, param="source")

    return _named(
        kernel,
        {name: column(own) for name, own in zip(names, columns.keys, strict=True)},
        column(KEY).astype(np.int64),
        np.stack([column(name).astype(np.float64) for name in sums]),
    )


def _named(kernel: Kernel, keys: dict[str, Array], key: IntArray, sums: FloatArray) -> Sums:
    total = dict(zip(kernel.names, sums, strict=True))
    where = kernel.decode(np.maximum(key, 0))
    count = total["count"]
    return Sums(
        keys=keys,
        state=np.minimum(key, 0),
        **where,
        count=count,
        w=total.get("w", count),
        w2=total.get("w2", count),
        wq=total["wq"],
        wqq=total["wqq"],
        w2qq=total.get("w2qq", total["wqq"]),
        scores={
            name: np.where(where["number"] == own, total["wq"], 0.0)
            for name, own in kernel.score_numbers.items()
        },
    )


def _array(values: Sequence[Any]) -> Array:
    """Keys as an array, with what is missing marked as in any table."""
    import narwhals.stable.v2 as nw
    import polars as pl

    frame = pl.DataFrame({"key": pl.Series(values, strict=False)})
    return Table(nw.from_native(frame)).column("key", caller="", param="")
