"""Rows into sums by bin and cell, in blocks of NumPy: the one kernel of every engine that runs it.

It needs NumPy and nothing else, of this library neither: Spark sends it to its workers as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

ROWS = 1 << 15  # a block: what is computed of it stays in cache
CHUNK = 1 << 17  # rows whose sums are added before they meet others; the same on any thread
INVALID, WEIGHTLESS = -1, -2  # keys of rows that must not count
_WORTH_TABLES = 1 << 17  # rows from which compiled loops pay for the tables they look up
_MOST_DENSE = 1 << 23  # sums kept in an array, occupied or not; beyond, only those that are
_LIMIT = 36  # of log-odds; beyond, 1 - p is no longer told from 1
_INNER = 1e-15  # from here to 1 less this, log-odds are within the limit
# Events of a single column; of several columns, 0..K-1 are the classes and K is the top class.
NEGATIVE, POSITIVE, TOP = 0, 1, 2


class Units:
    """The pieces into which edges of bins cut the cells, numbered from the left.

    Parameters
    ----------
    edges : inner edges of the bins, increasing
    resolution : M of g(p) = M p + (M / 64) logit(p), whose whole part is the cell

    Attributes
    ----------
    n : number of pieces
    bin, cell : of each piece, from 0
    """

    def __init__(self, edges: Any, resolution: int) -> None:
        self.edges, self.resolution = edges, float(resolution)
        self.share = float(max(1, resolution // 64))
        self.lowest = _LIMIT * self.share
        middle = int(resolution // 2 + self.lowest)  # the cell that ends at 1/2
        cells = np.arange(int(resolution + 2 * self.lowest + self.share + 2))
        # Logarithms may be rounded across a border: a cell that close to an edge is cut by it.
        ends = edges * (1 - 1e-9), np.minimum(edges * (1 + 1e-9), 1.0)
        work = Work(len(edges))
        first, last = (self._raw_cells(end, None, work).copy() for end in ends)
        before, within = (
            np.searchsorted(last, cells, "left"),
            np.searchsorted(first, cells, "right"),
        )
        n_pieces = within - before + 1
        start = np.cumsum(n_pieces) - n_pieces + (cells > middle)
        self._first = np.where(n_pieces > 1, ~start, start)  # marked where an edge cuts the cell
        steps = range(int((within - before).max(initial=0)))
        padded = np.append(edges, np.inf)
        self.cuts = [
            np.where(before + step < within, padded[np.minimum(before + step, len(edges))], np.inf)
            for step in steps
        ]
        self.n = int(n_pieces.sum()) + 1
        self.half = int(start[middle] + n_pieces[middle])  # 1/2 has a piece of its own
        self.bin = np.empty(self.n, dtype=np.intp)
        self.cell = np.empty(self.n, dtype=np.intp)
        for step in range(len(steps) + 1):
            held = n_pieces > step
            self.bin[start[held] + step] = before[held] + step
            self.cell[start[held] + step] = (cells + 2 * (cells > middle))[held]
        self.bin[self.half] = np.searchsorted(edges, 0.5, "left")
        self.cell[self.half] = middle + 1

    def of(self, p: Any, logit: Any, work: Work, *, inner: bool) -> Any:
        """Piece of each p, whose log-odds may be known; `inner` if all are within the limits."""
        raw = self._raw_cells(p, logit, work, inner=inner)
        unit = np.take(self._first, raw, out=work("unit", np.intp), mode="clip")
        cut = np.flatnonzero(np.less(unit, 0, out=work("mark", np.bool_)))
        if len(cut):  # rows whose cell an edge goes through
            own, cell = p[cut], raw[cut]
            unit[cut] = ~unit[cut]
            for each in self.cuts:
                unit[cut] += own > each[cell]
        half = np.equal(p, 0.5, out=work("mark", np.bool_))
        if half.any():
            unit[half] = self.half
        return unit

    def _raw_cells(self, p: Any, logit: Any, work: Work, *, inner: bool = False) -> Any:
        """Cell of each p, in which 1/2 is not yet told from what is just below."""
        place, scaled = work("place"), work("scaled")
        if logit is None:
            np.subtract(1.0, p, out=place)
            np.divide(p, place, out=place)
            logit = np.log(place, out=place)
        if not inner:
            logit = np.clip(logit, -_LIMIT, _LIMIT, out=place)
        np.multiply(logit, self.share, out=place)
        place += np.multiply(p, self.resolution, out=scaled)
        np.ceil(place, out=place)  # before anything is added: what is just above 1/2 stays there
        place += self.lowest
        raw = work("raw", np.intp)
        raw[:] = place
        return raw


class Work:
    """Arrays of so many rows, made once: new ones of this size would cost more than the sums."""

    def __init__(self, n: int) -> None:
        self.n = n
        self._arrays: dict[str, Any] = {}

    def __call__(self, name: str, dtype: Any = np.float64) -> Any:
        if name not in self._arrays:
            self._arrays[name] = np.empty(self.n, dtype=dtype)
        return self._arrays[name]

    def table(self, k: int) -> Any:
        """One row a class."""
        if "table" not in self._arrays:
            self._arrays["table"] = np.empty((k, self.n))
        return self._arrays["table"]

    @property
    def numbers(self) -> Any:
        """The rows, counted."""
        if "numbers" not in self._arrays:
            self._arrays["numbers"] = np.arange(self.n)
        return self._arrays["numbers"]


@dataclass(frozen=True, kw_only=True)
class Question:
    """What is asked of rows.

    Attributes
    ----------
    n_bins, resolution, single : of bins and cells; whether probabilities are Float32
    n_classes : number of columns, 0 if there is one and labels are not codes
    positive : the class of binary scores, of two columns
    numbers : events asked about, in the order of keys
    tolerance : how far from one a row may sum
    weighted, grouped, scores : whether rows have weights, and groups, and scores are wanted
    """

    n_bins: int
    resolution: int
    single: bool
    n_classes: int
    positive: int
    numbers: tuple[int, ...]
    tolerance: float
    weighted: bool
    grouped: bool
    scores: bool


@dataclass(frozen=True)
class Rows:
    """Rows as arrays: columns of p, codes of classes or None, weights or None, groups."""

    p: list[Any]
    code: Any
    weight: Any
    group: Any  # of each row, or 0
    n_groups: int

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.p[0])

    def by_group(self, values: Any, work: Work) -> Any:
        """Sums of values, or numbers of rows if they are None, of each group."""
        if self.n_groups > 2:
            return np.bincount(self.group, weights=values, minlength=self.n_groups)
        total = self.n if values is None else values.sum()
        if self.n_groups == 1:
            return total
        if values is None:
            of_second = self.group.sum()
        elif np.isfinite(total):  # counting two groups would stall on itself
            of_second = np.multiply(values, work("second"), out=work("scaled")).sum()
        else:
            return np.bincount(self.group, weights=values, minlength=2)
        return total - of_second, of_second

    def blocks(self) -> Iterator[Rows]:
        """The same, few rows at a time."""
        for start in range(0, self.n, ROWS):
            at = slice(start, start + ROWS)
            yield Rows(
                [one[at] for one in self.p],
                None if self.code is None else self.code[at],
                None if self.weight is None else self.weight[at],
                self.group[at] if np.ndim(self.group) else self.group,
                self.n_groups,
            )

    def of(self, held: Any) -> Rows:
        """Those rows only."""
        return Rows(
            [one[held] for one in self.p],
            None if self.code is None else self.code[held],
            None if self.weight is None else self.weight[held],
            self.group[held] if np.ndim(self.group) else self.group,
            self.n_groups,
        )


class Kernel:
    """Sums of rows by group and key: a piece of an event with its outcome, a class, or a score.

    `compiled` has the two loops that cost most, where they could be compiled; it is asked for those
    of so many rows that they are worth the tables.

    Attributes
    ----------
    names : of the sums, in their order
    size : number of keys
    """

    def __init__(self, question: Question, compiled: Any = None) -> None:
        self.question = question
        edges = np.arange(1, question.n_bins) / question.n_bins
        if question.single:
            edges = edges.astype(np.float32).astype(np.float64)
        self.units = Units(edges, question.resolution)
        self._compiled = compiled
        several = question.n_classes > 0
        self.tails = {
            number: 2 if several else 3 if number == TOP else 1 for number in question.numbers
        }
        self.first: dict[int, int] = {}
        size = 0
        for number, tails in self.tails.items():
            self.first[number] = size
            size += self.units.n * tails
        self.classes = size
        size += question.n_classes
        self.score = size
        self.size = size + (4 if question.scores else 0)
        self.names = ("count", "wq", "wqq") + (("w", "w2", "w2qq") if question.weighted else ())

    def decode(self, keys: Any) -> dict[str, Any]:
        """Event, bin (from 1), cell, outcome and class of each key.

        Numbers of events go on with that of the classes, then those of the scores.
        """
        columns = ("number", "bin", "cell", "outcome", "code")
        table = {name: np.zeros(self.size, dtype=np.intp) for name in columns}
        table["code"][:] = -1
        for number, first in self.first.items():
            tails = self.tails[number]
            at = slice(first, first + tails * self.units.n)
            table["number"][at] = number
            table["bin"][at] = np.repeat(self.units.bin + 1, tails)
            table["cell"][at] = np.repeat(self.units.cell, tails)
            table["outcome"][at] = np.tile(np.arange(tails), self.units.n)
        own = max(self.question.n_classes, 2) + 1
        table["number"][self.classes : self.score] = own
        table["code"][self.classes : self.score] = np.arange(self.question.n_classes)
        table["number"][self.score :] = own + 1 + np.arange(self.size - self.score)
        return {name: values[keys] for name, values in table.items()}

    @property
    def score_numbers(self) -> dict[str, int]:
        """Number of the event that stands for each score."""
        if not self.question.scores:
            return {}
        several = ("brier", "log", "spherical", "zero-one")
        names = several if self.question.n_classes else ("log p", "log q", "sphere p", "sphere q")
        first = max(self.question.n_classes, 2) + 2
        return {name: first + i for i, name in enumerate(names)}

    def sums(self, rows: Rows) -> Part:
        """Sums of some rows."""
        loops = None
        if self._compiled is not None and rows.n >= _WORTH_TABLES:
            loops = self._compiled.of(self.units)
        part = Part(self, rows.n_groups, loops)
        at_once = loops is not None and part.dense is not None and rows.weight is None
        if at_once and self.question.n_classes:
            part.invalid = not self._columns_at_once(rows, part, loops)
            return part
        work = Work(min(rows.n, ROWS))
        add_up = self._columns if self.question.n_classes else self._column
        whole = at_once and self._is_plain(rows)
        with np.errstate(divide="ignore", invalid="ignore"):
            for block in [rows] if whole else rows.blocks():
                counted = self._counted(block, part)
                if counted is not None and counted.n != work.n:
                    work = Work(counted.n)
                if counted is not None and counted.n_groups == 2 and not whole:
                    work("second")[:] = counted.group
                if counted is None or (counted.n and not add_up(counted, part, work)):
                    part.invalid = True
                    break
        return part

    def _is_plain(self, rows: Rows) -> bool:
        """Whether compiled loops answer all that is asked of one column, and need no blocks."""
        asked, p = self.question, rows.p[0]
        plain = asked.numbers == (POSITIVE,) and p.dtype == np.float64
        scored = not asked.scores or (rows.n_groups <= 2 and not asked.grouped)
        return plain and scored and p.min() >= _INNER and p.max() <= 1 - _INNER

    def _counted(self, rows: Rows, part: Part) -> Rows | None:
        """Rows of positive weight; None if a weight is none."""
        w = rows.weight
        if w is None:
            return rows
        least = w.min()
        if not (least >= 0 and w.max() < np.inf):
            return None
        if least > 0:
            return rows
        part.leave_out(rows.of(w == 0))
        return rows.of(w > 0)

    def _column(self, rows: Rows, part: Part, work: Work) -> bool:
        """Add up one column; False if a value is no probability."""
        p = rows.p[0]
        if p.dtype != np.float64:
            p = work("p")
            p[:] = rows.p[0]
        low, high = p.min(), p.max()
        if not (low >= 0 and high <= 1):
            return False
        inner = low >= _INNER and high <= 1 - _INNER
        scored = not self.question.scores or (inner and part.score_column(p, rows))
        if scored and self.question.numbers == (POSITIVE,):
            part.add(POSITIVE, p, None, None, rows, work, inner=inner)
            return True
        rest = np.subtract(1.0, p, out=work("rest"))
        logit = None
        if not scored:
            log_p, log_q = np.log(p, out=work("log_p")), np.log(rest, out=work("log_q"))
            length = np.multiply(p, rest, out=work("spread"))
            length = np.multiply(length, -2.0, out=work("length"))
            length += 1.0
            np.sqrt(length, out=length)  # of (p, 1 - p)
            part.score(0, log_p, rows, work)
            part.score(1, log_q, rows, work)
            part.score(2, np.divide(p, length, out=work("sphere")), rows, work)
            part.score(3, np.divide(rest, length, out=work("sphere")), rows, work)
            logit = np.subtract(log_p, log_q, out=log_p)
        if self.question.single:
            rest[:] = rest.astype(np.float32)
        for number in self.question.numbers:
            if number == POSITIVE:
                part.add(number, p, logit, None, rows, work, inner=inner)
            elif number == NEGATIVE:
                part.add(number, rest, None, None, rows, work, inner=inner)
            else:
                side = (p >= 0.5).astype(np.intp)
                side += p > 0.5
                top = np.maximum(p, rest, out=work("top"))
                part.add(number, top, None, side, rows, work, inner=inner)
        return True

    def _columns(self, rows: Rows, part: Part, work: Work) -> bool:
        """Add up one column a class; False if a row is no probability vector with a class."""
        k, code = self.question.n_classes, rows.code
        table = work.table(k)
        for own, column in zip(table, rows.p, strict=True):
            own[:] = column
        top = np.max(table, axis=0, out=work("top"))
        total = np.sum(table, axis=0, out=work("total"))
        total -= 1.0
        low, high = table.min(), top.max()
        valid = (
            low >= 0
            and high <= 1
            and np.abs(total, out=total).max() <= self.question.tolerance
            and code.min() >= 0
            and code.max() < k
        )
        if not valid:
            return False
        inner = low >= _INNER and high <= 1 - _INNER
        happened = work("happened")
        np.multiply(code, rows.n, out=work("raw", np.intp), casting="unsafe")
        work("raw", np.intp)[:] += work.numbers
        np.take(table.reshape(-1), work("raw", np.intp), out=happened, mode="clip")
        hit = happened == top
        n_top = sum(int(np.count_nonzero(column == top)) for column in table)
        if n_top > rows.n:  # the first of equals is the top
            hit &= (table == top).argmax(axis=0) == code
        for number in self.question.numbers:
            q, tail = (top, hit) if number == k else (table[number], code == number)
            part.add(number, q, None, tail, rows, work, inner=inner)
        part.count_classes(rows, work)
        if self.question.scores:
            np.einsum("ij,ij->j", table, table, out=work("total"))
            self._score(table, happened, hit, rows, part, work)
        return True

    def _columns_at_once(self, rows: Rows, part: Part, loops: Any) -> bool:
        """Do what `_columns` does by compiled loops, an event at a time: its sums stay in cache."""
        k = self.question.n_classes
        found = loops.scan(rows.p, rows.code, self.question.tolerance)
        if found is None:
            return False
        top, hit, happened, squares = found
        for number in self.question.numbers:
            q, tail = (top, hit) if number == k else (rows.p[number], rows.code == number)
            part.add(number, q, None, tail, rows, None, inner=True)
        start, work = 0, Work(min(rows.n, ROWS))
        with np.errstate(divide="ignore"):
            for block in rows.blocks():
                at = slice(start, start + block.n)
                start += block.n
                work = work if block.n == work.n else Work(block.n)
                if block.n_groups == 2:
                    work("second")[:] = block.group
                part.count_classes(block, work)
                if self.question.scores:
                    work("total")[:] = squares[at]
                    self._score(block.p, happened[at], hit[at], block, part, work)
        return True

    def _score(
        self, table: Any, happened: Any, hit: Any, rows: Rows, part: Part, work: Work
    ) -> None:
        """Sum up scores; of more than two columns, `work` knows the sums of squares."""
        squares, each = work("total"), work("place")
        if len(table) == 2:  # of the positive column alone
            p = np.asarray(table[self.question.positive], dtype=np.float64)
            happened = np.where(rows.code == self.question.positive, p, 1.0 - p)
            squares[:] = p * p + (1.0 - p) * (1.0 - p)
            brier = (1.0 - happened) * (1.0 - happened)
        else:
            brier = np.multiply(happened, -2.0, out=each)
            brier += squares
            brier += 1.0
        part.score(0, brier, rows, work)
        part.score(1, np.negative(np.log(happened, out=each), out=each), rows, work)
        np.divide(happened, np.sqrt(squares, out=squares), out=each)
        part.score(2, np.subtract(1.0, each, out=each), rows, work)
        part.score(3, np.subtract(1.0, hit, out=each), rows, work)


class Part:
    """Sums over some rows, by their groups.

    Attributes
    ----------
    invalid : whether a row cannot be used; sums are then of no use either
    weightless : rows without weight, by group
    """

    def __init__(self, kernel: Kernel, n_groups: int, loops: Any = None) -> None:
        self.kernel, self.n_groups, self._loops = kernel, n_groups, loops
        self.invalid = False
        self.weightless = np.zeros(n_groups)
        shape = len(kernel.names), n_groups, kernel.size
        self.dense: Any = np.zeros(shape) if np.prod(shape) <= _MOST_DENSE else None
        self.sparse: list[tuple[Any, Any]] = []

    def leave_out(self, rows: Rows) -> None:
        """Count rows without weight."""
        groups = np.broadcast_to(rows.group, rows.n)
        self.weightless += np.bincount(groups, minlength=self.n_groups)

    def add(
        self, number: int, q: Any, logit: Any, tail: Any, rows: Rows, work: Work, *, inner: bool
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

    def score_column(self, p: Any, rows: Rows) -> bool:
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

    def count_classes(self, rows: Rows, work: Work) -> None:
        """Count rows by class."""
        half = work("cut")
        half[:] = 0.5
        self._add(self.kernel.classes, self.kernel.question.n_classes, rows.code, half, rows, work)

    def score(self, index: int, values: Any, rows: Rows, work: Work) -> None:
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

    def _add(self, first: int, size: int, keys: Any, q: Any, rows: Rows, work: Work) -> None:
        values = _products(q, rows.weight, work)
        if self.n_groups > 1:
            if self.dense is None:
                self._add_sparse(rows.group * self.kernel.size + (first + keys), values)
                return
            keys = np.add(keys, np.multiply(rows.group, size, out=work("raw", np.intp)), out=keys)
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

    def __init__(self, kernel: Kernel) -> None:
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
    plain = values.astype(np.int64) if values.dtype.kind == "b" else values
    low, high = plain.min(), plain.max()
    if plain.dtype.kind in "iu" and int(high) - int(low) < 1 << 16:
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
    codes, keys = columns[0][0], [(value,) for value in columns[0][1]]
    for more, values in columns[1:]:
        joint, codes = np.unique(codes * len(values) + more, return_inverse=True)
        codes = codes.reshape(-1)
        keys = [(*keys[j // len(values)], values[j % len(values)]) for j in joint.tolist()]
    return codes, keys
