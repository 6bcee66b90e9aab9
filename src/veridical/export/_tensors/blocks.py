"""Formulas as operations on whole blocks of columns, for targets that compute with tensors.

A formula has a node for each class; a block holds what like nodes have in common as one table of
n rows, so that a thousand classes take no more operations than two. Steps are in an order in which
each needs only earlier ones, which it names by their place in that order.

How a formula becomes steps on blocks of columns.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core import formula as maths
from veridical._core.formula import Formula, Node
from veridical._core.typing import FloatArray, IntArray


class Step:
    """An operation on blocks of columns, which gives another block."""


@dataclass(frozen=True, eq=False)
class Inputs(Step):
    """The input columns: predictions, then codes of features if there are any."""


@dataclass(frozen=True, eq=False)
class Take(Step):
    """Some columns of a block, in this order."""

    of: int
    columns: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Join(Step):
    """Blocks side by side."""

    parts: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Fill(Step):
    """These numbers in every row."""

    values: FloatArray


@dataclass(frozen=True, eq=False)
class WeightedSum(Step):
    """Constants + sum of weights * block, column by column; None is weight 1.

    Blocks of one column belong to every column of the sum.
    """

    parts: tuple[int, ...]
    weights: tuple[FloatArray | None, ...]
    constants: FloatArray | None


@dataclass(frozen=True, eq=False)
class MatrixSum(Step):
    """Block times matrix, plus constants."""

    of: int
    matrix: FloatArray
    constants: FloatArray


@dataclass(frozen=True, eq=False)
class Ratio(Step):
    """Numerator / denominator."""

    numerator: int
    denominator: int


@dataclass(frozen=True, eq=False)
class Logarithm(Step):
    """Natural logarithm."""

    of: int


@dataclass(frozen=True, eq=False)
class Limit(Step):
    """Each column raised to its `low` and lowered to its `high`, if there is one."""

    of: int
    low: FloatArray | None
    high: FloatArray | None


@dataclass(frozen=True, eq=False)
class Sigmoid(Step):
    """1 / (1 + exp(-x))."""

    of: int


@dataclass(frozen=True, eq=False)
class SoftmaxRows(Step):
    """Softmax of scale * row."""

    of: int
    scale: float


@dataclass(frozen=True, eq=False)
class LogSumExpRows(Step):
    """Logarithm of the sum of exponentials of each row: one column."""

    of: int


@dataclass(frozen=True, eq=False)
class ShareOf(Step):
    """Part / total, and `otherwise` where the total is zero."""

    part: int
    total: int
    otherwise: int


@dataclass(frozen=True, eq=False)
class Choice(Step):
    """Of each row the branch of its largest key, the first if several are."""

    keys: int
    branches: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Lookup(Step):
    """One polynomial on each interval between edges, in every column its own.

    Attributes
    ----------
    of : block of m columns
    by : block of m columns that are compared with the edges
    edges : shape (m, w); w + 1 is a power of two, and rows are filled up with infinity
    counts : shape (m,), how many edges there are
    above : whether an edge belongs to the interval above it
    starts : shape (m, w + 1), what is subtracted first; None of step functions
    coefficients : shape (degree + 1, m, w + 1)
    """

    of: int
    by: int
    edges: FloatArray
    counts: tuple[int, ...]
    above: bool
    starts: FloatArray | None
    coefficients: FloatArray


@dataclass(frozen=True, eq=False)
class SumOfTrees(Step):
    """Sum over trees of the numbers at the leaf of each row; see `formula.Trees`.

    Attributes
    ----------
    of : block of what is asked about
    which, edges : (trees, depth)
    leaves : (trees, 2^depth, m)
    """

    of: int
    which: IntArray
    edges: FloatArray
    leaves: FloatArray


_MATRIX_FROM = 3  # terms from which weighted sums of the same parts are a product of matrices
Places = list[tuple[int, int]]  # step and column of each node


def steps_of(formula: Formula) -> tuple[Step, ...]:
    """Steps of which the first holds the inputs and the last all outputs."""
    return _Plan(formula).steps_to(formula.outputs)


class _Plan:
    """Steps so far, and the step and column in which each node is."""

    def __init__(self, formula: Formula) -> None:
        self._formula = formula  # nodes are known by identity, so they must live on
        self._steps: list[Step] = [Inputs()]
        self._n_codes = [] if formula.features is None else formula.features.n_codes
        self._widths = [formula.n_columns + len(self._n_codes)]
        self._codes = [maths.Code(k) for k in range(len(self._n_codes))]
        self._written_out: dict[int, Node] = {}
        self._places: dict[int, tuple[int, int]] = {}
        self._heights: dict[int, int] = {}
        self._known: dict[Hashable, int] = {}

    def steps_to(self, outputs: tuple[Node, ...]) -> tuple[Step, ...]:
        last = self._block(outputs)
        return tuple(self._steps[: last + 1])

    def _add(self, step: Step, width: int) -> int:
        """Place of a step; one that is there already, as equal parts of an average are, is used."""
        key = (type(step), *map(_content, vars(step).values()))
        if key not in self._known:
            self._known[key] = len(self._steps)
            self._steps.append(step)
            self._widths.append(width)
        return self._known[key]

    def _block(self, nodes: Sequence[Node]) -> int:
        """Step whose columns are these nodes."""
        self._place(nodes)
        return self._collect([self._places[id(node)] for node in nodes])

    def _operand(self, nodes: Sequence[Node]) -> int:
        """Step whose columns are these nodes, or whose only column is all of them."""
        same = all(node is nodes[0] for node in nodes)
        return self._block(nodes[:1] if same else nodes)

    def _place(self, nodes: Sequence[Node]) -> None:
        """See to it that each node is somewhere, like ones together."""
        groups: dict[tuple[int, Hashable], dict[int, Node]] = {}
        for node in nodes:
            # A node is higher than all it is made of, so no group holds part of itself.
            group = groups.setdefault((self._height(node), (type(node), *_likeness(node))), {})
            group[id(node)] = node
        for key in sorted(groups, key=lambda key: key[0]):
            left = [node for name, node in groups[key].items() if name not in self._places]
            if left:
                places = self._write(left[0], left)
                self._places.update(zip(map(id, left), places, strict=True))

    def _height(self, part: object) -> int:
        """How many nodes are below a node, one in the other; of several, the largest number."""
        if not isinstance(part, (Node, tuple)):
            return 0
        if id(part) not in self._heights:
            below = part if isinstance(part, tuple) else tuple(vars(part).values())
            most = max(map(self._height, below), default=0)
            self._heights[id(part)] = most + (not isinstance(part, tuple))
        return self._heights[id(part)]

    def _collect(self, places: Places) -> int:
        """One block of columns that are in several."""
        sources = list(dict.fromkeys(step for step, _ in places))
        source, offset = sources[0], dict.fromkeys(sources, 0)
        if len(sources) > 1:
            source = self._add(Join(tuple(sources)), sum(self._widths[s] for s in sources))
            ends = np.cumsum([self._widths[s] for s in sources]).tolist()
            offset = dict(zip(sources, [0, *ends[:-1]], strict=True))
        columns = tuple(offset[step] + column for step, column in places)
        if columns == tuple(range(self._widths[source])):
            return source
        return self._add(Take(source, columns), len(columns))

    def _whole(self, step: Step, count: int) -> Places:
        """Add a step and say where its columns are."""
        index = self._add(step, count)
        return [(index, column) for column in range(count)]

    def _write(self, first: Node, nodes: list[Any]) -> Places:
        """Compute nodes that are alike, and say where each is."""
        match first:
            case maths.Column():
                return [(0, node.index) for node in nodes]
            case maths.Code():
                return [(0, self._formula.n_columns + node.index) for node in nodes]
            case maths.Cases():
                return self._cases(nodes)
            case maths.Softmax():
                step = SoftmaxRows(self._block(first.scores), first.scale)
                places = self._whole(step, len(first.scores))
                return [places[node.index] for node in nodes]
            case maths.LogSumExp():
                return self._whole(LogSumExpRows(self._block(first.parts)), 1)
        return self._whole(self._step(first, nodes), len(nodes))

    def _cases(self, nodes: list[maths.Cases]) -> Places:
        """Cases by what they are made of."""
        found = [node.written_out(self._codes, self._n_codes) for node in nodes]
        self._written_out |= {id(each): each for each in found}  # known by identity: they live on
        self._place(found)
        return [self._places[id(each)] for each in found]

    def _step(self, first: Node, nodes: list[Any]) -> Step:
        """Step that has a column for each node."""
        match first:
            case maths.Constant():
                return Fill(np.array([node.value for node in nodes]))
            case maths.Linear():
                return self._sum(first, nodes)
            case maths.Quotient():
                above = self._block([node.numerator for node in nodes])
                return Ratio(above, self._operand([node.denominator for node in nodes]))
            case maths.Log():
                return Logarithm(self._block([node.of for node in nodes]))
            case maths.Clip():
                low = None if first.low is None else np.array([node.low for node in nodes])
                high = None if first.high is None else np.array([node.high for node in nodes])
                return Limit(self._block([node.of for node in nodes]), low, high)
            case maths.Logistic():
                return Sigmoid(self._block([node.of for node in nodes]))
            case maths.Share():
                part = self._block([node.part for node in nodes])
                total = self._operand([node.total for node in nodes])
                return ShareOf(part, total, self._block([node.otherwise for node in nodes]))
            case maths.OfLargest():
                keys, pairs = self._block(first.keys), range(len(first.branches))
                branches = (self._block([node.branches[b] for node in nodes]) for b in pairs)
                return Choice(keys, tuple(branches))
            case maths.Piecewise():
                return self._lookup(first, nodes)
            case maths.Trees():
                leaves = np.stack([node.leaves for node in nodes], axis=-1)
                return SumOfTrees(self._block(first.parts), first.which, first.edges, leaves)
        msg = f"a node that cannot be written: {type(first).__name__}"
        raise TypeError(msg)

    def _sum(self, first: maths.Linear, nodes: list[maths.Linear]) -> Step:
        constants, n_terms = np.array([node.constant for node in nodes]), len(first.terms)
        if not n_terms:
            return Fill(constants)
        parts = {id(part): part for node in nodes for _, part in node.terms}
        self._place(list(parts.values()))
        if n_terms >= _MATRIX_FROM and len(parts) <= 2 * n_terms:
            rows = {key: row for row, key in enumerate(parts)}
            matrix = np.zeros((len(parts), len(nodes)))
            for k, node in enumerate(nodes):
                for weight, part in node.terms:
                    matrix[rows[id(part)], k] += weight
            return MatrixSum(self._block(list(parts.values())), matrix, constants)
        terms = [[node.terms[j] for node in nodes] for j in range(n_terms)]
        operands = [self._operand([part for _, part in each]) for each in terms]
        weights = [np.array([weight for weight, _ in each]) for each in terms]
        plain = [
            (w == 1).all() and self._widths[at] == len(w)
            for w, at in zip(weights, operands, strict=True)
        ]
        return WeightedSum(
            tuple(operands),
            tuple(None if one else w for w, one in zip(weights, plain, strict=True)),
            constants if constants.any() else None,
        )

    def _lookup(self, first: maths.Piecewise, nodes: list[maths.Piecewise]) -> Lookup:
        width = 2 ** len(first.edges).bit_length()  # intervals: a power of two above the edges
        powers = range(first.degree + 1)
        return Lookup(
            of=self._block([node.of for node in nodes]),
            by=self._block([node.of if node.by is None else node.by for node in nodes]),
            edges=_filled([node.edges for node in nodes], width - 1, np.inf),
            counts=tuple(len(node.edges) for node in nodes),
            above=first.side == "right",
            starts=_filled([node.starts for node in nodes], width, 0.0) if first.degree else None,
            coefficients=np.stack(
                [_filled([node.coefficients[j] for node in nodes], width, 0.0) for j in powers]
            ),
        )


def _filled(rows: list[FloatArray], size: int, by: float) -> FloatArray:
    """Rows of one length."""
    return np.stack([np.pad(row, (0, size - len(row)), constant_values=by) for row in rows])


def _likeness(node: Node) -> tuple[Hashable, ...]:
    """What nodes of one kind must have in common to be computed together."""
    match node:
        case maths.Linear():
            return (len(node.terms),)
        case maths.Clip():
            return (node.low is None, node.high is None)
        case maths.Piecewise():
            return (node.side, node.degree, len(node.edges).bit_length())  # tables of like size
        case maths.Softmax():
            return (id(node.scores), node.scale)
        case maths.LogSumExp():
            return (id(node),)
        case maths.OfLargest():
            return (*map(id, node.keys), len(node.branches))
        case maths.Trees():
            return node.key
        case _:
            return ()


def _content(value: Any) -> Hashable:
    """What makes fields of steps equal."""
    if isinstance(value, np.ndarray):
        return (value.shape, value.tobytes())
    return tuple(map(_content, value)) if isinstance(value, tuple) else value
