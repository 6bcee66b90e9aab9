"""Second stage: calibrate and score. A task is one split of a pair with what is missing of it."""

from __future__ import annotations

import contextlib
import io
import signal
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from contenders import Contender, everyone, fit_predict
from predictions import N_SPLITS, Pair, usable_sizes

Done = dict[str, set[tuple[str, str, int, int]]]

FLOOR = 1e-15  # probabilities are clipped here for the log loss, of all contenders alike
MANY_CLASSES, SPLITS_OF_MANY = 20, 2  # sets with more classes are run on fewer splits
LIMIT = 120  # processor seconds after which a fit counts as failed


@dataclass(frozen=True)
class Task:
    """One split of a pair and the (size, method) combinations to run."""

    pair: Pair
    path: Path
    split: int
    wanted: tuple[tuple[int, str], ...]


def plan(pair: Pair, cache: Path, contenders: list[Contender], done: Done) -> list[Task]:
    """Tasks of a pair, without the cells that a method has done already."""
    tasks = []
    path = pair.path(cache)
    with np.load(path) as stored:
        n_classes = stored["p_cal_0"].shape[1]
        for split in range(N_SPLITS if n_classes <= MANY_CLASSES else SPLITS_OF_MANY):
            wanted = tuple(
                (n, c.name)
                for n in usable_sizes(stored[f"y_cal_{split}"], n_classes)
                for c in contenders
                if c.suits(n_classes, n, split)
                and (pair.data, pair.model, split, n) not in done[c.name]
            )
            if wanted:
                tasks.append(Task(pair, path, split, wanted))
    return tasks


def scores(p: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """Log loss, Brier score (binary in 0..1, else the sum over classes) and accuracy."""
    rows = np.arange(len(y))
    truth = p[rows, y]
    squares = (p**2).sum(axis=1) - 2 * truth + 1
    brier = squares.mean() / 2 if p.shape[1] == 2 else squares.mean()
    return {
        "log_loss": float(-np.log(np.maximum(truth, FLOOR)).mean()),
        "brier": float(brier),
        "accuracy": float((p.argmax(axis=1) == y).mean()),
    }


@contextlib.contextmanager
def quiet_and_limited() -> Any:
    """Silence what packages print and warn of, and stop a call that takes too long."""

    def stop(number: int, frame: Any) -> None:
        msg = f"stopped after {LIMIT} s"
        raise TimeoutError(msg)

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, LIMIT)
    sink = io.StringIO()
    try:
        with (
            warnings.catch_warnings(),
            contextlib.redirect_stdout(sink),
            contextlib.redirect_stderr(sink),
            np.errstate(all="ignore"),
        ):
            warnings.simplefilter("ignore")
            yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def run_one(
    contender: Contender, p_cal: np.ndarray, y_cal: np.ndarray, p_test: np.ndarray, y: np.ndarray
) -> dict[str, Any]:
    """Scores and processor seconds of one contender; a failure is scored as uncalibrated."""
    np.random.seed(0)  # noqa: NPY002 - packages that draw, draw from the global generator
    failure, p = "", p_test
    start = time.process_time()  # processor time: the machine may be shared
    try:
        with quiet_and_limited():
            p = fit_predict(contender, p_cal, y_cal, p_test)
    except Exception as error:  # whatever another package raises is a result here
        failure = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
    seconds = time.process_time() - start
    return {**scores(p, y), "seconds": round(seconds, 5), "failure": failure[:200]}


def run_task(task: Task) -> list[dict[str, Any]]:
    """Rows of results of a task."""
    contenders = everyone()
    one_thread()
    names = ("p_cal", "y_cal", "p_test", "y_test")
    with np.load(task.path) as stored:
        p_cal, y_cal, p_test, y_test = (stored[f"{name}_{task.split}"] for name in names)
    n_classes = p_cal.shape[1]
    rows: list[dict[str, Any]] = []
    known: dict[tuple[int, str], dict[str, Any]] = {}
    for n, name in task.wanted:
        contender = contenders[name]
        figures = known.get((n, contender.twin or "")) if n_classes > 2 else None
        if figures is None:
            figures = run_one(contender, p_cal[:n], y_cal[:n], p_test, y_test)
        known[n, name] = figures
        rows.append(
            {
                "half": task.pair.half,
                "data": task.pair.data,
                "model": task.pair.model,
                "n_classes": n_classes,
                "split": task.split,
                "n": n,
                "n_test": len(y_test),
                "method": name,
                "version": contender.version(),
                **figures,
            }
        )
    return rows


def one_thread() -> None:
    """Hold torch to one thread where it is installed; the rest obeys the environment."""
    try:
        import torch
    except ImportError:
        return
    torch.set_num_threads(1)
