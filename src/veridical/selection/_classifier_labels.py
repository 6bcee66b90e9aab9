"""Several labels a row, each true or not: one map a label."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from veridical._core.typing import Array, ArrayLike, FloatArray
from veridical.calibrators import Calibrator


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

    def fit(self, values: Array, y: Array, sample_weight: ArrayLike | None) -> LabelwiseMaps:
        """Fit a copy to each column of values and of outcomes."""
        self.parts = [
            clone(self._calibrator).fit(column, outcomes, sample_weight)
            for column, outcomes in zip(values.T, y.T, strict=True)
        ]
        return self

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
