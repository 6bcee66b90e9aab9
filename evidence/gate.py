"""How often requirements of the gate pass with the truth at the limit: `gate_limits.csv`.

    python evidence/gate.py docs/evidence                # 200 repetitions a cell, 12 minutes
    python evidence/gate.py docs/evidence --repeats 50
    python evidence/gate.py docs/evidence --means        # of independent rows only scores, anew

Every figure that the gate can require by `.low` or `.high` is asked for, with the limits the gate
takes: `x.high < T` and `x.low > T` where T is the truth, of the population or, for binned errors,
of the population under the bins of the sample (RMSCE and MCE: those that hold rows, for nothing is
known of others; `rmsce, empty bins too` counts them). Either should pass in at most 2.5 % of the
samples (equivalence, at its level of 5 %, in 5 %). With weights, one row in twenty weighs twenty,
or every row 1 / (0.05 + p); with clusters, 20 of them hold all rows, whose predictions and outcomes
are correlated (Gaussian copula, 0.3 each). Every cell has a seed of its own. Figures that are
beyond their level by three standard errors, as a few in a thousand are by chance, are run on to
five times as many samples, and the table has them all.
"""

from __future__ import annotations

import argparse
import csv
import math
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

import numpy as np
from _population import (
    KINDS,
    LAWS,
    MANY,
    Law,
    Population,
    area,
    binned_truth,
    draw,
    population,
    scores,
    truths,
)

from veridical import BinnedError, QuantileBins
from veridical._core.runtime.progress import track
from veridical._core.sample import BinarySample, MulticlassSample
from veridical.binning import UniformBins, VarianceSplitBins
from veridical.evaluation._data.source import SampleSource
from veridical.evaluation._figures.limits import figure_limits
from veridical.evaluation._figures.measure import Measuring, measure_figures
from veridical.evaluation._gate.figures import PAIRED, figures_of, paired_change
from veridical.evaluation._gate.language import spelt
from veridical.inference._intervals.bootstrap import binned_limits
from veridical.lenses import Binary, Confidence

SIZES = (30, 60, 100, 400, 1000)
PLAIN = tuple(
    law for name, law in LAWS.items()
    if name not in ("Beta(0.2, 8), calibrated", "Beta(0.6, 4), slope 1/2", "uniform, calibrated")
)  # fmt: skip
DEPENDENT = (LAWS["Beta(0.6, 4), calibrated"], LAWS["uniform, wave"])
SOME = 20_000
LEVEL = 0.95
MORE = 5
EMPTY = "rmsce, empty bins too"
MEANS = [name for name in PAIRED if name != "squared_rmsce"]
ERRORS = {
    "ece": BinnedError(UniformBins(15)),
    "ece_equal_mass": BinnedError(QuantileBins(15)),
    "rmsce": BinnedError(UniformBins(15), norm=2),
    "mce": BinnedError(UniformBins(15), norm="max"),
}
Limits = dict[str, tuple[float, float]]


class Misses:
    """How often the limits of each figure were on the wrong side of the truth."""

    def __init__(self) -> None:
        self.of: dict[str, list[tuple[bool, bool]]] = {}
        self.only: set[str] | None = None

    def note(self, name: str, low: float, high: float, true: float) -> None:
        """One sample."""
        if self.only is not None and name not in self.only:
            return
        tiny = 1e-5 * (1 + abs(true)) if name in ("smece", "ks") else 1e-9 * (1 + abs(true))
        self.of.setdefault(name, []).append((high < true - tiny, low > true + tiny))

    def go_on(self) -> bool:
        """Whether limits of figures, which are then the only ones, err too often to be chance."""
        found = set()
        for name, each in self.of.items():
            level = 0.05 if name.startswith("equivalence") else 0.025
            most = level + 3 * math.sqrt(level * (1 - level) / len(each))
            if max(np.mean(each, axis=0)) > most and name != EMPTY:
                found.add(name)
        self.only = found
        return bool(found)

    def table(self, law: tuple[str, str], n: int, kind: str) -> Iterator[list[object]]:
        """Rows of one cell."""
        for name, each in self.of.items():
            high, low = np.mean(each, axis=0)
            yield [name, *law, n, kind, len(each), f"{high:.4f}", f"{low:.4f}"]


def shrunk(p: np.ndarray) -> np.ndarray:
    """Another model of the same rows."""
    return np.clip(0.8 * p + 0.02, 0, 1)


def gate_limits(source: SampleSource) -> Limits:
    """Limits of all figures that have some, as the gate takes them."""
    found = figures_of(measure_figures(source, Measuring(15, LEVEL, 0, 0)))
    return {name: (f.low, f.high) for name, f in found.items() if f.has_limits}  # type: ignore[misc]


def limits_of_means(source: SampleSource) -> Limits:
    """The same of scores and levels, which take less time."""
    found = figure_limits(source, None, LEVEL, with_parts=False)
    return {spelt(name): each for name, each in found.items()}


def difference_limits(sample: BinarySample, names: Sequence[str] = PAIRED) -> Limits:
    """Limits of differences from another model of the same rows."""
    other = BinarySample(
        y=sample.y, p=shrunk(sample.p), weight=sample.weight, clusters=sample.clusters
    )
    pair = (SampleSource(sample, Binary()), SampleSource(other, Binary()))
    found = {}
    for name in names:
        change = paired_change(name, pair, 15, LEVEL, caller="gate")
        if change.low is not None and change.high is not None:
            found[f"difference({name})"] = change.low, change.high
    return found


def true_differences(of: Population) -> dict[str, float]:
    """What the limits above are about, but for the squared error."""
    one, two = scores(of, of.p), scores(of, shrunk(of.p))
    found = {f"difference({name})": one[name] - two[name] for name in one}
    return found | {"difference(accuracy)": -found["difference(zero_one)"]}


def binned_truths(sample: BinarySample, of: Population) -> dict[str, float]:
    """Truths under the bins of a sample."""
    found = {}
    for name, error in ERRORS.items():
        partition = error.summarise(sample).partitions[0]
        held = np.unique(partition.assign(sample.p)) if name in ("rmsce", "mce") else None
        found[name] = binned_truth(partition, of, error.power, held)
        if name == "rmsce":
            found[EMPTY] = binned_truth(partition, of, error.power)
    other = shrunk(sample.p)
    second = ERRORS["rmsce"].summarise(BinarySample(y=sample.y, p=other)).partitions[0]
    worse = binned_truth(second, of._replace(p=shrunk(of.p)), 2)
    found["difference(squared_rmsce)"] = found[EMPTY] ** 2 - worse**2
    found |= {"ece_debiased": found["ece"], "rmsce_debiased": found["rmsce"]}
    return found


def binary_rows(
    repeats: int, sizes: tuple[int, ...] = SIZES, *, means: bool = False
) -> Iterator[list[object]]:
    """Wrong passes of all figures of binary predictions, or of means only."""
    cells = [(law, n, "plain") for law in PLAIN for n in sizes]
    cells += [(law, n, kind) for kind in KINDS[1:] for law in DEPENDENT for n in (100,)]
    known: dict[tuple[Law, str], tuple[dict[str, float], Population]] = {}
    for index in track(len(cells), "limits of binary predictions"):
        law, n, kind = cells[index]
        rng = np.random.default_rng([1, index])
        if (law, kind) not in known:
            every = population(law, kind)
            few = population(law, kind, SOME)
            known[law, kind] = truths(every) | true_differences(every), few
        truth, few = known[law, kind]
        misses = Misses()
        for turn in range(MORE * repeats):
            if turn == repeats and not misses.go_on():
                break
            sample = draw(law, n, kind, rng)
            if means and kind != "clusters":
                limits = limits_of_means(SampleSource(sample, Binary()))
                limits |= difference_limits(sample, MEANS)
                for name, (low, high) in limits.items():
                    if name in truth:
                        misses.note(name, low, high, truth[name])
                continue
            true = truth | binned_truths(sample, few)
            limits = gate_limits(SampleSource(sample, Binary())) | difference_limits(sample)
            for name, (low, high) in limits.items():
                if name in true:
                    misses.note(name, low, high, true[name])
            misses.note(EMPTY, *limits["rmsce"], true[EMPTY])
            if kind == "plain":
                error = ERRORS["rmsce"]
                wide = binned_limits(error, error.summarise(sample), 0.9)
                misses.note("equivalence(T).pvalue", *wide, true["rmsce"])
        yield from misses.table(law[:2], n, kind)


def vector_rows(
    repeats: int, sizes: tuple[int, ...] = SIZES, *, means: bool = False
) -> Iterator[list[object]]:
    """Wrong passes of the figures of three classes, most of which are about the confidence."""
    laws = {"Dirichlet(0.5, 1, 2)": [0.5, 1, 2], "Dirichlet(5, 5, 0.3)": [5, 5, 0.3]}
    cells = [(name, n) for name in laws for n in sizes]
    for index in track(len(cells), "limits of three classes"):
        name, n = cells[index]
        rng = np.random.default_rng([2, index])
        p = rng.dirichlet(laws[name], MANY)
        vectors = Population(p, turned(p), np.ones(MANY))
        top = p.argmax(axis=1)
        confidence = Population(p.max(axis=1), vectors.rate[np.arange(MANY), top], vectors.weight)
        truth = truths(confidence) | vector_scores(vectors)
        few = [Population(*(part[:SOME] for part in each)) for each in (vectors, confidence)]
        misses = Misses()
        for turn in range(MORE * repeats):
            if turn == repeats and not misses.go_on():
                break
            p = rng.dirichlet(laws[name], n)
            y = (rng.random((n, 1)) > turned(p).cumsum(axis=1)).sum(axis=1).clip(max=2)
            sample = MulticlassSample(y=y, p=p, classes=(0, 1, 2))
            if means:
                limits = limits_of_means(SampleSource(sample, Confidence()))
                for figure in limits.keys() & truth.keys():
                    misses.note(figure, *limits[figure], truth[figure])
                continue
            cells_of = BinnedError(VarianceSplitBins(max(20, n // 15))).summarise(sample)
            true = truth | binned_truths(Confidence().induce(sample), few[1])
            true["canonical_ece"] = binned_truth(cells_of.partition, few[0], 1)
            for figure, (low, high) in gate_limits(SampleSource(sample, Confidence())).items():
                if figure in true:
                    misses.note(figure, low, high, true[figure])
        yield from misses.table((name, "turned by 0.1"), n, "plain")


def vector_scores(of: Population) -> dict[str, float]:
    """Scores of whole vectors, and the mean area of their classes."""
    p, rate = of.p, of.rate
    length = np.sqrt((p**2).sum(axis=1))
    areas = [area(p[:, k], rate[:, k], 1 - rate[:, k]) for k in range(p.shape[1])]
    wrong = 1 - rate[np.arange(len(p)), p.argmax(axis=1)]
    return {
        "brier": float((rate * (1 - 2 * p) + p**2).sum(axis=1).mean()),
        "log": float(-(rate * np.log(p.clip(1e-300))).sum(axis=1).mean()),
        "spherical": float((1 - (rate * p).sum(axis=1) / length).mean()),
        "zero_one": float(wrong.mean()),
        "accuracy": 1 - float(wrong.mean()),
        "auc": float(np.mean(areas)),
    }


def turned(p: np.ndarray) -> np.ndarray:
    """Truth where a tenth of each class belongs to the next one."""
    return 0.9 * p + 0.1 * np.roll(p, 1, axis=1)


HEADER = ["figure", "predictions", "truth", "n", "with", "repetitions", "high_below_truth",
          "low_above_truth"]  # fmt: skip


def main() -> None:
    """Run both simulations."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--means", action="store_true", help="anew only scores and levels")
    options = parser.parse_args()
    path = options.folder / "gate_limits.csv"
    if options.means:
        rows = (make(options.repeats, means=True) for make in (binary_rows, vector_rows))
        found = {tuple(map(str, row[:5])): row for row in chain.from_iterable(rows)}
        with path.open(encoding="utf-8") as stream:
            kept = [found.get(tuple(row[:5]), row) for row in csv.reader(stream)]
        with path.open("w", newline="", encoding="utf-8") as stream:
            csv.writer(stream, lineterminator="\n").writerows(kept)
        return
    with path.open("w", newline="", encoding="utf-8", buffering=1) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(HEADER)
        for row in chain(binary_rows(options.repeats), vector_rows(options.repeats)):
            writer.writerow(row)


if __name__ == "__main__":
    main()
