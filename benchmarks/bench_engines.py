"""Evaluate Parquet files of growing size: rows per second and memory; writes engines.csv.

    python benchmarks/bench_engines.py --write docs/evidence --page docs/engines.md --folder DIR

Every measurement is a process of its own, so that its peak memory is its own, after a first call
on a thousand rows. Files hold float64 predictions and integer labels, written in parts of a million
rows, and are in the page cache. `lens` is the scan with all sums by bin, cell and outcome, `lens
and scores` with those of the four scores too, `evaluate` everything: null levels from 1,000 draws,
intervals, the reliability curve.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl

PART = 1_000_000
SIZES = (10**5, 10**6, 10**7, 10**8)
CLASSES = 10

_RUN = """
import json, resource, sys, time, warnings
import polars
import veridical
warnings.simplefilter("ignore")
job, source, n = sys.argv[1], sys.argv[2], int(sys.argv[3])
several = "classes" in job
lens = "confidence" if several else "binary"
options = {"y": "y", "prob": [f"p_{k}" for k in range(10)] if several else "p"}
options |= {"lens": lens, "engine": "pushdown"}
if several:
    options["labels"] = list(range(10))
def work(rows):
    if not job.startswith("evaluate"):
        kept = {name: options[name] for name in options if name not in ("lens", "engine")}
        scores = "scores" in job
        grid_table(
            rows, problems=[lens], n_bins=15, caller="benchmark", scores=scores, **kept
        )
    else:
        veridical.evaluate(rows, **options)
from veridical.frames.tables import grid_table
work(polars.scan_parquet(source).head(1000))  # imports are not what is measured
started, used = time.perf_counter(), time.process_time()
work(source)
wall, cpu = time.perf_counter() - started, time.process_time() - used
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
print(json.dumps({"wall": wall, "cpu": cpu, "peak": peak}))
"""


def write_binary(folder: Path, n: int) -> str:
    """Parts of a file of one probability a row."""
    return _write(folder / f"binary-{n}", n, lambda rng, size: _one(rng, size))


def write_classes(folder: Path, n: int) -> str:
    """Parts of a file of ten probabilities a row."""
    return _write(folder / f"classes-{n}", n, lambda rng, size: _ten(rng, size))


def _one(rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
    p = rng.beta(0.6, 0.8, n)
    return {"y": (rng.random(n) < 0.1 + 0.8 * p).astype(np.int64), "p": p}


def _ten(rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
    p = rng.gamma(0.4, size=(n, CLASSES))
    p /= p.sum(axis=1, keepdims=True)
    y = (rng.random(n)[:, None] > p.cumsum(axis=1)).sum(axis=1).clip(max=CLASSES - 1)
    return {"y": y.astype(np.int64)} | {f"p_{k}": p[:, k] for k in range(CLASSES)}


def _write(folder: Path, n: int, make: object) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    for part in range(-(-n // PART)):
        path = folder / f"part-{part:04d}.parquet"
        if not path.exists():
            size = min(PART, n - part * PART)
            columns = make(np.random.default_rng([n, part]), size)  # type: ignore[operator]
            pl.DataFrame(columns).write_parquet(path, compression="uncompressed")
    return str(folder / "*.parquet")


def measure(job: str, source: str, n: int, repeats: int) -> dict[str, float]:
    """Best of a few runs."""
    runs = []
    for _ in range(repeats):
        command = [sys.executable, "-c", _RUN, job, source, str(n)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        runs.append(json.loads(done.stdout))
    return min(runs, key=lambda run: run["wall"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, required=True)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--page", type=Path, help="write the table there too")
    parser.add_argument("--largest", type=int, default=10**8)
    parser.add_argument("--repeats", type=int, default=2)
    arguments = parser.parse_args()
    rows = []
    for n in (size for size in SIZES if size <= arguments.largest):
        binary = write_binary(arguments.folder, n)
        jobs = [(f"{what}, binary", binary) for what in ("lens", "lens and scores", "evaluate")]
        if n <= 10**7:
            several = write_classes(arguments.folder, n)
            jobs += [(f"{what}, 10 classes", several) for what in ("lens", "lens and scores")]
        for job, source in jobs:
            best = measure(job, source, n, arguments.repeats)
            rate = n / best["wall"] / 1e6
            row = [job, n, best["wall"], best["cpu"], rate, best["cpu"] / n * 1e9, best["peak"]]
            print(*row, flush=True)
            rows.append(row)
    header = ["job", "rows", "wall_s", "cpu_s", "million_rows_per_s", "cpu_ns_per_row", "peak_gb"]
    with (arguments.write / "engines.csv").open("w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream, lineterminator="\n")
        table.writerow(header)
        table.writerows([[f"{x:.4g}" if isinstance(x, float) else x for x in row] for row in rows])
    if arguments.page is not None:
        write_page(arguments.page, rows)


def write_page(page: Path, rows: list[list[object]]) -> None:
    """Put the table where the page has a place for it."""
    lines = [
        "| job | rows | seconds | million rows/s | processor time, ns/row | peak memory, GB |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {job} | {n:,} | {wall:.2f} | {rate:.1f} | {cost:.0f} | {peak:.2f} |"
        for job, n, wall, _, rate, cost, peak in rows
    ]
    text = page.read_text(encoding="utf-8")
    before, _, rest = text.partition("<!-- speed -->")
    _, _, after = rest.partition("<!-- end of speed -->")
    table = "\n".join(lines)
    page.write_text(
        f"{before}<!-- speed -->\n{table}\n<!-- end of speed -->{after}", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
