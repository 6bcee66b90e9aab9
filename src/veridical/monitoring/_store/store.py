"""The monitor's store: a SQLite file or a database in memory, its tables and their versions."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from veridical._core.typing import FloatArray
from veridical.exceptions import VeridicalError
from veridical.monitoring._store.check import check_store
from veridical.monitoring._store.counts import Stream, share_of
from veridical.monitoring._store.evidence import EProcesses

VERSION = 2
MARK = 0x76657269  # "veri": SQLite keeps in the header of a file whose it is

_TABLES = """
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE streams (
    id INTEGER PRIMARY KEY, family TEXT NOT NULL, name TEXT NOT NULL, share REAL NOT NULL,
    n_rows REAL NOT NULL, log_e REAL NOT NULL, log_max REAL NOT NULL, wealth BLOB NOT NULL,
    alarmed_at TEXT, deviation REAL NOT NULL DEFAULT 0, squared REAL NOT NULL DEFAULT 0,
    UNIQUE (family, name));
CREATE TABLE buckets (
    id INTEGER PRIMARY KEY, ordinal INTEGER NOT NULL, n_batches INTEGER NOT NULL,
    n_rows REAL NOT NULL, began TEXT, ended TEXT, log_e REAL NOT NULL,
    predicted REAL NOT NULL DEFAULT 0, counts BLOB NOT NULL, sum_p BLOB NOT NULL);
CREATE TABLE bucket_streams (
    bucket INTEGER NOT NULL REFERENCES buckets (id) ON DELETE CASCADE,
    stream INTEGER NOT NULL REFERENCES streams (id),
    n_rows REAL NOT NULL, deviation REAL NOT NULL, squared REAL NOT NULL, factors BLOB NOT NULL,
    PRIMARY KEY (bucket, stream)) WITHOUT ROWID;
CREATE TABLE batches (
    batch_id TEXT PRIMARY KEY, digest TEXT NOT NULL, n_rows INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE cohorts (
    id INTEGER PRIMARY KEY, observed_at TEXT, n_rows INTEGER NOT NULL, n_waiting INTEGER NOT NULL,
    counted INTEGER NOT NULL DEFAULT 0);
CREATE TABLE predictions (
    id TEXT PRIMARY KEY, cohort INTEGER NOT NULL REFERENCES cohorts (id), p BLOB NOT NULL,
    grp TEXT, outcome TEXT) WITHOUT ROWID;
CREATE INDEX predictions_cohort ON predictions (cohort);
CREATE TABLE outcomes (id TEXT PRIMARY KEY, outcome TEXT NOT NULL) WITHOUT ROWID;
"""


def _add_totals(connection: sqlite3.Connection) -> None:
    """Version 2 keeps sums that a look would otherwise make from every bucket."""
    connection.execute("ALTER TABLE streams ADD COLUMN deviation REAL NOT NULL DEFAULT 0")
    connection.execute("ALTER TABLE streams ADD COLUMN squared REAL NOT NULL DEFAULT 0")
    connection.execute("ALTER TABLE buckets ADD COLUMN predicted REAL NOT NULL DEFAULT 0")
    for name in ("deviation", "squared"):
        connection.execute(
            f"UPDATE streams SET {name} = coalesce((SELECT sum({name}) FROM bucket_streams"
            " WHERE stream = streams.id), 0)"
        )
    for bucket, sum_p in connection.execute("SELECT id, sum_p FROM buckets").fetchall():
        total = float(np.frombuffer(sum_p).sum())
        connection.execute("UPDATE buckets SET predicted = ? WHERE id = ?", (total, bucket))


# How a store of each earlier version becomes one of the next; they run one after another.
_MIGRATIONS: dict[int, Callable[[sqlite3.Connection], None]] = {1: _add_totals}


_ADDED = {"streams": {"deviation", "squared"}, "buckets": {"predicted"}}  # by version 2


def check_ours(connection: sqlite3.Connection, path: str) -> None:
    """Raise unless the file is empty or a monitor's; nothing is written to it.

    Stores that were made before files were marked are known by their tables.
    """
    mark, version, tables = _mark(connection), _version(connection), _columns(connection)
    query = "SELECT name FROM sqlite_master WHERE type IN ('trigger', 'view')"
    code = one_value(connection, query)  # what a store never has, and SQLite would run
    if mark == MARK and code is not None:
        msg = (
            f"CalibrationMonitor: the store {path!r} was changed: it holds {code!r}, which would"
            " run when it is written to.\nHint: take the file of a backup."
        )
        raise VeridicalError(msg)
    if mark == MARK or (mark == version == 0 and not tables):
        return
    if mark == 0 and 1 <= version <= VERSION:
        with closing(sqlite3.connect(":memory:")) as template:
            template.executescript(_TABLES)
            wanted = _columns(template)
        if version == 1:
            wanted = {name: columns - _ADDED.get(name, set()) for name, columns in wanted.items()}
        if all(columns <= tables.get(name, set()) for name, columns in wanted.items()):
            return
    holds = f"it holds {min(tables)!r} of another program" if tables else "another program's, empty"
    msg = (
        f"CalibrationMonitor: {path!r} is not a monitor's store: {holds}."
        "\nHint: name another file; nothing was written to this one."
    )
    raise VeridicalError(msg)


def _columns(connection: sqlite3.Connection) -> dict[str, set[str]]:
    """Names of the columns of every table."""
    query = (
        "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c"
        " WHERE m.type IN ('table', 'view')"
    )
    found: dict[str, set[str]] = {}
    for table, column in connection.execute(query):
        found.setdefault(table, set()).add(column)
    return found


def prepare(connection: sqlite3.Connection, path: str) -> None:
    """Make the tables in an empty store, bring an old one up to date, refuse others."""
    check_ours(connection, path)
    if _version(connection) == VERSION and _mark(connection) == MARK:
        return
    with transaction(connection):
        version = _version(connection)  # another process may have been first
        if version > VERSION:
            msg = (
                f"CalibrationMonitor: the store {path!r} has version {version}; this release reads"
                f" versions up to {VERSION}.\nHint: install a newer veridical."
            )
            raise VeridicalError(msg)
        if version == 0:
            for statement in filter(str.strip, _TABLES.split(";")):
                connection.execute(statement)
        else:
            for old in range(version, VERSION):
                _MIGRATIONS[old](connection)
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute(f"PRAGMA application_id = {MARK}")


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All or nothing; other processes wait at the door."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def one_value(connection: sqlite3.Connection, query: str, *parameters: Any) -> Any:
    """The first column of the first row, or None without a row."""
    row = connection.execute(query, parameters).fetchone()
    return None if row is None else row[0]


def _version(connection: sqlite3.Connection) -> int:
    return int(one_value(connection, "PRAGMA user_version"))


def _mark(connection: sqlite3.Connection) -> int:
    return int(one_value(connection, "PRAGMA application_id"))


_PATIENCE = 60.0  # seconds to wait for another process that writes


@dataclass(eq=False)
class StreamState:
    """Streams in the order of their ids, and their evidence."""

    ids: list[int]
    streams: list[Stream]
    shares: FloatArray
    alarmed_at: list[str | None]
    evidence: EProcesses


class Store:
    """Reads and writes of the monitor, each transaction whole or not at all.

    Parameters
    ----------
    path : str, path or None
        The file; None keeps everything in memory.
    read_only : bool, default False
        Look at a copy in memory: nothing is ever written to the file or beside it.

    Attributes
    ----------
    sealed : bool
        Whether transactions are refused.
    """

    def __init__(self, path: str | os.PathLike[str] | None, *, read_only: bool = False) -> None:
        self.path = ":memory:" if path is None else os.fspath(path)
        self.sealed = False
        self._one_thread = threading.RLock()  # a connection has one transaction at a time
        with _explained(self.path):
            there = path is not None and Path(path).is_file() and Path(path).stat().st_size > 0
            self.connection = _connect(":memory:" if read_only else self.path)
            try:
                if there and read_only:
                    _look(self.path, self.connection)
                elif there and not _is_marked(self.path):
                    _look(self.path)
                self._set_up()
            except BaseException:
                self.connection.close()
                raise

    def close(self) -> None:
        """Let go of the file."""
        self.connection.close()

    def _set_up(self) -> None:
        c = self.connection
        c.execute("PRAGMA foreign_keys = ON")
        c.execute("PRAGMA synchronous = FULL")
        prepare(c, self.path)
        check_store(c, self.path)
        # A log beside the file needs one flush a batch. While others are at the store it cannot
        # be changed to; the next who opens it will, and without it the store is as safe.
        if c.execute("PRAGMA journal_mode").fetchone()[0] == "delete":
            with suppress(sqlite3.OperationalError):
                c.execute("PRAGMA journal_mode = WAL")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All that is written within happens, or none of it."""
        if self.sealed:
            msg = (
                f"CalibrationMonitor: the store {self.path!r} is open for reading only."
                "\nHint: open it without `read_only=True`."
            )
            raise VeridicalError(msg)
        with self._one_thread, _explained(self.path), transaction(self.connection):
            yield

    @contextmanager
    def reading(self) -> Iterator[None]:
        """All that is read within is of one moment, whatever others write meanwhile."""
        with self._one_thread, _explained(self.path):
            if self.connection.in_transaction:
                yield
                return
            self.connection.execute("BEGIN")
            try:
                yield
            finally:
                self.connection.execute("COMMIT")

    def setting(self, name: str) -> str | None:
        """Value of a setting, or None."""
        found: str | None = one_value(
            self.connection, "SELECT value FROM settings WHERE name = ?", name
        )
        return found

    def set_setting(self, name: str, value: str) -> None:
        """Write a setting."""
        self.connection.execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", (name, value))

    @property
    def n_batches(self) -> int:
        """Batches counted since the map in use was put in place."""
        return int(self.setting("n_batches") or 0)

    @property
    def alarmed_at(self) -> str | None:
        """When the alarm was raised, None without one."""
        return self.setting("alarmed_at")

    @property
    def log_max(self) -> float:
        """Log of the largest evidence of all streams together."""
        return float(self.setting("log_max") or 0.0)

    @property
    def n_columns(self) -> int:
        """Columns of the predictions that wait for their outcomes."""
        return int(self.setting("n_columns") or 1)

    def classes(self, labels: list[Any] | None) -> tuple[Any, ...] | None:
        """Classes of the first batch, else `labels`, which the user named beforehand."""
        known = json.loads(self.setting("classes") or "null") or labels
        return None if known is None else tuple(known)

    def batch_digest(self, batch_id: str) -> str | None:
        """What a batch of this name held, or None if it never came."""
        query = "SELECT digest FROM batches WHERE batch_id = ?"
        found: str | None = one_value(self.connection, query, batch_id)
        return found

    def batches(self) -> dict[tuple[str, str], int]:
        """Rows of each batch that has a name, by name and digest."""
        query = "SELECT batch_id, digest, n_rows FROM batches"
        return {(name, digest): rows for name, digest, rows in self.connection.execute(query)}

    def add_batch(self, batch_id: str, digest: str, n_rows: int) -> None:
        """Remember that a batch has come."""
        self.connection.execute("INSERT INTO batches VALUES (?, ?, ?)", (batch_id, digest, n_rows))

    def read_streams(self) -> StreamState:
        """Every stream and its evidence."""
        rows = self.connection.execute(
            "SELECT id, family, name, share, alarmed_at, n_rows, log_e, log_max, wealth"
            " FROM streams ORDER BY id"
        ).fetchall()
        evidence = EProcesses(len(rows))
        for i, row in enumerate(rows):
            evidence.n_rows[i], evidence.log_e[i], evidence.log_max[i] = row[5:8]
            evidence.wealth[i] = np.frombuffer(row[8])
        return StreamState(
            [row[0] for row in rows],
            [Stream(row[1], row[2]) for row in rows],
            np.array([row[3] for row in rows], dtype=np.float64),
            [row[4] for row in rows],
            evidence,
        )

    def open_streams(self, state: StreamState, wanted: Sequence[Stream], n_classes: int) -> None:
        """Add the streams that are new to the store and to `state`."""
        known = set(state.streams)
        places = dict.fromkeys(("all", "region", "class", "group"), 0)
        for stream in state.streams:
            places[stream.family] += 1
        shares = state.shares.tolist()
        for stream in wanted:
            if stream in known:
                continue
            share = share_of(stream.family, places[stream.family], n_classes)
            places[stream.family] += 1
            shares.append(share)
            state.evidence.add_streams(1)
            added = self.connection.execute(
                "INSERT INTO streams (family, name, share, n_rows, log_e, log_max, wealth)"
                " VALUES (?, ?, ?, 0, 0, 0, ?)",
                (stream.family, stream.name, share, state.evidence.wealth[-1].tobytes()),
            )
            assert added.lastrowid is not None
            state.ids.append(added.lastrowid)
            state.streams.append(stream)
            state.alarmed_at.append(None)
        state.shares = np.array(shares)

    def write_streams(self, state: StreamState) -> None:
        """Write the evidence of every stream."""
        e = state.evidence
        numbers = (e.n_rows.tolist(), e.log_e.tolist(), e.log_max.tolist())
        wealth = [each.tobytes() for each in e.wealth]
        self.connection.executemany(
            "UPDATE streams SET n_rows = ?, log_e = ?, log_max = ?, wealth = ?, alarmed_at = ?"
            " WHERE id = ?",
            zip(*numbers, wealth, state.alarmed_at, state.ids, strict=True),
        )


def _connect(address: str, *, uri: bool = False) -> sqlite3.Connection:
    return sqlite3.connect(
        address, timeout=_PATIENCE, isolation_level=None, check_same_thread=False, uri=uri
    )


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
def _explained(path: str) -> Iterator[None]:
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
