"""A table of sums as dictionaries, and back."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any

import numpy as np

from veridical.exceptions import InvalidInputError, invalid
from veridical.frames._grid_table import GridTable
from veridical.summaries._grid_cells import SUMS

FORMAT, VERSION = "veridical table of sufficient statistics", 1

INDICES = ("group", "problem", "bin", "cell", "outcome")
ENTRIES = (*INDICES, *SUMS)
BY_GROUP = ("rows", "total_w", "total_w2")
BY_CLASS = ("class_weight", "class_count")
_KINDS = {"datetime": dt.datetime, "date": dt.date}


def head_of(table: GridTable) -> dict[str, Any]:
    """Return all but the entries, JSON-safe."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "classes": [_key(label) for label in table.classes],
        "positive": table.positive,
        "problems": list(table.problems),
        "groups": [_key(key) for key in table.groups],
        "n_bins": table.n_bins,
        "resolution": table.resolution,
        **{name: getattr(table, name).tolist() for name in (*BY_GROUP, *BY_CLASS)},
        "scores": {rule: [_number(v) for v in sums] for rule, sums in table.scores.items()},
    }


def table_from(head: Any, entries: Mapping[str, Any] | None) -> GridTable:
    """Read back what `head_of` and the entries hold; raise if they are none of this version."""
    if not isinstance(head, Mapping) or head.get("format") != FORMAT:
        raise _not_one("something else")
    if head.get("version") != VERSION:
        hint = "read it with the version of veridical that wrote it, or make it anew."
        got = f"version {head.get('version')!r}"
        raise invalid("GridSummary", "data", f"of format version {VERSION}", got, hint=hint)
    try:
        return _table(head, entries or {})
    except (KeyError, TypeError, ValueError) as error:
        got = f"a damaged one ({type(error).__name__}: {error})"
        raise _not_one(got) from error


def _table(head: Mapping[str, Any], entries: Mapping[str, Any]) -> GridTable:
    numbers: dict[str, Any] = {name: np.asarray(entries[name], dtype=np.int64) for name in INDICES}
    for name in SUMS:
        numbers[name] = np.asarray(entries[name], dtype=np.float64)
    if len({len(values) for values in numbers.values()}) != 1:
        msg = "columns of different lengths"
        raise ValueError(msg)
    for name in (*BY_GROUP, *BY_CLASS):
        numbers[name] = np.asarray(head[name], dtype=np.float64)
    return GridTable(
        classes=tuple(_from_key(label) for label in head["classes"]),
        positive=int(head["positive"]),
        problems=tuple(head["problems"]),
        groups=tuple(_from_key(key) for key in head["groups"]),
        scores={rule: np.array([float(v) for v in sums]) for rule, sums in head["scores"].items()},
        n_bins=int(head["n_bins"]),
        resolution=int(head["resolution"]),
        **numbers,
    )


def _not_one(got: str) -> InvalidInputError:
    hint = "pass what `to_dict`, `to_json` or `to_parquet` of a GridSummary wrote."
    return invalid("GridSummary", "data", "a table of sufficient statistics", got, hint=hint)


def _key(key: Any) -> Any:
    """A label or group key: text, number, boolean, date, or several of them."""
    if isinstance(key, tuple):
        return [_key(part) for part in key]
    if isinstance(key, np.generic):
        key = key.item()
    for name, kind in _KINDS.items():
        if isinstance(key, kind):
            return {name: key.isoformat()}
    return key


def _from_key(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_from_key(part) for part in value)
    if isinstance(value, Mapping):
        ((name, text),) = value.items()
        return _KINDS[name].fromisoformat(text)
    return value


def _number(value: float) -> float | str:
    return float(value) if np.isfinite(value) else repr(float(value))  # JSON has no infinity
