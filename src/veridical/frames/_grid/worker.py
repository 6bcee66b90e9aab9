"""The kernel where Arrow batches are: in this process, or in a worker of Spark.

Like the kernel, it needs nothing of this library: it is sent to workers as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical.frames._grid.kernel import Kernel, Question, Rows
from veridical.frames._grid.parts import Total, combined, encoded

KEY = "v_key"
_LARGEST_LABEL = 2.0**53  # of labels stored as floats
_MOST_GROUPS = 10_000  # of a column without codes: beyond, it holds no labels


@dataclass(frozen=True)
class Columns:
    """Names of the columns of a batch."""

    p: tuple[str, ...]
    code: str | None
    label: str | None
    weight: str | None
    by: tuple[str, ...]

    @property
    def keys(self) -> tuple[str, ...]:
        """Columns whose values make groups: the label, if it is not a code, is one."""
        return (*(() if self.label is None else (self.label,)), *self.by)


class ArrowBatch:
    """Columns of an Arrow table or batch."""

    def __init__(self, table: Any) -> None:
        self._table, self.n = table, table.num_rows

    def numbers(self, name: str) -> Any:
        """Values of a column of numbers, NaN where one is missing."""
        return self._plain(self._table.column(name))

    def encoded(self, name: str) -> tuple[Any, list[Any]]:
        """Number of each value among the distinct ones, and those; None is a missing one."""
        column = self._table.column(name)
        kind = str(column.type)
        if column.null_count == 0 and (kind == "bool" or "int" in kind):
            return encoded(self._plain(column))
        if hasattr(column, "combine_chunks"):
            column = column.combine_chunks()
        if hasattr(column, "num_chunks"):  # of old versions
            column = column.chunk(0)
        kept = column.dictionary_encode(null_encoding="encode")
        return kept.indices.to_numpy(zero_copy_only=False).astype(
            np.intp
        ), kept.dictionary.to_pylist()

    @staticmethod
    def _plain(column: Any) -> Any:
        if hasattr(column, "chunks"):
            return column.to_numpy()
        return column.to_numpy(zero_copy_only=False)


def read(batch: Any, columns: Columns) -> tuple[Rows, list[tuple[Any, ...]]] | None:
    """Rows of a batch and the keys of their groups; None if a label is none.

    A label is a whole number or text; a missing one, or a fraction, is none.
    """
    p = [batch.numbers(name) for name in columns.p]
    weight = None if columns.weight is None else batch.numbers(columns.weight)
    code = None if columns.code is None else batch.numbers(columns.code)
    if code is not None:
        if code.dtype.kind not in "iu":
            return None
        code = code.astype(np.int64)  # a copy, which nobody else can change once it is checked
    group, keys = 0, [()]
    if columns.keys:
        made = [batch.encoded(name) for name in columns.keys]
        if columns.label is not None and not all(map(_is_label, made[0][1])):
            return None
        group, keys = combined(
            [(codes, [_missing_or(v) for v in values]) for codes, values in made]
        )
    return Rows(p, code, weight, group, len(keys)), keys


def _is_label(value: Any) -> bool:
    if isinstance(value, float):
        return value == np.floor(value) and abs(value) < _LARGEST_LABEL
    return value is not None


def _missing_or(value: Any) -> Any:
    return None if value != value else value  # NaN is not equal to itself


def is_hopeless(total: Total, columns: Columns) -> bool:
    """Whether nothing more need be read: a row is wrong, or labels are none."""
    return total.invalid or (
        columns.label is not None
        and len(total.groups.numbers) > _MOST_GROUPS
        and len({key[0] for key in total.groups.numbers}) > _MOST_GROUPS
    )


def part_of(
    batch: Any, kernel: Kernel, columns: Columns
) -> tuple[Any, list[tuple[Any, ...]]] | None:
    """Sums of a batch and the keys of its groups; None if a label is none."""
    found = read(batch, columns)
    return None if found is None else (kernel.sums(found[0]), found[1])


def total_of(parts: Iterable[Any], kernel: Kernel, columns: Columns) -> Total:
    """Sums of all parts, in their order."""
    total = Total(kernel)
    for part in parts:
        if part is None:
            total.invalid = True
        else:
            total.add(*part)
        if is_hopeless(total, columns):
            break
    return total


def entries_of(total: Total, columns: Columns) -> tuple[list[list[Any]], Any, Any]:
    """Values of the keys in their order, the key of the sum, and the sums of each entry."""
    group, key, sums = total.entries()
    keys = list(total.groups.numbers) or [(None,) * len(columns.keys)]
    values = [[keys[g][i] for g in group.tolist()] for i in range(len(columns.keys))]
    return values, key, sums


def in_arrow(question: Question, columns: Columns) -> Any:
    """Return a function from Arrow batches to one of entries, for `mapInArrow`."""

    def sum_up(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        kernel = Kernel(question, _compiled_here())
        types: dict[str, Any] = {}

        def parts() -> Iterator[Any]:
            for batch in batches:
                types.update((name, batch.schema.field(name).type) for name in columns.keys)
                if batch.num_rows:
                    yield part_of(ArrowBatch(batch), kernel, columns)

        values, key, sums = entries_of(total_of(parts(), kernel, columns), columns)
        if len(key):
            named_values = zip(columns.keys, values, strict=True)
            made = {name: pa.array(each, type=types[name]) for name, each in named_values}
            made[KEY] = pa.array(key)
            made |= {
                named(name): pa.array(row) for name, row in zip(kernel.names, sums, strict=True)
            }
            yield pa.RecordBatch.from_pydict(made)

    return sum_up


def _compiled_here() -> Any:
    """The compiled loops, if this library is installed where this runs."""
    try:
        from veridical.frames._grid.compiled import compiled_loops
    except ImportError:
        return None
    return compiled_loops()


def named(sum_name: str) -> str:
    """Name of the column of a sum."""
    return f"v_{sum_name}"
