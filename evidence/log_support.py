"""What limits of log scores cost, and what they would miss if they supposed less: log_support.csv.

    python evidence/log_support.py docs/evidence           # 300 repetitions a cell, a minute

Limits of the mean log score count one more row, as bad as all but half a row (95 to 99 in 100) of
the surprises that predictions twice too confident would meet (`inference/_intervals/support.py`).
The table has what is supposed, that or a share of the surprises; how often 95 % limits of the score
and of its difference from p / 2 were below and above the truth; their median width over that of the
normal interval with the true variance (`oracle`), how often that one covers, and the width of
limits that know the distribution of the studentised mean.
Noise: that share of the labels is wrong.
"""

from __future__ import annotations

import argparse
import csv
import math
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from _population import LAWS, Law, losses, of_beta, population

from veridical import LogScore
from veridical._core.runtime.progress import track
from veridical._core.sample import BinarySample
from veridical.inference._intervals import support
from veridical.inference._intervals.mean import IntervalOptions, make_units, mean_interval

OURS = "all but half a row"
SHARES = (OURS, "0.9", "0.95", "0.99")
MANY = 4000
KEPT = support._LEAST, support._MOST
OPTIONS = IntervalOptions("analytic", 0.95)


Quantile = Callable[[np.ndarray], np.ndarray]


def noisy(share: float) -> Quantile:
    """Truth of calibrated predictions with labels that are wrong in so many rows."""
    return lambda p: share + (1 - 2 * share) * p


def clipped(quantile: Quantile, least: float = 1e-9) -> Quantile:
    """Predictions that are nowhere nearer to 0 and 1."""
    return lambda u: quantile(u).clip(least, 1 - least)


def tenths(u: np.ndarray) -> np.ndarray:
    """Rounded predictions, a quarter of them 0.001."""
    return clipped(lambda v: np.round(of_beta(0.5, 0.9)(v), 1), 0.001)(u)


CELLS = (
    (LAWS["uniform, calibrated"], (30,)),
    (LAWS["saturated, slope 1/2"], (30, 100)),
    (LAWS["Beta(0.2, 8), calibrated"], (400,)),
    (Law("uniform", "noise 0.05", lambda u: u, noisy(0.05)), (100, 400)),
    (Law("Beta(0.3, 0.3)", "noise 0.03", of_beta(0.3, 0.3), noisy(0.03)), (100, 400)),
    (Law("Beta(0.1, 0.1)", "noise 0.01", clipped(of_beta(0.1, 0.1)), noisy(0.01)), (100, 400)),
    (Law("tenths", "noise 0.05", tenths, noisy(0.05)), (30, 100)),
)


def of_rows(p: np.ndarray, y: np.ndarray | int, *, paired: bool) -> np.ndarray:
    """Log score of rows, or its difference from that of p / 2."""
    score = np.where(y == 1, *losses(p)["log"][::-1])
    return score - np.where(y == 1, *losses(p / 2)["log"][::-1]) if paired else score


def suppose(share: str) -> None:
    """Let one more row be as bad as this share of the surprises."""
    support._LEAST, support._MOST = KEPT if share == OURS else [1 - float(share)] * 2


def cell(
    law: Law, n: int, repeats: int, *, paired: bool, seed: list[int]
) -> Iterator[list[object]]:
    """A line of the table for every share."""
    of, rng = population(law, size=20_000), np.random.default_rng(seed)
    miss, hit = (of_rows(of.p, k, paired=paired) for k in (0, 1))
    truth, square = (of.mean(of.rate * hit**k + (1 - of.rate) * miss**k) for k in (1, 2))
    error = math.sqrt((square - truth**2) / n)
    p = law.quantile(rng.random((MANY, n)))
    value = of_rows(p, rng.random((MANY, n)) < law.rate(p), paired=paired)
    middle, spread = value.mean(axis=1), value.std(axis=1, ddof=1) / math.sqrt(n)
    covers = np.mean(np.abs(middle - truth) < 1.96 * error)
    low, high = np.quantile((middle - truth) / spread, [0.025, 0.975])
    known = (high - low) * np.median(spread) / (3.92 * error)
    found: dict[str, list[tuple[float, float]]] = {share: [] for share in SHARES}
    for _ in range(repeats):
        p = law.quantile(rng.random(n))
        y = (rng.random(n) < law.rate(p)).astype(np.int8)
        rows = of_rows(p, y, paired=paired)
        pair = [BinarySample(y=y, p=q) for q in (p, p / 2)]
        for share in SHARES:
            suppose(share)
            ends = (
                support.difference_support(LogScore(), (pair[0], pair[1]), rows) if paired
                else support.score_support(LogScore(), pair[0], rows)
            )  # fmt: skip
            limits = mean_interval(make_units(rows), OPTIONS, support=ends)
            found[share].append((limits.low, limits.high))
    name, events = "difference(log)" if paired else "log", n * of.mean(of.rate)
    for share, each in found.items():
        low, high = np.array(each).T
        yield [name, law.name, n, f"{min(events, n - events):.0f}", share, repeats,
               f"{np.mean(high < truth):.4f}", f"{np.mean(low > truth):.4f}",
               f"{np.median(high - low) / (3.92 * error):.2f}", f"{covers:.3f}",
               f"{known:.2f}"]  # fmt: skip


HEADER = ["figure", "law", "n", "events", "supposed", "repetitions", "missed_below_truth",
          "missed_above_truth", "width_over_oracle", "oracle_covers",
          "known_distribution_over_oracle"]  # fmt: skip


def main() -> None:
    """Simulate and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--repeats", type=int, default=300)
    options = parser.parse_args()
    cells = [(law, n, paired) for law, sizes in CELLS for n in sizes for paired in (False, True)]
    path = options.folder / "log_support.csv"
    with path.open("w", newline="", encoding="utf-8", buffering=1) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(HEADER)
        for index in track(len(cells), "log scores"):
            law, n, paired = cells[index]
            writer.writerows(cell(law, n, options.repeats, paired=paired, seed=[23, index]))


if __name__ == "__main__":
    main()
