"""How often limits of a rate hold that was estimated from scores and a few labels: `rates.csv`.

    python evidence/rates.py docs/evidence                # 400 repetitions a cell, eight minutes
    python evidence/rates.py docs/evidence --repeats 50
    python evidence/rates.py docs/evidence --resume       # only cells that are not there yet

A truth has log odds that are normal, with the mean that makes the rate what it is; a judge sees
them with an error of its own. Ten rows without a label come with each labelled one. `coverage` is
that of `estimate_rate`, `labels` that of the exact limits of the labels alone, `normal` that of the
published prediction-powered limits of the scores as they are. `ratio` is the mean width of limits
over that of the labels alone, `correlation` the squared correlation of outcome and score. `notes`
is the share of samples that are refused or said not to be random, which all of them are. Labels
are drawn at random, or
- `chances`: a doubtful row more often (half evenly, half by the root of s (1 - s));
- `strata`: three parts of other rates and other shares of labels, in which the judge is off by
  other amounts;
- `clusters`: whole prompts of five answers that share a part of their log odds;
- `spread`: the same prompts, of which single answers are labelled.
"""

from __future__ import annotations

import argparse
import csv
import warnings
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit
from scipy.stats import norm

from veridical import InvalidInputError, VeridicalWarning, estimate_rate
from veridical._core.runtime.progress import track

HEADER = ("design", "judge", "rate", "m", "repeats", "correlation", "coverage", "labels", "normal",
          "width", "ratio", "notes")  # fmt: skip
SIZES = (20, 50, 100, 500)
RATES = (0.025, 0.1, 0.3, 0.9)
MORE = 10  # rows without a label for each that has one


class Judge(NamedTuple):
    """Spread of the true log odds, and scores of rows with these log odds and outcomes."""

    spread: float
    score: Callable[[np.random.Generator, np.ndarray, np.ndarray], np.ndarray]


def _hard(sensitivity: float, specificity: float) -> Judge:
    def score(rng: np.random.Generator, eta: np.ndarray, y: np.ndarray) -> np.ndarray:
        right = rng.random(y.shape) < np.where(y == 1, sensitivity, specificity)
        return np.where(right, y, 1 - y).astype(float)

    return Judge(1.0, score)


JUDGES = {
    "good": Judge(4.0, lambda rng, eta, y: expit(eta)),
    "over-confident": Judge(
        1.2, lambda rng, eta, y: expit(2.2 * eta + 1 + rng.normal(0, 0.7, eta.shape))
    ),
    "timid": Judge(2.0, lambda rng, eta, y: expit(0.3 * eta)),
    "useless": Judge(1.0, lambda rng, eta, y: rng.random(eta.shape)),
    "wrong by group": Judge(
        2.0, lambda rng, eta, y: expit(eta + np.where(rng.random(eta.shape) < 0.5, 2.0, -1.0))
    ),
    "hard": _hard(0.8, 0.9),
    "hard and half blind": _hard(0.6, 1.0),
}


@cache
def _level(spread: float, rate: float) -> float:
    """Mean log odds at which the rate is as wanted."""
    z = norm.ppf((np.arange(4000) + 0.5) / 4000)
    return float(brentq(lambda mean: expit(mean + spread * z).mean() - rate, -40, 40))


class Case(NamedTuple):
    """Labels with missing ones, scores, and what else is known of the rows."""

    y: np.ndarray
    score: np.ndarray
    beside: dict[str, Any]


def draw(rng: np.random.Generator, design: str, judge: Judge, rate: float, m: int) -> Case:
    """Rows of which about `m` have a label."""
    n = m * (1 + MORE)
    eta = _level(judge.spread, rate) + judge.spread * rng.normal(size=n)
    labelled = rng.permutation(n) < m
    beside: dict[str, Any] = {}
    if design in ("clusters", "spread"):
        prompt = np.arange(n) // 5
        shared = rng.normal(size=n // 5 + 1)[prompt]
        eta = _level(judge.spread, rate) + judge.spread * (
            np.sqrt(0.5) * shared + np.sqrt(0.5) * rng.normal(size=n)
        )
        beside["groups"] = prompt
        if design == "clusters":
            labelled = (rng.permutation(n // 5 + 1) < m // 5)[prompt]
    stratum = rng.choice(3, n, p=(0.6, 0.3, 0.1))
    if design == "strata":
        eta = eta + np.array([0.0, -1.0, 1.5])[stratum]
        beside["strata"] = stratum
        labelled = np.zeros(n, dtype=bool)
        for k, share in enumerate((0.4, 0.3, 0.3)):
            rows = np.flatnonzero(stratum == k)
            labelled[rng.permutation(rows)[: max(2, round(share * m))]] = True
    y = (rng.random(n) < expit(eta)).astype(float)
    score = judge.score(rng, eta, y)
    if design == "strata":
        score = expit(np.log((score + 1e-6) / (1 + 1e-6 - score)) + np.array([0, 1, -1])[stratum])
    if design == "chances":
        doubt = np.sqrt(score * (1 - score)) + 1e-12
        chance = np.minimum(m * (0.5 / n + 0.5 * doubt / doubt.sum()), 1.0)
        labelled = rng.random(n) < chance
        beside["label_prob"] = chance
    return Case(np.where(labelled, y, np.nan), score, beside)


def true_rate(design: str, judge: Judge, rate: float) -> float:
    """Rate of the population."""
    if design != "strata":
        return rate
    z = norm.ppf((np.arange(4000) + 0.5) / 4000)
    eta = _level(judge.spread, rate) + judge.spread * z
    parts = [expit(eta + shift).mean() for shift in (0.0, -1.0, 1.5)]
    return float(np.dot((0.6, 0.3, 0.1), parts))


def measure(design: str, name: str, rate: float, m: int, repeats: int) -> dict[str, Any]:
    """One row of the table."""
    judge, truth = JUDGES[name], true_rate(design, JUDGES[name], rate)
    rng = np.random.default_rng(zlib.crc32(f"{design} {name} {rate} {m}".encode()))
    found, normal, notes, correlation = [], [], 0, []
    while len(found) < repeats:
        case = draw(rng, design, judge, rate, m)
        if np.sum(~np.isnan(case.y)) < 2:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", VeridicalWarning)
            try:
                one = estimate_rate(case.y, case.score, **case.beside)
            except InvalidInputError:  # labels that seem not to cover the scores
                notes += 1
                continue
            if design == "random":
                plain = estimate_rate(case.y, case.score, method="normal", calibrator=None)
                normal.append(plain.low <= truth <= plain.high)
        notes += any(note.startswith("labelled rows have other scores") for note in one.notes)
        found.append((one.low, one.high, one.rates[0].labels_low, one.rates[0].labels_high))
        known = ~np.isnan(case.y)
        if np.ptp(case.y[known]) and np.ptp(case.score[known]):
            correlation.append(np.corrcoef(case.y[known], case.score[known])[0, 1] ** 2)
    low, high, labels_low, labels_high = np.array(found).T
    return {
        "design": design,
        "judge": name,
        "rate": rate,
        "m": m,
        "repeats": repeats,
        "correlation": round(float(np.mean(correlation)), 3) if correlation else "",
        "coverage": round(float(np.mean((low <= truth) & (truth <= high))), 4),
        "labels": round(float(np.mean((labels_low <= truth) & (truth <= labels_high))), 4),
        "normal": round(float(np.mean(normal)), 4) if normal else "",
        "width": round(float(np.mean(high - low)), 4),
        "ratio": round(float(np.mean(high - low) / np.mean(labels_high - labels_low)), 4),
        "notes": round(notes / repeats, 4),
    }


def cells() -> Iterator[tuple[str, str, float, int]]:
    """Design, judge, rate and number of labels of every row."""
    yield from product(("random",), JUDGES, RATES, SIZES)
    judges = ("good", "over-confident", "hard")
    yield from product(("chances", "strata", "clusters", "spread"), judges, (0.05, 0.3), (100, 300))


def main() -> None:
    """Write the table, row by row."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--repeats", type=int, default=400)
    parser.add_argument("--resume", action="store_true", help="keep the rows that are there")
    arguments = parser.parse_args()
    path = arguments.folder / "rates.csv"
    there: set[tuple[str, ...]] = set()
    if arguments.resume and path.exists():
        with path.open(encoding="utf-8", newline="") as stream:
            there = {tuple(row[key] for key in HEADER[:4]) for row in csv.DictReader(stream)}
    mode = "a" if there else "w"
    with path.open(mode, encoding="utf-8", newline="") as stream:
        table = csv.DictWriter(stream, HEADER, lineterminator="\n")
        if not there:
            table.writeheader()
        listed = [cell for cell in cells() if tuple(map(str, cell)) not in there]
        for index in track(len(listed), "rates"):
            table.writerow(measure(*listed[index], arguments.repeats))
            stream.flush()


if __name__ == "__main__":
    main()
