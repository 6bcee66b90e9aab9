"""How tests hold where labels weigh differently, and where rows belong together.

    python evidence/dependence.py docs/evidence              # both tables, about 25 minutes
    python evidence/dependence.py docs/evidence --only groups
    python evidence/dependence.py docs/evidence --only groups --law "K = 3"   # others are kept
    python evidence/dependence.py build --repeats 20         # at most 20 repetitions a cell

Writes dependence_weights.csv and dependence_groups.csv. Every cell has a seed of its own. Rows of
the tables say what was drawn (calibrated, or wrong by a shift of the log-odds), which test was
made, and how often it rejected at 5 %; of weights also the mean of the null level of ECE over that
of ECE itself, which is one if the null level is right.

Weights: rows are drawn calibrated, then kept with a chance that depends on the label, and weighted
by its inverse. "one a label" keeps one negative in 20; "by label and risk" does so below 0.1 only;
"one a label, spread" multiplies by a lognormal weight (mean 1); "spread of one label" keeps all and
gives positives lognormal weights of mean 1; "of one row in 20" weighs every twentieth row 20,
whatever its label; "of one row" and "of five rows" weigh these a million; "by label, turned at 0.5"
keeps one negative in ten below and one positive in ten above; "by label and region" has two regions
with rates of their own, unknown to the test. The robust score test is z = sum w (y - p) / sqrt(sum
w^2 (y - p)^2).

Groups: outcomes of a group have a Gaussian copula with this correlation, or "shared": the same
with one prediction for all rows of a group; "slopes": what is common to a group moves its higher
predictions up and its lower ones down, or the other way round; "both": half of it is level.
"""

from __future__ import annotations

import argparse
import csv
import math
import warnings
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from _predictions import cooled, draw_outcomes, lowered
from scipy.special import ndtr

from veridical import (
    BinnedError,
    VeridicalWarning,
    consistency_test,
    cox_test,
    hosmer_lemeshow_test,
    kernel_test,
    spiegelhalter_test,
    t_cal_test,
)
from veridical._core.runtime.progress import track
from veridical.inference import joint_test

LEVEL, DRAWS = 0.05, 99
WEIGHT_REPEATS, GROUP_REPEATS = 600, 300
GROUP_LIMIT = 0.07  # what levels of groups are held to

Rows = dict[str, Any]
Test = Callable[..., float]


def pvalue(function: Callable[..., Any], *first: Any) -> Test:
    """A test as a function of rows, draws and where they come from."""

    def test(y: np.ndarray, p: np.ndarray, rng: np.random.Generator, **also: Any) -> float:
        return float(function(*first, y, p, n_resamples=DRAWS, rng=rng, **also).pvalue)

    return test


TESTS: dict[str, Test] = {
    "joint": pvalue(joint_test),
    "consistency of ECE": pvalue(consistency_test, BinnedError()),
    "Spiegelhalter": pvalue(spiegelhalter_test),
    "Hosmer-Lemeshow": pvalue(hosmer_lemeshow_test),
    "Cox": pvalue(cox_test),
    "T-Cal": pvalue(t_cal_test),
    "kernel": pvalue(kernel_test),
}


def seed_of(*names: object) -> int:
    """Seed of a cell from what it is, so that other cells may come and go."""
    return zlib.crc32(repr(names).encode())


def limit(level: float, repetitions: int) -> float:
    """Largest share of rejections that chance explains."""
    return level + 3 * math.sqrt(level * (1 - level) / repetitions)


# Weights.


def kept(y: np.ndarray, p: np.ndarray, chance: np.ndarray, rng: np.random.Generator) -> Rows:
    """Rows kept with this chance, weighted by its inverse."""
    held = rng.random(len(y)) < chance
    return {"y": y[held], "p": p[held], "sample_weight": 1 / chance[held]}


def one_a_label(y: np.ndarray, p: np.ndarray, rng: np.random.Generator) -> Rows:
    return kept(y, p, np.where(y == 1, 1.0, 0.05), rng)


def by_risk(y: np.ndarray, p: np.ndarray, rng: np.random.Generator) -> Rows:
    return kept(y, p, np.where((y == 1) | (p > 0.1), 1.0, 0.05), rng)


def spread(y: np.ndarray, p: np.ndarray, rng: np.random.Generator) -> Rows:
    rows = one_a_label(y, p, rng)
    rows["sample_weight"] *= rng.lognormal(-0.125, 0.5, len(rows["y"]))
    return rows


def spread_of_one(y: np.ndarray, p: np.ndarray, rng: np.random.Generator) -> Rows:
    weight = np.where(y == 1, rng.lognormal(-0.125, 0.5, len(y)), 1.0)
    return {"y": y, "p": p, "sample_weight": weight}


def of_some(y: np.ndarray, p: np.ndarray, rng: np.random.Generator) -> Rows:
    return {"y": y, "p": p, "sample_weight": np.where(rng.random(len(y)) < 0.05, 20.0, 1.0)}


def of_one(y: np.ndarray, p: np.ndarray, rng: np.random.Generator, rows: int = 1) -> Rows:
    weight = np.ones(len(y))
    weight[rng.choice(len(y), rows, replace=False)] = 1e6
    return {"y": y, "p": p, "sample_weight": weight}


def of_five(y: np.ndarray, p: np.ndarray, rng: np.random.Generator) -> Rows:
    return of_one(y, p, rng, 5)


def turned(y: np.ndarray, p: np.ndarray, rng: np.random.Generator) -> Rows:
    return kept(y, p, np.where((p < 0.5) == (y == 1), 1.0, 0.1), rng)


def by_region(y: np.ndarray, p: np.ndarray, rng: np.random.Generator) -> Rows:
    rates = np.where(rng.random(len(y)) < 0.4, np.where(y == 1, 1.0, 0.05), 0.25 + 0.25 * y)
    return kept(y, p, rates, rng)


def of_three(y: np.ndarray, p: np.ndarray, rng: np.random.Generator) -> Rows:
    return kept(y, p, np.array([1.0, 0.5, 0.1])[y], rng)


# How rows are weighted, their predictions (of two classes Beta, else Dirichlet), and rows drawn.
WEIGHTS: dict[str, tuple[Callable[..., Rows], tuple[float, ...], int]] = {
    "one a label": (one_a_label, (0.6, 8.0), 4000),
    "one a label, few": (one_a_label, (0.6, 8.0), 600),
    "by label and risk": (by_risk, (0.6, 8.0), 4000),
    "one a label, spread": (spread, (0.6, 8.0), 4000),
    "spread of one label": (spread_of_one, (0.6, 4.0), 1000),
    "of one row in 20": (of_some, (1.0, 1.0), 1000),
    "of one row": (of_one, (1.0, 1.0), 300),
    "of five rows": (of_five, (1.0, 1.0), 300),
    "by label, turned at 0.5": (turned, (1.0, 1.0), 1600),
    "by label and region": (by_region, (0.6, 4.0), 3000),
    "one a label, K = 3": (of_three, (1.0, 1.0, 2.0), 1000),
}
SHIFTS = (0.0, 0.5)  # of the log-odds of the truth
HEAVY = ("of one row", "of five rows")  # of which some tests can form no groups
OF_HEAVY = ("joint", "consistency of ECE")


def drawn_rows(parameters: tuple[float, ...], n: int, shift: float, rng: np.random.Generator
               ) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    p = rng.beta(*parameters, n) if len(parameters) == 2 else rng.dirichlet(parameters, n)
    return draw_outcomes(lowered(p, shift) if shift else p, rng), p


def weight_rows(law: str, shift: float, repetitions: int) -> list[list[object]]:
    """A row of the table for every test of a cell."""
    weigh, parameters, n = WEIGHTS[law]
    n_classes = max(2, len(parameters) if len(parameters) > 2 else 2)
    data, chance = np.random.default_rng(seed_of("weights", law, shift)).spawn(2)
    tests = {name: TESTS[name] for name in (OF_HEAVY if law in HEAVY else TESTS)}
    names = ["robust score", *tests] if n_classes == 2 else list(tests)
    found, size = dict.fromkeys(names, 0), 0
    null, seen = 0.0, 0.0
    for _ in range(repetitions):
        y, p = drawn_rows(parameters, n, shift, data)
        rows = weigh(y, p, data)
        y, p, also = rows.pop("y"), rows.pop("p"), rows
        size += len(y)
        if n_classes == 2:
            residual = also["sample_weight"] * (y - p)
            found["robust score"] += abs(residual.sum()) > 1.96 * math.sqrt(residual @ residual)
        labels = {"labels": list(range(n_classes))}
        for name, test in tests.items():
            if name != "consistency of ECE":
                found[name] += test(y, p, chance, **labels, **also) <= LEVEL
                continue
            result = consistency_test(
                BinnedError(), y, p, n_resamples=DRAWS, rng=chance, **labels, **also
            )
            found[name] += result.pvalue <= LEVEL
            null, seen = null + result.null_level.mean, seen + result.statistic
    ratio = "" if shift else f"{null / seen:.3f}"
    about = [law, n_classes, size // repetitions, shift]
    most = f"{limit(LEVEL, repetitions):.4f}" if shift == 0 else ""
    return [
        [*about, name, repetitions, f"{found[name] / repetitions:.4f}", most,
         ratio if name == "consistency of ECE" else ""] for name in names
    ]  # fmt: skip


# Groups.

GROUPS = ((20, 10), (20, 50), (100, 5))
CORRELATIONS = (0.0, 0.1, 0.3, 0.5)
LAWS: Mapping[str, tuple[float, ...]] = {
    "uniform": (1.0, 1.0), "skewed": (0.6, 4.0), "K = 3": (1.0, 1.0, 1.0), "shared": (1.0, 1.0),
    "slopes": (1.0, 1.0), "skewed slopes": (0.6, 4.0), "both": (1.0, 1.0),
}  # fmt: skip
SEVERAL = ("uniform", "skewed", "slopes")  # laws of all tests, at one correlation
FEW = ((5, 40), (10, 20))
# Tests without groups as well, for what they cost: wrong predictions, independent rows.
WRONG: Mapping[str, Callable[[np.ndarray], np.ndarray]] = {
    "temperature 1.6": lambda p: cooled(p, 1.6),
    "shift 0.35": lambda p: lowered(p, 0.35),
}


def group_cells() -> list[tuple[str, int, int, float, str]]:
    """Law, groups, rows of each, correlation, and what is wrong."""
    cells = [
        (law, g, m, r, "") for law in LAWS for g, m in GROUPS for r in CORRELATIONS
        if r > 0 or law not in ("slopes", "skewed slopes", "both")  # which are "uniform" and so on
    ]  # fmt: skip
    cells += [(law, g, m, 0.3, "") for law in ("uniform", "shared", "slopes") for g, m in FEW]
    wrong = [("uniform", g, m, 0.0, w) for g, m in ((20, 50), (100, 10)) for w in WRONG]
    return [*cells, *wrong]


def clustered(cell: tuple[str, int, int, float, str], rng: np.random.Generator) -> Rows:
    """Rows of groups whose outcomes go together."""
    law, n_groups, m, correlation, wrong = cell
    group = np.repeat(np.arange(n_groups), m)
    parameters, n = LAWS[law], n_groups * m
    count = n_groups if law == "shared" else n
    p = rng.beta(*parameters, count) if len(parameters) == 2 else rng.dirichlet(parameters, count)
    p = p[group] if law == "shared" else p
    truth = WRONG[wrong](p) if wrong else p
    own, common = rng.standard_normal(n), rng.standard_normal(n_groups)[group]
    if "slopes" in law or law == "both":
        turned = np.sign(p - np.median(p))
        level = 0.5 if law == "both" else 0.0
        other = rng.standard_normal(n_groups)[group]
        common = math.sqrt(level) * other + math.sqrt(1 - level) * turned * common
    uniform = ndtr(math.sqrt(correlation) * common + math.sqrt(1 - correlation) * own)
    if p.ndim == 1:
        y = (uniform < truth).astype(int)
    else:
        y = (uniform[:, None] >= truth.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return {"y": y, "p": p, "groups": group}


def group_rows(cell: tuple[str, int, int, float, str], repetitions: int) -> list[list[object]]:
    """A row of the table for every test of a cell."""
    law, n_groups, m, correlation, wrong = cell
    data, chance = np.random.default_rng(seed_of("groups", *cell)).spawn(2)
    several = correlation == 0.3 and law in SEVERAL and n_groups >= 20  # one test tells the others
    names = [name for name in TESTS if name != "kernel"] if several else ["joint"]
    found = dict.fromkeys([*names, "joint without groups"], 0)
    labels = {"labels": list(range(3 if law == "K = 3" else 2))}
    for _ in range(repetitions):
        rows = clustered(cell, data)
        y, p = rows.pop("y"), rows.pop("p")
        for name in names:
            found[name] += TESTS[name](y, p, chance, **labels, **rows) <= LEVEL
        found["joint without groups"] += TESTS["joint"](y, p, chance, **labels) <= LEVEL
    most = "" if wrong else f"{limit(GROUP_LIMIT, repetitions):.4f}"
    return [
        [law, n_groups, m, correlation, wrong, name, repetitions,
         f"{number / repetitions:.4f}", "" if name.endswith("groups") else most]
        for name, number in found.items()
    ]  # fmt: skip


HEADERS = {
    "weights": ["weights", "classes", "n", "shift", "test", "repetitions", "rejected", "limit",
                "null_over_truth"],
    "groups": ["predictions", "groups", "rows_each", "correlation", "wrong", "test", "repetitions",
               "rejected", "limit"],
}  # fmt: skip


def main() -> None:
    """Write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", choices=list(HEADERS))
    parser.add_argument("--repeats", type=int, default=10**6)
    parser.add_argument("--law", help="predictions or weights whose cells are run anew")
    options = parser.parse_args()
    warnings.simplefilter("ignore", VeridicalWarning)
    for name, header in HEADERS.items():
        if options.only not in (None, name):
            continue
        weights = name == "weights"
        cells = [(law, shift) for law in WEIGHTS for shift in SHIFTS] if weights else group_cells()
        often = min(options.repeats, WEIGHT_REPEATS if weights else GROUP_REPEATS)
        path = options.folder / f"dependence_{name}.csv"
        if options.law is not None:
            cells = [cell for cell in cells if cell[0] == options.law]
        lines: list[list[object]] = []
        for index in track(len(cells), name):
            lines += (
                weight_rows(*cells[index], often) if weights else group_rows(cells[index], often)
            )
            if options.law is None:
                write(path, [header, *lines])
        if options.law is not None:
            names = [i for i in range(header.index("repetitions")) if header[i] != "n"]  # a mean
            found = {tuple(str(line[i]) for i in names): line for line in lines}
            with path.open(newline="") as file:
                kept = list(csv.reader(file))
            seen = {tuple(line[i] for i in names): line for line in kept}
            write(path, list({**seen, **found}.values()))


def write(path: Path, lines: list[list[object]]) -> None:
    """Write a table."""
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(lines)


if __name__ == "__main__":
    main()
