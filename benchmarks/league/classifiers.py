"""CalibratedClassifier beside scikit-learn's CalibratedClassifierCV on the data sets of the league.

    python benchmarks/league/classifiers.py --out DIR [--splits 2] [--rows 1000]

Both wrap the same models, fitted to the same folds (fitted once and remembered, so that only what
calibration does differs), and are judged on rows neither has seen. Writes the losses of every pair
and the paired difference from scikit-learn's method of least mean loss, with the bootstrap over
data sets of `tables.interval`. Goes on where it stopped.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from data import DATA_SETS, load
from models import MODELS, models_of
from predictions import split_rows
from rich.progress import track
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import log_loss
from sklearn.utils.metaestimators import available_if
from tables import interval

from veridical.selection import CalibratedClassifier

THEIRS = ("sigmoid", "isotonic", "temperature")
OURS = ("auto", "beta")


class Remembered(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A model that is fitted once to the same rows."""

    fitted: dict[tuple[str, int, bytes], Any] = {}  # noqa: RUF012

    def __init__(self, name: str, seed: int) -> None:
        self.name = name
        self.seed = seed

    def fit(self, x: np.ndarray, y: np.ndarray) -> Remembered:
        rows = hashlib.sha256(np.ascontiguousarray(x).tobytes() + y.tobytes()).digest()
        key = (self.name, self.seed, rows)
        if key not in self.fitted:
            self.fitted[key] = MODELS[self.name](self.seed).fit(x, y)
        self.model_ = self.fitted[key]
        self.classes_ = self.model_.classes_
        return self

    def predict(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(self.model_.predict(x))

    @available_if(lambda self: self.name != "svm")
    def predict_proba(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(self.model_.predict_proba(x), dtype=np.float64)

    @available_if(lambda self: self.name in ("svm", "logistic", "hist_boosting"))
    def decision_function(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(self.model_.decision_function(x))


def methods(model: Remembered) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Name and maker of every contender."""
    for ensemble in (True, False):
        end = "" if ensemble else ", ensemble=False"
        for method in THEIRS:
            yield (
                f"scikit-learn {method}{end}",
                lambda m=method, e=ensemble: CalibratedClassifierCV(
                    model, method=m, cv=5, ensemble=e
                ),
            )
        for name in OURS:
            yield (
                f"veridical {name}{end}",
                lambda n=name, e=ensemble: CalibratedClassifier(model, n, cv=5, ensemble=e),
            )


def losses(data: str, model: str, split: int, rows: int) -> list[dict[str, Any]]:
    """Log loss and Brier score of every contender on one pair and split."""
    x, y = load(data)
    train, pool, test = split_rows(y, data, split, train=True)
    train = np.concatenate([train, pool])[:rows]
    if np.bincount(y[train], minlength=y.max() + 1).min() < 5:
        return []  # five stratified folds need five rows of each class
    Remembered.fitted.clear()
    found = []
    for name, make in methods(Remembered(model, split)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            p = make().fit(x[train], y[train]).predict_proba(x[test])
        truth = np.eye(p.shape[1])[y[test]]
        half = 2 if p.shape[1] == 2 else 1  # the Brier score of two classes is of one of them
        found.append(
            {
                "data": data,
                "model": model,
                "split": split,
                "n": len(train),
                "method": name,
                "log_loss": log_loss(y[test], p, labels=range(p.shape[1])),
                "brier": float(((p - truth) ** 2).sum(axis=1).mean()) / half,
            }
        )
    return found


def table(frame: pd.DataFrame) -> pd.DataFrame:
    """Mean losses over data sets, and the difference from scikit-learn's best with its interval."""
    parts = []
    for metric in ("log_loss", "brier"):
        wide = frame.pivot(index=["data", "model", "split"], columns="method", values=metric)
        sets = wide.groupby(level="data").mean()
        theirs = [c for c in sets if c.startswith("scikit-learn")]
        best = sets[theirs].mean().idxmin()
        limits = interval(sets.sub(sets[best], axis=0))
        part = limits.rename(columns={"mean": "difference"})
        part.insert(0, metric, sets.mean())
        part["share_better"] = (wide.lt(wide[best], axis=0)).groupby(level="data").mean().mean()
        part["reference"] = best
        parts.append(part.add_prefix(f"{metric}: " if metric == "brier" else ""))
    return pd.concat(parts, axis=1).sort_values("log_loss").round(5)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--rows", type=int, default=1000)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    path = options.out / "classifier_losses.csv"
    done = pd.read_csv(path) if path.exists() else pd.DataFrame(columns=["data", "model", "split"])
    known = set(zip(done.data, done.model, done.split, strict=True))
    cells = [
        (data, model, split)
        for split in range(options.splits)
        for data in DATA_SETS
        for model in models_of(data)
        if (data, model, split) not in known
    ]
    for data, model, split in track(cells, disable=not sys.stderr.isatty()):
        found = losses(data, model, split, options.rows)
        if found:
            new = pd.DataFrame(found).round(6)
            new.to_csv(path, mode="a", header=not path.exists(), index=False)
    result = table(pd.read_csv(path))
    result.to_csv(options.out / "classifiers.csv")
    print(result.to_string())


if __name__ == "__main__":
    main()
