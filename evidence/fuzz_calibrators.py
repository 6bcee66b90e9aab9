"""Fit `AutoCalibrator` and `CalibratedClassifier` to extreme probabilities and check every output.

    python evidence/fuzz_calibrators.py 10000        # `make fuzz`

Case number i is the same on every machine: its seed is i. Probabilities are zeros, denormal
numbers, ones, the number before one and rows that are almost one-hot, with ordinary rows between
them. K is 2, 3 or 10 and a case has 10 to 100 rows. One case in four fits a `CalibratedClassifier`,
half of them to a real naive Bayes model. One case in fifty tries the default candidates, which
takes about a second. The others try one calibrator of any kind, which takes about 0.1 seconds.
Every class has at least three rows, so no case has a reason to refuse its data. An exception or a
wrong output ends the run with the number of its case.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.naive_bayes import GaussianNB

from veridical import calibrators as kinds
from veridical.calibrators import Calibrator
from veridical.exceptions import VeridicalWarning
from veridical.selection import AutoCalibrator, CalibratedClassifier

FloatArray = NDArray[np.float64]
SMALL = np.array([0.0, 5e-324, 1e-323, 1e-310, 1e-308, 2.3e-308, 1e-300, 1e-200, 1e-17, 1e-12])
NEARLY_ONE = np.array([1.0, 1 - 2.0**-53, 1 - 2.0**-52, 1 - 1e-12])
ROWS_PER_CLASS = 3  # the least, so that three folds of a classifier train on every class

BINARY: list[Calibrator] = [
    kinds.PlattCalibrator(),
    kinds.BetaCalibrator(),
    kinds.QuadraticCalibrator(),
    kinds.SplineCalibrator(smoothness=10.0),  # without a search for the smoothness
    kinds.HistogramCalibrator(n_bins=5),
    kinds.IsotonicCalibrator(),
    kinds.IsotonicCalibrator(laplace=0),
    kinds.IsotonicCalibrator(centered=True),
    kinds.IsotonicCalibrator(strict=True, laplace=0),
    kinds.NearIsotonicCalibrator(),
    kinds.BBQCalibrator(),
    kinds.ScalingBinningCalibrator(n_bins=3),
    kinds.ScalingBinningCalibrator(calibrator=kinds.IdentityCalibrator()),
    kinds.VennAbersCalibrator(),
    kinds.DensityCalibrator(),
]
MULTICLASS: list[Calibrator] = [
    kinds.SimplexHistogramCalibrator(),
    kinds.TemperatureCalibrator(),
    kinds.EnsembleTemperatureCalibrator(),
    kinds.VectorCalibrator(),
    kinds.MatrixCalibrator(),
    kinds.DirichletCalibrator(),
    kinds.StructuredVectorCalibrator(),
    kinds.StructuredMatrixCalibrator(),
    kinds.ClassConditionalCalibrator(kinds.TemperatureCalibrator()),
    kinds.ConfidenceReducedCalibrator(kinds.BetaCalibrator()),
    kinds.MixingCalibrator(kinds.TemperatureCalibrator(), mix=0.05),
    *(kinds.OneVsRestCalibrator(binary) for binary in BINARY),
]


class ReturnedScores(ClassifierMixin, BaseEstimator):
    """Classifier whose probabilities are its inputs."""

    def fit(self, X: FloatArray, y: NDArray[np.intp]) -> ReturnedScores:
        """Learn the labels."""
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X: FloatArray) -> FloatArray:
        """Return the inputs."""
        return np.array(X)


def extreme_rows(rng: np.random.Generator, n: int, n_classes: int) -> FloatArray:
    """Rows of probabilities, most of them almost one-hot."""
    p = rng.choice(SMALL, (n, n_classes))
    p[np.arange(n), rng.integers(n_classes, size=n)] = rng.choice(NEARLY_ONE, n)
    ordinary = rng.random(n) < rng.choice([0.0, 0.2, 0.7])
    p[ordinary] = rng.dirichlet(np.ones(n_classes), int(ordinary.sum()))
    return p


def drawn_labels(rng: np.random.Generator, p: FloatArray) -> NDArray[np.intp]:
    """Labels that often agree with the predictions; every class has a few rows."""
    n, n_classes = p.shape
    agrees = rng.random(n) < rng.choice([0.5, 0.8, 1.0])
    y = np.where(agrees, p.argmax(axis=1), rng.integers(n_classes, size=n))
    few = rng.permutation(n)[: ROWS_PER_CLASS * n_classes]
    y[few] = np.tile(np.arange(n_classes), ROWS_PER_CLASS)
    return y


def drawn_candidates(rng: np.random.Generator, n_classes: int) -> list[Calibrator] | None:
    """One calibrator, or None for the default candidates."""
    if rng.random() < 0.02:
        return None
    suitable = MULTICLASS if n_classes > 2 else MULTICLASS[: -len(BINARY)] + BINARY
    return [suitable[int(rng.integers(len(suitable)))]]


def check_candidates(auto: AutoCalibrator) -> None:
    """Raise if a candidate was left out because it failed: that would hide its error."""
    failures = [row.note for row in auto.evidence_.candidates if "cannot be fitted" in row.note]
    assert not failures, failures[0]


def check_case(number: int) -> str:
    """Fit and check one case, and return what was fitted."""
    rng = np.random.default_rng(number)
    n_classes = int(rng.choice([2, 3, 10], p=[0.5, 0.4, 0.1]))
    n = int(rng.integers(max(10, ROWS_PER_CLASS * n_classes), 101))
    p = extreme_rows(rng, n, n_classes)
    y = drawn_labels(rng, p)
    new = np.concatenate([extreme_rows(rng, 40, n_classes), np.eye(n_classes), p])
    weight = rng.choice([0.5, 1.0, 3.0], n) if rng.random() < 0.3 else None
    kind = str(rng.choice(["pool", "pool", "select", "classifier"]))
    auto = AutoCalibrator(
        strategy="select" if kind == "select" else "pool",
        candidates=drawn_candidates(rng, n_classes),
    )
    if kind != "classifier":
        if n_classes == 2 and rng.random() < 0.5:
            p, new = p[:, 1], np.concatenate([new[:, 1], SMALL, NEARLY_ONE])
        fitted_auto = auto.fit(p, y, weight)
        q = fitted_auto.predict_proba(new)
    elif rng.random() < 0.5:
        model = CalibratedClassifier(ReturnedScores().fit(p, y), auto, cv="prefit")
        fitted_auto = model.fit(p, y, weight).pairs_[0].calibrator
        q = model.predict_proba(new)
    else:
        kind = "naive Bayes"
        shift = rng.normal(0, rng.choice([1.0, 10.0, 40.0]), (n_classes, 2))
        X = shift[y] + rng.normal(0, 1, (n, 2))
        model = CalibratedClassifier(GaussianNB(), auto, cv=3).fit(X, y, weight)
        fitted_auto = model.pairs_[0].calibrator
        q = model.predict_proba(np.concatenate([X, X[::-1] + rng.normal(0, 20, X.shape)]))
    check_candidates(fitted_auto)
    assert np.isfinite(q).all(), "not a finite number"
    assert q.min() >= 0, "below zero"
    assert q.max() <= 1, "above one"
    assert np.abs(q.sum(axis=1) - 1).max() <= 1e-9, "a row does not sum to one"
    return f"{kind}, K = {n_classes}"


def check_cases(numbers: range) -> Iterator[str]:
    """Check cases in turn; statistical doubts are no errors, numerical warnings are."""
    for number in numbers:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            warnings.simplefilter("ignore", VeridicalWarning)
            try:
                yield check_case(number)
            except Exception as error:
                error.add_note(f"case {number} of evidence/fuzz_calibrators.py")
                raise


def main(n_cases: int) -> None:
    """Check the first cases and print how many of which kind there were."""
    start = time.process_time()
    counts = Counter(check_cases(range(n_cases)))
    for kind, count in sorted(counts.items()):
        print(f"{kind:24} {count:6,}")
    seconds = time.process_time() - start
    print(f"{counts.total():,} fits without an error in {seconds:,.0f} CPU seconds")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
