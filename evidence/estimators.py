"""Which estimator of the calibration error is closest to the truth? Table of docs/evidence.

    python evidence/estimators.py docs/evidence            # some minutes
    python evidence/estimators.py docs/evidence --repeats 10

Posocco & Bonnefoy (2021), section 5 and Fig. 2, in miniature: models trained on 300 rows of
Gaussian mixtures with three classes, evaluated on samples of 30 to 5,000 rows. The truth is not a
fine-binned estimate but computed from the known posteriors of 200,000 rows: in 500 equal-mass bins,
the mean posterior (not outcome) less the mean score, so no noise of outcomes enters.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

from veridical import (
    BinnedError,
    DensityError,
    LoessError,
    QuantileBins,
    SmoothError,
    SweepBins,
    UniformBins,
    VeridicalWarning,
)
from veridical._core.runtime.progress import track

SIZES = (30, 100, 300, 1000, 5000)
LENSES = ("confidence", "classwise")
N_TASKS, N_CLASSES, N_HELD_OUT, N_TRAIN = 4, 3, 200_000, 300

ESTIMATORS = {
    "ECE, 15 equal-width bins": BinnedError(),
    "ECE, 15 equal-mass bins": BinnedError(QuantileBins(15)),
    "ECE, sqrt(n) equal-width bins": BinnedError(UniformBins("sqrt")),
    "ECE, cbrt(n) equal-mass bins": BinnedError(QuantileBins("cbrt")),
    "ECE, monotone sweep": BinnedError(SweepBins()),
    "ECE debiased, 15 equal-width bins": BinnedError(debias=True),
    "ECE debiased, 15 equal-mass bins": BinnedError(QuantileBins(15), debias=True),
    "ECE linear, 15 equal-width bins": BinnedError(assignment="linear"),
    "density, triweight": DensityError(),
    "density, beta": DensityError(kernel="beta"),
    "smooth (smECE)": SmoothError(),
    "loess (ICI)": LoessError(),
}


def mixture(rng: np.random.Generator, n: int, shape: dict[str, np.ndarray]) -> tuple:
    """Rows of a mixture of three Gaussian classes, their classes and posteriors."""
    prior, mean, scale = shape["prior"], shape["mean"], shape["scale"]
    y = rng.choice(N_CLASSES, n, p=prior)
    x = mean[y] + rng.standard_normal((n, mean.shape[1])) * scale[y]
    squares = (((x[:, None, :] - mean) / scale) ** 2).sum(axis=2)
    log = np.log(prior) - squares / 2 - np.log(scale).sum(axis=1)
    posterior = np.exp(log - log.max(axis=1, keepdims=True))
    return x, y, posterior / posterior.sum(axis=1, keepdims=True)


def score_distributions() -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield held-out predictions, outcomes and posteriors of every task and model."""
    for task in range(N_TASKS):
        rng = np.random.default_rng(task)
        shape = {
            "prior": rng.dirichlet(np.full(N_CLASSES, 10.0)),
            "mean": rng.standard_normal((N_CLASSES, 2)) * (1 + 0.5 * task),
            "scale": rng.uniform(0.6, 1.6, (N_CLASSES, 2)),
        }
        x_train, y_train, _ = mixture(rng, N_TRAIN, shape)
        x, y, posterior = mixture(rng, N_HELD_OUT, shape)
        models = (
            LogisticRegression(),
            GaussianNB(),
            SVC(probability=True, random_state=0),
            RandomForestClassifier(100, random_state=0),
        )
        for model in models:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FutureWarning)  # of SVC(probability=True)
                model.fit(x_train, y_train)
                yield model.predict_proba(x), y, posterior


def true_error(score: np.ndarray, posterior: np.ndarray, n_bins: int = 500) -> float:
    """Mean gap in fine equal-mass bins, with equal scores in one bin."""
    _, index = np.unique(score, return_inverse=True)
    count = np.bincount(index)
    bins = np.minimum((np.cumsum(count) - 1) * n_bins // len(score), n_bins - 1)[index]
    gap = np.bincount(bins, posterior - score, n_bins)
    return float(np.abs(gap).sum() / len(score))


def truth_of(p: np.ndarray, posterior: np.ndarray, lens: str) -> float:
    """Calibration error of a model whose posteriors are known."""
    if lens == "confidence":
        top = p.argmax(axis=1)
        rows = np.arange(len(p))
        return true_error(p[rows, top], posterior[rows, top])
    return float(np.mean([true_error(p[:, k], posterior[:, k]) for k in range(p.shape[1])]))


def study(repeats: int, sizes: tuple[int, ...]) -> list[list[object]]:
    """Bias, mean absolute error and the paper's figure of every estimator, lens and size."""
    tasks = list(score_distributions())
    cells: dict[tuple[str, int, str], list[tuple[float, float, float]]] = {}
    for index in track(len(tasks), "estimators"):
        p, y, posterior = tasks[index]
        for lens in LENSES:
            truth = truth_of(p, posterior, lens)
            for n in sizes:
                rng = np.random.default_rng([7, index, n])
                rows = [rng.integers(0, len(y), n) for _ in range(repeats)]
                for name, estimator in ESTIMATORS.items():
                    read = np.array([estimator(y[r], p[r], lens=lens, labels=[0, 1, 2])
                                     for r in rows])  # fmt: skip
                    away = np.abs(read - truth)
                    figures = (read.mean() - truth, away.mean(), np.quantile(away, 0.95) / truth)
                    cells.setdefault((lens, n, name), []).append(tuple(map(float, figures)))
    table = []
    for (lens, n, name), found in cells.items():
        bias, away, relative = np.array(found).T
        table.append([lens, n, name, f"{bias.mean():.4f}", f"{away.mean():.4f}",
                      f"{np.median(relative):.3f}"])  # fmt: skip
    return sorted(table, key=lambda row: (row[0], row[1], float(row[4])))


def main() -> None:
    """Run the study and write its table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--repeats", type=int, default=30)
    options = parser.parse_args()
    header = ["lens", "n", "estimator", "bias", "mean_absolute_error", "median_q95_relative_error"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VeridicalWarning)  # few rows a bin: that is the question
        table = study(options.repeats, SIZES)
    with (options.folder / "estimators.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(table)
    for row in [header, *table]:
        print(*row, sep="  ")


if __name__ == "__main__":
    main()
