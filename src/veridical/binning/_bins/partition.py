"""What a binning is, and the fitted partition that says to which cell a score belongs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from veridical._core.numeric.blocks import ROWS, row_blocks
from veridical._core.sample import BinarySample, MulticlassSample
from veridical._core.typing import FloatArray, IntArray, Side

Closed = Literal["right", "left"]

# rint((p - low) * scale) names the nearest edge as long as its rounding error stays below 1/2.
_MAX_UNIFORM_BINS = 1 << 20


@dataclass(frozen=True, eq=False)
class IntervalPartition:
    """Intervals between increasing edges; right-closed, the first closed on both sides.

    Attributes
    ----------
    edges : float64 array of shape (n_cells + 1,)
    closed : {"right", "left"}
    uniform : bool
        Whether edges are equally spaced, which makes `assign` a multiplication.
    doubt : str or None
        Why the bins are not the ones asked for, if they are not.
    """

    edges: FloatArray
    closed: Closed = "right"
    uniform: bool = False
    doubt: str | None = None

    @property
    def n_cells(self) -> int:
        """Number of bins, empty ones included."""
        return len(self.edges) - 1

    @property
    def centres(self) -> FloatArray:
        """Midpoints of the bins."""
        return (self.edges[:-1] + self.edges[1:]) / 2

    @property
    def grid(self) -> tuple[float, float] | None:
        """(low, scale) such that ``rint((p - low) * scale)`` is the nearest edge, if uniform."""
        if not self.uniform or self.n_cells > _MAX_UNIFORM_BINS:
            return None
        low, high = float(self.edges[0]), float(self.edges[-1])
        return low, self.n_cells / (high - low)

    def assign(self, p: FloatArray) -> IntArray:
        """Index of the bin of each score, decided by comparing with the edges."""
        edges = self.edges.astype(p.dtype)
        if self.grid is None:
            side: Side = "left" if self.closed == "right" else "right"
            return np.searchsorted(edges[1:-1], p, side=side)
        return self._assign_uniform(p, edges, *self.grid)

    def cuts(self, value: FloatArray) -> IntArray:
        """Where the bins begin among increasing scores, and where the last ends: as `assign` does.

        Of so many bins as scores fall into one that is empty begins where the next does.
        """
        side: Side = "right" if self.closed == "right" else "left"
        inner = np.searchsorted(value, self.edges[1:-1].astype(value.dtype), side=side)
        return np.concatenate([[0], inner, [len(value)]])

    def _assign_uniform(
        self, p: FloatArray, edges: FloatArray, low: float, scale: float
    ) -> IntArray:
        """Multiply and round up; only scores within rounding of an edge are compared with it."""
        position = (p - p.dtype.type(low) if low else p) * p.dtype.type(scale)
        nearest = np.rint(position)
        bins = np.ceil(position) if self.closed == "right" else np.floor(position) + 1
        position -= nearest
        np.abs(position, out=position)
        close = position <= 4 * np.finfo(p.dtype).eps * (self.n_cells + low * scale)
        if close.any():
            rows = np.flatnonzero(close)
            edge = nearest[rows].astype(np.intp)
            at = edges.take(edge, mode="clip")
            below = (p[rows] <= at) if self.closed == "right" else (p[rows] < at)
            bins[rows] = edge + 1 - below
        np.clip(bins, 1, self.n_cells, out=bins)
        result = bins.astype(np.intp)
        result -= 1
        return result

    def share(self, p: FloatArray) -> tuple[IntArray, FloatArray]:
        """Lower of the two bins a score is shared between, and the upper one's share.

        Linear binning: a score on a bin's centre belongs wholly to that bin, one between two
        centres to both in proportion; beyond the outer centres to the outer bin.
        """
        centres = self.centres
        if len(centres) == 1:
            return np.zeros(len(p), dtype=np.intp), np.zeros(len(p))
        lower = np.searchsorted(centres, p, side="right") - 1
        np.clip(lower, 0, len(centres) - 2, out=lower)
        upper = (p - centres[lower]) / (centres[lower + 1] - centres[lower])
        return lower, np.clip(upper, 0.0, 1.0)

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe form."""
        return {
            "kind": "intervals",
            "edges": self.edges.tolist(),
            "closed": self.closed,
            "uniform": self.uniform,
            "doubt": self.doubt,
        }

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, IntervalPartition)
            and self.closed == other.closed
            and np.array_equal(self.edges, other.edges)
        )

    __hash__ = None  # type: ignore[assignment]


class SimplexPartition(ABC):
    """Cells of the probability simplex."""

    @property
    @abstractmethod
    def n_cells(self) -> int:
        """Number of cells."""

    @abstractmethod
    def assign(self, p: FloatArray) -> IntArray:
        """Index of the cell of each probability vector."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """JSON-safe form."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, eq=False)
class GridPartition(SimplexPartition):
    """A uniform grid on every coordinate; of two classes on the second, which implies the first.

    Only cells seen when fitting exist; `keys` holds their bin numbers, one row a cell, sorted. Keys
    of fewer columns than classes are those of the last ones.
    """

    axis: IntervalPartition
    keys: IntArray

    @classmethod
    def of(cls, axis: IntervalPartition, p: FloatArray) -> GridPartition:
        """The cells that some vectors occupy."""
        n_axes = 1 if p.shape[1] == 2 else p.shape[1]
        for factors in _factors(axis.n_cells, n_axes):
            names = _cell_names(axis, p, factors)
            _, first, cell = np.unique(names, return_index=True, return_inverse=True)
            keys = grid_bins(axis, p[first], n_axes)
            if _is_exact(factors) or _all_in(axis, p, keys, cell):
                return cls(axis, keys[np.lexsort(keys.T[::-1])])
        raise AssertionError("hashes of 64 bits collide again and again")

    @property
    def n_cells(self) -> int:
        """Number of occupied cells."""
        return len(self.keys)

    def assign(self, p: FloatArray) -> IntArray:
        """Index of the cell of each vector; -1 for a cell not seen when fitting."""
        for factors in _factors(self.axis.n_cells, self.keys.shape[1]):
            known = _hashed(self.keys, factors)
            order = np.argsort(known)
            known = known[order]
            if not (known[1:] == known[:-1]).any():
                break
        wanted = _cell_names(self.axis, p, factors)
        position = np.searchsorted(known, wanted).clip(max=len(known) - 1)
        cell = np.where(known[position] == wanted, order[position], -1)
        if not _is_exact(factors):
            _drop_strangers(self.axis, p, self.keys, cell)
        return cell

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe form."""
        return {"kind": "grid", "axis": self.axis.to_dict(), "keys": self.keys.tolist()}


@dataclass(frozen=True, eq=False)
class TreePartition(SimplexPartition):
    """Leaves of a binary tree of threshold splits: ``p[feature] <= threshold`` goes left.

    Node i is a leaf where ``feature[i] == -1``; `left` then holds its cell number.
    """

    feature: IntArray
    threshold: FloatArray
    left: IntArray
    right: IntArray

    @property
    def n_cells(self) -> int:
        """Number of leaves."""
        return int((self.feature == -1).sum())

    def assign(self, p: FloatArray) -> IntArray:
        """Index of the leaf each vector falls into."""
        node = np.zeros(len(p), dtype=np.intp)
        rows = np.arange(len(p))
        inner = rows[self.feature[node] >= 0]
        while inner.size:
            at = node[inner]
            goes_left = p[inner, self.feature[at]] <= self.threshold[at]
            node[inner] = np.where(goes_left, self.left[at], self.right[at])
            inner = inner[self.feature[node[inner]] >= 0]
        return self.left[node]

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe form."""
        return {
            "kind": "tree",
            "feature": self.feature.tolist(),
            "threshold": self.threshold.tolist(),
            "left": self.left.tolist(),
            "right": self.right.tolist(),
        }


Partition = IntervalPartition | SimplexPartition


def grid_bins(axis: IntervalPartition, p: FloatArray, n_axes: int) -> IntArray:
    """Bin number of each of the last coordinates, (n, n_axes)."""
    values = np.ascontiguousarray(p[:, p.shape[1] - n_axes :])
    return axis.assign(values.reshape(-1)).reshape(values.shape)


_BITS = 62  # of mixed-radix numbers that a 64-bit integer holds
_SEEDS = 8  # of hashes that are tried


def _factors(n_bins: int, n_axes: int) -> Iterator[IntArray]:
    """What bin numbers are multiplied with to name a cell by one integer.

    Powers of the number of bins where they fit, which name every cell exactly; else random odd
    numbers, whose sums modulo 2^64 differ for different cells but for very rare accidents.
    """
    if n_axes * np.log2(max(n_bins, 2)) < _BITS:
        powers = [n_bins**power for power in range(n_axes - 1, -1, -1)]
        yield np.asarray(powers, dtype=np.int64)
        return
    for seed in range(_SEEDS):
        rng = np.random.default_rng([seed, n_axes])
        yield rng.integers(0, 1 << 64, n_axes, dtype=np.uint64) | np.uint64(1)


def _is_exact(factors: IntArray) -> bool:
    return factors.dtype == np.int64


def _hashed(bins: IntArray, factors: IntArray) -> IntArray:
    """One integer a row of bin numbers."""
    return bins.astype(factors.dtype) @ factors


def _cell_names(axis: IntervalPartition, p: FloatArray, factors: IntArray) -> IntArray:
    """The integer of the cell of each vector, block by block."""
    names = np.empty(len(p), dtype=factors.dtype)
    for rows in row_blocks(len(p), _rows_at_once(p)):
        names[rows] = _hashed(grid_bins(axis, p[rows], len(factors)), factors)
    return names


def _all_in(axis: IntervalPartition, p: FloatArray, keys: IntArray, cell: IntArray) -> bool:
    """Whether every vector lies in the cell it was given."""
    return all(
        np.array_equal(grid_bins(axis, p[rows], keys.shape[1]), keys[cell[rows]])
        for rows in row_blocks(len(p), _rows_at_once(p))
    )


def _drop_strangers(axis: IntervalPartition, p: FloatArray, keys: IntArray, cell: IntArray) -> None:
    """Take vectors out of cells that only share a hash with theirs."""
    for rows in row_blocks(len(p), _rows_at_once(p)):
        same = (grid_bins(axis, p[rows], keys.shape[1]) == keys[cell[rows]]).all(axis=1)
        cell[rows][~same] = -1


def _rows_at_once(p: FloatArray) -> int:
    return max(64, 4 * ROWS // p.shape[1])


def partition_from_dict(data: dict[str, Any]) -> Partition:
    """Read back what `to_dict` wrote."""
    if data["kind"] == "intervals":
        return IntervalPartition(
            np.asarray(data["edges"], dtype=np.float64),
            data["closed"],
            data["uniform"],
            data["doubt"],
        )
    if data["kind"] == "grid":
        axis = partition_from_dict(data["axis"])
        assert isinstance(axis, IntervalPartition)
        return GridPartition(axis, np.asarray(data["keys"], dtype=np.intp))
    return TreePartition(
        np.asarray(data["feature"], dtype=np.intp),
        np.asarray(data["threshold"], dtype=np.float64),
        np.asarray(data["left"], dtype=np.intp),
        np.asarray(data["right"], dtype=np.intp),
    )


class Binning(ABC):
    """A rule that turns scores into a partition."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Short name shown beside every figure."""


class IntervalBinning(Binning):
    """A rule for scores in [0, 1]."""

    @abstractmethod
    def fit(self, sample: BinarySample) -> IntervalPartition:
        """Return the bins for these scores (some rules look at the outcomes too)."""


class SimplexBinning(Binning):
    """A rule for probability vectors."""

    @abstractmethod
    def fit(self, sample: MulticlassSample) -> SimplexPartition:
        """Return the cells for these predictions."""
