"""What maps made of steps and knots share: pooled scores, lookup, and guards of their options."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from veridical._core.data.options import check_non_negative
from veridical._core.data.validation import is_integer
from veridical._core.formula import slopes_between
from veridical._core.numeric.blocks import row_blocks
from veridical._core.sample import pool_scores
from veridical._core.typing import FloatArray, IntArray, Side
from veridical.binning.counts import SortedScores
from veridical.calibrators._base.bases import WeightedOutcomes
from veridical.exceptions import invalid


def pool_rows(value: FloatArray, rows: WeightedOutcomes) -> SortedScores:
    """Distinct scores with the weight and the weighted outcomes at each; weights sum to the size.

    Time O(n log n), nearly all of it the sort.
    """
    if rows.weight is None:
        pooled = pool_scores(value, rows.y, None)
        return SortedScores(pooled.value, pooled.weight, pooled.positive)
    pooled = pool_scores(value, rows.y, rows.weight)
    scale = rows.size / pooled.weight.sum()
    # A weight of positives that misses the whole by rounding would give a frequency above one.
    positive = np.minimum(pooled.positive, pooled.weight)
    return SortedScores(pooled.value, pooled.weight * scale, positive * scale)


_CELLS = 1 << 14  # a table of them stays in the cache
_WORTHWHILE = 1 << 16
_ROWS = 1 << 15
_SOME = 1 << 12  # scores from which a table by leading bits is worthwhile
_SHIFT = 15  # of single precision: 256 cells for each halving


def steps(
    edges: FloatArray, values: FloatArray, scores: FloatArray, side: Side = "left"
) -> FloatArray:
    """Value of the interval each score is in; an edge belongs to the one below, or above."""
    result = np.empty(len(scores))
    for block, index in located(edges, scores, side):
        values.take(index, out=result[block], mode="clip")  # all are inside: clipping is faster
    return result


def interpolate(knots: FloatArray, values: FloatArray, scores: FloatArray) -> FloatArray:
    """Linear interpolation between increasing knots, constant outside.

    Faster than `numpy.interp`, and finite: the slope between two denormal knots overflows there.
    """
    rises = np.concatenate([[0.0], slopes_between(knots, values), [0.0]])
    start, base = np.append(knots[0], knots), np.append(values[0], values)
    result = np.empty(len(scores))
    for block, index in located(knots, scores, "right"):
        part = scores[block] - start.take(index)
        part *= rises.take(index)
        part += base.take(index)
        result[block] = part
    # Rounding must not lead beyond the values: above 1 there is no probability.
    return np.clip(result, values.min(), values.max(), out=result)


def located(edges: FloatArray, scores: FloatArray, side: Side) -> Iterator[tuple[slice, IntArray]]:
    """Blocks of rows, with `numpy.searchsorted(edges, scores, side)` for each.

    Of many scores most lie in cells of a fine grid that hold no edge, where the answer is known
    without a search.
    """
    if len(scores) < _WORTHWHILE or not len(edges):
        search = _searched_by_bits if _by_bits(edges, scores) else np.searchsorted
        yield slice(0, len(scores)), search(edges, scores, side)
        return
    low = min(float(edges[0]), float(scores.min()))
    high = max(float(edges[-1]), float(scores.max()))
    with np.errstate(over="ignore", divide="ignore"):
        scale = np.float64(_CELLS) / (high - low)
    if not 0 < scale < np.inf:
        yield slice(0, len(scores)), np.searchsorted(edges, scores, side)
        return
    own = ((edges - low) * scale).astype(np.int32)  # as of scores: rounding keeps the order
    answer = np.cumsum(np.bincount(own, minlength=_CELLS + 1)).astype(np.int32)
    answer[own] = -1
    for block in row_blocks(len(scores), _ROWS):
        part = scores[block]
        index = answer.take(((part - low) * scale).astype(np.int32))
        rows = np.flatnonzero(index < 0)
        index[rows] = np.searchsorted(edges, part[rows], side)
        yield block, index


def _by_bits(edges: FloatArray, scores: FloatArray) -> bool:
    """Whether a search by leading bits pays: some scores, all of them and edges in [0, 1]."""
    if len(scores) < _SOME or not len(edges) or edges[0] < 0 or edges[-1] > 1:
        return False
    return bool(scores.min() >= 0 and scores.max() <= 1)


def _searched_by_bits(edges: FloatArray, scores: FloatArray, side: Side) -> IntArray:
    """`numpy.searchsorted` of numbers in [0, 1], by cells that are narrow near zero.

    A cell holds the numbers that begin with the same bits in single precision. Rounding keeps the
    order, so cells without an edge have one answer.
    """
    own = _cells_of(edges)
    count = np.bincount(own, minlength=int(_cells_of(np.ones(1))[0]) + 1)
    answer = np.cumsum(count)
    answer[own] = -1
    index = answer.take(_cells_of(scores))
    rows = np.flatnonzero(index < 0)
    index[rows] = np.searchsorted(edges, scores[rows], side)
    return index


def _cells_of(values: FloatArray) -> IntArray:
    single = values.astype(np.float32)
    single += np.float32(0)  # minus zero has another sign
    return np.asarray(single.view(np.int32) >> _SHIFT)


def check_laplace(caller: str, value: Any) -> None:
    """Raise unless `value` is a number of imagined rows."""
    hint, expected = "1 is the rule of succession; 0 turns the guard off.", "a number of 0 or more"
    check_non_negative(caller, "laplace", value, hint=hint, expected=expected)


def mix(p: FloatArray, size: FloatArray | float, laplace: float) -> FloatArray:
    """Probabilities learnt from `size` rows, with `laplace` imagined rows of each class added.

    (n p + a) / (n + 2 a): Laplace's rule of succession for a = 1. Strictly increasing in p, and
    never 0 or 1 unless a = 0.
    """
    if not laplace:
        return p
    return (p * size + laplace) / (size + 2 * laplace)


def check_bins(caller: str, n_bins: Any) -> None:
    """Raise unless `n_bins` is a number of bins or a root of the sample size."""
    if (isinstance(n_bins, str) and n_bins in ("sqrt", "cbrt")) or (
        is_integer(n_bins) and 1 <= n_bins <= 1_000_000
    ):
        return
    hint = "10 is usual; fewer bins are surer of their frequencies, more follow the curve closer."
    expected = 'a positive integer up to a million, "sqrt" or "cbrt"'
    raise invalid(caller, "n_bins", expected, repr(n_bins), hint=hint)
