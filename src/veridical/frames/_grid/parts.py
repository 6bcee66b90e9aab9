"""Sums of some rows by group and key, and of all of them, added in order.

Like the kernel, it needs NumPy and nothing else.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from veridical.frames._grid.units import Work

INVALID, WEIGHTLESS = -1, -2  # keys of rows that must not count
_MOST_DENSE = 1 << 23  # sums kept in an array, occupied or not; beyond, only those that are


class Part:
    """Sums over some rows, by their groups.

    Attributes
    ----------
    invalid : whether a row cannot be used; sums are then of no use either
    weightless : rows without weight, by group
    """

    def __init__(self, kernel: Any, n_groups: int, loops: Any = None) -> None:
        self.kernel, self.n_groups, self._loops = kernel, n_groups, loops
        self.invalid = False
        self.weightless = np.zeros(n_groups)
        shape = len(kernel.names), n_groups, kernel.size
        self.dense: Any = np.zeros(shape) if np.prod(shape) <= _MOST_DENSE else None
        self.sparse: list[tuple[Any, Any]] = []

    def leave_out(self, rows: Any) -> None:
        """Count rows without weight."""
        groups = np.broadcast_to(rows.group, rows.n)
        self.weightless += np.bincount(groups, minlength=self.n_groups)

    def add(
        self, number: int, q: Any, logit: Any, tail: Any, rows: Any, work: Work, *, inner: bool
    ) -> None:
        """Sum up q by its piece, the outcome and the group."""
        kernel = self.kernel
        tails = kernel.tails[number]
        if self._loops is not None and self.dense is not None:
            group = rows.group if self.n_groups > 1 else None
            self._loops.add(q, tail, tails, group, rows.weight, self.dense, kernel.first[number])
            return
        keys = kernel.units.of(q, logit, work, inner=inner)
        if tails > 1:
            keys *= tails
            keys += tail
        self._add(kernel.first[number], kernel.units.n * tails, keys, q, rows, work)

    def score_column(self, p: Any, rows: Any) -> bool:
        """Sum up the scores of a single column by compiled loops; False if they do not apply.

        Of two labels either may be the positive one. What is summed is the score of all rows if it
        is the first, or the second: under "log p" and "sphere p" of that label, which will be used
        if it is, and nothing under "log q" and "sphere q" of the other.
        """
        loops, labels = self._loops, self.n_groups <= 2 and not self.kernel.question.grouped
        if loops is None or rows.weight is not None or not labels or self.dense is None:
            return False
        both = self.n_groups == 2
        log_2, log_1, sphere_2, sphere_1 = loops.scores(p, rows.group if both else None)
        own = self.dense[:, :, self.kernel.score :]
        own[0] += np.reshape(rows.by_group(None, None), (self.n_groups, 1))
        if both:
            own[1] += [[log_1, 0.0, sphere_1, 0.0], [log_2, 0.0, sphere_2, 0.0]]
        else:
            own[1, 0] += log_1, log_2, sphere_1, sphere_2
        return True

    def count_classes(self, rows: Any, work: Work) -> None:
        """Count rows by class."""
        half = work("cut")
        half[:] = 0.5
        self._add(self.kernel.classes, self.kernel.question.n_classes, rows.code, half, rows, work)

    def score(self, index: int, values: Any, rows: Any, work: Work) -> None:
        """Sum up values by group."""
        key = self.kernel.score + index
        if rows.weight is not None:
            values = np.multiply(values, rows.weight, out=work("scaled"))
        sums = np.zeros((len(self.kernel.names), self.n_groups))
        sums[0], sums[1] = rows.by_group(None, work), rows.by_group(values, work)
        if self.dense is not None:
            self.dense[:, :, key] += sums
            return
        held = np.flatnonzero(sums[0])
        self.sparse.append((held * self.kernel.size + key, sums[:, held]))

    def _add(self, first: int, size: int, keys: Any, q: Any, rows: Any, work: Work) -> None:
        values = _products(q, rows.weight, work)
        if self.n_groups > 1:
            if self.dense is None:
                self._add_sparse(rows.group * self.kernel.size + (first + keys), values)
                return
            keys = keys + np.multiply(rows.group, size, out=work("raw", np.intp))
        for total, each in zip(self.dense, values, strict=True):
            counted = np.bincount(keys, weights=each, minlength=self.n_groups * size)
            total[:, first : first + size] += counted.reshape(self.n_groups, size)

    def _add_sparse(self, keys: Any, values: list[Any]) -> None:
        held, place = np.unique(keys, return_inverse=True)
        place = place.reshape(-1)
        self.sparse.append(
            (held, np.stack([np.bincount(place, weights=each) for each in values]).astype(float))
        )

    def entries(self) -> tuple[Any, Any, Any]:
        """Group and key of each entry, and its sums, (m, number of entries)."""
        if self.dense is not None:
            group, key = np.nonzero(self.dense[0])
            return group, key, self.dense[:, group, key]
        keys, sums = added(self.sparse)
        group, key = np.divmod(keys, self.kernel.size)
        return group, key, sums


def _products(q: Any, w: Any, work: Work) -> list[Any]:
    """What is summed, in the order of `names`; None counts."""
    spread = np.subtract(1.0, q, out=work("spread"))
    spread *= q
    if w is None:
        return [None, q, spread]
    with np.errstate(over="ignore"):  # sums that are not finite are refused in words
        spread *= w
        return [None, w * q, spread, w, w * w, w * spread]


def added(parts: list[tuple[Any, Any]]) -> tuple[Any, Any]:
    """Sums of entries with equal keys, added in the order of the parts; keys increase."""
    keys, place = np.unique(np.concatenate([keys for keys, _ in parts]), return_inverse=True)
    sums = np.concatenate([sums for _, sums in parts], axis=1)
    place = place.reshape(-1)
    return keys, np.stack([np.bincount(place, weights=row, minlength=len(keys)) for row in sums])


class Groups:
    """Distinct keys of rows, numbered as they come."""

    def __init__(self) -> None:
        self.numbers: dict[tuple[Any, ...], int] = {}

    def numbered(self, keys: list[tuple[Any, ...]]) -> Any:
        """Number of each key."""
        found = [self.numbers.setdefault(key, len(self.numbers)) for key in keys]
        return np.array(found, dtype=np.intp)


class Total:
    """Sums of parts, added in their order."""

    def __init__(self, kernel: Any) -> None:
        self.kernel, self.groups = kernel, Groups()
        self.invalid = False
        self.weightless: Any = np.zeros(0)
        self.dense: Any = np.zeros((len(kernel.names), 0, kernel.size))
        self.sparse: list[tuple[Any, Any]] = []
        self._held = 0

    def add(self, part: Part, keys: list[tuple[Any, ...]]) -> None:
        """Add a part whose groups have these keys."""
        self.invalid = self.invalid or part.invalid
        at = self.groups.numbered(keys)
        n = len(self.groups.numbers)
        self.weightless = _grown(self.weightless, n)
        self.weightless[at] += part.weightless
        if self.dense is not None and len(self.kernel.names) * n * self.kernel.size > _MOST_DENSE:
            group, key = np.nonzero(self.dense[0])
            self.sparse.append((group * self.kernel.size + key, self.dense[:, group, key]))
            self.dense = None
        if self.dense is not None:
            if n > self.dense.shape[1]:
                more = np.zeros((len(self.kernel.names), n - self.dense.shape[1], self.kernel.size))
                self.dense = np.concatenate([self.dense, more], axis=1)
            for own, place in enumerate(at):
                self.dense[:, place] += part.dense[:, own]
            return
        group, key, sums = part.entries()
        self.sparse.append((at[group] * self.kernel.size + key, sums))
        self._held += len(key)
        if self._held > _MOST_DENSE:
            self.sparse = [added(self.sparse)]
            self._held = 0

    def entries(self) -> tuple[Any, Any, Any]:
        """Group and key of each entry, with those of rows that do not count, and its sums."""
        if self.dense is not None:
            group, key = np.nonzero(self.dense[0])
            sums = self.dense[:, group, key]
        else:
            keys, sums = added(self.sparse)
            group, key = np.divmod(keys, self.kernel.size)
        lost = np.flatnonzero(self.weightless)
        more = np.zeros((len(sums), len(lost) + self.invalid))
        more[0] = [*self.weightless[lost], *([1.0] if self.invalid else [])]
        group = np.concatenate([group, lost, [0] * self.invalid]).astype(np.intp)
        key = np.concatenate([key, [WEIGHTLESS] * len(lost), [INVALID] * self.invalid])
        return group, key.astype(np.int64), np.concatenate([sums, more], axis=1)


def _grown(values: Any, n: int) -> Any:
    return np.concatenate([values, np.zeros(n - len(values))]) if n > len(values) else values


def encoded(values: Any) -> tuple[Any, list[Any]]:
    """Number of each value among the distinct ones, and those; of numbers, none of them missing."""
    plain, kind = values, values.dtype.kind
    if kind in "biu":  # a copy, which nobody else can change; differences of narrow types overflow
        plain = values.astype(np.uint64 if kind == "u" else np.int64)
    low, high = plain.min(), plain.max()
    if kind in "biu" and int(high) - int(low) < 1 << 16:
        codes = (plain - low if low else plain).astype(np.intp, copy=False)
        held = np.ones(int(high) - int(low) + 1, dtype=bool)
        if len(held) > 2:
            held = np.bincount(codes, minlength=len(held)) > 0
        distinct = np.flatnonzero(held).astype(plain.dtype) + low
        if not held.all():
            codes = (np.cumsum(held) - 1)[codes]
    else:
        distinct, codes = np.unique(plain, return_inverse=True)
        codes = codes.reshape(-1)
    return codes, distinct.astype(values.dtype).tolist()


def combined(columns: list[tuple[Any, list[Any]]]) -> tuple[Any, list[tuple[Any, ...]]]:
    """Number of each row's combination of keys, and the combinations that occur."""
    codes, keys = columns[0][0].astype(np.intp, copy=False), [(value,) for value in columns[0][1]]
    for more, values in columns[1:]:
        joint, codes = np.unique(codes * len(values) + more, return_inverse=True)
        codes = codes.reshape(-1)
        keys = [(*keys[j // len(values)], values[j % len(values)]) for j in joint.tolist()]
    return codes, keys
