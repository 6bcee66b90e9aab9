"""Level and power of the kernel test of many rows, beside the exact one of the same samples.

    python evidence/kernel_many_rows.py docs/evidence            # kernel_many_rows.csv, 20 minutes
    python evidence/kernel_many_rows.py docs/evidence --repeats 400 --classes 2  # these rows anew

Beyond 2,000 rows `kernel_test` draws scalars in cells and compares vectors by features (Nyström).
Here both ways judge the same samples, at 5 %, with 199 draws each. `calibrated` shows levels, the
others power.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np

from veridical import kernel_test
from veridical.inference._kernel import test as kernel

N_ROWS = 2500
DRAWS = 199
CASES = [  # classes, law, size of the error
    (2, "calibrated", 0.0),
    (2, "over-confident", 0.12),
    (2, "one region", 0.06),
    (3, "calibrated", 0.0),
    (3, "over-confident", 0.15),
    (3, "one region", 0.08),
    (10, "calibrated", 0.0),
    (10, "over-confident", 0.12),
    (10, "one region", 0.15),
]


def draw(
    rng: np.random.Generator, n_classes: int, law: str, size: float
) -> tuple[np.ndarray, np.ndarray]:
    """Predictions of a Dirichlet law, and outcomes of what the law of errors makes of them."""
    p = rng.dirichlet(np.full(n_classes, 0.6), N_ROWS)
    truth = p
    if law == "over-confident":
        truth = p ** (1 - size)
        truth /= truth.sum(axis=1, keepdims=True)
    if law == "one region":  # where the first class is likely, it is less so
        moved = size * (p[:, 0] > 0.5)
        truth = p * 1.0
        truth[:, 0] -= moved
        truth[:, 1] += moved
    y = (rng.random(N_ROWS)[:, None] >= truth.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return y, p if n_classes > 2 else p[:, 1]


def pvalues(y: np.ndarray, p: np.ndarray, seed: int) -> tuple[float, float]:
    """Of all pairs, and as it is done of many rows."""
    found = []
    limit = kernel.EXACT_UP_TO
    for most in (10**9, limit):
        kernel.EXACT_UP_TO = most
        found.append(kernel_test(y, p, n_resamples=DRAWS, rng=seed).pvalue)
    kernel.EXACT_UP_TO = limit
    return found[0], found[1]


def main() -> None:
    """Judge samples of every case."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--classes", type=int)
    options = parser.parse_args()
    path = options.folder / "kernel_many_rows.csv"
    kept = {}
    if options.classes is not None:
        with path.open(encoding="utf-8") as file:
            kept = {(row[0], row[1]): row for row in list(csv.reader(file))[1:]}
    header = ["classes", "law", "rows", "samples", "exact", "many_rows", "both", "difference_se"]
    lines = []
    for number, (n_classes, law, size) in enumerate(CASES):
        if options.classes not in (None, n_classes):
            lines.append(kept[str(n_classes), law])
            continue
        rejected = np.empty((options.repeats, 2), dtype=bool)
        for repeat in range(options.repeats):
            rng = np.random.default_rng([26, number, repeat])
            rejected[repeat] = np.array(pvalues(*draw(rng, n_classes, law, size), repeat)) <= 0.05
        shares = [*rejected.mean(axis=0), rejected.all(axis=1).mean()]
        error = (rejected[:, 0] * 1.0 - rejected[:, 1]).std() / np.sqrt(options.repeats)
        figures = [f"{figure:.3f}" for figure in (*shares, error)]
        lines.append([n_classes, law, N_ROWS, options.repeats, *figures])
        print(*lines[-1], sep="  ", flush=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *lines])


if __name__ == "__main__":
    main()
