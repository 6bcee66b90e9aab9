"""A store in a SQLite file or in memory: opened, looked at without writing, errors in words."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from veridical.exceptions import VeridicalError
from veridical.monitoring._store.database import Database, Row
from veridical.monitoring._store.tables import SINCE, TABLES, VERSION

MARK = 0x76657269  # "veri": SQLite keeps in the header of a file whose it is
_PATIENCE = 60.0  # seconds to wait for another process that writes


class SqliteDatabase(Database):
    """A SQLite file, or a database in memory.

    Parameters
    ----------
    path : str, path or None
        The file; None keeps everything in memory.
    read_only : bool, default False
        Take a copy into memory: nothing is ever written to the file or beside it.

    Attributes
    ----------
    connection : of the standard library's module
    """

    def __init__(self, path: str | os.PathLike[str] | None, *, read_only: bool = False) -> None:
        super().__init__(":memory:" if path is None else os.fspath(path))
        with self.explained():
            there = path is not None and Path(path).is_file() and Path(path).stat().st_size > 0
            self.connection = _connect(":memory:" if read_only else self.name)
            try:
                if there and read_only:
                    _look(self.name, self.connection)
                elif there and not _is_marked(self.name):
                    _look(self.name)
                self.connection.execute("PRAGMA foreign_keys = ON")
                self.connection.execute("PRAGMA synchronous = FULL")
                _check_ours(self.connection, self.name)
            except BaseException:
                self.connection.close()
                raise

    def _rows(self, query: str, values: tuple[Any, ...]) -> list[Row]:
        return self.connection.execute(query, values).fetchall()

    def run(self, statement: str, *values: Any) -> None:
        """Write something."""
        self.connection.execute(statement, values)

    def run_many(self, statement: str, rows: Iterable[Iterable[Any]]) -> None:
        """Write something once for each row of values."""
        self.connection.executemany(statement, (tuple(row) for row in rows))

    def define(self, statements: str) -> None:
        """Make tables, within the transaction that is open."""
        for statement in filter(str.strip, statements.split(";")):
            self.connection.execute(statement)

    def columns(self) -> dict[str, set[str]]:
        """Names of the columns of every table."""
        return _columns(self.connection)

    @property
    def version(self) -> int:
        """Version of the tables; 0 before there are any."""
        return int(self.value("PRAGMA user_version"))

    def set_version(self, version: int) -> None:
        """Say which version the tables have, and that they are a monitor's."""
        self.connection.execute(f"PRAGMA user_version = {version}")
        self.connection.execute(f"PRAGMA application_id = {MARK}")

    @property
    def is_marked(self) -> bool:
        """Whether the file says that it is a monitor's."""
        return bool(self.value("PRAGMA application_id") == MARK)

    def ready(self) -> None:
        """Write through a log beside the file, which needs one flush a batch.

        While others are at the store it cannot be changed to; the next who opens it will, and
        without it the store is as safe.
        """
        if self.value("PRAGMA journal_mode") == "delete":
            with suppress(sqlite3.OperationalError):
                self.connection.execute("PRAGMA journal_mode = WAL")

    def close(self) -> None:
        """Let go of the file."""
        self.connection.close()

    @property
    def in_transaction(self) -> bool:
        """Whether statements are part of a transaction."""
        return self.connection.in_transaction

    @contextmanager
    def _writing(self) -> Iterator[None]:
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.connection.execute("COMMIT")
        except BaseException:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
            raise

    def _looking(self) -> AbstractContextManager[None]:
        return _one_moment(self.connection)

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turn errors of the database into errors in the library's words."""
        try:
            yield
        except sqlite3.OperationalError as error:
            hint = _HINTS.get(_code(error), _WHERE)
            msg = (
                f"CalibrationMonitor: the store {self.name!r} could not be used: {error}."
                f"\nHint: {hint}"
            )
            raise VeridicalError(msg) from error
        except sqlite3.DatabaseError as error:
            msg = (
                f"CalibrationMonitor: {self.name!r} is not a monitor's store: {error}."
                "\nHint: name another file; nothing was written to this one."
            )
            raise VeridicalError(msg) from error


def _connect(address: str, *, uri: bool = False) -> sqlite3.Connection:
    return sqlite3.connect(
        address, timeout=_PATIENCE, isolation_level=None, check_same_thread=False, uri=uri
    )


@contextmanager
def _one_moment(connection: sqlite3.Connection) -> Iterator[None]:
    """A transaction that reads and sees one moment."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.execute("COMMIT")


def _header(path: str) -> bytes:
    with Path(path).open("rb") as stream:
        return stream.read(100)


def _is_marked(path: str) -> bool:
    """Whether the file says that it is a monitor's, read without SQLite."""
    return _header(path)[68:72] == MARK.to_bytes(4, "big")  # SQLite's file format, section 1.3


def _look(path: str, copy: sqlite3.Connection | None = None) -> None:
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
            with closing(_connect(str(Path(folder, "store")))) as source:
                _take(source, path, copy)


def _look_in_place(path: str, copy: sqlite3.Connection | None) -> None:
    """Reading a file that keeps a log makes one, if there is none.

    Without one nobody is at the file, which is read as if it could not change; and again, if
    somebody came meanwhile.
    """
    address, log = Path(path).absolute().as_uri(), Path(f"{path}-wal")
    alone = _header(path)[18:19] == b"\x02" and not log.exists()
    how = "immutable=1" if alone else "mode=ro"
    with closing(_connect(f"{address}?{how}", uri=True)) as source:
        _take(source, path, copy)
    if alone and log.exists():
        _look_in_place(path, copy)


def _take(source: sqlite3.Connection, path: str, copy: sqlite3.Connection | None) -> None:
    _check_ours(source, path)
    if copy is not None:
        source.backup(copy)


def _check_ours(connection: sqlite3.Connection, path: str) -> None:
    """Raise unless the file is empty or a monitor's; nothing is written to it.

    Stores that were made before files were marked are known by their tables. Everything is read
    at one moment: another process may be making the tables.
    """
    query = "SELECT name FROM sqlite_master WHERE type IN ('trigger', 'view')"
    with _one_moment(connection):
        mark, version = (
            connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("application_id", "user_version")
        )
        tables = _columns(connection)
        code = connection.execute(query).fetchone()  # what a store never has; SQLite would run it
    if mark == MARK and code is not None:
        msg = (
            f"CalibrationMonitor: the store {path!r} was changed: it holds {code[0]!r}, which would"
            " run when it is written to.\nHint: take the file of a backup."
        )
        raise VeridicalError(msg)
    if mark == MARK or (mark == version == 0 and not tables):
        return
    if mark == 0 and 1 <= version <= VERSION:
        wanted = _columns_of(version)
        if all(columns <= tables.get(name, set()) for name, columns in wanted.items()):
            return
    holds = f"it holds {min(tables)!r} of another program" if tables else "another program's, empty"
    msg = (
        f"CalibrationMonitor: {path!r} is not a monitor's store: {holds}."
        "\nHint: name another file; nothing was written to this one."
    )
    raise VeridicalError(msg)


def _columns(connection: sqlite3.Connection) -> dict[str, set[str]]:
    query = (
        "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c"
        " WHERE m.type IN ('table', 'view')"
    )
    found: dict[str, set[str]] = {}
    for table, column in connection.execute(query):
        found.setdefault(table, set()).add(column)
    return found


def _columns_of(version: int) -> dict[str, set[str]]:
    """Tables and columns that every store of a version has."""
    with closing(sqlite3.connect(":memory:")) as template:
        template.executescript(TABLES)
        wanted = _columns(template)
    for (table, column), since in SINCE.items():
        if version < since:
            wanted[table] -= {column} if column else wanted[table]
    return wanted


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
