"""Tables of the monitor's store, and how old ones become new ones."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from veridical.exceptions import VeridicalError

VERSION = 1

_TABLES = """
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE streams (
    id INTEGER PRIMARY KEY, family TEXT NOT NULL, name TEXT NOT NULL, share REAL NOT NULL,
    n_rows REAL NOT NULL, log_e REAL NOT NULL, log_max REAL NOT NULL, wealth BLOB NOT NULL,
    alarmed_at TEXT, UNIQUE (family, name));
CREATE TABLE buckets (
    id INTEGER PRIMARY KEY, ordinal INTEGER NOT NULL, n_batches INTEGER NOT NULL,
    n_rows REAL NOT NULL, began TEXT, ended TEXT, log_e REAL NOT NULL,
    counts BLOB NOT NULL, sum_p BLOB NOT NULL);
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

# How a store of each earlier version becomes one of the next; they run one after another.
_MIGRATIONS: dict[int, Callable[[sqlite3.Connection], None]] = {}


def prepare(connection: sqlite3.Connection, path: str) -> None:
    """Make the tables in an empty store, bring an old one up to date, refuse a newer one."""
    with transaction(connection):
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version > VERSION:
            raise _too_new(path, version)
        if version == 0:
            for statement in filter(str.strip, _TABLES.split(";")):
                connection.execute(statement)
        for old in range(max(version, 1), VERSION):
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


def _too_new(path: str, version: int) -> VeridicalError:
    return VeridicalError(
        f"CalibrationMonitor: the store {path!r} has version {version}; this release reads"
        f" versions up to {VERSION}.\nHint: install a newer veridical."
    )
