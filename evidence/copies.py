"""Whether copies of rows are told from ties, and what is claimed of them.

    python evidence/copies.py docs/evidence            # copies.csv, 200 samples a cell

Predictions are calibrated: their log odds are normal with standard deviation 1.5 (K scores of them
for K classes), and outcomes follow. Laws of ties, each row an observation of its own: predictions
rounded to 1, 2 or 3 decimals; the means of 30 leaves that normal scores fall in; nearly certain
predictions of three decimals. Laws of copies, of the same predictions unrounded or rounded:
every row five times or twice, rows drawn with replacement, three of ten rows given twice.

`noticed` is the share of samples of which `without_copies` says that rows are copies: a false alarm
of ties. `claims` is the share of samples in which `AutoCalibrator` says that log loss is lower by
more than chance, which is false of calibrated predictions; `claims_if_own` is the same where every
row is named an observation of its own (`groups=range(n)`). Claims are of a
fifth of the samples of 80 rows and two classes.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from pathlib import Path

import numpy as np

from veridical import AutoCalibrator
from veridical._core.runtime.progress import track
from veridical.calibrators.core import CheckedRows
from veridical.calibrators.judging import without_copies

TIES = ("1 decimal", "2 decimals", "3 decimals", "30 leaves", "nearly certain")
COPIES = ("five times", "twice", "with replacement", "three of ten twice", "five times, 2 decimals")
Rows = tuple[np.ndarray, np.ndarray]


def predictions(rng: np.random.Generator, law: str, n: int, n_classes: int) -> np.ndarray:
    """Probabilities (n, K) as a law ties them, which sum to one."""
    z = rng.normal(0, 1.5, (n, n_classes))
    if law == "30 leaves":
        leaves = rng.normal(0, 1.5, (30, n_classes))
        z = leaves[rng.integers(0, 30, n)]
    if law == "nearly certain":
        z[:, 0] += 6
    p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    decimals = {"1": 1, "2": 2, "3": 3}.get(law[:1], 2 if "2 decimals" in law else 0)
    decimals = 3 if law == "nearly certain" else decimals
    if decimals:
        p = np.maximum(np.round(p, decimals), 10.0**-decimals / 2)
        p /= p.sum(axis=1, keepdims=True)
    return p


def copied(rng: np.random.Generator, law: str, n: int) -> np.ndarray:
    """Which of n rows are given."""
    rows = np.arange(n)
    if law.startswith("five times"):
        return np.repeat(rows, 5)
    if law == "twice":
        return np.repeat(rows, 2)
    if law == "with replacement":
        return rng.integers(0, n, 2 * n)
    return np.append(rows, rows[: 3 * n // 10])


def sample(seed: int, law: str, n: int, n_classes: int) -> Rows:
    """Predictions and outcomes of a law; of n different observations, where there are copies."""
    rng = np.random.default_rng([seed, n, n_classes, (TIES + COPIES).index(law)])
    p = predictions(rng, law, n, n_classes)
    y = (p.cumsum(axis=1)[:, :-1] < rng.random((n, 1))).sum(axis=1)
    if law in COPIES:
        taken = copied(rng, law, n)
        p, y = p[taken], y[taken]
    return p, y


def claims(p: np.ndarray, y: np.ndarray, *, own: bool) -> bool:
    """Whether the automatic map is said to be better than chance."""
    auto = AutoCalibrator().fit(p, y, groups=np.arange(len(y)) if own else None)
    high = auto.evidence_.candidates[-1].high
    return high is not None and high < 0


def figures(law: str, n: int, n_classes: int, sets: int) -> tuple[str, ...]:
    """Shares of samples."""
    seen, ours, theirs = 0, [], []
    classes = tuple(range(n_classes))
    for seed in range(sets):
        p, y = sample(seed, law, n, n_classes)
        if n_classes == 2:
            p = p[:, 1]
        seen += bool(without_copies(CheckedRows(p, y, None, "importance", classes))[1])
        if seed % 5 == 0 and n == 80 and n_classes == 2:
            ours.append(claims(p, y, own=False))
            theirs.append(claims(p, y, own=True))
    shares = [f"{np.mean(each):.3f}" if each else "" for each in (ours, theirs)]
    return f"{seen / sets:.3f}", *shares


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sets", type=int, default=200)
    parser.add_argument("--resume", action="store_true", help="keep the cells that are there")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    cells = [(k, n, law) for law in TIES + COPIES for k in (2, 4) for n in (80, 200, 1000)]
    path, done = options.folder / "copies.csv", set()
    if options.resume and path.exists():
        with path.open() as stream:
            done = {(int(row[0]), int(row[1]), row[2]) for row in list(csv.reader(stream))[1:]}
    cells = [cell for cell in cells if cell not in done]
    with path.open("a" if done else "w", newline="") as stream:
        writer = csv.writer(stream)
        if not done:
            header = ("classes", "observations", "law", "sets", "noticed", "claims")
            writer.writerow((*header, "claims_if_own"))
        for number in track(len(cells), "copies"):
            n_classes, n, law = cells[number]
            found = figures(law, n, n_classes, options.sets)
            writer.writerow((n_classes, n, law, options.sets, *found))
            stream.flush()


if __name__ == "__main__":
    main()
