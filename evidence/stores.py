"""Rough treatment of a monitor's store: kills, writers at once, full disks, cut lines.

python evidence/stores.py docs/evidence                      # about ten minutes on 2 cores
python evidence/stores.py build --kills 20 --rounds 1 --cuts 5 --no-full   # a sample, as in CI

A sender goes through a fixed list of steps: batches with names, predictions whose outcomes come
later, a refit, a switch. It is killed (SIGKILL) at a random moment, a new one is started that
sends the last steps again, and so on. After every kill the store is opened: it must be whole and
hold every step that was acknowledged. At the end of the list status, history and maps must equal,
to the bit, those of one process in memory that nobody disturbed. Where four write at once, the
order in which batches were taken is read from the store, and the comparison is with that order.

Full disks need a small tmpfs, which only root can mount; PostgreSQL needs initdb and postgres.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # processes are made by forking
os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import numpy as np
from postgres_server import NoServer, PostgresServer, postgres_server

from veridical.exceptions import VeridicalError
from veridical.monitoring import CalibrationMonitor

ROWS, STEPS = 250, 24
REFIT, SWITCH = 8, 16
PHASES = {b"o": "open", b"u": "update", b"p": "observe", b"r": "resolve", b"f": "refit",
          b"s": "switch", b"i": "between steps"}  # fmt: skip
Tell = Callable[[bytes], object]


def batch(i: int) -> dict[str, Any]:
    rng = np.random.default_rng(i)
    p = rng.random(ROWS)
    y = (rng.random(ROWS) < p**1.5).astype(int)
    by = rng.choice(["a", "b", "c"], ROWS)
    return {"y_true": y, "y_prob": p, "by": by, "timestamp": f"{i:03d}", "batch_id": f"{i}"}


def step(monitor: CalibrationMonitor, i: int, tell: Tell) -> None:
    """What happens at a step; sent again, it changes nothing."""
    if i == REFIT and not monitor.versions().versions:
        tell(b"f")
        monitor.refit("platt")
    if i == SWITCH and monitor.versions().current is None:
        tell(b"s")
        monitor.switch(force=True)
    tell(b"u")
    monitor.update(**batch(i))
    if i % 3 == 0:
        rng = np.random.default_rng(1000 + i)
        p = rng.random(40)
        names = [f"{i}-{k}" for k in range(40)]
        y = (rng.random(40) < p).astype(int)
        tell(b"p")
        monitor.observe(names, p, timestamp=f"{i:03d}")
        tell(b"r")
        monitor.resolve(names[:20], y[:20])
        monitor.resolve(names[20:], y[20:])  # and the cohort is counted
    tell(b"i")


def opened(path: Any) -> CalibrationMonitor:
    return CalibrationMonitor(path, labels=[0, 1], window=1000, online=True)


def started(path: Any, work: Callable[[CalibrationMonitor, Tell], None]) -> tuple[int, int]:
    """A process that works on a store, and where it tells what it does."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        code = 1
        try:
            os.write(write, b"o")
            with opened(path) as monitor:
                work(monitor, lambda word: os.write(write, word))
            code = 0
        except BaseException:
            traceback.print_exc()  # the parent sees only the code
        finally:
            os._exit(code)
    os.close(write)
    return child, read


def heard(read: int) -> bytes:
    with os.fdopen(read, "rb") as stream:
        return stream.read()


def known(monitor: CalibrationMonitor) -> tuple[Any, ...]:
    """Everything a store can tell."""
    return monitor.status(), monitor.versions(), monitor.history().to_dict()


def undisturbed(numbers: Iterable[int]) -> tuple[Any, ...]:
    monitor = opened(None)
    for i in numbers:
        step(monitor, i, lambda _: None)
    return known(monitor)


def held_steps(path: Any) -> int:
    """Steps that a store holds; raises unless they are the first ones, each once."""
    with opened(path) as monitor:
        names = {int(name) for name, _ in monitor._memory.store.batches()}
        status = monitor.versions()
    assert names == set(range(len(names))), names
    rows = sum(epoch.n_samples for epoch in status.epochs)
    cohorts, rest = divmod(rows - ROWS * len(names), 40)
    assert rest == 0, rows
    assert cohorts in (len(names) // 3, -(-len(names) // 3)), (rows, len(names))
    return len(names)


class Kills:
    """Kill a sender again and again."""

    def __init__(self, fresh: Callable[[int], Any], seed: int) -> None:
        self.fresh, self.rng = fresh, random.Random(seed)
        self.phases: Counter[str] = Counter()
        self.stores = self.taken = 0
        self.expected = undisturbed(range(STEPS))

    def run(self, n_kills: int) -> None:
        path, held = self.fresh(0), 0
        for _ in range(n_kills):
            first = max(0, held - 2)  # two that are known are sent again
            acknowledged = self.kill(path, first)
            before, held = held, held_steps(path)
            assert held >= max(before, first + acknowledged), (before, held, first, acknowledged)
            self.taken += held - before
            if held == STEPS:
                self.finish(path)
                path, held = self.fresh(self.stores), 0
        self.finish(path)

    def kill(self, path: Any, first: int) -> int:
        """Start a sender and kill it; returns how many steps it has acknowledged."""

        def work(monitor: CalibrationMonitor, tell: Tell) -> None:
            for i in range(first, STEPS):
                step(monitor, i, tell)

        child, read = started(path, work)
        wait = 0 if self.rng.random() < 0.2 else self.rng.randint(1, 12)
        said = b""
        while len(said) < wait and (word := os.read(read, 1)):
            said += word
        time.sleep(self.rng.uniform(0, 0.06 if wait == 0 else 0.012))
        os.kill(child, signal.SIGKILL)
        said += heard(read)
        os.waitpid(child, 0)
        self.phases[PHASES.get(said[-1:], "start")] += 1
        return said.count(b"i")

    def finish(self, path: Any) -> None:
        """All steps once more without a kill: the store equals one that nobody disturbed."""
        with opened(path) as monitor:
            for i in range(STEPS):
                step(monitor, i, lambda _: None)
            assert known(monitor) == self.expected
        self.stores += 1


def four_writers(path: Any, seed: int) -> int:
    """Each sends a quarter and then everybody's; two of them are killed and begin again."""
    rng = random.Random(seed)

    def sends(quarter: int) -> Callable[[CalibrationMonitor, Tell], None]:
        def work(monitor: CalibrationMonitor, tell: Tell) -> None:
            for i in [*range(quarter, STEPS, 4), *reversed(range(STEPS))]:
                monitor.update(**batch(i))
                tell(b"u")

        return work

    children = [(quarter, *started(path, sends(quarter))) for quarter in range(4)]
    killed = rng.sample(range(4), 2)
    for quarter in killed:
        time.sleep(rng.uniform(0, 0.15))
        os.kill(children[quarter][1], signal.SIGKILL)
    children += [(quarter, *started(path, sends(quarter))) for quarter in killed]
    for place, (quarter, child, read) in enumerate(children):
        heard(read)
        code = os.waitpid(child, 0)[1]
        assert code == 0 or (place < 4 and quarter in killed), code
    with opened(path) as monitor:
        order = [int(text) for text in monitor.history().ended]  # 250 rows fill a bucket
        assert sorted(order) == list(range(STEPS)), order
        alone = opened(None)
        for i in order:
            alone.update(**batch(i))
        assert known(monitor) == known(alone)
    return sum(a > b for a, b in pairwise(order))


def until_taken(monitor: CalibrationMonitor, i: int) -> int:
    """Send a step until it is taken; returns how often it was refused."""
    for refused in range(1000):
        try:
            step(monitor, i, lambda _: None)
        except VeridicalError:
            time.sleep(0.005)
        else:
            return refused
    raise AssertionError(i)


def cut_lines(server: PostgresServer, schema: str, n_cuts: int, seed: int) -> tuple[int, int]:
    """Cut the line of a sender at random moments, every tenth time by a failing server."""
    path, rng, stop = server.address(schema), random.Random(seed), threading.Event()
    cuts = 0

    def cut() -> None:
        nonlocal cuts
        while not stop.is_set() and cuts < n_cuts:
            time.sleep(rng.uniform(0, 0.15))
            if cuts % 10 == 9:
                server.stop("immediate")
                server.start()
            else:
                server.psql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                            " WHERE application_name = 'veridical'")  # fmt: skip
            cuts += 1

    thread = threading.Thread(target=cut)
    thread.start()
    refused, lists = 0, 0
    while thread.is_alive():
        address = f"{path}_{lists}"
        while True:
            try:
                monitor = opened(address)
                break
            except VeridicalError:
                time.sleep(0.02)
        for i in range(STEPS):
            refused += until_taken(monitor, i)
        while True:
            try:
                assert known(monitor) == undisturbed(range(STEPS))
                break
            except VeridicalError:  # cut while looking
                refused += 1
        monitor.close()
        lists += 1
    stop.set()
    thread.join()
    return refused, lists


@contextmanager
def small_disk(size: str) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="veridical-small-"))
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)
        folder.rmdir()


def fill(path: Any, folder: Path, size: str) -> tuple[int, int]:
    """Send until the disk is full, make room, send the rest: nothing is missing or double."""
    refused = 0
    with opened(path) as monitor:
        for i in range(STEPS):
            try:
                step(monitor, i, lambda _: None)
            except VeridicalError as error:
                if "Hint: free some space" not in str(error):
                    raise
                refused += 1
                with opened(path) as other:  # as it was before, for others too
                    assert other.status() == monitor.status()
                remount = ["mount", "-o", f"remount,size={size}", str(folder)]
                subprocess.run(remount, check=True)
                step(monitor, i, lambda _: None)
        assert known(monitor) == undisturbed(range(STEPS))
    assert refused
    return refused, STEPS


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kills", type=int, default=250, help="of each kind of store")
    parser.add_argument("--rounds", type=int, default=10, help="of four writers")
    parser.add_argument("--cuts", type=int, default=60)
    parser.add_argument("--no-full", action="store_true", help="without full disks")
    parser.add_argument("--only", choices=("file", "postgres"))
    asked = parser.parse_args()
    lines = ["store,treatment,times,detail"]

    def report(store: str, treatment: str, times: int, detail: str) -> None:
        lines.append(f"{store},{treatment},{times},{detail}")
        print(lines[-1], flush=True)

    work = Path(tempfile.mkdtemp(prefix="veridical-stores-"))
    if asked.only != "postgres":
        treat("file", lambda name: work / f"{name}.sqlite", asked, report)
        if not asked.no_full:
            with small_disk("600k") as folder:
                refused, steps = fill(folder / "m.sqlite", folder, "64m")
                report("file", "disk full", refused, f"all {steps} steps taken in the end")
    if asked.only != "file":
        try:
            with postgres_server("wal_level=minimal", "max_wal_senders=0") as server:
                treat("postgres", server.address, asked, report)
                refused, lists = cut_lines(server, "cut", asked.cuts, seed=3)
                detail = f"{refused} refused; {lists} lists of steps whole"
                report("postgres", "lines cut", asked.cuts, detail)
                if not asked.no_full:
                    fill_server(server, report)
        except NoServer as error:
            print(error)
    shutil.rmtree(work)
    asked.folder.mkdir(parents=True, exist_ok=True)
    (asked.folder / "monitor_stores.csv").write_text("\n".join(lines) + "\n")


def treat(
    store: str, place: Callable[[str], Any], asked: argparse.Namespace, report: Callable[..., None]
) -> None:
    """Kills and four writers."""
    kills = Kills(lambda number: place(f"kills_{number}"), seed=1)
    kills.run(asked.kills)
    phases = "; ".join(f"{name} {n}" for name, n in sorted(kills.phases.items()))
    report(store, "kills", asked.kills, phases)
    detail = f"{kills.taken} taken between kills; {kills.stores} stores equal to undisturbed ones"
    report(store, "steps after kills", kills.taken, detail)
    turns = sum(four_writers(place(f"four_{seed}"), seed) for seed in range(asked.rounds))
    report(store, "four writers", asked.rounds, f"each batch once; {turns} out of turn; 2 killed")


def fill_server(server: PostgresServer, report: Callable[..., None]) -> None:
    """Tables in a small tablespace; the server's own log stays where it was."""
    with small_disk("800k") as folder:
        shutil.chown(folder, "nobody" if os.geteuid() == 0 else None)
        server.psql(f"CREATE TABLESPACE small LOCATION '{folder}'")
        server.psql("ALTER ROLE tester SET default_tablespace = 'small'")
        refused, steps = fill(server.address("filled"), folder, "64m")
        report("postgres", "disk full", refused, f"all {steps} steps taken in the end")
        server.psql("ALTER ROLE tester RESET default_tablespace")
        server.psql("SET client_min_messages = error; DROP SCHEMA filled CASCADE")
        server.psql("DROP TABLESPACE small")


if __name__ == "__main__":
    main()
