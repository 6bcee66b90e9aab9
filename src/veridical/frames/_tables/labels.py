"""Class labels from the names of probability columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from veridical._core.data.arrays import missing_values

if TYPE_CHECKING:
    from veridical._core.typing import Array

# Reads a column suffix as a label, or gives None if it is none.
_Reader: TypeAlias = Callable[[str], Any]

_BOOLEANS = {"false": False, "0": False, "true": True, "1": True}


def labels_from_columns(columns: Sequence[str], y: Array) -> list[Any] | None:
    """Read the class of each probability column from its name.

    Parameters
    ----------
    columns : sequence of str
        Probability columns, e.g. ``["p_dog", "p_cat"]``.
    y : ndarray of shape (n,)
        Outcomes; missing ones are ignored.

    Returns
    -------
    list or None
        Labels in column order and of the type of `y` (integers for whole floats), if two or more
        columns share a prefix (possibly empty) and what remains names every label in `y`; a class
        may be absent from `y`. Suffixes 0..K-1 are taken as labels of any integer `y`. None if
        the names do not say.

    Notes
    -----
    The prefix ends at a separator or where letters meet digits. It may end within a word
    (``pCat``) only if the remainders are exactly the labels that occur, and never between
    digits, where ``p_10, p_11`` would read as 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> labels_from_columns(["p_dog", "p_cat", "p_bird"], np.array(["cat", "dog"]))
    ['dog', 'cat', 'bird']
    >>> labels_from_columns(["p_1", "p_0"], np.array([0, 1]))
    [1, 0]
    >>> labels_from_columns(["first", "second"], np.array([0, 1])) is None
    True
    """
    described = _describe(y)
    if len(columns) < 2 or described is None:
        return None
    present, read = described
    found: list[list[Any]] = []
    indices: list[list[Any]] = []
    prefix = _common_prefix(columns)
    for cut in range(len(prefix), -1, -1):
        suffixes = [name[cut:] for name in columns]
        labels = [read(suffix) for suffix in suffixes]
        if None in labels or len(set(labels)) < len(labels):
            continue
        if _at_boundary(prefix[:cut], suffixes):
            if present <= set(labels):
                found.append(labels)
            if read is _read_integer and set(labels) == set(range(len(labels))):
                indices.append(labels)
        elif _within_word(prefix[:cut], suffixes) and present == set(labels):
            found.append(labels)
    if not found:
        found = indices
    return found[0] if len(found) == 1 else None


def _describe(y: Array) -> tuple[set[Any], _Reader] | None:
    """Return the labels that occur, and how to read one from text; None if there is no saying."""
    if y.dtype.kind in "fO":
        y = y[~missing_values(y)]
    present = set(np.unique(y).tolist() if y.dtype.kind in "biufU" else y.tolist())
    if not present:
        return None
    if all(isinstance(label, str) for label in present):
        return present, _read_text
    if all(isinstance(label, bool) for label in present):
        return present, _read_boolean
    if all(isinstance(label, (int, float)) and label == label // 1 for label in present):
        return {int(label) for label in present}, _read_integer
    return None


def _common_prefix(names: Sequence[str]) -> str:
    first, last = min(names), max(names)  # whatever these two share, all share
    length = next((i for i, letter in enumerate(first) if letter != last[i]), len(first))
    return first[:length]


def _read_text(suffix: str) -> str | None:
    return suffix or None


def _read_boolean(suffix: str) -> bool | None:
    return _BOOLEANS.get(suffix.lower())


def _read_integer(suffix: str) -> int | None:
    return int(suffix) if re.fullmatch(r"-?\d+", suffix) else None


def _at_boundary(prefix: str, suffixes: Sequence[str]) -> bool:
    if not prefix or not prefix[-1].isalnum():
        return True
    return all(prefix[-1].isdigit() != suffix[0].isdigit() for suffix in suffixes)


def _within_word(prefix: str, suffixes: Sequence[str]) -> bool:
    return prefix[-1].isalpha() and all(suffix[0].isalpha() for suffix in suffixes)


def label_of_column(column: str, labels: Sequence[Any]) -> Any:
    """Label that a single column is named after; None if its name does not say.

    Examples
    --------
    >>> label_of_column("p_ill", ["ill", "well"])
    'ill'
    >>> label_of_column("p", ["ill", "well"])
    """
    ends = [column, *(column[i + 1 :] for i, letter in enumerate(column) if letter in "_-. ")]
    return next((label for label in labels if str(label) in ends), None)
