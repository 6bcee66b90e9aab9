"""Segments: all conjunctions of a few feature values that enough rows have.

Rows are looked at once, to find the crosses of codes that occur; segments are sums of crosses. No
segment has a mask over rows.

>>> codes = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [1, 1]])
>>> cells = cross(codes, [2, 2])
>>> segments = find_segments(cells.codes, cells.rows, [2, 2], depth=2, min_rows=2)
>>> dict(zip(segments.parts, segments.rows.tolist()))
{(): 5.0, ((0, 0),): 2.0, ((0, 1),): 3.0, ((1, 0),): 2.0, ((1, 1),): 3.0, ((0, 1), (1, 1)): 2.0}
>>> segments.of(codes[:1]).tolist()  # the row's segment of each set of features; -1: none
[[0, 1, 3, -1]]
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from veridical._core.data.features import Parts
from veridical._core.typing import FloatArray, IntArray

_LARGEST = 2**62
_TABLE = 2**20  # as many combinations are counted in a table
_SAME = 1e-9  # relative difference of sums of weights that is none


@dataclass(frozen=True)
class Cross:
    """Combinations of codes that occur.

    Attributes
    ----------
    codes : of each combination, of shape (m, number of features), in order
    rows : rows, or what they count, of each combination
    place : number of the combination of each row
    """

    codes: IntArray
    rows: FloatArray
    place: IntArray


def cross(codes: IntArray, n_codes: Sequence[int], counts: FloatArray | None = None) -> Cross:
    """Find the combinations of codes that occur.

    Parameters
    ----------
    codes : array of shape (n, number of features)
    n_codes : number of codes of each feature
    counts : how much each row counts; one by default
    """
    _, first, place = np.unique(
        combined(codes, n_codes, range(codes.shape[1])), return_index=True, return_inverse=True
    )
    place = place.reshape(-1)
    rows = np.bincount(place, weights=counts, minlength=len(first)).astype(np.float64)
    return Cross(codes[first], rows, place)


def combined(codes: IntArray, n_codes: Sequence[int], features: Sequence[int]) -> IntArray:
    """One number a row that tells combinations of some features apart, in their order."""
    numbers = np.zeros(len(codes), dtype=np.int64)
    size = 1
    for k in features:
        if size > _LARGEST // n_codes[k]:  # too many are possible: only those that occur
            distinct, numbers = np.unique(numbers, return_inverse=True)
            numbers, size = numbers.reshape(-1).astype(np.int64), len(distinct)
        numbers = numbers * n_codes[k] + codes[:, k]
        size *= n_codes[k]
    return numbers


@dataclass(frozen=True)
class Segments:
    """Conjunctions of feature values.

    Attributes
    ----------
    parts : of each segment, the features (by number) and the code of each; () are all rows
    rows : rows, or what they count, of each segment
    n_codes : number of codes of each feature
    """

    parts: tuple[Parts, ...]
    rows: FloatArray
    n_codes: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.parts)

    @cached_property
    def feature_sets(self) -> list[tuple[int, ...]]:
        """Sets of features that segments are made of, in the order of `parts`."""
        return list(dict.fromkeys(tuple(k for k, _ in parts) for parts in self.parts))

    def of(self, codes: IntArray) -> IntArray:
        """Segment of each row in each set of features, -1 where it is in none.

        A row is in at most one segment of a set of features.

        Parameters
        ----------
        codes : array of shape (n, number of features)

        Returns
        -------
        integer array of shape (n, number of `feature_sets`)
        """
        found = np.empty((len(codes), len(self.feature_sets)), dtype=np.int32)
        for column, lookup in enumerate(self._lookups):
            found[:, column] = lookup.find(codes)
        return found

    def subset(self, numbers: IntArray) -> Segments:
        """Some of the segments, in the order given."""
        parts = tuple(self.parts[number] for number in numbers.tolist())
        return Segments(parts, self.rows[numbers], self.n_codes)

    @cached_property
    def _lookups(self) -> list[_Lookup]:
        members: dict[tuple[int, ...], list[int]] = {each: [] for each in self.feature_sets}
        for number, parts in enumerate(self.parts):
            members[tuple(k for k, _ in parts)].append(number)
        return [
            _Lookup.of(features, [self.parts[n] for n in numbers], numbers, self.n_codes)
            for features, numbers in members.items()
        ]


@dataclass(frozen=True)
class _Lookup:
    """Where the segments of one set of features are found: in a table, or among sorted keys."""

    features: tuple[int, ...]
    sizes: list[int]
    keys: IntArray | None  # None: `numbers` is a table of all combinations
    numbers: IntArray

    @classmethod
    def of(
        cls,
        features: tuple[int, ...],
        parts: list[Parts],
        numbers: list[int],
        n_codes: Sequence[int],
    ) -> _Lookup:
        sizes = [n_codes[k] for k in features]
        codes = np.array([[code for _, code in each] for each in parts], dtype=np.int64)
        codes = codes.reshape(len(parts), len(features))
        if math.prod(sizes) > _LARGEST:  # columns are looked up one by one
            return cls(features, sizes, codes, np.asarray(numbers))
        keys = combined(codes, sizes, range(len(features)))
        if math.prod(sizes) <= _TABLE:
            table = np.full(math.prod(sizes), -1)
            table[keys] = numbers
            return cls(features, sizes, None, table)
        order = np.argsort(keys)
        return cls(features, sizes, keys[order], np.asarray(numbers)[order])

    def find(self, codes: IntArray) -> IntArray:
        own = codes[:, list(self.features)]
        if self.keys is None:
            return self.numbers[combined(own, self.sizes, range(len(self.features)))]
        if self.keys.ndim == 2:
            both = combined(np.concatenate([self.keys, own]), self.sizes, range(len(self.features)))
            order = np.argsort(both[: len(self.keys)])
            keys, numbers = both[: len(self.keys)][order], self.numbers[order]
            rows = both[len(self.keys) :]
        else:
            keys, numbers = self.keys, self.numbers
            rows = combined(own, self.sizes, range(len(self.features)))
        place = np.minimum(np.searchsorted(keys, rows), len(keys) - 1)
        return np.where(keys[place] == rows, numbers[place], -1)


def find_segments(
    codes: IntArray,
    rows: FloatArray,
    n_codes: Sequence[int],
    *,
    depth: int,
    min_rows: float,
) -> Segments:
    """All conjunctions of up to `depth` features that have at least `min_rows` rows.

    A conjunction whose rows are those of a shorter one is left out: it says no more. All rows are
    the first segment, whatever their number.

    Parameters
    ----------
    codes, rows : combinations that occur and their rows, as in `Cross`
    n_codes : number of codes of each feature
    depth : most features of a conjunction
    min_rows : fewest rows
    """
    total = float(rows.sum())
    parts: list[Parts] = [()]
    sizes: list[float] = [total]
    known: dict[Parts, float] = {(): total}
    for length in range(1, min(depth, codes.shape[1]) + 1):
        for features in combinations(range(codes.shape[1]), length):
            values, sums = _sums(codes, rows, n_codes, features)
            for index in np.flatnonzero(sums >= min_rows * (1 - _SAME)).tolist():
                found = tuple(zip(features, values[index].tolist(), strict=True))
                size = float(sums[index])
                shorter = [known.get(each, np.inf) for each in combinations(found, length - 1)]
                known[found] = size
                if size < min(shorter) * (1 - _SAME):
                    parts.append(found)
                    sizes.append(size)
    return Segments(tuple(parts), np.asarray(sizes), tuple(n_codes))


def _sums(
    codes: IntArray, rows: FloatArray, n_codes: Sequence[int], features: tuple[int, ...]
) -> tuple[IntArray, FloatArray]:
    """Codes of the combinations of some features that occur, and the rows of each."""
    numbers = combined(codes, n_codes, features)
    sizes = [n_codes[k] for k in features]
    if math.prod(sizes) <= _TABLE:  # counting is faster than sorting
        sums = np.bincount(numbers, weights=rows, minlength=math.prod(sizes))
        present = np.flatnonzero(sums)
        return np.column_stack(np.unravel_index(present, sizes)), sums[present].astype(np.float64)
    _, first, place = np.unique(numbers, return_index=True, return_inverse=True)
    own = codes[first][:, list(features)]
    sums = np.bincount(place.reshape(-1), weights=rows, minlength=len(first))
    return own, sums.astype(np.float64)
