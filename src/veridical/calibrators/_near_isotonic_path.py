"""All near-isotonic fits, from none to full monotonicity, as one sequence of merges."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from veridical._core.typing import BoolArray, FloatArray, IntArray

_SAME = 1e-12  # relative difference of penalties that are one up to rounding


@dataclass(frozen=True)
class NearIsotonicPath:
    r"""Minimisers of :math:`\frac12 \sum_i w_i (y_i - b_i)^2 + \lambda \sum_i (b_i - b_{i+1})_+`.

    Tibshirani, Hoefling & Tibshirani (2011), Technometrics 53, 54-61, doi 10.1198/TECH.2010.10111:
    as the penalty grows, neighbouring groups meet and never part again. Of a group with weight N
    and weighted outcomes S

    .. math:: b = (S + \lambda ([\text{left neighbour above}] - [\text{right neighbour below}])) / N

    and neighbours keep their order until they meet.

    Attributes
    ----------
    weight, positive : arrays of shape (m,)
        Runs of equal frequency at penalty 0.
    falls : array of shape (m - 1,)
        Whether the frequency falls from a run to the next.
    penalty : array of shape (j,)
        Penalty of each merge, non-decreasing.
    boundary : array of shape (j,)
        Run after which the boundary goes.
    """

    weight: FloatArray
    positive: FloatArray
    falls: BoolArray
    penalty: FloatArray
    boundary: IntArray

    @cached_property
    def merged_at(self) -> IntArray:
        """Number of the merge that removes each boundary; past the last if none does."""
        number = np.full(len(self.falls), len(self.boundary), dtype=np.intp)
        number[self.boundary] = np.arange(len(self.boundary))
        return number

    @property
    def models(self) -> IntArray:
        """Numbers of merges after which the penalty is about to grow: one for each distinct fit."""
        after = np.append(self.penalty, np.inf)
        before = np.append(0.0, self.penalty)
        return np.flatnonzero(after > before * (1 + _SAME))

    def last_runs(self, merges: int) -> IntArray:
        """Last run of each group after so many merges."""
        return np.append(np.flatnonzero(self.merged_at >= merges), len(self.weight) - 1)

    def groups(self, last: IntArray) -> tuple[FloatArray, FloatArray]:
        """Weight and weighted outcomes of the groups that end with these runs."""
        first = np.append(0, last[:-1] + 1)
        return np.add.reduceat(self.weight, first), np.add.reduceat(self.positive, first)

    def values(self, merges: int) -> FloatArray:
        """Fitted value of each group after so many merges."""
        last = self.last_runs(merges)
        weight, positive = self.groups(last)
        pull = np.zeros(len(last) + 1)
        pull[1:-1] = self.falls[last[:-1]]
        penalty = self.penalty[merges - 1] if merges else 0.0
        return np.clip((positive + penalty * (pull[:-1] - pull[1:])) / weight, 0.0, 1.0)


def near_isotonic_path(weight: FloatArray, positive: FloatArray) -> NearIsotonicPath:
    """Follow the path over frequencies in the order of their scores. Time O(m log m)."""
    frequency = positive / weight
    first = np.flatnonzero(np.concatenate([[True], frequency[1:] != frequency[:-1]]))
    weight, positive = np.add.reduceat(weight, first), np.add.reduceat(positive, first)
    falls = frequency[first[1:]] < frequency[first[:-1]]
    penalty, boundary = _merge(weight.tolist(), positive.tolist(), falls.tolist())
    # Rounding may put a merge before one that caused it.
    return NearIsotonicPath(
        weight,
        positive,
        falls,
        np.maximum.accumulate(np.asarray(penalty, dtype=np.float64)),
        np.asarray(boundary, dtype=np.intp),
    )


def _merge(
    weight: list[float], positive: list[float], falls: list[bool]
) -> tuple[list[float], list[int]]:
    """Penalties and boundaries of the merges, in order. The lists are used up.

    A group is known by its last run, so that `falls[g]` stays the sign of the step after it.
    """
    m = len(weight)
    before, after = list(range(-1, m - 1)), list(range(1, m + 1))
    falls = [*falls, False]  # nothing below the last group; index -1 means the same of the first
    meeting = [-1.0] * m  # penalty at which a group meets the next; -1 for never

    def meet(a: int) -> float:
        """Penalty at which group a meets the next one, or -1."""
        b = after[a]
        drop = positive[a] * weight[b] - positive[b] * weight[a]
        rate = (falls[before[a]] - falls[a]) * weight[b] - (falls[a] - falls[b]) * weight[a]
        closing = rate < 0 if falls[a] else rate > 0
        return -drop / rate if closing else -1.0

    for a in range(m - 1):
        meeting[a] = meet(a)
    heap = [(time, a) for a, time in enumerate(meeting) if time >= 0]
    heapq.heapify(heap)
    penalties: list[float] = []
    boundaries: list[int] = []
    while heap:
        time, a = heapq.heappop(heap)
        if meeting[a] != time:
            continue  # one of the two has changed since
        b, left = after[a], before[a]
        penalties.append(time)
        boundaries.append(a)
        weight[b] += weight[a]
        positive[b] += positive[a]
        meeting[a] = -1.0
        before[b] = left
        if left >= 0:
            after[left] = b
        for g in (left, b):
            if g >= 0 and after[g] < m:
                meeting[g] = meet(g)
                if meeting[g] >= 0:
                    heapq.heappush(heap, (meeting[g], g))
    return penalties, boundaries
