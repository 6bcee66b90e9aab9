"""How long `AutoCalibrator` takes beside structured matrix scaling of probmetrics, and its memory.

    python benchmarks/bench_auto.py docs/evidence/auto_times.csv

Scores of K classes are normal with standard deviation 2, outcomes follow their softmax, predictions
are 1.5 times too sharp and shifted by class. Seconds are processor time of `fit` on one thread, the
least of a few repetitions, the two by turns. Memory is the peak that `fit` allocates (tracemalloc,
in a run of its own) over the bytes of the predictions; `beyond` is how many MB of it are more than
six times these.
"""

from __future__ import annotations

import argparse
import csv
import os
import time
import tracemalloc
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))

import numpy as np

CELLS = ((10_000, 2, 5), (5_000, 10, 5), (5_000, 100, 3), (50_000, 100, 1))


def sample(n: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Predictions that want a temperature and intercepts, and outcomes."""
    rng = np.random.default_rng([n, k])
    z = rng.normal(0, 2, (n, k))
    truth, said = (np.exp(each) for each in (z, 1.5 * z + rng.normal(0, 0.3, k)))
    truth, said = (each / each.sum(axis=1, keepdims=True) for each in (truth, said))
    return said, (truth.cumsum(axis=1)[:, :-1] < rng.random((n, 1))).sum(axis=1)


def ours(p: np.ndarray, y: np.ndarray) -> Any:
    """The automatic map."""
    from veridical import AutoCalibrator

    return AutoCalibrator().fit(p[:, 1] if p.shape[1] == 2 else p, y)


def theirs(p: np.ndarray, y: np.ndarray) -> Any:
    """Structured matrix scaling."""
    import torch
    from probmetrics.calibrators import get_calibrator

    torch.set_num_threads(1)
    return get_calibrator("sms", sms_print_init_info=False).fit(p, y)


def seconds(fit: Callable[..., Any], p: np.ndarray, y: np.ndarray) -> float:
    """Processor time of a fit."""
    start = time.process_time()
    fit(p, y)
    return time.process_time() - start


def memory(p: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Peak of what a fit allocates over the bytes of its input, and MB beyond six times these."""
    tracemalloc.start()
    ours(p, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    given = (p[:, 1] if p.shape[1] == 2 else p).nbytes
    return peak / given, max(peak - 6 * given, 0) / 1e6


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for fit in (ours, theirs):
        fit(*sample(200, 3))  # imports
    with options.path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(("rows", "classes", "auto", "sms", "ratio", "memory", "beyond"))
        for n, k, times in CELLS:
            p, y = sample(n, k)
            found = [(seconds(ours, p, y), seconds(theirs, p, y)) for _ in range(times)]
            auto, sms = (min(each) for each in zip(*found, strict=True))
            figures = (auto / sms, *memory(p, y))
            rounded = (f"{each:.1f}" for each in figures)
            writer.writerow((n, k, f"{auto:.3f}", f"{sms:.3f}", *rounded))
            stream.flush()


if __name__ == "__main__":
    main()
