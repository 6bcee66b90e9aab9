"""The checked data everything below the border trusts, and its scores with equal ones pooled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from veridical._core.loops import row_blocks, sort_bits
from veridical._core.typing import Array, BoolArray, FloatArray, IntArray, WeightType


@dataclass(frozen=True)
class PooledScores:
    """Distinct scores in increasing order with the weight and the weighted outcomes at each.

    `value` keeps the type of the scores, so that comparisons stay exact.
    """

    value: FloatArray
    weight: FloatArray
    positive: FloatArray

    @property
    def frequency(self) -> FloatArray:
        """Observed frequency at each score."""
        return self.positive / self.weight

    @property
    def alone(self) -> bool:
        """Whether these are many rows of weight one, all different: weights are no memory then."""
        return len(self.weight) > 1 and self.weight.strides == (0,)

    @cached_property
    def cum_w(self) -> FloatArray:
        """Weight up to and including each score, from zero."""
        return np.arange(len(self.weight) + 1.0) if self.alone else cumulated(self.weight)

    @cached_property
    def cum_wy(self) -> FloatArray:
        """Weighted outcomes up to and including each score, from zero."""
        return cumulated(self.positive)

    def at_share(self, shares: FloatArray | list[float]) -> FloatArray:
        """Smallest scores up to which there are these shares of the weight, and rounding."""
        targets = np.asarray(shares) * self.cum_w[-1] * (1 - 1e-12)
        at = np.searchsorted(self.cum_w[1:], targets)
        return self.value[np.minimum(at, len(self.value) - 1)]

    def blocks(self) -> Iterator[tuple[FloatArray, FloatArray, FloatArray]]:
        """Scores in double precision, weights and outcomes, few at a time."""
        for block in row_blocks(len(self.value)):
            value = self.value[block].astype(np.float64, copy=False)
            yield value, self.weight[block], self.positive[block]


def cumulated(values: FloatArray) -> FloatArray:
    """Sums of the values up to and including each, from zero."""
    sums = np.empty(len(values) + 1)
    sums[0] = 0.0
    np.cumsum(values, out=sums[1:])
    return sums


def pool_scores(
    p: FloatArray, y: IntArray, weight: FloatArray | None, order: IntArray | None = None
) -> PooledScores:
    """Sort the scores and add up weights and outcomes of equal ones. O(n log n).

    `order` is that of the scores, if it is known.
    """
    if weight is None and _fits_packed(p):
        p, y = _sort_packed(p, y)
        if len(p) > _MANY and _increase(p):
            return PooledScores(p, np.broadcast_to(np.ones(1), len(p)), y.astype(np.float64))
    else:
        order = np.argsort(p) if order is None else order
        p, y = p[order], y.astype(np.uint8)[order]  # a byte an outcome: memory is what it costs
        weight = None if weight is None else weight[order]
        del order
    changes = p[1:] != p[:-1]
    if changes.all():
        if weight is None:
            return PooledScores(p, np.ones(len(p)), y.astype(np.float64))
        return PooledScores(p, weight, weight * y)
    starts = np.flatnonzero(np.concatenate([[True], changes]))
    if weight is None:
        counts = np.diff(starts, append=len(p)).astype(np.float64)
        return PooledScores(p[starts], counts, np.add.reduceat(y, starts, dtype=np.float64))
    hits = np.add.reduceat(weight * y, starts)
    return PooledScores(p[starts], np.add.reduceat(weight, starts), hits)


def _fits_packed(p: FloatArray) -> bool:
    return p.dtype in _BITS and len(p) > 0 and bool(p.min() >= 0) and bool(p.max() < 2)


def _sort_packed(p: FloatArray, y: IntArray) -> tuple[FloatArray, IntArray]:
    """Numbers in [0, 2) in order, and the outcome of each: three times as fast as `argsort`.

    Such numbers are ordered like their bits, the highest of which is the sign and free: shifted by
    one place, a number takes its outcome along in the lowest bit and one plain sort does all.
    """
    one = _BITS[p.dtype](1)
    keys = (p + p.dtype.type(0)).view(type(one))  # a copy; -0.0 becomes 0.0
    keys <<= one
    for block in row_blocks(len(keys)):
        keys[block] |= y[block].astype(keys.dtype)
    sort_bits(keys)
    hit = np.empty(len(keys), dtype=np.uint8)
    for block in row_blocks(len(keys)):
        hit[block] = keys[block] & one
        keys[block] >>= one
    return keys.view(p.dtype), hit


_MANY = 1 << 16  # rows that are not given a weight of one each


def _increase(p: FloatArray) -> bool:
    """Whether sorted numbers all differ."""
    after, before = p[1:], p[:-1]
    return all((after[block] != before[block]).all() for block in row_blocks(len(after)))


_BITS: dict[Any, Any] = {np.dtype(np.float64): np.uint64, np.dtype(np.float32): np.uint32}


def effective_size(weight: FloatArray | None, n: int, weight_type: WeightType) -> float:
    """Size of a weighted sample: Kish's (sum w)^2 / sum w^2, or sum w for frequencies.

    Kish (1965), Survey Sampling, section 8.2.
    """
    if weight is None:
        return float(n)
    total = float(weight.sum())
    return total if weight_type == "frequency" else total * total / float(weight @ weight)


@dataclass(frozen=True, kw_only=True)
class BinarySample:
    """Outcomes 0/1 and the probability given to outcome 1.

    Attributes
    ----------
    y : integer array of shape (n,)
        1 where the positive class occurred.
    p : float array of shape (n,)
        Probability of the positive class, in [0, 1], float32 or float64 as given.
    weight : float64 array of shape (n,) or None
        Positive weights; rows of weight zero are already gone.
    weight_type : {"importance", "frequency"}
        What a weight means where the sample size matters.
    classes : tuple
        Labels of (negative, positive).
    pair : float array of shape (n, 2) or None
        Probabilities of (negative, positive), when the user passed two columns.
    positive_first : bool
        Whether the positive class is the first in column order, which ties go to.
    clusters : integer array of shape (n,) or None
        Number of what each row belongs to (a patient, a prompt); None if rows are independent.
    strata : integer array of shape (n,) or None
        Number of the subgroup of each row, if rows have weights and subgroups were named.
    notes : tuple of str
        What has to be said of values that were accepted.
    origin : Origin or None
        The classes this is a question about, if rows have weights, which may go with classes.
    kept : dict
        What was found about these rows and is asked for again; a changed copy starts anew.
    """

    y: IntArray
    p: FloatArray
    weight: FloatArray | None = None
    weight_type: WeightType = "importance"
    classes: tuple[Any, ...] = (0, 1)
    pair: FloatArray | None = None
    positive_first: bool = False
    clusters: IntArray | None = None
    strata: IntArray | None = None
    notes: tuple[str, ...] = ()
    origin: Origin | None = None
    kept: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.y)

    @property
    def size(self) -> float:
        """Sample size that counts for anything depending on n."""
        return effective_size(self.weight, self.n, self.weight_type)

    @cached_property
    def pooled(self) -> PooledScores:
        """Distinct scores in order: sorted once for all that need it."""
        order = None if self.weight is None else self.order
        return pool_scores(self.p, self.y, self.weight, order)

    @cached_property
    def order(self) -> IntArray:
        """Rows by increasing score, those of equal ones in any order."""
        return np.argsort(self.p)

    @property
    def is_sorted(self) -> bool:
        """Whether unweighted rows have been sorted already, for something else."""
        return self.weight is None and "pooled" in self.__dict__

    @property
    def matrix(self) -> FloatArray:
        """Probabilities of both classes, (n, 2), in column order."""
        pair = np.column_stack([1 - self.p, self.p]) if self.pair is None else self.pair
        return pair[:, ::-1] if self.positive_first else pair

    @property
    def index(self) -> IntArray:
        """Class of each row as an index into the columns of `matrix`."""
        return 1 - self.y if self.positive_first else self.y

    @property
    def columns(self) -> tuple[Any, ...]:
        """Labels in the order of the columns of `matrix`."""
        return self.classes[::-1] if self.positive_first else self.classes

    def take(self, rows: Array) -> BinarySample:
        """Keep some rows (mask or indices)."""
        return replace(
            self,
            y=self.y[rows],
            p=self.p[rows],
            weight=None if self.weight is None else self.weight[rows],
            pair=None if self.pair is None else self.pair[rows],
            clusters=None if self.clusters is None else self.clusters[rows],
            strata=None if self.strata is None else self.strata[rows],
            origin=None if self.origin is None else self.origin.take(rows),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MulticlassSample:
    """Class indices and the probability given to each of K classes.

    Attributes
    ----------
    y : integer array of shape (n,)
        Index of the class that occurred, in 0..K-1.
    p : float array of shape (n, K)
        Probabilities; rows sum to one within the tolerance of the border.
    weight, weight_type
        As in `BinarySample`.
    classes : tuple
        Labels in column order.
    confidence, right : arrays of shape (n,) or None
        Largest probability of each row, and whether it (the first of equals) is that of the class
        that occurred; known from the check of the rows, else found by `top_label`.
    clusters, strata, notes, kept
        As in `BinarySample`.
    """

    y: IntArray
    p: FloatArray
    weight: FloatArray | None = None
    weight_type: WeightType = "importance"
    classes: tuple[Any, ...]
    confidence: FloatArray | None = None
    right: BoolArray | None = None
    clusters: IntArray | None = None
    strata: IntArray | None = None
    notes: tuple[str, ...] = ()
    kept: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.y)

    @property
    def size(self) -> float:
        """Sample size that counts for anything depending on n."""
        return effective_size(self.weight, self.n, self.weight_type)

    @property
    def index(self) -> IntArray:
        """Class of each row as an index into the columns of `matrix`."""
        return self.y

    @property
    def columns(self) -> tuple[Any, ...]:
        """Labels in the order of the columns of `matrix`."""
        return self.classes

    @property
    def top_label(self) -> tuple[FloatArray, BoolArray]:
        """Largest probability of each row, and whether that class occurred."""
        if self.confidence is None or self.right is None:
            first = self.p.argmax(axis=1)
            return self.p[np.arange(self.n), first], first == self.y
        return self.confidence, self.right

    @property
    def matrix(self) -> FloatArray:
        """Probabilities of all classes, (n, K)."""
        return self.p

    def take(self, rows: Array) -> MulticlassSample:
        """Keep some rows (mask or indices)."""
        return replace(
            self,
            y=self.y[rows],
            p=self.p[rows],
            weight=None if self.weight is None else self.weight[rows],
            confidence=None if self.confidence is None else self.confidence[rows],
            right=None if self.right is None else self.right[rows],
            clusters=None if self.clusters is None else self.clusters[rows],
            strata=None if self.strata is None else self.strata[rows],
        )


class Origin(NamedTuple):
    """Rows of several classes that a binary problem asks about.

    Attributes
    ----------
    sample : these rows
    event : index of the class of each row that is outcome 1 if it occurs
    """

    sample: MulticlassSample
    event: IntArray

    def take(self, rows: Array) -> Origin:
        """Keep some rows (mask or indices)."""
        return Origin(self.sample.take(rows), self.event[rows])

    def is_of(self, other: BinarySample) -> bool:
        """Whether predictions, outcomes and weights of the question still are those of the rows."""
        rows, at = self.sample, np.arange(self.sample.n)
        return (
            rows.n == other.n
            and rows.weight_type == other.weight_type
            and np.array_equal(rows.y == self.event, other.y == 1)
            and np.array_equal(rows.p[at, self.event], other.p)
            and rows.weight is not None
            and other.weight is not None
            and np.array_equal(rows.weight, other.weight)
        )


Sample = BinarySample | MulticlassSample


def one_hot(sample: MulticlassSample) -> FloatArray:
    """Outcomes as indicator rows, (n, K) float64."""
    indicators = np.zeros((sample.n, len(sample.classes)))
    indicators[np.arange(sample.n), sample.y] = 1.0
    return indicators


def weighted_mean(values: Array, weight: FloatArray | None) -> float:
    """Mean of `values` in double precision, weighted if weights are given."""
    if weight is None:
        return float(np.mean(values, dtype=np.float64))
    return float(np.dot(weight, np.asarray(values, dtype=np.float64)) / weight.sum())
