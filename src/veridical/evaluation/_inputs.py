"""The two forms of input: arrays, or a frame (or file) with column names."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.arrays import missing_values, to_numpy
from veridical._core.typing import Array, ArrayLike
from veridical.exceptions import invalid
from veridical.frames import (
    column_names,
    expand_columns,
    guess_columns,
    is_frame,
    labels_from_columns,
    open_table,
)


@dataclass(frozen=True)
class Inputs:
    """Arrays ready for the border, and what was guessed on the way."""

    y_true: ArrayLike
    y_prob: ArrayLike
    sample_weight: ArrayLike | None
    by: Array | None
    labels: ArrayLike | None
    said: str | None = None


def gather_inputs(
    y_true: Any,
    y_prob: Any,
    *,
    y: str | None,
    prob: str | list[str] | tuple[str, ...] | None,
    sample_weight: Any,
    by: Any,
    labels: ArrayLike | None,
    caller: str,
) -> Inputs:
    """Return arrays, read from the frame or file if that is what was given."""
    if y_prob is not None:
        if y is not None or prob is not None:
            hint = "pass `evaluate(y_true, y_prob)` or `evaluate(frame, y=..., prob=...)`."
            got = "both arrays and column names"
            raise invalid(caller, "y", "unset when arrays are given", got, hint=hint)
        groups = None if by is None else _group_keys(by, caller)
        return Inputs(y_true, y_prob, sample_weight, groups, labels)
    if not (isinstance(y_true, (str, os.PathLike)) or is_frame(y_true)):
        hint = "pass `evaluate(y_true, y_prob)` or `evaluate(frame, y=..., prob=...)`."
        got = f"y_prob=None and a {type(y_true).__name__}"
        raise invalid(caller, "y_true", "a frame or a file when `y_prob` is unset", got, hint=hint)
    return _from_table(y_true, y, prob, sample_weight, by, labels, caller)


def _from_table(
    source: Any,
    y: str | None,
    prob: str | list[str] | tuple[str, ...] | None,
    sample_weight: Any,
    by: Any,
    labels: ArrayLike | None,
    caller: str,
) -> Inputs:
    available = column_names(source, caller=caller, param="y_true")
    wanted = [prob] if isinstance(prob, str) else prob
    columns = None
    if wanted is not None:
        columns = expand_columns(list(wanted), available, caller=caller, param="prob")
    said = None
    if y is None or columns is None:
        guess = guess_columns(available, y=y, prob=columns, caller=caller)
        y, columns, said = guess.y, list(guess.prob), guess.said or None
    keys = [by] if isinstance(by, str) else by
    grouped_by_column = isinstance(keys, (list, tuple)) and all(k in available for k in keys)
    needed = [y, *columns]
    needed += [sample_weight] if isinstance(sample_weight, str) else []
    needed += list(keys) if grouped_by_column else []
    table = open_table(source, columns=list(dict.fromkeys(needed)), caller=caller)
    outcome = table.column(y, caller=caller, param="y")
    matrix = table.matrix(columns, caller=caller, param="prob")
    if labels is None and len(columns) > 1:
        labels = labels_from_columns(columns, outcome)
    weight = sample_weight
    if isinstance(sample_weight, str):
        weight = table.column(sample_weight, caller=caller, param="sample_weight")
    groups = None
    if grouped_by_column:
        values = [table.column(key, caller=caller, param="by") for key in keys]
        groups = _group_keys(values[0] if len(values) == 1 else _tuples(values), caller)
    elif by is not None:
        groups = _group_keys(by, caller, available)
    y_prob = matrix[:, 0] if len(columns) == 1 else matrix
    return Inputs(outcome, y_prob, weight, groups, labels, said)


def _group_keys(by: Any, caller: str, available: list[str] | None = None) -> Array:
    if isinstance(by, str):
        hint = "pass one group per row, or the name of a column of the frame."
        got = repr(by) + ("" if available is None else f"; the columns are {available}")
        raise invalid(caller, "by", "a column or one key per row", got, hint=hint)
    keys = to_numpy(by, caller=caller, param="by")
    if keys.ndim != 1:
        hint = "pass one key per row; for several columns use a frame and their names."
        raise invalid(caller, "by", "1-d", f"shape {keys.shape}", hint=hint)
    missing = missing_values(keys)
    if missing.any():
        hint = "name the unknown group, e.g. `fillna('unknown')`."
        got = f"a missing key at index {missing.argmax()} ({missing.sum()} of {len(keys)})"
        raise invalid(caller, "by", "free of missing values", got, hint=hint)
    return keys


def _tuples(columns: list[Array]) -> Array:
    keys = np.empty(len(columns[0]), dtype=object)
    keys[:] = list(zip(*(column.tolist() for column in columns), strict=True))
    return keys
