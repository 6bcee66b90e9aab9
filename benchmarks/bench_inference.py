"""Time of errors without bins, null levels, intervals and tests, against other packages.

    python benchmarks/bench_inference.py                     # print the table
    python benchmarks/bench_inference.py --write results     # also inference.csv
    python benchmarks/bench_inference.py --only Spiegelhalter

Contenders of a task take turns in one process; seconds are the best turn of each. Packages that
are absent are reported as such. Run it on a quiet machine.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from report import facts_of_machine

import veridical as v

Call = Callable[[], Any]


def binary(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Calibrated predictions and outcomes."""
    rng = np.random.default_rng(n)
    p = rng.beta(0.7, 0.7, n)
    return (rng.random(n) < p).astype(np.int64), p


def vectors(n: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Calibrated vectors and outcomes."""
    rng = np.random.default_rng(n)
    p = rng.dirichlet(np.full(n_classes, 0.5), n)
    y = (rng.random(n)[:, None] >= p.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return y, p


def intervals() -> dict[str, Call]:
    y, p = binary(10**5)

    def peer() -> Any:
        from calibration.utils import get_ece, precentile_bootstrap_uncertainty

        data = list(zip(p, y, strict=True))
        return precentile_bootstrap_uncertainty(
            data, lambda d: get_ece(*map(np.array, zip(*d, strict=True))), num_samples=10
        )

    return {
        "veridical, interval and 1,000 null draws": lambda: (
            v.bootstrap_interval(v.BinnedError(), y, p),
            v.null_level(v.BinnedError(), y, p, rng=0),
        ),
        "uncertainty-calibration, 10 resamples": peer,
    }


def smooth() -> dict[str, Call]:
    y, p = binary(10**6)

    def relplot() -> Any:
        import relplot

        return relplot.smECE(p, y)

    return {"veridical": lambda: v.SmoothError()(y, p), "relplot": relplot}


def density() -> dict[str, Call]:
    y, p = vectors(10**5, 3)
    return {
        "veridical confidence": lambda: v.DensityError()(y, p),
        "veridical classwise": lambda: v.DensityError()(y, p, lens="classwise"),
    }


def kernel() -> dict[str, Call]:
    y, p = vectors(10**4, 10)

    def netcal() -> Any:
        from netcal.metrics import MMCE

        return MMCE().measure(p, y)

    return {
        "veridical SKCE of vectors": lambda: v.KernelError()(y, p, lens="canonical"),
        "netcal MMCE of confidences": netcal,
    }


def consistency() -> dict[str, Call]:
    y, p = vectors(10**4, 10)
    return {
        f"veridical {lens}": lambda lens=lens: v.consistency_test(
            v.BinnedError(), y, p, lens=lens, rng=0
        )
        for lens in ("confidence", "classwise")
    }


def many_draws() -> dict[str, Call]:
    y, p = binary(10**6)
    return {
        "veridical, 10,000 draws": lambda: v.consistency_test(
            v.BinnedError(), y, p, n_resamples=10_000, rng=0
        )
    }


def hosmer_lemeshow() -> dict[str, Call]:
    y, p = binary(10**6)

    def calzone() -> Any:
        from calzone.metrics import hosmer_lemeshow_test
        from calzone.utils import reliability_diagram

        pair = np.column_stack([1 - p, p])
        observed, predicted, _, count = reliability_diagram(
            y, pair, num_bins=10, class_to_plot=1, is_equal_freq=True
        )
        return hosmer_lemeshow_test(observed, predicted, count)

    return {"veridical": lambda: v.hosmer_lemeshow_test(y, p), "calzone": calzone}


def spiegelhalter() -> dict[str, Call]:
    y, p = binary(10**6)
    pair = np.column_stack([1 - p, p])

    def calzone() -> Any:
        from calzone.metrics import spiegelhalter_z_test

        return spiegelhalter_z_test(y, pair)

    def mapie() -> Any:
        from mapie.metrics.calibration import spiegelhalter_p_value

        return spiegelhalter_p_value(y, p)

    return {"veridical": lambda: v.spiegelhalter_test(y, p), "calzone": calzone, "MAPIE": mapie}


def others() -> dict[str, Call]:
    y, p = binary(10**5)
    return {
        "veridical cox_test": lambda: v.cox_test(y, p),
        "veridical t_cal_test": lambda: v.t_cal_test(y, p, rng=0),
        "veridical kernel_test": lambda: v.kernel_test(y, p, rng=0),
        "veridical sequential_test": lambda: v.sequential_test(y, p),
        "veridical evaluate": lambda: v.evaluate(y, p),
    }


TASKS: dict[str, Callable[[], dict[str, Call]]] = {
    "ECE with interval, 1e5 rows": intervals,
    "smooth ECE, 1e6 rows": smooth,
    "density ECE, 1e5 x 3": density,
    "kernel error, 1e4 x 10": kernel,
    "consistency test, 1,000 draws, 1e4 x 10": consistency,
    "consistency test, 1e6 binary rows": many_draws,
    "Hosmer-Lemeshow, 1e6 rows": hosmer_lemeshow,
    "Spiegelhalter, 1e6 rows": spiegelhalter,
    "other tests, 1e5 rows": others,
}


def run(task: str, contenders: dict[str, Call], repeats: int, budget: float) -> list[list[str]]:
    """Best seconds of each contender, taking turns until the time is up."""
    best: dict[str, float] = {}
    absent: dict[str, str] = {}
    start = time.perf_counter()
    for turn in range(repeats):
        for name, call in contenders.items():
            if name in absent:
                continue
            before = time.perf_counter()
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of the peers
                    call()
            except ImportError as error:
                absent[name] = f"{error.name} is not installed"
                continue
            took = time.perf_counter() - before
            if turn:  # the first turn imports and compiles
                best[name] = min(took, best.get(name, np.inf))
        if turn and time.perf_counter() - start > budget:
            break
    own = best[next(iter(contenders))]
    rows = [[task, name, f"{took:.4g}", f"{took / own:.2f}", ""] for name, took in best.items()]
    return rows + [[task, name, "", "", why] for name, why in absent.items()]


def main() -> None:
    """Run the tasks chosen on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", metavar="WORD", help="tasks whose name contains it")
    parser.add_argument("--repeats", type=int, default=6, help="turns for each contender")
    parser.add_argument("--budget", type=float, default=30.0, help="seconds before turns stop")
    parser.add_argument("--write", type=Path, metavar="DIR", help="write the table there")
    options = parser.parse_args()
    header = ["task", "contender", "seconds", "ratio_to_the_first", "status"]
    rows = []
    print(*facts_of_machine(), sep="\n")
    for task, contenders in TASKS.items():
        if options.only in task:
            found = run(task, contenders(), options.repeats, options.budget)
            rows += found
            for row in found:
                print(*row, sep="  ", flush=True)
    if options.write:
        with (options.write / "inference.csv").open("w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerows([header, *rows])


if __name__ == "__main__":
    main()
