"""The classes of a problem: their order, their columns, and which of two is the positive one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.data.columns import (
    class_of_one_column,
    labels_from_columns,
    names_of,
    place_columns,
)
from veridical._core.data.labels import check_label_array, check_text, encode_labels, positive_class
from veridical._core.typing import Array, ArrayLike, FloatArray, IntArray
from veridical.exceptions import InvalidInputError


def declared_order(y_true: Any) -> tuple[Any, ...] | None:
    """Categories of an ordered categorical in their order; None for labels of any other type.

    Knows pandas' ordered categoricals, polars' and narwhals' Enum, ordered dictionaries of pyarrow,
    and whatever has an attribute `declared`. Unordered categories are labels like others.

    Examples
    --------
    >>> import polars as pl
    >>> declared_order(pl.Series(["lo", "hi"], dtype=pl.Enum(["lo", "mid", "hi"])))
    ('lo', 'mid', 'hi')
    >>> declared_order(["lo", "hi"])
    """
    if isinstance(y_true, (np.ndarray, list, tuple)):
        return None
    if hasattr(y_true, "declared"):
        return None if y_true.declared is None else tuple(y_true.declared)
    column = _only_column(y_true)
    dtype = getattr(column, "dtype", None)
    if getattr(dtype, "ordered", None) or type(dtype).__name__ == "Enum":
        return _plain_labels(getattr(dtype, "categories", None))
    if getattr(getattr(column, "type", None), "ordered", False):
        return _plain_labels(_dictionary(column))
    return None


def _only_column(values: Any) -> Any:
    """The column of a frame that has one, else the values themselves."""
    names = getattr(values, "column_names", None)
    if names is None:
        names = getattr(values, "columns", None)
    if names is None or callable(names) or len(names) != 1:
        return values
    return values[names[0]]


def _dictionary(column: Any) -> Any:
    """Categories of a pyarrow array, the same in all of its chunks."""
    if hasattr(column, "unify_dictionaries"):
        column = column.unify_dictionaries()
        if column.num_chunks == 0:
            return None
        column = column.chunk(0)
    return column.dictionary.to_pylist()


def _plain_labels(categories: Any) -> tuple[Any, ...] | None:
    """Categories as labels; None if they are none."""
    if categories is None or len(categories) < 2:
        return None
    try:
        return tuple(check_label_array(list(categories), caller="").tolist())
    except InvalidInputError:
        return None  # who reads the labels themselves says what is wrong with them


@dataclass(frozen=True)
class Classes:
    """Rows as indices of classes, and what is known of the classes.

    Attributes
    ----------
    codes : index of each row's class
    labels : classes in order
    positive : place of the positive class of two
    order : for each class the column that holds it; None if columns stand in that order
    notes : what had to be assumed
    """

    codes: IntArray
    labels: tuple[Any, ...]
    positive: int
    order: tuple[int, ...] | None = None
    notes: tuple[str, ...] = ()

    def arranged(self, values: FloatArray) -> FloatArray:
        """Predictions with their columns in the order of the classes."""
        return values if self.order is None else np.ascontiguousarray(values[:, self.order])


def read_classes(
    y: Array,
    n_columns: int,
    *,
    names: Sequence[str] | None,
    declared: Sequence[Any] | None,
    labels: ArrayLike | None,
    pos_label: Any,
    caller: str,
) -> Classes:
    """Find the classes of checked labels, their columns and the positive one.

    The order of classes is that of `labels`, else the one that the type of the labels declares,
    else that of columns named after the classes, else sorted. Names of columns say where the
    column of each class is, whatever the order.

    Parameters
    ----------
    y : labels that `check_label_array` returned
    n_columns : number of columns of predictions; one is that of the positive of two classes
    names : of the columns, or None
    declared : categories in their order, or None (`declared_order`)
    labels, pos_label : as the user gave them, or None
    caller : who asks
    """
    n_classes = max(2, n_columns)
    check_text(names or (), caller=caller, param="y_prob")
    named = None
    if labels is None and names is not None and n_columns > 1:
        named = labels_from_columns(names, y)
    order = labels
    if order is None:
        order = _declared_classes(y, n_classes, declared, named)
    if order is None and named is not None and named != list(range(n_classes)):
        order = named
    codes, classes = encode_labels(y, n_classes=n_classes, labels=order, caller=caller)
    if n_columns == 1:
        return _of_one_column(codes, classes, names, declared, labels, pos_label, caller)
    positive = positive_class(classes, pos_label, caller=caller, declared=declared)
    if names is None:
        return Classes(codes, classes, positive)
    placed = place_columns(names, classes, given=labels is not None, caller=caller)
    notes = () if placed.note is None else (placed.note,)
    return Classes(codes, classes, positive, placed.order, notes)


def _declared_classes(
    y: Array, n_classes: int, declared: Sequence[Any] | None, named: Sequence[Any] | None
) -> list[Any] | None:
    """Declared categories that are the classes: all if there are as many, else those that occur."""
    if declared is None:
        return None
    if len(declared) == n_classes:
        return list(declared)
    wanted = set(np.unique(y).tolist() if named is None else named)
    found = [label for label in declared if label in wanted]
    return found if len(found) == n_classes else None


def _of_one_column(
    codes: IntArray,
    classes: tuple[Any, ...],
    names: Sequence[str] | None,
    declared: Sequence[Any] | None,
    labels: ArrayLike | None,
    pos_label: Any,
    caller: str,
) -> Classes:
    if names is None or len(names) != 1:
        positive = positive_class(
            classes, pos_label, caller=caller, one_column_of=labels, declared=declared
        )
        return Classes(codes, classes, positive)
    default = classes[positive_class(classes, pos_label, caller=caller, declared=declared)]
    said = class_of_one_column(names[0], classes, default, pos_label, caller=caller)
    if said.label is not None:
        pos_label = said.label
    positive = positive_class(
        classes, pos_label, caller=caller, one_column_of=labels, declared=declared
    )
    return Classes(codes, classes, positive, notes=() if said.note is None else (said.note,))


def arranged_as(
    values: FloatArray, y_prob: Any, classes: Sequence[Any], *, caller: str
) -> FloatArray:
    """Predictions for known classes, with the columns of a frame in the order of the classes.

    Names that say nothing leave the columns as they stand.
    """
    names = names_of(y_prob)
    if names is None or values.ndim == 1 or len(names) != len(classes):
        return values
    order = place_columns(names, classes, given=True, caller=caller).order
    return values if order is None else np.ascontiguousarray(values[:, order])


def arranged_names(names: Sequence[str], classes: Sequence[Any], *, caller: str) -> list[str]:
    """Names of columns in the order of the classes; one column, or other names, as they stand."""
    if len(names) != len(classes):
        return list(names)
    order = place_columns(names, classes, given=True, caller=caller).order
    return list(names) if order is None else [names[k] for k in order]
