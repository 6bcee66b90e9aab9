"""Histogram binning: the frequency of a score's bin, or of the cell of a whole vector.

Bins may be of equal width, of equal mass (found without sorting everything) or clusters of scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from veridical._core.data.schema import Fields, Numbers, Relations
from veridical._core.data.validation import check_option, is_integer
from veridical._core.sample import BinarySample, MulticlassSample
from veridical._core.typing import FloatArray, IntArray
from veridical.binning import GridPartition, IntervalPartition, SimplexBins, UniformBins, root_count
from veridical.binning.counts import SortedScores
from veridical.calibrators._base.bases import MulticlassCalibrator, WeightedOutcomes
from veridical.calibrators._base.scales import BinaryScores
from veridical.calibrators._steps.pieces import check_bins, check_laplace, located, pool_rows
from veridical.calibrators._steps.thresholds import StepCalibrator
from veridical.exceptions import invalid

_EXACT = 1024  # distinct values up to which the optimum is found by dynamic programming
_ROUNDS = 1000


def cluster_ends(scores: SortedScores, n_clusters: int) -> IntArray:
    """Index of the last distinct score of each cluster.

    Clusters of scores are intervals, so dynamic programming finds the least sum of squares (Wang &
    Song 2011, The R Journal 3(2), doi 10.32614/RJ-2011-015). Of more than 1,024 distinct scores
    those that share one of 1,024 equally wide cells are kept together, and Lloyd's iterations then
    move the borders between single scores. Time O(n + 1024^2 n_clusters).
    """
    m = len(scores.value)
    n_clusters = min(n_clusters, m)
    if m <= _EXACT:
        cells = np.arange(m)
    else:
        low, high = float(scores.value[0]), float(scores.value[-1])
        borders = low + (high - low) * (np.arange(1, _EXACT) / _EXACT)
        cells = np.unique(np.append(np.searchsorted(scores.value, borders, side="right"), m)) - 1
        cells = cells[cells >= 0]
    x = scores.value - np.average(scores.value, weights=scores.weight)  # sums lose no digits
    cum_w = scores.cum_w
    cum_x = np.append(0.0, np.cumsum(scores.weight * x))
    chosen = cells[
        _optimal(cells, cum_w, cum_x, scores.weight * x * x, min(n_clusters, len(cells)))
    ]
    return chosen if m <= _EXACT else _lloyd(x, cum_w, cum_x, chosen)


def _optimal(
    cells: IntArray, cum_w: FloatArray, cum_x: FloatArray, squares: FloatArray, n_clusters: int
) -> IntArray:
    """Last cell of each cluster with the least sum of squares."""
    at = np.append(0, cells + 1)
    w, wx = cum_w[at], cum_x[at]
    wxx = np.append(0.0, np.cumsum(squares))[at]
    weight = w[None, :] - w[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        cost = (wxx[None, :] - wxx[:, None]) - (wx[None, :] - wx[:, None]) ** 2 / weight
    cost[np.tril_indices(len(at))] = np.inf  # a cluster holds a cell at least
    best = np.where(np.arange(len(at)) == 0, 0.0, np.inf)
    splits = []
    for _ in range(n_clusters):
        total = best[:, None] + cost
        split = total.argmin(axis=0)
        best = total[split, np.arange(len(at))]
        splits.append(split)
    ends, end = [], len(at) - 1
    for split in reversed(splits):
        ends.append(end - 1)
        end = int(split[end])
    return np.asarray(ends[::-1])


def _lloyd(x: FloatArray, cum_w: FloatArray, cum_x: FloatArray, last: IntArray) -> IntArray:
    """Move borders halfway between means until none moves."""
    for _ in range(_ROUNDS):
        at = np.append(0, last + 1)
        means = np.diff(cum_x[at]) / np.diff(cum_w[at])
        borders = (means[1:] + means[:-1]) / 2
        moved = np.append(np.searchsorted(x, borders, side="right"), len(x)) - 1
        if np.array_equal(moved, last) or (np.diff(moved, prepend=-1) <= 0).any():
            break
        last = moved
    return last


def selected_edges(value: FloatArray, n_bins: int) -> FloatArray:
    """Inner edges of `QuantileBins(n_bins)` on unweighted scores, by selection. Time O(n n_bins).

    A bin ends at the order statistic that reaches its share; the next distinct score is the least
    one above it, found among those up to the next end.
    """
    n = len(value)
    reached = np.ceil(np.arange(1, n_bins) / n_bins * n * (1 - 1e-12)).astype(np.intp)
    ranks = np.unique(np.append(reached, n) - 1)
    parted = np.partition(value, ranks)
    pairs: list[float] = []
    for rank, next_rank in zip(ranks[:-1].tolist(), ranks[1:].tolist(), strict=True):
        above = parted[rank + 1 : next_rank + 1]
        above = above[above > parted[rank]]
        if above.size:  # else the next bin ends at the same score: the two are one
            pairs += [float(parted[rank]), float(above.min())]
    both = SortedScores(np.asarray(pairs), np.empty(0), np.empty(0))
    return both.edges_after(np.arange(0, len(pairs) + 1, 2))[1:-1]


_FEW, _MANY = 64, 1 << 14  # bins and rows for which selecting ends is faster than sorting


@dataclass(kw_only=True, eq=False, repr=False)
class HistogramCalibrator(StepCalibrator):
    r"""Histogram binning: the observed frequency of the bin a score falls into.

    Simple, and its calibration error can be measured without bias; it forgets the order of scores
    within a bin, and its values err by about 1 / sqrt(rows in the bin).

    Parameters
    ----------
    n_bins : int, "sqrt" or "cbrt", default 10
        Number of bins, or the root of the (effective) sample size rounded down.
    strategy : {"quantile", "uniform", "kmeans"}, default "quantile"
        Bins of equal mass, as `QuantileBins`; of equal width on [0, 1], as `UniformBins`; or
        clusters of least variance, with borders halfway between neighbouring scores. Equal scores
        are never parted, so fewer bins may come out of "quantile" and "kmeans".
    laplace : float, default 1
        Imagined rows of each class in each bin, a in the formula below; 0 turns the guard off.
    input : {"probability", "logit", "score"}, default "probability"
        What predictions are. "uniform" reads scores as logits.
    labels : array-like, optional
        Classes in column order.
    pos_label : label, optional
        The positive class of two, which a single column is about; default the larger label.
    weight_type : {"importance", "frequency"}
        What weights mean where the sample size matters: for `laplace` and the roots.

    Attributes
    ----------
    edges_ : array of shape (k - 1,)
        Scores that end a bin, the last bin's left out; they belong to the bin below.
    values_ : array of shape (k,)
        Probability of each bin.
    classes_ : array of shape (2,)
        Labels in the order of the columns of `predict_proba`.

    Notes
    -----
    With N rows and m positives in a bin (weights scaled to the sample size) its value is

    .. math:: (m + a) / (N + 2 a)

    Without the guard (a = 0) a bin of one class says 0 or 1, and one contrary outcome later costs
    an infinite log loss. A bin that had no row (equal width only) keeps its own middle: nothing was
    learnt there. Time O(n) for "uniform", O(n log n) otherwise.

    References
    ----------
    .. [1] Zadrozny & Elkan (2001), ICML, 609-616.
    .. [2] Kumar, Liang & Ma (2019), NeurIPS, arXiv 1909.10155: error of histogram binning.

    Examples
    --------
    >>> p, y = [0.1, 0.2, 0.3, 0.7, 0.8, 0.9], [0, 0, 1, 1, 1, 1]
    >>> map = HistogramCalibrator(n_bins=2, laplace=0).fit(p, y)
    >>> map.predict_proba([0.25, 0.75])[:, 1]  # 1 of 3 and 3 of 3
    array([0.33333333, 1.        ])
    >>> HistogramCalibrator(n_bins=2).fit(p, y).predict_proba([0.25, 0.75])[:, 1]  # 2/5 and 4/5
    array([0.4, 0.8])
    """

    n_bins: int | Literal["sqrt", "cbrt"] = 10
    strategy: Literal["quantile", "uniform", "kmeans"] = "quantile"

    def _check_parameters(self) -> None:
        caller = type(self).__name__
        check_bins(caller, self.n_bins)
        check_option(caller, "strategy", self.strategy, ("quantile", "uniform", "kmeans"))
        super()._check_parameters()

    def _fit_map(self, scores: BinaryScores, rows: WeightedOutcomes) -> None:
        by_rule = isinstance(self.n_bins, str)
        wanted = root_count(str(self.n_bins), rows.size) if by_rule else int(self.n_bins)
        value = self._binned(scores)
        self.edges_ = self._edges(value, rows, wanted)
        sums = np.zeros(2 * len(self.edges_) + 2)
        weights = None if rows.weight is None else rows.weights
        for block, index in located(self.edges_, value, "left"):
            part = None if weights is None else weights[block]
            sums += np.bincount(2 * index + rows.y[block], part, minlength=len(sums))
        missed, positive = sums.reshape(-1, 2).T
        middle = (np.append(0.0, self.edges_) + np.append(self.edges_, 1.0)) / 2
        imagined = np.where(missed + positive > 0, self.laplace, 1.0)  # an empty bin is not 0 / 0
        share = (positive + imagined) / (missed + positive + 2 * imagined)
        self.values_ = np.where(missed + positive > 0, share, middle)

    def _edges(self, value: FloatArray, rows: WeightedOutcomes, n_bins: int) -> FloatArray:
        if self.strategy == "uniform":
            return UniformBins(n_bins).fit(BinarySample(y=rows.y, p=value)).edges[1:-1]
        few = rows.weight is None and n_bins <= _FEW and len(value) >= _MANY
        if self.strategy == "quantile" and few:
            return selected_edges(value, n_bins)
        pooled = pool_rows(value, rows)
        clusters = self.strategy == "kmeans"
        ends = cluster_ends(pooled, n_bins) if clusters else pooled.equal_mass(n_bins)
        return pooled.edges_after(ends)[1:-1]

    @property
    def _bins_probabilities(self) -> bool:
        return self.strategy == "uniform"


_DIGITS = 12  # probabilities come back from their logarithms with an error in the last digits


@dataclass(kw_only=True, eq=False, repr=False)
class SimplexHistogramCalibrator(MulticlassCalibrator):
    r"""Observed class frequencies of the cell of the simplex a prediction falls into.

    The only histogram that can calibrate whole probability vectors (002 section 2.1); the number
    of cells grows as `n_bins` to the power K - 1, so it is for three or four classes.

    Parameters
    ----------
    n_bins : int, default 5
        Bins per class, as `SimplexBins`; of two classes those of the second.
    laplace : float, default 1
        Imagined rows in each cell that occur just as predicted; 0 turns the guard off.
    input : {"probability", "logit"}, default "probability"
        What predictions are.
    labels : array-like, optional
        Classes in column order.
    pos_label : label, optional
        The positive class of two, which a single column is about; default the larger label.
    weight_type : {"importance", "frequency"}
        What weights mean where the sample size matters: for `laplace`.

    Attributes
    ----------
    keys_ : array of shape (cells, K)
        Bin numbers of the cells that held rows; of shape (cells, 1) for two classes.
    values_ : array of shape (cells, K)
        Probabilities of each cell.
    classes_ : array of shape (K,)
        Labels in the order of the columns of `predict_proba`.

    Notes
    -----
    With N rows in a cell, n_k of class k, mean prediction :math:`\bar p` and a = `laplace`,

    .. math:: q_k = (n_k + a\,\bar p_k) / (N + a)

    A prediction in a cell that held no row is left as it is. Probabilities are rounded to 12
    digits before cells are found. Time O(n K + n log n).

    Examples
    --------
    >>> p = [[0.8, 0.1, 0.1], [0.8, 0.1, 0.1], [0.1, 0.1, 0.8]]
    >>> map = SimplexHistogramCalibrator(n_bins=2).fit(p, [0, 1, 2])
    >>> map.predict_proba([[0.7, 0.2, 0.1]]).round(3).tolist()  # (1 + .8, 1 + .1, 0 + .1) / 3
    [[0.6, 0.367, 0.033]]
    """

    _inputs = ("probability", "logit")

    _fitted = Fields(
        keys_=Numbers("m", "a", low=0, whole=True, least=1),  # of two classes one axis is enough
        values_=Numbers("m", "K", low=0, high=1, shares=True),
    )

    n_bins: int = 5
    laplace: float = 1.0

    def _check_parameters(self) -> None:
        caller = type(self).__name__
        check_laplace(caller, self.laplace)
        if not (is_integer(self.n_bins) and 1 <= self.n_bins <= 10_000):
            hint = "cells multiply with every class: 5 or 10 is usual."
            expected = "an integer from 1 to 10,000"
            raise invalid(caller, "n_bins", expected, repr(self.n_bins), hint=hint)

    def _relations(self) -> Relations:
        yield from super()._relations()
        keys = self.keys_
        yield "keys_", 1 <= keys.shape[1] <= len(self.classes_), "one column a class at most"
        yield "keys_", int(keys.max()) < self.n_bins, f"numbers of {self.n_bins} bins"
        yield "keys_", len(np.unique(keys, axis=0)) == len(keys), "different cells"

    def _fit_map(self, logits: FloatArray, rows: WeightedOutcomes) -> None:
        p = _probabilities(logits)
        classes = tuple(range(rows.n_classes))
        partition = SimplexBins(int(self.n_bins)).fit(
            MulticlassSample(y=rows.y, p=p, classes=classes)
        )
        cell, weights = partition.assign(p), rows.weights
        total = np.bincount(cell, weights, minlength=partition.n_cells)
        values = np.empty((partition.n_cells, rows.n_classes))
        for k in classes:
            hits = np.bincount(cell, weights * (rows.y == k), minlength=partition.n_cells)
            predicted = np.bincount(cell, weights * p[:, k], minlength=partition.n_cells) / total
            values[:, k] = hits + self.laplace * predicted
        self.keys_ = partition.keys
        self.values_ = values / values.sum(axis=1, keepdims=True)

    def _map(self, logits: FloatArray) -> FloatArray:
        p = _probabilities(logits)
        axis = IntervalPartition(np.arange(self.n_bins + 1) / self.n_bins, uniform=True)
        cell = GridPartition(axis, self.keys_).assign(p)
        return np.where(cell[:, None] >= 0, self.values_[cell], p)


def _probabilities(logits: FloatArray) -> FloatArray:
    from scipy.special import softmax

    return np.clip(np.round(softmax(logits, axis=1), _DIGITS), 0.0, 1.0)
