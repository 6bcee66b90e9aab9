"""One number for every class, as users write it: a float, a list or a mapping."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.data.arrays import to_numpy
from veridical._core.data.classes import arranged_as
from veridical._core.data.labels import find_label, positive_class
from veridical._core.data.validation import check_probabilities, float_array, is_number
from veridical._core.typing import Array, ArrayLike, FloatArray
from veridical.exceptions import invalid

_SUM = 1e-6  # priors sum to one within this, and are used as given


@dataclass(frozen=True, kw_only=True)
class ClassColumns:
    """Predictions without outcomes, and what is known of their classes.

    Attributes
    ----------
    p : (n,) of the positive class or (n, K)
    labels : label of each column, or None if nobody said
    positive : column of the positive class; of use for two classes only
    """

    p: FloatArray
    labels: tuple[Any, ...] | None
    positive: int

    @property
    def n_classes(self) -> int:
        """Number of classes, two for a single column."""
        return self.p.shape[1] if self.p.ndim == 2 else 2

    @property
    def matrix(self) -> FloatArray:
        """Probabilities of all classes, (n, K)."""
        if self.p.ndim == 2:
            return self.p
        pair = np.column_stack([1 - self.p, self.p])
        return pair if self.positive == 1 else pair[:, ::-1]


def check_columns(
    y_prob: ArrayLike,
    *,
    labels: ArrayLike | None,
    pos_label: Any,
    caller: str,
    source: str = "labels",
) -> ClassColumns:
    """Check predictions that come without outcomes; parameter `source` gave their labels."""
    p = float_array(y_prob, caller=caller, param="y_prob")
    p = check_probabilities(p, caller=caller, rounded=True)
    n_classes = p.shape[1] if p.ndim == 2 else 2
    names = None if labels is None else _check_labels(labels, n_classes, caller, source)
    known = tuple(range(n_classes)) if names is None else names
    if names is not None:
        p = arranged_as(p, y_prob, names, caller=caller)
    one_column_of = labels if p.ndim == 1 else None
    positive = positive_class(known, pos_label, caller=caller, one_column_of=one_column_of)
    return ClassColumns(p=p, labels=names, positive=positive)


def _check_labels(labels: ArrayLike, n_classes: int, caller: str, source: str) -> tuple[Any, ...]:
    names = tuple(to_numpy(labels, caller=caller, param=source).tolist())
    if len(names) != n_classes or len(set(names)) != n_classes:
        hint = "there is one class per column of y_prob, in column order (two for one column)."
        expected = f"of {n_classes} distinct classes"
        raise invalid(caller, source, expected, f"{list(names)}", hint=hint)
    return names


def sorted_labels(value: Mapping[Any, Any], *, caller: str, param: str) -> tuple[Any, ...]:
    """Keys of a mapping in the order columns have by default."""
    try:
        return tuple(sorted(value))
    except TypeError as error:
        hint = "use labels of one kind: all strings or all numbers."
        raise invalid(caller, param, "keys of one kind", "a mixture", hint=hint) from error


def by_class(
    value: Any, columns: ClassColumns, *, single: int, caller: str, param: str, rest: float | None
) -> FloatArray:
    """Numbers in column order.

    A float belongs to column `single` of two, and `rest` (None: one minus it) to the other. A
    mapping without labels is read in the order of its sorted keys; classes it does not name get
    `rest`, or are an error if that is None.
    """
    k = columns.n_classes
    if is_number(value):
        if k != 2:
            hint = "pass one number per class, or a mapping from label to number."
            raise invalid(caller, param, f"{k} numbers", repr(value), hint=hint)
        numbers = np.full(2, 1 - float(value) if rest is None else rest)
        numbers[single] = float(value)
        return numbers
    if isinstance(value, Mapping):
        return _from_mapping(value, columns, caller, param, rest)
    numbers = float_array(value, caller=caller, param=param).astype(np.float64)
    if numbers.shape != (k,):
        hint = "pass one number per class in column order, or a mapping from label to number."
        raise invalid(caller, param, f"of shape ({k},)", f"shape {numbers.shape}", hint=hint)
    return numbers


def _from_mapping(
    value: Mapping[Any, Any], columns: ClassColumns, caller: str, param: str, rest: float | None
) -> FloatArray:
    k = columns.n_classes
    names = columns.labels
    if names is None:
        names = tuple(range(k))
        if not set(value) <= set(names) and len(value) == k:
            names = sorted_labels(value, caller=caller, param=param)
    numbers = np.full(k, np.nan if rest is None else rest)
    for label, number in value.items():
        index = find_label(label, names, caller=caller, param=param)
        if not is_number(number):
            hint = "pass one number per label."
            raise invalid(caller, param, "a mapping to numbers", repr(number), hint=hint)
        numbers[index] = float(number)
    missing = np.isnan(numbers)
    if missing.any():
        hint = "name every class; one that cannot occur has prior 0."
        got = f"none for {names[int(missing.argmax())]!r}"
        raise invalid(caller, param, "a number for every class", got, hint=hint)
    return numbers


def check_priors(value: Any, columns: ClassColumns, *, caller: str, param: str) -> FloatArray:
    """Return class probabilities in column order, which sum to one."""
    priors = by_class(
        value, columns, single=columns.positive, caller=caller, param=param, rest=None
    )
    bad = ~((priors >= 0) & (priors <= 1))
    if bad.any():
        hint = "pass fractions; a single one is the share of the positive class."
        raise invalid(caller, param, "in [0, 1]", _at(priors, bad), hint=hint)
    if abs(float(priors.sum()) - 1) > _SUM:
        hint = "divide counts by their total."
        raise invalid(caller, param, "shares that sum to 1", f"{priors.sum():.9g}", hint=hint)
    return priors


def check_train(value: Any, columns: ClassColumns, *, caller: str, param: str) -> FloatArray:
    """Return positive class probabilities in column order."""
    priors = check_priors(value, columns, caller=caller, param=param)
    bad = priors < np.finfo(np.float64).tiny
    if bad.any():
        hint = "a model cannot have learnt a class it never saw: drop its column."
        raise invalid(caller, param, "positive for every class", _at(priors, bad), hint=hint)
    return priors


def _at(numbers: FloatArray, bad: Array) -> str:
    return f"{numbers[int(bad.argmax())]:.6g} for class {int(bad.argmax())}"
