"""Processes that update one store are killed, or run at once; run by `test_crash.py`.

python tests/monitoring/rough_treatment.py FOLDER 200

A script of its own, with one thread, since processes are made by forking.
"""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from veridical.monitoring import CalibrationMonitor
from veridical.results.monitoring import MonitorStatus

BATCHES = 30


def batch(i: int) -> dict[str, object]:
    rng = np.random.default_rng(i)
    p = rng.random(250)
    y = (rng.random(250) < p).astype(int)
    by = rng.choice(["a", "b", "c"], 250)
    return {"y_true": y, "y_prob": p, "by": by, "timestamp": f"{i:03d}", "batch_id": f"{i}"}


def send(path: Path, numbers: Iterable[int], tell: int, pause: float) -> None:
    """Send batches, and tell of each that was taken."""
    with CalibrationMonitor(path, labels=[0, 1]) as monitor:
        os.write(tell, b"o")
        for i in numbers:
            monitor.update(**batch(i))  # type: ignore[arg-type]
            os.write(tell, b"x")
            time.sleep(pause)


def started(path: Path, numbers: Iterable[int], pause: float = 0) -> tuple[int, int]:
    """A process that sends, and where it tells."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        code = 1
        try:
            send(path, numbers, write, pause)
            code = 0
        finally:
            os._exit(code)
    os.close(write)
    return child, read


def told(read: int) -> bytes:
    """All that was told until the end."""
    with os.fdopen(read, "rb") as stream:
        return stream.read()


def serial(order: Iterable[int]) -> CalibrationMonitor:
    monitor = CalibrationMonitor(labels=[0, 1])
    for i in order:
        monitor.update(**batch(i))  # type: ignore[arg-type]
    return monitor


def check(path: Path, acknowledged: int) -> int:
    """Look at the store after a kill; returns how many batches it holds."""
    with CalibrationMonitor(path, labels=[0, 1]) as monitor:
        status = monitor.status()
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        names = {int(row[0]) for row in connection.execute("SELECT batch_id FROM batches")}
    connection.close()
    assert names == set(range(len(names))), names
    assert status.n_batches == len(names), (status.n_batches, names)
    assert status.n_samples == 250 * len(names)
    assert len(names) >= acknowledged, (acknowledged, names)
    return len(names)


def killed(folder: Path, n_kills: int) -> None:
    """Kill a sender again and again; what it said was taken is there, once."""
    rng = random.Random(0)
    expected = serial(range(BATCHES)).status()
    store, held, during, taken = 0, 0, 0, 0
    path = folder / "store-0.sqlite"
    for _ in range(n_kills):
        first = max(0, held - 2)  # two that are known are sent again
        child, read = started(path, range(first, BATCHES))
        said = os.read(read, 1) if rng.random() < 0.8 else b""
        time.sleep(rng.uniform(0, 0.05))
        os.kill(child, signal.SIGKILL)
        said += told(read)
        os.waitpid(child, 0)
        during += said.startswith(b"o") and said.count(b"x") < BATCHES - first
        before, held = held, check(path, max(held, first + said.count(b"x")))
        taken += held - before
        if held == BATCHES:
            check_equal(path, expected)
            store, held = store + 1, 0
            path = folder / f"store-{store}.sqlite"
    child, read = started(path, range(BATCHES))  # once more, all of them, without a kill
    told(read)
    assert os.waitpid(child, 0)[1] == 0
    check_equal(path, expected)
    print(f"{n_kills} kills, {during} while sending, {taken} batches taken in between: all whole")


def check_equal(path: Path, expected: MonitorStatus) -> None:
    with CalibrationMonitor(path) as monitor:
        assert monitor.status() == expected


def together(folder: Path) -> None:
    """Two at once: their batches count as if they had come in some order, and once."""
    path = folder / "two.sqlite"
    children = [started(path, range(half, BATCHES, 2), 0.005) for half in (0, 1)]
    children += [started(path, range(BATCHES)[::-1], 0.005)]  # who sends all of them once more
    for child, read in children:
        told(read)
        assert os.waitpid(child, 0)[1] == 0
    assert check(path, BATCHES) == BATCHES
    with CalibrationMonitor(path) as monitor:
        order = [int(text) for text in monitor.history().ended]  # 250 rows fill a bucket
        assert sorted(order) == list(range(BATCHES))
        assert monitor.status() == serial(order).status()
    print(f"order {order}: as one after another")


if __name__ == "__main__":
    killed(Path(sys.argv[1]), int(sys.argv[2]))
    together(Path(sys.argv[1]))
