"""Cells of the probability simplex."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, overload

import numpy as np

from veridical._core.data.options import check_integer
from veridical._core.data.validation import check_option
from veridical._core.sample import BinarySample, MulticlassSample, Sample, effective_size
from veridical._core.typing import FloatArray, IntArray
from veridical.binning._bins.partition import (
    GridPartition,
    IntervalBinning,
    IntervalPartition,
    SimplexBinning,
    TreePartition,
)


@dataclass(frozen=True)
class SimplexBins(SimplexBinning):
    """A uniform grid: n bins on every coordinate, so that no class is treated unlike another.

    Cells are those of `full_ECE` of PyCalib and of `ECE(UniformBinning(n))` of
    CalibrationErrors.jl. With two classes they are `UniformBins(n)` on the second class. The number
    of possible cells grows as n to the power K - 1; only cells that hold rows are made. Time
    O(n K + n log n).

    Parameters
    ----------
    n : int, default 15
        Bins per coordinate.

    Examples
    --------
    Both rows lie in one cell, with mean prediction (0.5, 0.25, 0.25) and frequencies (0.5, 0.5, 0).

    >>> from veridical import BinnedError
    >>> BinnedError(SimplexBins(2))([0, 1], [[0.5, 0.25, 0.25]] * 2, lens="canonical")
    0.25
    """

    n: int = 15

    def __post_init__(self) -> None:
        hint = "cells multiply with every class: 5 or 10 is usual."
        check_integer("SimplexBins", "n", self.n, hint=hint)

    @property
    def name(self) -> str:
        """Short name."""
        return f"simplex grid, {self.n} bins an axis"

    def fit(self, sample: MulticlassSample) -> GridPartition:
        """Return the cells these predictions occupy."""
        axis = IntervalPartition(np.arange(self.n + 1) / self.n, uniform=True)
        return GridPartition.of(axis, sample.p)


@dataclass(frozen=True)
class VarianceSplitBins(SimplexBinning, IntervalBinning):
    """Cells made by splitting at the mean (or median) of the most variable coordinate.

    A cell is split as long as it holds at least `min_size` rows (002 appendix B, where 1,000 is
    typical); children may be smaller. Weighted rows count with their effective size. Problems of
    one probability (binary, confidence, two groups) are split into intervals.

    Of coordinates that vary alike that of the largest mean is split; if these are alike, too, each
    of them is, one after the other, so that the order of the classes does not matter.

    Parameters
    ----------
    min_size : int, default 1000
        Smallest cell that is still split.
    threshold : {"mean", "median"}, default "mean"
        Where to split; values equal to the threshold go to the lower side.

    Examples
    --------
    Two kinds of rows, each in a cell of its own, are off by 0.2; in one cell, (0.45, 0.45, 0.1)
    is off by 0.1.

    >>> from veridical import BinnedError
    >>> y, p = [0, 1] * 10, [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1]] * 10
    >>> for min_size in (20, 21):
    ...     print(round(BinnedError(VarianceSplitBins(min_size))(y, p, lens="canonical"), 6))
    0.2
    0.1

    One probability, split at its mean 0.4, and the upper part once more, at 0.75:

    >>> sample = BinarySample(y=np.array([0, 0, 0, 1, 1]), p=np.array([0.1, 0.2, 0.2, 0.6, 0.9]))
    >>> VarianceSplitBins(2).fit(sample).edges.round(3).tolist()
    [0.0, 0.167, 0.4, 0.75, 1.0]
    """

    min_size: int = 1000
    threshold: Literal["mean", "median"] = "mean"

    def __post_init__(self) -> None:
        check_option("VarianceSplitBins", "threshold", self.threshold, ("mean", "median"))
        hint = "1,000 is typical; smaller cells are noisier."
        check_integer("VarianceSplitBins", "min_size", self.min_size, hint=hint, least=2)

    @property
    def name(self) -> str:
        """Short name."""
        return f"variance-split cells of {self.min_size}, at the {self.threshold}"

    @overload
    def fit(self, sample: BinarySample) -> IntervalPartition: ...
    @overload
    def fit(self, sample: MulticlassSample) -> TreePartition: ...

    def fit(self, sample: Sample) -> IntervalPartition | TreePartition:
        """Grow the tree on these predictions; of one probability its cuts are edges."""
        if isinstance(sample, MulticlassSample):
            return self._grow(sample, sample.p)
        tree = self._grow(sample, sample.p[:, None])
        cuts = np.sort(tree.threshold[tree.feature >= 0])
        return IntervalPartition(
            np.concatenate([[0.0], _rounded_down(cuts, sample.p.dtype), [1.0]])
        )

    def _grow(self, sample: Sample, p: FloatArray) -> TreePartition:
        feature: list[int] = []
        threshold: list[float] = []
        left: list[int] = []
        right: list[int] = []
        cells = 0
        pending: list[tuple[IntArray, int, bool, list[_Split]]] = [
            (np.arange(len(p)), -1, False, [])
        ]
        while pending:
            rows, parent, is_right, due = pending.pop()
            node = len(feature)
            if parent >= 0:
                (right if is_right else left)[parent] = node
            due = [split for split in due if _parts(p[rows, split[0]], split[1])]
            (axis, cut), *rest = due or self._splits(sample, p, rows) or [_LEAF]
            feature.append(axis)
            threshold.append(cut)
            left.append(cells if axis < 0 else -1)
            right.append(-1)
            if axis < 0:
                cells += 1
                continue
            lower = p[rows, axis].astype(np.float64) <= cut
            pending.append((rows[~lower], node, True, rest))
            pending.append((rows[lower], node, False, rest))
        return TreePartition(
            np.asarray(feature), np.asarray(threshold), np.asarray(left), np.asarray(right)
        )

    def _splits(self, sample: Sample, p: FloatArray, rows: IntArray) -> list[_Split]:
        """Coordinates and thresholds that a cell is to be split at, none for a leaf."""
        w = None if sample.weight is None else sample.weight[rows]
        size = effective_size(w, len(rows), sample.weight_type)
        if size < self.min_size * (1 - 1e-12):
            return []
        own = p[rows].astype(np.float64, copy=False)
        mean = np.average(own, axis=0, weights=w)
        variance = np.average((own - mean) ** 2, axis=0, weights=w)
        # Neither alike variances nor alike means must be told apart by rounding.
        alike = variance >= variance.max() * (1 - 1e-12)
        if p.shape[1] == 2:
            alike = np.array([False, True])  # the second of two classes implies the first
        alike &= mean >= mean[alike].max() - 1e-12
        splits = []
        for axis in np.flatnonzero(alike).tolist():
            # A value that equals the mean must not change sides with the rounding of the mean.
            by_mean = self.threshold == "mean"
            cut = float(mean[axis]) + 1e-12 if by_mean else _lower_median(own[:, axis], w)
            if _parts(own[:, axis], cut):
                splits.append((axis, cut))
        return splits


_Split = tuple[int, float]
_LEAF: _Split = (-1, 0.0)


def _parts(values: FloatArray, cut: float) -> bool:
    """Whether values lie on both sides of a cut."""
    return bool(values.min() <= cut < values.max())


def _rounded_down(cuts: FloatArray, kind: np.dtype[Any]) -> FloatArray:
    """The largest numbers of another type that are not above the cuts: the same lie below."""
    near = cuts.astype(kind)
    return np.where(near > cuts, np.nextafter(near, kind.type(0)), near).astype(np.float64)


def _lower_median(values: FloatArray, weight: FloatArray | None) -> float:
    """Smallest value with at least half of the weight at or below it."""
    order = np.argsort(values, kind="stable")
    mass = np.cumsum(np.ones(len(values)) if weight is None else weight[order])
    return float(values[order[np.searchsorted(mass, mass[-1] / 2 * (1 - 1e-12))]])
