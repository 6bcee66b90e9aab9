"""What `AutoCalibrator` costs where nothing is to be gained, and whether its evidence is true.

    python evidence/automatic.py docs/evidence               # both tables, 400 and 200 sets a cell
    python evidence/automatic.py docs/evidence --only excess --sets 50 --resume

`automatic_excess.csv`: scores of K classes are normal with standard deviation 1.5, outcomes follow
their softmax; predictions are these probabilities (temperature 1) or are too sharp (1.15). `excess`
is the mean of the Kullback-Leibler divergence of what the fitted map says from the truth, in nats,
less that of the predictions as they came: what it adds to the log loss of new rows, without the
noise of outcomes. Beside it plain temperature scaling on the same sets.

`automatic_bias.csv`: the mean of the gain that `evidence_` estimates less the gain of the fitted
map on the population, with its standard error. From both the luck of their rows is taken off, whose
mean is known to be zero: what the truth itself would gain on these rows, less what it gains on the
population. `plain` is the mean without that, with its own standard error.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from veridical import AutoCalibrator
from veridical._core.runtime.progress import track
from veridical.calibrators import TemperatureCalibrator

SPREAD, MANY, POPULATION = 1.5, 2000, 400_000
EXCESS = [
    (k, n, t) for t, n in ((1.0, 800), (1.0, 150), (1.15, 800), (1.15, 150)) for k in (2, 5, 10)
]
BIAS = [(k, n, t) for k in (2, 4) for n in (200, 500, 2000) for t in (1.0, 1.6)]
Cell = tuple[int, int, float]


def sharpened(z: np.ndarray, temperature: float) -> np.ndarray:
    """Probabilities of log odds divided by a temperature below one, or above."""
    p = np.exp((z - z.max(axis=1, keepdims=True)) * temperature)
    return p / p.sum(axis=1, keepdims=True)


def draw(rng: np.random.Generator, cell: Cell, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """True probabilities and predictions."""
    n_classes, _, temperature = cell
    z = rng.normal(0, SPREAD, (rows, n_classes))
    return sharpened(z, 1.0), sharpened(z, temperature)


def outcomes(rng: np.random.Generator, truth: np.ndarray) -> np.ndarray:
    """A class for each row, all of them at least once."""
    while True:
        y = (rng.random((len(truth), 1)) > truth.cumsum(axis=1)[:, :-1]).sum(axis=1)
        if len(np.unique(y)) == truth.shape[1]:
            return y


def added(truth: np.ndarray, said: np.ndarray, before: np.ndarray) -> float:
    """What is added to the expected log loss where `said` takes the place of `before`."""
    return float((truth * (np.log(before) - np.log(said))).sum(axis=1).mean())


class Drawn(NamedTuple):
    """A set, and new rows to judge maps by."""

    truth: np.ndarray
    p: np.ndarray
    y: np.ndarray
    new: np.ndarray
    given: np.ndarray

    def cost(self, map: Any) -> float:
        """What a map adds on new rows."""
        return added(self.new, map.predict_proba(self.given), self.given)


def drawn_set(cell: Cell, seed: int) -> Drawn:
    """A set of a cell."""
    rng = np.random.default_rng([*(int(100 * each) for each in cell), seed])
    truth, p = draw(rng, cell, cell[1])
    y = outcomes(rng, truth)
    return Drawn(truth, p, y, *draw(rng, cell, MANY))


def mean_and_error(values: Sequence[float] | np.ndarray) -> tuple[str, str]:
    """Mean and its standard error, in words of six decimals."""
    return f"{np.mean(values):.6f}", f"{np.std(values, ddof=1) / np.sqrt(len(values)):.6f}"


def excess(cell: Cell, sets: int) -> tuple[str, ...]:
    """Row of the first table."""
    found: list[tuple[float, float]] = []
    for seed in range(sets):
        rows = drawn_set(cell, seed)
        maps = AutoCalibrator().fit(rows.p, rows.y), TemperatureCalibrator().fit(rows.p, rows.y)
        found.append((rows.cost(maps[0]), rows.cost(maps[1])))
    ours, theirs = zip(*found, strict=True)
    return (*mean_and_error(list(ours)), *mean_and_error(list(theirs)), f"{max(ours):.4f}")


def bias(cell: Cell, sets: int) -> tuple[str, ...]:
    """Row of the second table."""
    true, before = draw(np.random.default_rng(0), cell, POPULATION)
    best = -added(true, true, before)
    gains, errors, plain = (np.empty(sets) for _ in range(3))
    for seed in range(sets):
        rows = drawn_set(cell, seed)
        auto = AutoCalibrator().fit(rows.p, rows.y)
        happened = np.arange(len(rows.y)), rows.y
        here = float((np.log(rows.truth[happened]) - np.log(rows.p[happened])).mean())
        there = -added(rows.new, rows.new, rows.given)
        gains[seed] = -rows.cost(auto) - (there - best)
        estimate = -float(auto.evidence_.candidates[-1].difference)
        errors[seed] = estimate - (here - best) - gains[seed]
        plain[seed] = estimate + rows.cost(auto)
    mean, error = mean_and_error(errors)
    sure = f"{float(mean) / float(error):.2f}"
    return f"{gains.mean():.6f}", mean, error, sure, *mean_and_error(plain)


TABLES = {
    "excess": (EXCESS, 400, excess,
               ("excess", "error", "temperature_scaling", "its_error", "highest")),
    "bias": (BIAS, 200, bias, ("gain", "bias", "error", "errors", "plain", "its_error")),
}  # fmt: skip


def done(path: Path, *, resume: bool) -> Iterator[tuple[str, ...]]:
    """Cells that are in the file."""
    if resume and path.exists():
        with path.open() as stream:
            yield from (tuple(row[:3]) for row in csv.reader(stream))


def write(name: str, folder: Path, sets: int | None, *, resume: bool) -> None:
    """A table, line after line."""
    cells, usual, figures, header = TABLES[name]
    path = folder / f"automatic_{name}.csv"
    present = set(done(path, resume=resume))
    with path.open("a" if present else "w", newline="") as stream:
        writer = csv.writer(stream)
        if not present:
            writer.writerow(("classes", "rows", "temperature", "sets", *header))
        missing = [cell for cell in cells if tuple(map(str, cell)) not in present]
        for number in track(len(missing), f"automatic_{name}"):
            cell = missing[number]
            writer.writerow((*cell, sets or usual, *figures(cell, sets or usual)))
            stream.flush()


def main() -> None:
    """Write the tables asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", choices=TABLES)
    parser.add_argument("--sets", type=int)
    parser.add_argument("--resume", action="store_true", help="keep the cells that are there")
    options = parser.parse_args()
    for name in [options.only] if options.only else TABLES:
        write(name, options.folder, options.sets, resume=options.resume)


if __name__ == "__main__":
    main()
