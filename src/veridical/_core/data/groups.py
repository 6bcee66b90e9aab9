"""Subgroups: one key per row, from one column or several."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from veridical._core.data.arrays import missing_values, to_numpy
from veridical._core.data.labels import check_text
from veridical._core.sample import Sample
from veridical._core.typing import Array, BoolArray, FloatArray, IntArray
from veridical.exceptions import invalid


@dataclass(frozen=True)
class Groups:
    """Group of each row as an index into the sorted keys."""

    codes: IntArray
    keys: list[Any]

    def kept(self, rows: BoolArray, caller: str) -> Groups:
        """Groups of the kept rows; those without rows do not exist."""
        self._check_length(len(rows), caller)
        present, codes = np.unique(self.codes[rows], return_inverse=True)
        return Groups(codes.reshape(-1), [self.keys[index] for index in present])

    def of(self, sample: Sample, kept: BoolArray, caller: str) -> Iterator[tuple[Any, Sample]]:
        """Split a sample made of the kept rows; groups without rows do not exist."""
        self._check_length(len(kept), caller)
        codes = self.codes[kept]
        order = np.argsort(codes, kind="stable")
        starts = np.searchsorted(codes[order], np.arange(len(self.keys) + 1))
        for index, key in enumerate(self.keys):
            rows = order[starts[index] : starts[index + 1]]
            if rows.size:
                yield key, sample.take(rows)

    def _check_length(self, n: int, caller: str) -> None:
        if len(self.codes) != n:
            hint = "pass one group key per row."
            got = f"{len(self.codes)} keys for {n} rows"
            raise invalid(caller, "by", "as long as `y_true`", got, hint=hint)


MISSING_KEY = "(missing)"
_WHOLE = 2**53
_FEW = 12  # so many different floats are codes; more are a measurement


def group_rows(columns: Sequence[Any], *, bins: int | None = None, caller: str) -> Groups:
    """Groups of rows that agree in every column; keys are tuples if there are several.

    A missing key is a key, the last one. With `bins`, a column of more than twelve different floats
    is cut at its quantiles into so many parts.

    Examples
    --------
    >>> group_rows([["b", None, "a"]], caller="f").keys
    ['a', 'b', '(missing)']
    >>> group_rows([np.arange(16) / 2], bins=4, caller="f").keys
    ['<= 1.88', '(1.88, 3.75]', '(3.75, 5.62]', '> 5.62']
    """
    parts = [_factorise(column, bins, caller) for column in columns]
    if len(parts) == 1:
        codes, values = parts[0]
        return Groups(codes, values)
    combined = np.zeros(len(parts[0][0]), dtype=np.intp)
    for codes, values in parts:
        combined = combined * len(values) + codes
    present, codes = np.unique(combined, return_inverse=True)
    keys = []
    for number in present.tolist():
        key = []
        for _, values in reversed(parts):
            number, position = divmod(number, len(values))
            key.append(values[position])
        keys.append(tuple(reversed(key)))
    return Groups(codes.reshape(-1), keys)


def _factorise(column: Any, bins: int | None, caller: str) -> tuple[IntArray, list[Any]]:
    keys = to_numpy(column, caller=caller, param="by")
    if keys.dtype.kind == "f" and isinstance(column, (list, tuple)) and _whole(column):
        keys = np.array(column, dtype=object)  # NumPy makes floats of small and huge integers
    if keys.ndim != 1:
        hint = "pass one key per row."
        raise invalid(caller, "by", "1-d", f"shape {keys.shape}", hint=hint)
    missing = missing_values(keys)
    if not missing.any():
        return _of_known(keys, bins, caller)
    codes = np.empty(len(keys), dtype=np.intp)
    if missing.all():
        values: list[Any] = []
    else:
        codes[~missing], values = _of_known(keys[~missing], bins, caller)
    if MISSING_KEY in values:  # as text, too: it says the same
        codes[missing] = values.index(MISSING_KEY)
        return codes, values
    codes[missing] = len(values)
    return codes, [*values, MISSING_KEY]


def _whole(keys: Sequence[Any]) -> bool:
    """Whether keys are integers, some of them beyond what a float tells apart."""
    whole = [key for key in keys if type(key) is int]
    return any(abs(key) >= _WHOLE for key in whole) and len(whole) == sum(
        key is not None for key in keys
    )


def _of_known(keys: Array, bins: int | None, caller: str) -> tuple[IntArray, list[Any]]:
    if keys.dtype.kind == "O":
        keys = _one_kind(keys, caller)
    values, codes = np.unique(keys, return_inverse=True)
    if keys.dtype.kind == "U":
        check_text(values.tolist(), caller=caller, param="by")
    if bins is not None and is_measurement(values):
        return _cut(keys.astype(np.float64), bins)
    return codes.reshape(-1), _plain(values)


def _plain(values: Array) -> list[Any]:
    """Keys as Python has them; of points in time that it cannot hold, as text."""
    found: list[Any] = values.tolist()
    if values.dtype.kind not in "mM" or type(found[0]) is not int:
        return found
    short = values.astype(f"{values.dtype.kind}8[us]")
    return short.tolist() if (short == values).all() else values.astype(str).tolist()


def is_measurement(values: Array) -> bool:
    """Whether different keys are many fractions, rather than codes or names."""
    if len(values) <= _FEW:
        return False
    if values.dtype.kind == "O" and not all(type(value) is float for value in values):
        return False
    if values.dtype.kind not in "fO":
        return False
    numbers = values.astype(np.float64)
    # Integers that a missing key has turned into floats are still codes.
    return bool((numbers != np.rint(numbers)).any())


def _cut(x: FloatArray, bins: int) -> tuple[IntArray, list[Any]]:
    """Parts of about equal size, between quantiles of few digits, which the keys show."""
    finite = x[np.isfinite(x)]
    edges = few_digits(np.unique(np.quantile(finite, np.arange(1, bins) / bins)))
    # An edge at which nothing is cut off, above the largest or below the smallest, is none.
    edges = edges[(edges >= x.min()) & (edges < x.max())]
    shown = [f"{edge:.12g}" for edge in edges]
    keys = [f"({low}, {high}]" for low, high in pairwise(shown)]
    keys = [f"<= {shown[0]}", *keys, f"> {shown[-1]}"] if shown else ["all"]
    codes = np.searchsorted(edges, x, side="left")
    present, codes = np.unique(codes, return_inverse=True)
    return codes.reshape(-1), [keys[k] for k in present.tolist()]


def few_digits(edges: FloatArray) -> FloatArray:
    """Edges rounded to three significant digits of their range, or to more if they would meet."""
    size = float(np.abs(edges).max()) if len(edges) else 0.0
    if size == 0:
        return edges
    first = 2 - math.floor(math.log10(size))
    for decimals in range(first, first + 14):
        rounded = np.array([round(float(edge), decimals) for edge in edges])
        if len(np.unique(rounded)) == len(edges):
            return rounded
    return edges


def _one_kind(keys: Array, caller: str) -> Array:
    if all(isinstance(key, str) for key in keys):
        return keys.astype(np.str_)
    kinds = (bool, int, float, dt.datetime, dt.date)
    if any(all(type(key) is kind for key in keys) for kind in kinds):
        return keys
    found = sorted({type(key).__name__ for key in keys})
    hint = "use keys of one kind, for instance all strings."
    raise invalid(caller, "by", "keys of one kind", " and ".join(found), hint=hint)


def cluster_codes(groups: Any, kept: BoolArray, *, caller: str) -> IntArray:
    """Number from 0 of what each kept row belongs to; `groups` has a key a row, kept or not."""
    keys = to_numpy(groups, caller=caller, param="groups")
    if keys.shape != kept.shape:
        hint = "pass one cluster per row."
        raise invalid(caller, "groups", f"of shape {kept.shape}", f"{keys.shape}", hint=hint)
    missing = missing_values(keys)
    if missing.any():
        hint = "give rows that belong to no cluster a name of their own."
        got = f"a missing key at index {missing.argmax()} ({missing.sum()} of {len(keys)})"
        raise invalid(caller, "groups", "free of missing values", got, hint=hint)
    try:
        found, codes = np.unique(keys[kept], return_inverse=True)
    except TypeError as error:
        hint = "use keys of one kind, for instance all strings."
        raise invalid(caller, "groups", "keys of one kind", "a mixture", hint=hint) from error
    if len(found) == 1 and kept.sum() > 1:
        hint = "one alone does not show how much groups differ; leave `groups` out."
        raise invalid(caller, "groups", "more than one group", "one", hint=hint)
    return codes.reshape(-1)
