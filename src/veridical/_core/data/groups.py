"""Subgroups: one key per row, from one column or several."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.data.arrays import missing_values, to_numpy
from veridical._core.sample import Sample
from veridical._core.typing import Array, BoolArray, IntArray
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


def group_rows(columns: Sequence[Any], *, caller: str) -> Groups:
    """Groups of rows that agree in every column; keys are tuples if there are several."""
    parts = [_factorise(column, caller) for column in columns]
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


def _factorise(column: Any, caller: str) -> tuple[IntArray, list[Any]]:
    keys = to_numpy(column, caller=caller, param="by")
    if keys.ndim != 1:
        hint = "pass one key per row."
        raise invalid(caller, "by", "1-d", f"shape {keys.shape}", hint=hint)
    missing = missing_values(keys)
    if missing.any():
        hint = 'give the unknown group a name such as "unknown".'
        got = f"a missing key at index {missing.argmax()} ({missing.sum()} of {len(keys)})"
        raise invalid(caller, "by", "free of missing values", got, hint=hint)
    if keys.dtype.kind == "O":
        keys = _one_kind(keys, caller)
    values, codes = np.unique(keys, return_inverse=True)
    return codes.reshape(-1), values.tolist()


def _one_kind(keys: Array, caller: str) -> Array:
    if all(isinstance(key, str) for key in keys):
        return keys.astype(np.str_)
    kinds = (bool, int, float, dt.datetime, dt.date)
    if any(all(type(key) is kind for key in keys) for kind in kinds):
        return keys
    found = sorted({type(key).__name__ for key in keys})
    hint = "use keys of one kind, for instance all strings."
    raise invalid(caller, "by", "keys of one kind", " and ".join(found), hint=hint)
