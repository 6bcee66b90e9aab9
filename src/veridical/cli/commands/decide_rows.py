"""Rows that decisions are made on: predictions, through a map if there is one, and outcomes."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.data.reading import read_rows
from veridical._core.typing import Array, BoolArray
from veridical.cli.shared import data, files
from veridical.exceptions import invalid
from veridical.frames import tables

_CALLER = "decide"


@dataclass(frozen=True)
class DecisionRows:
    """Predictions, and outcomes with weights if they were asked for."""

    p: Any
    y: Any
    weight: Any
    columns: list[str]
    available: list[str]
    left: BoolArray | None
    notes: tuple[str, ...]
    groups: Any = None

    def in_place(self, values: Array) -> Array:
        """One value for each row of the file, none where a row was dropped."""
        if self.left is None:
            return values
        result = np.full(len(self.left), None, dtype=object)
        result[self.left] = values
        return result


def read_decision_rows(
    arguments: argparse.Namespace, saved: files.SavedCalibrator | None, *, raw: bool = False
) -> DecisionRows:
    """Predictions, through the calibrator if there is one, unless they are wanted `raw`."""
    available = tables.column_names(arguments.file, caller=_CALLER, param="FILE")
    prob = data.split_names(arguments.prob)
    if saved is not None:
        columns = files.calibrated_columns(saved, prob, available, caller=_CALLER)
    else:
        columns = tables.expand_columns(prob or [], available, caller=_CALLER, param="prob")
    for name in ("weight", "groups"):
        if getattr(arguments, name) is not None and arguments.y is None:
            hint = "it counts in means of costs and in promises, for which outcomes are needed."
            got = repr(getattr(arguments, name))
            raise invalid(_CALLER, name, "unset without --y", got, hint=hint)

    def one(name: str | None, param: str) -> list[str]:
        if name is None:
            return []
        return tables.expand_columns([name], available, caller=_CALLER, param=param)[:1]

    y, weight = one(arguments.y, "y"), one(arguments.weight, "weight")
    groups = one(arguments.groups, "groups")
    table = tables.open_table(
        arguments.file,
        columns=list(dict.fromkeys([*columns, *y, *weight, *groups])),
        caller=_CALLER,
        param="FILE",
    )
    p = table.predictions(columns, scale=arguments.scale, caller=_CALLER, param="prob")
    known = tables.labels_of(arguments.file, table, y[0], caller=_CALLER) if y else np.zeros(len(p))
    weights = table.column(weight[0], caller=_CALLER, param="weight") if weight else None
    belongs = table.column(groups[0], caller=_CALLER, param="groups") if groups else None
    belongs = None if belongs is None else np.asarray(belongs)
    reading = data.reading_of(arguments)
    if saved is not None:
        reading = data.reading_for(arguments, saved.calibrator.input, caller=_CALLER)
    read = read_rows(known, p, weights, reading, caller=_CALLER)
    given = read.y_prob
    if saved is not None:
        given = saved.checked(np.asarray(given), caller=_CALLER)
    if saved is not None and not raw:
        given = saved.predict(given)
        given = given[:, 0] if given.shape[1] == 1 else given
    return DecisionRows(
        given,
        read.y_true if y else None,
        read.sample_weight,
        columns,
        available,
        read.left,
        read.notes,
        belongs if belongs is None or read.left is None else belongs[read.left],
    )
