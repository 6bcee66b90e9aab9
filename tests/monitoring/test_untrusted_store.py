"""A store is data, not trust: what a monitor would not have written is refused when it is read."""

import math
import shutil
import sqlite3
import warnings

import numpy as np
import pytest
from calibrators.mutations import CANARY

from veridical.exceptions import VeridicalError
from veridical.monitoring import CalibrationMonitor


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A store with batches, waiting predictions, groups and a map on trial."""
    path = tmp_path_factory.mktemp("store") / "monitor.db"
    rng = np.random.default_rng(0)
    monitor = CalibrationMonitor(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(3):
            p = rng.random(300)
            y = (rng.random(300) < p**2).astype(int)
            monitor.update(y, p, by=np.where(p > 0.3, "a", "b"))
        monitor.observe(["x", "y"], [0.2, 0.4])
        monitor.refit()
    monitor.close()
    return path


NUMBERS = (CANARY, math.inf, -1e300, b"\0" * 8, 1e300)
BLOBS = (CANARY, b"", b"\0" * 7, np.full(4, np.nan).tobytes(), None)
TABLES = {
    "streams": ("share", "n_rows", "log_e", "log_max", "deviation", "squared"),
    "buckets": ("n_rows", "log_e", "predicted"),
    "bucket_streams": ("n_rows", "deviation", "squared"),
}
TABLES_OF_BLOBS = {
    "streams": ("wealth",),
    "buckets": ("counts", "sum_p"),
    "bucket_streams": ("factors",),
    "predictions": ("p",),
}
CASES = [
    *((t, c, v) for t, columns in TABLES.items() for c in columns for v in NUMBERS),
    *((t, c, v) for t, columns in TABLES_OF_BLOBS.items() for c in columns for v in BLOBS),
    ("buckets", "ordinal", 2**62),
    ("streams", "family", CANARY),
    ("streams", "name", CANARY),
    ("settings", "value", CANARY),
    ("settings", "value", "[" * 10_000),
    ("versions", "calibrator", CANARY),
    ("versions", "calibrator", "{}"),
    ("recent", "p", np.full(300, 7.0).tobytes()),
    ("recent", "y", b"\xff" * 1200),
]


@pytest.mark.parametrize(("table", "column", "value"), CASES)
def test_foreign_values_are_refused(table, column, value, store, tmp_path):
    path = tmp_path / "monitor.db"
    shutil.copy(store, path)
    connection = sqlite3.connect(path)
    try:
        connection.execute(f"UPDATE {table} SET {column} = ?", (value,))
    except sqlite3.IntegrityError:
        return  # the database itself refuses it
    connection.commit()
    connection.close()
    with pytest.raises(VeridicalError, match="Hint") as caught:
        use(path)
    assert len(str(caught.value)) < 1500


def use(path):
    """Open a store, list its maps, and fit another to its rows."""
    monitor = CalibrationMonitor(path)
    monitor.versions()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        monitor.refit()


def test_the_store_itself_is_read(store):
    monitor = CalibrationMonitor(store)
    assert monitor.status().n_samples == 900
    monitor.close()


@pytest.mark.parametrize("table", ["buckets", "streams"])
def test_sums_that_belong_to_nothing_are_refused(table, store, tmp_path):
    path = tmp_path / "monitor.db"
    shutil.copy(store, path)
    connection = sqlite3.connect(path)
    connection.execute(f"UPDATE {table} SET id = id + 99")
    connection.commit()
    connection.close()
    with pytest.raises(VeridicalError, match="bucket_streams"):
        CalibrationMonitor(path, read_only=True)
