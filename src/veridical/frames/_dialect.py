"""How a text table is written: separator, encoding, line ends, and what spreadsheets add."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_HEAD = 1 << 16  # bytes looked at
_RECORDS = 20  # of these
_SEPARATORS = (",", ";", "\t", "|")
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True)
class Dialect:
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


def sniff(path: Path, *, separator: str) -> Dialect:
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
    return Dialect(separator, line_end, skipped, utf_16, quoted)


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
