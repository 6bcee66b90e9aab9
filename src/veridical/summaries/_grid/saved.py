"""The table as a dictionary, and what it must be when it is read back."""

from __future__ import annotations

import datetime as dt
import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from veridical._core.data.schema import (
    SEAL,
    Fields,
    Label,
    Number,
    Numbers,
    Place,
    Text,
    check_fields,
    check_names,
    is_damaged,
    said,
    seal,
    shortened,
)
from veridical._core.data.validation import is_number
from veridical._core.typing import FloatArray
from veridical.exceptions import InvalidInputError, invalid
from veridical.frames.tables import GridTable
from veridical.summaries._grid.cells import INDICES, SUMS

FORMAT, VERSION = "veridical table of sufficient statistics", 1

ENTRIES = (*INDICES, *SUMS)
BY_GROUP = ("rows", "total_w", "total_w2")
BY_CLASS = ("class_weight", "class_count")
_KINDS = {"datetime": dt.datetime, "date": dt.date}
_RULES = ("brier", "log", "spherical", "zero-one")
_ROUNDING = 1e-6  # relative, of sums of many rows in any order

_HEAD = Fields(
    format=Text(options=(FORMAT,)),
    version=Number(low=VERSION, high=VERSION, whole=True),
    positive=Number(low=0, whole=True),
    n_bins=Number(low=1, high=1e9, whole=True),
    resolution=Number(low=1, high=1e9, whole=True),
    rows=Numbers("G", low=0, least=1),
    total_w=Numbers("G", low=0),
    total_w2=Numbers("G", low=0),
    class_weight=Numbers("G", "K", low=0),
    class_count=Numbers("G", "K", low=0),
)
_ENTRIES = Fields(
    group=Numbers("m", low=0, whole=True),
    problem=Numbers("m", low=0, whole=True),
    bin=Numbers("m", low=0, whole=True),
    cell=Numbers("m", low=0, high=2**31, whole=True),
    outcome=Numbers("m", low=0, high=1, whole=True),
    count=Numbers("m", above=0),
    sum_w=Numbers("m", above=0),
    sum_w2=Numbers("m", above=0),
    sum_wp=Numbers("m", low=0),
    sum_wp2=Numbers("m", low=0),
    sum_w2pq=Numbers("m", low=0),
)


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


def dict_of(table: GridTable) -> dict[str, Any]:
    """Return everything, JSON-safe."""
    return head_of(table) | {"entries": {name: getattr(table, name).tolist() for name in ENTRIES}}


def text_of(table: GridTable, *, entries: bool = True, indent: int | None = None) -> str:
    """JSON with a hash by which damage is known; the hash is of the entries, too, if left out."""
    data = dict_of(table) if entries else head_of(table)
    data[SEAL] = seal(data if entries else dict_of(table))
    return json.dumps(data, indent=indent, allow_nan=False, ensure_ascii=False)


def from_text(text: str, arrays: Mapping[str, Any] | None = None) -> GridTable:
    """Read back what `text_of` wrote, with entries beside it or in it."""
    try:
        data = json.loads(text)
    except (ValueError, TypeError, RecursionError) as error:
        raise _not_one("no JSON") from error
    if arrays is not None and isinstance(data, dict):
        data["entries"] = {name: values.tolist() for name, values in arrays.items()}
    return table_from(data)


def table_from(data: Any) -> GridTable:
    """Read back what `dict_of` returned; raise if it is none of this version."""
    if not isinstance(data, Mapping) or data.get("format") != FORMAT:
        raise _not_one("something else")
    data = dict(data)
    if is_damaged(data):
        raise _not_one("a damaged one: its content is not what was written")
    data.pop(SEAL, None)
    if data.get("version") != VERSION:
        hint = "read it with the version of veridical that wrote it, or make it anew."
        got = f"version {shortened(data.get('version'))}"
        raise invalid("GridSummary", "data", f"of format version {VERSION}", got, hint=hint)
    place = Place("GridSummary")
    others = ("classes", "problems", "groups", "scores", "entries")
    check_names(_HEAD | Fields.fromkeys(others, Label()), data, place)
    classes, groups = (_keys(data[name], place.at(name)) for name in ("classes", "groups"))
    kinds = {"number" if is_number(label) else type(label) for label in classes}
    if len(kinds) > 1 or kinds & {tuple, type(None)}:
        raise place.at("classes").wrong(data["classes"], "labels of one kind")
    if groups != (None,) and None in groups:
        raise place.at("groups").wrong(data["groups"], "keys")
    place.sizes.update(K=len(classes), G=len(groups))
    head = _arrays(_HEAD, {name: data[name] for name in _HEAD}, place)
    if not isinstance(data["entries"], Mapping):
        raise place.at("entries").wrong(data["entries"], "a record")
    entries = _arrays(_ENTRIES, dict(data["entries"]), place)
    problems = _problems(data["problems"], len(classes), place.at("problems"))
    if not head["positive"] < len(classes):
        raise place.at("positive").wrong(head["positive"], f"below {len(classes)}")
    table = GridTable(
        classes=classes,
        positive=int(head["positive"]),
        problems=problems,
        groups=groups,
        scores=_scores(data["scores"], len(groups), place.at("scores")),
        n_bins=int(head["n_bins"]),
        resolution=int(head["resolution"]),
        **entries,
        **{name: head[name] for name in (*BY_GROUP, *BY_CLASS)},
    )
    with np.errstate(all="ignore"):  # of numbers too large to be right, which are refused
        _check_relations(table, place)
    return table


def _arrays(fields: Fields, values: dict[str, Any], place: Place) -> dict[str, Any]:
    """Lists as arrays, checked."""
    made = dict(values)
    for name, each in fields.items():
        if name in made and isinstance(each, Numbers):
            made[name] = _array(made[name], each, place.at(name))
    check_fields(fields, made, place)
    return made


def _array(values: Any, field: Numbers, place: Place) -> Any:
    rows = values if len(field.shape) == 2 else [values]
    listed = isinstance(values, list) and all(isinstance(row, list) for row in rows)
    if not (listed and len({len(row) for row in rows}) <= 1):
        raise place.wrong(values, "a list of numbers")
    kinds = {int} if field.whole else {int, float}
    if not set().union(*(map(type, row) for row in rows)) <= kinds:
        raise place.wrong(values, "a list of whole numbers" if field.whole else "a list of numbers")
    try:
        return np.array(values, dtype=np.int64 if field.whole else np.float64)
    except OverflowError as error:
        raise place.wrong(said("larger ones"), "numbers of 64 bits") from error


def _keys(values: Any, place: Place) -> tuple[Any, ...]:
    """Labels or keys of groups, all different."""
    if not isinstance(values, list) or not values:
        raise place.wrong(values, "a list of labels")
    found = tuple(_from_key(value, place.item(k)) for k, value in enumerate(values))
    if len(set(found)) < len(found):
        raise place.wrong(list(found), "different from each other")
    return found


def _problems(values: Any, n_classes: int, place: Place) -> tuple[str | int, ...]:
    known = {"confidence", *range(n_classes)} | ({"binary"} if n_classes == 2 else set())
    good = isinstance(values, list) and values and all(type(v) in (int, str) for v in values)
    if not good or not set(values) <= known or len(set(values)) < len(values):
        raise place.wrong(values, "problems of these classes")
    return tuple(values)


def _scores(values: Any, n_groups: int, place: Place) -> dict[str, FloatArray]:
    if not isinstance(values, Mapping):
        raise place.wrong(values, "a record")
    for rule, sums in values.items():
        good = isinstance(sums, list) and len(sums) == n_groups and rule in _RULES
        if not (good and all((is_number(v) and v >= 0) or v == "inf" for v in sums)):
            raise place.at(str(rule)[:60]).wrong(sums, f"{n_groups} sums of a score")
    return {rule: np.array([float(v) for v in sums]) for rule, sums in values.items()}


def _check_relations(table: GridTable, place: Place) -> None:
    """Raise unless sums belong together."""
    for name, limit in (
        ("group", len(table.groups)),
        ("problem", len(table.problems)),
        ("bin", table.n_bins),
    ):
        if len(table.bin) and getattr(table, name).max() >= limit:
            raise place.at(name).wrong(int(getattr(table, name).max()), f"below {limit}")
    keys = np.stack([getattr(table, name) for name in INDICES])
    step = np.diff(keys, axis=1)
    first = np.argmax(step != 0, axis=0)
    if keys.shape[1] > 1 and (step[first, np.arange(step.shape[1])] <= 0).any():
        raise place.at("entries").wrong(said("another order, or one twice"), "sorted and different")
    edge, mean = table.bin / table.n_bins, table.sum_wp / table.sum_w
    slack = _ROUNDING
    inside = (mean >= edge - slack) & (mean <= edge + 1 / table.n_bins + slack)
    _check(inside, "sum_wp", "of means within their bins", table.sum_wp, place)
    most = table.sum_wp * (1 + slack)
    _check(table.sum_wp2 <= most, "sum_wp2", "at most sum_wp", table.sum_wp2, place)
    quarter = table.sum_w2 * (0.25 + slack)
    _check(table.sum_w2pq <= quarter, "sum_w2pq", "at most sum_w2 / 4", table.sum_w2pq, place)
    for squares, weights, counts, name in (
        (table.sum_w2, table.sum_w, table.count, "sum_w2"),
        (table.total_w2, table.total_w, table.rows, "total_w2"),
    ):
        enough = weights * weights <= counts * squares * (1 + slack)
        _check(enough, name, "at least the square of the weight by the count", squares, place)
        _check(squares <= weights * weights * (1 + slack), name, "of weights", squares, place)
    cells = table.group * len(table.problems) + table.problem
    size = len(table.groups) * len(table.problems)
    for part, whole, classes in (
        ("count", "rows", "class_count"),
        ("sum_w", "total_w", "class_weight"),
    ):
        total = getattr(table, whole)
        sums = np.bincount(cells, weights=getattr(table, part), minlength=size)
        close = np.isclose(sums.reshape(len(total), -1), total[:, None], rtol=slack, atol=0)
        _check(close.all(axis=1), whole, f"the sum of {part}", total, place)
        close = np.isclose(getattr(table, classes).sum(axis=1), total, rtol=slack, atol=0)
        _check(close, classes, f"of the sum {whole}", total, place)


def _check(good: Any, name: str, expected: str, values: Any, place: Place) -> None:
    if not good.all():
        raise place.at(name).wrong(values[~good][0].item(), expected)


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


def _from_key(value: Any, place: Place) -> Any:
    if isinstance(value, list):
        if any(isinstance(part, list) for part in value):
            raise place.wrong(value, "a key")
        return tuple(_from_key(part, place) for part in value)
    if isinstance(value, Mapping) and len(value) == 1:
        ((name, text),) = value.items()
        if name in _KINDS and isinstance(text, str):
            try:
                return _KINDS[name].fromisoformat(text)
            except ValueError as error:
                raise place.wrong(text, f"a {name}") from error
    if value is not None:
        Label().check(value, place)
    return value


def _number(value: float) -> float | str:
    return float(value) if math.isfinite(value) else repr(float(value))  # JSON has no infinity
