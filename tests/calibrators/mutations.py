"""One change at a time to what is saved: wrong types, numbers, sizes, order, text, nesting."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

CANARY = "\"' IS NULL)::INT ))))))) END FROM scores; DROP TABLE secrets; --"
DEEP = "deep"  # stands for lists within lists

_VALUES: dict[str, Any] = {
    "none": None,
    "true": True,
    "text": "1.0",
    "canary": CANARY,
    "list": [],
    "object": {},
    "nested": [[1.0]],
    "deep": DEEP,
    "tuple": {"tuple": [1.0, 2.0]},
    "array": {"array": [0.5], "shape": [1], "dtype": "<f8"},
    "encoded nan": {"float": "nan"},
    "encoded inf": {"float": "inf"},
    "encoded text": {"float": CANARY},
    "nan": math.nan,
    "inf": math.inf,
    "-inf": -math.inf,
    "huge": 1e308,
    "-huge": -1e308,
    "huge whole": 10**400,
    "large": 1e30,
    "negative": -5.0,
    "minus one": -1,
    "zero": 0,
    "tiny": 1e-320,
    "fraction": 0.37,
    "two and a half": 2.5,
    "whole": 7,
    "calibrator": {
        "calibrator": {
            "format": 1,
            "calibrator": "IdentityCalibrator",
            "parameters": {},
            "fitted": {},
        }
    },
}
_ARRAYS: dict[str, Any] = {
    "shorter": lambda a: {**a, "array": a["array"][:-1]},
    "both shorter": lambda a: {
        **a,
        "array": a["array"][: -max(1, math.prod(a["shape"][1:]))],
        "shape": [a["shape"][0] - 1, *a["shape"][1:]],
    },
    "longer": lambda a: {
        **a,
        "array": a["array"] + a["array"][: max(1, math.prod(a["shape"][1:]))],
        "shape": [a["shape"][0] + 1, *a["shape"][1:]],
    },
    "empty": lambda a: {**a, "array": [], "shape": [0] * len(a["shape"])},
    "reversed": lambda a: {**a, "array": a["array"][::-1]},
    "equal": lambda a: {**a, "array": a["array"][:1] * len(a["array"])},
    "flat": lambda a: {**a, "shape": [len(a["array"])]},
    "another axis": lambda a: {**a, "shape": [1, *a["shape"]]},
    "huge shape": lambda a: {**a, "shape": [10**12]},
    "negative shape": lambda a: {**a, "shape": [-1]},
    "text shape": lambda a: {**a, "shape": CANARY},
    "whole dtype": lambda a: {**a, "dtype": "<i8"},
    "small dtype": lambda a: {**a, "dtype": "<f2"},
    "object dtype": lambda a: {**a, "dtype": "|O"},
    "text dtype": lambda a: {**a, "dtype": "<U400000000"},
    "date dtype": lambda a: {**a, "dtype": "<M8[s]"},
    "foreign dtype": lambda a: {**a, "dtype": CANARY},
    "without shape": lambda a: {k: v for k, v in a.items() if k != "shape"},
    "extra": lambda a: {**a, "more": 1},
}


@dataclass(frozen=True)
class Mutation:
    """A change of the entry at a place."""

    place: tuple[Any, ...]
    name: str
    value: Any = None

    def __str__(self) -> str:
        return f"{'.'.join(map(str, self.place))}: {self.name}"

    def of(self, data: dict[str, Any]) -> dict[str, Any]:
        """A copy with this change."""
        made = copy.deepcopy(data)
        parent, key = _parent(made, self.place), self.place[-1]
        if self.name == "twice":
            parent[f"{key}x_"] = parent[key]
        elif self.name == "missing":
            del parent[key]
        else:
            parent[key] = _deep() if self.value is DEEP else copy.deepcopy(self.value)
        return made


def mutations(data: dict[str, Any]) -> Iterator[Mutation]:
    """Every change that is tried."""
    for place in _places(data):
        parent, old = _parent(data, place), _parent(data, place)[place[-1]]
        for name, value in _changes(old):
            if value is DEEP or json.dumps(value) != json.dumps(old):
                yield Mutation(place, name, value)
        if isinstance(parent, dict) and _is_record(place):
            yield Mutation(place, "missing")
            yield Mutation(place, "twice")


def _changes(old: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(old, dict) and set(old) == {"array", "shape", "dtype"}:
        yield from ((name, change(old)) for name, change in _ARRAYS.items())
    if isinstance(old, list) and len(old) > 1:
        yield from (("shorter", old[:-1]), ("longer", [*old, old[-1]]), ("reversed", old[::-1]))
    yield from _VALUES.items()


def _is_record(place: tuple[Any, ...]) -> bool:
    return len(place) < 2 or place[-2] in ("parameters", "fitted", "fingerprint", "evidence")


def _places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every entry of a record, and the ends and the middle of every list."""
    if place:
        yield place
    if isinstance(value, dict):
        for key in list(value):
            yield from _places(value[key], (*place, key))
    elif isinstance(value, list):
        for index in sorted({0, len(value) // 2, len(value) - 1}) if value else ():
            yield from _places(value[index], (*place, index))


def _parent(data: Any, place: tuple[Any, ...]) -> Any:
    for key in place[:-1]:
        data = data[key]
    return data


def _deep() -> Any:
    value: Any = 1.0
    for _ in range(5_000):
        value = [value]
    return value
