"""Which class a column of predictions is about: by its name, by its place, or in doubt."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from veridical._core.data.arrays import missing_values
from veridical._core.data.labels import preview
from veridical._core.typing import Array
from veridical.exceptions import InvalidInputError, invalid

# Reads a column suffix as a label, or gives None if it is none.
_Reader: TypeAlias = Callable[[str], Any]

_BOOLEANS = {"false": False, "0": False, "true": True, "1": True}
_GENERIC = frozenset({"p", "prob", "proba", "probability", "y_prob", "y_proba", "score"})


def names_of(y_prob: Any) -> tuple[str, ...] | None:
    """Names of the columns of a frame, or of a series; None for what has none.

    Examples
    --------
    >>> import polars as pl
    >>> names_of(pl.DataFrame({"p_a": [0.5], "p_b": [0.5]})), names_of([0.5])
    (('p_a', 'p_b'), None)
    """
    if isinstance(y_prob, (np.ndarray, list, tuple)):
        return None
    names = getattr(y_prob, "column_names", None)  # pyarrow, whose `columns` are the arrays
    if names is None:
        names = getattr(y_prob, "columns", None)
    if names is None:
        name = getattr(y_prob, "name", None)
        names = None if name is None or not hasattr(y_prob, "dtype") else [name]
    if names is None or callable(names):
        return None
    listed = list(names)
    plain = all(isinstance(n, (str, int, np.integer)) and n is not True for n in listed)
    return tuple(str(name).strip() for name in listed) if plain and listed else None


def labels_from_columns(columns: Sequence[str], y: Array) -> list[Any] | None:
    """Read the class of each probability column from its name.

    Parameters
    ----------
    columns : sequence of str
        Probability columns, e.g. ``["p_dog", "p_cat"]`` or ``["dog_prob", "cat_prob"]``.
    y : ndarray of shape (n,)
        Outcomes; missing ones are ignored.

    Returns
    -------
    list or None
        Labels in column order and of the type of `y` (integers for whole floats), if two or more
        columns share a prefix (possibly empty) or an ending and what remains names every label in
        `y`; a class may be absent from `y`. None if the names do not say.

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
    for names in (list(columns), _without_common_ending(columns)):
        for labels in _readings(names, present, read):
            if labels not in found:
                found.append(labels)
    return found[0] if len(found) == 1 else None


def _readings(columns: list[str], present: set[Any], read: _Reader) -> list[list[Any]]:
    found: list[list[Any]] = []
    prefix = _common_prefix(columns)
    for cut in range(len(prefix), -1, -1):
        suffixes = [name[cut:] for name in columns]
        labels = [read(suffix) for suffix in suffixes]
        if None in labels or len(set(labels)) < len(labels):
            continue
        if _at_boundary(prefix[:cut], suffixes):
            if present <= set(labels):
                found.append(labels)
        elif _within_word(prefix[:cut], suffixes) and present == set(labels):
            found.append(labels)
    return found


def _describe(y: Array) -> tuple[set[Any], _Reader] | None:
    """Return the labels that occur, and how to read one from text; None if there is no saying."""
    if y.dtype.kind in "fO":
        y = y[~missing_values(y)]
    present = set(np.unique(y).tolist() if y.dtype.kind in "biufU" else y.tolist())
    if not present:
        return None
    if all(isinstance(label, str) for label in present):
        return present, _text_reader(present)
    if all(isinstance(label, bool) for label in present):
        return present, _read_boolean
    if all(isinstance(label, (int, float)) and label == label // 1 for label in present):
        return {int(label) for label in present}, _read_integer
    return None


def _common_prefix(names: Sequence[str]) -> str:
    first, last = min(names), max(names)  # whatever these two share, all share
    length = next((i for i, letter in enumerate(first) if letter != last[i]), len(first))
    return first[:length]


def _without_common_ending(names: Sequence[str]) -> list[str]:
    """Names without what all of them end in, from a separator on: a_prob, b_prob; P(a), P(b)."""
    ending = _common_prefix([name[::-1] for name in names])[::-1]
    start = next((i for i, letter in enumerate(ending) if not letter.isalnum()), None)
    if start is None:
        return list(names)
    return [name[: len(name) - len(ending) + start] for name in names]


def _text_reader(present: set[str]) -> _Reader:
    """Read a label as it is written, or as one that occurs in other capitals."""
    folded: dict[str, str] = {}
    for label in sorted(present):
        folded[label.casefold()] = "" if label.casefold() in folded else label

    def read(suffix: str) -> str | None:
        if suffix in present:
            return suffix
        return folded.get(suffix.casefold()) or suffix or None

    return read


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
    bare = re.sub(r"[\W_]+$", "", column)
    starts = [0, *(i + 1 for i, letter in enumerate(bare) if not letter.isalnum())]
    joined = re.search(r"\d+$", bare)  # p0, class12
    starts += [joined.start()] if joined and bare[: joined.start()][-1:].isalpha() else []
    ends = [bare[start:] for start in sorted(starts)]  # the longest first
    by_text = {str(label): label for label in labels}
    for fold in (str, str.casefold):
        known: dict[str, list[Any]] = {}
        for text, label in by_text.items():
            known.setdefault(fold(text), []).append(label)
        for end in ends:
            if len(known.get(fold(end), ())) == 1:
                return known[fold(end)][0]
    return None


def _says_surely(column: str, label: Any) -> bool:
    """Whether a name can mean nothing but its label; p_0 may be that of the model number 0."""
    return not str(label).lstrip("-").isdigit() and column.casefold() not in _GENERIC


def positions(names: Sequence[str]) -> list[int] | None:
    """Places that names count off, as p0 .. p9, 0 .. 9 or p1 .. p3 do, in whatever order.

    Examples
    --------
    >>> positions(["p2", "p0", "p1"]), positions(["a", "b"])
    ([2, 0, 1], None)
    """
    parts = [re.fullmatch(r"(.*?)(\d+)", name) for name in names]
    found = [part for part in parts if part is not None]
    if len(found) < len(names) or len({part[1] for part in found}) > 1:
        return None
    numbers = [int(part[2]) for part in found]
    first = min(numbers)
    if first > 1 or sorted(numbers) != list(range(first, first + len(numbers))):
        return None
    return [number - first for number in numbers]


@dataclass(frozen=True)
class Placed:
    """Where the columns of the classes are.

    Attributes
    ----------
    order : for each class the column that holds it; None if columns stand in that order
    note : what had to be assumed, or None
    """

    order: tuple[int, ...] | None = None
    note: str | None = None

    @classmethod
    def at(cls, order: Sequence[int]) -> Placed:
        """Columns at these places."""
        places = tuple(order)
        return cls(None if places == tuple(range(len(places))) else places)


def place_columns(
    names: Sequence[str], classes: Sequence[Any], *, given: bool, caller: str, param: str = "y_prob"
) -> Placed:
    """Find the column of each of K classes by the names of K columns.

    Parameters
    ----------
    names : sequence of str
        As many as there are classes.
    classes : sequence
        Labels in class order.
    given : bool
        Whether the user gave that order: then names need not say anything.
    caller, param : str
        They open the error message.

    Returns
    -------
    Placed
        Names that are the classes, or end or begin with them, in any order; else names that count
        (p0, p1, ...) in the order of their numbers; else the order as it stands, with a note.

    Raises
    ------
    InvalidInputError
        If some of the names are those of classes and the others are not, so that reading them by
        their place would contradict what they say.

    Examples
    --------
    >>> place_columns(["p_c", "p_a", "p_b"], ["a", "b", "c"], given=False, caller="f").order
    (1, 2, 0)
    """
    labels = np.asarray(list(classes))
    matched = labels_from_columns(names, labels)
    if matched is not None and set(matched) == set(labels.tolist()):
        return Placed.at([matched.index(label) for label in labels.tolist()])
    said = [label_of_column(name, labels.tolist()) for name in names]
    places = positions(names)
    if places is not None and (not any(s is not None for s in said) or _counts(labels)):
        return Placed.at([places.index(k) for k in range(len(places))])
    wrong = [
        k for k, s in enumerate(said) if s is not None and not (given and s == labels.tolist()[k])
    ]
    if wrong:
        raise _contradiction(names, said, labels.tolist(), wrong[0], caller, param)
    if given or any(s is not None for s in said):
        return Placed()
    shown = ", ".join(repr(name) for name in names[:6])
    return Placed(
        note=(
            f"columns {shown}{', ...' if len(names) > 6 else ''} were taken for the classes"
            f" {preview(labels)}, in this order; name them after the classes, or pass `labels`"
        )
    )


def _counts(labels: Array) -> bool:
    """Whether classes are 0 .. K-1 or 1 .. K, which columns may count off from 1 or 0 as well."""
    if labels.dtype.kind not in "iu":
        return False
    return labels.tolist() in ([*range(len(labels))], [*range(1, len(labels) + 1)])


def _contradiction(
    names: Sequence[str], said: Sequence[Any], labels: list[Any], k: int, caller: str, param: str
) -> InvalidInputError:
    lost = [label for label in labels if label not in said]
    got = f"{names[k]!r} at place {k}, where {labels[k]!r} stands"
    if lost:
        got = f"columns {preview(names)}, none of which is that of {lost[0]!r}"
    hint = "name each column after its class, or take the names off (`y_prob.to_numpy()`)."
    return invalid(
        caller, param, f"of columns named after the classes {preview(labels)}", got, hint=hint
    )


@dataclass(frozen=True)
class OneColumn:
    """What the name of a single column says of two classes.

    Attributes
    ----------
    label : the class it is named after, None if it does not say, or not surely
    note : what is in doubt, or None
    """

    label: Any = None
    note: str | None = None


def class_of_one_column(
    name: str, classes: Sequence[Any], default: Any, pos_label: Any, *, caller: str
) -> OneColumn:
    """Read the class of a single column from its name.

    Raises if it is surely named after the other class than `pos_label`.

    Examples
    --------
    >>> class_of_one_column("p_bad", ["bad", "good"], "good", None, caller="f").label
    'bad'
    """
    named = label_of_column(name, classes)
    if named is None:
        return OneColumn()
    sure = _says_surely(name, named)
    if pos_label is not None:
        if sure and named != pos_label:
            hint = f"pass `pos_label={named!r}`, or another column."
            expected = f"the class the column {name!r} is named after"
            raise invalid(caller, "pos_label", expected, repr(pos_label), hint=hint)
        return OneColumn()
    if sure:
        return OneColumn(named)
    if named == default:
        return OneColumn()
    return OneColumn(
        note=(
            f"the column {name!r} was taken for the probability of {default!r}; if it is that of"
            f" {named!r}, pass `pos_label={named!r}`"
        )
    )
