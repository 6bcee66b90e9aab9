"""Time and memory of calibration errors, against other packages and plain NumPy.

    python benchmarks/bench_errors.py                       # print the table
    python benchmarks/bench_errors.py --write results       # also foundation.csv and foundation.md
    python benchmarks/bench_errors.py --only confidence     # tasks whose name contains a word
    python benchmarks/bench_errors.py --full                # also 1e8 binary rows (about 10 GB)

veridical must be importable (installed, or `PYTHONPATH=src`). It runs twice, as modes `numpy`
(compiled loops hidden) and `fast` (with them, if there are any). Packages that are absent are
reported as such.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NamedTuple

from contenders import PEERS
from report import Row, print_table, write
from timing import Process, Turns, take_turns, time_imports


class Task(NamedTuple):
    """A question asked of a sample of a given size."""

    name: str
    kind: str
    n_rows: int
    n_classes: int
    full_only: bool = False


TASKS = [
    Task("binary ECE, 1e5 rows", "binary", 10**5, 2),
    Task("binary ECE, 1e6 rows", "binary", 10**6, 2),
    Task("binary ECE, 1e7 rows", "binary", 10**7, 2),
    Task("binary ECE, 1e8 rows", "binary", 10**8, 2, full_only=True),
    Task("confidence ECE, 1e6 x 10", "confidence", 10**6, 10),
    Task("confidence ECE, 5e4 x 1000", "confidence", 5 * 10**4, 1000),
    Task("classwise ECE, 1e6 x 10", "classwise", 10**6, 10),
    Task("classwise ECE, 5e4 x 1000", "classwise", 5 * 10**4, 1000),
    Task("evaluate, 1e6 binary rows", "evaluate", 10**6, 2),
]
IMPORTS = {
    "numpy": "import numpy",
    "veridical": "import veridical",
    "veridical, first function": "from veridical import expected_calibration_error",
    "scikit-learn calibration_curve": "from sklearn.calibration import calibration_curve",
    "relplot": "import relplot",
    "netcal metrics": "import netcal.metrics",
    "torchmetrics": "import torchmetrics",
}
IMPORT_TASK = "import time"


def run_task(processes: dict[str, Process], task: Task, repeats: int, budget: float) -> list[Row]:
    """Time all contenders of a task, then measure the memory of ours."""
    turns = [Turns("veridical", mode) for mode in ("numpy", "fast")]
    turns += [Turns(name, "peer") for name in PEERS[task.kind]]
    for mode in {turn.mode for turn in turns}:
        sample = processes[mode].ask("prepare", n_rows=task.n_rows, n_classes=task.n_classes)
    take_turns(processes, turns, task.kind, repeats, budget)
    rows = []
    for turn in turns:
        row = Row(task.name, turn.contender, turn.mode, turn.best, len(turn.seconds), turn.value)
        row.status, row.input_bytes = turn.status, sample.get("input_bytes")
        if turn.contender == "veridical" and turn.status == "ok":
            answer = processes[turn.mode].ask("memory", contender=turn.contender)
            row.peak_extra = answer.get("peak_bytes")
        rows.append(row)
    return rows


def run_imports(repeats: int) -> list[Row]:
    """Time the import of each package in fresh interpreters."""
    return [
        Row(
            IMPORT_TASK, turn.contender, turn.mode, turn.best, len(turn.seconds), status=turn.status
        )
        for turn in time_imports(IMPORTS, repeats)
    ]


def check_modes(processes: dict[str, Process], rows: list[Row]) -> None:
    """Say so if a mode was not what its name promises."""
    if processes["numpy"].ask("facts")["compiled"]:
        msg = "loops are compiled in the process that must not have them"
        raise RuntimeError(msg)
    if not processes["fast"].ask("facts")["compiled"]:
        for row in rows:
            if row.mode == "fast" and row.status == "ok":
                row.status = "loops not compiled: make kernel"


def main() -> None:
    """Run the tasks chosen on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", metavar="WORD", help="tasks whose name contains it")
    parser.add_argument("--full", action="store_true", help="also the largest tasks")
    parser.add_argument("--repeats", type=int, default=7, help="turns for each contender")
    parser.add_argument("--budget", type=float, default=10.0, help="seconds before turns stop")
    parser.add_argument("--write", type=Path, metavar="DIR", help="write the tables there")
    options = parser.parse_args()
    processes = {mode: Process(mode) for mode in ("numpy", "fast", "peer")}
    rows: list[Row] = []
    for task in TASKS:
        if options.only in task.name and (options.full or not task.full_only):
            print(f"{task.name} ...", flush=True)
            rows += run_task(processes, task, options.repeats, options.budget)
    check_modes(processes, rows)
    for process in processes.values():
        process.close()
    if options.only in IMPORT_TASK:
        rows += run_imports(options.repeats)
    print_table(rows)
    if options.write:
        write(rows, options.write)


if __name__ == "__main__":
    main()
