"""Which classes there are, by the rules of the in-memory border."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from veridical._core.arrays import missing_values, to_numpy
from veridical._core.labels import check_label_array, encode_labels, family, find_label
from veridical.exceptions import invalid
from veridical.frames._engine_rows import LABEL, LARGEST_LABEL, EngineRows
from veridical.frames._grid_faults import fault
from veridical.frames._labels import labels_from_columns
from veridical.frames._lazy import run

if TYPE_CHECKING:
    from veridical._core.typing import Array, ArrayLike, IntArray

# A column of so many distinct values holds no labels; no more are fetched.
_MOST_LABELS = 10_000


def classes_of_entries(
    rows: EngineRows, y: Array, labels: ArrayLike | None, *, caller: str
) -> tuple[IntArray, tuple[Any, ...]]:
    """Class of each entry of a scan that used raw labels as keys, and the two classes."""
    y = check_label_array(y, caller=caller)
    if labels is not None:
        given = _label_array(labels, 2, caller)
        if family(given) == family(y) and not np.isin(y, given).all():
            raise fault(rows, _literals(rows, given), caller=caller)
    return encode_labels(y, n_classes=2, labels=labels, caller=caller)


def classes_of_columns(
    rows: EngineRows, labels: ArrayLike | None, *, caller: str
) -> tuple[Any, ...]:
    """Classes in the order of several columns: given, read from their names, or sorted.

    Unless they are given, this asks the engine once for the distinct labels.
    """
    n_classes = len(rows.prob)
    if labels is None:
        distinct = rows.frame.select(LABEL).unique().head(_MOST_LABELS)
        values = run(distinct).column(LABEL, caller=caller, param="y")
        if len(values) == 0 or missing_values(values).any() or _fractions(values).any():
            raise fault(rows, (), caller=caller)
        y = check_label_array(values, caller=caller)
        named = labels_from_columns(rows.prob, y)
        return encode_labels(y, n_classes=n_classes, labels=named, caller=caller)[1]
    given = _label_array(labels, n_classes, caller)
    if _is_text(rows) != (family(given) == "text"):
        one = run(rows.frame.select(LABEL).head(1)).column(LABEL, caller=caller, param="y")
        if len(one) and not missing_values(one).any():
            y = check_label_array(one, caller=caller)
            encode_labels(y, n_classes=n_classes, labels=labels, caller=caller)  # says so
        raise fault(rows, (), caller=caller)
    return _literals(rows, given)


def positive_class(classes: Sequence[Any], pos_label: Any, *, caller: str) -> int:
    """Index of the class a binary problem is about: the larger label, wherever its column is."""
    if len(classes) > 2:
        if pos_label is None:
            return 1
        hint = "for one class of several use `lens=ClassSpecific(label)`."
        got = f"{pos_label!r} with {len(classes)} classes"
        raise invalid(caller, "pos_label", "unset for K > 2", got, hint=hint)
    if pos_label is None:
        return int(classes[1] > classes[0])
    return find_label(pos_label, tuple(classes), caller=caller, param="pos_label")


def _label_array(labels: ArrayLike, n_classes: int, caller: str) -> Array:
    """Labels the user gave, checked: distinct, none missing, one per class."""
    given = to_numpy(labels, caller=caller, param="labels")
    encode_labels(given, n_classes=n_classes, labels=labels, caller=caller)
    return given


def _literals(rows: EngineRows, labels: Array) -> tuple[Any, ...]:
    """Labels as values that the engine can compare with its own: SQL keeps 1 and true apart."""
    import narwhals.stable.v2 as nw

    if labels.dtype.kind in "biuf":
        if rows.label_type == nw.Boolean:
            return tuple(bool(label) for label in labels.tolist())
        if labels.dtype.kind == "b":
            return tuple(int(label) for label in labels.tolist())
    return tuple(labels.tolist())


def _is_text(rows: EngineRows) -> bool:
    import narwhals.stable.v2 as nw

    return rows.label_type == nw.String


def _fractions(values: Array) -> Array:
    if values.dtype.kind != "f":
        return np.zeros(len(values), dtype=bool)
    return (values != np.rint(values)) | ~(np.abs(values) < LARGEST_LABEL)
