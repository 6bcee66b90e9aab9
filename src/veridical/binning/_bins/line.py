"""Binnings of one score: equal width, equal mass, given edges, and the monotone sweep."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.data.arrays import to_numpy
from veridical._core.data.options import check_integer
from veridical._core.data.validation import check_option
from veridical._core.numeric.blocks import row_blocks
from veridical._core.sample import BinarySample
from veridical._core.typing import FloatArray, IntArray, Side
from veridical.binning._bins.counts import (
    BinCount,
    SortedScores,
    check_count,
    resolve_count,
    sort_scores,
)
from veridical.binning._bins.partition import Closed, IntervalBinning, IntervalPartition
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
        if self.min_count is not None:
            hint = "10 to 50 rows make a frequency worth reading."
            check_integer("UniformBins", "min_count", self.min_count, hint=hint)
        _check_support("UniformBins", self.support)

    @property
    def name(self) -> str:
        """Short name."""
        text = f"{self.n} equal-width bins{_support_text(self.support)}"
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
        n = partition.n_cells
        if sample.is_sorted:
            cuts = partition.cuts(sample.pooled.value)
            held = (sample.pooled.weight[a:b] for a, b in itertools.pairwise(cuts))
            w = w2 = np.array([each.sum() for each in held])
        else:
            cells = partition.assign(sample.p)
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


@dataclass(frozen=True)
class QuantileBins(IntervalBinning):
    """Equal-mass bins; equal scores stay together, so bins may differ in size or be fewer.

    Bin k ends at the smallest score whose cumulated (weighted) share reaches k/B; edges lie
    halfway to the next score. Without ties, and when B divides n, these are the groups of
    scikit-learn's ``calibration_curve(strategy="quantile")``.

    Parameters
    ----------
    n : int, "sqrt", "cbrt" or "cv", default 15
        Number of bins, or how to choose it.
    support : (float, float), default (0, 1)
        Where the outer bins end. The rows of each bin are the same, but not the middle of the outer
        bins, which linear assignment and diagrams use; ``(1/K, 1)`` for confidences. Bins that end
        beyond it become one, so scores outside belong to the outer bins.

    Examples
    --------
    >>> import numpy as np
    >>> p = np.array([0.1, 0.2, 0.2, 0.2, 0.3, 0.9])
    >>> QuantileBins(3).fit(BinarySample(y=np.zeros(6, int), p=p)).edges.tolist()
    [0.0, 0.25, 1.0]
    """

    n: BinCount = 15
    support: tuple[float, float] = (0.0, 1.0)

    def __post_init__(self) -> None:
        check_count(self.n, caller="QuantileBins")
        _check_support("QuantileBins", self.support)

    @property
    def name(self) -> str:
        """Short name."""
        return f"{self.n} equal-mass bins{_support_text(self.support)}"

    def fit(self, sample: BinarySample) -> IntervalPartition:
        """Return the bins for these scores."""
        scores = sort_scores(sample)
        wanted = resolve_count(self.n, sample, SortedScores.equal_mass)
        last = scores.equal_mass(wanted)
        doubt = None
        if len(last) < wanted:
            why = "more bins than rows" if wanted > sample.n else "equal scores stay together"
            doubt = f"{wanted} equal-mass bins asked for, {len(last)} made: {why}"
        edges = scores.edges_after(last)
        if self.support != (0.0, 1.0):
            low, high = self.support
            inner = edges[(edges > low) & (edges < high)]
            edges = np.concatenate([[low], inner, [high]])
        return IntervalPartition(edges, doubt=doubt)


def _check_support(caller: str, support: Any) -> None:
    pair = isinstance(support, (tuple, list)) and len(support) == 2
    if not (pair and 0 <= support[0] < support[1] <= 1):
        hint = "e.g. `support=(1 / n_classes, 1)` for confidences."
        raise invalid(caller, "support", "(low, high) within [0, 1]", repr(support), hint=hint)


def _support_text(support: tuple[float, float]) -> str:
    """Words for an interval that is not [0, 1]."""
    return "" if support == (0.0, 1.0) else f" on [{support[0]:.4g}, {support[1]:.4g}]"


@dataclass(frozen=True)
class EdgeBins(IntervalBinning):
    """Bins between given edges; 0 and 1 are added where missing.

    Parameters
    ----------
    edges : array-like
        Increasing numbers in [0, 1].
    closed : {"right", "left"}, default "right"
        Which end of a bin belongs to it.

    Examples
    --------
    >>> sample = BinarySample(y=np.array([0, 1]), p=np.array([0.05, 0.9]))
    >>> EdgeBins([0.1, 0.5]).fit(sample).edges.tolist()
    [0.0, 0.1, 0.5, 1.0]
    """

    edges: Any
    closed: Closed = "right"

    def __post_init__(self) -> None:
        check_option("EdgeBins", "closed", self.closed, ("right", "left"))
        edges = to_numpy(self.edges, caller="EdgeBins", param="edges")
        number = edges.ndim == 1 and edges.dtype.kind in "fiu"
        inside = number and bool(np.all((edges >= 0) & (edges <= 1)))
        if not (inside and bool(np.all(np.diff(edges) > 0))):
            hint = "e.g. `EdgeBins([0.1, 0.5, 0.9])`."
            got = repr(self.edges)
            raise invalid("EdgeBins", "edges", "increasing numbers in [0, 1]", got, hint=hint)
        inner = [float(edge) for edge in edges if 0 < edge < 1]
        object.__setattr__(self, "edges", (0.0, *inner, 1.0))

    @property
    def name(self) -> str:
        """Short name."""
        return f"{len(self.edges) - 1} given bins"

    def fit(self, sample: BinarySample) -> IntervalPartition:
        """Return the bins; the scores do not matter."""
        del sample
        return IntervalPartition(np.asarray(self.edges), self.closed)


_TOLERANCE = 1e-12
_FIRST_BATCH, _LARGEST_BATCH = 1 << 10, 1 << 19
_MOST_TRIED = 1 << 25  # bins of all counts together: 8,000 counts if outcomes mix everywhere


@dataclass(frozen=True)
class SweepBins(IntervalBinning):
    """The largest number of equal-mass bins up to which observed frequencies never decrease.

    Roelofs, Cain, Shlens & Mozer (2021), arXiv 2012.08668, Algorithm 1: counts are tried upwards
    from one and the search ends at the first count whose bin means are not monotone, when every
    distinct score has a bin of its own, or at the sample size (that of weighted rows: a single
    heavy row is one row). Where that is more than some 30 million bins in all, it ends there.

    Examples
    --------
    >>> p, y = np.array([0.1, 0.2, 0.3, 0.4]), np.array([0, 1, 0, 1])
    >>> SweepBins().fit(BinarySample(y=y, p=p)).n_cells
    2
    """

    @property
    def name(self) -> str:
        """Short name."""
        return "monotone sweep bins"

    def fit(self, sample: BinarySample) -> IntervalPartition:
        """Return the bins for these scores and outcomes."""
        scores = sort_scores(sample)
        return IntervalPartition(scores.edges_after(_largest_monotone(scores)))


def _largest_monotone(scores: SortedScores) -> IntArray:
    frequency = scores.positive if scores.alone else scores.positive / scores.weight
    if not _decreases(frequency):
        return np.arange(len(scores.value))  # monotone score by score, so with every count
    # Only bins that touch the stretch where both outcomes occur can break the order: all bins
    # before it have mean 0, all bins after it mean 1.
    total = scores.cum_w[-1]
    first_positive = int((scores.positive > 0).argmax())
    last_negative = len(frequency) - 1 - int((frequency < 1 - _TOLERANCE)[::-1].argmax())
    start, stop = scores.cum_w[first_positive] / total, scores.cum_w[last_negative + 1] / total
    # So many bins separate all scores; without ties or weights it is the number of rows.
    most = int(np.ceil(min(total, total / scores.weight.min()) * (1 - _TOLERANCE)))
    tried, room, spent = 1, _FIRST_BATCH, 0.0
    while tried < most and spent < _MOST_TRIED:
        # As many counts at a time as have about `room` bins in the stretch.
        width = (stop - start) * (tried + 1) + 4
        counts = np.arange(tried + 1, min(tried + max(1, int(room / width)), most) + 1)
        broken = _first_broken(scores, counts, start, stop)
        if broken is not None:
            return scores.equal_mass(broken - 1)
        tried, room = int(counts[-1]), min(2 * room, _LARGEST_BATCH)
        spent += width * len(counts)
    return scores.equal_mass(tried)


def _first_broken(scores: SortedScores, counts: IntArray, start: float, stop: float) -> int | None:
    """Smallest of the counts whose bin means are not monotone between two shares of the mass."""
    low = (start * counts).astype(np.intp)
    high = np.minimum(np.ceil(stop * counts).astype(np.intp) + 1, counts)
    sizes = high - low + 1
    if sizes.sum() > len(counts) * len(scores.cum_w):
        return _first_broken_of_few(scores, counts)
    count = np.repeat(counts, sizes)
    within = np.arange(len(count)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    step = np.repeat(low, sizes) + within
    target = step / count * scores.cum_w[-1] * (1 - _TOLERANCE)
    end = np.minimum(np.searchsorted(scores.cum_w[1:], target), len(scores.value) - 1) + 1
    end[step == 0] = 0
    # A bin ends at each target and begins at the one before; equal ends are one bin.
    held = np.flatnonzero((within[1:] > 0) & (end[1:] > end[:-1])) + 1
    return _first_fall(scores, count[held], end[held - 1], end[held])


def _first_broken_of_few(scores: SortedScores, counts: IntArray) -> int | None:
    """The same for fewer scores than bins: score by score, which are the last of their bin?"""
    share = scores.cum_w / (scores.cum_w[-1] * (1 - _TOLERANCE))
    reached = np.minimum(np.floor(np.outer(counts, share)), counts[:, None])
    row, last = np.nonzero(np.diff(reached, axis=1) > 0)
    begin = np.where(np.append(-1, row[:-1]) == row, np.append(0, last[:-1] + 1), 0)
    return _first_fall(scores, counts[row], begin, last + 1)


def _first_fall(
    scores: SortedScores, count: IntArray, begin: IntArray, end: IntArray
) -> int | None:
    """First of the counts, one a bin, within which the frequency of a bin is below the last."""
    weight = scores.cum_w[end] - scores.cum_w[begin]
    frequency = (scores.cum_wy[end] - scores.cum_wy[begin]) / weight
    worse = (np.diff(frequency) < -_TOLERANCE) & (count[1:] == count[:-1])
    return int(count[1:][worse][0]) if worse.any() else None


def _decreases(frequency: FloatArray) -> bool:
    # Block by block, for most fall at once.
    return any(
        bool((np.diff(frequency[block.start : block.stop + 1]) < -_TOLERANCE).any())
        for block in row_blocks(len(frequency))
    )
