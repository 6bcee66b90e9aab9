"""Time of non-parametric calibrators, fit and predict, against other packages.

    python benchmarks/bench_binned_maps.py                    # print the table
    python benchmarks/bench_binned_maps.py --only isotonic    # tasks whose name contains a word
    python benchmarks/bench_binned_maps.py --quick            # without 1e7 rows and slow peers

veridical must be importable (installed, or `PYTHONPATH=src`). Contenders take turns in one process
and each keeps its best turn. Packages that are absent are reported as such.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from veridical.calibrators._steps.bbq import BBQCalibrator
from veridical.calibrators._steps.histogram import HistogramCalibrator
from veridical.calibrators._steps.isotonic import IsotonicCalibrator
from veridical.calibrators._steps.near_isotonic import NearIsotonicCalibrator
from veridical.calibrators._steps.venn_abers import VennAbersCalibrator


def own(calibrator: Any) -> Callable[..., Any]:
    """Fit and predict with a calibrator of veridical."""
    return lambda p, y, new: calibrator.fit(p, y).predict_proba(new)


def sklearn_isotonic(p: Any, y: Any, new: Any) -> Any:
    """scikit-learn's isotonic regression."""
    from sklearn.isotonic import IsotonicRegression

    return IsotonicRegression(out_of_bounds="clip").fit(p, y).predict(new)


def netcal_histogram(p: Any, y: Any, new: Any) -> Any:
    """netcal's histogram binning, equal width."""
    from netcal.binning import HistogramBinning

    return HistogramBinning(bins=10).fit(p, y).transform(new)


def netcal_bbq(p: Any, y: Any, new: Any) -> Any:
    """netcal's BBQ: equal width and BIC instead of the paper's equal mass and BDeu."""
    from netcal.binning import BBQ

    return BBQ().fit(p, y).transform(new)


def netcal_enir(p: Any, y: Any, new: Any) -> Any:
    """netcal's ensemble of near-isotonic regressions."""
    from netcal.binning import ENIR

    return ENIR().fit(p, y).transform(new)


def venn_abers(p: Any, y: Any, new: Any) -> Any:
    """The package venn-abers."""
    from venn_abers import VennAbers

    predictor = VennAbers()
    predictor.fit(np.column_stack([1 - p, p]), y)
    return predictor.predict_proba(np.column_stack([1 - new, new]))


class Task(NamedTuple):
    """Contenders for a map fitted to, and applied to, so many rows."""

    name: str
    n_rows: int
    contenders: dict[str, Callable[..., Any]]
    turns: int = 7
    slow: bool = False


TASKS = [
    Task(
        "isotonic, 1e7 rows",
        10**7,
        {"veridical": own(IsotonicCalibrator()), "scikit-learn": sklearn_isotonic},
        turns=3,
        slow=True,
    ),
    Task(
        "isotonic, 1e6 rows",
        10**6,
        {"veridical": own(IsotonicCalibrator()), "scikit-learn": sklearn_isotonic},
    ),
    Task(
        "histogram, 1e6 rows",
        10**6,
        {
            "veridical uniform": own(HistogramCalibrator(strategy="uniform")),
            "veridical quantile": own(HistogramCalibrator()),
            "veridical kmeans": own(HistogramCalibrator(strategy="kmeans")),
            "netcal uniform": netcal_histogram,
        },
    ),
    Task("BBQ, 1e4 rows", 10**4, {"veridical": own(BBQCalibrator()), "netcal": netcal_bbq}),
    Task(
        "near isotonic, 1e4 rows",
        10**4,
        {"veridical": own(NearIsotonicCalibrator()), "netcal": netcal_enir},
        turns=2,
        slow=True,
    ),
    Task(
        "Venn-Abers, 1e4 rows",
        10**4,
        {"veridical": own(VennAbersCalibrator()), "venn-abers": venn_abers},
        turns=15,
    ),
    Task("Venn-Abers, 1e6 rows", 10**6, {"veridical": own(VennAbersCalibrator())}, turns=3),
]


def silence() -> contextlib.redirect_stdout[io.StringIO]:
    """Keep what contenders print out of the table."""
    return contextlib.redirect_stdout(io.StringIO())


def take_turns(task: Task) -> dict[str, float | str]:
    """Best time of each contender, or why there is none."""
    rng = np.random.default_rng(0)
    p, new = rng.random((2, task.n_rows))
    y = (rng.random(task.n_rows) < p**1.5).astype(int)
    best: dict[str, float | str] = {}
    for turn in range(task.turns):
        for name, contender in task.contenders.items():
            if isinstance(best.get(name), str):
                continue
            start = time.perf_counter()
            try:
                with silence(), contextlib.redirect_stderr(io.StringIO()):
                    contender(p, y, new)
            except ImportError as error:
                best[name] = str(error)
                continue
            seconds = time.perf_counter() - start
            best[name] = min(float(best.get(name, np.inf)), seconds) if turn else np.inf
    return best


def main() -> None:
    """Run the tasks chosen on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", metavar="WORD", help="tasks whose name contains it")
    parser.add_argument("--quick", action="store_true", help="leave out what takes long")
    options = parser.parse_args()
    for task in TASKS:
        if options.only not in task.name or (options.quick and task.slow):
            continue
        for name, seconds in take_turns(task).items():
            shown = seconds if isinstance(seconds, str) else f"{1000 * seconds:10.1f} ms"
            print(f"{task.name:26s} {name:20s} {shown}", flush=True)


if __name__ == "__main__":
    main()
