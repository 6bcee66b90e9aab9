"""Rows into sums by bin and cell, in blocks of NumPy: the one kernel of every engine that runs it.

It needs NumPy and nothing else, of this library neither: Spark sends it to its workers as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical.frames._grid.parts import Part
from veridical.frames._grid.units import Units, Work

ROWS = 1 << 15  # a block: what is computed of it stays in cache
CHUNK = 1 << 17  # rows whose sums are added before they meet others; the same on any thread
_WORTH_TABLES = 1 << 16  # rows from which compiled loops pay for the tables they look up
_INNER = 1e-15  # from here to 1 less this, log-odds are within the limit
# Events of a single column; of several columns, 0..K-1 are the classes and K is the top class.
NEGATIVE, POSITIVE, TOP = 0, 1, 2


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
    """Rows as arrays: columns of p, codes of classes or None, weights or None, groups.

    Codes and groups are 64-bit integers in arrays that nobody else holds.
    """

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
        place = np.multiply(code, rows.n, out=work("raw", np.intp))
        place += work.numbers
        np.take(table.reshape(-1), place, out=happened, mode="clip")  # checked: nothing is clipped
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
        start, work = 0, Work(min(rows.n, ROWS))
        for number in self.question.numbers:
            q, tail = (top, hit) if number == k else (rows.p[number], rows.code == number)
            part.add(number, q, None, tail, rows, work, inner=True)
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
