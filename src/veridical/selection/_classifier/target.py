"""Outcomes of a classifier: one class a row, or several labels, each with a map of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from veridical._core.data.labels import check_label_array
from veridical._core.typing import Array, ArrayLike, FloatArray, IntArray
from veridical.calibrators import Calibrator
from veridical.calibrators.core import Notes, fit_settled
from veridical.exceptions import invalid


@dataclass(frozen=True)
class ClassifierTarget:
    """Checked outcomes.

    Attributes
    ----------
    y : labels (n,), or an indicator matrix (n, L)
    classes : sorted labels; 0..L-1 of an indicator matrix
    multilabel : whether `y` is an indicator matrix
    """

    y: Array
    classes: Array
    multilabel: bool

    @property
    def n_classes(self) -> int:
        """Classes each map is about: two of a label that is true or not."""
        return 2 if self.multilabel else len(self.classes)


def check_target(y: Any, n_rows: int, *, caller: str) -> ClassifierTarget:
    """Check the outcomes of `n_rows` rows."""
    from sklearn.utils import column_or_1d
    from sklearn.utils.multiclass import type_of_target

    kind = type_of_target(y, input_name="y")
    if kind.startswith("continuous") or kind == "multiclass-multioutput":
        hint = "pass class labels, or an indicator matrix of labels that are each true or not."
        raise invalid(caller, "y", "class labels", f"Unknown label type: {kind}", hint=hint)
    if kind == "multilabel-indicator":
        matrix = np.asarray(y.toarray() if hasattr(y, "toarray") else y)
        target = ClassifierTarget(matrix, np.arange(matrix.shape[1]), multilabel=True)
    else:
        labels = check_label_array(column_or_1d(y, warn=True), caller=caller)
        target = ClassifierTarget(labels, np.unique(labels), multilabel=False)
    if len(target.y) != n_rows:
        got = f"{len(target.y)} labels for {n_rows} rows"
        raise invalid(caller, "y", "as long as `X`", got, hint="pass one label per row of `X`.")
    return target


def to_be_learnt(target: ClassifierTarget, kept: IntArray, *, caller: str) -> ClassifierTarget:
    """Outcomes with the classes of the rows that count, which must be two or more."""
    if target.multilabel:
        return target
    classes = np.unique(target.y[kept])
    if len(classes) < 2:
        hint = "fit on rows of at least two classes."
        got = f"only one class: {classes.tolist()}"
        raise invalid(caller, "y", "of at least two classes", got, hint=hint)
    return ClassifierTarget(target.y, classes, multilabel=False)


def known_to_model(target: ClassifierTarget, estimator: Any, *, caller: str) -> ClassifierTarget:
    """Outcomes among the classes of a fitted model, some of which may be absent."""
    own = getattr(estimator, "classes_", None)
    if own is None or target.multilabel:
        return target
    classes = np.unique(np.asarray(own))
    strange = np.setdiff1d(target.classes, classes)
    if len(strange):
        hint = f"the model was fitted on {classes.tolist()[:6]}."
        got = f"{strange.tolist()[:6]}"
        raise invalid(caller, "y", "of classes that the fitted model knows", got, hint=hint)
    return ClassifierTarget(target.y, classes, multilabel=False)


class LabelwiseMaps:
    """Copies of a calibrator, one for each column of an indicator matrix.

    Attributes
    ----------
    parts : list of Calibrator
        Fitted maps in the order of the columns.
    """

    def __init__(self, calibrator: Calibrator) -> None:
        self._calibrator = calibrator
        self.parts: list[Calibrator] = []

    def fit(self, values: Array, y: Array, sample_weight: ArrayLike | None) -> Notes:
        """Fit a copy to each column of values and of outcomes."""
        notes: Notes = ()
        self.parts = []
        for column, outcomes in zip(values.T, y.T, strict=True):
            part: Calibrator = clone(self._calibrator)
            notes += fit_settled(part, column, outcomes, sample_weight)
            self.parts.append(part)
        return notes

    def predict_proba(self, values: Array) -> FloatArray:
        """Probability of each label, (n, L); rows do not sum to one."""
        columns = zip(self.parts, values.T, strict=True)
        return np.column_stack([part.predict_proba(column)[:, 1] for part, column in columns])


def label_columns(values: Any, own_classes: Any, n_labels: int) -> Array:
    """Values of each label, (n, L), from an array or from one array a label.

    Of two columns a label, as forests give, the one of outcome 1 is taken; a label that was always
    or never true in training has one column.
    """
    if not isinstance(values, list):
        return np.asarray(values)
    columns = np.empty((len(values[0]), n_labels))
    for j, matrix in enumerate(values):
        known = np.asarray(own_classes[j]).tolist() if isinstance(own_classes, list) else [0, 1]
        columns[:, j] = matrix[:, known.index(1)] if 1 in known else 0.0
    return columns
