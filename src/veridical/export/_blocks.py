"""Formulas as operations on whole blocks of columns, for targets that compute with tensors.

A formula has a node for each class; a block holds what like nodes have in common as one table of
n rows, so that a thousand classes take no more operations than two. Steps are in an order in which
each needs only earlier ones, which it names by their place in that order.
"""

from __future__ import annotations

from dataclasses import dataclass

from veridical._core.typing import FloatArray


@dataclass(frozen=True, eq=False)
class Inputs:
    """The input columns."""


@dataclass(frozen=True, eq=False)
class Take:
    """Some columns of a block, in this order."""

    of: int
    columns: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Join:
    """Blocks side by side."""

    parts: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Fill:
    """These numbers in every row."""

    values: FloatArray


@dataclass(frozen=True, eq=False)
class WeightedSum:
    """Constants + sum of weights * block, column by column; None is weight 1.

    Blocks of one column belong to every column of the sum.
    """

    parts: tuple[int, ...]
    weights: tuple[FloatArray | None, ...]
    constants: FloatArray | None


@dataclass(frozen=True, eq=False)
class MatrixSum:
    """Block times matrix, plus constants."""

    of: int
    matrix: FloatArray
    constants: FloatArray


@dataclass(frozen=True, eq=False)
class Ratio:
    """Numerator / denominator."""

    numerator: int
    denominator: int


@dataclass(frozen=True, eq=False)
class Logarithm:
    """Natural logarithm."""

    of: int


@dataclass(frozen=True, eq=False)
class Limit:
    """Each column raised to its `low` and lowered to its `high`, if there is one."""

    of: int
    low: FloatArray | None
    high: FloatArray | None


@dataclass(frozen=True, eq=False)
class Sigmoid:
    """1 / (1 + exp(-x))."""

    of: int


@dataclass(frozen=True, eq=False)
class SoftmaxRows:
    """Softmax of scale * row."""

    of: int
    scale: float


@dataclass(frozen=True, eq=False)
class LogSumExpRows:
    """Logarithm of the sum of exponentials of each row: one column."""

    of: int


@dataclass(frozen=True, eq=False)
class ShareOf:
    """Part / total, and `otherwise` where the total is zero."""

    part: int
    total: int
    otherwise: int


@dataclass(frozen=True, eq=False)
class Choice:
    """Of each row the branch of its largest key, the first if several are."""

    keys: int
    branches: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Lookup:
    """One polynomial on each interval between edges, in every column its own.

    Attributes
    ----------
    of : block of m columns
    edges : shape (m, w); w + 1 is a power of two, and rows are filled up with infinity
    counts : shape (m,), how many edges there are
    above : whether an edge belongs to the interval above it
    starts : shape (m, w + 1), what is subtracted first; None of step functions
    coefficients : shape (degree + 1, m, w + 1)
    """

    of: int
    edges: FloatArray
    counts: tuple[int, ...]
    above: bool
    starts: FloatArray | None
    coefficients: FloatArray


Step = (
    Inputs
    | Take
    | Join
    | Fill
    | WeightedSum
    | MatrixSum
    | Ratio
    | Logarithm
    | Limit
    | Sigmoid
    | SoftmaxRows
    | LogSumExpRows
    | ShareOf
    | Choice
    | Lookup
)
