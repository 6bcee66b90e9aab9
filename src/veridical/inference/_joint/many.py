"""One binary problem of very many rows, sorted: sums over stretches, row by row nothing is kept."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from veridical._core.data.randomness import Draws
from veridical._core.numeric.blocks import ROWS, row_blocks
from veridical._core.sample import PooledScores
from veridical._core.typing import FloatArray, IntArray
from veridical.inference._joint.draws import NORMAL_FROM, drawn_count
from veridical.inference._joint.forms import Cells, log_odds, with_corners


def upper_edges_of_many(scores: PooledScores, most: int) -> FloatArray:
    """What `upper_edges` finds, from sums of blocks and the blocks that edges lie in."""
    if len(scores.value) <= most:
        return scores.value.astype(np.float64)
    sums = np.array([(w.sum(), (w * p * (1 - p)).sum()) for p, w, _ in scores.blocks()])
    total = sums.sum(axis=0)
    unit = np.divide(1.0, total, out=np.zeros(2), where=total > 0)
    unit *= most / (unit @ total)  # all that there is, in cells
    ends = np.cumsum(sums, axis=0) @ unit
    targets, place = np.arange(1.0, most), []
    first = np.minimum(np.searchsorted(ends, targets), len(ends) - 1)  # block that each is met in
    for number in np.unique(first):
        at = slice(number * ROWS, (number + 1) * ROWS)
        p, w = scores.value[at].astype(np.float64, copy=False), scores.weight[at]
        share = np.cumsum(w * (unit[0] + unit[1] * (p * (1 - p))))
        before = ends[number - 1] if number else 0.0
        middle = before + share
        middle[1:] = (middle[1:] + middle[:-1]) / 2  # of what each holds
        middle[0] = (before + middle[0]) / 2
        place.append(at.start + np.searchsorted(middle, targets[first == number]) - 1)
    found = np.concatenate(place)
    found = np.unique(np.append(found[found >= 0], len(scores.value) - 1))
    return scores.value[found].astype(np.float64)


class Stretches:
    """Cells of sorted scores, of at most so many and those that keep orders of magnitude apart.

    Attributes
    ----------
    cuts : where each cell begins among the scores, and where the last ends
    cells : observed residual, its variance and the mean log odds of each
    mean, unit : expected number of outcomes of each cell, and what one of them counts
    impossible : whether something happened that had no probability
    """

    def __init__(self, scores: PooledScores, most: int) -> None:
        self._scores = scores
        edges = with_corners(upper_edges_of_many(scores, most), scores.value)
        inner = np.searchsorted(scores.value, edges[:-1].astype(scores.value.dtype), side="right")
        self.cuts: IntArray = np.concatenate([[0], inner, [len(scores.value)]])
        sums = np.array([self._sums(a, b) for a, b in self._pairs()]).T
        residual, variance, odds, self.mean, first = sums
        np.divide(odds, variance, out=odds, where=variance > 0)
        self.cells = Cells(residual, variance, odds)
        self.unit = np.divide(variance, first, out=np.zeros(len(first)), where=first > 0)
        never = np.searchsorted(scores.value, 0.0, side="right")
        surely = np.searchsorted(scores.value, 1.0)
        missed = scores.weight[surely:] - scores.positive[surely:]
        self.impossible = bool((scores.positive[:never] > 0).any() or (missed > 0).any())

    def _pairs(self) -> Iterator[tuple[int, int]]:
        yield from zip(self.cuts[:-1].tolist(), self.cuts[1:].tolist(), strict=True)

    def _sums(self, start: int, stop: int) -> FloatArray:
        """Residual, variance, variance times log odds, mean, mean of p (1 - p), over a stretch."""
        total = np.zeros(5)
        for block in row_blocks(stop - start):
            at = slice(start + block.start, start + block.stop)
            p = self._scores.value[at].astype(np.float64, copy=False)
            mean = self._scores.weight[at] * p
            variance = mean * (1 - p)
            hits = float(self._scores.positive[at].sum())
            expected, spread = float(mean.sum()), float(variance.sum())
            total += (hits - expected, spread, float(variance @ log_odds(p)), expected, spread)
        return total

    def drawn(self, draws: Draws) -> FloatArray:
        """Residuals of each cell drawn, as `drawn_residuals` does of many rows."""
        n, rng = draws
        variance = self.cells.variance
        sums = rng.standard_normal((n, len(variance))) * np.sqrt(variance)
        for c in np.flatnonzero((variance < NORMAL_FROM) & (variance > 0)):
            held = slice(self.cuts[c], self.cuts[c + 1])
            p = self._scores.value[held].astype(np.float64, copy=False)
            sums[:, c] = drawn_count(p, self._scores.weight[held], n, rng)
        return sums
