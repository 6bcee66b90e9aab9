"""A few thousand rows of a frame or file, from its beginning and spread over it."""

from __future__ import annotations

import csv
import io
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from veridical.frames._tables.csv import narrow, scan_text, sniff
from veridical.frames._tables.detect import is_lazy
from veridical.frames._tables.files import check_columns, find_files, readable, scan_file
from veridical.frames._tables.open import eager_frame, lazy_frame

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import narwhals.stable.v2 as nw
    import polars as pl

    from veridical._core.typing import IntArray
    from veridical.frames._tables.files import FileKind

_ROWS = 10_000
_FEWEST_ROWS = 500
_CELLS = 4_000_000  # of a table with very many columns fewer rows are looked at
_FILES = 4  # of many
_PIECES, _PIECE = 16, 1 << 16  # of a long text file, and bytes of each
_SEPARATORS: dict[FileKind, str] = {"CSV": ",", "TSV": "\t"}


@dataclass(frozen=True)
class Peek:
    """Rows looked at.

    Attributes
    ----------
    frame : the rows, with every column
    whole : whether these are all rows there are
    """

    frame: nw.DataFrame[Any]
    whole: bool


def peek(source: Any, *, caller: str, param: str = "source") -> Peek:
    """Return at most 10,000 rows: half from the beginning, half spread over all.

    Parameters
    ----------
    source : frame, str or path
        As in `open_table`. Of a query only the first rows are asked for.
    caller, param : str
        Who asks, and for which argument: they open the error message.

    Returns
    -------
    Peek

    Examples
    --------
    >>> import polars as pl
    >>> rows = peek(pl.DataFrame({"y": [0, 1] * 10_000}), caller="evaluate")
    >>> len(rows.frame) <= 10_000, rows.whole
    (True, False)
    """
    import narwhals.stable.v2 as nw

    if isinstance(source, (str, os.PathLike)):
        frame, whole = _of_files(source, caller=caller, param=param)
        return Peek(nw.from_native(frame, eager_only=True), whole)
    if is_lazy(source):
        query = lazy_frame(source, caller=caller, param=param)
        n_rows = _rows(len(query.collect_schema().names()))
        first = query.head(n_rows).collect()
        return Peek(first, whole=len(first) < n_rows)
    table = eager_frame(source, caller=caller, param=param)
    n_rows = _rows(len(table.columns))
    if len(table) <= n_rows:
        return Peek(table, whole=True)
    return Peek(table[_spread(len(table), n_rows)], whole=False)


def _rows(n_columns: int) -> int:
    return max(_FEWEST_ROWS, min(_ROWS, _CELLS // max(1, n_columns)))


def _spread(n: int, wanted: int) -> IntArray:
    """Numbers of the first rows and of others at equal distances."""
    rest = np.linspace(wanted // 2, n - 1, wanted - wanted // 2).astype(np.int64)
    return np.unique(np.concatenate([np.arange(wanted // 2), rest]))


def _of_files(
    source: str | os.PathLike[str], *, caller: str, param: str
) -> tuple[pl.DataFrame, bool]:
    import polars as pl

    paths, kind = find_files(source, caller=caller, param=param)
    chosen = [paths[i] for i in np.unique(np.linspace(0, len(paths) - 1, _FILES).astype(int))]
    names = check_columns(chosen, kind, None, caller=caller, param=param)
    n_rows = max(_FEWEST_ROWS, _rows(len(names)) // len(chosen))
    frames, whole = [], len(chosen) == len(paths)
    for path in chosen:
        with readable(path, kind, caller=caller, param=param):
            part, complete = (
                _of_text(path, _SEPARATORS[kind], names, n_rows)
                if kind in _SEPARATORS
                else _of_table(path, kind, names, n_rows)
            )
        frames.append(part)
        whole = whole and complete
    frame = pl.concat(frames, how="vertical_relaxed")
    if kind in _SEPARATORS:
        commas = all(sniff(path, separator=_SEPARATORS[kind]).separator != "," for path in chosen)
        frame = narrow(frame, decimal_commas=commas)
    return frame, whole


def _of_table(
    path: Path, kind: FileKind, names: Sequence[str], n_rows: int
) -> tuple[pl.DataFrame, bool]:
    """The first rows of a Parquet or Arrow file, and slices of the rest."""
    import polars as pl

    scan = scan_file(path, kind).select(names)
    n = int(scan.select(pl.len()).collect().item())
    if n <= n_rows:
        return scan.collect(), True
    half, each = n_rows // 2, max(1, n_rows // (2 * _PIECES))
    starts = np.linspace(half, n - each, _PIECES).astype(int).tolist()
    parts = [scan.head(half), *(scan.slice(start, each) for start in starts)]
    return pl.concat(pl.collect_all(parts)), False


def _of_text(
    path: Path, separator: str, names: Sequence[str], n_rows: int
) -> tuple[pl.DataFrame, bool]:
    """The first rows of a text file, and pieces of the rest found by their place in bytes."""
    import polars as pl

    scan = scan_text(path, separator=separator)
    first = scan.head(n_rows).collect()
    if len(first) < n_rows:
        return first.select(names), True
    rows = _pieces(path, separator, len(first.columns), n_rows)
    rest = pl.DataFrame(rows, schema=first.schema, orient="row")
    return pl.concat([first.head(n_rows // 2), rest]).select(names), False


def _pieces(path: Path, separator: str, n_columns: int, n_rows: int) -> list[list[str]]:
    """Whole lines of pieces of a file; packed files and UTF-16 have none that can be found."""
    dialect = sniff(path, separator=separator)
    if path.suffix.lower() == ".gz" or dialect.utf_16:
        return []
    size, most = path.stat().st_size, max(1, n_rows // (2 * _PIECES))
    rows: list[list[str]] = []
    with path.open("rb") as stream:
        for start in np.linspace(0, max(0, size - _PIECE), _PIECES).astype(int).tolist():
            stream.seek(start)
            text = stream.read(_PIECE).decode("utf-8", errors="replace")
            lines = text.split(dialect.line_end)[1:-1]  # the first and the last may be cut
            reader = csv.reader(io.StringIO("\n".join(lines)), delimiter=dialect.separator)
            rows += [row for row in reader if len(row) == n_columns][:most]
    return rows
