"""What it takes to start: CPU time of whole processes, beside one that imports the argument parser.

    python benchmarks/bench_start.py                          # print the table
    python benchmarks/bench_start.py --write docs/evidence    # also start.csv

veridical must be importable (installed, or `PYTHONPATH=src`). Contenders take turns; the first turn
of each is not counted: it compiles the modules, which an installation has done before.
"""

from __future__ import annotations

import argparse
import csv
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

_COMMAND = "import sys; from veridical.cli import main; sys.exit(main([{words}]))"
_ROWS = """
import numpy, veridical
rng = numpy.random.default_rng(0)
p = rng.random(400)
y = (rng.random(400) < p**2).astype(int)
"""
CONTENDERS = {
    "python -c 'import argparse'": "import argparse",
    "python -c 'import veridical'": "import veridical",
    "veridical --version": _COMMAND.format(words="'--version'"),
    "veridical --help": _COMMAND.format(words="'--help'"),
    "veridical evaluate --help": _COMMAND.format(words="'evaluate', '--help'"),
    "python -c 'import numpy'": "import numpy",
    "python -c 'import sklearn.base'": "import sklearn.base",
    "first AutoCalibrator": "import veridical; veridical.AutoCalibrator()",
    "first AutoCalibrator, fitted to 400 rows": _ROWS + "veridical.AutoCalibrator().fit(p, y)",
    "first CalibrationMonitor": "import veridical; veridical.CalibrationMonitor()",
    "first CalibrationMonitor, 400 rows": _ROWS + "veridical.CalibrationMonitor().update(y, p)",
    "first make_report": "import veridical; veridical.make_report",
}


def seconds(code: str, compiled: str) -> float:
    """User and system time of one process."""
    environment = {
        **os.environ,
        "PYTHONPYCACHEPREFIX": compiled,
        "PYTHONDONTWRITEBYTECODE": "",
    }
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-c", code]
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Let contenders take turns; each keeps its best."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=10, metavar="N", help="default: 10")
    parser.add_argument("--write", type=Path, metavar="DIR", help="folder of start.csv")
    arguments = parser.parse_args()
    best = dict.fromkeys(CONTENDERS, float("inf"))
    with tempfile.TemporaryDirectory() as compiled:
        for turn in range(arguments.repeats + 1):
            for name, code in CONTENDERS.items():
                took = seconds(code, compiled)
                best[name] = min(best[name], took if turn else best[name])
    own = next(iter(best.values()))
    rows = [[name, f"{took:.4g}", f"{took / own:.2f}"] for name, took in best.items()]
    for row in rows:
        print("{:42} {:>9} s {:>6}".format(*row))
    if arguments.write is not None:
        with (arguments.write / "start.csv").open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(["contender", "cpu_seconds", "ratio_to_the_first"])
            writer.writerows(rows)


if __name__ == "__main__":
    main()
