"""Files of the chosen folder, uploads, and how much of either a studio takes."""

from __future__ import annotations

import gzip
import os
import re
import secrets
import zlib
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from veridical.exceptions import VeridicalError, invalid
from veridical.frames.files import ENDINGS, count_rows
from veridical.studio._data.answers import Refused

_UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9}


@dataclass(frozen=True)
class Settings:
    """Limits of one studio.

    Attributes
    ----------
    folder : files are read from here and below, and from nowhere else
    workspace : private folder for uploads and downloads; deleted when the studio ends
    port : of the server on this machine
    max_upload : largest upload in bytes
    token : what the browser must show; new at every start
    """

    folder: Path
    workspace: Path
    port: int
    max_upload: int = 500 * 10**6
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))

    @property
    def cookie(self) -> str:
        """Name of the cookie: browsers keep those of all ports of a machine together."""
        return f"veridical_studio_{self.port}"

    @property
    def address(self) -> str:
        """Where the browser is to go first."""
        return f"http://127.0.0.1:{self.port}/?token={self.token}"


def parse_size(text: str) -> int:
    """Read a number of bytes such as "500MB".

    Examples
    --------
    >>> parse_size("500MB"), parse_size("1.5 gb"), parse_size("2000")
    (500000000, 1500000000, 2000)
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMG]?B)?", text.strip().upper())
    size = 0 if found is None else round(float(found[1]) * _UNITS[found[2] or "B"])
    if size <= 0:
        hint = "write for instance 500MB or 2GB."
        raise invalid("studio", "max_upload", "a size", repr(text), hint=hint)
    return size


def shown_size(n_bytes: int) -> str:
    """Bytes for people.

    Examples
    --------
    >>> shown_size(500_000_000), shown_size(1_500), shown_size(12)
    ('500 MB', '1.5 kB', '12 bytes')
    """
    for size, unit in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if n_bytes >= size:
            return f"{n_bytes / size:.3g} {unit}"
    return f"{n_bytes} bytes"


_MOST_FILES, _MOST_FOLDERS = 500, 200
_LONGEST_NAME = 200


def files_in(folder: Path) -> list[dict[str, Any]]:
    """Tables in a folder and the folders below, by name; hidden ones are left out."""
    found: list[dict[str, Any]] = []
    for count, (place, folders, names) in enumerate(os.walk(folder)):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(place, name)
            if name.startswith(".") or ending_of(name) is None or path.is_symlink():
                continue
            below = path.relative_to(folder).as_posix()
            found.append({"name": below, "size": shown_size(path.stat().st_size)})
        if len(found) >= _MOST_FILES or count >= _MOST_FOLDERS:
            break
    return found[:_MOST_FILES]


def file_in(folder: Path, name: str) -> Path:
    """The file of that name; refused if it lies elsewhere once links are followed."""
    root = folder.resolve()
    try:
        path = (root / name).resolve()
        inside = path.is_relative_to(root) and path.is_file()
    except (OSError, ValueError):  # a name too long, or one with a zero in it
        inside = False
    if not inside:
        hint = f"files are read from {root} and its folders only."
        raise Refused(404, f"there is no file {name[:_LONGEST_NAME]!r} in the chosen folder", hint)
    return path


def ending_of(name: str) -> str | None:
    """The ending that says what a file holds, or None."""
    return next((ending for ending in ENDINGS if name.lower().endswith(ending)), None)


async def keep_upload(
    chunks: AsyncIterator[bytes], name: str, declared: str | None, *, target: Path, limit: int
) -> Path:
    """Write an upload into the folder `target`, which is made; refuse what is too large.

    Of the name only letters, digits and the ending are used.
    """
    ending = ending_of(name)
    if ending is None:
        hint = f"upload a file ending in {', '.join(ENDINGS)}."
        raise Refused(415, f"{name[:_LONGEST_NAME]!r} is no table that can be read", hint)
    if declared is not None and declared.isdigit():
        _check_size(int(declared), limit)
    target.mkdir()
    path = target / (safe_stem(name[: -len(ending)]) + ending)
    written = 0
    try:
        with path.open("xb") as stream:
            async for chunk in chunks:
                written += len(chunk)
                _check_size(written, limit)
                stream.write(chunk)
    except BaseException:
        drop(path)
        raise
    return path


_MOST_ROWS = 50_000_000  # held in memory, with their order and sums: some gigabytes


def check_amount(path: Path, limit: int | None = None) -> None:
    """Refuse a table of more rows than fit into memory, or one that unpacks to over `limit` bytes.

    A few megabytes of compressed zeros are gigabytes of rows. What cannot be read is left to
    whoever opens the table.
    """
    kind = ENDINGS[ending_of(path.name) or ".csv"]
    if kind not in ("CSV", "TSV"):
        with suppress(VeridicalError):
            _check_rows(count_rows(path, kind))
        return
    packed = path.name.lower().endswith(".gz")
    if not packed and path.stat().st_size < 2 * _MOST_ROWS:  # of two bytes at least
        return
    size = rows = 0
    try:
        with gzip.open(path) if packed else path.open("rb") as stream:
            while chunk := stream.read(1 << 20):
                size, rows = size + len(chunk), rows + chunk.count(b"\n")
                _check_rows(rows)
                if limit is not None:
                    _check_size(size, limit)
    except (EOFError, OSError, zlib.error):
        return


def _check_rows(rows: int) -> None:
    if rows > _MOST_ROWS:
        hint = "`veridical report FILE` and `veridical evaluate FILE` read files of any size."
        raise Refused(413, f"a table of over {_MOST_ROWS:,} rows is too large for the studio", hint)


def drop(path: Path) -> None:
    """Delete an upload and the folder made for it."""
    path.unlink(missing_ok=True)
    path.parent.rmdir()


def safe_stem(name: str) -> str:
    """Letters that every system takes in a file name.

    Examples
    --------
    >>> safe_stem("../a b<c>"), safe_stem("…")
    ('a-b-c', 'table')
    """
    return re.sub(r"[^A-Za-z0-9_-]+", "-", name)[:60].strip("-") or "table"


def _check_size(size: int, limit: int) -> None:
    if size <= limit:
        return
    hint = (
        "start `veridical studio FILE`, which reads the file where it is, or raise the limit with"
        " --max-upload."
    )
    message = f"an upload of {shown_size(size)} or more is over the limit of {shown_size(limit)}"
    raise Refused(413, message, hint)
