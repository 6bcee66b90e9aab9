"""Pairs of a fitted model and the map that was fitted to what it said of other rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from veridical._core.typing import Array, FloatArray, IntArray
from veridical._core.validation import check_option
from veridical.calibrators import Calibrator
from veridical.calibrators._direction import direction_known
from veridical.exceptions import invalid
from veridical.selection._classifier_labels import LabelwiseMaps
from veridical.selection._classifier_response import (
    Reading,
    Wish,
    choose_reading,
    read,
    to_probabilities,
)
from veridical.selection._classifier_splits import Split
from veridical.selection._classifier_target import Target
from veridical.selection._names import calibrator_named, for_classes

CALLER = "CalibratedClassifier"
RESPONSES = ("auto", "probability", "decision")


@dataclass(frozen=True)
class Pair:
    """A fitted model with its map.

    Attributes
    ----------
    estimator : the model
    calibrator : Calibrator, or LabelwiseMaps for several labels a row
    reading : Reading, what of the model the map takes
    """

    estimator: Any
    calibrator: Calibrator | LabelwiseMaps
    reading: Reading

    def predict_proba(self, X: Any, classes: Array) -> FloatArray:
        """Calibrated probabilities of rows."""
        multilabel = isinstance(self.calibrator, LabelwiseMaps)
        values = read(self.estimator, X, self.reading, classes, multilabel=multilabel)
        return self.calibrator.predict_proba(values)


@dataclass(frozen=True)
class Task:
    """Everything a pair is fitted from.

    Attributes
    ----------
    estimator : Any
        Not fitted, unless it is used as it is.
    X, target, weight
        Rows.
    fit_params : dict
        Handed on to the estimator; entries of one value a row are split like rows.
    calibrator, response : Any
        Parameters of the classifier.
    """

    estimator: Any
    X: Any
    target: Target
    weight: FloatArray | None
    fit_params: dict[str, Any]
    calibrator: Any
    response: str

    def check(self) -> None:
        """Raise if the parameters cannot be used, before anything is fitted."""
        check_option(CALLER, "response", self.response, RESPONSES)
        blank = self.blank_map()
        if self.response == "probability" and self.wish(blank).own_input in ("logit", "score"):
            hint = "leave one of them at its default."
            got = f"{self.response!r} with a calibrator of input={blank.input!r}"
            raise invalid(CALLER, "response", "what the calibrator takes", got, hint=hint)

    def blank_map(self) -> Calibrator:
        """Map of two or more classes, not fitted."""
        given, n_classes = self.calibrator, self.target.n_classes
        if isinstance(given, str):
            return calibrator_named(given, n_classes, caller=CALLER, param="calibrator")
        if not isinstance(given, Calibrator):
            got = f"the class {given.__name__}" if isinstance(given, type) else repr(given)
            hint = 'e.g. `calibrator="platt"` or `calibrator=PlattCalibrator()`.'
            raise invalid(CALLER, "calibrator", "a name or a calibrator", got, hint=hint)
        return for_classes(clone(given), n_classes)

    def wish(self, blank: Calibrator) -> Wish:
        """What a map wants to read."""
        own = None if isinstance(self.calibrator, str) else blank.input
        return Wish(self.response, own, _inputs_of(blank))

    def fitted_model(self, train: IntArray) -> Any:
        """Copy of the estimator, fitted to some rows."""
        from sklearn.utils.metaestimators import _safe_split

        X, y = _safe_split(self.estimator, self.X, self.target.y, train)
        return clone(self.estimator).fit(X, y, **_rows_of(self.fit_params, train, self.target.y))

    def said_of(
        self, model: Any, test: IntArray, train: IntArray | None
    ) -> tuple[Reading, FloatArray]:
        """What a model says of rows, and how it was read."""
        from sklearn.utils.metaestimators import _safe_split

        X, _ = _safe_split(model, self.X, self.target.y, test, train)
        classes, multilabel = self.target.classes, self.target.multilabel
        reading = choose_reading(model, X, classes, self.wish(self.blank_map()), caller=CALLER)
        return reading, read(model, X, reading, classes, multilabel=multilabel)

    def fitted_map(
        self, values: FloatArray, kind: str, rows: IntArray
    ) -> Calibrator | LabelwiseMaps:
        """Map from what models said of rows to their outcomes."""
        y, weight = self.target.y[rows], None if self.weight is None else self.weight[rows]
        labels = np.array([0, 1]) if self.target.multilabel else self.target.classes
        blank = self.blank_map().set_params(input=kind, labels=labels)
        if not isinstance(self.calibrator, str):
            blank.keeps_fingerprint = self.calibrator.keeps_fingerprint
        with direction_known():  # the model says which column is whose
            if self.target.multilabel:
                return LabelwiseMaps(blank).fit(values, y, weight)
            return blank.fit(values, y, weight)


def fit_pair(task: Task, split: Split) -> Pair:
    """Train a model on some rows and calibrate it on others."""
    train, test = split
    model = task.fitted_model(train)
    reading, values = task.said_of(model, test, train)
    return Pair(model, task.fitted_map(values, reading.kind, test), reading)


def pair_of_fitted(task: Task, rows: IntArray) -> Pair:
    """Calibrate a model that is fitted already."""
    reading, values = task.said_of(task.estimator, rows, None)
    return Pair(task.estimator, task.fitted_map(values, reading.kind, rows), reading)


def fit_or_foretell(task: Task, train: IntArray, test: IntArray | None) -> Any:
    """A model trained on `train`; with `test`, only what it says of those rows."""
    model = task.fitted_model(train)
    return model if test is None else task.said_of(model, test, train)


def single_pair(
    task: Task, said: list[tuple[Reading, FloatArray]], splits: list[Split], model: Any
) -> Pair:
    """One map from what the models of all folds said of rows they had not seen."""
    reading = said[0][0]
    if any(other != reading for other, _ in said):  # one fold lacks a class, say
        multilabel = task.target.multilabel
        said = [(how, _as_probabilities(how, v, multilabel=multilabel)) for how, v in said]
        reading = Reading("predict_proba", "probability")
    values = np.concatenate([values for _, values in said])
    rows = np.concatenate([test for _, test in splits])
    order = np.argsort(rows, kind="stable")
    return Pair(model, task.fitted_map(values[order], reading.kind, rows[order]), reading)


def _as_probabilities(reading: Reading, values: FloatArray, *, multilabel: bool) -> FloatArray:
    return (
        values if reading.kind == "probability" else to_probabilities(values, multilabel=multilabel)
    )


def _inputs_of(calibrator: Calibrator) -> tuple[str, ...]:
    """Kinds of predictions that a calibrator and the ones inside it all take."""
    inner = getattr(calibrator, "calibrator", None)
    if not isinstance(inner, Calibrator):
        return calibrator._inputs
    return tuple(kind for kind in _inputs_of(inner) if kind in calibrator._inputs)


def _rows_of(params: dict[str, Any], rows: IntArray, y: Array) -> dict[str, Any]:
    """Parameters of `fit` for some rows: those of one value a row are cut, others kept."""
    from sklearn.utils import _safe_indexing

    return {
        name: _safe_indexing(value, rows) if _is_of_rows(value, len(y)) else value
        for name, value in params.items()
    }


def _is_of_rows(value: Any, n_rows: int) -> bool:
    if isinstance(value, (str, bytes, dict)):
        return False
    shape = getattr(value, "shape", None)
    if shape is not None:
        return len(shape) > 0 and shape[0] == n_rows
    return hasattr(value, "__len__") and len(value) == n_rows
