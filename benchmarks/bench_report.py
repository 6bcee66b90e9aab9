"""CPU seconds of whole `veridical report` commands, beside those of another version.

    python benchmarks/bench_report.py                                   # print this version's
    python benchmarks/bench_report.py --other ../old/src --write docs/evidence

`--other` is the folder `src` of another checkout, whose needs must be installed. Versions take
turns in processes of their own, and each keeps its best turn. The first turn of each is not
counted: it compiles the modules, which an installation has done before a command is used.
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parents[1]
COMMAND = "import sys; from veridical.cli import main; sys.exit(main(sys.argv[1:]))"
MILLION = 1_000_000


def write_million(folder: Path) -> Path:
    """A million rows of an over-confident model, as a CSV file."""
    rng = np.random.default_rng(0)
    z = rng.normal(0, 1.5, MILLION)
    y = rng.random(MILLION) < 1 / (1 + np.exp(-0.8 * z))
    path = folder / "million.csv"
    table = np.column_stack([y, (1 / (1 + np.exp(-z))).round(6)])
    np.savetxt(path, table, fmt=("%d", "%.6f"), delimiter=",", header="label,p", comments="")
    return path


def cpu_seconds(source: Path, words: list[str], compiled: Path) -> float:
    """One process, user and system time, with the library of a folder."""
    environment = {
        **os.environ,
        "PYTHONPATH": f"{source}{os.pathsep}{os.getenv('PYTHONPATH', '')}",
        "PYTHONPYCACHEPREFIX": str(compiled),
        "PYTHONDONTWRITEBYTECODE": "",
    }
    before = os.times()
    subprocess.run(
        [sys.executable, "-c", COMMAND, *words],
        env=environment,
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    after = os.times()
    return (after.children_user + after.children_system) - (
        before.children_user + before.children_system
    )


def main() -> None:
    """Let versions take turns on the example and on a million rows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--other", type=Path, metavar="SRC", help="src of another checkout")
    parser.add_argument("--repeats", type=int, default=3, metavar="N", help="default: 3")
    parser.add_argument("--write", type=Path, metavar="DIR", help="folder of report_times.csv")
    arguments = parser.parse_args()
    versions = {"this": HERE / "src"}
    if arguments.other is not None:
        versions["other"] = arguments.other.resolve()
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        page = str(folder / "page.html")
        jobs = {
            "example, 1,797 rows": [str(HERE / "examples/forest.csv"), "--by", "ink", "-o", page],
            "1,000,000 rows": [str(write_million(folder)), "-o", page],
        }
        for job, words in jobs.items():
            best = dict.fromkeys(versions, float("inf"))
            for turn in range(arguments.repeats + 1):
                for version, source in versions.items():
                    took = cpu_seconds(source, ["report", *words], folder / "compiled")
                    best[version] = min(best[version], took if turn else best[version])
            ratio = best["this"] / best["other"] if "other" in best else float("nan")
            rows.append([job, *(f"{best.get(v, float('nan')):.2f}" for v in ("this", "other"))])
            rows[-1].append(f"{ratio:.2f}")
            print("{:22} {:>8} s {:>8} s {:>6}".format(*rows[-1]))
    if arguments.write is not None:
        with (arguments.write / "report_times.csv").open("w", encoding="utf-8", newline="") as out:
            writer = csv.writer(out, lineterminator="\n")
            writer.writerow(["report", "this_cpu_seconds", "other_cpu_seconds", "ratio"])
            writer.writerows(rows)


if __name__ == "__main__":
    main()
