"""Predictions of rows by maps that were fitted to other rows."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.base import clone

from veridical._core.typing import FloatArray
from veridical.calibrators import Calibrator
from veridical.calibrators._folds import held_masses, masses, some
from veridical.calibrators._wrapping import CheckedRows, fitted_part


@dataclass(frozen=True)
class Fold:
    """Rows to fit to, rows held out, and which of several partitions the fold belongs to."""

    kept: CheckedRows
    held: CheckedRows
    partition: int


@dataclass(frozen=True)
class CrossFit:
    """What one candidate said about rows it was not fitted to.

    Attributes
    ----------
    given : (m, K) array of held-out probabilities, fold after fold
    maps : fitted map of every fold
    seconds : time taken
    """

    given: FloatArray
    maps: tuple[Calibrator, ...]
    seconds: float


def make_folds(rows: CheckedRows, partitions: Sequence[int]) -> list[Fold]:
    """Folds of several partitions of the same rows, given by their numbers of folds."""
    total = masses(rows)
    return [
        Fold(some(rows, total - mass), some(rows, mass), number)
        for number, n_folds in enumerate(partitions)
        for mass in held_masses(rows, n_folds, seed=number)
    ]


def cross_fit(
    part: Calibrator,
    folds: Sequence[Fold],
    steps: Iterator[int],
    *,
    until: float | None = None,
) -> CrossFit | str:
    """Fit a copy of `part` to every fold's kept rows, or say why that was not done.

    `steps` is advanced once a fold: it draws the progress bar. `until` is a time of
    `time.perf_counter` at which the last fold would have to be done.
    """
    start = time.perf_counter()
    given: list[FloatArray] = []
    maps: list[Calibrator] = []
    for fold in folds:
        if until is not None and _would_end(start, len(maps), len(folds)) > until:
            return "left out: time was up"
        next(steps, None)
        fitted = fitted_part(_copy(part), fold.kept)
        if fitted is None:
            return "left out: cannot be fitted to parts of these rows"
        given.append(fitted.predict_proba(fold.held.values))
        maps.append(fitted)
    if not maps:
        return "left out: too few rows to hold any out"
    return CrossFit(np.concatenate(given), tuple(maps), time.perf_counter() - start)


def _would_end(start: float, done: int, n_folds: int) -> float:
    """When all folds would be done at the speed so far."""
    now = time.perf_counter()
    return now if done == 0 else start + (now - start) * n_folds / done


def _copy(part: Calibrator) -> Calibrator:
    copy: Calibrator = clone(part)
    copy.keeps_fingerprint = False
    return copy
