"""How often every test rejects calibrated and distorted predictions: tables of docs/evidence.

    python evidence/levels.py docs/evidence              # all tables, about half an hour
    python evidence/levels.py docs/evidence --only power
    python evidence/levels.py /tmp --repeats 20          # at most 20 repetitions a cell

Writes test_levels.csv, test_power.csv (shown in docs/which-test.md, see power_page.py) and
gaussian_mixture.csv. Every cell has a seed of its own; all tests of a cell of the table of power
see the same samples. Left out are cells that would take too long: all pairs of 10,000 vectors
(kernel tests), smECE at 10,000 rows; and the multinomial Cox test with ten classes in 100 rows,
which has as many parameters as some classes have outcomes.
"""

from __future__ import annotations

import argparse
import csv
import math
import warnings
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from _battery import BATTERY, Entry
from _predictions import DISTORTIONS, SHAPES, distance, draw_outcomes, draw_predictions

from veridical import BinnedError, UniformBins, VeridicalWarning, consistency_test
from veridical._core.runtime.progress import track

CLASSES = (2, 3, 10)
NOMINAL = (0.01, 0.05, 0.10)
LEVEL_SIZES = (100, 1000, 10_000)
POWER_SIZES = (300, 2000)
TOLERANCE = 4.5  # binomial standard errors
_CONFIRMED = 500  # repetitions from which the tolerance is seldom met by chance
MIXTURE_CELLS = ((10, 100), (10, 1000), (10, 10_000), (100, 1000))  # bins, rows
# Logistic models (intercept, slope) of P(Y = -1 | x): 002 section 5.1.
MIXTURE_MODELS = {"perfect": (0.0, -2.0), "constant": (0.0, 0.0), "uncalibrated": (1.0, 1.0)}

LEVEL_HEADER = ["test", "classes", "predictions", "n", "repetitions", "level_1", "level_5",
                "level_10", "warned", "worst_z"]  # fmt: skip
POWER_HEADER = ["test", "classes", "predictions", "distortion", "distance", "n", "repetitions",
                "rejected_5"]  # fmt: skip
MIXTURE_HEADER = ["model", "n_bins", "n", "repetitions", "rejected_5"]


def seed_of(*names: object) -> int:
    """Seed of a cell from what it is, so that other cells may come and go."""
    return zlib.crc32(repr(names).encode())


def simulate(
    entry: Entry,
    shape: str,
    n: int,
    n_classes: int,
    repetitions: int,
    seed: int,
    distortion: str | None = None,
) -> tuple[np.ndarray, float, float]:
    """P-values, share of repetitions that warned, and mean distance from the truth."""
    data, chance = np.random.default_rng(seed).spawn(2)
    pvalues, warned, away = np.empty(repetitions), 0, 0.0
    for index in range(repetitions):
        p = draw_predictions(shape, n, n_classes, data, grid=entry.grid)
        truth = p if distortion is None else DISTORTIONS[distortion](p)
        y = draw_outcomes(truth, data)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", VeridicalWarning)
            pvalues[index] = entry.pvalue(y, p, chance)
        warned += bool(caught)
        away += distance(p, truth)
    return pvalues, warned / repetitions, away / repetitions


def excess(share: float, level: float, repetitions: int) -> float:
    """Rejections beyond the level, in binomial standard errors."""
    return (share - level) / math.sqrt(level * (1 - level) / repetitions)


def level_cells() -> list[tuple[Entry, int, str, int]]:
    """Every cell of the table of levels."""
    return [(entry, k, shape, n) for entry in BATTERY for k in CLASSES for shape in SHAPES
            for n in LEVEL_SIZES if entry.repetitions(k, n)]  # fmt: skip


def level_row(cell: tuple[Entry, int, str, int], most: int) -> list[object]:
    """Share of calibrated samples that are rejected.

    With few repetitions 4.5 standard errors are not so rare (three rejections of 30 at 1 % are
    more). A level that seems too high is simulated anew, five times as often: that is the row.
    """
    entry, n_classes, _, n = cell
    repetitions = min(entry.repetitions(n_classes, n), most)
    row = _level_row(cell, repetitions, "level")
    if is_too_high(row) and repetitions < _CONFIRMED:
        row = _level_row(cell, 5 * repetitions, "level again")
    return row


def _level_row(cell: tuple[Entry, int, str, int], repetitions: int, stage: str) -> list[object]:
    entry, n_classes, shape, n = cell
    seed = seed_of(stage, entry.name, n_classes, shape, n)
    pvalues, warned, _ = simulate(entry, shape, n, n_classes, repetitions, seed)
    shares = [float(np.mean(pvalues <= level + 1e-9)) for level in NOMINAL]
    pairs = zip(shares, NOMINAL, strict=True)
    worst = max(excess(share, level, repetitions) for share, level in pairs)
    return [
        entry.name,
        n_classes,
        shape,
        n,
        repetitions,
        *(f"{share:.4f}" for share in shares),
        f"{warned:.3f}",
        f"{worst:.2f}",
    ]


def is_too_high(row: list[object]) -> bool:
    """Whether a level is beyond tolerance and most repetitions did not warn."""
    return float(str(row[9])) > TOLERANCE and float(str(row[8])) < 0.5


def power_cells() -> list[tuple[Entry, int, str, str, int]]:
    """Every cell of the table of power; ten classes with uniform predictions only."""
    return [(entry, k, shape, distortion, n) for entry in BATTERY for k in CLASSES
            for shape in ("uniform", "skewed") for distortion in DISTORTIONS for n in POWER_SIZES
            if k in entry.power and entry.repetitions(k, n) and not (k == 10 and shape == "skewed")
            ]  # fmt: skip


def power_row(cell: tuple[Entry, int, str, str, int], most: int) -> list[object]:
    """Share of distorted samples that are rejected at 5 %."""
    entry, n_classes, shape, distortion, n = cell
    repetitions = min(entry.repetitions(n_classes, n), most)
    seed = seed_of("power", n_classes, shape, distortion, n)
    pvalues, _, away = simulate(entry, shape, n, n_classes, repetitions, seed, distortion)
    share = float(np.mean(pvalues <= 0.05 + 1e-9))
    return [entry.name, n_classes, shape, distortion, f"{away:.4f}", n, repetitions,
            f"{share:.3f}"]  # fmt: skip


def mixture_row(model: str, n_bins: int, n: int, repetitions: int) -> list[object]:
    """Rejections at 5 % of a model of two Gaussian classes, means -1 and 1 (002 section 5.1)."""
    intercept, slope = MIXTURE_MODELS[model]
    rng = np.random.default_rng(seed_of("mixture", model, n_bins, n))
    rejected = 0
    for _ in range(repetitions):
        side = rng.choice([-1, 1], n)
        x = rng.normal(side, 1.0)
        p = 1 / (1 + np.exp(-(intercept + slope * x)))
        y = (side == -1).astype(int)
        estimator = BinnedError(UniformBins(n_bins))
        rejected += consistency_test(estimator, y, p, n_resamples=999, rng=rng).rejects(0.05)
    return [model, n_bins, n, repetitions, f"{rejected / repetitions:.4f}"]


def mixture_rows(most: int) -> Iterator[list[object]]:
    """002 Fig. 6 to 14 in numbers."""
    cells = [(model, *cell) for model in MIXTURE_MODELS for cell in MIXTURE_CELLS]
    for index in track(len(cells), "Gaussian mixture"):
        yield mixture_row(*cells[index], repetitions=min(1000, most))


def write(path: Path, header: list[str], rows: Iterator[list[object]]) -> list[list[object]]:
    """Write a table row by row, print it and return it."""
    kept = []
    print(*header, sep="  ")
    with path.open("w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream, lineterminator="\n")
        table.writerow(header)
        for row in rows:
            table.writerow(row)
            stream.flush()
            kept.append(row)
            print(*row, sep="  ", flush=True)
    return kept


def main() -> None:
    """Simulate what is asked for; say which levels are too high."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", choices=["levels", "power", "mixture"])
    parser.add_argument("--repeats", type=int, default=1000, help="most repetitions a cell")
    options = parser.parse_args()
    most, only = options.repeats, options.only
    if only in (None, "mixture"):
        write(options.folder / "gaussian_mixture.csv", MIXTURE_HEADER, mixture_rows(most))
    if only in (None, "power"):
        cells = power_cells()
        rows = (power_row(cells[i], most) for i in track(len(cells), "power"))
        write(options.folder / "test_power.csv", POWER_HEADER, rows)
    if only in (None, "levels"):
        under_null = level_cells()
        rows = (level_row(under_null[i], most) for i in track(len(under_null), "levels"))
        table = write(options.folder / "test_levels.csv", LEVEL_HEADER, rows)
        flagged = [row for row in table if is_too_high(row)]
        print(f"{len(flagged)} of {len(table)} levels are too high without a warning")
        for row in flagged:
            print("TOO HIGH", *row, sep="  ")


if __name__ == "__main__":
    main()
