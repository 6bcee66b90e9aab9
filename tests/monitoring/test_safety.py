"""Files of other programs stay as they are, and a store can be looked at without writing to it."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from veridical.exceptions import InvalidInputError, VeridicalError
from veridical.monitoring import CalibrationMonitor, merge_stores
from veridical.report import monitor_report

FOREIGN = {
    "a version like ours": ["PRAGMA user_version = 2", "CREATE TABLE recipes (name TEXT)"],
    "a table like ours": ["CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT)"],
    "both": ["PRAGMA user_version = 2", "CREATE TABLE settings (name TEXT, value TEXT)",
             "CREATE TABLE streams (id INTEGER)"],
    "a version and nothing else": ["PRAGMA user_version = 1"],
    "a mark of its own": ["PRAGMA application_id = 252006675"],
    "a log beside it": ["PRAGMA journal_mode = WAL", "CREATE TABLE recipes (name TEXT)"],
}  # fmt: skip


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.mark.parametrize("kind", FOREIGN)
def test_files_of_other_programs_stay_as_they_are(tmp_path: Path, kind: str):
    path = tmp_path / "theirs.sqlite"
    connection = sqlite3.connect(path)
    for statement in FOREIGN[kind]:
        connection.execute(statement)
    connection.commit()
    connection.close()
    before = contents(tmp_path)
    for open_it in (
        lambda: CalibrationMonitor(path),
        lambda: CalibrationMonitor(path, read_only=True),
        lambda: merge_stores([path]),
        lambda: monitor_report(path),
    ):
        with pytest.raises(VeridicalError, match="is not a monitor's store"):
            open_it()
    assert contents(tmp_path) == before


def test_a_store_from_before_files_were_marked_is_known_by_its_tables(tmp_path: Path):
    path = tmp_path / "old.sqlite"
    with CalibrationMonitor(path) as monitor:
        monitor.update([0, 1, 1], [0.2, 0.7, 0.9])
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA application_id = 0")
    with CalibrationMonitor(path) as monitor:
        assert monitor.status().n_samples == 3
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA application_id").fetchone() == (0x76657269,)


@pytest.mark.parametrize(
    "code",
    [
        "CREATE TRIGGER t AFTER INSERT ON settings BEGIN DELETE FROM streams; END",
        "CREATE VIEW v AS SELECT * FROM settings",
    ],
)
def test_a_store_that_would_run_code_is_refused(tmp_path: Path, code: str):
    path = tmp_path / "m.sqlite"
    with CalibrationMonitor(path) as monitor:
        monitor.update([0, 1, 1], [0.2, 0.7, 0.9])
    with sqlite3.connect(path) as connection:
        connection.execute(code)
    for read_only in (False, True):
        with pytest.raises(VeridicalError, match="would run when it is written to"):
            CalibrationMonitor(path, read_only=read_only)


def test_looking_writes_nothing_and_changes_are_refused(tmp_path: Path):
    path = tmp_path / "m.sqlite"
    rng = np.random.default_rng(0)
    p = rng.random(500)
    with CalibrationMonitor(path) as monitor:
        monitor.update((rng.random(500) < p).astype(int), p)
        known = monitor.status()
    before = contents(tmp_path)
    with CalibrationMonitor(path, read_only=True) as looking:
        assert looking.status() == known
        assert looking.history().n_rows.sum() == 500
        for change in (
            lambda: looking.update([0, 1], [0.2, 0.7]),
            lambda: looking.observe(["a"], [0.2]),
            lambda: looking.refit(),
        ):
            with pytest.raises(VeridicalError, match="for reading only"):
                change()
        assert looking.status() == known
    assert contents(tmp_path) == before
    with pytest.raises(InvalidInputError, match="existing store"):
        CalibrationMonitor(tmp_path / "none.sqlite", read_only=True)
    assert not (tmp_path / "none.sqlite").exists()


def test_what_another_process_has_just_counted_is_seen(tmp_path: Path):
    path = tmp_path / "m.sqlite"
    with CalibrationMonitor(path) as writing:  # its log is not yet in the file
        writing.update([0, 1, 1], [0.2, 0.7, 0.9])
        with CalibrationMonitor(path, read_only=True) as looking:
            assert looking.status().n_samples == 3
        writing.update([0, 1, 1], [0.2, 0.7, 0.9])
        assert writing.status().n_samples == 6


@pytest.mark.skipif(
    os.name != "posix" or os.geteuid() != 0, reason="becomes another user, who may not write"
)
def test_status_in_a_folder_that_cannot_be_written_to(tmp_path: Path):
    folder = Path("/var/tmp") / f"veridical-{os.getpid()}"  # others cannot enter pytest's folders
    folder.mkdir(mode=0o755)
    try:
        path = folder / "m.sqlite"
        with CalibrationMonitor(path) as monitor:
            monitor.update([0, 1, 1], [0.2, 0.7, 0.9])
        path.chmod(0o444)
        code = (
            "import os, sys; from veridical.monitoring import CalibrationMonitor;"
            "from veridical.report import monitor_report;"
            "import functools, importlib.metadata as m;"
            "m.version = functools.cache(m.version);"  # the other user may not see the packages
            "own = CalibrationMonitor(); own.update([0, 1, 1], [0.2, 0.7, 0.9]);"
            "own.status(), own.history(), monitor_report(own).html; os.setuid(65534);"
            f"m = CalibrationMonitor({str(path)!r}, read_only=True);"
            "print(m.status().n_samples, int(m.history().n_rows.sum()),"
            f" len(monitor_report({str(path)!r}).html) > 10_000)"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=False
        )
        assert done.stdout.split() == ["3", "3", "True"], done.stderr
        assert [each.name for each in folder.iterdir()] == ["m.sqlite"]
    finally:
        shutil.rmtree(folder)


@pytest.mark.parametrize("bad", [None, float("nan"), [1], True, b"a"], ids=str)
def test_names_of_predictions_are_names(bad: object):
    monitor = CalibrationMonitor(labels=[0, 1])
    ids = np.empty(1, dtype=object)
    ids[0] = bad
    with pytest.raises(InvalidInputError, match="`id`"):
        monitor.observe(ids, [0.2])


def test_a_name_that_became_a_decimal_number_is_found_again():
    monitor = CalibrationMonitor(labels=[0, 1])
    monitor.observe([1, 2], [0.2, 0.7])
    monitor.resolve([2.0, 1.0], [1, 0])
    assert monitor.status().n_samples == 2
