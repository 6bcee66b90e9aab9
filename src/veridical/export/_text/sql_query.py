"""Formulas as one query: whatever is used more than once is a column of an inner SELECT.

An expression has no names for its parts, so it repeats them; a query computes each once. Lookups
of many pieces become joins where an engine works on whole columns: a tree of CASE costs it one pass
for each piece.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from veridical._core import formula as maths
from veridical._core.formula import Formula, Node
from veridical._core.typing import FloatArray, IntArray
from veridical.export._text.sql_dialects import Dialect
from veridical.export._text.sql_writer import Writer, balanced

_MANY = 24  # pieces from which a join is faster than a tree, where there are joins
_BUCKETS, _MOST_BUCKETS = 2, 2048  # for each piece, and in all
_OUTSIDE = 2  # edges at either end that are left to the buckets of all the rest


@dataclass
class _Stage:
    """Columns that are added by one SELECT, and tables it joins: text and condition."""

    columns: dict[str, str] = field(default_factory=dict)
    joins: list[str] = field(default_factory=list)


class QueryWriter(Writer):
    """Writes all outputs of a formula as one query over a table."""

    def __init__(
        self,
        dialect: Dialect,
        formula: Formula,
        names: list[str],
        outputs: Sequence[Node],
        taken: Sequence[str],
    ) -> None:
        super().__init__(dialect, names, formula.input)
        self._formula, self._outputs = formula, outputs
        self._known_names = {name.lower() for name in (*names, *taken)}
        self._stages: list[_Stage] = []
        self._texts: dict[tuple[int, bool], tuple[str, int]] = {}
        self._now = 0  # stage from which on all columns are there that the text so far names
        self._uses, _ = maths.uses(outputs)
        self._powers: dict[tuple[Any, ...], tuple[list[str], str, int]] = {}
        self._count = 0

    def query(self, table: str, kept: Sequence[str], new: Sequence[str]) -> str:
        """The query: columns to keep, then the new ones."""
        quote = self._dialect.quote
        checked = [self._fresh() for _ in self._columns]
        tests = self.tests(self._formula)
        inputs = {
            name: f"CASE WHEN {tests} THEN {column} END"
            for name, column in zip(checked, self._columns, strict=True)
        }
        self._columns = list(checked)
        results = []
        for node in self._outputs:
            self._now = 0
            results.append(f"CASE WHEN {checked[0]} IS NOT NULL THEN {self.write(node)} END")
        own = [quote(name) for name in kept]
        listed = ", ".join([*own, *(f"{text} AS {name}" for name, text in inputs.items())])
        prefix = "stage"
        while table.lower().strip('"`').startswith(prefix):
            prefix += "_"
        barrier, selects = self._dialect.barrier, [f"SELECT {listed}\nFROM {table}"]
        so_far = [*own, *checked]
        for number, stage in enumerate(self._stages):
            added = [f"{text} AS {name}" for name, text in stage.columns.items()]
            joins = "".join(f"\n{join}" for join in stage.joins)
            chosen = ", ".join([*so_far, *added])
            selects.append(f"SELECT {chosen}\nFROM {prefix}_{number}{joins}")
            so_far += stage.columns
        outputs = [f"{text} AS {quote(name)}" for text, name in zip(results, new, strict=True)]
        named = (f"{prefix}_{k} AS ({each}{barrier})" for k, each in enumerate(selects))
        whole = ",\n".join(named)
        last = f"{prefix}_{len(selects) - 1}"
        return f"WITH {whole}\nSELECT {', '.join([*own, *outputs])}\nFROM {last}"

    def write(self, node: Node) -> str:
        """Write a node; of one that is used again, the column that holds it."""
        key = (id(node), self._as_given)
        if key not in self._texts:
            before, self._now = self._now, 0
            text = self._write(node)
            plain = isinstance(node, maths.Column | maths.Constant)
            if self._uses[id(node)] > 1 and not plain and not text.isidentifier():
                text = self._named(text)
            self._texts[key] = text, self._now
            self._now = before
        text, stage = self._texts[key]
        self._now = max(self._now, stage)
        return text

    def _fresh(self) -> str:
        self._count += 1
        while f"c{self._count}" in self._known_names:
            self._count += 1
        return f"c{self._count}"

    def _stage(self, number: int) -> _Stage:
        while len(self._stages) <= number:
            self._stages.append(_Stage())
        return self._stages[number]

    def _named(self, text: str) -> str:
        """Make the text just written, which needs the stages up to now, a column of the next."""
        name = self._fresh()
        self._stage(self._now).columns[name] = text
        self._now += 1
        return name

    def _as_column(self, node: Node) -> str:
        text = self.write(node)
        return text if text.isidentifier() else self._named(text)

    def _softmax(self, node: maths.Softmax) -> str:
        """Powers of all classes and their sum as columns, for whichever class is asked for."""
        key = (node.scale, self._as_given, *map(id, node.scores))
        if key not in self._powers:
            before, self._now = self._now, 0
            scores = [self._as_column(score) for score in node.scores]
            top = self._named(self._largest(scores))
            scale = "" if node.scale == 1 else f"{self._number(node.scale)} * "
            powers = [self._exp(f"{scale}({score} - {top})") for score in scores]
            stage = self._now
            names = []
            for power in powers:
                self._now = stage
                names.append(self._named(power))
            total = self._named(balanced(names))
            self._powers[key] = names, total, self._now
            self._now = before
        names, total, stage = self._powers[key]
        self._now = max(self._now, stage)
        return f"({names[node.index]} / {total})"

    def _log_sum_exp(self, node: maths.LogSumExp) -> str:
        if len(node.parts) == 1:
            return self.write(node.parts[0])
        parts = [self._as_column(part) for part in node.parts]
        top = self._named(self._largest(parts))
        powers = [self._exp(f"({part} - {top})") for part in parts]
        return f"({top} + LN({balanced(powers)}))"

    def _of_largest(self, node: maths.OfLargest) -> str:
        for key in node.keys:
            self._as_column(key)
        return super()._of_largest(node)

    def _pieces(self, node: maths.Piecewise) -> str:
        if not self._dialect.joins or len(node.starts) <= _MANY:
            for each in (node.of, node.of if node.by is None else node.by):
                self._hold(each)
            return super()._pieces(node)
        x = self._as_column(node.of)
        before, self._as_given = self._as_given, True
        by = x if node.by is None else self._as_column(node.by)
        self._as_given = before
        return self._joined(node, x, by)

    def _trees(self, node: maths.Trees) -> str:
        for part in node.parts:
            self._hold(part)
        return super()._trees(node)

    def _hold(self, node: Node) -> None:
        """See to it that a node is a column, whatever asks for it later."""
        self._uses[id(node)] += 2
        self._texts.pop((id(node), self._as_given), None)
        self.write(node)

    def _joined(self, node: maths.Piecewise, x: str, by: str) -> str:
        """Join a table of buckets, which knows the few edges near a row, then one of pieces."""
        edges, below = node.edges, node.side == "left"
        odds = self._formula.input == "probability" and node.by is not None
        grid = _Grid.of(_log_odds(edges) if odds else edges)
        scale = x if odds and self._formula.n_columns == 1 else by
        if odds and scale == by:
            low = self._number(_LEAST)
            scale = f"LN(GREATEST({by}, {low}) / GREATEST(1.0 - {by}, {low}))"
        steps = f"FLOOR(({scale} - {self._number(grid.low)}) * {self._number(grid.per_unit)})"
        limited = f"GREATEST(LEAST({steps}, {grid.size - 2}.0), -1.0)"
        bucket = self._named(f"CAST({limited} + 1.0 AS BIGINT)")
        most = int((grid.last - grid.first).max())
        table, first = self._fresh(), self._fresh()
        names = [self._fresh() for _ in range(most)]
        near = _near_table(grid, edges, first, names)
        self._stage(self._now).joins.append(f"JOIN ({near}) {table} ON {bucket} = {table}.b")
        operator = ">" if below else ">="
        passed = " + ".join(f"({by} {operator} {edge})::BIGINT" for edge in names)
        piece = self._named(f"COALESCE({first} + {passed}, 0)")
        table, names = self._fresh(), [self._fresh() for _ in range(1 + len(node.coefficients))]
        values = zip((node.starts, *node.coefficients), names, strict=True)
        columns = ", ".join(
            f"list_extract({_list(each)}, k + 1) AS {name}" for each, name in values
        )
        rows = f"SELECT k, {columns} FROM range({len(node.starts)}) r(k)"
        self._stage(self._now).joins.append(f"JOIN ({rows}) {table} ON {piece} = {table}.k")
        start, *terms = names
        text = terms.pop()
        while terms:
            text = f"({terms.pop()} + ({x} - {start}) * {text})"
        return self._named(text)


@dataclass(frozen=True)
class _Grid:
    """Equal buckets of a scale: which edges are near each.

    Attributes
    ----------
    low, per_unit : where the first inner bucket begins, and how many there are in a unit
    size : buckets, those of everything below and above included
    first : edges below each bucket, not near it
    last : edges below it or near it
    """

    low: float
    per_unit: float
    size: int
    first: IntArray
    last: IntArray

    @classmethod
    def of(cls, places: FloatArray) -> _Grid:
        """Buckets for edges at these places, more where edges crowd."""
        low, high = float(places[_OUTSIDE]), float(places[-1 - _OUTSIDE])
        found = None
        for each in (1, 2, 4, 8, 16):
            count = min(_BUCKETS * each * len(places), _MOST_BUCKETS)
            per_unit = count / (high - low) if high > low else 1.0
            sides = low + np.arange(count + 1) / per_unit
            slack = 1e-6 / per_unit + 1e-12 * max(abs(low), abs(high))
            first = np.searchsorted(places, np.append(-np.inf, sides) - slack, "left")
            last = np.searchsorted(places, np.append(sides, np.inf) + slack, "right")
            grid = cls(low, float(per_unit), count + 2, first, last)
            if found is None or (last - first).max() < (found.last - found.first).max():
                found = grid
        assert found is not None
        return found


_LEAST = 1e-300


def _log_odds(p: FloatArray) -> FloatArray:
    return np.asarray(np.log(np.maximum(p, _LEAST) / np.maximum(1 - p, _LEAST)))


def _near_table(grid: _Grid, edges: FloatArray, first: str, names: list[str]) -> str:
    """Buckets, each with the number of edges below it and the next ones."""
    columns = ", ".join(
        f"COALESCE(list_extract(e, f + {j + 1}), 'inf') AS {name}" for j, name in enumerate(names)
    )
    more = ",".join(map(str, np.diff(grid.first, prepend=0).tolist()))
    more = f"list_extract(string_split('{more}', ',')::BIGINT[], b + 1)"
    rows = (
        f"SELECT b, CAST(SUM({more}) OVER (ORDER BY b) AS BIGINT) AS f FROM range({grid.size}) r(b)"
    )
    return f"SELECT b, f AS {first}, {columns} FROM ({rows}), (SELECT {_list(edges)} AS e)"


def _list(values: FloatArray) -> str:
    """A list from one text that is read once, rather than from a literal for each number."""
    numbers = ",".join(repr(maths.number(value)) for value in values.tolist())
    return f"string_split('{numbers}', ',')::DOUBLE[]"
