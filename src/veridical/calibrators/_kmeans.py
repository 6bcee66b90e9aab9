"""Clusters of scores: k-means on a line, without chance."""

from __future__ import annotations

import numpy as np

from veridical._core.typing import FloatArray, IntArray
from veridical.binning._sorted import SortedScores

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
