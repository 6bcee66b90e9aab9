"""The league in one command: predictions, calibrations, tables and plot.

    python benchmarks/league/run.py --cache DIR --out DIR --jobs 2
    python benchmarks/league/run.py --half tune --methods auto spline
    python benchmarks/league/run.py --redo auto        # forget the results of a method first
    python benchmarks/league/run.py --stage predictions

What is in the folders is not computed again, so an interrupted run goes on where it stopped.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from contenders import UNCALIBRATED, everyone
from predictions import N_SPLITS, Pair, all_pairs, drawn, make_file
from results import Store
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from trials import plan, run_task

HERE = Path(__file__).parent
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def bar() -> Progress:
    """The progress bar of a stage."""
    return Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    )


def finished(futures: list[Future[Any]], text: str) -> Iterator[Any]:
    """Results in the order they come in, with a bar."""
    with bar() as progress:
        for future in progress.track(as_completed(futures), total=len(futures), description=text):
            yield future.result()


def pool(jobs: int) -> ProcessPoolExecutor:
    """Worker processes, started afresh so that each obeys the limit of one thread."""
    os.environ.update(dict.fromkeys(THREADS, "1"))
    return ProcessPoolExecutor(jobs, mp_context=get_context("spawn"))


def predict(pairs: list[Pair], options: argparse.Namespace) -> list[Pair]:
    """First stage; the pairs there are predictions of."""
    options.cache.mkdir(parents=True, exist_ok=True)
    missing = [pair for pair in pairs if not pair.path(options.cache).exists()]
    if missing:
        with pool(options.jobs) as workers:
            futures = [
                workers.submit(make_file, pair, options.cache, options.networks) for pair in missing
            ]
            for _ in finished(futures, "predictions"):
                pass
    return [pair for pair in pairs if pair.path(options.cache).exists()]


def calibrate(pairs: list[Pair], options: argparse.Namespace) -> Store:
    """Second stage: every contender in every cell that it has no result of."""
    store = Store(options.out / "results")
    contenders = everyone()
    every = [name for name in contenders if name != "auto-before"]  # only where asked for
    names = list(dict.fromkeys([UNCALIBRATED, *(options.methods or every)]))
    for name in [*names, *options.redo]:
        if name not in contenders:
            message = f"unknown method {name!r}; known: {', '.join(contenders)}"
            raise SystemExit(message)
    for name in options.redo:
        store.forget(name)
    absent = [name for name in names if contenders[name].version() is None]
    if absent:
        print(f"not installed, left out: {', '.join(absent)}")
    present = [contenders[name] for name in names if name not in absent]
    done = {c.name: store.present(c.name, str(c.version())) for c in present}
    tasks = [task for pair in pairs for task in plan(pair, options.cache, present, done)]
    tasks = [task for task in tasks if task.split < options.splits]
    tasks.sort(key=lambda task: task.split)  # a run that is stopped has whole splits
    if tasks:
        with pool(options.jobs) as workers:
            futures = [workers.submit(run_task, task) for task in tasks]
            for rows in finished(futures, "calibrations"):
                store.add(rows)
    return store


def main() -> None:
    """Run the stages asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cache", type=Path, default=HERE / "cache", help="predictions")
    parser.add_argument("--out", type=Path, default=HERE / "out", help="results and tables")
    parser.add_argument("--networks", type=Path, help="folder of stored network outputs")
    parser.add_argument("--half", choices=["tune", "report", "all"], default="all")
    parser.add_argument("--stage", choices=["predictions", "results", "tables"], default="tables")
    parser.add_argument("--methods", nargs="+", default=[], help="only these")
    parser.add_argument("--pairs", nargs="+", default=[], help="only these, as DATA/MODEL")
    parser.add_argument("--every", type=int, default=1, help="one of so many, drawn once")
    parser.add_argument("--splits", type=int, default=N_SPLITS, help="only the first ones")
    parser.add_argument("--redo", nargs="+", default=[], help="methods to compute again")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    pairs = [
        pair
        for pair in all_pairs()
        if options.half in ("all", pair.half)
        and (not options.pairs or f"{pair.data}/{pair.model}" in options.pairs)
    ]
    pairs = predict(drawn(pairs, options.every), options)
    if not pairs:
        message = "no such pair, or no predictions of it"
        raise SystemExit(message)
    if options.stage == "predictions":
        return
    store = calibrate(pairs, options)
    if options.stage == "tables":
        from report import write

        write(store.frame(), options.out)


if __name__ == "__main__":
    main()
