"""Tables of the monitor's store and their versions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from veridical.exceptions import VeridicalError
from veridical.monitoring._store.database import Database

VERSION = 3

_WATCHED = """
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
_MAPS = """
CREATE TABLE IF NOT EXISTS recent (
    first INTEGER PRIMARY KEY, epoch INTEGER NOT NULL, batch INTEGER NOT NULL,
    n_rows INTEGER NOT NULL, y BLOB NOT NULL, p BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS versions (
    id INTEGER PRIMARY KEY, state TEXT NOT NULL, calibrator TEXT NOT NULL, made_at TEXT NOT NULL,
    first_row INTEGER NOT NULL, n_rows INTEGER NOT NULL, difference REAL, low REAL, high REAL,
    auto_switch INTEGER NOT NULL, replaced INTEGER REFERENCES versions (id),
    most_loss REAL NOT NULL, n_trial INTEGER NOT NULL, gain REAL NOT NULL, squared REAL NOT NULL,
    uncut REAL NOT NULL, n_cut INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS epochs (
    id INTEGER PRIMARY KEY, version INTEGER REFERENCES versions (id), ended_at TEXT,
    n_samples INTEGER, n_batches INTEGER, alarmed_at TEXT, max_e_value REAL, verdict TEXT);
"""
_STATES = """
CREATE TABLE states (
    name TEXT PRIMARY KEY, lasting INTEGER NOT NULL, value TEXT NOT NULL) WITHOUT ROWID;
"""
TABLES = _WATCHED + _MAPS + _STATES

# Tables, or columns of them, that stores of earlier versions need not have.
SINCE = {
    ("streams", "deviation"): 2,
    ("streams", "squared"): 2,
    ("buckets", "predicted"): 2,
    **dict.fromkeys([("recent", ""), ("versions", ""), ("epochs", ""), ("states", "")], 3),
}


def _add_totals(database: Database) -> None:
    """Version 2 keeps sums that a look would otherwise make from every bucket."""
    database.run("ALTER TABLE streams ADD COLUMN deviation REAL NOT NULL DEFAULT 0")
    database.run("ALTER TABLE streams ADD COLUMN squared REAL NOT NULL DEFAULT 0")
    database.run("ALTER TABLE buckets ADD COLUMN predicted REAL NOT NULL DEFAULT 0")
    for name in ("deviation", "squared"):
        database.run(
            f"UPDATE streams SET {name} = coalesce((SELECT sum({name}) FROM bucket_streams"
            " WHERE stream = streams.id), 0)"
        )
    for bucket, sum_p in database.rows("SELECT id, sum_p FROM buckets"):
        total = float(np.frombuffer(sum_p).sum())
        database.run("UPDATE buckets SET predicted = ? WHERE id = ?", total, bucket)


def _add_states(database: Database) -> None:
    """Version 3 has a place for what parts of a monitor keep, and counts tables of maps among its.

    Those were made when a store was opened; the oldest ones lack them.
    """
    database.define(_MAPS + _STATES)


# How a store of each earlier version becomes one of the next; they run one after another.
_MIGRATIONS: dict[int, Callable[[Database], None]] = {1: _add_totals, 2: _add_states}


def prepare(database: Database) -> None:
    """Make the tables in an empty store, bring an old one up to date, refuse a newer one."""
    version = database.version
    if version == VERSION and database.is_marked:
        return
    if 0 <= version <= VERSION and database.sealed:
        msg = (
            f"CalibrationMonitor: the store {database.name!r} has version {version} of the tables,"
            f" {VERSION} is needed.\nHint: open it once as somebody who may write to it."
        )
        raise VeridicalError(msg)
    with database.transaction():
        version = database.version  # another process may have been first
        if version > VERSION:
            msg = (
                f"CalibrationMonitor: the store {database.name!r} has version {version}; this"
                f" release reads versions up to {VERSION}.\nHint: install a newer veridical."
            )
            raise VeridicalError(msg)
        if version == 0:
            database.define(TABLES)
        else:
            for old in range(version, VERSION):
                _MIGRATIONS[old](database)
        database.run("INSERT INTO epochs (id) VALUES (1) ON CONFLICT (id) DO NOTHING")
        database.set_version(VERSION)
