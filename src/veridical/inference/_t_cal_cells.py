"""Sums over pairs within cells of every scale, each from those of the next finer one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from veridical._core.typing import FloatArray, IntArray
from veridical.inference._kernel_draws import Trials


class _Merge(NamedTuple):
    """What happens to cells from one scale to the next, a cell being named by its first entry.

    Attributes
    ----------
    before, mass_before : cells of several rows that are about to grow
    rounds : pairs (into, from) to merge; rounds one after the other, pairs of a round at once
    after, mass_after : cells that have grown
    """

    before: IntArray
    mass_before: FloatArray
    rounds: list[tuple[IntArray, IntArray]]
    after: IntArray
    mass_after: FloatArray


class CellTree:
    """Cells of equally wide bins (on every axis but the first of vectors) at several scales.

    Every entry is merged away once at most, so all scales together cost a few passes.

    Parameters
    ----------
    trials : entries, each a cell to begin with
    scales : bins on an axis, the finest first; cells of one must be unions of those before it
    """

    def __init__(self, trials: Trials, scales: list[int]) -> None:
        self.scales = scales
        self._trials = trials
        self._several = np.flatnonzero(trials.copies > 1)
        self._merges = list(_merges(trials, scales))

    def errors(self, charge: FloatArray, square: FloatArray) -> FloatArray:
        """T of every scale and resample, from sums of entries (n, k, R) and (n, R).

        1 / W sum over cells of (|sum of charges|^2 - sum of squares) / W_B.
        """
        return self._pairs(charge, square, power=1) / float(self._trials.mass.sum())

    def variances(self) -> FloatArray:
        """Var T of every scale for a calibrated model with these predictions.

        2 / W^2 sum over cells of sum_{i != j} w_i^2 w_j^2 tr(C_i C_j) / W_B^2, with the covariance
        C of the outcome of a row.
        """
        trials = self._trials
        squared = trials.mass * trials.weight
        p, variances = trials.p, np.zeros(len(self.scales))
        for k in range(trials.width):  # one row of all covariances at a time
            if p.ndim == 1:
                row = (p * (1 - p))[:, None]
            else:
                row = -p[:, k, None] * p
                row[:, k] += p[:, k]
            square = squared * trials.weight**2 * np.square(row).sum(axis=1)
            charge = (squared[:, None] * row)[:, :, None]
            variances += self._pairs(charge, square[:, None], power=2)[:, 0]
        return 2 * variances / float(trials.mass.sum()) ** 2

    def _pairs(self, charge: FloatArray, square: FloatArray, *, power: int) -> FloatArray:
        """Sums over cells of sum_{i != j} <c_i, c_j> / mass^power, (scales, R)."""
        sums, (_, width, size) = charge.copy(), charge.shape
        pairs = np.zeros((len(sums), size))  # within each cell; none within a row
        several = self._several
        pairs[several] = np.square(sums[several]).sum(axis=1) - square[several]
        value = (1 / self._trials.mass[several] ** power) @ pairs[several]
        values = np.empty((len(self.scales), size))
        for level, merge in enumerate(self._merges):
            value = value - (1 / merge.mass_before**power) @ pairs[merge.before]
            for into, other in merge.rounds:
                first, second = sums[into], sums[other]
                cross = first[:, 0] * second[:, 0]
                for k in range(1, width):
                    cross += first[:, k] * second[:, k]
                cross *= 2
                cross += pairs[other]
                pairs[into] += cross
                first += second
                sums[into] = first
            value = value + (1 / merge.mass_after**power) @ pairs[merge.after]
            values[level] = value
        return values


def _merges(trials: Trials, scales: list[int]) -> Iterator[_Merge]:
    """Which cells merge at each scale."""
    axes = trials.p[:, None] if trials.p.ndim == 1 else trials.p[:, 1:]
    cells, mass, several = np.arange(len(axes)), trials.mass.copy(), trials.copies > 1
    for m in scales:
        bins = _bins(axes[cells], m)
        order = np.lexsort(bins.T)
        cells, bins = cells[order], bins[order]
        new = np.concatenate([[True], (bins[1:] != bins[:-1]).any(axis=1)])
        group = np.cumsum(new) - 1
        grows = np.bincount(group)[group] > 1
        members, heads = cells[grows], cells[grows & new]
        before = members[several[members]]
        mass_before, rounds = mass[before], list(_rounds(members, group[grows]))
        if len(members):
            mass[heads] = np.add.reduceat(mass[members], np.flatnonzero(new[grows]))
        several[heads] = True
        yield _Merge(before, mass_before, rounds, heads, mass[heads])
        cells = np.sort(cells[new])


def _rounds(members: IntArray, group: IntArray) -> Iterator[tuple[IntArray, IntArray]]:
    """Merge neighbours within groups, then those that are left, until one of each is."""
    while True:
        starts = np.flatnonzero(np.diff(group, prepend=-1))
        rank = np.arange(len(group)) - np.repeat(starts, np.diff(starts, append=len(group)))
        odd = rank % 2 == 1
        if not odd.any():
            return
        yield members[np.flatnonzero(odd) - 1], members[odd]
        members, group = members[~odd], group[~odd]


def _bins(p: FloatArray, m: int) -> FloatArray:
    """Number of the bin, right-closed, the first closed on both sides, with edges k / m."""
    bins = np.maximum(np.ceil(p * m), 1.0)
    if m & (m - 1):  # products with powers of two are exact, others may pass an edge
        bins -= (p <= (bins - 1) / m) & (bins > 1)
        bins += p > bins / m
    return np.asarray(bins)
