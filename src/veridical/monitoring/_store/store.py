"""The monitor's store: a SQLite file or a database in memory, read and written as a whole."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from veridical._core.typing import FloatArray
from veridical.exceptions import VeridicalError
from veridical.monitoring._store.check import check_store
from veridical.monitoring._store.counts import Stream, share_of
from veridical.monitoring._store.evidence import EProcesses
from veridical.monitoring._store.file import connect, explained, is_marked, look
from veridical.monitoring._store.tables import one_value, prepare, transaction


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
        with explained(self.path):
            there = path is not None and Path(path).is_file() and Path(path).stat().st_size > 0
            self.connection = connect(":memory:" if read_only else self.path)
            try:
                if there and read_only:
                    look(self.path, self.connection)
                elif there and not is_marked(self.path):
                    look(self.path)
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
        with self._one_thread, explained(self.path), transaction(self.connection):
            yield

    @contextmanager
    def reading(self) -> Iterator[None]:
        """All that is read within is of one moment, whatever others write meanwhile."""
        with self._one_thread, explained(self.path):
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
