"""How often limits of what recalibration gains hold, where the gain is known: `gains.csv`.

    python evidence/gains.py docs/evidence                # 300 repetitions a cell, six minutes
    python evidence/gains.py docs/evidence --repeats 50
    python evidence/gains.py docs/evidence --only held-out     # other rows are kept

The truth is the gain of the map that is shipped: of the very map fitted to all rows of the sample,
on the population (`coverage`), and the mean of it over samples (`coverage_of_mean`; not of an
automatic choice, which is nothing in one sample and a map in another). `wrong` is the
share of samples whose limits claim a gain that is a loss, or the contrary, and should be at most
2.5 %; `level` the share with p <= 0.05, at most 5 % where predictions are calibrated. `held-out` is
the gain in log loss of one map, as `calibrate` and the report show it, `cost` that of
`miscalibration_cost`, `evidence` that of `AutoCalibrator.evidence_`. Samples with fewer than five
events are left out: nothing is claimed about them.
"""

from __future__ import annotations

import argparse
import csv
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from veridical import AutoCalibrator, BetaCalibrator, LogScore, miscalibration_cost
from veridical._core.runtime.progress import track
from veridical._core.sample import BinarySample, MulticlassSample
from veridical.calibrators import Calibrator, StructuredVectorCalibrator
from veridical.calibrators.core import cross_fitted, fitted_to_itself
from veridical.inference.intervals import IntervalOptions, gain_core
from veridical.lenses import Canonical
from veridical.lenses.reading import Induced

MANY = 4000
FOLDS = 5
FEW_EVENTS = 5
HEADER = ("figure", "map", "law", "n", "repeats", "gain", "bias", "coverage", "coverage_of_mean",
          "claims", "wrong", "level")  # fmt: skip


class Law(NamedTuple):
    """Predictions (n, K), and the true frequencies as a function of them."""

    name: str
    draw: Callable[[np.random.Generator, int], np.ndarray]
    temperature: float

    def truth(self, p: np.ndarray) -> np.ndarray:
        """Frequencies of the classes: predictions are too sharp by the temperature."""
        tempered = p ** (1 / self.temperature)
        return tempered / tempered.sum(axis=1, keepdims=True)

    def sample(self, rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Predictions and outcomes, five of them at least not of the most frequent class."""
        while True:
            p = self.draw(rng, n)
            y = (rng.random((n, 1)) > self.truth(p).cumsum(axis=1)[:, :-1]).sum(axis=1)
            if n - np.bincount(y).max() >= FEW_EVENTS:
                return p, y


def _beta(a: float, b: float) -> Callable[[np.random.Generator, int], np.ndarray]:
    def draw(rng: np.random.Generator, n: int) -> np.ndarray:
        p = np.clip(rng.beta(a, b, n), 1e-9, 1 - 1e-9)
        return np.column_stack([1 - p, p])

    return draw


LAWS = (
    Law("uniform, calibrated", _beta(1, 1), 1.0),
    Law("Beta(0.6, 4), calibrated", _beta(0.6, 4), 1.0),
    Law("Beta(0.2, 8), calibrated", _beta(0.2, 8), 1.0),
    Law("uniform, T = 1.2", _beta(1, 1), 1.2),
    Law("uniform, T = 1.6", _beta(1, 1), 1.6),
    Law("Beta(0.6, 4), T = 1.6", _beta(0.6, 4), 1.6),
)
THREE = (
    Law("3 classes, calibrated", lambda r, n: r.dirichlet(np.ones(3), n), 1.0),
    Law("3 classes, T = 1.6", lambda r, n: r.dirichlet(np.ones(3), n), 1.6),
)


class Found(NamedTuple):
    """True gain of the map of a sample, and what was said of it."""

    truth: float
    estimate: float
    low: float
    high: float
    pvalue: float


def log_gain(law: Law, new: np.ndarray, map: Calibrator) -> float:
    """Gain in log loss on the population."""
    q = map.predict_proba(new if new.shape[1] > 2 else new[:, 1])
    return float(np.mean(np.sum(law.truth(new) * (np.log(q) - np.log(new)), axis=1)))


def held_out(law: Law, p: np.ndarray, y: np.ndarray, new: np.ndarray) -> Found:
    """Gain of one map in log loss, from folds."""
    two = p.shape[1] == 2
    map: Calibrator = BetaCalibrator() if two else StructuredVectorCalibrator()

    def induced(q: np.ndarray) -> Induced:
        binary = two and BinarySample(y=y, p=q[:, 1])
        sample = binary or MulticlassSample(y=y, p=q, classes=tuple(range(q.shape[1])))
        return Induced(sample, Canonical(), sample)

    before = induced(p)
    after = induced(cross_fitted(before.sample, map, FOLDS).p)
    own = induced(fitted_to_itself(before.sample, map))
    options = IntervalOptions("analytic", 0.95)
    d = gain_core(LogScore(), before, after, own, FOLDS, options)
    truth = log_gain(law, new, map.fit(p[:, 1] if two else p, y))
    return Found(truth, -d.estimate, -d.high, -d.low, d.pvalue)


def cost(law: Law, p: np.ndarray, y: np.ndarray, new: np.ndarray, costs: tuple[int, int]) -> Found:
    """What recalibration saves in decisions."""
    truth = law.truth(new)[:, 1]

    def paid(q: np.ndarray) -> float:
        alarm = q > costs[0] / sum(costs)
        return float(np.mean(np.where(alarm, costs[0] * (1 - truth), costs[1] * truth)))

    after = BetaCalibrator().fit(p[:, 1], y).predict_proba(new[:, 1])[:, 1]
    found = miscalibration_cost(y, p[:, 1], costs)
    saved = paid(new[:, 1]) - paid(after)
    return Found(saved, found.estimate, found.low, found.high, found.pvalue)


def evidence(law: Law, p: np.ndarray, y: np.ndarray, new: np.ndarray, strategy: str) -> Found:
    """What the automatic calibrator says of its result."""
    map = AutoCalibrator(strategy=strategy).fit(p if p.shape[1] > 2 else p[:, 1], y)  # type: ignore[arg-type]
    row = map.evidence_.candidates[-1]
    claimed = row.low > 0 or row.high < 0
    truth = log_gain(law, new, map)
    return Found(truth, -row.difference, -row.high, -row.low, 0.0 if claimed else 1.0)


class Cell(NamedTuple):
    """Which figure, of which law, and how often."""

    figure: str
    map: str
    law: Law
    n: int
    repeats: int
    find: Callable[..., Found]
    option: tuple[object, ...] = ()


def cells(repeats: int) -> list[Cell]:
    """Everything that is simulated."""
    found = [
        Cell("held-out", "beta", law, n, repeats, held_out)
        for law in LAWS
        for n in (100, 200, 1000, 2000)
    ]
    found += [
        Cell("held-out", "structured vector", law, n, repeats, held_out)
        for law in THREE
        for n in (200, 1000)
    ]
    found += [
        Cell(f"cost {costs[0]}:{costs[1]}", "beta", law, n, repeats, cost, (costs,))
        for costs in ((1, 1), (1, 4))
        for law in (*LAWS[:3], LAWS[4])
        for n in (200, 1000)
    ]
    found += [
        Cell("evidence", strategy, law, n, repeats // few, evidence, (strategy,))
        for strategy, few, sizes in (("pool", 5, (100, 200, 1000)), ("select", 5, (200,)))
        for law in (*LAWS[:3], LAWS[4])
        for n in sizes
    ]
    found += [
        Cell("evidence", "pool", law, 1000, repeats // 6, evidence, ("pool",)) for law in THREE
    ]
    return found


def simulated(cell: Cell) -> list[object]:
    """One row of the table."""
    name = f"{cell.figure} {cell.map} {cell.law.name}"
    rng = np.random.default_rng([cell.n, zlib.crc32(name.encode())])
    new = cell.law.draw(rng, MANY)
    found = [
        cell.find(cell.law, *cell.law.sample(rng, cell.n), new, *cell.option)
        for _ in range(cell.repeats)
    ]
    truth, estimate, low, high, pvalue = np.array(found).T
    slack = 1e-12  # a map that is the identity gains nothing but rounding
    inside = (low - slack <= truth) & (truth <= high + slack)
    mean = truth.mean()
    claims = (low > 0) | (high < 0)
    wrong = ((low > 0) & (truth <= 0)) | ((high < 0) & (truth >= 0))
    figures = (mean, (estimate - truth).mean())
    of_mean = ((low <= mean) & (mean <= high)).mean()
    return [
        cell.figure,
        cell.map,
        cell.law.name,
        cell.n,
        cell.repeats,
        *(f"{v:.5f}" for v in figures),
        f"{inside.mean():.3f}",
        "" if cell.find is evidence else f"{of_mean:.3f}",
        *(f"{v.mean():.3f}" for v in (claims, wrong, pvalue <= 0.05)),
    ]


def rows(repeats: int, only: str | None = None) -> Iterator[list[object]]:
    """All rows of the table, or those of one figure."""
    every = [cell for cell in cells(repeats) if only in (None, cell.figure)]
    for index in track(len(every), "gains"):
        yield simulated(every[index])


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--repeats", type=int, default=300)
    parser.add_argument("--only", help="figure whose rows are simulated anew")
    arguments = parser.parse_args()
    if arguments.only is not None:
        path = arguments.folder / "gains.csv"
        found = {tuple(map(str, row[:4])): row for row in rows(arguments.repeats, arguments.only)}
        with path.open(newline="") as file:
            kept = [found.get(tuple(row[:4]), row) for row in csv.reader(file)]
        with path.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(kept)
        return
    with (arguments.folder / "gains.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEADER)
        for row in rows(arguments.repeats):
            writer.writerow(row)
            file.flush()


if __name__ == "__main__":
    main()
