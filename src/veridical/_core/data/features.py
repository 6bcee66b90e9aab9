"""Features as codes: every column becomes a few values that have a name in words.

Numbers are cut at quantiles, or kept as they are if there are few different ones; of texts the
commonest are kept. Codes of a feature are 0, 1, ... for its named values, then one for every other
value (also one that was not there when it was fitted), then one for a missing value.

>>> columns = {"age": np.arange(20, 60), "region": np.array(["South", "North"] * 20)}
>>> features = fit_features(columns, caller="f")
>>> [feature.words(0) for feature in features]
['age 29 or less', 'region = North']
>>> features.codes({"age": [25, None], "region": ["South", "East"]}, caller="f").tolist()
[[0, 1], [5, 2]]
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from veridical._core.data.arrays import missing_values, to_numpy
from veridical._core.data.groups import few_digits
from veridical._core.data.labels import check_text, preview
from veridical._core.data.schema import ANY, Field, Number, Place, Several, Text, check_fields
from veridical._core.typing import Array, ArrayLike, BoolArray, FloatArray, IntArray
from veridical.exceptions import InvalidInputError, invalid

MOST_VALUES = 10  # so many texts, or different numbers, keep their own code
_KINDS = {"number": "numbers", "truth": "truth values", "date": "dates", "text": "texts"}
_MOVED = 0.02  # share of the rows that may change sides where an edge gets fewer digits
_DAY = 86_400.0


@dataclass(frozen=True)
class Feature:
    """One column as codes.

    Attributes
    ----------
    name : of the column
    kind : "number", "truth", "date" or "text"; dates are seconds since 1970, truth values 0 and 1
    values : values that have a code of their own, in order; empty where numbers are cut
    edges : where numbers are cut; a part ends with its upper edge, which belongs to it
    whole : whether all numbers were whole
    """

    name: str
    kind: str
    values: tuple[Any, ...] = ()
    edges: tuple[float, ...] = ()
    whole: bool = False

    @property
    def n_named(self) -> int:
        """Number of values with a name: parts, or values kept as they are."""
        return len(self.edges) + 1 if self.edges else len(self.values)

    @property
    def other(self) -> int:
        """Code of values that have no code of their own."""
        return self.n_named

    @property
    def missing(self) -> int:
        """Code of missing values."""
        return self.n_named + 1

    @property
    def n_codes(self) -> int:
        """Number of codes: named values, "other" and "missing"."""
        return self.n_named + 2

    def codes(self, column: ArrayLike, *, caller: str, param: str = "features") -> IntArray:
        """Code of each value of a column."""
        values, missing, kind = _plain(column, self.name, caller, param)
        found = np.full(len(missing), self.missing, dtype=np.int16)
        if missing.all():
            return found
        if (kind == "text") is not (self.kind == "text"):
            raise self._wrong_kind(kind, caller, param)
        found[~missing] = self._codes(values)
        return found

    def words(self, code: int) -> str:
        """A value in words: "age 30 to 45", "region = South", "region missing".

        Examples
        --------
        >>> age = Feature("age", "number", edges=(29.0, 45.0), whole=True)
        >>> [age.words(code) for code in range(age.n_codes)]
        ['age 29 or less', 'age 30 to 45', 'age 46 or more', 'age other', 'age missing']
        """
        if code == self.missing:
            return f"{self.name} missing"
        if code == self.other:
            return f"{self.name} other"
        if not self.edges:
            return f"{self.name} = {self._shown(self.values[code])}"
        edges = [math.floor(edge) for edge in self.edges] if self.whole else list(self.edges)
        if code == len(edges):
            end = edges[-1]
            above = f"{self._shown(end + 1)} or more" if self.whole else f"above {self._shown(end)}"
            return f"{self.name} {above}"
        high = self._shown(edges[code])
        if code == 0:
            return f"{self.name} {high} or less" if self.whole else f"{self.name} up to {high}"
        low = self._shown(edges[code - 1] + self.whole)
        return f"{self.name} = {low}" if low == high else f"{self.name} {low} to {high}"

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe dictionary of the attributes."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in asdict(self).items()
        }

    @classmethod
    def from_dict(cls, data: Any, place: Place) -> Feature:
        """Read back what `to_dict` wrote; it is data, not trust."""
        if not isinstance(data, dict):
            raise place.wrong(data, "a record")
        check_fields(_FIELDS, data, replace(place, owner=cls, sizes={}))
        kind = data["kind"]
        if type(data["whole"]) is not bool:
            raise place.at("whole").wrong(data["whole"], "true or false")
        of: Field = Text() if kind == "text" else Number(low=-ANY, high=ANY)
        Several(of, "v").check(data["values"], place.at("values"))
        for name in ("values", "edges"):
            if not all(a < b for a, b in pairwise(data[name])):
                raise place.at(name).wrong(data[name], "increasing")
        if data["edges"] and (data["values"] or kind == "text"):
            raise place.at("edges").wrong(data["edges"], "empty where values are listed")
        lists = {name: tuple(data[name]) for name in ("values", "edges")}
        return cls(name=data["name"], kind=kind, whole=data["whole"], **lists)

    def _codes(self, values: Array) -> IntArray:
        if self.edges:
            return np.searchsorted(np.asarray(self.edges), values, side="left")
        if not self.values:
            return np.full(len(values), self.other)
        known = np.asarray(self.values)
        code = np.minimum(np.searchsorted(known, values), len(known) - 1)
        return np.where(known[code] == values, code, self.other)

    def _shown(self, value: Any) -> str:
        if self.kind == "text":
            return str(value)
        if self.kind == "truth":
            return "True" if value else "False"
        if self.kind == "date":
            time = dt.datetime(1970, 1, 1) + dt.timedelta(seconds=float(value))
            return time.isoformat(" ", "seconds") if value % _DAY else time.date().isoformat()
        return f"{value:.12g}"

    def _wrong_kind(self, kind: str, caller: str, param: str) -> InvalidInputError:
        got = f"{_KINDS[kind]} in column {self.name!r}"
        hint = "give the column the type that it had when it was fitted."
        return invalid(caller, param, _KINDS[self.kind], got, hint=hint)


_FIELDS: dict[str, Field] = {
    "name": Text(),
    "kind": Text(options=tuple(_KINDS)),
    "values": Field(),
    "edges": Several(Number(low=-ANY, high=ANY), "e"),
    "whole": Field(),
}

Part = tuple[int, int]  # number of a feature, and one of its codes
Parts = tuple[Part, ...]  # what holds at once for the rows of a segment; nothing for all rows


@dataclass(frozen=True)
class Features:
    """Columns as codes, as fitted by `fit_features`; an iterable of `Feature`."""

    of: tuple[Feature, ...]

    def __len__(self) -> int:
        return len(self.of)

    def __iter__(self) -> Iterator[Feature]:
        return iter(self.of)

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return [feature.name for feature in self.of]

    @property
    def n_codes(self) -> list[int]:
        """Number of codes of each feature."""
        return [feature.n_codes for feature in self.of]

    def codes(
        self, columns: Mapping[str, ArrayLike], *, caller: str, param: str = "features"
    ) -> IntArray:
        """Codes of rows, of shape (n, number of features); columns are found by name."""
        for name in self.names:
            if name not in columns:
                hint = f"pass the columns that were fitted: {preview(self.names)}."
                raise invalid(caller, param, f"with a column {name!r}", "none", hint=hint)
        found = [one.codes(columns[one.name], caller=caller, param=param) for one in self.of]
        _check_lengths(self.names, found, caller, param)
        return np.column_stack(found)

    def words(self, parts: Parts) -> str:
        """A conjunction in words: "gender = female, region = South"; nothing is "all rows"."""
        return ", ".join(self.of[k].words(code) for k, code in parts) or "all rows"

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe dictionary."""
        return {"features": [feature.to_dict() for feature in self.of]}

    @classmethod
    def from_dict(cls, data: Any, place: Place) -> Features:
        """Read back what `to_dict` wrote; it is data, not trust."""
        if not isinstance(data, dict):
            raise place.wrong(data, "a record")
        check_fields({"features": Field()}, data, replace(place, owner=cls))
        listed, inside = data["features"], place.at("features")
        if type(listed) is not list or not listed:
            raise inside.wrong(listed, "a list of features")
        of = tuple(Feature.from_dict(each, inside.item(k)) for k, each in enumerate(listed))
        if len({feature.name for feature in of}) < len(of):
            raise inside.wrong([feature.name for feature in of], "of different names")
        return cls(of)


def fit_features(
    columns: Mapping[str, ArrayLike],
    *,
    n_bins: int = 4,
    n_values: int = MOST_VALUES,
    counts: FloatArray | None = None,
    caller: str,
    param: str = "features",
) -> Features:
    """Choose the codes of columns.

    Parameters
    ----------
    columns : mapping of str to array-like of shape (n,)
        Numbers, truth values, dates or texts, by name. Rows of weight zero are already gone.
    n_bins : int
        Parts that numbers (and dates) of many different values are cut into, at quantiles; equal
        values stay together, so there may be fewer.
    n_values : int
        How many different numbers are few, and how many of the commonest texts have a code.
    counts : array of shape (n,), optional
        How often each row stands for itself; a row of count k is as k rows.
    caller, param : who asks, and for which argument

    Returns
    -------
    Features

    Examples
    --------
    >>> wage = np.array([0.0] * 6 + [1.5, 2.5, 3.5, 4.5, 5.5, 6.5])
    >>> [feature] = fit_features({"wage": wage}, n_bins=2, n_values=4, caller="f")
    >>> feature.words(0), feature.words(1)
    ('wage up to 0', 'wage above 0')
    """
    if not columns:
        hint = "pass a frame with a column a feature."
        raise invalid(caller, param, "at least one column", "none", hint=hint)
    check_text(columns, caller=caller, param=param)
    plain = {name: _plain(column, name, caller, param) for name, column in columns.items()}
    _check_lengths(list(plain), [missing for _, missing, _ in plain.values()], caller, param)
    return Features(
        tuple(
            _fit(name, values, kind, None if counts is None else counts[~missing], n_bins, n_values)
            for name, (values, missing, kind) in plain.items()
        )
    )


def _fit(
    name: str, values: Array, kind: str, counts: FloatArray | None, n_bins: int, n_values: int
) -> Feature:
    distinct, place = np.unique(values, return_inverse=True)
    rows = np.bincount(place.reshape(-1), weights=counts, minlength=len(distinct))
    if kind == "text":
        commonest = np.argsort(-rows, kind="stable")[:n_values]  # of equals the first by alphabet
        return Feature(name, kind, values=tuple(distinct[np.sort(commonest)].tolist()))
    finite = distinct[np.isfinite(distinct)]  # without edges, an infinite number is another value
    whole = kind == "number" and bool((finite % 1 == 0).all())
    if len(distinct) <= n_values:
        return Feature(name, kind, values=tuple(finite.tolist()), whole=whole)
    return Feature(name, kind, edges=tuple(_edges(distinct, rows, n_bins, kind)), whole=whole)


def _edges(distinct: FloatArray, rows: Array, n_bins: int, kind: str) -> list[float]:
    """Quantiles that are values of the data, written with few digits where that moves few rows."""
    below = np.cumsum(rows)
    targets = below[-1] * np.arange(1, n_bins) / n_bins
    place = np.searchsorted(below, targets * (1 - 1e-12))
    # Nothing is above the largest value: where a quantile is there, it is what is cut off.
    place = np.minimum(place, len(distinct) - 2)
    edges = distinct[np.unique(place)]
    edges = edges[np.isfinite(edges)]
    rounded = np.floor(edges / _DAY) * _DAY if kind == "date" else few_digits(edges)
    share = below / below[-1]
    for k, edge in enumerate(rounded):
        moved = _share_up_to(edge, distinct, share) - _share_up_to(edges[k], distinct, share)
        if abs(moved) > _MOVED:
            rounded[k] = edges[k]
    keeps = (rounded >= distinct[0]) & (rounded < distinct[-1])
    kept: list[float] = np.unique(rounded[keeps]).tolist()
    return kept or [float(distinct[-2])]


def _share_up_to(edge: float, distinct: FloatArray, share: FloatArray) -> float:
    last = int(np.searchsorted(distinct, edge, side="right")) - 1
    return float(share[last]) if last >= 0 else 0.0


def _plain(column: ArrayLike, name: str, caller: str, param: str) -> tuple[Array, BoolArray, str]:
    """Values that are there as float64 or text, where values are missing, and their kind."""
    array = to_numpy(column, caller=caller, param=param)
    if array.ndim != 1:
        got = f"shape {array.shape} of column {name!r}"
        raise invalid(caller, param, "columns of one value a row", got, hint="split the column.")
    if array.dtype.kind == "T":  # texts of variable length, where a missing one is as of objects
        array = array.astype(object)
    missing = missing_values(array)
    values = array[~missing]
    kind = _kind(values, name, caller, param)
    if kind == "text":
        values = values.astype(np.str_)
        blank = np.char.strip(values) == ""  # a text of blanks says nothing
        missing[np.flatnonzero(~missing)[blank]] = True
        values = values[~blank]
        if not _are_dates(values):
            return values, missing, kind
        values, kind = values.astype("datetime64[us]"), "date"
    if kind == "date":
        seconds = values.astype("datetime64[us]").astype(np.int64) / 1e6
        return seconds, missing, kind
    return values.astype(np.float64), missing, kind


_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)?")


def _are_dates(values: Array) -> bool:
    """Whether texts are dates as files write them, year first."""
    if not len(values) or _DATE.fullmatch(values[0]) is None:
        return False
    distinct = np.unique(values)
    if not all(map(_DATE.fullmatch, distinct.tolist())):
        return False
    try:
        distinct.astype("datetime64[us]")
    except ValueError:  # a month 13
        return False
    return True


def _kind(values: Array, name: str, caller: str, param: str) -> str:
    kinds = {"b": "truth", "i": "number", "u": "number", "f": "number", "M": "date", "U": "text"}
    if values.dtype.kind in kinds:
        return kinds[values.dtype.kind]
    found = {type(value) for value in values.tolist()} if values.dtype.kind == "O" else set()
    for types, kind in _OBJECTS:
        if all(issubclass(each, types) for each in found) and values.dtype.kind == "O":
            return kind
    got = " and ".join(sorted(each.__name__ for each in found)) or f"type {values.dtype}"
    hint = "use values of one kind, for instance all texts."
    raise invalid(caller, param, f"of one kind in column {name!r}", got, hint=hint)


_OBJECTS: tuple[tuple[Any, str], ...] = (
    ((bool, np.bool_), "truth"),
    ((bool, int, float, np.number, np.bool_), "number"),
    (dt.date, "date"),  # and times, which are dates, too
    (str, "text"),
)


def _check_lengths(names: Sequence[str], columns: Sequence[Array], caller: str, param: str) -> None:
    for name, column in zip(names, columns, strict=True):
        if len(column) != len(columns[0]):
            got = f"{len(column)} values in {name!r}, {len(columns[0])} in {names[0]!r}"
            raise invalid(caller, param, "of equal length", got, hint="give every row a value.")
