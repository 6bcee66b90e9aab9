"""What a search over segments needs of the rows: sums by cross of codes and by cell of scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from veridical._core.data.segments import Segments
from veridical._core.numeric.blocks import row_blocks
from veridical._core.resampling.redraw import Redraw
from veridical._core.typing import BoolArray, FloatArray, IntArray

MOST_SCORES = 1024  # so many different scores are kept as they are
_CELLS = 256  # else that many cells of about equal mass
_MEMBERS = 1 << 22  # places in segments that are looked up at once
_MOST_ROWS = 1 << 21  # beyond, rows of one cross and one cell of scores have their mean prediction


@dataclass(frozen=True)
class Question:
    """One binary question: entries of rows that are alike, sorted by cell of scores.

    Attributes
    ----------
    cross : number of the cross of codes of each entry
    bounds : where each cell of scores begins, and the end
    lowest, highest : scores of each cell
    p : probability of an outcome of each entry
    count : outcomes of each entry
    residual : what was observed: sum of w (y - p)
    variance : of the residual, if predictions are right
    mass, said, happened : sums of w, w p and w y
    squares : sum of w^2, of copies of a row one for each
    rows : where each entry is among the rows that are redrawn; None if entries are drawn
    label : class that the question is about, if there are several; else None
    """

    cross: IntArray
    bounds: IntArray
    lowest: FloatArray
    highest: FloatArray
    p: FloatArray
    count: FloatArray
    residual: FloatArray
    variance: FloatArray
    mass: FloatArray
    said: FloatArray
    happened: FloatArray
    squares: FloatArray
    rows: IntArray | None = None
    label: object = None

    @property
    def n_cells(self) -> int:
        """Number of cells of scores."""
        return len(self.bounds) - 1

    def without(self, crosses: BoolArray) -> Question:
        """The question about what is left without some crosses; of what was observed only."""
        kept = ~crosses[self.cross]
        cell = np.repeat(np.arange(self.n_cells), np.diff(self.bounds))[kept]
        names = ("cross", "p", "count", "residual", "variance", "mass", "said", "happened")
        entries = {name: getattr(self, name)[kept] for name in (*names, "squares")}
        bounds = np.searchsorted(cell, np.arange(self.n_cells + 1))
        return Question(**entries, bounds=bounds, lowest=self.lowest, highest=self.highest)


def score_cells(p: FloatArray, count: FloatArray | None = None) -> IntArray:
    """Cell of each score: its rank among different ones, or its part of equal mass.

    Examples
    --------
    >>> score_cells(np.array([0.5, 0.2, 0.5])).tolist()
    [1, 0, 1]
    """
    distinct, place = np.unique(p, return_inverse=True)
    place = place.reshape(-1)
    if len(distinct) <= MOST_SCORES:
        return place
    mass = np.bincount(place, weights=count, minlength=len(distinct))
    middle = np.cumsum(mass) - mass / 2  # equal scores stay together
    cell = np.floor(middle * (_CELLS / mass.sum())).astype(np.intp)
    _, cell = np.unique(np.minimum(cell, _CELLS - 1), return_inverse=True)
    return np.asarray(cell.reshape(-1)[place])


def drawn_question(
    cross: IntArray, p: FloatArray, y: IntArray, count: FloatArray | None, label: object = None
) -> Question:
    """A question of independent rows that count alike; `count` are copies of each.

    Entries are rows of equal cross and equal prediction. Of more than two million rows, those of
    one cross and one cell of scores have their mean prediction: its own variance within so small
    a cell is nothing beside that of the outcomes.
    """
    number = np.ones(len(p)) if count is None else count
    cell = score_cells(p, count)
    exact = p.astype(np.float64)
    keys = (exact, cross, cell) if len(p) <= _MOST_ROWS else (cross, cell)
    order = np.lexsort(keys)
    changes = np.zeros(len(order) - 1, dtype=bool)
    for key in keys:
        ordered = key[order]
        changes |= ordered[1:] != ordered[:-1]
    starts = np.flatnonzero(np.concatenate([[True], changes]))

    def summed(values: FloatArray) -> FloatArray:
        return np.add.reduceat(values[order], starts)

    size, said, happened = summed(number), summed(number * exact), summed(number * y)
    mean = exact[order[starts]] if len(keys) == 3 else said / size
    return question_of_sums(
        cross[order[starts]], cell[order[starts]], size, mean, happened, _ends(cell, exact), label
    )


def question_of_sums(
    cross: IntArray,
    cell: IntArray,
    size: FloatArray,
    mean: FloatArray,
    happened: FloatArray,
    ends: tuple[FloatArray, FloatArray],
    label: object = None,
) -> Question:
    """A question of numbers of rows, mean predictions and outcomes, sorted by cell of scores."""
    variance = size * mean * (1 - mean)
    return Question(
        cross=cross,
        bounds=np.searchsorted(cell, np.arange(len(ends[0]) + 1)),
        lowest=ends[0],
        highest=ends[1],
        p=mean,
        count=size,
        residual=happened - size * mean,
        variance=variance,
        mass=size,
        said=size * mean,
        happened=happened,
        squares=size,
        label=label,
    )


def redrawn_question(
    redraw: Redraw,
    index: int,
    cross: IntArray,
    y: IntArray,
    weight: FloatArray | None,
    label: object = None,
) -> Question:
    """A question of class `index` of rows that are redrawn together; entries are these rows.

    Parameters
    ----------
    redraw : how outcomes are drawn, and what they count
    cross, y, weight : of the rows of the sample; `weight` of None where copies are written out
    """
    rows = redraw.rows
    p, cross = redraw.p[:, index], cross[rows]
    hit = (y[rows] == index).astype(np.float64)
    own = np.ones(len(rows)) if weight is None else weight[rows]
    cell = score_cells(p)
    order = np.lexsort((np.arange(len(p)), cross, cell))
    lowest, highest = _ends(cell, p)
    return Question(
        cross=cross[order],
        bounds=np.searchsorted(cell[order], np.arange(len(lowest) + 1)),
        lowest=lowest,
        highest=highest,
        p=p[order],
        count=np.ones(len(p)),
        residual=(own * (hit - p))[order],
        variance=redraw.variance[order, index],
        mass=own[order],
        said=(own * p)[order],
        happened=(own * hit)[order],
        squares=np.square(own)[order],
        rows=order,
        label=label,
    )


def _ends(cell: IntArray, p: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Lowest and highest score of each cell."""
    order = np.lexsort((p, cell))
    starts = np.searchsorted(cell[order], np.arange(int(cell.max()) + 1))
    return p[order[starts]], p[order[np.append(starts[1:], len(p)) - 1]]


def sums_by_segment(
    values: Sequence[FloatArray], cross: IntArray, codes: IntArray, segments: Segments
) -> FloatArray:
    """Sums of values of entries by segment, (number of values, segments).

    `codes` are those of each cross, `cross` its number for every entry.
    """
    by_cross = [np.bincount(cross, weights=each, minlength=len(codes)) for each in values]
    sums = np.zeros((len(values), len(segments)))
    for rows in row_blocks(len(codes), max(1024, _MEMBERS // len(segments.feature_sets))):
        member = segments.of(codes[rows])
        inside = member >= 0
        repeats = inside.sum(axis=1)
        for k, each in enumerate(by_cross):
            spread = np.repeat(each[rows], repeats)
            sums[k] += np.bincount(member[inside], spread, minlength=len(segments))
    return sums
