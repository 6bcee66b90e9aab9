"""How often promises of `risk_threshold` are broken, and how much is answered under them.

python evidence/risk.py docs/evidence                    # 1,000 samples a cell, an hour
python evidence/risk.py docs/evidence --repetitions 100

Each cell is a law of scores and chances, a number of rows and a promise. A promise is broken if
the risk of the whole population at the threshold (a million rows) is above it. `walking` begins at
the highest scores, `argmax` where (alpha - promised) / standard error is largest. Further tables:
coverage of the intervals of AURC and E-AURC and of the band of all thresholds, and of sets.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np
from error_coverage import write
from scipy.special import expit, logit

from veridical._core.runtime.progress import track
from veridical._core.sample import BinarySample
from veridical.decisions import PredictionSets
from veridical.decisions._risk import threshold as walk
from veridical.decisions._risk.answers import Answers, ranked
from veridical.decisions._risk.coverage_curve import coverage_core
from veridical.exceptions import VeridicalWarning

CONFIDENCE = 0.9
POPULATION = 1_000_000
CELLS = (
    (200, 0.05), (200, 0.1), (200, 0.2), (1000, 0.05), (1000, 0.12), (1000, 0.2), (5000, 0.02),
    (5000, 0.12), (10_000, 0.01), (10_000, 0.05),
)  # fmt: skip


def _beta(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.beta(4, 1.5, n)


def _saturated(rng: np.random.Generator, n: int) -> np.ndarray:
    return np.where(rng.random(n) < 0.5, 1.0, rng.beta(3, 1, n))


# Scores, and the chance of a right answer given the score.
LAWS = {
    "too timid": (_beta, lambda s: expit(0.6 * logit(s) + 0.9)),
    "calibrated": (_beta, lambda s: s),
    "over-confident": (_beta, lambda s: expit(0.5 * logit(s))),
    "far too sure": (lambda rng, n: rng.beta(6, 1, n), lambda s: expit(0.4 * logit(s) - 0.2)),
    "under-confident": (_beta, lambda s: expit(1.8 * logit(s) + 0.3)),
    "ties": (lambda rng, n: _beta(rng, n).round(1), lambda s: np.clip(0.95 * s + 0.02, 0, 1)),
    "saturated": (_saturated, lambda s: np.where(s == 1, 0.985, 0.9 * s)),
    "wrong at the top": (_beta, lambda s: np.where(s > 0.97, 0.7, expit(0.9 * logit(s) + 0.4))),
    "equally good": (_beta, lambda s: np.full(len(s), 0.97)),
}


def rows_of(law: str, n: int, rng: np.random.Generator) -> Answers:
    """Rows of a law, the highest scores first."""
    scores, chance = LAWS[law]
    s = scores(rng, n)
    right = (rng.random(n) < chance(s)).astype(np.uint8)
    return ranked(BinarySample(y=right, p=s), "error", "confidence", "")


class Truth:
    """Risk and coverage of a law at any threshold."""

    def __init__(self, law: str) -> None:
        rows = rows_of(law, POPULATION, np.random.default_rng(99))
        self.score = rows.score
        self.wrong = np.cumsum(1 - LAWS[law][1](rows.score))

    def at(self, threshold: float) -> tuple[float, float]:
        """Share answered and risk among it."""
        first = int(np.searchsorted(-self.score, -threshold, "right"))
        return first / POPULATION, 0.0 if first == 0 else float(self.wrong[first - 1] / first)


def thresholds(rows: Answers, alpha: float) -> dict[str, float]:
    """Threshold by each way to begin."""
    delta = 1 - CONFIDENCE
    found = {"own": walk.threshold_core(rows, alpha, CONFIDENCE, at_most=alpha).threshold}
    steps = walk._steps(rows, walk.least_rows(alpha, delta))
    for name in ("walking", "argmax"):
        found[name] = np.inf
        if steps is None:
            continue
        start = 0
        if name == "argmax":
            start = int(np.argmax((alpha - steps.promised) * np.sqrt(steps.size)))
        passed = walk._binomial(steps.lost, steps.size, alpha)[start:] <= delta
        stop = len(passed) if passed.all() else int(passed.argmin())
        if stop:
            found[name] = float(rows.score[steps.first[start + stop - 1] - 1])
    return found


def promises(repetitions: int, laws: list[str], cells: tuple[tuple[int, float], ...] = CELLS):
    """One row a cell: share of broken promises and mean share answered, by way to begin."""
    found: list[list[object]] = []
    for law in laws:
        truth = Truth(law)
        for n, alpha in cells:
            rng = np.random.default_rng([7, n, int(1000 * alpha), len(law)])
            broken = dict.fromkeys(("own", "walking", "argmax"), 0)
            answered = dict.fromkeys(broken, 0.0)
            for _ in track(repetitions, f"{law}, n = {n}"):
                for name, threshold in thresholds(rows_of(law, n, rng), alpha).items():
                    if np.isfinite(threshold):
                        share, risk = truth.at(threshold)
                        answered[name] += share / repetitions
                        broken[name] += risk > alpha
            cells_of = []
            for name in broken:
                cells_of += [broken[name] / repetitions, answered[name]]
            cells_of = [float(f"{value:.4f}") for value in cells_of]
            found.append([law, n, alpha, repetitions, *cells_of])
    return found


def areas(repetitions: int, laws: list[str], sizes: tuple[int, ...] = (30, 100, 400, 2000)):
    """One row a cell: how often AURC, E-AURC and the whole curve are covered at 95 %."""
    found: list[list[object]] = []
    for law in laws:
        truth = Truth(law)
        risk = truth.wrong / np.arange(1, POPULATION + 1)
        rate = float(risk[-1])
        area = float(risk.mean())
        excess = area - (rate + (1 - rate) * np.log1p(-rate))
        for n in sizes:
            rng = np.random.default_rng([8, n, len(law)])
            hits = np.zeros(3)
            width = []
            for _ in track(repetitions, f"{law}, n = {n}"):
                rows = rows_of(law, n, rng)
                curve = coverage_core(rows, 0.95)
                chance = np.cumsum(1 - LAWS[law][1](rows.score)) / np.arange(1, n + 1)
                at = np.searchsorted(-rows.score, -curve.threshold, "right") - 1
                inside = (curve.low <= chance[at] + 1e-12) & (chance[at] <= curve.high + 1e-12)
                hits += (area in curve.area, excess in curve.excess, bool(inside.all()))
                width.append(curve.area.width)
            shares = [float(f"{hit / repetitions:.4f}") for hit in hits]
            found.append([law, n, repetitions, *shares, float(f"{np.median(width):.4f}")])
    return found


def sets(repetitions: int):
    """One row a cell: mean coverage of sets on new rows, in all and for the worst class."""
    found: list[list[object]] = []
    for n_classes, n, method, by in [
        (k, n, method, by)
        for k in (3, 10)
        for n in (100, 1000)
        for method in ("lac", "aps")
        for by in (None, "class")
    ]:
        rng = np.random.default_rng([9, n_classes, n])
        total, classes = [], []
        for _ in track(repetitions, f"{n_classes} classes, {method}"):
            p = rng.dirichlet(np.linspace(0.2, 1.0, n_classes), n + 1000)
            y = (p.cumsum(axis=1) > rng.random((len(p), 1))).argmax(axis=1)
            shown = p**1.5 / (p**1.5).sum(axis=1, keepdims=True)  # over-confident
            labels = list(range(n_classes))
            made = PredictionSets(method=method, level=0.9, by=by, labels=labels)
            with warnings.catch_warnings():  # of classes with few rows, whose sets hold everything
                warnings.simplefilter("ignore", VeridicalWarning)
                made.fit(shown[:n], y[:n])
            hit = made.predict(shown[n:])[np.arange(1000), y[n:]]
            total.append(hit.mean())
            classes.append(
                [hit[y[n:] == k].mean() if (y[n:] == k).any() else np.nan for k in labels]
            )
        worst = float(np.min(np.mean(classes, axis=0)))
        row = [n_classes, n, method, by or "", repetitions]
        found.append([*row, float(f"{np.mean(total):.4f}"), float(f"{worst:.4f}")])
    return found


def main() -> None:
    """Write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--repetitions", type=int, default=1000)
    arguments = parser.parse_args()
    folder, repetitions = arguments.folder, arguments.repetitions
    names = ["law", "n", "at_most", "repetitions", "broken", "answered", "broken_walking",
             "answered_walking", "broken_argmax", "answered_argmax"]  # fmt: skip
    write(folder / "risk.csv", names, promises(repetitions, list(LAWS)))
    names = ["law", "n", "repetitions", "aurc", "e_aurc", "band", "width_aurc"]
    write(folder / "risk_areas.csv", names, areas(repetitions // 2, list(LAWS)))
    names = ["classes", "n", "method", "by", "repetitions", "coverage", "worst_class"]
    write(folder / "risk_sets.csv", names, sets(max(repetitions // 5, 1)))


if __name__ == "__main__":
    main()
