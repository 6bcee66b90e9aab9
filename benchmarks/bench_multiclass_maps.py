"""Time of fitting and applying multiclass calibrators, against other packages.

    python benchmarks/bench_multiclass_maps.py                     # print the table
    python benchmarks/bench_multiclass_maps.py --only structured   # tasks whose name has a word
    python benchmarks/bench_multiclass_maps.py --repeats 5

veridical must be importable (installed, or `PYTHONPATH=src`). Packages that are absent are left
out. Contenders take turns, one call each, and each keeps its best turn. "objective" is what is
minimised, mean log loss plus penalty, at the parameters each found: lower is better.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from data import Sample, make_sample

Fit = Callable[[Sample], tuple[np.ndarray, float]]


class Task(NamedTuple):
    """A map fitted to, and applied to, a sample of a given size."""

    name: str
    kind: str
    n_rows: int
    n_classes: int


TASKS = [
    Task("temperature, 5e4 x 10", "temperature", 50_000, 10),
    Task("temperature, 5e4 x 100", "temperature", 50_000, 100),
    Task("temperature, 5e4 x 1000", "temperature", 50_000, 1000),
    Task("ensemble temperature, 5e4 x 10", "ensemble", 50_000, 10),
    Task("structured vector, 5e3 x 100", "structured vector", 5_000, 100),
    Task("structured matrix, 5e3 x 100", "structured matrix", 5_000, 100),
    Task("Dirichlet ODIR, 5e3 x 10", "dirichlet", 5_000, 10),
    Task("Dirichlet ODIR, 5e3 x 100", "dirichlet", 5_000, 100),
]


def log_loss(p: np.ndarray, y: np.ndarray) -> float:
    """Mean log loss."""
    return float(-np.log(p[np.arange(len(y)), y]).mean())


def ours_temperature(sample: Sample) -> tuple[np.ndarray, float]:
    """Temperature of this package."""
    from veridical.calibrators._softmax.temperature import TemperatureCalibrator

    calibrator = TemperatureCalibrator(pseudo_rows=0).fit(sample.p, sample.y)
    return calibrator.predict_proba(sample.p), 0.0


def sklearn_temperature(sample: Sample) -> tuple[np.ndarray, float]:
    """Temperature of scikit-learn, whose class is private."""
    from sklearn.calibration import _TemperatureScaling

    return _TemperatureScaling().fit(sample.p, sample.y).predict(sample.p), 0.0


def probmetrics_temperature(sample: Sample) -> tuple[np.ndarray, float]:
    """Temperature of probmetrics."""
    from probmetrics.calibrators import get_calibrator

    calibrator = get_calibrator("temp-scaling", calibrate_with_mixture=False)
    return np.asarray(calibrator.fit(sample.p, sample.y).predict_proba(sample.p)), 0.0


def netcal_temperature(sample: Sample) -> tuple[np.ndarray, float]:
    """Temperature of netcal."""
    from netcal.scaling import TemperatureScaling

    calibrator = TemperatureScaling().fit(sample.p, sample.y)
    return np.asarray(calibrator.transform(sample.p)), 0.0


def ours_ensemble(sample: Sample) -> tuple[np.ndarray, float]:
    """Ensemble temperature of this package."""
    from veridical.calibrators._softmax.temperature import EnsembleTemperatureCalibrator

    calibrator = EnsembleTemperatureCalibrator(pseudo_rows=0).fit(sample.p, sample.y)
    return calibrator.predict_proba(sample.p), 0.0


def probmetrics_ensemble(sample: Sample) -> tuple[np.ndarray, float]:
    """Ensemble temperature of probmetrics, with log loss."""
    from probmetrics.calibrators.temperature_scaling import ETSCalibrator

    calibrator = ETSCalibrator(loss="ce").fit(sample.p, sample.y)
    return np.asarray(calibrator.predict_proba(sample.p)), 0.0


def ridge(matrix: np.ndarray, intercept: np.ndarray, n: int, diagonal: float = 1.0) -> float:
    """Penalty of structured scaling; ODIR has a thousandth of it on the diagonal."""
    k = len(intercept)
    matrix, intercept = matrix.astype(np.float64), intercept.astype(np.float64)
    own = np.diag(matrix) - 1
    rest = (matrix**2).sum() - (np.diag(matrix) ** 2).sum()
    return k / n * (diagonal * (own**2).sum() + (intercept**2).sum() + (k - 1) * rest)


def ours_vector(sample: Sample) -> tuple[np.ndarray, float]:
    """Structured vector scaling of this package."""
    from veridical.calibrators._softmax.structured import StructuredVectorCalibrator

    calibrator = StructuredVectorCalibrator().fit(sample.p, sample.y)
    p = calibrator.predict_proba(sample.p)
    return p, ridge(np.diag(calibrator.coef_), calibrator.intercept_, len(p))


def probmetrics_vector(sample: Sample) -> tuple[np.ndarray, float]:
    """SVS of probmetrics."""
    from probmetrics.calibrators import SVSCalibrator

    calibrator = SVSCalibrator().fit(sample.p, sample.y)
    p = np.asarray(calibrator.predict_proba(sample.p))
    return p, ridge(np.diag(calibrator.v_), calibrator.b_, len(p))


def ours_matrix(sample: Sample) -> tuple[np.ndarray, float]:
    """Structured matrix scaling of this package."""
    from veridical.calibrators._softmax.structured import StructuredMatrixCalibrator

    calibrator = StructuredMatrixCalibrator().fit(sample.p, sample.y)
    p = calibrator.predict_proba(sample.p)
    return p, ridge(calibrator.coef_, calibrator.intercept_, len(p))


def probmetrics_matrix(sample: Sample) -> tuple[np.ndarray, float]:
    """SMS of probmetrics."""
    from probmetrics.calibrators import SMSCalibrator

    calibrator = SMSCalibrator().fit(sample.p, sample.y)
    p = np.asarray(calibrator.predict_proba(sample.p))
    return p, ridge(calibrator.W_[:, :-1], calibrator.W_[:, -1], len(p))


def ours_dirichlet(sample: Sample) -> tuple[np.ndarray, float]:
    """Dirichlet calibration of this package."""
    from veridical.calibrators._softmax.dirichlet import DirichletCalibrator

    calibrator = DirichletCalibrator(pseudo_rows=0).fit(sample.p, sample.y)
    p = calibrator.predict_proba(sample.p)
    return p, ridge(calibrator.coef_, calibrator.intercept_, len(p), diagonal=1e-3)


def dirichletcal_dirichlet(sample: Sample) -> tuple[np.ndarray, float]:
    """Dirichlet calibration of dirichletcal, with our penalties per parameter.

    It charges W minus its last row, so its objective is another one; ours is shown.
    """
    from dirichletcal import FullDirichletCalibrator

    n, k = sample.p.shape
    reference = FullDirichletCalibrator(reg_lambda=k * (k - 1) / n, reg_mu=k / n)
    reference.fit(sample.p, sample.y)
    p = np.asarray(reference.predict_proba(sample.p))
    matrix = np.asarray(reference.calibrator_.coef_)
    return p, ridge(matrix, np.asarray(reference.calibrator_.intercept_), n, diagonal=1e-3)


CONTENDERS: dict[str, dict[str, Fit]] = {
    "temperature": {
        "veridical": ours_temperature,
        "scikit-learn": sklearn_temperature,
        "probmetrics": probmetrics_temperature,
        "netcal": netcal_temperature,
    },
    "ensemble": {"veridical": ours_ensemble, "probmetrics": probmetrics_ensemble},
    "structured vector": {"veridical": ours_vector, "probmetrics": probmetrics_vector},
    "structured matrix": {"veridical": ours_matrix, "probmetrics": probmetrics_matrix},
    "dirichlet": {"veridical": ours_dirichlet, "dirichletcal": dirichletcal_dirichlet},
}


def run(task: Task, repeats: int, budget: float) -> None:
    """Time the contenders of a task in turn and print a line each."""
    sample = make_sample(task.n_rows, task.n_classes)
    best: dict[str, tuple[float, float]] = {}
    spent: dict[str, float] = {}
    for _ in range(repeats):
        for name, fit in CONTENDERS[task.kind].items():
            if spent.get(name, 0.0) > budget:
                continue
            try:
                start = time.perf_counter()
                p, penalty = fit(sample)
                seconds = time.perf_counter() - start
            except ImportError:
                continue
            spent[name] = spent.get(name, 0.0) + seconds
            objective = log_loss(p, sample.y) + penalty
            best[name] = (min(seconds, best.get(name, (seconds, 0))[0]), objective)
    for name, (seconds, objective) in best.items():
        ratio = seconds / best["veridical"][0]
        print(f"{task.name:32} {name:14} {seconds:9.4f} s {ratio:7.1f}x   {objective:.10f}")


def main() -> None:
    """Run the tasks asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="tasks whose name contains this")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--budget", type=float, default=20.0, help="seconds of one contender")
    options = parser.parse_args()
    for task in TASKS:
        if options.only in task.name:
            run(task, options.repeats, options.budget)


if __name__ == "__main__":
    main()
