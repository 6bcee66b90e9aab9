"""Harm: cells of the league with many draws of the calibration rows, so that luck averages out.

    python benchmarks/league/harm.py CACHE TABLE.csv --draws 20 --sizes 100 500 --minutes 15

For pairs of the report half, in an order drawn once, n rows are drawn so many times from the pool
of the first split and `AutoCalibrator` is fitted to them; `mean` is the mean change of log loss on
the test rows against the model, `worst` the largest of a single fit, `harmed` the share of fits
worse by more than .01. It stops after so many minutes; what is in the table is not run again.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from pathlib import Path

import numpy as np
from predictions import all_pairs
from tables import HARM
from trials import scores

SEED = 24
HEADER = ("data", "model", "n_classes", "n", "draws", "mean", "error", "worst", "harmed")


def changes(path: Path, n: int, draws: int) -> tuple[int, list[float]]:
    """Number of classes, and change of log loss by each fit."""
    from veridical import AutoCalibrator

    with np.load(path) as stored:
        p, y, new, truth = (stored[f"{name}_0"] for name in ("p_cal", "y_cal", "p_test", "y_test"))
    found, two = [], p.shape[1] == 2
    if len(y) < 2 * n:
        return p.shape[1], []
    before = scores(new, truth)["log_loss"]
    for seed in range(100 * draws):
        if len(found) == draws:
            break
        rows = np.random.default_rng([SEED, n, seed]).choice(len(y), n, replace=False)
        if len(np.unique(y[rows])) < p.shape[1]:
            continue
        auto = AutoCalibrator().fit(p[rows, 1] if two else p[rows], y[rows])
        after = scores(auto.predict_proba(new[:, 1] if two else new), truth)["log_loss"]
        found.append(after - before)
    return p.shape[1], found


def main() -> None:
    """Write cells until time is up."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cache", type=Path)
    parser.add_argument("table", type=Path)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 500])
    parser.add_argument("--minutes", type=float, default=60.0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    start = time.monotonic()
    pairs = [pair for pair in all_pairs() if pair.half == "report"]
    order = np.random.default_rng(SEED).permutation(len(pairs))
    done = set()
    if options.table.exists():
        with options.table.open() as stream:
            done = {(row["data"], row["model"], int(row["n"])) for row in csv.DictReader(stream)}
    with options.table.open("a", newline="") as stream:
        writer = csv.writer(stream)
        if not done:
            writer.writerow(HEADER)
        for pair in (pairs[i] for i in order):
            for n in options.sizes:
                if (pair.data, pair.model, n) in done:
                    continue
                if time.monotonic() - start > 60 * options.minutes:
                    return
                n_classes, found = changes(pair.path(options.cache), n, options.draws)
                if len(found) < 2:
                    continue
                error = np.std(found, ddof=1) / len(found) ** 0.5
                figures = (np.mean(found), error, max(found), np.mean(np.array(found) > HARM))
                cell = (pair.data, pair.model, n_classes, n, len(found))
                writer.writerow((*cell, *(f"{each:.5f}" for each in figures)))
                stream.flush()


if __name__ == "__main__":
    main()
