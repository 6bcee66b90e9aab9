"""The monitor's store: settings, names of batches and what parts of the monitor keep."""

from __future__ import annotations

import json
import os
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from veridical.monitoring._store.address import is_address
from veridical.monitoring._store.check import check_store
from veridical.monitoring._store.database import Database
from veridical.monitoring._store.postgres import NothingThereError, PostgresDatabase
from veridical.monitoring._store.sqlite import SqliteDatabase
from veridical.monitoring._store.states import drop_state, read_state, write_state
from veridical.monitoring._store.tables import prepare


def open_database(path: str | os.PathLike[str] | None, *, read_only: bool = False) -> Database:
    """What a path, an address or None for memory stands for; its tables are made and checked."""
    database: Database
    if is_address(path):
        database = PostgresDatabase(str(path), read_only=read_only)
    else:
        database = SqliteDatabase(path, read_only=read_only)
    try:
        with database.explained():
            prepare(database)
            check_store(database)
            database.ready()
    except BaseException:
        database.close()
        raise
    return database


def store_exists(path: str | os.PathLike[str]) -> bool:
    """Whether there is a file, or a schema with tables; what they hold is not looked at."""
    if not is_address(path):
        return Path(path).exists()
    try:
        PostgresDatabase(str(path), read_only=True).close()
    except NothingThereError:
        return False
    return True


class Store:
    """Reads and writes of the monitor, each transaction whole or not at all.

    Parameters
    ----------
    path : str, path or None
        The file, or an address of PostgreSQL; None keeps everything in memory.
    read_only : bool, default False
        Look at what is there; nothing is written to it.

    Attributes
    ----------
    database : Database
        What the tables are in; other groups of tables are read and written through it, too.
    """

    def __init__(self, path: str | os.PathLike[str] | None, *, read_only: bool = False) -> None:
        self.database = open_database(path, read_only=read_only)

    @property
    def path(self) -> str:
        """How messages call the store."""
        return self.database.name

    def close(self) -> None:
        """Let go of the store."""
        self.database.close()

    def transaction(self) -> AbstractContextManager[None]:
        """All that is written within happens, or none of it."""
        return self.database.transaction()

    def reading(self) -> AbstractContextManager[None]:
        """All that is read within is of one moment, whatever others write meanwhile."""
        return self.database.reading()

    def setting(self, name: str) -> str | None:
        """Value of a setting, or None."""
        known = self._known()
        if known is not None:
            return known.get(name)
        found: str | None = self.database.value("SELECT value FROM settings WHERE name = ?", name)
        return found

    def _known(self) -> dict[str, str] | None:
        """All settings, within a transaction."""
        return self.database.remembered("settings", "SELECT name, value FROM settings")

    def set_setting(self, name: str, value: str) -> None:
        """Write a setting."""
        self.database.run(
            "INSERT INTO settings VALUES (?, ?) ON CONFLICT (name) DO UPDATE"
            " SET value = excluded.value",
            name,
            value,
        )
        known = self._known()
        if known is not None:
            known[name] = value

    def state(self, name: str) -> Any:
        """What a part of the monitor has kept under a name with `set_state`; None if nothing.

        Whoever asks checks that it is what it should be: a store is data, not trust.
        """
        return read_state(self.database, name)

    def set_state(self, name: str, value: Any, *, lasting: bool) -> None:
        """Keep what JSON can hold under a name, as part of the transaction that is open.

        Parameters
        ----------
        name : str
        value : numbers, text, lists and dicts of them
        lasting : bool
            False for what is about the map in use: it is forgotten when another one is put in
            place (`switch`, `rollback`), as all evidence is.
        """
        write_state(self.database, name, value, lasting=lasting)

    def drop_state(self, name: str) -> None:
        """Forget what was kept under a name."""
        drop_state(self.database, name)

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
        found: str | None = self.database.value(
            "SELECT digest FROM batches WHERE batch_id = ?", batch_id
        )
        return found

    def batches(self) -> dict[tuple[str, str], int]:
        """Rows of each batch that has a name, by name and digest."""
        found = self.database.rows("SELECT batch_id, digest, n_rows FROM batches")
        return {(name, digest): rows for name, digest, rows in found}

    def add_batch(self, batch_id: str, digest: str, n_rows: int) -> None:
        """Remember that a batch has come."""
        self.database.run("INSERT INTO batches VALUES (?, ?, ?)", batch_id, digest, n_rows)
