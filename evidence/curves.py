"""How often bias-aware limits of smooth curves hold the truth, and how wide they are.

    python evidence/curves.py docs/evidence --repeats 100  # as in the table, about 3 minutes
    python evidence/curves.py docs/evidence                # 300 repetitions a cell

Writes curves.csv: `reliability_curve(method="smooth", interval="pointwise")` read at quantiles of
the predictions' own distribution, 1 % and 99 % being near the ends. `width` is the median width of
the limits over that of a logistic regression on the log-odds at the true frequencies, which knows
that the truth is a line (median of the quantiles from 25 to 75 %).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from error_coverage import write
from scipy.special import expit

from veridical import reliability_curve
from veridical._core.runtime.progress import track

SIZES = (100, 400, 2000)
QUANTILES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)
LEVEL, NORMAL = 0.95, 1.96


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


def cell(law: Law, n: int, repeats: int, rng: np.random.Generator) -> Iterator[list[object]]:
    """A line of the table for every quantile."""
    at = np.quantile(law.predictions(rng, 200_000), QUANTILES)
    truth, held = law.truth(at), np.zeros(len(at))
    widths, best = [], []
    for _ in range(repeats):
        p = law.predictions(rng, n)
        y = (rng.random(n) < law.truth(p)).astype(int)
        curve = reliability_curve(y, p, labels=[0, 1], method="smooth", interval="pointwise")
        read = curve.at(at)
        held += (read.low <= truth) & (truth <= read.high)
        widths.append(read.high - read.low)
        best.append(line_width(p, law.truth, at))
    middle = slice(2, 5)
    ratio = float(np.median(np.median(widths, axis=0)[middle] / np.median(best, axis=0)[middle]))
    width = np.median(widths, axis=0)
    for i, quantile in enumerate(QUANTILES):
        over = f"{ratio:.2f}" if quantile == 0.5 else ""
        yield [law.name, n, quantile, f"{truth[i]:.4f}", repeats, f"{held[i] / repeats:.4f}",
               f"{width[i]:.4f}", over]  # fmt: skip


def main() -> None:
    """Run all cells."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--repeats", type=int, default=300)
    options = parser.parse_args()
    header = ["law", "n", "quantile", "truth", "repetitions", "coverage", "width", "over_line"]
    cells = [(law, n) for law in LAWS for n in SIZES]
    rows = []
    for index in track(len(cells), "curves"):
        rows += cell(*cells[index], options.repeats, np.random.default_rng([8, index]))
    write(options.folder / "curves.csv", header, rows)


if __name__ == "__main__":
    main()
