"""How often requirements of the gate pass with the truth at the limit: `gate_limits.csv`.

    python evidence/gate.py docs/evidence                # 200 repetitions a cell, ten minutes
    python evidence/gate.py docs/evidence --repeats 50

`x.high < T` and `x.low > T` are asked where T is the truth: the score or coefficient of the
population, or the binned error under the bins of the sample. Either should pass in at most 2.5 % of
samples (equivalence, at its level of 5 %, in 5 %). Laws of predictions were not used to choose the
method: every cell has a seed of its own.
"""

from __future__ import annotations

import argparse
import csv
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq, root
from scipy.special import expit, logit

from veridical import BinnedError, BrierScore, LogScore, QuantileBins, SphericalScore, ZeroOneLoss
from veridical._core.runtime.progress import track
from veridical._core.sample import BinarySample, MulticlassSample
from veridical.binning import UniformBins, VarianceSplitBins
from veridical.inference._cox.binary import recalibration_line
from veridical.inference._intervals.bootstrap import binned_limits, interval_core
from veridical.inference._intervals.mean import IntervalOptions
from veridical.inference._intervals.paired import difference_core
from veridical.inference._intervals.roots import gap_limits
from veridical.inference._intervals.rows import rows_of
from veridical.lenses import Binary, Canonical, Confidence
from veridical.lenses.reading import Induced

SIZES = (30, 60, 100, 400, 1000)
MANY = 400_000
SOME = 20_000
LEVEL = 0.95
SCORES = {"brier": BrierScore(), "log": LogScore(), "spherical": SphericalScore(),
          "zero_one": ZeroOneLoss()}  # fmt: skip


class Law(NamedTuple):
    """Predictions, and the true frequency as a function of them."""

    predictions: str
    truth: str
    draw: Callable[[np.random.Generator, int], np.ndarray]
    rate: Callable[[np.ndarray], np.ndarray]


def odds(p: np.ndarray) -> np.ndarray:
    """Log-odds, finite."""
    return logit(np.clip(p, 1e-9, 1 - 1e-9))


BINARY = (
    Law("Beta(0.2, 8)", "slope 1/2", lambda r, n: r.beta(0.2, 8, n), lambda p: expit(odds(p) / 2)),
    Law("Beta(0.2, 8)", "odds 2.7 times", lambda r, n: r.beta(0.2, 8, n),
        lambda p: expit(odds(p) + 1)),
    Law("Beta(0.6, 4)", "odds 1/2.7", lambda r, n: r.beta(0.6, 4, n), lambda p: expit(odds(p) - 1)),
    Law("uniform", "wave", lambda r, n: r.random(n),
        lambda p: np.clip(p + 0.1 * np.sin(12 * p), 0, 1)),
    Law("0.3 or 0.9", "0.1 too high", lambda r, n: r.choice([0.3, 0.9], n), lambda p: p - 0.1),
    Law("saturated", "slope 1/2", lambda r, n: expit(r.normal(0, 5, n)),
        lambda p: expit(odds(p) / 2)),
    Law("always 0.02", "0.06", lambda r, n: np.full(n, 0.02), lambda p: np.full(len(p), 0.06)),
)  # fmt: skip


def scores_of(p: np.ndarray) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Scores of both outcomes, by definition."""
    length = np.hypot(p, 1 - p)
    safe = np.clip(p, 1e-300, 1 - 1e-16)
    return {
        "brier": (p**2, (1 - p) ** 2),
        "log": (-np.log1p(-safe), -np.log(safe)),
        "spherical": (1 - (1 - p) / length, 1 - p / length),
        "zero_one": ((p > 0.5) * 1.0, (p <= 0.5) * 1.0),
    }


def truths(law: Law, rng: np.random.Generator) -> dict[str, float]:
    """What holds for the population."""
    p = law.draw(rng, MANY)
    rate, other = law.rate(p), shrunk(p)
    found = {name: float(np.mean(rate * hit + (1 - rate) * miss))
             for name, (miss, hit) in scores_of(p).items()}  # fmt: skip
    for name, (miss, hit) in scores_of(other).items():
        found[f"difference({name})"] = found[name] - float(np.mean(rate * hit + (1 - rate) * miss))
    found["calibration_in_the_large"] = float(np.mean(rate - p))
    x = odds(p)
    level = brentq(lambda a: np.mean(rate - expit(a + x)), -10, 10)
    found["intercept"] = level
    if x.min() < x.max():

        def gap(line: np.ndarray) -> list[float]:
            residual = rate - expit(line[0] + line[1] * x)
            return [residual.mean(), (residual * x).mean()]

        found["slope"] = float(root(gap, [level, 0.8]).x[1])
    return found


def shrunk(p: np.ndarray) -> np.ndarray:
    """Another model of the same rows."""
    return np.clip(0.8 * p + 0.02, 0, 1)


def binned_truth(partition: object, p: np.ndarray, rate: np.ndarray, norm: int) -> float:
    """Binned error of the population under the bins of a sample."""
    cell = partition.assign(p)  # type: ignore[attr-defined]
    if p.ndim == 1:
        p, rate = np.column_stack([1 - p, p]), np.column_stack([1 - rate, rate])
    share = np.bincount(cell) / len(cell)
    gaps = np.column_stack([np.bincount(cell, rate[:, k] - p[:, k]) for k in range(p.shape[1])])
    size = np.abs(gaps).sum(axis=1) / (2 * len(cell))  # share times total variation
    held = share > 0
    return float((size[held] ** norm / share[held] ** (norm - 1)).sum() ** (1 / norm))


ERRORS = {"ece": BinnedError(UniformBins(15)), "ece_equal_mass": BinnedError(QuantileBins(15)),
          "rmsce": BinnedError(UniformBins(15), norm=2)}  # fmt: skip


def limits_of(sample: BinarySample) -> dict[str, tuple[float, float]]:
    """Limits of every figure that has the same truth in every sample."""
    options = IntervalOptions("analytic", LEVEL)
    induced = Induced(sample, Binary(), sample)
    both = (induced, Induced(sample, Binary(), BinarySample(y=sample.y, p=shrunk(sample.p))))
    found = {}
    for name, score in SCORES.items():
        interval = interval_core(score, induced, options)[0]
        found[name] = interval.low, interval.high
        difference, _ = difference_core(score, both, options)
        found[f"difference({name})"] = difference.low, difference.high
    line = recalibration_line(sample, LEVEL)
    found["slope"] = line.slope.low, line.slope.high
    found["intercept"] = line.in_the_large.low, line.in_the_large.high
    found["calibration_in_the_large"] = gap_limits(rows_of(sample), LEVEL)
    return found


def binary_rows(repeats: int, sizes: tuple[int, ...] = SIZES) -> Iterator[list[object]]:
    """Wrong passes of all figures of binary predictions."""
    cells = [(law, n) for law in BINARY for n in sizes]
    known: dict[Law, tuple[dict[str, float], np.ndarray]] = {}
    for index in track(len(cells), "limits of binary predictions"):
        law, n = cells[index]
        rng = np.random.default_rng([1, index])
        if law not in known:
            known[law] = truths(law, rng), law.draw(rng, SOME)
        truth, population = known[law]
        rate = law.rate(population)
        wrong: dict[str, list[tuple[bool, bool]]] = {}

        def note(name: str, low: float, high: float, true: float) -> None:
            tiny = 1e-9 * (1 + abs(true))
            wrong.setdefault(name, []).append((high < true - tiny, low > true + tiny))  # noqa: B023

        for _ in range(repeats):
            p = law.draw(rng, n)
            sample = BinarySample(y=(rng.random(n) < law.rate(p)).astype(np.int8), p=p)
            for name, (low, high) in limits_of(sample).items():
                if name in truth:
                    note(name, low, high, truth[name])
            for name, error in ERRORS.items():
                summary = error.summarise(sample)
                true = binned_truth(summary.partitions[0], population, rate, error.power)
                note(name, *binned_limits(error, summary, LEVEL), true)
                if name == "rmsce":
                    note("equivalence(T).pvalue", *binned_limits(error, summary, 0.9), true)
        yield from table(law.predictions, law.truth, n, wrong)


def table(
    predictions: str, truth: str, n: int, wrong: dict[str, list[tuple[bool, bool]]]
) -> Iterator[list[object]]:
    """Rows of one cell."""
    for name, each in wrong.items():
        high, low = np.mean(each, axis=0)
        yield [name, predictions, truth, n, len(each), f"{high:.4f}", f"{low:.4f}"]


def vector_rows(repeats: int, sizes: tuple[int, ...] = SIZES) -> Iterator[list[object]]:
    """Wrong passes of the figures of three classes."""
    laws = {"Dirichlet(0.5, 1, 2)": [0.5, 1, 2], "Dirichlet(5, 5, 0.3)": [5, 5, 0.3]}
    cells = [(name, n) for name in laws for n in sizes]
    for index in track(len(cells), "limits of three classes"):
        name, n = cells[index]
        rng = np.random.default_rng([2, index])
        population = rng.dirichlet(laws[name], SOME)
        rate = turned(population)
        top = population.argmax(axis=1)
        right = rate[np.arange(SOME), top]
        most = population.max(axis=1)
        score = {
            "brier": float((rate * (1 - 2 * population) + population**2).sum(axis=1).mean()),
            "log": float(-(rate * np.log(population)).sum(axis=1).mean()),
            "zero_one": 1 - float(right.mean()),
        }
        wrong: dict[str, list[tuple[bool, bool]]] = {}
        for _ in range(repeats):
            p = rng.dirichlet(laws[name], n)
            y = (rng.random((n, 1)) > turned(p).cumsum(axis=1)).sum(axis=1).clip(max=2)
            sample = MulticlassSample(y=y, p=p, classes=(0, 1, 2))
            options = IntervalOptions("analytic", LEVEL)
            found = []
            for rule, true in score.items():
                interval = interval_core(
                    SCORES[rule], Induced(sample, Canonical(), sample), options
                )[0]
                found.append((rule, interval.low, interval.high, true))
            confidence = Confidence().induce(sample)
            summary = ERRORS["ece"].summarise(confidence)
            true = binned_truth(summary.partitions[0], most, right, 1)
            found.append(("ece (confidence)", *binned_limits(ERRORS["ece"], summary, LEVEL), true))
            error = BinnedError(VarianceSplitBins(max(20, n // 15)))
            cells_of = error.summarise(sample)
            true = binned_truth(cells_of.partition, population, rate, 1)
            found.append(("canonical_ece", *binned_limits(error, cells_of, LEVEL), true))
            for figure, low, high, true in found:
                wrong.setdefault(figure, []).append((high < true - 1e-9, low > true + 1e-9))
        yield from table(name, "turned by 0.1", n, wrong)


def turned(p: np.ndarray) -> np.ndarray:
    """Truth where a tenth of each class belongs to the next one."""
    return 0.9 * p + 0.1 * np.roll(p, 1, axis=1)


HEADER = ["figure", "predictions", "truth", "n", "repetitions", "high_below_truth",
          "low_above_truth"]  # fmt: skip


def main() -> None:
    """Run both simulations, and say what passes too often."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--repeats", type=int, default=200)
    options = parser.parse_args()
    rows = [*binary_rows(options.repeats), *vector_rows(options.repeats)]
    with (options.folder / "gate_limits.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerows([HEADER, *rows])
    for row in rows:
        level = 0.05 if str(row[0]).startswith("equivalence") else 0.025
        most = level + 3 * math.sqrt(level * (1 - level) / options.repeats)
        if max(float(str(row[5])), float(str(row[6]))) > most:
            print("too often:", *row, sep="  ")


if __name__ == "__main__":
    main()
