"""How fast batches are counted: against an earlier version, and PostgreSQL against bare inserts.

python benchmarks/bench_monitor.py --write docs/evidence --against OTHER/src

Rates are rows a second with one commit a batch, each taken in a process of its own, in turns; each
keeps its best turn, and ratios are of one run. Two versions are compared by the time of the
processor (disk and neighbours are the same for both), PostgreSQL and bare inserts by the clock,
since a server works for them. `--against` is the `src` folder of another version. Bare inserts
write the same rows (name, outcome, prediction) with psycopg's executemany into one table without an
index, and commit after each batch as well.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
CASES = {"two classes": (250, 2, 0), "larger batches": (1000, 2, 0), "ten groups": (1000, 2, 10),
         "five classes": (1000, 5, 0)}  # fmt: skip
N_BATCHES = 40


def batches(n_rows: int, n_classes: int, n_groups: int) -> list[dict[str, object]]:
    rng = np.random.default_rng(0)
    found = []
    for i in range(N_BATCHES):
        p = rng.dirichlet(np.ones(n_classes), n_rows)
        y = (p.cumsum(axis=1) > rng.random((n_rows, 1))).argmax(axis=1)
        by = rng.integers(0, n_groups, n_rows) if n_groups else None
        given = p[:, 1] if n_classes == 2 else p
        found.append({"y_true": y, "y_prob": given, "by": by, "batch_id": f"{i}"})
    return found


def counted(path: str, case: str) -> float:
    """Rows a second of a monitor."""
    clock = time.perf_counter if path.startswith("postgresql:") else time.process_time
    from veridical.monitoring import CalibrationMonitor

    n_rows, n_classes, n_groups = CASES[case]
    data = batches(n_rows, n_classes, n_groups)
    with CalibrationMonitor(path, labels=list(range(n_classes))) as monitor:
        monitor.update(**data[0])  # what is imported and planned once
        start = clock()
        for each in data[1:]:
            monitor.update(**each)
        return (N_BATCHES - 1) * n_rows / (clock() - start)


def inserted(address: str, case: str) -> float:
    """Rows a second of psycopg alone."""
    import psycopg

    n_rows, n_classes, n_groups = CASES[case]
    data = batches(n_rows, n_classes, n_groups)
    with psycopg.connect(address.replace("&schema=bare", "")) as connection:
        connection.execute("CREATE TABLE bare (id TEXT, y INT, p DOUBLE PRECISION)")
        connection.commit()
        start = time.perf_counter()
        for each in data[1:]:
            rows = zip(each["y_true"].tolist(), each["y_prob"].tolist(), strict=True)
            with connection.cursor() as cursor:
                cursor.executemany(
                    "INSERT INTO bare VALUES (%s, %s, %s)",
                    [(f"{each['batch_id']}-{i}", *row) for i, row in enumerate(rows)],
                )
            connection.commit()
        rate = (N_BATCHES - 1) * n_rows / (time.perf_counter() - start)
        connection.execute("DROP TABLE bare")
    return rate


def measured(source: Path, kind: str, where: str, case: str) -> float:
    """The rate of a process of its own."""
    path = os.pathsep.join([str(source), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, __file__, "--child", kind, where, case],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"},
        check=False,
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return float(json.loads(done.stdout))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", type=Path)
    parser.add_argument("--against", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--child", nargs=3)
    asked = parser.parse_args()
    if asked.child:
        kind, where, case = asked.child
        print(json.dumps({"monitor": counted, "bare": inserted}[kind](where, case)))
        return
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        if asked.against:
            for case in CASES:
                old, new = [], []
                for i in range(asked.rounds):
                    for source, found in ((asked.against, old), (ROOT / "src", new)):
                        where = f"{folder}/{case}-{i}-{len(found)}-{source.parent.name}.sqlite"
                        found.append(measured(source, "monitor", where, case))
                rows.append(("file against earlier version", case, max(new), max(old)))
                print(rows[-1], flush=True)
    sys.path.insert(0, str(ROOT / "tests"))
    from postgres_server import postgres_server

    with postgres_server() as server:
        for case in ("larger batches", "ten groups"):
            ours, bare = [], []
            for i in range(asked.rounds):
                where = server.address(f"m{i}_{case.replace(' ', '_')}")
                ours.append(measured(ROOT / "src", "monitor", where, case))
                bare.append(measured(ROOT / "src", "bare", server.address("bare"), case))
            rows.append(("postgres against bare inserts", case, max(ours), max(bare)))
            print(rows[-1], flush=True)
    if asked.write:
        with (asked.write / "monitor_speed.csv").open("w", newline="") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(["comparison", "case", "rows_a_batch", "batches", "rounds", "ratio"])
            for comparison, case, ours, other in rows:
                size = CASES[case][0]
                line = [comparison, case, size, N_BATCHES, asked.rounds, f"{ours / other:.3f}"]
                writer.writerow(line)


if __name__ == "__main__":
    main()
