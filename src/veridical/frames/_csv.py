"""CSV: the type of a column is the narrowest that holds all of its cells."""

from __future__ import annotations

import glob
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    import polars as pl

# Types are first taken from so many rows of each file. If a later cell contradicts them, the files
# are read once more as text; scanning whole files for types first would cost 5 to 10 times more.
_SNIFFED_ROWS = 10_000


def read_csv(
    paths: Sequence[Path],
    columns: Sequence[str],
    *,
    separator: str,
    guard: Callable[[Path], AbstractContextManager[None]],
) -> pl.DataFrame:
    """Return the wanted columns of all files; `guard` turns a file's errors into messages."""
    import polars as pl

    def text(path: Path, rows: int | None = None) -> pl.DataFrame:
        with guard(path):
            scan = scan_text(path, separator=separator).select(columns)
            return (scan if rows is None else scan.head(rows)).collect()

    types = _narrow(pl.concat([text(path, _SNIFFED_ROWS) for path in paths])).schema
    try:
        return pl.concat(
            scan_text(path, separator=separator, types=types).select(columns).collect()
            for path in paths
        )
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        # A cell below the sniffed rows is of another type; any other trouble will show again.
        return _narrow(pl.concat([text(path) for path in paths]))


def scan_text(
    path: Path, *, separator: str, types: Mapping[str, pl.DataType] | None = None
) -> pl.LazyFrame:
    """Scan a CSV file whose columns are text, except those in `types`."""
    import polars as pl

    return pl.scan_csv(
        glob.escape(str(path)), separator=separator, infer_schema=False, schema_overrides=types
    )


def check_encoding(path: Path) -> None:
    """Raise OSError for UTF-16, which would otherwise be read as one odd column."""
    with path.open("rb") as stream:
        if stream.read(2) in (b"\xff\xfe", b"\xfe\xff"):
            msg = "the text is UTF-16, not UTF-8"
            raise OSError(msg)


def _narrow(text: pl.DataFrame) -> pl.DataFrame:
    return text.with_columns(_narrow_column(column) for column in text.iter_columns())


def _narrow_column(text: pl.Series) -> pl.Series:
    """Integers, else floats, else booleans, if every cell that is not blank is one; else text."""
    import polars as pl

    bare = text.str.strip_chars()
    bare = bare.set(bare == "", None)
    for dtype in (pl.Int64, pl.Float64):
        numbers = bare.cast(dtype, strict=False)
        if numbers.null_count() == bare.null_count():
            return numbers
    lower = bare.str.to_lowercase()
    if lower.is_in(["true", "false"]).all():
        return lower == "true"
    return text
