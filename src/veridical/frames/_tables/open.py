"""Frames and files as tables, or as queries that read nothing until a small table is asked for."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from veridical._core.runtime.optional import require
from veridical.exceptions import InvalidInputError, invalid
from veridical.frames._tables.columns import missing_column
from veridical.frames._tables.csv import SNIFFED_ROWS, blank_as_missing, narrow, scan_text
from veridical.frames._tables.detect import is_frame, is_lazy, unwrap
from veridical.frames._tables.engines import engine_of
from veridical.frames._tables.files import (
    check_columns,
    find_files,
    read_files,
    read_names,
    scan_file,
)
from veridical.frames._tables.table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import narwhals.stable.v2 as nw
    import polars as pl

    from veridical.frames._tables.files import FileKind


def open_table(
    source: Any, *, columns: Sequence[str] | None = None, caller: str, param: str = "source"
) -> Table:
    """Open a frame or a file, with only the columns that are wanted.

    Parameters
    ----------
    source : frame, str or path
        A pandas, polars or pyarrow table; a query of polars, DuckDB, Spark, Dask or Ibis, which
        is run; or a file: CSV (.csv, .tsv, also .gz), JSON Lines (.jsonl, .ndjson), Parquet
        (.parquet, .pq) or Arrow (.arrow, .feather, .ipc). A glob such as ``"part-*.parquet"``
        opens several files, in sorted order, as one table.
    columns : sequence of str, optional
        Read only these, in this order; default all. Names, not globs: see `expand_columns`.
    caller, param : str
        Who asks, and for which argument: they open the error message.

    Returns
    -------
    Table
        Nothing is copied from a frame.

    Notes
    -----
    A CSV column is of integers, floats or booleans if all of its cells are, wherever in the files
    they stand; else it is text. A blank cell is a missing value.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"label": [0, 1], "p": [0.2, 0.9], "note": ["", ""]})
    >>> open_table(frame, columns=["label", "p"], caller="evaluate").columns
    ['label', 'p']
    """
    import narwhals.stable.v2 as nw

    if isinstance(source, (str, os.PathLike)):
        paths, kind = find_files(source, caller=caller, param=param)
        frame = read_files(paths, kind, columns, caller=caller, param=param)
        return Table(nw.from_native(frame, eager_only=True))
    return Table(eager_frame(source, columns, caller=caller, param=param))


def column_names(source: Any, *, caller: str, param: str = "source") -> list[str]:
    """Names of the columns of a frame or a file, without reading the rows or running a query.

    Parameters
    ----------
    source : frame, str or path
        As in `open_table`; of several files the first is asked.
    caller, param : str
        Who asks, and for which argument: they open the error message.

    Returns
    -------
    list of str
        In order.

    Examples
    --------
    >>> import polars as pl
    >>> column_names(pl.LazyFrame({"label": [0, 1], "p": [0.2, 0.9]}), caller="evaluate")
    ['label', 'p']
    """
    if isinstance(source, (str, os.PathLike)):
        paths, kind = find_files(source, caller=caller, param=param)
        return read_names(paths[0], kind, caller=caller, param=param)
    source = _check_frame(source, caller=caller, param=param)
    if is_lazy(source):
        return lazy_frame(source, caller=caller, param=param).collect_schema().names()
    return eager_frame(source, None, caller=caller, param=param).columns


def eager_frame(
    source: Any, columns: Sequence[str] | None = None, *, caller: str, param: str
) -> nw.DataFrame[Any]:
    """Return a frame in memory, with names of columns that are text; a query is run."""
    import narwhals.stable.v2 as nw

    source = _check_frame(source, caller=caller, param=param)
    if is_lazy(source):
        query = lazy_frame(source, caller=caller, param=param)
        if columns is not None:
            _check_present(columns, query.collect_schema().names(), caller=caller)
            query = query.select(list(dict.fromkeys(columns)))
        return query.collect()
    try:
        frame = nw.from_native(source, eager_only=True)
    except nw.exceptions.DuplicateError as error:
        raise _repeated(caller, param) from error
    frame = _with_text_names(frame, caller=caller, param=param)
    if columns is None:
        return frame
    _check_present(columns, frame.columns, caller=caller)
    return frame.select(list(dict.fromkeys(columns)))


def lazy_frame(source: Any, *, caller: str, param: str) -> nw.LazyFrame[Any]:
    """Return a frame as a query; rows already in memory stay where they are."""
    import narwhals.stable.v2 as nw

    source = _check_frame(source, caller=caller, param=param)
    if not is_lazy(source):
        return eager_frame(source, None, caller=caller, param=param).lazy()
    try:
        return nw.from_native(source)
    except nw.exceptions.DuplicateError as error:
        raise _repeated(caller, param) from error


def _check_frame(source: object, *, caller: str, param: str) -> Any:
    """Return the frame itself, not what wraps it."""
    if not is_frame(source):
        hint = "pass a pandas, polars or pyarrow table, or the path of a CSV or Parquet file."
        expected, got = "a frame or a path", f"an object of type {type(source).__name__}"
        raise invalid(caller, param, expected, got, hint=hint)
    return unwrap(source)


def _check_present(columns: Sequence[str], names: Sequence[str], *, caller: str) -> None:
    for name in columns:
        if name not in names:
            raise missing_column(name, names, caller=caller, param="columns")


def _with_text_names(frame: nw.DataFrame[Any], *, caller: str, param: str) -> nw.DataFrame[Any]:
    """Pandas columns may be numbered; here every name is text."""
    names = frame.columns
    if all(isinstance(name, str) for name in names):
        return frame
    if len({str(name) for name in names}) < len(names):
        raise _repeated(caller, param)
    return frame.rename({name: str(name) for name in names})


def _repeated(caller: str, param: str) -> InvalidInputError:
    hint = "rename the columns so that each name occurs once."
    return invalid(caller, param, "a frame with distinct column names", "repeated names", hint=hint)


_SEPARATORS: dict[FileKind, str] = {"CSV": ",", "TSV": "\t"}


def open_lazy(
    source: Any, *, columns: Sequence[str] | None = None, caller: str, param: str = "source"
) -> nw.LazyFrame[Any]:
    r"""Open a frame or a file as a query that its engine runs.

    Parameters
    ----------
    source : frame, str or path
        As in `open_table`. A file is scanned by polars, in streams.
    columns : sequence of str, optional
        Scan only these columns of a file; default all. Of a frame the engine finds out itself.
    caller, param : str
        Who asks, and for which argument: they open the error message.

    Returns
    -------
    narwhals LazyFrame
        Nothing has been read, except the first rows of a CSV file for the types of its columns.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "predictions.csv"
    ...     _ = path.write_text("y,p\n0,0.25\n1,0.5\n")
    ...     open_lazy(path, caller="evaluate").collect_schema().names()
    ['y', 'p']
    """
    import narwhals.stable.v2 as nw

    if not isinstance(source, (str, os.PathLike)):
        return lazy_frame(source, caller=caller, param=param)
    paths, kind = find_files(source, caller=caller, param=param)
    wanted = check_columns(paths, kind, columns, caller=caller, param=param)
    return nw.from_native(_scan(paths, kind, wanted))


def _scan(paths: Sequence[Path], kind: FileKind, columns: Sequence[str]) -> pl.LazyFrame:
    import polars as pl

    if kind not in _SEPARATORS:
        parts = [scan_file(path, kind).select(columns) for path in paths]
        return parts[0] if len(parts) == 1 else pl.concat(parts, how="vertical_relaxed")
    separator = _SEPARATORS[kind]
    text = [scan_text(path, separator=separator).select(columns) for path in paths]
    first = pl.concat([part.head(SNIFFED_ROWS).collect() for part in text])
    # Decimal commas cannot be streamed: that scan fails, and the file is read whole.
    types = narrow(first, decimal_commas=False).schema
    return pl.concat(
        scan_text(path, separator=separator, types=types)
        .select(columns)
        .with_columns(blank_as_missing())
        for path in paths
    )


def read_lazy(
    source: str | os.PathLike[str], *, columns: Sequence[str], caller: str, param: str = "source"
) -> nw.LazyFrame[Any]:
    """Read a file whole: for a CSV with a cell far down that is not of its column's type."""
    import narwhals.stable.v2 as nw

    paths, kind = find_files(source, caller=caller, param=param)
    return nw.from_native(read_files(paths, kind, columns, caller=caller, param=param).lazy())


def run(query: nw.LazyFrame[Any]) -> Table:
    """Run a query whose answer is small, streamed if polars runs it."""
    engine = engine_of(query)
    if engine.streams:
        return Table(query.collect("polars", engine="streaming"))
    if engine.arrow:
        require("pyarrow", extra=engine.extra, purpose=f"reading what {engine.name} returns")
    return Table(query.collect())
