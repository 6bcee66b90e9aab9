"""Calibration maps as formulas: a small tree that every export is written from.

A formula has few kinds of nodes, each defined by one equation, so that a new target needs one
function for each kind and none for each calibrator.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from veridical._core.data.features import Features
from veridical._core.typing import FloatArray, IntArray, Side
from veridical.exceptions import InvalidInputError, invalid


def number(value: object) -> float:
    """A number as every writer takes it; nothing else of a map gets into a text or a graph.

    Nodes pass theirs through here when they are made, and writers again what they write.

    Examples
    --------
    >>> number(np.float64(0.5))
    0.5
    >>> number("0.5; DROP TABLE scores")
    Traceback (most recent call last):
        ...
    veridical.exceptions.InvalidInputError: export: `calibrator` must be made of finite numbers; ...
    Hint: fit it again.
    """
    plain = isinstance(value, (int, float, np.integer, np.floating))
    try:
        if plain and not isinstance(value, bool) and math.isfinite(value):  # type: ignore[arg-type]
            return float(value)  # type: ignore[arg-type]
    except OverflowError:  # a whole number beyond the doubles
        pass
    raise _not_a_number(value)


def _check_numbers(values: object) -> None:
    """Raise unless these are doubles, all finite."""
    if not (isinstance(values, np.ndarray) and values.dtype == np.float64):
        raise _not_a_number(values)
    if not np.isfinite(values).all():
        raise _not_a_number(values[~np.isfinite(values)][0].item())


def _not_a_number(value: object) -> InvalidInputError:
    expected, got = "made of finite numbers", repr(value)[:80]
    return invalid("export", "calibrator", expected, got, hint="fit it again.")


@dataclass(frozen=True, eq=False)
class Column:
    """The input column of this index."""

    index: int


@dataclass(frozen=True, eq=False)
class Constant:
    """A number."""

    value: float

    def __post_init__(self) -> None:
        number(self.value)


@dataclass(frozen=True, eq=False)
class Linear:
    """Weighted sum: constant + sum of weight * part over `terms`."""

    terms: tuple[tuple[float, Node], ...]
    constant: float = 0.0

    def __post_init__(self) -> None:
        number(self.constant)
        for weight, _ in self.terms:
            number(weight)


@dataclass(frozen=True, eq=False)
class Quotient:
    """Numerator / denominator; the denominator is positive."""

    numerator: Node
    denominator: Node


@dataclass(frozen=True, eq=False)
class Log:
    """Natural logarithm of something positive."""

    of: Node


@dataclass(frozen=True, eq=False)
class Clip:
    """The value raised to `low` and lowered to `high`, either of which may be missing."""

    of: Node
    low: float | None
    high: float | None = None

    def __post_init__(self) -> None:
        for limit in (self.low, self.high):
            if limit is not None:
                number(limit)


@dataclass(frozen=True, eq=False)
class Piecewise:
    """One polynomial on each interval between edges.

    Attributes
    ----------
    of : what the polynomials are of
    edges : increasing, shape (m,)
    side : an edge belongs to the interval below ("left", as in `numpy.searchsorted`) or above
    starts : shape (m + 1,)
        What is subtracted first, so that polynomials are in the distance from there.
    coefficients : shape (degree + 1, m + 1)
        Constant, linear, quadratic, cubic term of each interval; degree 0 is a step function.
    by : what is compared with the edges; None if it is `of` itself
    """

    of: Node
    edges: FloatArray
    side: Side
    starts: FloatArray
    coefficients: FloatArray
    by: Node | None = None

    def __post_init__(self) -> None:
        for values in (self.edges, self.starts, self.coefficients):
            _check_numbers(values)

    @property
    def degree(self) -> int:
        """Largest power."""
        return len(self.coefficients) - 1


@dataclass(frozen=True, eq=False)
class Logistic:
    """1 / (1 + exp(-x))."""

    of: Node


@dataclass(frozen=True, eq=False)
class Softmax:
    """exp(scale z_k) / sum of exp(scale z_j) over `scores`, k = `index`."""

    scores: tuple[Node, ...]
    index: int
    scale: float = 1.0

    def __post_init__(self) -> None:
        number(self.scale)

    @property
    def key(self) -> tuple[Any, ...]:
        """What classes of one softmax have in common."""
        return (self.scale, *map(id, self.scores))


@dataclass(frozen=True, eq=False)
class LogSumExp:
    """Logarithm of the sum of exponentials."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, eq=False)
class Share:
    """Part / total, and `otherwise` where the total is zero."""

    part: Node
    total: Node
    otherwise: Node


@dataclass(frozen=True, eq=False)
class OfLargest:
    """The branch that belongs to the largest key, the first if several are."""

    keys: tuple[Node, ...]
    branches: tuple[Node, ...]


@dataclass(frozen=True, eq=False)
class Trees:
    """Sum over trees of the number at the leaf that a row is led to.

    All nodes of a level of a tree ask the same question, so that a leaf is a number whose bits are
    the answers, the first question being the highest.

    Attributes
    ----------
    parts : what is asked about
    which : (trees, depth) part of each question
    edges : (trees, depth) the answer is yes above
    leaves : (trees, 2^depth)
    """

    parts: tuple[Node, ...]
    which: IntArray
    edges: FloatArray
    leaves: FloatArray

    def __post_init__(self) -> None:
        for values in (self.edges, self.leaves):
            _check_numbers(values)

    @property
    def key(self) -> tuple[int, ...]:
        """What classes led by the same trees have in common."""
        return (id(self.parts), id(self.which), id(self.edges))


@dataclass(frozen=True, eq=False)
class Code:
    """Number of the value that the feature of this index has; see `_core.data.features`."""

    index: int


Conditions = tuple[tuple[int, tuple[int, ...]], ...]  # features, and the codes they may have


@dataclass(frozen=True, eq=False)
class Cases:
    """Sum of offset + slope * x over the cases that a row is in.

    Attributes
    ----------
    of : x
    conditions : of each case, what its rows have in common
    offsets, slopes : (cases,)
    exclusive : whether every row is in one case and no other
    """

    of: Node
    conditions: tuple[Conditions, ...]
    offsets: FloatArray
    slopes: FloatArray
    exclusive: bool = False

    def __post_init__(self) -> None:
        for values in (self.offsets, self.slopes):
            _check_numbers(values)

    def written_out(self, codes: Sequence[Node], n_codes: Sequence[int]) -> Node:
        """The same of steps and sums, for targets that compute with numbers alone.

        A case is how many of its conditions hold, and a line where all do.

        Parameters
        ----------
        codes : node of the code of each feature
        n_codes : number of codes of each feature
        """
        known: dict[tuple[int, tuple[int, ...]], Node] = {}

        def holds(feature: int, allowed: tuple[int, ...]) -> Node:
            if (feature, allowed) not in known:
                inside = np.isin(np.arange(n_codes[feature]), allowed).astype(np.float64)
                edges = np.flatnonzero(np.diff(inside)) + 0.5
                values = inside[np.append(0, (edges + 0.5).astype(int))]
                known[feature, allowed] = step(codes[feature], edges, values)
            return known[feature, allowed]

        found: list[tuple[float, Node]] = []
        for case, offset, slope in zip(self.conditions, self.offsets, self.slopes, strict=True):
            number_true = total(tuple(holds(*each) for each in case))
            lines = np.array([[0.0, offset], [0.0, slope]])
            edge = np.array([len(case) - 0.5])
            found.append((1.0, Piecewise(self.of, edge, "left", np.zeros(2), lines, number_true)))
        return Linear(tuple(found)) if found else Constant(0.0)


Node = (
    Column
    | Code
    | Cases
    | Constant
    | Linear
    | Quotient
    | Log
    | Clip
    | Piecewise
    | Logistic
    | Softmax
    | LogSumExp
    | Share
    | OfLargest
    | Trees
)
Nodes = tuple[Node, ...]


@dataclass(frozen=True)
class Formula:
    """A fitted calibrator as formulas.

    Attributes
    ----------
    n_columns : input columns: 1 (the positive class of two) or the number of classes
    input : what columns hold
    outputs : probability of each class, in the order of `classes`
    positive : of two classes, the place of the positive one, which a single column is about
    classes : labels
    outcome : what the classes are classes of, if it has a name
    features : columns beside the predictions, as codes
    """

    n_columns: int
    input: Literal["probability", "logit", "score"]
    outputs: tuple[Node, ...]
    positive: int
    classes: tuple[object, ...]
    outcome: str | None = None
    features: Features | None = None

    def meaning(self, index: int) -> str:
        """Which probability an output is, in words on one line.

        Examples
        --------
        >>> formula = Formula(1, "probability", (), 0, ("bad", "good"), "Status")
        >>> formula.meaning(formula.positive)
        'probability that Status = bad'
        """
        return probability_of(self.classes[index], self.outcome, _harmless)


_LONGEST = 60


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _printable(text: str) -> str:
    """Text of one line, at most 60 letters of it, control characters shown as escapes."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in _cut(text))


def probability_of(
    label: object, outcome: str | None, clean: Callable[[str], str] = _printable
) -> str:
    """Which probability is meant, in words on one line, of texts that are made clean.

    Examples
    --------
    >>> probability_of("bad", "Status"), probability_of(1, None)
    ('probability that Status = bad', 'probability of 1')
    """
    if outcome is None:
        shown = f"'{clean(label)}'" if isinstance(label, str) else repr(label)
        return f"probability of {shown}"
    return f"probability that {clean(outcome)} = {clean(str(label))}"


def _harmless(text: str) -> str:
    """Letters, digits and a few signs of a text, for comments that quote nothing; _ for others.

    No sign is left that ends a comment, a quotation or a statement, or that drivers read as a
    parameter.
    """
    return "".join(each if each.isalnum() or each in " _.,+-=<>()" else "_" for each in _cut(text))


def minus(left: Node, right: Node) -> Node:
    """Difference of two nodes."""
    if isinstance(right, Constant) and right.value == 0:
        return left
    return Linear(((1.0, left), (-1.0, right)))


def one_minus(node: Node) -> Node:
    """1 - x."""
    return Linear(((-1.0, node),), 1.0)


def is_one_minus(node: Node, of: Node) -> bool:
    """Whether a node is 1 - x of that very x."""
    return (
        isinstance(node, Linear)
        and node.constant == 1
        and len(node.terms) == 1
        and node.terms[0][0] == -1
        and node.terms[0][1] is of
    )


def total(parts: tuple[Node, ...]) -> Node:
    """Plain sum."""
    return Linear(tuple((1.0, part) for part in parts))


def step(of: Node, edges: FloatArray, values: FloatArray, side: Side = "left") -> Node:
    """Step function."""
    if not len(edges):
        return Constant(float(values[0]))
    return Piecewise(of, edges, side, np.zeros(len(values)), values[None, :])


def interpolation(of: Node, knots: FloatArray, values: FloatArray) -> Node:
    """Linear interpolation between knots, constant outside: `numpy.interp`."""
    if len(knots) == 1:
        return Constant(float(values[0]))
    slopes = np.concatenate([[0.0], slopes_between(knots, values), [0.0]])
    base = np.append(values[0], values)
    return Piecewise(of, knots, "right", np.append(knots[0], knots), np.stack([base, slopes]))


def slopes_between(knots: FloatArray, values: FloatArray) -> FloatArray:
    """Slopes of the lines between knots; zero where knots are too close for a number between."""
    with np.errstate(over="ignore", divide="ignore"):
        rises = np.diff(values) / np.diff(knots)
    return np.where(np.isfinite(rises), rises, 0.0)


def parts(node: Node) -> Iterator[Node]:
    """Nodes that a node is made of, as often as it uses them."""
    for value in vars(node).values():
        if isinstance(value, Node):
            yield value
        elif isinstance(value, tuple):
            for each in value:
                part = each[-1] if isinstance(each, tuple) and each else each
                if isinstance(part, Node):
                    yield part


def uses(outputs: Sequence[Node]) -> tuple[Counter[int], Counter[tuple[Any, ...]]]:
    """How often each node is used, by its id, and how many classes of each softmax, by its key.

    A softmax of several classes uses its scores once, however many classes there are.
    """
    found: Counter[int] = Counter()
    classes: Counter[tuple[Any, ...]] = Counter()
    left: list[Node] = list(outputs)
    while left:
        node = left.pop()
        found[id(node)] += 1
        if found[id(node)] > 1:
            continue
        if isinstance(node, Softmax):
            classes[node.key] += 1
            if classes[node.key] > 1:
                continue
        left.extend(parts(node))
    return found, classes


def nodes(formula: Node | Nodes) -> Iterator[Node]:
    """Every node of a formula, once."""
    seen, left = set(), list(formula) if isinstance(formula, tuple) else [formula]
    while left:
        node = left.pop()
        if id(node) not in seen:
            seen.add(id(node))
            yield node
            left.extend(parts(node))


def lookups(formula: Node | Nodes) -> Iterator[Piecewise]:
    """Every lookup of pieces anywhere in a formula, once."""
    return (node for node in nodes(formula) if isinstance(node, Piecewise))


def looks_up(formula: Node | Nodes) -> bool:
    """Whether steps or interpolation occur anywhere in a formula: they may jump."""
    if any(isinstance(each, (Trees, Cases)) for each in nodes(formula)):
        return True
    return any(each.degree < 2 or each.by is not None for each in lookups(formula))
