"""How values are read at the border: their scale, missing ones, and rows that do not sum to one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np

from veridical._core.data.arrays import NamedArray, missing_values, to_numpy
from veridical._core.data.classes import declared_order
from veridical._core.data.columns import names_of
from veridical._core.data.faults import at_first
from veridical._core.data.options import check_flag, check_integer
from veridical._core.data.validation import check_option, float_array
from veridical._core.typing import BoolArray, FloatArray
from veridical.exceptions import invalid

Scale: TypeAlias = Literal["probability", "percent", "logit", "logprob"]
Missing: TypeAlias = Literal["error", "drop"]

SCALES = ("probability", "percent", "logit", "logprob")
MISSING = ("error", "drop")


@dataclass(frozen=True)
class Reading:
    """What a user said of how values are to be read; parameters of functions by the same names.

    Attributes
    ----------
    scale : what predictions are; percentages, logits and logarithms become probabilities
    missing : whether a row without a label, a prediction or a weight is an error, or dropped
    normalize : whether rows of several predictions are divided by their sums
    by_bins : parts of equal size that a column of many different floats is cut into as groups
    """

    scale: Scale = "probability"
    missing: Missing = "error"
    normalize: bool = False
    by_bins: int = 4

    def checked(self, *, caller: str) -> Reading:
        """Raise unless every one of them is known."""
        check_option(caller, "scale", self.scale, SCALES)
        check_option(caller, "missing", self.missing, MISSING)
        check_flag(caller, "normalize", self.normalize)
        check_integer(caller, "by_bins", self.by_bins, least=2, hint="4 makes quartiles.")
        return self

    @property
    def converts(self) -> bool:
        """Whether predictions are anything but used as they are."""
        return self.scale != "probability" or self.normalize

    def probabilities(self, values: FloatArray, *, caller: str, param: str) -> FloatArray:
        """Predictions on the scale of probabilities; missing ones stay missing."""
        if self.scale == "percent":
            _check_percentages(values, caller, param)
            values = values / values.dtype.type(100)
        elif self.scale == "logit":
            values = _from_logits(values, caller, param)
        elif self.scale == "logprob":
            _check_logarithms(values, caller, param)
            values = np.exp(values.astype(np.float64, copy=False))
        if self.normalize and values.ndim == 2 and values.shape[1] > 1:
            values = _normalized(values, caller, param)
        return values


AS_IT_IS = Reading()


def _check_percentages(values: FloatArray, caller: str, param: str) -> None:
    bad = (values < 0) | (values > 100)
    if bad.any():
        hint = 'percentages go from 0 to 100; for logits pass `scale="logit"`.'
        raise invalid(caller, param, "in [0, 100]", at_first(values, bad), hint=hint)


def _check_logarithms(values: FloatArray, caller: str, param: str) -> None:
    bad = values > 0
    if bad.any():
        hint = 'logarithms of probabilities are 0 or less; for logits pass `scale="logit"`.'
        raise invalid(caller, param, "at most 0", at_first(values, bad), hint=hint)


def _from_logits(values: FloatArray, caller: str, param: str) -> FloatArray:
    """Sigmoid of one column, softmax of several."""
    from scipy.special import expit, softmax

    z = values.astype(np.float64, copy=False)
    bad = np.isinf(z)
    if bad.any():
        hint = "logits are finite numbers."
        raise invalid(caller, param, "finite", at_first(values, bad), hint=hint)
    if z.ndim == 1 or z.shape[1] == 1:
        return np.asarray(expit(z))
    return np.asarray(softmax(z, axis=1))


def _normalized(values: FloatArray, caller: str, param: str) -> FloatArray:
    bad = values < 0
    sums = values.sum(axis=1, dtype=np.float64)
    if bad.any():
        hint = 'nothing below zero can be divided; for logits pass `scale="logit"`.'
        raise invalid(caller, param, "non-negative", at_first(values, bad), hint=hint)
    if (sums == 0).any():
        got = f"a sum of {at_first(sums, sums == 0, what='rows')}"
        hint = "drop the rows in which nothing is predicted."
        raise invalid(caller, param, "rows with a positive sum", got, hint=hint)
    return np.asarray(values / sums[:, None].astype(values.dtype))


@dataclass(frozen=True, eq=False)
class ReadRows:
    """Labels, predictions and weights after they were read.

    Attributes
    ----------
    y_true, y_prob, sample_weight : those of the rows that are left
    left : which of the rows given they are; None if all
    notes : what was done to them, in words
    """

    y_true: Any
    y_prob: Any
    sample_weight: Any
    left: BoolArray | None = None
    notes: tuple[str, ...] = field(default=())


def read_rows(
    y_true: Any, y_prob: Any, sample_weight: Any, reading: Reading, *, caller: str
) -> ReadRows:
    """Drop and convert as asked; what is wrong with the values is left to their check.

    Examples
    --------
    >>> how = Reading(scale="percent", missing="drop")
    >>> rows = read_rows([0, 1, 1], [20.0, None, 90.0], None, how, caller="f")
    >>> rows.y_prob.tolist(), rows.notes
    ([0.2, 0.9], ("1 of 3 rows dropped: 1 without 'y_prob'", 'percentages were divided by 100'))
    """
    if reading.missing == "error" and not reading.converts:
        return ReadRows(y_true, y_prob, sample_weight)
    values = float_array(y_prob, caller=caller, param="y_prob")
    names = names_of(y_prob)
    left, notes = None, []
    if reading.missing == "drop":
        marks = _missing(y_true, values, sample_weight, names, caller)
        left = None if marks is None else ~np.logical_or.reduce(list(marks.values()))
        if marks is not None and left is not None and not left.all():
            notes.append(dropped_in_words(len(left), int((~left).sum()), counts(marks)))
            y_true, values = _taken(y_true, left, caller), values[left]
            if sample_weight is not None:
                sample_weight = to_numpy(sample_weight, caller=caller, param="sample_weight")[left]
        else:
            left = None
    before = values
    values = reading.probabilities(values, caller=caller, param="y_prob")
    notes += conversion_in_words(reading, before)
    given = values if names is None else NamedArray(values, names)
    return ReadRows(y_true, given, sample_weight, left, tuple(notes))


def _missing(
    y_true: Any, values: FloatArray, sample_weight: Any, names: Any, caller: str
) -> dict[str, BoolArray] | None:
    """Rows without a value, by column; None if lengths differ, which their check says."""
    y = to_numpy(y_true, caller=caller, param="y_true")
    y = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
    label = (names_of(y_true) or ("y_true",))[0]
    marks = {label: missing_values(y)}
    if values.ndim == 1 or values.shape[1] == 1:
        marks[(names or ("y_prob",))[0]] = np.isnan(values.reshape(-1))
    elif values.ndim == 2:
        known = names if names is not None and len(names) == values.shape[1] else None
        for k in range(values.shape[1]):
            marks[f"y_prob[:, {k}]" if known is None else known[k]] = np.isnan(values[:, k])
    if sample_weight is not None:
        weight = to_numpy(sample_weight, caller=caller, param="sample_weight").reshape(-1)
        marks[(names_of(sample_weight) or ("sample_weight",))[0]] = missing_values(weight)
    same = all(mark.shape == (len(values),) for mark in marks.values())
    return marks if same else None


def _taken(y_true: Any, left: BoolArray, caller: str) -> NamedArray:
    y = to_numpy(y_true, caller=caller, param="y_true").reshape(-1)[left]
    return NamedArray(y, names_of(y_true) or (), declared_order(y_true))


def counts(marks: dict[str, BoolArray]) -> dict[str, int]:
    """Rows without a value, by column."""
    return {name: int(mark.sum()) for name, mark in marks.items()}


def dropped_in_words(n_rows: int, n_dropped: int, by_column: dict[str, int]) -> str:
    """What was dropped, and for want of what; a row may lack several values.

    Examples
    --------
    >>> dropped_in_words(1000, 3, {"label": 2, "p": 1, "w": 0})
    "3 of 1,000 rows dropped: 2 without 'label', 1 without 'p'"
    """
    parts = [f"{count:,} without {name!r}" for name, count in by_column.items() if count]
    return f"{n_dropped:,} of {n_rows:,} rows dropped: {', '.join(parts)}"


def conversion_in_words(reading: Reading, before: FloatArray | None = None) -> list[str]:
    """What was done to all predictions, and a doubt about it."""
    notes = []
    if reading.scale == "percent":
        notes.append("percentages were divided by 100")
        if before is not None and before.size and float(np.nanmax(before)) <= 1:
            notes[-1] += ", though none is above 1: are they probabilities already?"
    if reading.scale == "logit":
        notes.append("logits were turned into probabilities (sigmoid of one column, else softmax)")
    if reading.scale == "logprob":
        notes.append("log probabilities were turned into probabilities")
    if reading.normalize and (before is None or (before.ndim == 2 and before.shape[1] > 1)):
        notes.append("rows were divided by their sums")
    return notes
