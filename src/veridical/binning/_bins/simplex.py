"""Cells of the probability simplex."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from veridical._core.data.options import check_integer
from veridical._core.data.validation import check_option
from veridical._core.sample import MulticlassSample, effective_size
from veridical._core.typing import FloatArray, IntArray
from veridical.binning._bins.partition import (
    GridPartition,
    IntervalPartition,
    SimplexBinning,
    TreePartition,
    grid_bins,
    row_keys,
)


@dataclass(frozen=True)
class SimplexBins(SimplexBinning):
    """A uniform grid: n bins on every coordinate but the first, which the others imply.

    With two classes this is `UniformBins(n)` on the second class. The number of possible cells
    grows as n to the power K - 1; only cells that hold rows are made.

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
        bins = grid_bins(axis, sample.p)
        _, first = np.unique(row_keys(bins, self.n), return_index=True)
        return GridPartition(axis, bins[first])


@dataclass(frozen=True)
class VarianceSplitBins(SimplexBinning):
    """Cells made by splitting at the mean (or median) of the most variable coordinate.

    A cell is split as long as it holds at least `min_size` rows (002 appendix B, where 1,000 is
    typical); children may be smaller. Weighted rows count with their effective size.

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

    def fit(self, sample: MulticlassSample) -> TreePartition:
        """Grow the tree on these predictions."""
        feature: list[int] = []
        threshold: list[float] = []
        left: list[int] = []
        right: list[int] = []
        cells = 0
        pending: list[tuple[IntArray, int, bool]] = [(np.arange(sample.n), -1, False)]
        while pending:
            rows, parent, is_right = pending.pop()
            node = len(feature)
            if parent >= 0:
                (right if is_right else left)[parent] = node
            axis, cut = self._split(sample, rows)
            feature.append(axis)
            threshold.append(cut)
            left.append(cells if axis < 0 else -1)
            right.append(-1)
            if axis < 0:
                cells += 1
                continue
            lower = sample.p[rows, axis].astype(np.float64) <= cut
            pending.append((rows[~lower], node, True))
            pending.append((rows[lower], node, False))
        return TreePartition(
            np.asarray(feature), np.asarray(threshold), np.asarray(left), np.asarray(right)
        )

    def _split(self, sample: MulticlassSample, rows: IntArray) -> tuple[int, float]:
        """Coordinate and threshold of the split, or (-1, 0) for a leaf."""
        w = None if sample.weight is None else sample.weight[rows]
        size = effective_size(w, len(rows), sample.weight_type)
        if size < self.min_size * (1 - 1e-12):
            return -1, 0.0
        p = sample.p[rows].astype(np.float64, copy=False)
        mean = np.average(p, axis=0, weights=w)
        variance = np.average((p - mean) ** 2, axis=0, weights=w)
        # Classes of equal variance (always so for two) must not be told apart by rounding.
        axis = int(np.argmax(variance >= variance.max() * (1 - 1e-12)))
        values = p[:, axis]
        # A value that equals the mean must not change sides with the rounding of the mean.
        cut = float(mean[axis]) + 1e-12 if self.threshold == "mean" else _lower_median(values, w)
        if not cut < values.max() or not cut >= values.min():
            return -1, 0.0  # all equal: nothing to split
        return axis, cut


def _lower_median(values: FloatArray, weight: FloatArray | None) -> float:
    """Smallest value with at least half of the weight at or below it."""
    order = np.argsort(values, kind="stable")
    mass = np.cumsum(np.ones(len(values)) if weight is None else weight[order])
    return float(values[order[np.searchsorted(mass, mass[-1] / 2 * (1 - 1e-12))]])
