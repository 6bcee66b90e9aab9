"""How often the intervals of an evaluation cover the truth: docs/evidence/intervals.csv.

    python evidence/intervals.py docs/evidence                # 500 repetitions a cell, ten minutes
    python evidence/intervals.py docs/evidence --repeats 50

Figures that take longer have a fifth of the repetitions and no sample of 60 or 2,000 rows. With
weights, one row in twenty weighs twenty; with clusters, 20 of them hold all rows, whose predictions
and outcomes are correlated (Gaussian copula, 0.3 each). A sample without both outcomes has no area
under the curve and is not counted for it. The width is the median of the intervals over that of
the normal one with the true variance, which is known for means.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from coverage import write
from scipy.optimize import root
from scipy.special import expit, logit, ndtr, ndtri
from scipy.stats import beta

from veridical import BrierScore, CumulativeError, LogScore, SmoothError
from veridical._core.runtime.progress import track
from veridical._core.sample import BinarySample
from veridical.evaluation._data.source import SampleSource
from veridical.evaluation._figures.limits import figure_limits
from veridical.inference._cox.binary import recalibration_line
from veridical.inference._intervals.bootstrap import unbinned_limits
from veridical.inference._intervals.mean import IntervalOptions
from veridical.inference._intervals.paired import difference_core
from veridical.inference._intervals.parts import part_limits
from veridical.inference._intervals.rows import rows_of
from veridical.lenses import Binary
from veridical.lenses.reading import Induced
from veridical.scores import get_rule

LEVEL = 0.95
MANY = 200_000
CLUSTERS, CORRELATION = 20, 0.3
HEAVY, TIMES = 0.05, 20.0
Limits = dict[str, tuple[float, float]]


class Law(NamedTuple):
    """Quantiles of the predictions, and the true frequency as a function of them."""

    name: str
    predictions: Callable[[np.ndarray], np.ndarray]
    rate: Callable[[np.ndarray], np.ndarray]


def halved(p: np.ndarray) -> np.ndarray:
    """Truth where log-odds are twice too large."""
    return expit(logit(np.clip(p, 1e-12, 1 - 1e-12)) / 2)


LAWS = (
    Law("Beta(0.2, 8), calibrated", lambda u: beta.ppf(u, 0.2, 8), lambda p: p),
    Law("Beta(0.6, 4), slope 1/2", lambda u: beta.ppf(u, 0.6, 4), halved),
    Law("uniform, wave", lambda u: u, lambda p: np.clip(p + 0.1 * np.sin(12 * p), 0, 1)),
    Law("uniform, calibrated", lambda u: u, lambda p: p),
    Law("0.3 or 0.9, 0.1 too high", lambda u: np.where(u < 0.5, 0.3, 0.9), lambda p: p - 0.1),
    Law("saturated, slope 1/2", lambda u: expit(5 * ndtri(u)), halved),
)
QUICK, SLOW = (30, 60, 100, 400, 2000), (30, 100, 400)


def area(p: np.ndarray, positive: np.ndarray, negative: np.ndarray) -> float:
    """Share of pairs in order, ties counting one half."""
    values, place = np.unique(p, return_inverse=True)
    up, down = (np.bincount(place, each, len(values)) for each in (positive, negative))
    return float(up @ (np.cumsum(down) - down / 2) / (up.sum() * down.sum()))


def entropy(rule: str, p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Expected score of p where q is true."""
    if rule == "brier":
        return q * (1 - p) ** 2 + (1 - q) * p**2
    safe = np.clip(p, 1e-300, 1 - 1e-16)
    return -(q * np.log(safe) + (1 - q) * np.log1p(-safe))


def truths(law: Law) -> dict[str, float]:
    """What holds for the population."""
    p = law.predictions((np.arange(MANY) + 0.5) / MANY)
    q = law.rate(p)
    found = {"AUC": area(p, q, 1 - q), "accuracy": float(np.mean(np.where(p > 0.5, q, 1 - q)))}
    base = np.full(MANY, q.mean())
    for rule in ("brier", "log"):
        score, best = (float(entropy(rule, each, q).mean()) for each in (p, q))
        found[rule] = score
        found[f"difference({rule})"] = score - float(entropy(rule, p / 2, q).mean())
        found[f"{rule} miscalibration"] = score - best
        found[f"{rule} discrimination"] = float(entropy(rule, base, q).mean()) - best
    found["calibration in the large"] = float(np.mean(q - p))
    found["observed/expected"] = float(q.mean() / p.mean())
    x = logit(np.clip(p, 1e-12, 1 - 1e-12))

    def gap(line: np.ndarray) -> list[float]:
        left = q - expit(line[0] + line[1] * x)
        return [left.mean(), (left * x).mean()]

    found["slope"] = float(root(gap, [0.0, 0.7]).x[1])
    found["intercept"] = float(root(lambda a: np.mean(q - expit(a + x)), 0.0).x[0])
    both = BinarySample(
        y=np.repeat([1, 0], MANY), p=np.tile(p, 2), weight=np.concatenate([q, 1 - q]).clip(1e-300),
        weight_type="frequency",
    )  # fmt: skip
    return found | {e.name: e.measure(both) for e in (CumulativeError(), SmoothError())}


def spreads(law: Law) -> dict[str, float]:
    """Standard deviations of the rows of figures that are means."""
    p = law.predictions((np.arange(MANY) + 0.5) / MANY)
    q = law.rate(p)
    pairs = {"accuracy": ((p <= 0.5) * 1.0, (p > 0.5) * 1.0),
             "calibration in the large": (-p, 1 - p)}  # fmt: skip
    for rule in ("brier", "log"):
        one, other = (
            [entropy(rule, each, np.full(MANY, y)) for y in (0, 1)] for each in (p, p / 2)
        )
        pairs |= {rule: tuple(one), f"difference({rule})": (one[0] - other[0], one[1] - other[1])}
    found = {}
    for name, (miss, hit) in pairs.items():
        mean = np.mean(q * hit + (1 - q) * miss)
        found[name] = float(np.sqrt(np.mean(q * hit**2 + (1 - q) * miss**2) - mean**2))
    return found


def draw(law: Law, n: int, kind: str, rng: np.random.Generator) -> BinarySample:
    """Rows of a law: plain, with weights or in clusters."""
    weight = clusters = None
    uniform = rng.random((2, n))
    if kind == "clusters":
        clusters = np.arange(n) * CLUSTERS // n
        common, own = rng.normal(size=(2, CLUSTERS))[:, clusters], rng.normal(size=(2, n))
        uniform = ndtr(math.sqrt(CORRELATION) * common + math.sqrt(1 - CORRELATION) * own)
    if kind == "weights":
        weight = np.where(rng.random(n) < HEAVY, TIMES, 1.0)
    p = law.predictions(uniform[0])
    y = (uniform[1] < law.rate(p)).astype(int)
    return BinarySample(y=y, p=p, weight=weight, clusters=clusters)


def quick(sample: BinarySample) -> Limits:
    """Limits of figures of an evaluation, without the parts of scores."""
    source = SampleSource(sample, Binary())
    mixed = 0 < sample.y.sum() < sample.n
    found = figure_limits(source, source.areas[0] if mixed else None, LEVEL, with_parts=False)
    return {name: each for name, each in found.items() if name not in ("spherical", "zero-one")}


def slow(sample: BinarySample) -> Limits:
    """Limits of parts, lines, errors without bins and differences from p / 2."""
    rows = rows_of(sample)
    line = recalibration_line(sample, LEVEL, rows)
    found = {"slope": (line.slope.low, line.slope.high),
             "intercept": (line.in_the_large.low, line.in_the_large.high)}  # fmt: skip
    pair = tuple(
        Induced(sample, Binary(), BinarySample(
            y=sample.y, p=p, weight=sample.weight, clusters=sample.clusters))
        for p in (sample.p, sample.p / 2)
    )  # fmt: skip
    for score in (BrierScore(), LogScore()):
        difference, _ = difference_core(score, pair, IntervalOptions("analytic", LEVEL))
        found[f"difference({score.name})"] = difference.low, difference.high
        parts = part_limits(rows, get_rule(score.name, caller=""), LEVEL)
        if parts is not None:
            found |= {f"{score.name} {name}": each for name, each in parts._asdict().items()}
    if sample.clusters is None:
        for error in (CumulativeError(), SmoothError()):
            found[error.name] = unbinned_limits(error, rows, LEVEL)
    return found


def table(repeats: int) -> Iterator[list[object]]:
    """Every cell with its own seed."""
    cells = [(law, n, "plain", quick, repeats) for law in LAWS for n in QUICK]
    cells += [(law, n, "plain", slow, repeats // 5) for law in LAWS for n in SLOW]
    for kind in ("weights", "clusters"):
        cells += [(law, 400, kind, quick, repeats // 5) for law in LAWS]
        cells += [(law, 400, kind, slow, repeats // 10) for law in LAWS[:3]]
    known = {law.name: (truths(law), spreads(law)) for law in LAWS}
    for index in track(len(cells), "intervals"):
        law, n, kind, measure, number = cells[index]
        rng = np.random.default_rng([22, index])
        every: dict[str, list[tuple[float, float]]] = {}
        for _ in range(number):
            for name, limits in measure(draw(law, n, kind, rng)).items():
                every.setdefault(name, []).append(limits)
        for name, found in every.items():
            low, high = np.array(found).T
            truth, spread = known[law.name][0][name], known[law.name][1].get(name)
            above, below = np.mean(low > truth + 1e-5), np.mean(high < truth - 1e-5)
            width = ""
            if spread is not None and kind == "plain":
                width = f"{np.median(high - low) / (3.92 * spread / math.sqrt(n)):.2f}"
            shares = (f"{share:.4f}" for share in (1 - above - below, below, above))
            yield [name, law.name, n, kind, len(found), *shares, width]


HEADER = ["figure", "law", "n", "with", "repetitions", "coverage", "missed_below_truth",
          "missed_above_truth", "median_width_over_oracle"]  # fmt: skip


def main() -> None:
    """Simulate and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--repeats", type=int, default=500)
    arguments = parser.parse_args()
    write(arguments.folder / "intervals.csv", HEADER, list(table(arguments.repeats)))


if __name__ == "__main__":
    main()
