"""Frames and files as queries: nothing is read until a small table is asked for."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from veridical._core.optional import require
from veridical.frames._csv import SNIFFED_ROWS, narrow, scan_text
from veridical.frames._open import lazy_frame
from veridical.frames._paths import find_files
from veridical.frames._read import check_columns, read_files, scan_file
from veridical.frames._table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import narwhals.stable.v2 as nw
    import polars as pl

    from veridical.frames._paths import FileKind

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
        scan_text(path, separator=separator, types=types).select(columns) for path in paths
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
    from narwhals.stable.v2 import Implementation

    if query.implementation is Implementation.POLARS:
        return Table(query.collect("polars", engine="streaming"))
    engine = query.implementation
    if engine.is_duckdb() or engine.is_ibis() or engine.is_spark_like():
        extra = "duckdb" if engine.is_duckdb() else None
        require("pyarrow", extra=extra, purpose=f"reading what {engine.value} returns")
    return Table(query.collect())
