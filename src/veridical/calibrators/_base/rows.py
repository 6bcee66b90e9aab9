"""The rows a calibrator is fitted to, checked once, and whether they point the right way."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from veridical._core.data.validation import check_sample, check_scored_rows
from veridical._core.sample import BinarySample, Sample, effective_size, weighted_mean
from veridical._core.typing import Array, ArrayLike, BoolArray, FloatArray, IntArray, WeightType
from veridical.calibrators._base.scales import oriented
from veridical.exceptions import invalid

_CLEARLY = 4.0  # standard errors: about 3 false alarms in 100,000 fits of useless predictions
_FEWEST = 10.0  # rows of each class; the spread of fewer is not known well enough
_ROUNDING = 1e-9  # relative to the largest prediction


@dataclass(frozen=True)
class CheckedRows:
    """Checked rows as every calibrator and every part of one gets them.

    Attributes
    ----------
    values : (n,) or (n, K) predictions; of two classes, the positive one is last
    y : class indices in that order
    weight : float64 array or None
    weight_type : what a weight means
    classes : labels in column order, in which the positive class may be first
    positive : place of the positive class of two among `classes`; 1 if there are more
    codes : (n, features) what each feature of a row is, where a map uses features
    groups : number from 0 of what each row belongs to, which folds keep together; None: to itself
    """

    values: FloatArray
    y: IntArray
    weight: FloatArray | None
    weight_type: WeightType
    classes: tuple[Any, ...]
    positive: int = 1
    codes: IntArray | None = None
    groups: IntArray | None = None

    @classmethod
    def of_sample(cls, sample: Sample) -> CheckedRows:
        """Rows of checked probabilities; both columns of two classes where both were given."""
        values, positive = sample.p, 1
        if isinstance(sample, BinarySample):
            values = sample.p if sample.pair is None else sample.pair
            positive = int(not sample.positive_first)
        return cls(values, sample.y, sample.weight, sample.weight_type, sample.columns, positive)

    @property
    def size(self) -> float:
        """Sample size that counts for anything depending on n."""
        return effective_size(self.weight, len(self.y), self.weight_type)

    @property
    def units(self) -> float:
        """Number of rows, or of groups of them, that count as independent."""
        if self.groups is None:
            return self.size
        weight = np.ones(len(self.y)) if self.weight is None else self.weight
        total = np.bincount(self.groups, weight).astype(np.float64)
        return min(effective_size(total, 0, "importance"), self.size)

    def take(self, rows: Array) -> CheckedRows:
        """Keep some rows (mask or indices)."""
        weight = None if self.weight is None else self.weight[rows]
        codes = None if self.codes is None else self.codes[rows]
        groups = None if self.groups is None else self.groups[rows]
        values, y = self.values[rows], self.y[rows]
        return replace(self, values=values, y=y, weight=weight, codes=codes, groups=groups)

    def by_index(self) -> CheckedRows:
        """The same rows with class indices for labels, as parts of calibrators know them."""
        return replace(self, classes=tuple(range(len(self.classes))), positive=1)

    def of_event(self, values: FloatArray, happened: BoolArray) -> CheckedRows:
        """The same rows with predictions of one event, which happened in a row or did not."""
        y = happened.view(np.uint8)
        return replace(self, values=values, y=y, classes=(False, True), positive=1)

    def oriented(self, input: str) -> FloatArray:
        """Predictions by which rows are known: of two classes, one for the positive class."""
        if self.values.ndim == 1 or len(self.classes) > 2:
            return self.values
        if input == "probability":
            return np.ascontiguousarray(self.values[:, 1])
        return np.asarray(self.values[:, 1] - self.values[:, 0])

    @property
    def index(self) -> IntArray:
        """Class of each row as an index into `classes`."""
        return self.y if self.positive else 1 - self.y

    @property
    def by_label(self) -> tuple[Any, Any]:
        """Labels of the negative and the positive class of two."""
        return self.classes[1 - self.positive], self.classes[self.positive]


@dataclass(frozen=True)
class WeightedOutcomes:
    """Outcomes and weights a map is fitted to.

    Attributes
    ----------
    y : index of each row's class; for binary maps 1 where the positive class occurred
    weight : float64 array or None
    size : sample size for whatever depends on n (ridge/n, smoothing)
    n_classes : number of classes, including absent ones
    """

    y: IntArray
    weight: FloatArray | None
    size: float
    n_classes: int

    @property
    def weights(self) -> FloatArray:
        """Weights that sum to `size`: ones without weights."""
        if self.weight is None:
            return np.ones(len(self.y))
        return self.weight * (self.size / float(self.weight.sum()))


def text_columns(y_prob: Any) -> list[str] | None:
    """Names of the columns of a frame, if they are text; None otherwise."""
    columns = getattr(y_prob, "columns", None)
    if columns is None or isinstance(y_prob, np.ndarray):
        return None
    names = list(columns)
    return names if all(isinstance(name, str) for name in names) else None


NEW_COLUMN = "calibrated"


def check_columns(y_prob: Any, *, caller: str) -> None:
    """Raise if a frame is what another calibrator returned: its columns beside the given ones."""
    names = text_columns(y_prob) or []
    new = [name for name in names if name == NEW_COLUMN or name.startswith(f"{NEW_COLUMN}_")]
    if new and len(new) < len(names):
        hint = "take the new columns alone. A `Pipeline` of calibrators takes arrays, not frames; "
        hint += "or use `ChainedCalibrator`."
        got = f"{new[0]!r} beside {next(name for name in names if name not in new)!r}"
        raise invalid(caller, "y_prob", "predictions of one model", got, hint=hint)


def check_rows(
    y_prob: Any,
    y: Any,
    sample_weight: ArrayLike | None,
    *,
    input: str,
    labels: Any,
    pos_label: Any = None,
    weight_type: WeightType,
    caller: str,
) -> CheckedRows:
    """Check predictions, labels and weights once: the border of every calibrator."""
    check_columns(y_prob, caller=caller)
    options: dict[str, Any] = {
        "caller": caller,
        "labels": labels,
        "pos_label": pos_label,
        "sample_weight": sample_weight,
        "weight_type": weight_type,
    }
    if input == "probability":
        return CheckedRows.of_sample(check_sample(y, y_prob, predictions_first=True, **options))
    rows = check_scored_rows(y, y_prob, **options)
    values, codes = oriented(rows)
    if rows.scores.ndim == 2:
        values = positive_last(rows.scores, rows.positive)
    return CheckedRows(values, codes, rows.weight, weight_type, rows.classes, rows.positive)


def two_columns(values: FloatArray, input: str) -> FloatArray:
    """One column of predictions of the positive class as two, the positive one last."""
    if values.ndim == 2:
        return values
    negative = 1 - values if input == "probability" else np.zeros_like(values)
    return np.column_stack([negative, values])


def top_class(matrix: FloatArray, positive: int) -> IntArray:
    """Most probable class of each row, the first in column order if several are.

    Of two classes the positive one, which has this place in column order, is last in `matrix`.
    """
    if not positive:
        return np.asarray(matrix[:, 1] >= matrix[:, 0], dtype=np.intp)
    return matrix.argmax(axis=1)


def positive_last(values: FloatArray, positive: int) -> FloatArray:
    """Turn the columns of two classes if the positive one comes first; or turn them back."""
    return values if positive else values[:, ::-1]


def points_away(
    values: FloatArray, y: Array, weight: FloatArray | None, weight_type: WeightType
) -> bool:
    """Whether predictions are clearly lower where y is 1 than where it is 0.

    Clearly is by four standard errors of the difference of two means (Welch), with effective sizes
    of weighted rows. With less than ten rows of a class the answer is no. O(n).

    Examples
    --------
    >>> p, y = np.repeat([0.9, 0.1], 20), np.repeat([1, 0], 20)
    >>> points_away(p, y, None, "importance"), points_away(p, 1 - y, None, "importance")
    (False, True)
    """
    scale = float(np.abs(values).max())
    if scale == 0:
        return False
    means, variance = [], 0.0
    for outcome in (0, 1):
        rows = np.flatnonzero(y == outcome)
        part = values[rows].astype(np.float64) / scale
        own = None if weight is None else weight[rows]
        if len(part) == 0 or (size := effective_size(own, len(part), weight_type)) < _FEWEST:
            return False
        means.append(weighted_mean(part, own))
        variance += weighted_mean((part - means[-1]) ** 2, own) / (size - 1)
    return means[1] - means[0] < -_CLEARLY * math.sqrt(variance) - _ROUNDING


def direction_doubts(rows: CheckedRows, *, caller: str, pos_label: Any) -> tuple[str, ...]:
    """A sentence if one column of predictions points away from the class it is said to be of."""
    if rows.values.ndim == 2 or not points_away(rows.values, rows.y, rows.weight, rows.weight_type):
        return ()
    other, positive = (repr(label) for label in rows.by_label)
    doubt = f"{caller}: predictions are lower where {positive} happened, the class they are of"
    if pos_label is None:
        doubt += f" unless you say otherwise; if they are of {other}, pass pos_label={other}"
    return (f"{doubt}.",)
