"""Level and power of T-Cal of many rows, beside the way of few rows on the same samples.

    python evidence/t_cal_many_rows.py docs/evidence             # t_cal_many_rows.csv, 5 minutes
    python evidence/t_cal_many_rows.py docs/evidence --repeats 20

Beyond 4,096 rows `t_cal_test` counts outcomes of sorted rows in few bytes. Here both ways judge
the same samples of 6,000 rows, at 5 %, with 499 draws each. `calibrated` shows levels, the others
power.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np

from veridical.inference import t_cal_test
from veridical.inference._kernel import t_cal

N_ROWS, DRAWS = 6_000, 499
CASES = [  # predictions, law, size of the error
    ("uniform", "calibrated", 0.0),
    ("uniform", "swings", 0.045),
    ("uniform", "over-confident", 0.12),
    ("skewed", "calibrated", 0.0),
    ("skewed", "over-confident", 0.16),
]


def draw(
    rng: np.random.Generator, predictions: str, law: str, size: float
) -> tuple[np.ndarray, ...]:
    """Outcomes and predictions."""
    p = rng.random(N_ROWS) if predictions == "uniform" else rng.beta(0.3, 3.0, N_ROWS)
    truth = p
    if law == "swings":  # ten times about the predictions
        truth = np.clip(p + size * np.sign(np.sin(20 * np.pi * p)), 0, 1)
    if law == "over-confident":
        odds = np.clip(p, 1e-12, 1 - 1e-12)
        truth = 1 / (1 + ((1 - odds) / odds) ** (1 - size))
    return (rng.random(N_ROWS) < truth).astype(int), p


def pvalues(y: np.ndarray, p: np.ndarray, seed: int) -> tuple[float, float]:
    """As it is done of few rows, and of many."""
    found, limit = [], t_cal.MANY_ROWS
    for most in (10**9, limit):
        t_cal.MANY_ROWS = most
        found.append(t_cal_test(y, p, n_resamples=DRAWS, rng=seed).pvalue)
    t_cal.MANY_ROWS = limit
    return found[0], found[1]


def main() -> None:
    """Judge samples of every case."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--repeats", type=int, default=300)
    options = parser.parse_args()
    header = ["predictions", "law", "rows", "samples", "few_rows", "many_rows", "both"]
    lines = []
    for number, (predictions, law, size) in enumerate(CASES):
        rejected = np.empty((options.repeats, 2), dtype=bool)
        for repeat in range(options.repeats):
            rng = np.random.default_rng([28, number, repeat])
            pair = pvalues(*draw(rng, predictions, law, size), repeat)
            rejected[repeat] = np.array(pair) <= 0.05
        shares = [*rejected.mean(axis=0), rejected.all(axis=1).mean()]
        error = (rejected[:, 0] * 1.0 - rejected[:, 1]).std() / np.sqrt(options.repeats)
        figures = [f"{figure:.3f}" for figure in (*shares, error)]
        lines.append([predictions, law, N_ROWS, options.repeats, *figures])
        print(*lines[-1], sep="  ", flush=True)
    with (options.folder / "t_cal_many_rows.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([[*header, "difference_se"], *lines])


if __name__ == "__main__":
    main()
