"""Frames and files as tables."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from veridical.exceptions import InvalidInputError, invalid
from veridical.frames._detect import is_frame, is_lazy, unwrap
from veridical.frames._names import missing_column
from veridical.frames._paths import find_files
from veridical.frames._read import read_files, read_names
from veridical.frames._table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    import narwhals.stable.v2 as nw


def open_table(
    source: Any, *, columns: Sequence[str] | None = None, caller: str, param: str = "source"
) -> Table:
    """Open a frame or a file, with only the columns that are wanted.

    Parameters
    ----------
    source : frame, str or path
        A pandas, polars or pyarrow table; a query of polars, DuckDB, Spark, Dask or Ibis, which
        is run; or a file: CSV (.csv, .tsv, also .gz), Parquet (.parquet, .pq) or Arrow (.arrow,
        .feather, .ipc). A glob such as ``"part-*.parquet"`` opens several files, in sorted order,
        as one table.
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
    return Table(_from_frame(source, columns, caller=caller, param=param))


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
    return _from_frame(source, None, caller=caller, param=param).columns


def _from_frame(
    source: Any, columns: Sequence[str] | None, *, caller: str, param: str
) -> nw.DataFrame[Any]:
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
        return _from_frame(source, None, caller=caller, param=param).lazy()
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
