"""How often bands, intervals of vectors and of differences cover the truth: docs/evidence.

python evidence/more_coverage.py docs/evidence            # 1,000 repetitions a cell, minutes
python evidence/more_coverage.py docs/evidence --repeats 100
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from error_coverage import write

from veridical import (
    BinnedError,
    ClassSpecific,
    SimplexBins,
    bootstrap_interval,
    cox_test,
    paired_difference,
    reliability_curve,
)
from veridical._core.runtime.progress import track

SIZES = (500, 2000)
AT = np.array([0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98])
GRID = np.linspace(0, 1, 1001)
TRUTHS = {
    "calibrated": lambda q: q,
    "p^1.5": lambda q: q**1.5,
    "step": lambda q: np.where(q > 0.5, 0.8, 0.2),
}


def outcomes(rng: np.random.Generator, q: np.ndarray) -> np.ndarray:
    """Draw classes from vectors, or 0/1 from probabilities."""
    if q.ndim == 1:
        return (rng.random(len(q)) < q).astype(int)
    return (rng.random(len(q))[:, None] >= q.cumsum(axis=1)[:, :-1]).sum(axis=1)


def band_rows(repeats: int) -> Iterator[list[object]]:
    """Bands of curves: the worst point, or the whole curve for the simultaneous band."""
    cells = [(n, name) for n in SIZES for name in TRUTHS]
    for index in track(len(cells), "bands"):
        n, name = cells[index]
        truth, rng = TRUTHS[name], np.random.default_rng([3, index])
        points, whole, wilson, exact = np.zeros(len(AT)), 0, np.zeros(10), np.zeros(10)
        for _ in range(repeats):
            p = rng.random(n)
            y = outcomes(rng, truth(p))
            band = reliability_curve(y, p, method="isotonic", interval="pointwise").at(AT)
            points += (band.low <= truth(AT)) & (truth(AT) <= band.high)
            every = reliability_curve(y, p, method="isotonic", interval="simultaneous").at(GRID)
            whole += ((every.low <= truth(GRID)) & (truth(GRID) <= every.high)).all()
            # Bins of one value each: their frequency is the truth there.
            tenth = (np.floor(p * 10) + 0.5) / 10
            z, middle = outcomes(rng, truth(tenth)), (np.arange(10) + 0.5) / 10
            for kind, hits in (("wilson", wilson), ("clopper-pearson", exact)):
                curve = reliability_curve(z, tenth, n_bins=10, interval=kind)
                hits += (curve.low <= truth(middle)) & (truth(middle) <= curve.high)
        for figure, value in (
            ("isotonic curve, pointwise, worst of 7 points", points.min() / repeats),
            ("isotonic curve, simultaneous", whole / repeats),
            ("frequency of a bin, Wilson, mean over bins", wilson.mean() / repeats),
            ("frequency of a bin, Clopper-Pearson, mean over bins", exact.mean() / repeats),
        ):
            yield [figure, name, n, repeats, float(f"{value:.4f}")]


def vector_rows(repeats: int) -> Iterator[list[object]]:
    """Root-mean-square error of whole vectors in cells of thirds of every coordinate."""
    estimator = BinnedError(SimplexBins(3), norm=2, debias=True)
    cells = [(n, shift) for n in SIZES for shift in (0.0, 0.04, 0.1)]
    for index in track(len(cells), "vectors"):
        n, shift = cells[index]
        rng, hits = np.random.default_rng([4, index]), 0

        def model(count: int, rng=rng, shift=shift) -> tuple[np.ndarray, np.ndarray]:
            p = rng.dirichlet(np.ones(3), count)
            return p, (1 - shift) * p + shift * np.eye(3)[p.argmin(axis=1)]

        p, q = model(400_000)
        cell = np.clip(np.ceil(p * 3).astype(int) - 1, 0, 2) @ [9, 3, 1]
        gaps = np.stack([np.bincount(cell, (q - p)[:, k], 27) for k in range(3)])
        count = np.maximum(np.bincount(cell, minlength=27), 1)
        truth = np.sqrt(float((gaps**2 / count).sum()) / len(p))
        for _ in range(repeats):
            p, q = model(n)
            interval = bootstrap_interval(estimator, outcomes(rng, q), p, lens="canonical")
            hits += interval.low - 1e-12 <= truth <= interval.high
        yield [f"RMSCE of vectors, truth {truth:.4f}", f"shift {shift}", n, repeats, hits / repeats]


def sharpened(p: np.ndarray, power: float) -> np.ndarray:
    """Log odds multiplied by `power`."""
    return p**power / (p**power + (1 - p) ** power)


def squared_error(p: np.ndarray, q: np.ndarray) -> float:
    """Mean squared gap of 15 equal-width bins, by posteriors."""
    bins = np.clip(np.ceil(p * 15).astype(int) - 1, 0, 14)
    count = np.maximum(np.bincount(bins, minlength=15), 1)
    return float((np.bincount(bins, q - p, 15) ** 2 / count).sum() / len(p))


def paired_rows(repeats: int) -> Iterator[list[object]]:
    """Differences of squared calibration errors of two models of the same outcomes."""
    models = {
        "calibrated - coarse": (lambda q: q, lambda q: (np.floor(q * 4) + 0.5) / 4),
        "over - under": (lambda q: sharpened(q, 1.5), lambda q: sharpened(q, 0.67)),
        "over - calibrated": (lambda q: sharpened(q, 1.5), lambda q: q),
        "more - less over": (lambda q: sharpened(q, 2.0), lambda q: sharpened(q, 1.5)),
    }
    large = np.random.default_rng(0).random(1_000_000)
    cells = [(n, name) for n in SIZES for name in models]
    for index in track(len(cells), "differences"):
        n, name = cells[index]
        one, two = models[name]
        truth = squared_error(one(large), large) - squared_error(two(large), large)
        rng, hits = np.random.default_rng([5, index]), 0
        for _ in range(repeats):
            q = rng.random(n)
            d = paired_difference(BinnedError(norm=2), outcomes(rng, q), one(q), two(q))
            hits += d.low <= truth <= d.high
        figure = f"difference of squared errors, truth {truth:+.4f}"
        yield [figure, name, n, repeats, hits / repeats]


def slope_rows(repeats: int) -> Iterator[list[object]]:
    """Recalibration slopes (profile likelihood), binary and of one class of three."""
    cells = [(n, slope) for n in SIZES for slope in (1.0, 0.6)]
    for index in track(len(cells), "slopes"):
        n, slope = cells[index]
        rng, hits = np.random.default_rng([6, index]), 0
        for _ in range(repeats):
            p = rng.random(n)
            hits += slope in cox_test(outcomes(rng, sharpened(p, slope)), p).slope
        yield [f"recalibration slope {slope}", "uniform", n, repeats, hits / repeats]
    rng, hits = np.random.default_rng([6, 99]), 0
    for _ in range(repeats):
        p = rng.dirichlet(np.ones(3), 500)
        hits += 1.0 in cox_test(outcomes(rng, p), p, lens=ClassSpecific(1)).slope
    yield ["recalibration slope 1", "one class of three", 500, repeats, hits / repeats]


def main() -> None:
    """Run all simulations."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--repeats", type=int, default=1000)
    options = parser.parse_args()
    header = ["figure", "model", "n", "repetitions", "coverage"]
    rows = [
        row
        for part in (band_rows, vector_rows, paired_rows, slope_rows)
        for row in part(options.repeats)
    ]
    write(options.folder / "more_coverage.csv", header, rows)


if __name__ == "__main__":
    main()
