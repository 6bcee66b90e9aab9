"""Calibrators fitted and compared beside the server, with progress and a way to stop."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np

from veridical._core.data.left_out import LeftOut
from veridical.calibrators import Calibrator, IdentityCalibrator
from veridical.calibrators.core import fit_rows
from veridical.evaluation.core import compare_held_out, held_out_source, own_predictions
from veridical.evaluation.data import SampleSource
from veridical.exceptions import VeridicalError
from veridical.results import Comparison
from veridical.selection.core import CrossFit, Fold, calibrator_named, cross_fit, make_folds
from veridical.studio._data.session import Dataset

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
            error = {"error": "", "hint": ""}
            if self._error is not None:
                error = {"error": self._error.problem, "hint": self._error.hint}
            return known | {"what": self._what} | error

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
        data, rows = self._data, self._data.rows
        n_classes, named = len(rows.classes), data.source.named
        told = {"labels": list(rows.classes), "pos_label": data.positive}
        folds = make_folds(rows, (self.n_folds,))
        before = self._held_out(BEFORE, IdentityCalibrator(), folds)
        if isinstance(before, LeftOut):
            msg = f"the rows cannot be held out in parts: {before.reason}"
            raise VeridicalError(msg)
        models = {BEFORE: held_out_source(before.given, rows, folds, named=named)}
        fitted: dict[str, Calibrator] = {}
        own: dict[str, SampleSource] = {}
        for name in self.methods:
            part = calibrator_named(name, n_classes, caller="studio", param="methods")
            held = self._held_out(name, part, folds)
            if isinstance(held, LeftOut):
                self.left_out[name] = held.reason
                continue
            models[name] = held_out_source(held.given, rows, folds, named=named)
            self._step(f"{name}: fitting to all rows")
            fitted[name] = calibrator_named(name, n_classes).set_params(**told)
            fit_rows(fitted[name], rows)
            fitted[name].feature_names_in_ = np.asarray(data.mapping.prob)
            fitted[name].outcome_name_ = data.mapping.y
            seen = own_predictions(fitted[name], folds)
            own[name] = held_out_source(seen, rows, folds, named=named)
        self._step("comparing")
        return fitted, compare_held_out(models, BEFORE, own, len(folds))

    def _held_out(self, name: str, part: Calibrator, folds: list[Fold]) -> CrossFit | LeftOut:
        return cross_fit(part, folds, self._steps(name, len(folds)))

    def _steps(self, name: str, n_folds: int) -> Iterator[int]:
        for fold in range(n_folds):
            self._step(f"{name}: fold {fold + 1} of {n_folds}")
            yield fold

    def _step(self, what: str) -> None:
        if self._stop.is_set():
            raise _Stopped
        with self._lock:
            self._done, self._what = self._done + 1, what
