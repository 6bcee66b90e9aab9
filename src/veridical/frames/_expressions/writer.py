"""Formulas as expressions of columns, in stages.

An expression has no names for its parts, so whatever is used more than once becomes a column of an
earlier stage. A pool of some hundred maps then stays as large as it is, and no larger.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, assert_never

import narwhals.stable.v2 as nw

from veridical._core import formula as maths
from veridical._core.formula import Node

_FAR = 700.0  # exp(-700) is 1e-304: some engines refuse powers beyond the doubles


@dataclass(frozen=True)
class Written:
    """An expression, and the first stage in which every column it names is there.

    `name` is set if the expression is a column and nothing else.
    """

    expr: nw.Expr
    stage: int
    name: str | None = None


@dataclass
class Stage:
    """Columns that are added at once; lookups are those that an engine has its own way for."""

    columns: dict[str, nw.Expr] = field(default_factory=dict)
    lookups: dict[str, tuple[str, str, maths.Piecewise]] = field(default_factory=dict)


class ExpressionWriter:
    """Writes nodes as expressions.

    Parameters
    ----------
    outputs : sequence of Node
        All that will be written: parts they share become columns.
    inputs : sequence of str
        Names of the input columns, which hold doubles and nothing missing.
    fresh : iterator of str
        Names that are free.
    most_pieces : int or None
        Lookups of more pieces are left to the engine; None if it has no way of its own.
    codes, n_codes : sequences of str and of int
        Columns of codes of features, and how many codes each has.
    """

    def __init__(
        self,
        outputs: Sequence[Node],
        inputs: Sequence[str],
        fresh: Iterator[str],
        most_pieces: int | None,
        codes: Sequence[str] = (),
        n_codes: Sequence[int] = (),
    ) -> None:
        self.stages: list[Stage] = []
        self._inputs, self._fresh, self._most_pieces = inputs, fresh, most_pieces
        self._codes, self._n_codes = codes, n_codes
        self._cases: dict[int, Node] = {}  # nodes are known by identity, so they must live on
        self._written: dict[int, Written] = {}
        self._powers: dict[tuple[Any, ...], tuple[list[Written], Written]] = {}
        self._uses, self._places = maths.uses(outputs)

    def write(self, node: Node) -> Written:
        """Write a node; of one that is used again, the column that holds it."""
        key = id(node)
        if key not in self._written:
            written = self._write(node)
            again = self._uses[key] > 1 and not isinstance(node, maths.Column | maths.Constant)
            self._written[key] = self._named(written) if again else written
        return self._written[key]

    def _named(self, written: Written) -> Written:
        """Make an expression a column of its own."""
        if written.name is not None:
            return written
        name = next(self._fresh)
        self._stage(written.stage).columns[name] = written.expr
        return Written(nw.col(name), written.stage + 1, name)

    def _stage(self, index: int) -> Stage:
        while len(self.stages) <= index:
            self.stages.append(Stage())
        return self.stages[index]

    def _all(self, nodes: Iterable[Node]) -> tuple[list[nw.Expr], int]:
        parts = [self.write(node) for node in nodes]
        return [part.expr for part in parts], max((part.stage for part in parts), default=0)

    def _write(self, node: Node) -> Written:
        match node:
            case maths.Column():
                name = self._inputs[node.index]
                return Written(nw.col(name), 0, name)
            case maths.Constant():
                return Written(nw.lit(node.value), 0)
            case maths.Linear():
                return self._linear(node)
            case maths.Quotient():
                (top, bottom), stage = self._all((node.numerator, node.denominator))
                return Written(top / bottom, stage)
            case maths.Log():
                part = self.write(node.of)
                return replace(part, expr=part.expr.log(), name=None)
            case maths.Clip():
                part = self.write(node.of)
                return replace(part, expr=part.expr.clip(node.low, node.high), name=None)
            case maths.Logistic():
                part = self.write(node.of)
                return replace(part, expr=1.0 / (1.0 + _exp(-1.0 * part.expr)), name=None)
            case maths.Softmax():
                return self._softmax(node)
            case maths.LogSumExp():
                return self._log_sum_exp(node)
            case maths.Share():
                (own, total, rest), stage = self._all((node.part, node.total, node.otherwise))
                empty = total == 0.0
                share = own / nw.when(empty).then(nw.lit(1.0)).otherwise(total)  # some trap x / 0
                return Written(nw.when(empty).then(rest).otherwise(share), stage)
            case maths.OfLargest():
                return self._of_largest(node)
            case maths.Piecewise():
                return self._pieces(node)
            case maths.Trees():
                return self._trees(node)
            case maths.Code():
                name = self._codes[node.index]
                return Written(nw.col(name), 0, name)
            case maths.Cases():
                parts = [maths.Code(k) for k in range(len(self._codes))]
                self._cases[id(node)] = written_out = node.written_out(parts, self._n_codes)
                return self.write(written_out)
        assert_never(node)

    def _linear(self, node: maths.Linear) -> Written:
        parts, stage = self._all(part for _, part in node.terms)
        weights = [weight for weight, _ in node.terms]
        terms = [_times(weight, part) for weight, part in zip(weights, parts, strict=True)]
        if node.constant or not terms:
            terms = [nw.lit(node.constant), *terms]
        return Written(_sum(terms), stage)

    def _softmax(self, node: maths.Softmax) -> Written:
        if self._places[node.key] == 1:  # no other class is asked for
            chosen = self.write(node.scores[node.index])
            others, stage = self._all(s for k, s in enumerate(node.scores) if k != node.index)
            powers = [_exp(node.scale * (other - chosen.expr)) for other in others]
            return Written(1.0 / (1.0 + _sum(powers)), max(stage, chosen.stage))
        parts, whole = self._shared_powers(node)
        part = parts[node.index]
        return Written(part.expr / whole.expr, max(part.stage, whole.stage))

    def _log_sum_exp(self, node: maths.LogSumExp) -> Written:
        parts, stage = self._all(node.parts)
        if len(parts) == 1:
            return Written(parts[0], stage)
        top = self._named(Written(nw.max_horizontal(*parts), stage))
        powers = [_exp(part - top.expr) for part in parts]
        return Written(top.expr + _sum(powers).log(), top.stage)

    def _of_largest(self, node: maths.OfLargest) -> Written:
        keys, stage = self._all(node.keys)
        branches, later = self._all(node.branches)
        top = self._named(Written(nw.max_horizontal(*keys), stage))
        chosen = branches[-1]
        for key, branch in zip(keys[-2::-1], branches[-2::-1], strict=True):
            chosen = nw.when(key == top.expr).then(branch).otherwise(chosen)
        return Written(chosen, max(top.stage, later))

    def _pieces(self, node: maths.Piecewise) -> Written:
        of = self._named(self.write(node.of))
        by = of if node.by is None else self._named(self.write(node.by))
        n_pieces, stage = len(node.starts), max(of.stage, by.stage)
        if self._most_pieces is not None and n_pieces > self._most_pieces:
            assert of.name is not None
            assert by.name is not None
            name = next(self._fresh)
            self._stage(stage).lookups[name] = (of.name, by.name, node)
            return Written(nw.col(name), stage + 1, name)
        x, edges, starts = of.expr, node.edges.tolist(), node.starts.tolist()
        pieces = [
            _polynomial(x, start, each)
            for start, each in zip(starts, node.coefficients.T.tolist(), strict=True)
        ]

        def tree(first: int, last: int) -> nw.Expr:
            if first == last:
                return pieces[first]
            middle = (first + last) // 2
            edge = edges[middle]
            test = by.expr <= edge if node.side == "left" else by.expr < edge
            return nw.when(test).then(tree(first, middle)).otherwise(tree(middle + 1, last))

        return Written(tree(0, n_pieces - 1), stage)

    def _trees(self, node: maths.Trees) -> Written:
        parts = [self._named(self.write(part)) for part in node.parts]

        def tree(asked: list[int], edges: list[float], leaves: list[float]) -> nw.Expr:
            if not asked:
                return nw.lit(leaves[0])
            half = len(leaves) // 2
            no, yes = (tree(asked[1:], edges[1:], own) for own in (leaves[:half], leaves[half:]))
            return nw.when(parts[asked[0]].expr <= edges[0]).then(no).otherwise(yes)

        rows = zip(node.which.tolist(), node.edges.tolist(), node.leaves.tolist(), strict=True)
        return Written(_sum([tree(*each) for each in rows]), max(part.stage for part in parts))

    def _shared_powers(self, node: maths.Softmax) -> tuple[list[Written], Written]:
        """Columns of exp(scale (score - largest score)) and of their sum, for all classes."""
        key = node.key
        if key not in self._powers:
            scores, stage = self._all(node.scores)
            top = self._named(Written(nw.max_horizontal(*scores), stage))
            gaps = [node.scale * (score - top.expr) for score in scores]
            parts = [self._named(Written(_exp(gap), top.stage)) for gap in gaps]
            whole = Written(_sum([part.expr for part in parts]), top.stage + 1)
            self._powers[key] = parts, self._named(whole)
        return self._powers[key]


def _times(weight: float, part: nw.Expr) -> nw.Expr:
    return part if weight == 1 else weight * part


def _exp(expr: nw.Expr) -> nw.Expr:
    return expr.clip(-_FAR, _FAR).exp()


def _sum(terms: list[nw.Expr]) -> nw.Expr:
    """Sum whose brackets nest as little as possible: engines limit the depth of expressions."""
    if len(terms) == 1:
        return terms[0]
    half = len(terms) // 2
    return _sum(terms[:half]) + _sum(terms[half:])


def _polynomial(x: nw.Expr, start: float, coefficients: list[float]) -> nw.Expr:
    while len(coefficients) > 1 and coefficients[-1] == 0:
        coefficients = coefficients[:-1]
    distance = x - start if start else x
    result = nw.lit(coefficients[-1])
    for each in coefficients[-2::-1]:
        result = each + distance * result
    return result
