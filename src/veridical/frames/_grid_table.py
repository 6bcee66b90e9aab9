"""What one scan of a table leaves: sums for each occupied cell of a fine grid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from veridical._core.typing import FloatArray, IntArray


@dataclass(frozen=True, kw_only=True)
class GridTable:
    """Sums over rows that share a group, a problem, a bin, a cell and an outcome.

    One entry stands for each such combination that occurs; entries are sorted by group, problem,
    bin, cell and outcome. Rows of weight zero are not in it. Without weights every row weighs 1.

    Parameters
    ----------
    classes : tuple
        Labels in the order of the probability columns; for a single column sorted, or as given.
    positive : int
        Index into `classes` of the class a binary problem, and a single column, is about.
    problems : tuple of {"binary", "confidence"} or int
        The induced problems; an integer is the class of a classwise problem.
    groups : tuple
        Keys in the order of the in-memory path; tuples if several columns make the groups;
        ``(None,)`` without groups.
    group, problem : ndarray of shape (m,)
        Indices into `groups` and `problems`.
    bin : ndarray of shape (m,)
        Index of the equal-width bin, from 0 to ``n_bins - 1``: exactly that of ``UniformBins``.
    cell : ndarray of shape (m,)
        Index of the fine cell, from 0; it increases with the probability. A cell may be cut by
        the edge of a bin, so (bin, cell) and not the cell alone is the unit. 1/2 has a cell of
        its own.
    outcome : ndarray of shape (m,)
        1 where the event of the problem happened (positive class, top class right, this class).
    count, sum_w, sum_w2, sum_wp, sum_wp2, sum_w2pq : ndarray of shape (m,)
        Number of rows, and sums of w, w^2, wp, wp^2 and w^2 p(1 - p), p being the probability of
        the problem's event.
    rows, total_w, total_w2 : ndarray of shape (n_groups,)
        Rows, and sums of w and w^2.
    class_weight, class_count : ndarray of shape (n_groups, n_classes)
        Weight and number of rows of each class.
    scores : mapping of str to ndarray of shape (n_groups,)
        Weighted sums of the scores "brier", "log", "spherical" and "zero-one" of whole
        predictions; empty if they were not asked for.
    n_bins : int
        Number of equal-width bins.
    resolution : int
        M: a cell is no wider than 1/M in probability, and than 64/M in log-odds up to 36.
    """

    classes: tuple[Any, ...]
    positive: int
    problems: tuple[str | int, ...]
    groups: tuple[Any, ...]
    group: IntArray
    problem: IntArray
    bin: IntArray
    cell: IntArray
    outcome: IntArray
    count: FloatArray
    sum_w: FloatArray
    sum_w2: FloatArray
    sum_wp: FloatArray
    sum_wp2: FloatArray
    sum_w2pq: FloatArray
    rows: FloatArray
    total_w: FloatArray
    total_w2: FloatArray
    class_weight: FloatArray
    class_count: FloatArray
    scores: Mapping[str, FloatArray]
    n_bins: int
    resolution: int
