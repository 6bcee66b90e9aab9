"""What calibration adds to the time of a model, and log loss beside scikit-learn's.

    PYTHONPATH=src python -W ignore benchmarks/bench_classifier.py                  # both tables
    PYTHONPATH=src python -W ignore benchmarks/bench_classifier.py --write results  # also as CSV
    PYTHONPATH=src python -W ignore benchmarks/bench_classifier.py --only overhead

Overhead: processor seconds of `fit` beyond those that the model's own `fit` takes, of which those
of the model's predictions are named, and of `predict_proba` of as many new rows and of one. In one
run, contenders taking turns, each with its best one; run it with OMP_NUM_THREADS=1. Log loss: on
rows held out, over data sets and models.
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

ROWS, TURNS = 1_000, 7


class Clock:
    """Processor seconds spent inside models: in their `fit`, and in what they say of rows."""

    inside = False
    fitting, saying, fits = 0.0, 0.0, 0

    @classmethod
    def reset(cls) -> None:
        cls.fitting, cls.saying, cls.fits = 0.0, 0.0, 0

    @classmethod
    def time(cls, method, *arguments, **named):
        if cls.inside:  # one method of a model calls another
            return method(*arguments, **named)
        cls.inside, start = True, time.process_time()
        result = method(*arguments, **named)
        cls.inside, spent = False, time.process_time() - start
        if method.__name__ == "fit":
            cls.fitting, cls.fits = cls.fitting + spent, cls.fits + 1
        else:
            cls.saying += spent
        return result


class TimedLogistic(LogisticRegression):
    def fit(self, X, y, sample_weight=None):
        return Clock.time(super().fit, X, y, sample_weight)

    def predict_proba(self, X):
        return Clock.time(super().predict_proba, X)

    def decision_function(self, X):
        return Clock.time(super().decision_function, X)


class TimedForest(RandomForestClassifier):
    def fit(self, X, y, sample_weight=None):
        return Clock.time(super().fit, X, y, sample_weight)

    def predict_proba(self, X):
        return Clock.time(super().predict_proba, X)


class TimedBoosting(GradientBoostingClassifier):
    def fit(self, X, y, sample_weight=None):
        return Clock.time(super().fit, X, y, sample_weight)

    def predict_proba(self, X):
        return Clock.time(super().predict_proba, X)

    def decision_function(self, X):
        return Clock.time(super().decision_function, X)


TIMED = {
    "logistic regression": TimedLogistic(),
    "random forest": TimedForest(100, random_state=0),
    "boosting": TimedBoosting(random_state=0),
}
CONTENDERS = {
    "scikit-learn, sigmoid": lambda m: CalibratedClassifierCV(m, cv=5),
    "scikit-learn, isotonic": lambda m: CalibratedClassifierCV(m, method="isotonic", cv=5),
    "scikit-learn, sigmoid, ensemble=False": lambda m: CalibratedClassifierCV(
        m, cv=5, ensemble=False
    ),
    "scikit-learn, isotonic, ensemble=False": lambda m: CalibratedClassifierCV(
        m, method="isotonic", cv=5, ensemble=False
    ),
    "veridical, auto (the default)": lambda m: CalibratedClassifier(m),
    "veridical, platt": lambda m: CalibratedClassifier(m, "platt"),
    "veridical, isotonic": lambda m: CalibratedClassifier(m, "isotonic"),
    "veridical, beta": lambda m: CalibratedClassifier(m, "beta"),
    "veridical, auto, ensemble=True": lambda m: CalibratedClassifier(m, ensemble=True),
}


def overhead(n: int, turns: int) -> list[dict[str, object]]:
    """Processor milliseconds of every contender over every model, five folds."""
    X, y = make_classification(2 * n, 20, n_informative=8, flip_y=0.1, random_state=0)
    X, y, new = X[:n], y[:n], X[n:]
    rows: list[dict[str, object]] = []
    for model_name, model in TIMED.items():
        best: dict[str, dict[str, float]] = {name: {} for name in CONTENDERS}
        for _ in range(turns):
            for name, make in CONTENDERS.items():
                for what, spent in one_turn(make(model), X, y, new).items():
                    best[name][what] = min(spent, best[name].get(what, spent))
        for name, figures in best.items():
            row: dict[str, object] = {"model": model_name, "contender": name, "rows": n}
            row |= {what: round(1e3 * seconds, 3) for what, seconds in figures.items()}
            print(row, flush=True)
            rows.append(row)
    return rows


def one_turn(classifier, X, y, new) -> dict[str, float]:
    """Processor seconds of one fit and of predictions."""
    Clock.reset()
    start = time.process_time()
    classifier.fit(X, y)
    total = time.process_time() - start
    found = {"fit: model's own, ms": Clock.fitting, "fit: added, ms": total - Clock.fitting}
    found["fit: of which the model predicts, ms"] = Clock.saying
    classifier.predict_proba(new)
    for what, shown, times in (("all rows", new, 3), ("one row", new[:1], 10)):
        start = time.process_time()
        for _ in range(times):
            classifier.predict_proba(shown)
        found[f"predict: {what}, ms"] = (time.process_time() - start) / times
    return found


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
    "veridical, auto, ensemble=True": lambda m: CalibratedClassifier(m, ensemble=True),
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
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    print(f"scikit-learn {version('scikit-learn')}, Python {sys.version.split()[0]}")
    tables = {}
    if options.only != "losses":
        tables["classifier_overhead"] = overhead(options.rows, options.turns)
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
