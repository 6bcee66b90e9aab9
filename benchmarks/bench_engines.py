"""Evaluate Parquet files of growing size beside a bare aggregation by bin; writes engines.csv.

    python benchmarks/bench_engines.py --write docs/evidence --page docs/engines.md --folder DIR

Files hold float64 predictions and integer labels, written in parts of a million rows, and are in
the page cache. Every measurement is a process of its own, so that its peak memory is its own, after
a first call on a thousand rows; jobs that are compared take turns, and the best of each counts.

`evaluate` is everything: the scan of all classes and the confidence, four scores, null levels from
1,000 draws, intervals, tests, the verdict. `polars` is the least that reads the same columns and
sums them up by bin: one group-by of the binned prediction (of ten classes: of the largest one) with
the count, the sum of every column and of the outcome. `count` is what Spark and Dask take to hand
the same columns to Python, which only counts their rows.
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
SIZES = (10**6, 10**7, 2 * 10**7, 10**8)
CLASSES = 10
CLUSTER_ROWS = 10**7

_RUN = """
import json, os, resource, sys, time, warnings
import polars as pl
import veridical
warnings.simplefilter("ignore")
job, source = sys.argv[1:3]
several = "classes" in source
names = [f"p_{k}" for k in range(10)]
options = {"y": "y", "prob": names if several else "p", "engine": "pushdown"}
if several:
    options["labels"] = list(range(10))

def evaluate(rows):
    veridical.evaluate(rows, **options)

def bare(rows):
    rows = pl.scan_parquet(rows) if isinstance(rows, str) else rows
    summed = names if several else ["p"]
    if several:
        top = pl.max_horizontal(names)
        first = pl.coalesce([pl.when(pl.col(c) == top).then(k) for k, c in enumerate(names)])
        rows = rows.with_columns(top.alias("q"), (first == pl.col("y")).alias("hit"))
    else:
        rows = rows.with_columns(pl.col("p").alias("q"), pl.col("y").alias("hit"))
    number = (pl.col("q") * 15).ceil().cast(pl.Int32).alias("bin")
    sums = [pl.col(name).sum() for name in dict.fromkeys([*summed, "q", "hit"])]
    rows.group_by(number).agg(pl.len(), *sums).collect(engine="streaming")

work = {"evaluate": evaluate, "polars": bare}[job]
work(pl.scan_parquet(source).head(1000))  # imports are not what is measured
started, used = time.perf_counter(), time.process_time()
work(source)
wall, cpu = time.perf_counter() - started, time.process_time() - used
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
print(json.dumps({"wall": wall, "cpu": cpu, "peak": peak}))
"""

_CLUSTER = """
import json, os, sys, time, warnings
import veridical
warnings.simplefilter("ignore")
engine, source, repeats = sys.argv[1], sys.argv[2], int(sys.argv[3])
names = [f"p_{k}" for k in range(10)]
options = {"y": "y", "prob": names, "labels": list(range(10))}
folder = os.path.dirname(source)

def count(batches):
    import pyarrow as pa
    yield pa.RecordBatch.from_pydict({"n": [sum(batch.num_rows for batch in batches)]})

if engine == "Spark":
    from pyspark.sql import SparkSession
    session = (
        SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "2g").config("spark.log.level", "ERROR").getOrCreate()
    )
    frame = session.read.parquet(folder)
    few = frame.limit(1000)
    def bare(rows):
        return rows.select("y", *names).mapInArrow(count, "n long").groupBy().sum("n").collect()
else:
    import dask
    import dask.dataframe as dd
    dask.config.set(scheduler="threads", num_workers=2)
    frame = dd.read_parquet(folder)
    few = frame.partitions[0].loc[:1000]
    def bare(rows):
        return rows[["y", *names]].map_partitions(len).sum().compute()
jobs = {"count": bare, "evaluate": lambda rows: veridical.evaluate(rows, **options)}
for work in jobs.values():
    work(few)
best = {}
for _ in range(repeats):
    for name, work in jobs.items():
        started, used = time.perf_counter(), time.process_time()
        work(frame)
        run = {"wall": time.perf_counter() - started, "cpu": time.process_time() - used}
        if engine == "Spark":
            run["cpu"] = float("nan")  # of other processes
        before = best.get(name, run)
        best[name] = {key: min(run[key], before[key]) for key in run}
print(json.dumps(best))
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


def measure(source: str, repeats: int) -> dict[str, dict[str, float]]:
    """Best of a few runs of each job, in turns."""
    best: dict[str, dict[str, float]] = {}
    for _ in range(repeats):
        for job in ("polars", "evaluate"):
            command = [sys.executable, "-c", _RUN, job, source]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            run = json.loads(done.stdout)
            before = best.get(job, run)
            best[job] = {name: min(run[name], before[name]) for name in run}
    return best


def measure_cluster(engine: str, source: str, repeats: int) -> dict[str, dict[str, float]]:
    """Best times of Spark or Dask, both jobs in one process."""
    command = [sys.executable, "-c", _CLUSTER, engine, source, str(repeats)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    best = json.loads(done.stdout.splitlines()[-1])
    return {job: run | {"peak": float("nan")} for job, run in best.items()}


HEADER = [
    "engine",
    "classes",
    "rows",
    "job",
    "wall_s",
    "cpu_s",
    "peak_gb",
    "ratio_wall",
    "ratio_cpu",
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, required=True)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--page", type=Path, help="write the table there too")
    parser.add_argument("--largest", type=int, default=10**8)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--cluster-rows", type=int, default=CLUSTER_ROWS)
    arguments = parser.parse_args()
    rows: list[list[object]] = []

    def note(engine: str, k: int, n: int, found: dict[str, dict[str, float]]) -> None:
        base = next(iter(found.values()))
        for job, best in found.items():
            ratios = [best[name] / base[name] for name in ("wall", "cpu")]
            row = [engine, k, n, job, best["wall"], best["cpu"], best["peak"], *ratios]
            print(*row, flush=True)
            rows.append(row)

    for n in (size for size in SIZES if size <= arguments.largest):
        if n != 2 * 10**7:
            note("file", 2, n, measure(write_binary(arguments.folder, n), arguments.repeats))
        if n <= 2 * 10**7:
            several = write_classes(arguments.folder, n)
            note("file", CLASSES, n, measure(several, arguments.repeats))
    n = arguments.cluster_rows
    for engine in ("Spark", "Dask"):
        found = measure_cluster(
            engine, write_classes(arguments.folder, n), max(1, arguments.repeats - 1)
        )
        note(engine, CLASSES, n, found)
    with (arguments.write / "engines.csv").open("w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream, lineterminator="\n")
        table.writerow(HEADER)
        table.writerows([[f"{x:.4g}" if isinstance(x, float) else x for x in row] for row in rows])
    if arguments.page is not None:
        write_page(arguments.page, rows)


def write_page(page: Path, rows: list[list[object]]) -> None:
    """Put the table where the page has a place for it."""
    lines = [
        "| rows | classes | engine | job | seconds | processor seconds | peak memory, GB "
        "| times the least, seconds / processor |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for engine, k, n, job, *numbers in rows:
        wall, cpu, peak, by_wall, by_cpu = (
            "" if x != x else f"{x:.2f}"
            for x in numbers  # type: ignore[str-format]
        )
        ratio = "" if job in ("polars", "count") else f"{by_wall} / {by_cpu}".removesuffix(" / ")
        lines.append(f"| {n:,} | {k} | {engine} | {job} | {wall} | {cpu} | {peak} | {ratio} |")
    text = page.read_text(encoding="utf-8")
    before, _, rest = text.partition("<!-- speed -->")
    _, _, after = rest.partition("<!-- end of speed -->")
    table = "\n".join(lines)
    page.write_text(
        f"{before}<!-- speed -->\n{table}\n<!-- end of speed -->{after}", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
