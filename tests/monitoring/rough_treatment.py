"""Processes that update one store are killed, or run at once; run by `test_crash.py`.

python tests/monitoring/rough_treatment.py killed FOLDER 200
python tests/monitoring/rough_treatment.py together FOLDER

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

BATCHES = 30


def batch(i: int) -> dict[str, object]:
    rng = np.random.default_rng(i)
    p = rng.random(250)
    y = (rng.random(250) < p).astype(int)
    by = rng.choice(["a", "b", "c"], 250)
    return {"y_true": y, "y_prob": p, "by": by, "timestamp": f"{i:03d}", "batch_id": f"{i}"}


def send(path: Path, numbers: Iterable[int], tell: int) -> None:
    """Send batches, and tell the number of each that was taken."""
    with CalibrationMonitor(path, labels=[0, 1]) as monitor:
        os.write(tell, b"o")
        for i in numbers:
            monitor.update(**batch(i))  # type: ignore[arg-type]
            os.write(tell, b"x")


def started(path: Path, numbers: Iterable[int]) -> tuple[int, int]:
    """A process that sends, and where it tells."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        code = 1
        try:
            send(path, numbers, write)
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
    """Kill a sender again and again; what it was told was taken is there, once."""
    rng = random.Random(0)
    expected = serial(range(BATCHES)).status()
    path, round_, held, interrupted = folder / "store-0.sqlite", 0, 0, 0
    for _ in range(n_kills):
        child, read = started(path, range(BATCHES))
        said = os.read(read, 1) if rng.random() < 0.7 else b""
        time.sleep(rng.uniform(0, 0.03))
        os.kill(child, signal.SIGKILL)
        said += told(read)
        os.waitpid(child, 0)
        interrupted += said.count(b"x") < BATCHES
        held = check(path, max(held, said.count(b"x")))
        if held == BATCHES:
            with CalibrationMonitor(path) as monitor:
                assert monitor.status() == expected
            round_, held = round_ + 1, 0
            path = folder / f"store-{round_}.sqlite"
    child, read = started(path, range(BATCHES))  # once more without a kill
    told(read)
    assert os.waitpid(child, 0)[1] == 0
    with CalibrationMonitor(path) as monitor:
        assert monitor.status() == expected
    print(f"{n_kills} kills, {interrupted} of them before the end, {round_ + 1} stores: all whole")


def together(folder: Path) -> None:
    """Two at once: their batches count as if they had come in some order, and once."""
    path = folder / "two.sqlite"
    children = [started(path, range(half, BATCHES, 2)) for half in (0, 1)]
    children += [started(path, range(BATCHES))]  # who sends all of them once more
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
    what, where = sys.argv[1], Path(sys.argv[2])
    if what == "killed":
        killed(where, int(sys.argv[3]))
    else:
        together(where)
