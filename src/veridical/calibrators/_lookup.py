"""Functions given by knots, looked up for many scores at once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from veridical._core.blocks import row_blocks
from veridical._core.formula import slopes_between
from veridical._core.typing import FloatArray, IntArray, Side

_CELLS = 1 << 14  # a table of them stays in the cache
_WORTHWHILE = 1 << 16
_ROWS = 1 << 15


def steps(
    edges: FloatArray, values: FloatArray, scores: FloatArray, side: Side = "left"
) -> FloatArray:
    """Value of the interval each score is in; an edge belongs to the one below, or above."""
    result = np.empty(len(scores))
    for block, index in located(edges, scores, side):
        values.take(index, out=result[block], mode="clip")  # all are inside: clipping is faster
    return result


def interpolate(knots: FloatArray, values: FloatArray, scores: FloatArray) -> FloatArray:
    """Linear interpolation between increasing knots, constant outside: `numpy.interp`, faster."""
    if len(scores) < _WORTHWHILE:
        return np.interp(scores, knots, values)
    rises = np.concatenate([[0.0], slopes_between(knots, values), [0.0]])
    start, base = np.append(knots[0], knots), np.append(values[0], values)
    result = np.empty(len(scores))
    for block, index in located(knots, scores, "right"):
        part = scores[block] - start.take(index)
        part *= rises.take(index)
        part += base.take(index)
        result[block] = part
    return result


def located(edges: FloatArray, scores: FloatArray, side: Side) -> Iterator[tuple[slice, IntArray]]:
    """Blocks of rows, with `numpy.searchsorted(edges, scores, side)` for each.

    Of many scores most lie in cells of a fine grid that hold no edge, where the answer is known
    without a search.
    """
    if len(scores) < _WORTHWHILE or not len(edges):
        yield slice(0, len(scores)), np.searchsorted(edges, scores, side)
        return
    low = min(float(edges[0]), float(scores.min()))
    high = max(float(edges[-1]), float(scores.max()))
    with np.errstate(over="ignore", divide="ignore"):
        scale = np.float64(_CELLS) / (high - low)
    if not 0 < scale < np.inf:
        yield slice(0, len(scores)), np.searchsorted(edges, scores, side)
        return
    answer = np.searchsorted(edges, low + np.arange(_CELLS + 1) / scale, side).astype(np.int32)
    # An edge marks the cells beside its own too: rounding cannot carry a score past them.
    place = ((edges - low) * scale).astype(np.intp)
    for beside in (-1, 0, 1):
        answer[np.clip(place + beside, 0, _CELLS)] = -1
    for block in row_blocks(len(scores), _ROWS):
        part = scores[block]
        index = answer.take(((part - low) * scale).astype(np.int32))
        rows = np.flatnonzero(index < 0)
        index[rows] = np.searchsorted(edges, part[rows], side)
        yield block, index
