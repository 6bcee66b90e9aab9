"""A store in PostgreSQL, which services on several machines share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from veridical._core.runtime.optional import require
from veridical.exceptions import VeridicalError
from veridical.monitoring._store.address import Address, read_address
from veridical.monitoring._store.database import Database, Row

# The table that says whose schema it is. Nothing else is done to it, so it is what writers lock.
_SIGNATURE = "veridical_monitor"
_MARK = "a store of CalibrationMonitor"
_PATIENCE = 60  # seconds to wait for another process that writes
_IDLE = 600  # seconds after which the server ends a transaction of a process that says nothing
# Words of SQLite for what PostgreSQL calls otherwise; texts are compared by their bytes, as there.
_WORDS = {
    " WITHOUT ROWID": "",
    " INTEGER": " BIGINT",
    " REAL": " DOUBLE PRECISION",
    " BLOB": " BYTEA",
    " TEXT": ' TEXT COLLATE "C"',
}


class NothingThereError(VeridicalError):
    """An address at which there is no store."""


class PostgresDatabase(Database):
    """A schema of a PostgreSQL database.

    Writers stand in line at a lock, one transaction after another, whatever machine they are on;
    readers see one moment and wait for nobody. A line that was cut is made anew by the next
    transaction.

    Parameters
    ----------
    address : str
        ``postgresql://user:password@host:port/database?schema=name``, as libpq takes it but for
        `schema`; default "veridical". It is made if it is not there.
    read_only : bool, default False
        Only look: for roles that may only read.
    """

    def __init__(self, address: str, *, read_only: bool = False) -> None:
        self._address: Address = read_address(address)
        super().__init__(self._address.name, sealed=read_only)
        self._within = False  # a transaction that has begun
        with self.explained():
            self._connection = self._connected()
            try:
                self._check_ours()
            except BaseException:
                self.close()
                raise

    def _rows(self, query: str, values: tuple[Any, ...]) -> list[Row]:
        found: list[Row] = self._sent(query, values).fetchall()
        return found

    def run(self, statement: str, *values: Any) -> None:
        """Write something."""
        self._sent(statement, values)

    def run_many(self, statement: str, rows: Iterable[Iterable[Any]]) -> None:
        """Write something once for each row of values, without waiting in between."""
        with self._connection.cursor() as cursor:
            cursor.executemany(_translated(statement), [tuple(row) for row in rows])

    def define(self, statements: str) -> None:
        """Make tables, within the transaction that is open."""
        for word, other in _WORDS.items():
            statements = statements.replace(word, other)
        for statement in filter(str.strip, statements.split(";")):
            self._sent(statement)

    def columns(self) -> dict[str, set[str]]:
        """Names of the columns of every table of the schema."""
        found: dict[str, set[str]] = {}
        for table, column in self.rows(_COLUMNS, self._address.schema):
            found.setdefault(table, set()).add(column)
        return found

    @property
    def version(self) -> int:
        """Version of the tables; 0 before there are any."""
        return int(self.value(f"SELECT value FROM {_SIGNATURE} WHERE name = 'version'"))

    def set_version(self, version: int) -> None:
        """Say which version the tables have."""
        self.run(f"UPDATE {_SIGNATURE} SET value = ? WHERE name = 'version'", str(version))

    @property
    def is_marked(self) -> bool:
        """Whether the schema says that it is a monitor's."""
        return bool(self.value(f"SELECT value FROM {_SIGNATURE} WHERE name = 'mark'") == _MARK)

    def ready(self) -> None:
        """Nothing is left to do."""

    def close(self) -> None:
        """Let go of the line to the server."""
        self._connection.close()

    @property
    def in_transaction(self) -> bool:
        """Whether statements are part of a transaction."""
        return self._within

    def _writing(self) -> Any:
        lock = f"LOCK TABLE {_SIGNATURE} IN EXCLUSIVE MODE"
        return self._transaction("BEGIN ISOLATION LEVEL READ COMMITTED", lock)

    def _looking(self) -> Any:
        return self._transaction("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

    @contextmanager
    def _transaction(self, begin: str, *then: str) -> Iterator[None]:
        self._sent(begin)
        self._within = True
        try:
            for statement in then:
                self._sent(statement)
            yield
            self._commit()
        except BaseException:
            if not self._connection.closed:
                self._connection.execute("ROLLBACK")
            raise
        finally:
            self._within = False

    def _commit(self) -> None:
        if self._sent("COMMIT").statusmessage != "COMMIT":  # after an error that nobody passed on
            raise self._unusable("the server took nothing of it", "send it again.")

    def _sent(self, statement: str, values: Iterable[Any] = ()) -> Any:
        """Send a statement; over a new line, if the old one was cut before a transaction began."""
        psycopg = _psycopg()
        text, given = _translated(statement), tuple(values)
        try:
            return self._connection.execute(text, given or None, binary=True)
        except psycopg.OperationalError:
            if self._within or not self._connection.closed:
                raise
        self._connection = self._connected()
        return self._connection.execute(text, given or None, binary=True)

    def _connected(self) -> Any:
        """A new line to the server, ready for statements."""
        psycopg = _psycopg()
        options = self._address.options | {"client_encoding": "UTF8"}
        try:
            connection = psycopg.connect(**options, autocommit=True)
        except psycopg.OperationalError as error:
            raise self._unusable(str(error), _UNREACHED) from None
        settings = {
            "search_path": self._address.schema,
            "lock_timeout": f"{_PATIENCE}s",
            "idle_in_transaction_session_timeout": f"{_IDLE}s",
        }
        for name, value in settings.items():
            connection.execute("SELECT set_config(%s, %s, false)", (name, value))
        connection.execute(_DURABLE)
        return connection

    def _check_ours(self) -> None:
        """Raise unless the schema is a monitor's, or empty and to be written to; then sign it."""
        tables = self.columns()
        if not tables and self.sealed:
            msg = (
                f"CalibrationMonitor: there is no store at {self.name!r}."
                "\nHint: start one without `read_only=True`."
            )
            raise NothingThereError(msg)
        if not tables:
            self._sign()
        elif _SIGNATURE not in tables or not self.is_marked:
            msg = (
                f"CalibrationMonitor: {self.name!r} is not a monitor's store: it holds"
                f" {min(tables)!r} of another program."
                "\nHint: name another schema with ?schema=; nothing was written to this one."
            )
            raise VeridicalError(msg)

    def _sign(self) -> None:
        """Make the schema, unless another process is doing so."""
        schema = self._address.schema
        with self._transaction("BEGIN"):
            self._sent("SELECT pg_advisory_xact_lock(hashtext(?))", (f"{_MARK} {schema}",))
            if self.columns():
                return
            there = self.value("SELECT count(*) FROM pg_namespace WHERE nspname = ?", schema)
            if not there:  # who may not make schemas is given one
                self._sent(f'CREATE SCHEMA "{schema}"')
            self.define(f"CREATE TABLE {_SIGNATURE} (name TEXT PRIMARY KEY, value TEXT NOT NULL)")
            for name, value in (("mark", _MARK), ("version", "0")):
                self.run(f"INSERT INTO {_SIGNATURE} VALUES (?, ?)", name, value)

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turn errors of the server and its client into errors in the library's words."""
        psycopg = _psycopg()
        try:
            yield
        except psycopg.Error as error:
            code = error.sqlstate or ""
            hint = _HINTS.get(code, _HINTS.get(code[:2], _OTHER))
            if isinstance(error, psycopg.OperationalError) and (not code or code[:2] == "57"):
                hint = _LOST
            elif isinstance(error, psycopg.DataError):
                hint = "texts must be Unicode without the character 0."
            # What the client says of itself may quote values; the first line is enough.
            raise self._unusable(error.diag.message_primary or str(error), hint) from None

    def _unusable(self, reason: str, hint: str) -> VeridicalError:
        text = self._address.hidden(reason).partition("\n")[0] or "unknown error"
        msg = f"CalibrationMonitor: the store {self.name!r} could not be used: {text}."
        return VeridicalError(f"{msg}\nHint: {hint}")


_COLUMNS = """
SELECT c.relname, a.attname FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid
WHERE n.nspname = ? AND c.relkind IN ('r', 'p', 'f', 'v', 'm') AND a.attnum > 0
AND NOT a.attisdropped
"""
# What was acknowledged is on disk; a server that waits for more than that keeps doing so.
_DURABLE = """
SELECT set_config('synchronous_commit', 'on', false)
WHERE current_setting('synchronous_commit') = 'off'
"""
_LOST = (
    "the line was cut: what was being sent is there whole or not at all; send it again under the"
    " same batch_id or ids."
)
_UNREACHED = (
    "check the address, user and password, and that the server runs; a file ~/.pgpass or PGPASSWORD"
    " keeps the password out of commands."
)
_RIGHTS = "ask for the rights: USAGE and SELECT to look with read_only=True, all to write."
_OTHER = "send it again; if it happens again, the log of the server knows more."
_HINTS = {
    "55P03": "another process is writing; try again.",
    "53100": "free some space and send the batch again; the store is as it was before.",
    "53": "the server has too little room; try again when it has more.",
    "42501": _RIGHTS,
    "42P01": _RIGHTS,  # tables of a schema that may not be used are not seen
    "25006": "the server only reads: name the one that is written to, or pass read_only=True.",
}


def _psycopg() -> Any:
    return require("psycopg", extra="postgres", purpose="A store in PostgreSQL")


@cache
def _translated(statement: str) -> str:
    """With marks for values as the client takes them."""
    return statement.replace("?", "%s")
