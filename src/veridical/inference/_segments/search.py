r"""The largest deviation of any segment, for what was observed and for outcomes that were drawn.

Of every segment the weighted residuals w (y - p) are added up along the scores, starting at 0 and
looked at only after equal scores; their range over the root of their variance is the statistic
(Kuiper 1960; standardised as in Arrieta-Ibarra et al. 2022, arXiv 2205.09680). Sums by segment are
products with a sparse matrix, some cells of scores and some draws at a time, so that what is added
to stays in the cache and no table of all cells is ever held.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from veridical._core.data.randomness import Draws
from veridical._core.data.segments import Segments
from veridical._core.resampling.redraw import Redraw
from veridical._core.runtime.progress import track
from veridical._core.runtime.threads import map_in_order
from veridical._core.typing import FloatArray, IntArray
from veridical.inference._segments.cells import Question

_STATE = 1 << 23  # sums of segments by draws that are held, three of each
_TOGETHER = 1 << 17  # sums that a pass adds to
_FEWEST = 32  # draws at once
_TABLE = 1 << 20  # sums of segments by cells of scores by draws, of one pass
_NOTHING = 1e-9  # a sum that is none but for rounding
_MEMBERS = 1 << 22  # places of entries in segments, of one pass
_OUTCOMES = 1 << 27  # bytes of outcomes of redrawn rows

# Residuals of entries from `first` to `last` of a question, by draws of a block.
_Residuals = Callable[[int, int, int], FloatArray]


@dataclass(frozen=True)
class Ranges:
    """Of every segment (and draw): range of the cumulated residuals, where, and their end.

    Attributes
    ----------
    high, low, end : of shape (segments, draws)
    """

    high: FloatArray
    low: FloatArray
    end: FloatArray

    @property
    def range(self) -> FloatArray:
        """Largest minus smallest sum; the sum starts at 0."""
        return self.high - self.low


def observed_ranges(question: Question, codes: IntArray, segments: Segments) -> Ranges:
    """Ranges of what was observed, of one column."""
    residual = question.residual[:, None]
    walk = _Walk(question, codes, segments, [1])
    walk.run(lambda block, first, last: residual[first:last])
    return walk.found


def null_ranges(
    questions: list[Question],
    codes: IntArray,
    segments: Segments,
    draws: Draws,
    redraw: Redraw | None,
) -> Iterator[list[Ranges]]:
    """Ranges of drawn outcomes, for each question, some draws at a time.

    Draws are the same for all segments and questions; the same seed gives the same draws on any
    number of threads.
    """
    n_sums = len(segments) * len(questions)
    most = max(1, _STATE // n_sums)
    if redraw is not None:
        most = max(1, min(most, _OUTCOMES // redraw.n))
    size = min(max(_FEWEST, _TOGETHER // len(segments)), most)
    left = draws.n_resamples
    n_parts = sum(1 for _ in _portions(left, most))
    parts = _portions(left, most)
    for _ in track(n_parts, "outcomes redrawn for all segments"):
        blocks = list(_portions(next(parts), size))
        if redraw is None:
            [question] = questions
            yield [_independent(question, codes, segments, blocks, draws.rng)]
        else:
            yield _redrawn(questions, codes, segments, blocks, draws.rng, redraw)


def _portions(total: int, most: int) -> Iterator[int]:
    for first in range(0, total, most):
        yield min(most, total - first)


def _independent(
    question: Question,
    codes: IntArray,
    segments: Segments,
    blocks: list[int],
    rng: np.random.Generator,
) -> Ranges:
    """Ranges of outcomes drawn from the predictions, entry by entry."""
    seeds = rng.integers(2**63, size=len(blocks))
    streams = [np.random.default_rng(seed) for seed in seeds.tolist()]
    count, p = question.count.astype(np.int64), question.p
    many = count > 1
    expected = question.said

    def residuals(block: int, first: int, last: int) -> FloatArray:
        stream, shape = streams[block], (last - first, blocks[block])
        drawn = (stream.random(shape) < p[first:last, None]).astype(np.float64)
        often = np.flatnonzero(many[first:last])
        if often.size:
            at = first + often
            drawn[often] = stream.binomial(count[at, None], p[at, None], (len(at), shape[1]))
        drawn -= expected[first:last, None]
        return drawn

    walk = _Walk(question, codes, segments, blocks)
    walk.run(residuals)
    return walk.found


def _redrawn(
    questions: list[Question],
    codes: IntArray,
    segments: Segments,
    blocks: list[int],
    rng: np.random.Generator,
    redraw: Redraw,
) -> list[Ranges]:
    """Ranges of outcomes of rows that are weighted by outcome, belong together, or have classes."""
    total = sum(blocks)
    kind = np.uint8 if redraw.p.shape[1] <= 256 else np.uint32
    outcomes = np.empty((redraw.n, total), dtype=kind)
    done = 0
    for y in redraw.outcomes(Draws(total, rng), "outcomes redrawn"):
        outcomes[:, done : done + len(y)] = y.T
        done += len(y)
    starts = np.append(0, np.cumsum(blocks))
    alike = bool((redraw.weight == redraw.weight[:, :1]).all())
    found = []
    for index, question in enumerate(questions):
        assert question.rows is not None
        wanted = index if len(questions) > 1 else redraw.p.shape[1] - 1
        rows, p = question.rows, question.p[:, None]

        def residuals(
            block: int,
            first: int,
            last: int,
            rows: IntArray = rows,
            p: FloatArray = p,
            wanted: int = wanted,
        ) -> FloatArray:
            at = rows[first:last]
            y = outcomes[at, starts[block] : starts[block + 1]]
            residual = (y == wanted) - p[first:last]
            if alike:
                residual *= redraw.weight[at, :1]
            else:
                residual *= np.take_along_axis(redraw.weight[at], y.astype(np.intp), axis=1)
            return residual

        walk = _Walk(question, codes, segments, blocks)
        walk.run(residuals)
        found.append(walk.found)
    return found


def standardised(observed: FloatArray, error: FloatArray) -> FloatArray:
    """Ranges in standard errors; where nothing can vary, none is right and any is infinite."""
    moved = np.where(observed > _NOTHING, np.inf, 0.0)
    return np.divide(observed, error, out=moved, where=error > 0)


class _Walk:
    """Adds residuals up along the scores, for all segments and for blocks of draws."""

    def __init__(
        self, question: Question, codes: IntArray, segments: Segments, blocks: list[int]
    ) -> None:
        self._question, self._codes, self._segments = question, codes, segments
        shape = len(segments)
        self._blocks = range(len(blocks))
        self._end = [np.zeros((shape, size)) for size in blocks]
        self._high = [np.zeros((shape, size)) for size in blocks]
        self._low = [np.zeros((shape, size)) for size in blocks]
        self._step = max(1, _TABLE // (shape * max(blocks)))

    @property
    def found(self) -> Ranges:
        """What was found, of all blocks side by side."""
        return Ranges(
            *(np.concatenate(each, axis=1) for each in (self._high, self._low, self._end))
        )

    def run(self, residuals: _Residuals) -> None:
        """Walk from the lowest score to the highest."""
        question, n = self._question, len(self._segments)
        for start, stop in self._runs():
            first, last = int(question.bounds[start]), int(question.bounds[stop])
            lengths = np.diff(question.bounds[start : stop + 1])
            cell = np.repeat(np.arange(stop - start), lengths)
            held, cell = np.unique(cell, return_inverse=True)  # cells without rows change nothing
            member = self._segments.of(self._codes[question.cross[first:last]])
            matrix = _matrix(member, cell.reshape(-1), len(held), n)

            def add(
                block: int,
                first: int = first,
                last: int = last,
                matrix: object = matrix,
                n_cells: int = len(held),
            ) -> None:
                self._add(block, matrix @ residuals(block, first, last), n_cells)  # type: ignore[operator]

            for _ in map_in_order(add, self._blocks):
                pass

    def _runs(self) -> Iterator[tuple[int, int]]:
        """Cells of scores that are taken together, with not too many entries."""
        bounds, start = self._question.bounds, 0
        most = _MEMBERS // len(self._segments.feature_sets)
        while start < len(bounds) - 1:
            fits = int(np.searchsorted(bounds, bounds[start] + most, side="right")) - 1
            stop = min(max(fits, start + 1), start + self._step, len(bounds) - 1)
            if bounds[stop] > bounds[start]:
                yield start, stop
            start = stop

    def _add(self, block: int, sums: FloatArray, n_cells: int) -> None:
        end, high, low = self._end[block], self._high[block], self._low[block]
        table = sums.reshape(n_cells, *end.shape)
        table[0] += end
        for k in range(1, n_cells):
            table[k] += table[k - 1]
        np.maximum(high, table.max(axis=0), out=high)
        np.minimum(low, table.min(axis=0), out=low)
        end[:] = table[-1]


def _matrix(member: IntArray, cell: IntArray, n_cells: int, n_segments: int) -> object:
    """Adds entries up by cell of scores and segment."""
    from scipy.sparse import csc_array

    inside = member >= 0
    counts = inside.sum(axis=1)
    places = member[inside] + np.repeat((cell * n_segments).astype(np.int32), counts)
    pointer = np.append(0, np.cumsum(counts)).astype(np.int32)
    return csc_array(
        (np.ones(len(places)), places, pointer), shape=(n_cells * n_segments, len(member))
    )
