"""The file of a store: opened, looked at without writing to it, and its errors in words."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from veridical.exceptions import VeridicalError
from veridical.monitoring._store.tables import MARK, check_ours

_PATIENCE = 60.0  # seconds to wait for another process that writes


def connect(address: str, *, uri: bool = False) -> sqlite3.Connection:
    return sqlite3.connect(
        address, timeout=_PATIENCE, isolation_level=None, check_same_thread=False, uri=uri
    )


def _header(path: str) -> bytes:
    with Path(path).open("rb") as stream:
        return stream.read(100)


def is_marked(path: str) -> bool:
    """Whether the file says that it is a monitor's, read without SQLite."""
    return _header(path)[68:72] == MARK.to_bytes(4, "big")  # SQLite's file format, section 1.3


def look(path: str, copy: sqlite3.Connection | None = None) -> None:
    """Raise unless the file is a monitor's, and copy it if asked to; nothing is written to it.

    What a process that was killed left in a journal is applied to a copy of the file.
    """
    try:
        _look_in_place(path, copy)
    except sqlite3.OperationalError as error:
        if _code(error) != sqlite3.SQLITE_READONLY:
            raise
        with tempfile.TemporaryDirectory() as folder:
            for ending in ("", "-wal", "-journal"):
                with suppress(FileNotFoundError):
                    shutil.copyfile(path + ending, Path(folder, "store" + ending))
            with closing(connect(str(Path(folder, "store")))) as source:
                _take(source, path, copy)


def _look_in_place(path: str, copy: sqlite3.Connection | None) -> None:
    """Reading a file that keeps a log makes one, if there is none.

    Without one nobody is at the file, which is read as if it could not change; and again, if
    somebody came meanwhile.
    """
    address, log = Path(path).absolute().as_uri(), Path(f"{path}-wal")
    alone = _header(path)[18:19] == b"\x02" and not log.exists()
    how = "immutable=1" if alone else "mode=ro"
    with closing(connect(f"{address}?{how}", uri=True)) as source:
        _take(source, path, copy)
    if alone and log.exists():
        _look_in_place(path, copy)


def _take(source: sqlite3.Connection, path: str, copy: sqlite3.Connection | None) -> None:
    check_ours(source, path)
    if copy is not None:
        source.backup(copy)


def _code(error: sqlite3.OperationalError) -> int:
    """Kind of an error."""
    return int(getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)) & 0xFF


_WHERE = "check that the file is in a folder that exists and can be written to."
_WRITING = "another process is writing; try again."
_FULL = "free some space and send the batch again; the store is as it was before."
_HINTS = {
    sqlite3.SQLITE_BUSY: _WRITING,
    sqlite3.SQLITE_LOCKED: _WRITING,
    sqlite3.SQLITE_FULL: _FULL,
    sqlite3.SQLITE_IOERR: _FULL,
    sqlite3.SQLITE_READONLY: "the file cannot be written to; change its permissions or copy it"
    " elsewhere.",
}


@contextmanager
def explained(path: str) -> Iterator[None]:
    """Errors of the database in the library's words."""
    try:
        yield
    except sqlite3.OperationalError as error:
        hint = _HINTS.get(_code(error), _WHERE)
        msg = f"CalibrationMonitor: the store {path!r} could not be used: {error}.\nHint: {hint}"
        raise VeridicalError(msg) from error
    except sqlite3.DatabaseError as error:
        msg = (
            f"CalibrationMonitor: {path!r} is not a monitor's store: {error}."
            "\nHint: name another file; nothing was written to this one."
        )
        raise VeridicalError(msg) from error
