"""From labels of any kind to class indices."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from veridical._core.data.arrays import missing_values, to_numpy
from veridical._core.typing import Array, ArrayLike, IntArray
from veridical.exceptions import InvalidInputError, invalid


def is_text(value: str) -> bool:
    """Whether a text can be written to a file."""
    return value.isascii() or not re.search("[\ud800-\udfff]", value)


def check_text(values: Iterable[Any], *, caller: str, param: str) -> None:
    """Raise if a text holds half a character (a lone surrogate), which no file can hold."""
    for value in values:
        if isinstance(value, str) and not is_text(value):
            hint = "read the data again with the encoding it was written in."
            got = f"{value!r}, which is no valid text"
            raise invalid(caller, param, "text in Unicode", got, hint=hint)


def encode_labels(
    y: Array, *, n_classes: int, labels: ArrayLike | None, caller: str
) -> tuple[IntArray, tuple[Any, ...]]:
    """Return the class index of each row and the labels in class order.

    `n_classes` is the number of columns of `y_prob` (two for one column). Integers 0..K-1 are
    indices already, so a class may be absent; other labels are sorted, unless `labels` says how.
    """
    if labels is not None:
        given = _check_labels(labels, n_classes, caller)
        check_text(given.tolist(), caller=caller, param="labels")
        return _encode_given(y, given, caller)
    if _are_indices(y, n_classes):
        classes = (False, True) if y.dtype == bool and n_classes == 2 else tuple(range(n_classes))
        return y.astype(np.int64, copy=False), classes  # products of narrower codes overflow
    values, codes = _unique(y, caller)
    if len(values) > n_classes:
        got = f"{len(values)} classes ({preview(values)}) for {_columns(n_classes)}"
        hint = "pass one probability column per class, in the order of `labels`."
        raise invalid(caller, "y_true", f"of at most {n_classes} classes", got, hint=hint)
    if len(values) < n_classes:
        got = f"only {preview(values)} for {_columns(n_classes)}"
        hint = "pass `labels=` with every class in column order; a class may be absent from y_true."
        expected = f"of {n_classes} classes when `labels` is not given"
        raise invalid(caller, "y_true", expected, got, hint=hint)
    check_text(values.tolist(), caller=caller, param="y_true")
    return codes, tuple(value.item() if hasattr(value, "item") else value for value in values)


_EXPECTED = "labels that are integers, booleans or strings"
_DATES = ("dates", "turn dates that are classes into strings.")
_NO_LABELS = {
    "c": ("complex numbers", "pass class labels."),
    "M": _DATES,
    "m": ("time spans", "turn spans that are classes into strings."),
    "S": ("bytes", "decode them first, e.g. `np.char.decode(y)`."),
    "V": ("records", "pass one label per row."),
}
_NO_LABEL_OBJECTS = {
    "bytes": _NO_LABELS["S"],
    "date": _DATES,
    "datetime": _DATES,
    "Timestamp": _DATES,
    "datetime64": _DATES,
}


def check_label_array(y_true: ArrayLike, *, caller: str, drops: bool = False) -> Array:
    """Return `y_true` as a new 1-d array of labels free of missing values.

    It is a copy, because compiled loops use labels as indices: another thread, or a program that
    writes to a memory-mapped file, may change the caller's labels after the check. `drops` says
    whether the caller has an option to drop those rows, for advice.
    """
    y = to_numpy(y_true, caller=caller, param="y_true")
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim != 1:
        hint = "pass class labels; for one-hot rows use `y.argmax(axis=1)`."
        if y.ndim == 2 and y.dtype.kind == "f":
            hint = "pass y_true first, then y_prob; for one-hot rows use `y.argmax(axis=1)`."
        raise invalid(caller, "y_true", "a 1-d array of labels", f"shape {y.shape}", hint=hint)
    if y.dtype.kind in _NO_LABELS:
        got, hint = _NO_LABELS[y.dtype.kind]
        raise invalid(caller, "y_true", _EXPECTED, got, hint=hint)
    if y.dtype.kind == "T":  # variable-width strings
        y = y.astype(np.str_)
    elif y.dtype.kind != "f":  # floats are copied when they become integers
        y = y.copy()
    if y.dtype.kind in "fO":
        missing = missing_values(y)
        if missing.any():
            where = f"a missing value at index {missing.argmax()} ({missing.sum()} of {len(y)})"
            hint = "drop the rows whose outcome is unknown."
            if drops:
                hint = 'drop the rows whose outcome is unknown: `missing="drop"`.'
            raise invalid(caller, "y_true", "free of missing values", where, hint=hint)
    if y.dtype.kind == "O":
        y = _plain_kind(y, caller)
    if y.dtype.kind == "f":
        y = _integral(y, caller)
    return y


def find_label(label: object, classes: tuple[Any, ...], *, caller: str, param: str) -> int:
    """Index of `label` among `classes`."""
    for index, known in enumerate(classes):
        if isinstance(known, str) == isinstance(label, str) and _equal(known, label):
            return index
    hint = f"the classes are {preview(classes)}."
    raise invalid(caller, param, "one of the classes", repr(label), hint=hint)


def positive_class(
    classes: Sequence[Any],
    pos_label: Any,
    *,
    caller: str,
    one_column_of: Any = None,
    declared: Sequence[Any] | None = None,
) -> int:
    """Place of the positive class of two: `pos_label`, else the last declared or larger label.

    `declared` are the categories of ordered labels. `one_column_of` are labels the user put in
    order for a single column, if there are any: an order that ends in the smaller one may be meant
    either way. Of more classes the answer is 1, and of no use.

    Examples
    --------
    >>> positive_class(("bad", "good"), None, caller="f")
    1
    >>> positive_class(("bad", "good"), "bad", caller="f")
    0
    """
    if len(classes) > 2:
        if pos_label is None:
            return 1
        hint = "for one class of several use `lens=ClassSpecific(label)`."
        got = f"{pos_label!r} with {len(classes)} classes"
        raise invalid(caller, "pos_label", "unset for K > 2", got, hint=hint)
    if pos_label is not None:
        return find_label(pos_label, tuple(classes), caller=caller, param="pos_label")
    larger = int(classes[1] > classes[0])
    if declared is not None and set(classes) <= set(declared):
        return int(list(declared).index(classes[1]) > list(declared).index(classes[0]))
    if one_column_of is not None and not larger:
        last, first = classes[1], classes[0]
        hint = (
            f"say which class the column is about: `pos_label={last!r}` or `pos_label={first!r}`."
        )
        expected = f"given for one column and labels that end in {last!r}, the smaller one"
        raise invalid(caller, "pos_label", expected, "None", hint=hint)
    return larger


def _are_indices(y: Array, n_classes: int) -> bool:
    if y.dtype == bool:
        return True
    if y.dtype.kind not in "iu":
        return False
    # Read as unsigned, negative integers are large: one pass finds them too.
    unsigned = y.view(y.dtype.str.replace("i", "u"))
    return bool(unsigned.max() < n_classes)


def _check_labels(labels: ArrayLike, n_classes: int, caller: str) -> Array:
    array = to_numpy(labels, caller=caller, param="labels")
    if array.ndim != 1 or len(array) != n_classes:
        hint = "give one label per column of y_prob, in column order (two for a single column)."
        expected, got = f"a list of {n_classes} labels", f"{array.size} of shape {array.shape}"
        raise invalid(caller, "labels", expected, got, hint=hint)
    if missing_values(array).any():
        hint = "name each class."
        raise invalid(caller, "labels", "free of missing values", preview(array), hint=hint)
    if array.dtype.kind == "O":
        array = _plain_kind(array, caller, param="labels")
    if array.dtype.kind == "f":
        array = _integral(array, caller)
    if len(np.unique(array)) != len(array):
        hint = "name each class once."
        raise invalid(caller, "labels", "distinct", preview(array), hint=hint)
    return array


def _encode_given(y: Array, labels: Array, caller: str) -> tuple[IntArray, tuple[Any, ...]]:
    if family(y) != family(labels):
        got = f"labels such as {preview(y[:1])} while `labels` holds {preview(labels)}"
        hint = "use the same type in both: all strings or all numbers."
        raise invalid(caller, "y_true", "among `labels`", got, hint=hint)
    order = np.argsort(labels)
    position = np.searchsorted(labels, y, sorter=order).clip(max=len(labels) - 1)
    codes = order[position]
    unknown = labels[codes] != y
    if unknown.any():
        first = int(unknown.argmax())
        got = f"{preview(y[first : first + 1])} at index {first} ({unknown.sum()} of {len(y)})"
        hint = f"`labels` holds {preview(labels)}; add the missing class or drop those rows."
        raise invalid(caller, "y_true", "among `labels`", got, hint=hint)
    return codes, tuple(labels.tolist())


def family(values: Array) -> str:
    """Kinds that can be compared with each other: text, numbers, or one kind of time."""
    kind = values.dtype.kind
    return "text" if kind in "UST" else "number" if kind in "biuf" else kind


def _equal(known: object, label: object) -> bool:
    try:
        return bool(known == label)
    except (TypeError, ValueError):  # an array, or a missing value that answers nothing
        return False


def _unique(y: Array, caller: str) -> tuple[Array, IntArray]:
    values, codes = np.unique(y, return_inverse=True)
    if len(values) == 1:
        hint = "pass `labels=` so that the class that did not occur is known."
        got = f"only {preview(values)}"
        raise invalid(caller, "y_true", "of two or more classes", got, hint=hint)
    return values, codes.reshape(-1)


def _plain_kind(y: Array, caller: str, param: str = "y_true") -> Array:
    """Turn an object array into strings, numbers or booleans; refuse mixtures."""
    kinds = {_kind(value) for value in y}
    if kinds == {"text"}:
        return y.astype(np.str_)
    if kinds == {"bool"}:
        return y.astype(bool)
    if kinds <= {"number", "bool"}:
        try:
            return y.astype(np.float64)
        except OverflowError as error:
            hint = "pass smaller numbers, or strings."
            got = "an integer beyond 1e308"
            raise invalid(caller, param, "integers below 2^53", got, hint=hint) from error
    if len(kinds) == 1:
        kind = min(kinds)
        got, hint = _NO_LABEL_OBJECTS.get(kind, (f"values of type {kind}", "pass class labels."))
        raise invalid(caller, param, _EXPECTED, got, hint=hint)
    hint = "use labels of one kind: all strings or all numbers."
    raise invalid(caller, param, "labels of one kind", f"{' and '.join(sorted(kinds))}", hint=hint)


def _kind(value: object) -> str:
    if isinstance(value, str):
        return "text"
    if isinstance(value, (bool, np.bool_)):
        return "bool"
    if isinstance(value, (int, float, np.number)):
        return "number"
    return type(value).__name__


def _integral(y: Array, caller: str) -> Array:
    """Labels stored as floats (0.0, 1.0, ...) become integers; anything else is not a label."""
    with np.errstate(invalid="ignore"):  # infinity becomes an integer, which it does not equal
        integers = y.astype(np.int64)
    # From 2^53 on, floats do not tell integers apart.
    fractional = (integers != y) | (integers >= 2**53) | (integers <= -(2**53))
    if fractional.any():
        first = int(fractional.argmax())
        hint = "pass class labels; y_true comes first, y_prob second."
        got = f"{y[first]:.6g} at index {first} ({fractional.sum()} of {len(y)} values)"
        raise NotLabelsError(str(invalid(caller, "y_true", "class labels", got, hint=hint)))
    return integers


class NotLabelsError(InvalidInputError):
    """`y_true` holds fractions: no labels, perhaps because the arguments are swapped."""


def _columns(n_classes: int) -> str:
    return "binary probabilities" if n_classes == 2 else f"{n_classes} probability columns"


def shortened(text: str, longest: int) -> str:
    """Text of at most that many letters, the last an ellipsis where it is cut."""
    return text if len(text) <= longest else text[: longest - 1] + "\N{HORIZONTAL ELLIPSIS}"


def preview(values: Any) -> str:
    items = [value.item() if hasattr(value, "item") else value for value in values]
    shown = ", ".join(repr(item) for item in items[:6])
    return shown + (", ..." if len(items) > 6 else "")
