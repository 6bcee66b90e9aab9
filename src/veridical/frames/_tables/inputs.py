"""The two forms of input: arrays, or a frame (or file) with column names."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from veridical._core.data.arrays import NamedArray
from veridical._core.data.groups import Groups, group_rows
from veridical._core.data.labels import check_text, is_text
from veridical._core.data.reading import AS_IT_IS, Reading
from veridical._core.typing import Array, ArrayLike
from veridical.exceptions import invalid
from veridical.frames._tables.columns import expand_columns
from veridical.frames._tables.detect import is_frame
from veridical.frames._tables.features import feature_columns
from veridical.frames._tables.find import find_columns
from veridical.frames._tables.open import column_names, open_table
from veridical.frames._tables.order import labels_of


class Named(NamedTuple):
    """What the data are called where they come from, for words about them.

    Attributes
    ----------
    y, prob : column of the outcome, and of the prediction if there is one; None if unknown
    pos_label : whether the user said which class is the positive one
    pair : whether both classes of two have a column
    """

    y: str | None = None
    prob: str | None = None
    pos_label: bool = False
    pair: bool = False


UNNAMED = Named()


def name_of(values: Any) -> str | None:
    """Name of a series, None if it has none."""
    name = getattr(values, "name", None)
    return name if isinstance(name, str) and name and is_text(name) else None


@dataclass(frozen=True)
class Inputs:
    """Arrays ready for the border, and what was guessed on the way."""

    y_true: ArrayLike
    y_prob: ArrayLike
    sample_weight: ArrayLike | None
    by: Groups | None
    labels: ArrayLike | None
    said: str | None = None
    named: Named = UNNAMED
    groups: ArrayLike | None = None
    features: dict[str, Array] | None = None


def gather_inputs(
    y_true: Any,
    y_prob: Any,
    *,
    y: str | None,
    prob: str | list[str] | tuple[str, ...] | None,
    sample_weight: Any,
    by: Any,
    groups: Any = None,
    features: Any = None,
    how: Reading = AS_IT_IS,
    labels: ArrayLike | None,
    caller: str,
) -> Inputs:
    """Return arrays, read from the frame or file if that is what was given.

    `features` are columns by name or glob (which matches columns that are nothing else; "!id" is
    left out of it), or a table of as many rows.
    """
    if y_prob is not None:
        if y is not None or prob is not None:
            hint = f"pass `{caller}(y_true, y_prob)` or `{caller}(frame, y=..., prob=...)`."
            got = "both arrays and column names"
            raise invalid(caller, "y", "unset when arrays are given", got, hint=hint)
        for param, keys in (("by", by), ("groups", groups)):
            if isinstance(keys, str):
                hint = "arrays have no columns: pass one key per row, or a frame."
                raise invalid(caller, param, "a column or one key per row", repr(keys), hint=hint)
        subgroups = None if by is None else group_rows([by], bins=how.by_bins, caller=caller)
        named = Named(name_of(y_true), name_of(y_prob))
        columns = None if features is None else feature_columns(features, caller=caller)
        return Inputs(
            y_true,
            y_prob,
            sample_weight,
            subgroups,
            labels,
            named=named,
            groups=groups,
            features=columns,
        )
    if not (isinstance(y_true, (str, os.PathLike)) or is_frame(y_true)):
        hint = f"pass `{caller}(y_true, y_prob)` or `{caller}(frame, y=..., prob=...)`."
        got = f"y_prob=None and a {type(y_true).__name__}"
        raise invalid(caller, "y_true", "a frame or a file when `y_prob` is unset", got, hint=hint)
    return _from_table(y_true, y, prob, sample_weight, by, groups, features, how, labels, caller)


@dataclass(frozen=True)
class Columns:
    """Names of the columns of a frame or file that are wanted, and what was guessed."""

    y: str
    prob: list[str]
    sample_weight: str | None
    by: list[str]
    said: str | None
    groups: list[str] = field(default_factory=list)
    features: list[str] = field(default_factory=list)

    @property
    def named(self) -> Named:
        """Outcome, and prediction if that is one column."""
        one = self.prob[0] if len(self.prob) == 1 else None
        return Named(self.y, one, pair=len(self.prob) == 2)

    @property
    def all(self) -> list[str]:
        """Every name once."""
        weight = [] if self.sample_weight is None else [self.sample_weight]
        names = [self.y, *self.prob, *weight, *self.by, *self.groups, *self.features]
        return list(dict.fromkeys(names))


def name_columns(
    source: Any,
    *,
    y: str | None,
    prob: str | list[str] | tuple[str, ...] | None,
    sample_weight: Any,
    by: Any,
    groups: Any = None,
    features: Any = None,
    scale: str = "probability",
    caller: str,
) -> Columns:
    """Expand globs and guess what is not given; weights and groups only if they are names."""
    available = column_names(source, caller=caller, param="y_true")

    def named(columns: Any, param: str) -> list[str]:
        wanted = [columns] if isinstance(columns, str) else list(columns)
        return expand_columns(wanted, available, caller=caller, param=param)

    outcome = None if y is None else named(y, "y")[0]
    columns = None if prob is None else named(prob, "prob")
    weight = named(sample_weight, "sample_weight") if isinstance(sample_weight, str) else []
    keys = named(by, "by") if _names_columns(by, available) else []
    clusters = named(groups, "groups") if _names_columns(groups, available) else []
    patterns = [features] if isinstance(features, str) else features
    wanted = list(patterns) if _names_columns(patterns, available) else []
    plain = [name for name in wanted if name in available]
    refused = [each[1:] for each in wanted if each not in plain and each.startswith("!")]
    wanted = [each for each in wanted if each in plain or not each.startswith("!")]
    chosen = [outcome, *(columns or ()), *weight, *keys, *clusters, *plain]
    check_text(chosen, caller=caller, param="y_true")
    said = None
    if outcome is None or columns is None:
        guess = find_columns(
            source,
            y=outcome,
            prob=columns,
            without=[*weight, *keys, *clusters, *plain],
            scale=scale,
            caller=caller,
        )
        outcome, columns, said = guess.y, list(guess.prob), guess.said or None
    used = {outcome, *columns, *weight, *clusters}
    for name in plain:
        if name in used:
            hint = "the outcome and its prediction tell rows apart, but not who they are."
            raise invalid(caller, "features", "other columns", repr(name), hint=hint)
    found = []
    if wanted:
        if refused:
            used |= set(expand_columns(refused, available, caller=caller, param="features"))
        free = [name for name in available if name not in used]
        found = expand_columns(wanted, free, caller=caller, param="features")
    return Columns(outcome, columns, weight[0] if weight else None, keys, said, clusters, found)


def _from_table(
    source: Any,
    y: str | None,
    prob: str | list[str] | tuple[str, ...] | None,
    sample_weight: Any,
    by: Any,
    groups: Any,
    features: Any,
    how: Reading,
    labels: ArrayLike | None,
    caller: str,
) -> Inputs:
    names = name_columns(
        source,
        y=y,
        prob=prob,
        sample_weight=sample_weight,
        by=by,
        groups=groups,
        features=features,
        scale=how.scale,
        caller=caller,
    )
    table = open_table(source, columns=names.all, caller=caller)
    subgroups = None
    if names.by:
        values = [table.column(key, caller=caller, param="by") for key in names.by]
        subgroups = group_rows(values, bins=how.by_bins, caller=caller)
    elif by is not None:
        subgroups = group_rows([by], bins=how.by_bins, caller=caller)
    if names.features:
        features = {
            name: table.column(name, caller=caller, param="features") for name in names.features
        }
    if names.groups:
        keys = [table.column(key, caller=caller, param="groups") for key in names.groups]
        groups = keys[0] if len(keys) == 1 else group_rows(keys, caller=caller).codes
    if names.sample_weight is not None:
        weight = table.column(names.sample_weight, caller=caller, param="sample_weight")
        sample_weight = NamedArray(weight, (names.sample_weight,))
    return Inputs(
        labels_of(source, table, names.y, caller=caller),
        table.predictions(names.prob, scale=how.scale, caller=caller, param="prob"),
        sample_weight,
        subgroups,
        labels,
        names.said,
        names.named,
        groups,
        None if features is None else feature_columns(features, caller=caller),
    )


def _names_columns(by: Any, available: list[str]) -> bool:
    """Whether `by` names columns, rather than holding one key per row."""
    if isinstance(by, str):
        return True
    listed = isinstance(by, (list, tuple)) and all(isinstance(key, str) for key in by)
    # One key per row is a long list; a short one, or one that begins with a column, is of names.
    return listed and (len(by) <= len(available) or by[0] in available)
