"""Calibrators fitted and compared beside the server, with progress and a way to stop."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np

from veridical.calibrators import Calibrator, IdentityCalibrator
from veridical.calibrators.core import CheckedRows, check_rows, positive_column, warn_of
from veridical.evaluation import compare
from veridical.exceptions import VeridicalError
from veridical.results import Comparison
from veridical.selection.core import Fold, calibrator_named, cross_fit, make_folds
from veridical.studio._data.dataset import Dataset

BEFORE = "as given"


class _Stopped(Exception):
    """The reader has cancelled."""


class Fit:
    """One comparison of calibrators on held-out folds.

    Parameters
    ----------
    data : what to fit to; the fitted calibrators and the comparison are put there
    methods : names of calibrators
    n_folds : parts that are held out one after the other
    """

    def __init__(self, data: Dataset, methods: list[str], n_folds: int) -> None:
        self._data, self.methods, self.n_folds = data, methods, n_folds
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._done, self._total = 0, (len(methods) + 1) * n_folds + len(methods) + 1
        self._what, self._state = "starting", "running"
        self._error: VeridicalError | None = None
        self.left_out: dict[str, str] = {}
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """Begin; returns at once."""
        self._thread.start()

    def cancel(self) -> None:
        """Stop at the end of the fold at hand; its result is thrown away."""
        self._stop.set()
        with self._lock:
            if self._state == "running":
                self._state = "cancelled"

    def progress(self) -> dict[str, Any]:
        """How far it is: "running", "done", "cancelled" or "failed"."""
        with self._lock:
            known = {"state": self._state, "done": self._done, "total": self._total}
            message, _, hint = str(self._error or "").partition("\nHint: ")
            return known | {"what": self._what, "error": message, "hint": hint}

    def _run(self) -> None:
        try:
            fitted, comparison = self._fitted()
        except _Stopped:
            return
        except VeridicalError as error:
            with self._lock:
                self._error, self._state = error, "failed"
            return
        except Exception as error:  # the reader must not wait for a thread that is gone
            with self._lock:
                self._error = VeridicalError(f"the fit ended with {type(error).__name__}: {error}")
                self._state = "failed"
            raise
        with self._lock:
            if self._state == "running":
                self._data.fitted, self._data.comparison = fitted, comparison
                self._data.picked = None
                self._done, self._state = self._total, "done"

    def _fitted(self) -> tuple[dict[str, Calibrator], Comparison]:
        data = self._data
        labels = np.asarray(data.sample.columns).tolist()
        if data.one_column:
            labels = sorted(labels)
        values, outcomes, weight = data.values, data.outcomes, data.sample.weight
        rows = check_rows(
            values,
            outcomes,
            weight,
            input="probability",
            labels=labels,
            weight_type="importance",
            caller="AutoCalibrator",
        )
        folds = make_folds(rows, (self.n_folds,))
        given = {BEFORE: self._held_out(BEFORE, IdentityCalibrator(), folds)}
        fitted: dict[str, Calibrator] = {}
        n_classes = len(labels)
        for name in self.methods:
            part = calibrator_named(name, n_classes, caller="studio", param="methods")
            held = self._held_out(name, part, folds)
            if isinstance(held, str):
                self.left_out[name] = held.removeprefix("left out: ")
                continue
            given[name] = held
            self._step(f"{name}: fitting to all rows")
            calibrator = calibrator_named(name, n_classes).set_params(labels=labels)
            fitted[name] = calibrator.fit(values, outcomes, weight)
            fitted[name].feature_names_in_ = np.asarray(data.mapping.prob)
        self._step("comparing")
        return fitted, self._compared(given, rows, folds)

    def _held_out(self, name: str, part: Calibrator, folds: list[Fold]) -> Any:
        found = cross_fit(part, folds, self._steps(name, len(folds)))
        if isinstance(found, str):
            return found
        warn_of(found.notes)
        return found.given

    def _steps(self, name: str, n_folds: int) -> Iterator[int]:
        for fold in range(n_folds):
            self._step(f"{name}: fold {fold + 1} of {n_folds}")
            yield fold

    def _step(self, what: str) -> None:
        if self._stop.is_set():
            raise _Stopped
        with self._lock:
            self._done, self._what = self._done + 1, what

    def _compared(self, given: dict[str, Any], rows: CheckedRows, folds: list[Fold]) -> Comparison:
        classes = rows.classes
        if len(classes) == 2 and not positive_column(classes):
            classes = classes[::-1]  # rows have the positive class last
        held = [fold.held for fold in folds]
        weights = [part.weight for part in held if part.weight is not None]
        return compare(
            given,
            np.asarray(classes)[np.concatenate([part.y for part in held])],
            reference=BEFORE,
            labels=list(classes),
            sample_weight=np.concatenate(weights) if weights else None,
        )
