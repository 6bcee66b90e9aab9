"""Tables of the monitor's store, and how old ones become new ones."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from veridical.exceptions import VeridicalError

VERSION = 2

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


def prepare(connection: sqlite3.Connection, path: str) -> None:
    """Make the tables in an empty store, bring an old one up to date, refuse others."""
    if _version(connection) == VERSION:
        return
    with transaction(connection):
        version = _version(connection)  # another process may have been first
        if version > VERSION:
            raise _too_new(path, version)
        if version == 0:
            _check_empty(connection, path)
            for statement in filter(str.strip, _TABLES.split(";")):
                connection.execute(statement)
        else:
            for old in range(version, VERSION):
                _MIGRATIONS[old](connection)
        connection.execute(f"PRAGMA user_version = {VERSION}")


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


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _check_empty(connection: sqlite3.Connection, path: str) -> None:
    """A database of another program has tables but not our version."""
    found = connection.execute("SELECT name FROM sqlite_master LIMIT 1").fetchone()
    if found is not None:
        msg = (
            f"CalibrationMonitor: {path!r} is not a monitor's store: it holds {found[0]!r} of"
            " another program.\nHint: name another file; nothing was written to this one."
        )
        raise VeridicalError(msg)


def _too_new(path: str, version: int) -> VeridicalError:
    return VeridicalError(
        f"CalibrationMonitor: the store {path!r} has version {version}; this release reads"
        f" versions up to {VERSION}.\nHint: install a newer veridical."
    )
