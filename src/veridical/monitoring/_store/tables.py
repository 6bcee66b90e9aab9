"""Tables of the monitor's store, their versions, and whether a database is one."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

import numpy as np

from veridical.exceptions import VeridicalError

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
