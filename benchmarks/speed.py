"""CPU time and memory of every public operation, with the best other package beside it.

    python benchmarks/speed.py --write docs/evidence     # the whole table: speed.csv, speed.md
    python benchmarks/speed.py --quick                   # three minutes; says what became slower
    python benchmarks/speed.py --only kernel_test        # jobs whose name contains it
    python benchmarks/speed.py --missing --cpu 600 --write docs/evidence  # go on where it ended

Times are CPU seconds of one process and one thread of linear algebra, each
contender's best turn. The yardstick is a fixed piece of NumPy, timed beside every job, so that
ratios to it can be compared between machines and days. Memory is what Python and NumPy allocate
during a call, beyond its input. Packages that are absent are left out, and jobs at a size if a
smaller one takes more than five seconds.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import os
import time
import tracemalloc
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import numpy as np
from data import Sample, make_sample
from report import facts_of_machine
from speed_jobs import EXTRA, JOBS, Job

HERE = Path(__file__).parent
TABLE = HERE.parent / "docs" / "evidence" / "speed.csv"
HEADER = ["job", "classes", "rows", "seconds", "yardsticks", "peak_mb", "input_mb"]
HEADER += ["peer", "peer_seconds", "times_as_fast"]
GREW = 1.5
MOST_VALUES = 10**7
QUICK_UP_TO = 1.0
BLINK = 2e-3
LONG = 3.0
LAST = 5.0


@dataclass(frozen=True)
class Case:
    """A job at one size."""

    job: Job
    n_rows: int
    n_classes: int

    @property
    def key(self) -> tuple[str, str, str]:
        """How the table names it."""
        return self.job.name, str(self.n_classes), str(self.n_rows)


def cases() -> list[Case]:
    """All jobs at all sizes, those of one sample together."""
    found = [
        Case(job, n, k)
        for job in [*JOBS, *EXTRA]
        for k in job.classes
        for n in job.sizes
        if k == 2 or n * k <= MOST_VALUES or job in EXTRA
    ]
    return sorted(found, key=lambda case: (case.n_classes, case.n_rows))


@lru_cache(maxsize=1)
def sample(n_rows: int, n_classes: int) -> Sample:
    """Drawn once for the jobs that share it."""
    return make_sample(n_rows, n_classes)


_VALUES = np.random.default_rng(0).random(200_000)


def yardstick() -> float:
    """A sort, a sum by bin and an exponential of 200,000 numbers."""
    values = np.sort(_VALUES)
    place = (values * 100).astype(np.intp)
    return float(np.bincount(place, np.exp(_VALUES)).sum())


def cpu(call: Callable[[], Any]) -> float:
    """CPU seconds of one call."""
    start = time.process_time()
    call()
    return time.process_time() - start


def best_times(calls: dict[str, Callable[[], Any]], budget: float) -> dict[str, float]:
    """Best turn of each contender: at most nine turns, none after the budget is spent."""
    best = dict.fromkeys(calls, np.inf)
    spent = dict.fromkeys(calls, 0.0)
    for turn in range(10):
        for name, call in calls.items():
            if turn < 2 or spent[name] < budget:
                took = cpu(call)
                spent[name] += took
                if turn or took > budget:  # the first turn imports
                    best[name] = min(best[name], took)
                if turn == 0 and took > budget:
                    spent[name] = np.inf
        if all(s >= budget for s in spent.values()):
            break
    return best


def peak(call: Callable[[], Any]) -> float:
    """Megabytes allocated during a call."""
    tracemalloc.start()
    call()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most / 1e6


def run(case: Case, budget: float, *, whole: bool) -> list[str]:
    """One line of the table."""
    s = sample(case.n_rows, case.n_classes)
    calls = {"veridical": case.job.make(s), "yardstick": yardstick}
    for name, make in (case.job.peers or {}).items() if whole else ():
        if case.n_classes == 2 or name in ("scikit-learn", "one argmax", "netcal"):
            try:
                calls[name] = make(s)
                calls[name]()
            except (ImportError, ValueError):
                calls.pop(name, None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        best = best_times(calls, budget)
        short = best["veridical"] < LONG  # tracing memory makes much Python much slower
        used = f"{peak(calls['veridical']):.1f}" if whole and short else ""
    own, yard = best.pop("veridical"), best.pop("yardstick")
    line = [*case.key, f"{own:.4g}", f"{own / yard:.4g}", used, f"{s.nbytes / 1e6:.1f}"]
    if not best:
        return [*line, "", "", ""]
    peer = min(best, key=lambda name: best[name])
    return [*line, peer, f"{best[peer]:.4g}", f"{best[peer] / own:.2f}"]


def is_smaller(line: list[str], case: Case) -> bool:
    """Whether a line of the table is of the same job and classes, and of fewer rows."""
    name, classes, rows = case.key
    return line[:2] == [name, classes] and int(line[2]) < int(rows)


def committed() -> dict[tuple[str, ...], list[str]]:
    """The lines of the table that is kept."""
    if not TABLE.exists():
        return {}
    with TABLE.open(encoding="utf-8") as stream:
        return {tuple(line[:3]): line for line in csv.reader(stream)}


def quick(chosen: list[Case]) -> int:
    """Run what takes less than a second; print what grew against the committed table."""
    before = committed()
    slower = 0
    for case in chosen:
        old = before.get(case.key)
        if old is None or float(old[3]) > QUICK_UP_TO or case.job in EXTRA:
            continue
        was, now = float(old[4]), run(case, 0.1, whole=False)
        if float(now[4]) > GREW * was and float(now[3]) > BLINK:
            now = run(case, 1.0, whole=False)  # once more, with more turns
        if float(now[4]) > GREW * was and float(now[3]) > BLINK:
            slower += 1
            print(f"{'  '.join(case.key)}: {was:.3g} -> {float(now[4]):.3g} yardsticks", flush=True)
    print(f"{slower} jobs are more than {GREW} times as slow as in {TABLE.name}.")
    return slower


def write(lines: list[list[str]], folder: Path) -> None:
    """Write `speed.csv`, and the table of `speed.md` between its marks."""
    with (folder / "speed.csv").open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows([HEADER, *lines])
    page = folder / "speed.md"
    text = page.read_text(encoding="utf-8")
    head, mark, rest = text.partition("<!-- table -->")
    tail = rest.partition("<!-- end of table -->")[2]
    table = ["", "", f"{datetime.datetime.now(datetime.UTC):%d %B %Y}. {facts_of_machine()[0]}", ""]
    table += ["| " + " | ".join(HEADER) + " |", "|---" * len(HEADER) + "|"]
    table += ["| " + " | ".join(line) + " |" for line in lines]
    body = "\n".join([*table, "", "<!-- end of table -->"])
    page.write_text(head + mark + body + tail, encoding="utf-8")


def main() -> None:
    """Run the jobs chosen on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", metavar="WORD", help="jobs whose name contains it")
    parser.add_argument("--rows", type=int, default=10**8, help="samples of at most so many rows")
    parser.add_argument("--from-rows", type=int, default=0, help="samples of at least so many")
    parser.add_argument("--budget", type=float, default=1.5, help="seconds before turns stop")
    parser.add_argument("--missing", action="store_true", help="only what the table lacks")
    parser.add_argument("--cpu", type=float, default=0, help="seconds after which to stop")
    parser.add_argument("--quick", action="store_true", help="compare with the committed table")
    parser.add_argument("--write", type=Path, metavar="DIR", help="write the table there")
    options = parser.parse_args()
    within = range(options.from_rows, options.rows + 1)
    chosen = [c for c in cases() if options.only in c.job.name and c.n_rows in within]
    if options.quick:
        quick(chosen)
        return
    print(*HEADER, sep="  ")
    known = committed()
    known.pop(tuple(HEADER[:3]), None)
    if options.missing:
        chosen = [case for case in chosen if case.key not in known]
    everything = not (options.only or options.missing or options.cpu) and len(within) > 10**8
    kept = {} if everything else dict(known)
    for case in chosen:
        if any(is_smaller(line, case) and float(line[3]) > LAST for line in kept.values()):
            kept.pop(case.key, None)
            continue
        if options.cpu and time.process_time() > options.cpu:
            break
        line = run(case, options.budget, whole=True)
        kept[case.key] = line
        print(*line, sep="  ", flush=True)
        if options.write:
            write(in_order(kept), options.write)


def in_order(kept: dict[tuple[str, ...], list[str]]) -> list[list[str]]:
    """Lines of cases that there are, as the jobs are listed."""
    known = {case.key for case in cases()}
    names = [job.name for job in [*JOBS, *EXTRA]]
    keys = [key for key in kept if key in known]
    keys.sort(key=lambda key: (names.index(key[0]), int(key[1]), int(key[2])))
    return [kept[key] for key in keys]


if __name__ == "__main__":
    main()
