"""CSV: how a text table is written, and the narrowest type that holds all cells of a column."""

from __future__ import annotations

import csv
import glob
import gzip
import io
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    import polars as pl


_HEAD = 1 << 16  # bytes looked at
_RECORDS = 20  # of these
_MOST_UNPACKED = 1 << 24  # bytes of a packed file whose end is looked at, too
_SEPARATORS = (",", ";", "\t", "|")
_MISSING = ["na", "n/a", "#n/a", "nan", "null", "none"]  # what is written for a missing number
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True)
class CsvDialect:
    """What a reader must be told.

    Attributes
    ----------
    separator : between cells
    line_end : one character
    skipped : lines before the header: spreadsheets write ``sep=;`` there
    utf_16 : whether the text is UTF-16 with a byte-order mark, else it is UTF-8
    quoted_names : names that hold quotes, by how they are written, with each quote doubled
    """

    separator: str
    line_end: str
    skipped: int
    utf_16: bool
    quoted_names: dict[str, str]


def sniff(path: Path, *, separator: str) -> CsvDialect:
    """Look at the first lines; `separator` is taken unless they contradict it.

    Raises OSError for what is no text.
    """
    head = read_bytes(path, _HEAD)
    utf_16 = head.startswith(_UTF_16)
    if b"\x00" in head.split(b"\n", 1)[0] and not utf_16:
        msg = "zero bytes in the header, as in UTF-16 without a byte-order mark; not UTF-8"
        raise OSError(msg)
    text = head.decode("utf-16" if utf_16 else "utf-8-sig", errors="replace")
    line_end = "\r" if "\r" in text and "\n" not in text else "\n"
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    skipped = 0
    if lines[:4].lower() == "sep=" and lines[5:6] == "\n":
        separator, skipped, lines = lines[4], 1, lines[6:]
    else:
        separator = _separator(lines, separator, whole=len(head) < _HEAD)
    header = next(iter(_records(lines, separator)), [])
    quoted = {name.replace('"', '""'): name for name in header if '"' in name}
    return CsvDialect(separator, line_end, skipped, utf_16, quoted)


def read_bytes(path: Path, count: int = -1) -> bytes:
    """Return the first bytes of a file, or all of them, unpacked."""
    if path.suffix.lower() != ".gz":
        with path.open("rb") as stream:
            return stream.read(count)
    try:
        with gzip.open(path) as unpacked:
            return unpacked.read(count)
    except (EOFError, zlib.error) as error:
        msg = "the compressed file is cut short or damaged"
        raise OSError(msg) from error


def as_utf_8(path: Path) -> io.BytesIO:
    """Return UTF-16 text in memory as UTF-8."""
    try:
        return io.BytesIO(read_bytes(path).decode("utf-16").encode())
    except UnicodeDecodeError as error:
        msg = "the text is UTF-16 that is cut short or damaged, and not UTF-8"
        raise OSError(msg) from error


def _separator(lines: str, default: str, *, whole: bool) -> str:
    """The usual separator, unless it is not in the header, or only another one fits every row."""
    found = {}
    for separator in (default, *_SEPARATORS):
        records = _records(lines, separator)
        if not whole and len(records) < _RECORDS:
            records = records[:1] + records[1:-1]  # the last one may be cut
        widths = [len(record) for record in records if record]
        if widths and widths[0] > 1:
            found[separator] = len(set(widths)) == 1
    fitting = [separator for separator, fits in found.items() if fits]
    if found.get(default) or not fitting:
        return default
    return fitting[0]


def _records(lines: str, separator: str) -> list[list[str]]:
    reader = csv.reader(io.StringIO(lines), delimiter=separator)
    records = []
    try:
        for record in reader:
            records.append(record)
            if len(records) == _RECORDS:
                break
    except csv.Error:  # no CSV in this reading
        pass
    return records


# Types are first taken from so many rows of each file. If a later cell contradicts them, the files
# are read once more as text; scanning whole files for types first would cost 5 to 10 times more.
SNIFFED_ROWS = 10_000


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

    commas = all(sniff(path, separator=separator).separator != "," for path in paths)
    first = pl.concat([text(path, SNIFFED_ROWS) for path in paths])
    types = dict(narrow(first, decimal_commas=commas).schema)
    with_comma = [name for name in types if _has_decimal_comma(first[name], types[name])]
    try:
        frame = pl.concat(
            scan_text(
                path, separator=separator, types=types | dict.fromkeys(with_comma, pl.String())
            )
            .select(columns)
            .collect()
            for path in paths
        )
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        # A cell below the sniffed rows is of another type; any other trouble will show again.
        return narrow(pl.concat([text(path) for path in paths]), decimal_commas=commas)
    narrowed = [_narrow_column(frame[name], decimal_commas=commas) for name in with_comma]
    return frame.with_columns(narrowed).with_columns(blank_as_missing())


def scan_text(
    path: Path, *, separator: str, types: Mapping[str, pl.DataType] | None = None
) -> pl.LazyFrame:
    """Scan a CSV file whose columns are text, except those in `types`.

    `separator` is the usual one; what the first lines say goes before it.
    """
    import polars as pl

    dialect = sniff(path, separator=separator)
    written = {name: doubled for doubled, name in dialect.quoted_names.items()}
    options: dict[str, Any] = {
        "separator": dialect.separator,
        "eol_char": dialect.line_end,
        "skip_rows": dialect.skipped,
        "infer_schema": False,
        "schema_overrides": {written.get(n, n): t for n, t in (types or {}).items()},
    }
    if dialect.utf_16:
        scan = pl.read_csv(as_utf_8(path), **options).lazy()
    else:
        scan = pl.scan_csv(glob.escape(str(path)), **options)
    if _ends_blank(path, dialect) and len(scan.collect_schema()) > 1:
        scan = scan.filter(~pl.all_horizontal(pl.all().is_null()))
    return _with_names(scan, dialect)


def _ends_blank(path: Path, dialect: CsvDialect) -> bool:
    """Whether the last lines of a file have nothing but separators; they are no rows."""
    size = path.stat().st_size
    packed = path.suffix.lower() == ".gz"
    if packed and size > _MOST_UNPACKED:
        return False
    if packed or dialect.utf_16:
        end = as_utf_8(path).getvalue() if dialect.utf_16 else read_bytes(path)
    else:
        with path.open("rb") as stream:
            stream.seek(max(0, size - _HEAD))
            end = stream.read()
    end = end.replace(b"\r\n", b"\n").removesuffix(dialect.line_end.encode())
    last = end.rpartition(dialect.line_end.encode())[2]
    return not last.strip(b" \r" + dialect.separator.encode())


def blank_as_missing() -> pl.Expr:
    """Columns of text whose blank cells, quoted or not, are missing."""
    import polars as pl

    text = pl.col(pl.String)
    return pl.when(text.str.strip_chars() != "").then(text)


def _has_decimal_comma(text: pl.Series, dtype: pl.DataType) -> bool:
    """Whether a column that was narrowed to numbers writes them with a comma."""
    return dtype.is_float() and bool(text.str.contains(",", literal=True).any())


def _with_names(scan: pl.LazyFrame, dialect: CsvDialect) -> pl.LazyFrame:
    """Polars leaves doubled quotes in names as they are written."""
    if not dialect.quoted_names:
        return scan
    present = scan.collect_schema().names()
    return scan.rename({old: new for old, new in dialect.quoted_names.items() if old in present})


def narrow(text: pl.DataFrame, *, decimal_commas: bool) -> pl.DataFrame:
    """Columns of numbers and booleans where all cells are such, see `_narrow_column`."""
    plain = _plain_fractions(text) if text.width > text.height else {}
    return text.with_columns(
        plain[column.name]
        if column.name in plain
        else _narrow_column(column, decimal_commas=decimal_commas)
        for column in text.iter_columns()
    )


def _plain_fractions(text: pl.DataFrame) -> dict[str, pl.Series]:
    """Columns of numbers that are not all whole, none missing; thousands take no time at once."""
    import polars as pl

    cells = text.select(pl.all().str.strip_chars())
    numbers = cells.select(pl.all().cast(pl.Float64, strict=False))
    missing = numbers.null_count().row(0)
    whole = cells.select(pl.all().cast(pl.Int64, strict=False).is_not_null().all()).row(0)
    marked = cells.select(pl.all().str.to_lowercase().is_in(_MISSING).any()).row(0)
    flags = zip(numbers.iter_columns(), missing, whole, marked, strict=True)
    return {column.name: column for column, *doubts in flags if not any(doubts)}


def _narrow_column(text: pl.Series, *, decimal_commas: bool) -> pl.Series:
    """Integers, else floats, else booleans, if every cell that is not blank is one; else text.

    Codes such as 007 beside 7 are texts: as numbers they would be one.

    Among numbers NA, null and the like are missing values; among texts they are texts.

    In a file whose cells a comma separates, "1,234" may be a thousand and more; where one cell is
    like "0,5", commas are decimal.
    """
    import polars as pl

    bare = text.str.strip_chars()
    text = text.set(bare == "", None)
    bare = bare.set(bare == "", None)
    marked = bare.str.to_lowercase().is_in(_MISSING)
    if marked.any() and not marked.all():
        numbers = _narrow_column(bare.set(marked, None), decimal_commas=decimal_commas)
        return numbers if numbers.dtype.is_numeric() else text
    for dtype in (pl.Int64, pl.Float64):
        numbers = bare.cast(dtype, strict=False)
        if numbers.null_count() == bare.null_count():
            zeros = dtype == pl.Int64 and bool(bare.str.contains(r"^[-+]?0\d").any())
            return text if zeros and numbers.n_unique() < bare.n_unique() else numbers
    if decimal_commas or bool(bare.str.contains(r"^[-+]?0?,\d").any()):
        numbers = bare.str.replace(r"^([-+]?\d*),(\d+(?:[eE][-+]?\d+)?)$", "$1.$2")
        numbers = numbers.cast(pl.Float64, strict=False)
        if numbers.null_count() == bare.null_count():
            return numbers
    lower = bare.str.to_lowercase()
    if lower.is_in(["true", "false"]).all():
        return lower == "true"
    return text
