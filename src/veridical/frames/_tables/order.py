"""The order of categories that the type of a column declares, in frames, queries and files."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from veridical._core.data.arrays import NamedArray
from veridical._core.data.classes import declared_order
from veridical._core.runtime.optional import is_installed, require
from veridical.exceptions import invalid
from veridical.frames._tables.detect import is_lazy, unwrap
from veridical.frames._tables.files import find_files, scan_file
from veridical.frames._tables.open import lazy_frame

if TYPE_CHECKING:
    from pathlib import Path

    from veridical.frames._tables.files import FileKind
    from veridical.frames._tables.table import Table


def labels_of(source: Any, table: Table, name: str, *, caller: str) -> NamedArray:
    """Return a column of labels of a table, with the order that its source declares."""
    values = table.column(name, caller=caller, param="y")
    return NamedArray(values, (name,), order_in(source, name, caller=caller))


def order_in(source: Any, name: str, *, caller: str) -> tuple[Any, ...] | None:
    """Categories of a column in their order, if its type orders them; no row is read.

    Parameters
    ----------
    source : frame, str or path
        As in `open_table`: pandas' ordered categoricals, polars' Enum, ordered dictionaries of
        pyarrow, ENUM of DuckDB, and Parquet and Arrow files of the first three.
    name : str
        The column.
    caller : str
        Who asks: it opens the error message.

    Examples
    --------
    >>> import polars as pl
    >>> grade = pl.Series("grade", ["lo", "hi"], dtype=pl.Enum(["lo", "mid", "hi"]))
    >>> order_in(pl.LazyFrame([grade]), "grade", caller="evaluate")
    ('lo', 'mid', 'hi')
    """
    if isinstance(source, (str, os.PathLike)):
        return _of_files(source, name, caller)
    frame = unwrap(source)
    if is_lazy(frame):
        import narwhals.stable.v2 as nw

        dtype = lazy_frame(frame, caller=caller, param="source").collect_schema()[name]
        return tuple(dtype.categories) if isinstance(dtype, nw.Enum) else None
    return declared_order(_column(frame, name))


def _column(frame: Any, name: str) -> Any:
    """A column of a frame in memory, whose names may be numbers."""
    names = list(getattr(frame, "column_names", None) or frame.columns)
    return frame[next(one for one in names if str(one) == name)]


def _of_files(source: str | os.PathLike[str], name: str, caller: str) -> tuple[Any, ...] | None:
    paths, kind = find_files(source, caller=caller, param="source")
    if kind in ("CSV", "TSV"):
        return None
    found = {_of_file(path, kind, name) for path in paths}
    if len(found) > 1:
        hint = "write the files with the same categories in the same order."
        got = f"different categories in column {name!r}"
        raise invalid(caller, "source", "files that agree on the order of labels", got, hint=hint)
    return found.pop()


def _of_file(path: Path, kind: FileKind, name: str) -> tuple[Any, ...] | None:
    import polars as pl

    dtype = scan_file(path, kind).collect_schema()[name]
    if isinstance(dtype, pl.Enum):
        return tuple(dtype.categories.to_list())
    if not isinstance(dtype, pl.Categorical):
        return None
    return _of_parquet(path, name) if kind == "Parquet" else _of_arrow(path, name)


def _of_parquet(path: Path, name: str) -> tuple[Any, ...] | None:
    """Polars forgets the order of categories that are no Enum; pyarrow keeps it."""
    import polars as pl

    said = json.loads(pl.read_parquet_metadata(path).get("pandas", "{}")).get("columns", [])
    known = next((one for one in said if one.get("field_name") == name), None)
    ordered = None if known is None else bool((known.get("metadata") or {}).get("ordered"))
    if ordered is False or (ordered is None and not is_installed("pyarrow")):
        return None  # by polars, which orders an Enum only
    require("pyarrow", extra=None, purpose="reading the order of categories that pandas wrote")
    import pyarrow.parquet as pq

    file = pq.ParquetFile(path)
    if not getattr(file.schema_arrow.field(name).type, "ordered", False):
        return None
    return declared_order(file.read_row_group(0, columns=[name])[name])


def _of_arrow(path: Path, name: str) -> tuple[Any, ...] | None:
    if not is_installed("pyarrow"):
        return None  # who wrote an ordered dictionary has it
    import pyarrow as pa

    with path.open("rb") as stream:
        is_file = stream.read(6) == b"ARROW1"
    opened = pa.ipc.open_file(str(path)) if is_file else pa.ipc.open_stream(str(path))
    if not getattr(opened.schema.field(name).type, "ordered", False):
        return None
    batch = opened.get_batch(0) if is_file else opened.read_next_batch()
    return declared_order(batch.column(name))
