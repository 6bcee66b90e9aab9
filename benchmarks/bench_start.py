"""How long it takes to start: whole processes, beside one that imports the argument parser.

    python benchmarks/bench_start.py                          # print the table
    python benchmarks/bench_start.py --write docs/evidence    # also start.csv

veridical must be importable (installed, or `PYTHONPATH=src`).
"""

from __future__ import annotations

import argparse
import csv
import subprocess
import sys
import time
from pathlib import Path

_COMMAND = "import sys; from veridical.cli import main; sys.exit(main([{words}]))"
CONTENDERS = {
    "python -c 'import argparse'": "import argparse",
    "python -c 'import veridical'": "import veridical",
    "veridical --version": _COMMAND.format(words="'--version'"),
    "veridical --help": _COMMAND.format(words="'--help'"),
    "veridical evaluate --help": _COMMAND.format(words="'evaluate', '--help'"),
    "python -c 'import numpy'": "import numpy",
}


def seconds(code: str) -> float:
    """One process, from its start to its end."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def main() -> None:
    """Let contenders take turns; each keeps its best."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=30, metavar="N", help="default: 30")
    parser.add_argument("--write", type=Path, metavar="DIR", help="folder of start.csv")
    arguments = parser.parse_args()
    best = dict.fromkeys(CONTENDERS, float("inf"))
    for _ in range(arguments.repeats):
        for name, code in CONTENDERS.items():
            best[name] = min(best[name], seconds(code))
    own = next(iter(best.values()))
    rows = [[name, f"{took:.4g}", f"{took / own:.2f}"] for name, took in best.items()]
    for row in rows:
        print("{:32} {:>9} s {:>6}".format(*row))
    if arguments.write is not None:
        with (arguments.write / "start.csv").open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(["contender", "seconds", "ratio_to_the_first"])
            writer.writerows(rows)


if __name__ == "__main__":
    main()
