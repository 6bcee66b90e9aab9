"""Calibrators made of other calibrators."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from veridical._core.sample import BinarySample, effective_size
from veridical._core.score_border import check_scored_rows
from veridical._core.typing import Array, FloatArray, IntArray, WeightType
from veridical._core.validation import check_sample
from veridical.calibrators._calibrator import Calibrator
from veridical.calibrators._direction import direction_known, doubt_direction
from veridical.calibrators._orientation import oriented, positive_column
from veridical.exceptions import InvalidInputError, invalid

_HANDED_ON = {"labels": None, "input": "probability", "weight_type": "importance"}


@dataclass(frozen=True)
class CheckedRows:
    """Checked rows as every part gets them.

    Attributes
    ----------
    values : (n,) or (n, K) predictions; of two classes, the positive one is last
    y : class indices in that order
    weight : float64 array or None
    weight_type : what a weight means
    classes : labels in column order, in which the positive class may be first
    """

    values: FloatArray
    y: IntArray
    weight: FloatArray | None
    weight_type: WeightType
    classes: tuple[Any, ...]

    @property
    def size(self) -> float:
        """Sample size that counts for anything depending on n."""
        return effective_size(self.weight, len(self.y), self.weight_type)

    def take(self, rows: Array) -> CheckedRows:
        """Keep some rows (mask or indices)."""
        weight = None if self.weight is None else self.weight[rows]
        return replace(self, values=self.values[rows], y=self.y[rows], weight=weight)


class WrappingCalibrator(Calibrator):
    """A calibrator made of fitted copies of another one.

    `input`, `labels` and `weight_type` are set on the wrapper; it hands them on.
    """

    calibrator: Any

    @abstractmethod
    def _fit_checked(self, rows: CheckedRows) -> None:
        """Fit the parts."""

    @abstractmethod
    def _combine(self, values: FloatArray) -> FloatArray:
        """Return calibrated probabilities (n, K), of two classes the positive one last."""

    def _fit_probabilities(self, y_prob: Any, y: Any, sample_weight: Any) -> None:
        self._fit_and_keep(self._checked_rows(y_prob, y, sample_weight))

    def _fit_scores(self, y_prob: Any, y: Any, sample_weight: Any) -> None:
        self._fit_and_keep(self._checked_rows(y_prob, y, sample_weight))

    def _fit_and_keep(self, rows: CheckedRows) -> None:
        doubt_direction(rows.values, rows.y, rows.weight, rows.weight_type, rows.classes)
        self._fit_checked(rows)
        self.classes_ = np.asarray(rows.classes)

    def _checked_rows(self, y_prob: Any, y: Any, sample_weight: Any) -> CheckedRows:
        options = {
            "caller": type(self).__name__,
            "labels": self.labels,
            "sample_weight": sample_weight,
            "weight_type": self.weight_type,
        }
        if self.input == "probability":
            sample = check_sample(y, y_prob, **options)
            values = sample.p
            if isinstance(sample, BinarySample) and sample.pair is not None:
                values = sample.pair
            self._remember(sample.p, sample.y)
            return CheckedRows(values, sample.y, sample.weight, self.weight_type, sample.columns)
        rows = check_scored_rows(y, y_prob, **options)
        values, codes = oriented(rows)
        self._remember(values, codes)
        if rows.scores.ndim == 2:
            values = positive_last(rows.scores, rows.classes)
        return CheckedRows(values, codes, rows.weight, self.weight_type, rows.classes)

    def _predict(self, values: FloatArray) -> FloatArray:
        classes = tuple(self.classes_)
        if values.ndim == 2:
            values = positive_last(values, classes)
        return positive_last(self._combine(values), classes)  # turning twice is not turning

    def _part(self, given: Any = None, *, input: str | None = None) -> Calibrator:
        """Copy of a wrapped calibrator, not fitted, that takes what the wrapper was given."""
        caller, given = type(self).__name__, self.calibrator if given is None else given
        if not isinstance(given, Calibrator):
            hint = f"e.g. `{caller}(PlattCalibrator())`."
            got = f"the class {given.__name__}" if isinstance(given, type) else repr(given)
            raise invalid(caller, "calibrator", "a calibrator", got, hint=hint)
        for name, default in _HANDED_ON.items():
            value = getattr(given, name)
            if value is not default and value != default and value != getattr(self, name):
                hint = f"set it on the wrapper: `{caller}(..., {name}=...)`."
                got = f"one with {name}={value!r}"
                raise invalid(caller, "calibrator", f"one without its own `{name}`", got, hint=hint)
        part: Calibrator = clone(given)
        part.set_params(input=input or self.input, weight_type=self.weight_type)
        part.keeps_fingerprint = False
        return part


def fitted_part(part: Calibrator, rows: CheckedRows) -> Calibrator | None:
    """Fit a part to some of the rows; None if they do not allow it, e.g. are of one class."""
    try:
        with direction_known():
            return part.fit(rows.values, rows.y, rows.weight)
    except InvalidInputError:
        return None


def two_columns(values: FloatArray, input: str) -> FloatArray:
    """One column of predictions of the positive class as two, the positive one last."""
    if values.ndim == 2:
        return values
    negative = 1 - values if input == "probability" else np.zeros_like(values)
    return np.column_stack([negative, values])


def top_class(matrix: FloatArray, classes: tuple[Any, ...]) -> IntArray:
    """Most probable class of each row, the first in column order if several are."""
    if len(classes) == 2 and not positive_column(classes):
        return np.asarray(matrix[:, 1] >= matrix[:, 0], dtype=np.intp)
    return matrix.argmax(axis=1)


def positive_last(values: FloatArray, classes: tuple[Any, ...]) -> FloatArray:
    """Turn the columns of two classes if the positive one comes first."""
    turned = len(classes) == 2 and not positive_column(classes)
    return values[:, ::-1] if turned else values
