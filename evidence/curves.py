"""How often bias-aware limits of smooth curves hold the truth, and how wide they are.

    python evidence/curves.py docs/evidence                # 300 repetitions a cell, 20 minutes
    python evidence/curves.py docs/evidence --repeats 100
    python evidence/curves.py docs/evidence --resume       # what is missing
    python evidence/curves.py docs/evidence --below 0.945 --repeats 500   # these cells anew

Writes curves.csv: `reliability_curve(method="smooth", interval="pointwise")` read at quantiles of
the predictions' own distribution, 1 % and 99 % being near the ends. Widths are medians of the
quantiles from 25 to 75 %: that of the limits over that of a logistic regression on the log-odds at
the true frequencies, which knows that the truth is a line (`over_line`; where it is none, such
limits are too narrow to hold it), and over that of the best spline that knows the true frequencies
and the size of its own bias (`over_smoother`). `events` is the mean number of the rarer outcome.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.special import chndtrix, expit

from veridical import reliability_curve
from veridical._core.runtime.progress import track
from veridical._core.sample import BinarySample
from veridical.curves._curve.spline import _ROUGHNESS, _SHIFT, _log_odds, _nodes, _spline

SIZES = (60, 100, 400, 2000)
QUANTILES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)
LEVEL, NORMAL = 0.95, 1.96
WIDTHS = 100  # samples of a cell whose oracles are asked for their widths


class Law(NamedTuple):
    """Predictions of n rows, the truth at predictions, and what is special about them."""

    name: str
    predictions: Callable[[np.random.Generator, int], np.ndarray]
    truth: Callable[[np.ndarray], np.ndarray]


def log_odds(p: np.ndarray) -> np.ndarray:
    inside = np.clip(p, 1e-12, 1 - 1e-12)
    return np.log(inside) - np.log1p(-inside)


def line(level: float, slope: float) -> Callable[[np.ndarray], np.ndarray]:
    return lambda p: expit(level + slope * log_odds(p))


def beta(a: float, b: float) -> Callable[[np.random.Generator, int], np.ndarray]:
    return lambda rng, n: rng.beta(a, b, n)


def twentieths(rng: np.random.Generator, n: int) -> np.ndarray:
    return np.round(20 * rng.beta(0.9, 0.6, n)) / 20


def saturated(rng: np.random.Generator, n: int) -> np.ndarray:
    return np.round(expit(rng.normal(-0.5, 4.0, n)), 2)


LAWS = (
    Law("uniform, calibrated", beta(1, 1), lambda p: p),
    Law("uniform, slope 0.5", beta(1, 1), line(0.0, 0.5)),
    Law("uniform, slope 2", beta(1, 1), line(0.0, 2.0)),
    Law("uniform, wave", beta(1, 1), lambda p: np.clip(p + 0.1 * np.sin(12 * p), 0, 1)),
    Law("near 0 and 1, calibrated", beta(0.3, 0.3), lambda p: p),
    Law("near 0 and 1, slope 0.5", beta(0.3, 0.3), line(0.0, 0.5)),
    Law("near 0 and 1, slope 2", beta(0.3, 0.3), line(0.0, 2.0)),
    Law("skewed, slope 0.5", beta(0.5, 5), line(-1.0, 0.5)),
    Law("skewed, slope 1.5", beta(0.5, 5), line(0.5, 1.5)),
    Law("rare, slope 0.7", beta(0.2, 8), line(-0.2, 0.7)),
    Law("ties, square", twentieths, lambda p: 0.03 + 0.9 * p**2),
    Law("saturated, slope 0.5", saturated, lambda p: 0.02 + 0.96 * line(0.2, 0.5)(p)),
)


def line_width(p: np.ndarray, truth: Callable[[np.ndarray], np.ndarray], at: np.ndarray
               ) -> np.ndarray:  # fmt: skip
    """Width of limits by a logistic regression with the information of the true frequencies."""
    columns = np.stack([np.ones_like(p), np.clip(log_odds(p), -12, 12)])
    frequency = truth(p)
    information = (columns * (frequency * (1 - frequency))) @ columns.T
    here = np.stack([np.ones_like(at), np.clip(log_odds(at), -12, 12)])
    error = np.sqrt(np.einsum("ik,ij,jk->k", here, np.linalg.inv(information), here))
    middle = log_odds(truth(at))
    return expit(middle + NORMAL * error) - expit(middle - NORMAL * error)


def smoother_width(p: np.ndarray, truth: Callable[[np.ndarray], np.ndarray], at: np.ndarray
                   ) -> np.ndarray:  # fmt: skip
    """Width of limits by the best spline, if the truth's noise and the spline's bias are known."""
    nodes = _nodes(BinarySample(y=np.zeros(len(p), dtype=np.int8), p=p))
    places = _log_odds(at)
    spline = _spline(nodes, places)
    columns, here = spline.columns(nodes.x), spline.columns(places)
    frequency = truth(np.clip((expit(nodes.x) * (1 + 2 * _SHIFT)) - _SHIFT, 0, 1))
    middle = np.clip(log_odds(truth(at)), -30, 30)
    weight = nodes.size * np.clip(frequency * (1 - frequency), 1e-12, None)
    information = (columns.T * weight) @ columns
    widths = []
    for roughness in (1e-4, *_ROUGHNESS):
        strength = np.where(np.arange(columns.shape[1]) < 2, 1e-9, roughness**-2.0)
        by_node = (columns @ np.linalg.solve(information + np.diag(strength), here.T)).T * weight
        error = np.sqrt((by_node**2 / weight).sum(axis=1))
        bias = np.abs(by_node @ np.clip(log_odds(frequency), -30, 30) - middle)
        half = error * np.sqrt(chndtrix(LEVEL, 1, np.minimum(bias / error, 20) ** 2))
        widths.append(expit(middle + half) - expit(middle - half))
    return widths[int(np.median(np.log(widths), axis=1).argmin())]


def cell(law: Law, n: int, repeats: int, rng: np.random.Generator) -> Iterator[list[object]]:
    """A line of the table for every quantile."""
    at = np.quantile(law.predictions(rng, 200_000), QUANTILES)
    truth, held, events = law.truth(at), np.zeros(len(at)), 0
    widths, lines, smoothers = [], [], []
    for _ in range(repeats):
        p = law.predictions(rng, n)
        y = (rng.random(n) < law.truth(p)).astype(int)
        curve = reliability_curve(y, p, labels=[0, 1], method="smooth", interval="pointwise")
        read = curve.at(at)
        held += (read.low <= truth) & (truth <= read.high)
        events += min(y.sum(), n - y.sum())
        widths.append(read.high - read.low)
        if len(lines) < WIDTHS:
            lines.append(line_width(p, law.truth, at))
            smoothers.append(smoother_width(p, law.truth, at))
    width, line_, smoother = (np.median(each, axis=0) for each in (widths, lines, smoothers))
    middle = slice(2, 5)
    over = [f"{np.median(width[middle] / each[middle]):.2f}" for each in (line_, smoother)]
    for i, quantile in enumerate(QUANTILES):
        yield [law.name, n, f"{events / repeats:.0f}", quantile, f"{truth[i]:.4f}", repeats,
               f"{held[i] / repeats:.4f}", f"{width[i]:.4f}",
               *(over if quantile == 0.5 else ("", ""))]  # fmt: skip


HEADER = ["law", "n", "events", "quantile", "truth", "repetitions", "coverage", "width",
          "over_line", "over_smoother"]  # fmt: skip


def main() -> None:
    """Run all cells."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--repeats", type=int, default=300)
    parser.add_argument("--resume", action="store_true", help="go on where the table ends")
    parser.add_argument("--below", type=float, help="anew cells with a value that covers less")
    options = parser.parse_args()
    path = options.folder / "curves.csv"
    cells = [(law, n) for n in SIZES for law in LAWS]
    if options.below is not None:
        kept = list(csv.reader(path.open(encoding="utf-8")))
        few = {(row[0], row[1]) for row in kept[1:]
               if float(row[6]) < options.below and int(row[5]) < options.repeats}  # fmt: skip
        for index in track(len(cells), "curves"):
            law, n = cells[index]
            if (law.name, str(n)) not in few:
                continue
            rows = cell(law, n, options.repeats, np.random.default_rng([8, index]))
            found = {(law.name, str(n), str(row[3])): row for row in rows}
            kept = [found.get((row[0], row[1], row[3]), row) for row in kept]
            with path.open("w", newline="", encoding="utf-8") as stream:
                csv.writer(stream, lineterminator="\n").writerows(kept)
        return
    kept = list(csv.reader(path.open(encoding="utf-8"))) if options.resume else [HEADER]
    done = {(row[0], row[1]) for row in kept}
    with path.open("w", newline="", encoding="utf-8", buffering=1) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerows(kept)
        for index in track(len(cells), "curves"):
            law, n = cells[index]
            if (law.name, str(n)) not in done:
                writer.writerows(cell(law, n, options.repeats, np.random.default_rng([8, index])))


if __name__ == "__main__":
    main()
