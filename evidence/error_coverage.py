"""How often intervals cover the truth, and what calibrated models read: tables of docs/evidence.

    python evidence/error_coverage.py docs/evidence        # 1,000 repetitions a cell, minutes
    python evidence/error_coverage.py docs/evidence --repeats 100

Predictions are uniform on [0, 1]; true frequencies are p plus a gap that is constant within each of
15 equal-width bins, so that the binned error is the true error. Every cell has a seed of its own.
"""

from __future__ import annotations

import argparse
import csv
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from veridical import BinnedError, BrierScore, LogScore, UniformBins
from veridical._core.runtime.progress import track
from veridical.inference import bootstrap_interval, null_level

N_BINS = 15
SIZES = (500, 2000)
TRUTHS = ((0.0, "even"), (0.03, "even"), (0.03, "wave"), (0.03, "sparse"), (0.07, "even"),
          (0.07, "wave"), (0.07, "sparse"))  # fmt: skip


def gaps(error: float, spread: str, norm: int) -> np.ndarray:
    """Gap of each bin, towards one half, scaled to an error of this norm."""
    bins = np.arange(N_BINS)
    shapes = {
        "even": np.ones(N_BINS),
        "wave": np.abs(np.sin(2 * math.pi * (bins + 0.5) / N_BINS)),
        "sparse": (np.abs(bins - 10) <= 1).astype(float),
    }
    size = shapes[spread]
    inward = np.where(bins + 0.5 < N_BINS / 2, 1.0, -1.0)
    return inward * size * error / np.mean(size**norm) ** (1 / norm)


def error_rows(repeats: int) -> Iterator[list[object]]:
    """Coverage of the intervals of ECE and RMSCE."""
    cells = [(norm, n, truth) for norm in (1, 2) for n in SIZES for truth in TRUTHS]
    for index in track(len(cells), "intervals of errors"):
        norm, n, (error, spread) = cells[index]
        gap, rng = gaps(error, spread, norm), np.random.default_rng(index)
        estimator = BinnedError(UniformBins(N_BINS), norm=norm)
        hits, widths = 0, []
        for _ in range(repeats):
            p = rng.random(n)
            bins = np.clip(np.ceil(p * N_BINS).astype(int) - 1, 0, N_BINS - 1)
            y = (rng.random(n) < p + gap[bins]).astype(int)
            interval = bootstrap_interval(estimator, y, p)
            hits += interval.low - 1e-12 <= error <= interval.high + 1e-12
            widths.append(interval.width)
        yield [estimator.name, spread, error, n, repeats, hits / repeats, np.mean(widths).round(4)]


def score_rows(repeats: int) -> Iterator[list[object]]:
    """Coverage of the analytic intervals of mean scores: E p(1-p) = 1/6, mean entropy 1/2."""
    for index, (score, truth) in enumerate(((BrierScore(), 1 / 6), (LogScore(), 0.5))):
        for n in SIZES:
            rng = np.random.default_rng([index, n])
            hits, widths = 0, []
            for _ in range(repeats):
                p = rng.random(n)
                interval = bootstrap_interval(score, (rng.random(n) < p).astype(int), p)
                hits += truth in interval
                widths.append(interval.width)
            yield [score.name, "calibrated", truth, n, repeats, hits / repeats,
                   np.mean(widths).round(4)]  # fmt: skip


def null_rows(repeats: int) -> Iterator[list[object]]:
    """Mean of null levels beside the mean over truly calibrated draws, and the test's level."""
    estimators = [BinnedError(), BinnedError(norm=2), BinnedError(debias=True)]
    for index, estimator in enumerate(estimators):
        for n in (200, *SIZES):
            rng = np.random.default_rng([99, index, n])
            read, null, above = [], [], 0
            for _ in range(repeats):
                p = rng.random(n)
                y = (rng.random(n) < p).astype(int)
                level = null_level(estimator, y, p, n_resamples=500, rng=rng)
                read.append(level.estimate)
                null.append(level.mean)
                above += level.estimate > level.quantile(0.95)
            spread = np.std(read) / math.sqrt(repeats)
            figures = (np.mean(read), spread, np.mean(null))
            yield [estimator.name, n, repeats, *(float(f"{f:.6f}") for f in figures),
                   above / repeats]  # fmt: skip


def write(path: Path, header: list[str], rows: list[list[object]]) -> None:
    """Write a table, and print it."""
    with path.open("w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream, lineterminator="\n")
        table.writerow(header)
        table.writerows(rows)
    for row in [header, *rows]:
        print(*row, sep="  ")


def main() -> None:
    """Run both simulations."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--repeats", type=int, default=1000)
    options = parser.parse_args()
    header = ["figure", "spread", "truth", "n", "repetitions", "coverage", "mean_width"]
    rows = [*score_rows(options.repeats), *error_rows(options.repeats)]
    write(options.folder / "coverage.csv", header, rows)
    header = ["figure", "n", "repetitions", "mean_estimate", "standard_error", "mean_null",
              "share_above_q95"]  # fmt: skip
    write(options.folder / "null_level.csv", header, list(null_rows(options.repeats)))


if __name__ == "__main__":
    main()
