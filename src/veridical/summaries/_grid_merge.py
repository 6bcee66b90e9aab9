"""Tables of sums of different rows, added up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from veridical._core.typing import FloatArray, IntArray
from veridical.exceptions import InvalidInputError, invalid
from veridical.frames._grid_table import GridTable
from veridical.summaries._grid_cells import SUMS
from veridical.summaries._grid_dict import BY_CLASS, BY_GROUP, ENTRIES, INDICES

_ALIKE = ("classes", "positive", "problems", "n_bins", "resolution")


def merge_tables(first: GridTable, second: GridTable) -> GridTable:
    """Sums of the rows of both; raise if they were not made alike."""
    for name in _ALIKE:
        one, two = getattr(first, name), getattr(second, name)
        if one != two:
            got = f"{name} {two!r}, where the other has {one!r}"
            raise _not_alike(got)
    if set(first.scores) != set(second.scores):
        raise _not_alike("other scores")
    if (first.groups == (None,)) != (second.groups == (None,)):
        raise _not_alike("one with groups and one without")
    tables = (first, second)
    groups = _united(first.groups, second.groups)
    places = [np.array([groups.index(key) for key in table.groups]) for table in tables]

    def by_group(values: Sequence[FloatArray]) -> FloatArray:
        total = np.zeros((len(groups), *values[0].shape[1:]))
        for place, part in zip(places, values, strict=True):
            total[place] += part
        return total

    columns: dict[str, Any] = {
        name: np.concatenate([getattr(table, name) for table in tables]) for name in ENTRIES
    }
    columns["group"] = np.concatenate(
        [place[table.group] for place, table in zip(places, tables, strict=True)]
    )
    columns |= {
        name: by_group([getattr(table, name) for table in tables])
        for name in (*BY_GROUP, *BY_CLASS)
    }
    scores = {rule: by_group([t.scores[rule] for t in tables]) for rule in first.scores}
    return _added_up(replace(first, groups=groups, scores=scores, **columns))


def one_group(table: GridTable, index: int) -> GridTable:
    """Return the table of one group, without groups."""
    rows = table.group == index
    entries: dict[str, Any] = {name: getattr(table, name)[rows] for name in ENTRIES}
    entries["group"] = np.zeros(int(rows.sum()), dtype=table.group.dtype)
    for name in (*BY_GROUP, *BY_CLASS):
        entries[name] = getattr(table, name)[index : index + 1]
    scores = {rule: sums[index : index + 1] for rule, sums in table.scores.items()}
    return replace(table, groups=(None,), scores=scores, **entries)


def _added_up(table: GridTable) -> GridTable:
    """Return the table with one entry for each combination, in order."""
    keys = tuple(getattr(table, name) for name in reversed(INDICES))
    order = np.lexsort(keys)
    new = np.zeros(len(order), dtype=bool)
    new[:1] = True
    for key in keys:
        ordered = key[order]
        new[1:] |= ordered[1:] != ordered[:-1]
    place = np.cumsum(new) - 1
    entries: dict[str, Any] = {name: getattr(table, name)[order][new] for name in INDICES}
    entries |= {name: _sums(getattr(table, name)[order], place) for name in SUMS}
    return replace(table, **entries)


def _sums(values: FloatArray, place: IntArray) -> FloatArray:
    return np.bincount(place, weights=values).astype(np.float64, copy=False)


def _united(first: tuple[Any, ...], second: tuple[Any, ...]) -> tuple[Any, ...]:
    """Keys of both, sorted; keys of several kinds by kind."""
    keys = list(dict.fromkeys([*first, *second]))
    try:
        return tuple(sorted(keys))
    except TypeError:
        return tuple(sorted(keys, key=lambda key: (type(key).__name__, repr(key))))


def _not_alike(got: str) -> InvalidInputError:
    hint = "make both with the same labels, `pos_label`, `lens`, `n_bins` and `by`."
    return invalid("merge", "other", "a summary made alike", got, hint=hint)
