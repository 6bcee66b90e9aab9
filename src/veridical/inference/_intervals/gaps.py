r"""Limits of the mean absolute gap, or total variation, of bins and of cells of the simplex.

A mean of absolute gaps is the largest mean of bets on their signs: for sets A(c) of classes,

.. math:: \sum_c \pi_c \tfrac12 \|r_c - \bar p_c\|_1 = \max_A E[1\{y \in A(c)\} - \bar p_c(A(c))]

(for one event, A says whether it is expected too seldom or too often). Whatever the true sets are,
their mean is below its own upper limit with the confidence asked for, and so below the largest of
the upper limits of all sets: it needs no correction for their number, nor an assumption on how the
gaps are spread.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from veridical._core.typing import BoolArray, FloatArray
from veridical.inference._intervals.bounded import Limit, Masses, upper_limit
from veridical.summaries import Summary, VectorSummary

MAX_ROUNDS = 50
_SQRT_2_PI = math.sqrt(2 / math.pi)


class GapCells(NamedTuple):
    """Cells that hold rows: mean predictions and frequencies of shape (C, K), sizes and shares."""

    predicted: FloatArray
    observed: FloatArray
    size: FloatArray
    share: FloatArray

    @property
    def gap(self) -> FloatArray:
        return self.observed - self.predicted


def gap_upper_limit(summary: Summary, level: float) -> float:
    """Upper limit of the mean absolute gap of one binary problem."""
    held = summary.occupied[0]
    predicted, observed = (
        np.column_stack([1 - v, v]) for v in (summary.mean_p[0, held], summary.mean_y[0, held])
    )
    cells = GapCells(predicted, observed, summary.size[0, held], summary.share[0, held])
    return _upper(cells, (1 - level) / 2)


def variation_limits(summary: VectorSummary, level: float) -> tuple[float, float]:
    """Limits of the mean total variation distance of the cells."""
    cells = GapCells(summary.mean_p, summary.mean_y, summary.size, summary.share)
    tail = (1 - level) / 2
    return _lower(cells, tail), _upper(cells, tail)


def _upper(cells: GapCells, tail: float) -> float:
    """The largest upper limit, looked for from the sets as observed and from unlikely ones."""
    rare = cells.predicted < 1 / cells.predicted.shape[1]
    return max(0.0, *(_climb(cells, start, tail) for start in (cells.gap > 0, rare)))


def _climb(cells: GapCells, chosen: BoolArray, tail: float) -> float:
    """Choose the sets of all cells at the tilt of the last limit, as long as it grows."""
    best = _limit(cells, chosen, tail)
    for _ in range(MAX_ROUNDS):
        if not math.isfinite(best.tilt):
            break
        chosen = least_favourable(cells, chosen, best)
        found = _limit(cells, chosen, tail)
        if found.value <= best.value:
            break
        best = found
    return best.value


def _limit(cells: GapCells, chosen: BoolArray, tail: float) -> Limit:
    """Upper limit of the mean of the bets on these sets."""
    expected, hits = ((part * chosen).sum(axis=1) for part in (cells.predicted, cells.observed))
    value = np.concatenate([1 - expected, -expected])
    shape = np.concatenate([cells.size * hits, cells.size * (1 - hits)]).clip(min=0.0)
    scale = np.tile(cells.share / cells.size, 2)
    held = shape > 0
    most = 1 - float(cells.predicted.min())  # a bet on the least expected class
    return upper_limit(Masses(value[held], shape[held], scale[held]), most, tail)


def least_favourable(cells: GapCells, chosen: BoolArray, at: Limit) -> BoolArray:
    """Sets with which the mean reaches the limit most easily.

    Of each cell the classes that promise most are moved, as many of them as is best: so a few
    rounds are enough for any number of classes, each of them O(C K log K).
    """
    scale = (at.tilt * cells.share / cells.size)[:, None]

    def chance(expected: FloatArray, hits: FloatArray) -> FloatArray:
        """Cumulant generating function of each cell, per row; infinite beyond its pole."""
        expected, hits = expected.clip(0.0, 1.0), hits.clip(0.0, 1.0)
        met, missed = 1 - scale * (1 - expected - at.value), 1 - scale * (-expected - at.value)
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.where(hits > 0, hits * np.log(met), 0.0)
            logs += np.where(hits < 1, (1 - hits) * np.log(missed), 0.0)
        return -np.nan_to_num(logs, nan=np.inf)

    chosen = chosen.copy()
    for _ in range(2 * chosen.shape[1]):
        sums = [
            (part * chosen).sum(axis=1, keepdims=True) for part in (cells.predicted, cells.observed)
        ]
        sign = np.where(chosen, -1.0, 1.0)  # a class leaves its set, or enters
        moves = [sign * part for part in (cells.predicted, cells.observed)]
        alone = chance(*(total + move for total, move in zip(sums, moves, strict=True)))
        order = np.argsort(-alone, axis=1, kind="stable")
        moved = chance(
            *(
                total + np.cumsum(np.take_along_axis(move, order, axis=1), axis=1)
                for total, move in zip(sums, moves, strict=True)
            )
        )
        last = moved.argmax(axis=1)[:, None]
        better = np.take_along_axis(moved, last, axis=1) > chance(sums[0], sums[1]) + 1e-12
        if not better.any():
            break
        flip = np.zeros_like(chosen)
        np.put_along_axis(flip, order, better & (np.arange(chosen.shape[1]) <= last), axis=1)
        chosen ^= flip
    return chosen


def _lower(cells: GapCells, tail: float) -> float:
    r"""Lower limit of the total variation: what was read, less as much noise as there may be.

    The reading is at most the truth plus :math:`\sum_c \pi_c \tfrac12 \|\bar y_c - r_c\|_1`. Of
    normal frequencies this noise has the mean :math:`\sqrt{2 / \pi}` times the standard errors and,
    being the largest of linear functions, a deviation of at most that of the one that varies most.
    """
    from scipy.special import ndtri

    n_classes = cells.observed.shape[1]
    size = cells.size[:, None]
    rate = (size * cells.observed + 1 / n_classes) / (size + 1)  # none is known to be 0
    error = np.sqrt(rate * (1 - rate) / size)
    noise = float(cells.share @ error.sum(axis=1)) * _SQRT_2_PI / 2
    spread = math.sqrt(float(cells.share**2 @ (0.25 / cells.size)))
    read = float(cells.share @ np.abs(cells.gap).sum(axis=1)) / 2
    return max(0.0, read - noise - float(ndtri(1 - tail)) * spread)
