"""Stores survive kills, rivals, full disks and files that are none."""

from __future__ import annotations

import csv
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from needs import lacking

from veridical.exceptions import VeridicalError
from veridical.monitoring import CalibrationMonitor
from veridical.monitoring._store import sqlite as _file, tables as _schema
from veridical.monitoring._store.sqlite import SqliteDatabase

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "evidence" / "stores.py"
EVIDENCE = ROOT / "docs" / "evidence" / "monitor_stores.csv"
forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are made by forking")


def rows(seed: int, n: int = 250) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    return (rng.random(n) < p).astype(int), p


@forks
@pytest.mark.parametrize("kind", ["file", "postgres"])
def test_killed_cut_or_at_once_nothing_is_lost_or_counted_twice(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
):
    """A sample of the evidence: 10 kills, four writers of whom two are killed, 3 cut lines."""
    if not SCRIPT.exists():
        pytest.skip("needs the source tree")
    if kind == "postgres":
        request.getfixturevalue("need")("psycopg")
    sample = ["--kills", "10", "--rounds", "1", "--cuts", "3", "--no-full", "--only", kind]
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(tmp_path), *sample],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = (tmp_path / "monitor_stores.csv").read_text().splitlines()
    if kind == "postgres" and len(lines) == 1:
        lacking(done.stdout)  # no server is installed
    treated = [line.split(",")[1] for line in lines[1:]]
    expected = ["kills", "steps after kills", "four writers"]
    assert treated == expected + ["lines cut"] * (kind == "postgres")


def test_the_committed_evidence_is_of_500_kills_in_all_phases():
    if not EVIDENCE.exists():
        pytest.skip("needs the source tree")
    with EVIDENCE.open() as stream:
        rows = {(row["store"], row["treatment"]): row for row in csv.DictReader(stream)}
    for store in ("file", "postgres"):
        assert int(rows[store, "kills"]["times"]) >= 250
        assert int(rows[store, "four writers"]["times"]) >= 10
        assert int(rows[store, "disk full"]["times"]) >= 1
        assert {"open", "update", "observe", "resolve", "refit", "switch", "between steps"} <= {
            each.rpartition(" ")[0] for each in rows[store, "kills"]["detail"].split("; ")
        }
    assert int(rows["postgres", "lines cut"]["times"]) >= 50


def test_threads_may_share_a_monitor():
    monitor = CalibrationMonitor()

    def send(first: int) -> None:
        for i in range(first, 24, 4):
            monitor.update(*rows(i), timestamp=f"{i}")
            assert monitor.status().n_samples % 250 == 0

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(send, range(4)))
    order = [int(text) for text in monitor.history().ended]
    assert sorted(order) == list(range(24))
    serial = CalibrationMonitor()
    for i in order:
        serial.update(*rows(i), timestamp=f"{i}")
    assert monitor.status() == serial.status()


def test_who_waits_in_vain_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "m.sqlite"
    CalibrationMonitor(path).close()
    monkeypatch.setattr(_file, "_PATIENCE", 0.1)
    monitor = CalibrationMonitor(path)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(VeridicalError, match="another process is writing; try again"):
        monitor.update(*rows(0))
    assert monitor.status().n_samples == 0  # reading goes on
    other.close()
    assert monitor.update(*rows(0)).n_samples == 250


def test_a_full_disk_gives_a_clear_error_and_an_intact_store(tmp_path: Path):
    path = tmp_path / "m.sqlite"
    monitor = CalibrationMonitor(path)
    monitor.update(*rows(0), batch_id="0")
    before = monitor.status()
    connection = monitor._memory.store.database.connection
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(VeridicalError, match=r"is full\.\nHint: free some space and send"):
        monitor.update(*rows(1), batch_id="1")
    assert monitor.status() == before
    connection.execute("PRAGMA max_page_count = 1000000")
    assert monitor.update(*rows(1), batch_id="1").n_samples == 500
    monitor.close()
    whole = CalibrationMonitor()
    for seed in (0, 1):
        whole.update(*rows(seed))
    assert CalibrationMonitor(path).status() == whole.status()


def test_an_interruption_inside_a_batch_leaves_nothing_of_it(monkeypatch: pytest.MonkeyPatch):
    monitor = CalibrationMonitor()
    monitor.update(*rows(0), batch_id="0")
    before = monitor.status()

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(monitor._memory.buckets, "add", stop)  # the last thing that is written
        with pytest.raises(KeyboardInterrupt):
            monitor.update(*rows(1), batch_id="1")
    assert monitor.status() == before
    assert not monitor.update(*rows(1), batch_id="1").repeated


@pytest.mark.parametrize("where", [".", "absent/m.sqlite"])
def test_a_folder_or_a_file_in_none_is_refused(tmp_path: Path, where: str):
    with pytest.raises(VeridicalError, match="could not be used: unable to open database file"):
        CalibrationMonitor(tmp_path / where)


def test_a_file_that_cannot_be_written_is_refused_with_a_hint(tmp_path: Path):
    path = tmp_path / "m.sqlite"
    with CalibrationMonitor(path) as monitor:
        monitor.update(*rows(0))
    monitor = CalibrationMonitor(path)
    monitor._memory.store.database.connection.execute(
        "PRAGMA query_only = ON"
    )  # root may write to any file
    with pytest.raises(VeridicalError, match="Hint: the file cannot be written to"):
        monitor.update(*rows(1))
    assert monitor.status().n_samples == 250


def test_a_database_of_another_program_is_left_as_it_is(tmp_path: Path):
    path = tmp_path / "other.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE recipes (name TEXT)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(VeridicalError, match="holds 'recipes' of another program"):
        CalibrationMonitor(path)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["other.sqlite"]


class _Interrupted:
    """A connection that lets somebody else act before it is asked for tables."""

    def __init__(self, connection: sqlite3.Connection, act: Callable[[], None]) -> None:
        self._connection, self._act = connection, act

    def execute(self, statement: str) -> sqlite3.Cursor:
        if statement.startswith("SELECT m.name"):
            self._act()
        return self._connection.execute(statement)


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_a_file_whose_tables_are_just_being_made_is_not_taken_for_anothers(
    journal: str, tmp_path: Path
):
    path = tmp_path / "m.sqlite"
    told = []

    def make_tables() -> None:
        with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as rival:
            try:
                rival.executescript(
                    f"BEGIN IMMEDIATE; {_schema.TABLES}; PRAGMA user_version = {_schema.VERSION};"
                    f" PRAGMA application_id = {_file.MARK}; COMMIT"
                )
            except sqlite3.OperationalError as error:
                told.append(str(error))
            else:
                told.append("made")

    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA journal_mode = {journal}")
        _file._check_ours(_Interrupted(connection, make_tables), str(path))  # type: ignore[arg-type]
        # A log has room for what readers do not see; without one the rival has to wait for them.
        assert told == ["database is locked" if journal == "delete" else "made"]
        if journal == "delete":
            make_tables()
            assert told[1:] == ["made"]
        _file._check_ours(connection, str(path))


def test_a_store_of_an_earlier_version_is_brought_up_to_date(tmp_path: Path):
    path = tmp_path / "m.sqlite"
    with CalibrationMonitor(path) as monitor:
        for seed in range(3):
            monitor.update(*rows(seed), by=["a", "b"] * 125)
        expected = monitor.status()
    with sqlite3.connect(path) as connection:  # as version 1 had it: buckets of every stream
        connection.execute(
            "INSERT INTO bucket_streams SELECT (SELECT max(id) FROM buckets), id, n_rows,"
            " deviation, squared, wealth FROM streams WHERE id > 1"
        )
        for table, column in (
            ("streams", "deviation"),
            ("streams", "squared"),
            ("buckets", "predicted"),
        ):
            connection.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
        for table in ("states", "recent", "versions", "epochs"):
            connection.execute(f"DROP TABLE {table}")
        connection.execute("PRAGMA user_version = 1")
    connection.close()
    with CalibrationMonitor(path) as monitor:
        found = monitor.status()
        version = monitor._memory.store.database.connection.execute(
            "PRAGMA user_version"
        ).fetchone()
        assert version == (_schema.VERSION,)
        assert monitor.update(*rows(3)).n_samples == 1000
    assert found.n_samples == expected.n_samples
    for one, other in zip(found.streams, expected.streams, strict=True):
        assert one.name == other.name
        assert one.e_value == other.e_value
        assert one.deviation == pytest.approx(other.deviation, abs=1e-12)
        assert one.low == pytest.approx(other.low, abs=1e-12)
    for one, other in zip(found.estimates, expected.estimates, strict=True):
        assert one.mean_predicted == pytest.approx(other.mean_predicted, abs=1e-12)


def test_a_change_of_tables_that_fails_leaves_the_old_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "m.sqlite"
    with CalibrationMonitor(path) as monitor:
        monitor.update(*rows(0))

    def half(database: SqliteDatabase) -> None:
        database.run("ALTER TABLE streams ADD COLUMN colour TEXT")
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(_schema, "VERSION", _schema.VERSION + 1)
        patch.setitem(_schema._MIGRATIONS, _schema.VERSION - 1, half)
        with pytest.raises(VeridicalError, match="is full"):
            CalibrationMonitor(path)
    with CalibrationMonitor(path) as monitor:
        names = [
            row[1]
            for row in monitor._memory.store.database.connection.execute(
                "PRAGMA table_info(streams)"
            )
        ]
        assert "colour" not in names
        assert monitor.status().n_samples == 250
