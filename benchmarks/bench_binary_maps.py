"""Seconds to fit and apply binary calibration maps, and log loss, beside other packages.

Contenders take turns and keep their best turn. Seconds are those of the processor, which other work
on the machine disturbs least, so give all contenders one thread. Packages that are not installed
are left out: betacal and splinecalib are on PyPI.

    OPENBLAS_NUM_THREADS=1 PYTHONPATH=src python -W ignore benchmarks/bench_binary_maps.py
"""

from __future__ import annotations

import sys
import time
from importlib.metadata import PackageNotFoundError, version

import numpy as np

TURNS = 5
PATIENCE = 20.0  # seconds after which a contender keeps the turns it had


def data(n):
    """Overconfident probabilities of outcomes that bend a little, and a test set."""
    rng = np.random.default_rng(0)
    z = rng.normal(0, 2, 2 * n)
    true = 1 / (1 + np.exp(-(0.7 * z + 0.3 * np.sin(z))))
    y = (rng.random(2 * n) < true).astype(int)
    p = 1 / (1 + np.exp(-z))
    return p[:n], y[:n], p[n:], y[n:]


def veridical_map(name, **options):
    def run(p, y, new):
        from veridical.calibrators._logistic import (
            beta as _beta,
            platt as _platt,
            quadratic as _quadratic,
            spline as _spline,
        )

        modules = (_platt, _beta, _quadratic, _spline)
        kind = next(getattr(m, name) for m in modules if hasattr(m, name))
        return kind(**options).fit(p, y).predict_proba(new)[:, 1]

    return run


def sklearn_sigmoid(p, y, new):
    from sklearn.calibration import _SigmoidCalibration

    return _SigmoidCalibration().fit(np.log(p / (1 - p)), y).predict(np.log(new / (1 - new)))


def sklearn_logistic(p, y, new):
    from sklearn.linear_model import LogisticRegression

    fitted = LogisticRegression(C=1e10).fit(np.log(p / (1 - p))[:, None], y)
    return fitted.predict_proba(np.log(new / (1 - new))[:, None])[:, 1]


def betacal(p, y, new):
    from betacal import BetaCalibration

    return BetaCalibration("abm").fit(p, y).predict(new)


def splinecalib(p, y, new):
    from splinecalib import SplineCalib

    fitted = SplineCalib()
    fitted.fit(p, y)
    return fitted.calibrate(new)


TASKS = {
    "Platt, n=1,000,000": (
        1_000_000,
        {
            "veridical": veridical_map("PlattCalibrator"),
            "sklearn _SigmoidCalibration": sklearn_sigmoid,
            "sklearn LogisticRegression": sklearn_logistic,
        },
    ),
    "beta, n=1,000,000": (
        1_000_000,
        {"veridical": veridical_map("BetaCalibrator"), "betacal": betacal},
    ),
    "quadratic, n=1,000,000": (1_000_000, {"veridical": veridical_map("QuadraticCalibrator")}),
    "spline, n=100,000": (
        100_000,
        {"veridical": veridical_map("SplineCalibrator"), "splinecalib": splinecalib},
    ),
}


def log_loss(y, q):
    return float(-np.mean(np.log(np.where(y == 1, q, 1 - q))))


def compare(task, n, contenders):
    p, y, p_test, y_test = data(n)
    seconds: dict[str, list[float]] = {}
    losses = {}
    for _ in range(TURNS):
        for name, run in contenders.items():
            if sum(seconds.get(name, [])) > PATIENCE:
                continue
            try:
                start = time.process_time()
                q = run(p, y, p_test)
                took = time.process_time() - start
            except ImportError:
                continue
            seconds.setdefault(name, []).append(took)
            losses[name] = log_loss(y_test, q)
    own = min(seconds["veridical"])
    for name, turns in seconds.items():
        ratio = min(turns) / own
        print(f"{task:24s} {name:28s} {min(turns):8.3f} s {ratio:7.1f}x  {losses[name]:.7f}")


def main():
    packages = ["numpy", "scipy", "scikit-learn", "betacal", "splinecalib"]
    for package in packages:
        try:
            print(package, version(package), end="; ")
        except PackageNotFoundError:
            print(package, "not installed", end="; ")
    print(f"Python {sys.version.split()[0]}\n")
    print(f"{'task':24s} {'contender':28s} {'best':>10s} {'ratio':>8s}  test log loss")
    for task, (n, contenders) in TASKS.items():
        compare(task, n, contenders)


if __name__ == "__main__":
    main()
