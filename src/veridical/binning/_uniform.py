"""Bins of equal width."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veridical._core.sample import BinarySample
from veridical._core.typing import FloatArray, IntArray, Side
from veridical._core.validation import check_option, is_integer
from veridical.binning._base import IntervalBinning
from veridical.binning._count import BinCount, check_count, resolve_count
from veridical.binning._partition import Closed, IntervalPartition
from veridical.binning._sorted import SortedScores
from veridical.exceptions import invalid


@dataclass(frozen=True)
class UniformBins(IntervalBinning):
    """Equal-width bins [0, 1/B], (1/B, 2/B], ..., with edges k/B correctly rounded.

    Parameters
    ----------
    n : int, "sqrt", "cbrt" or "cv", default 15
        Number of bins, or how to choose it.
    support : (float, float), default (0, 1)
        Interval that is divided; ``(1/K, 1)`` reproduces papers that bin confidences there.
        Scores outside belong to the outer bins.
    closed : {"right", "left"}, default "right"
        Which end of a bin belongs to it. 0 and 1 are always in the first and last bin.
    min_count : int, optional
        Merge neighbouring bins, from the left, until each holds at least this many rows.

    Examples
    --------
    >>> sample = BinarySample(y=np.array([0, 1, 1]), p=np.array([0.2, 0.7, 0.71]))
    >>> UniformBins(10).fit(sample).assign(sample.p).tolist()
    [1, 6, 7]
    """

    n: BinCount = 15
    support: tuple[float, float] = (0.0, 1.0)
    closed: Closed = "right"
    min_count: int | None = None

    def __post_init__(self) -> None:
        check_count(self.n, caller="UniformBins")
        check_option("UniformBins", "closed", self.closed, ("right", "left"))
        if self.min_count is not None and not (is_integer(self.min_count) and self.min_count >= 1):
            hint = "10 to 50 rows make a frequency worth reading."
            got = repr(self.min_count)
            raise invalid("UniformBins", "min_count", "a positive integer", got, hint=hint)
        pair = isinstance(self.support, (tuple, list)) and len(self.support) == 2
        if not (pair and 0 <= self.support[0] < self.support[1] <= 1):
            hint = "e.g. `support=(1 / n_classes, 1)` for confidences."
            got = repr(self.support)
            raise invalid("UniformBins", "support", "(low, high) within [0, 1]", got, hint=hint)

    @property
    def name(self) -> str:
        """Short name."""
        text = f"{self.n} equal-width bins"
        if self.support != (0.0, 1.0):
            text += f" on [{self.support[0]:.4g}, {self.support[1]:.4g}]"
        if self.closed == "left":
            text += ", left-closed"
        return text if self.min_count is None else f"{text}, at least {self.min_count} rows each"

    def fit(self, sample: BinarySample) -> IntervalPartition:
        """Return the bins; the scores matter only for "cv", "sqrt" and `min_count`."""
        edges = self._edges(resolve_count(self.n, sample, self._boundaries))
        partition = IntervalPartition(edges, self.closed, uniform=True)
        if self.min_count is None:
            return partition
        return self._merged(partition, sample, self.min_count)

    def _edges(self, n: int) -> FloatArray:
        low, high = self.support
        edges = np.arange(n + 1) / n
        if self.support != (0.0, 1.0):
            edges = low + (high - low) * edges
            edges[-1] = high
        return edges

    def _boundaries(self, scores: SortedScores, n: int) -> IntArray:
        edges = self._edges(n).astype(scores.value.dtype)
        side: Side = "right" if self.closed == "right" else "left"
        inner = np.searchsorted(scores.value, edges[1:-1], side=side)
        last: IntArray = np.append(inner, len(scores.value)) - 1
        return last

    def _merged(
        self, partition: IntervalPartition, sample: BinarySample, min_count: int
    ) -> IntervalPartition:
        cells = partition.assign(sample.p)
        n = partition.n_cells
        w = np.bincount(cells, weights=sample.weight, minlength=n).astype(np.float64)
        squared = None if sample.weight is None else sample.weight**2
        w2 = np.bincount(cells, weights=squared, minlength=n)
        kept, mass, mass2 = [0], 0.0, 0.0
        for index in range(n):
            mass, mass2 = mass + w[index], mass2 + w2[index]
            count = mass if sample.weight_type == "frequency" else mass**2 / max(mass2, 1e-300)
            if count >= min_count * (1 - 1e-12):
                kept.append(index + 1)
                mass, mass2 = 0.0, 0.0
        if len(kept) == 1:
            kept.append(n)
        kept[-1] = n  # what is left over joins the last bin
        # One heavy row can make a bin worth fewer rows than it was: then it joins its neighbour.
        while len(kept) > 2:
            mass, mass2 = w[kept[-2] :].sum(), w2[kept[-2] :].sum()
            count = mass if sample.weight_type == "frequency" else mass**2 / mass2
            if count >= min_count * (1 - 1e-12):
                break
            del kept[-2]
        return IntervalPartition(partition.edges[kept], self.closed)
