"""The one interface to what keeps a store, whatever database that is."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from veridical.exceptions import VeridicalError

Row = tuple[Any, ...]


class Database(ABC):
    """A database that holds the tables of one store; threads may share it.

    Everything above it is written once, in the SQL that SQLite and PostgreSQL have in common: `?`
    stands for a value, rows that may be there are written with ``ON CONFLICT``, and numbers of
    new rows come from `insert`, which continues after the largest.

    Parameters
    ----------
    name : str
        How messages, pages and people call it; it holds no password.
    sealed : bool, default False
        Whether transactions are refused.
    """

    def __init__(self, name: str, *, sealed: bool = False) -> None:
        self.name = name
        self.sealed = sealed
        self._one_thread = threading.RLock()  # a connection has one transaction at a time
        self._remembered: dict[str, dict[Any, Any]] | None = None

    def rows(self, query: str, *values: Any) -> list[Row]:
        """What a question finds; while another thread writes, what it was after that."""
        with self._one_thread:
            if self.in_transaction:
                return self._rows(query, values)
            with self.explained():
                return self._rows(query, values)

    def remembered(self, name: str, query: str) -> dict[Any, Any] | None:
        """A small table of two columns, read once a transaction; None outside of one.

        Who writes to the table writes to this, too, or calls `forget`.
        """
        with self._one_thread:
            if self._remembered is not None and name not in self._remembered:
                self._remembered[name] = {row[0]: row[1] for row in self._rows(query, ())}
            return None if self._remembered is None else self._remembered[name]

    def forget(self) -> None:
        """Read again what was remembered."""
        if self._remembered is not None:
            self._remembered = {}

    @abstractmethod
    def _rows(self, query: str, values: tuple[Any, ...]) -> list[Row]:
        """What a question finds."""

    @abstractmethod
    def run(self, statement: str, *values: Any) -> None:
        """Write something."""

    @abstractmethod
    def run_many(self, statement: str, rows: Iterable[Iterable[Any]]) -> None:
        """Write something once for each row of values."""

    @abstractmethod
    def define(self, statements: str) -> None:
        """Make tables, told in the words of SQLite and parted by semicolons."""

    @abstractmethod
    def columns(self) -> dict[str, set[str]]:
        """Names of the columns of every table."""

    @property
    @abstractmethod
    def version(self) -> int:
        """Version of the tables; 0 before there are any."""

    @abstractmethod
    def set_version(self, version: int) -> None:
        """Say which version the tables have, and that they are a monitor's."""

    @property
    @abstractmethod
    def is_marked(self) -> bool:
        """Whether the database says that it is a monitor's."""

    @abstractmethod
    def ready(self) -> None:
        """Do what is left to do once the tables are there and checked."""

    @abstractmethod
    def close(self) -> None:
        """Let go of it."""

    @property
    @abstractmethod
    def in_transaction(self) -> bool:
        """Whether statements are part of a transaction."""

    @abstractmethod
    def _writing(self) -> AbstractContextManager[None]:
        """A transaction, alone among those who write."""

    @abstractmethod
    def _looking(self) -> AbstractContextManager[None]:
        """A transaction that reads and sees one moment."""

    @abstractmethod
    def explained(self) -> AbstractContextManager[None]:
        """Turn errors of the database into errors in the library's words."""

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All that is written within happens, or none of it; other writers wait at the door."""
        if self.sealed:
            msg = (
                f"CalibrationMonitor: the store {self.name!r} is open for reading only."
                "\nHint: open it without `read_only=True`."
            )
            raise VeridicalError(msg)
        with self._one_thread, self.explained(), self._writing():
            self._remembered = {}
            try:
                yield
            finally:
                self._remembered = None

    @contextmanager
    def reading(self) -> Iterator[None]:
        """All that is read within is of one moment, whatever others write meanwhile."""
        with self._one_thread, self.explained():
            if self.in_transaction:
                yield
                return
            with self._looking():
                yield

    def row(self, query: str, *values: Any) -> Row | None:
        """The first row that a question finds, or None."""
        found = self.rows(query, *values)
        return found[0] if found else None

    def value(self, query: str, *values: Any) -> Any:
        """The first column of the first row, or None without a row."""
        found = self.row(query, *values)
        return None if found is None else found[0]

    def insert(self, table: str, **columns: Any) -> int:
        """Add a row to a table with numbered rows; returns its number, one above the largest.

        Only within a transaction, where nobody else adds one.
        """
        number = 1 + int(self.value(f"SELECT coalesce(max(id), 0) FROM {table}"))
        marks = ", ".join("?" * (len(columns) + 1))
        statement = f"INSERT INTO {table} (id, {', '.join(columns)}) VALUES ({marks})"
        self.run(statement, number, *columns.values())
        return number
