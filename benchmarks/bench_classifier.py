"""What calibration adds to the time of a random forest, and log loss beside scikit-learn's.

    PYTHONPATH=src python -W ignore benchmarks/bench_classifier.py                  # both tables
    PYTHONPATH=src python -W ignore benchmarks/bench_classifier.py --write results  # also as CSV
    PYTHONPATH=src python -W ignore benchmarks/bench_classifier.py --only overhead

Overhead: processor seconds of `fit` and `predict_proba` outside the forest, over those inside it,
so that other work on the machine changes little. Log loss: on rows held out, over data sets and
models; "best on average" of scikit-learn is the method with the least mean.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from importlib.metadata import version
from pathlib import Path
from statistics import mean

from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_classification
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from veridical.selection._classifier.classifier import CalibratedClassifier

ROWS, TREES = 20_000, 100


class TimedForest(RandomForestClassifier):
    """A forest that adds up its own processor seconds and counts its fits."""

    seconds, fits = 0.0, 0

    def fit(self, X, y, sample_weight=None):
        start = time.process_time()
        super().fit(X, y, sample_weight)
        TimedForest.seconds += time.process_time() - start
        TimedForest.fits += 1
        return self

    def predict_proba(self, X):
        start = time.process_time()
        p = super().predict_proba(X)
        TimedForest.seconds += time.process_time() - start
        return p


def overhead(n: int, trees: int) -> list[dict[str, object]]:
    """Seconds inside and outside the forest, of five folds and predictions of all rows."""
    X, y = make_classification(n, 20, n_informative=8, flip_y=0.1, random_state=0)
    forest = TimedForest(trees, random_state=0)
    contenders = {
        "CalibratedClassifierCV, sigmoid": CalibratedClassifierCV(forest, cv=5),
        "CalibratedClassifierCV, isotonic": CalibratedClassifierCV(forest, method="isotonic", cv=5),
        "veridical, platt": CalibratedClassifier(forest, "platt", cv=5),
        "veridical, isotonic": CalibratedClassifier(forest, "isotonic", cv=5),
        "veridical, beta": CalibratedClassifier(forest, "beta", cv=5),
        "veridical, venn-abers": CalibratedClassifier(forest, "venn-abers", cv=5),
        "veridical, auto": CalibratedClassifier(forest, "auto", cv=5),
    }
    rows: list[dict[str, object]] = []
    for name, model in contenders.items():
        TimedForest.seconds, TimedForest.fits = 0.0, 0
        start = time.process_time()
        model.fit(X, y).predict_proba(X)
        total, inside = time.process_time() - start, TimedForest.seconds
        row = {"contender": name, "n": n, "trees": trees, "fits": TimedForest.fits}
        row |= {"forest_seconds": round(inside, 3), "other_seconds": round(total - inside, 3)}
        row |= {"overhead_percent": round(100 * (total - inside) / inside, 2)}
        print(row, flush=True)
        rows.append(row)
    return rows


def data_sets():
    yield "breast cancer", *load_breast_cancer(return_X_y=True)
    yield "wine", *load_wine(return_X_y=True)
    yield "digits", *load_digits(return_X_y=True)
    for seed, (n, k, noise) in enumerate(
        [(600, 2, 0.0), (2000, 2, 0.1), (600, 3, 0.1), (2000, 4, 0.0)]
    ):
        X, y = make_classification(
            n, 15, n_informative=8, n_classes=k, flip_y=noise, class_sep=0.8, random_state=seed
        )
        yield f"synthetic, n={n}, K={k}, noise {noise}", X, y


MODELS = {
    "forest": RandomForestClassifier(60, random_state=0),
    "naive Bayes": GaussianNB(),
    "boosting": GradientBoostingClassifier(
        n_estimators=30, max_depth=2, max_features="sqrt", random_state=0
    ),
    "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)),
    "linear SVM": make_pipeline(StandardScaler(), LinearSVC(random_state=0)),
}
METHODS = {
    "scikit-learn, sigmoid": lambda m: CalibratedClassifierCV(m, method="sigmoid", cv=5),
    "scikit-learn, isotonic": lambda m: CalibratedClassifierCV(m, method="isotonic", cv=5),
    "scikit-learn, temperature": lambda m: CalibratedClassifierCV(m, method="temperature", cv=5),
    "veridical, platt": lambda m: CalibratedClassifier(m, "platt"),
    "veridical, isotonic": lambda m: CalibratedClassifier(m, "isotonic"),
    "veridical, beta": lambda m: CalibratedClassifier(m, "beta"),
    "veridical, auto": lambda m: CalibratedClassifier(m),
}


def losses(repeats: int) -> list[dict[str, object]]:
    """Held-out log loss of every method on every pair of data and model."""
    rows: list[dict[str, object]] = []
    for data, X, y in data_sets():
        for name, model in MODELS.items():
            row: dict[str, object] = {"data": data, "model": name}
            for method, make in METHODS.items():
                found = []
                for seed in range(repeats):
                    a, b, ya, yb = train_test_split(
                        X, y, test_size=0.4, random_state=seed, stratify=y
                    )
                    p = make(clone(model)).fit(a, ya).predict_proba(b)
                    found.append(log_loss(yb, p))
                row[method] = round(mean(found), 5)
            print(row, flush=True)
            rows.append(row)
    averages = {method: round(mean(float(row[method]) for row in rows), 5) for method in METHODS}
    rows.append({"data": "mean", "model": "", **averages})
    print("mean", averages)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", type=Path)
    parser.add_argument("--only", choices=["overhead", "losses"])
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--trees", type=int, default=TREES)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    print(f"scikit-learn {version('scikit-learn')}, Python {sys.version.split()[0]}")
    tables = {}
    if options.only != "losses":
        tables["classifier_overhead"] = overhead(options.rows, options.trees)
    if options.only != "overhead":
        tables["classifier_losses"] = losses(options.repeats)
    for name, rows in tables.items():
        if options.write:
            options.write.mkdir(parents=True, exist_ok=True)
            with (options.write / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, fieldnames=list(rows[0]))
                writer.writeheader()
                writer.writerows(rows)


if __name__ == "__main__":
    main()
