"""Sums by bin as independent rows would give them, where rows are weighted or belong together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from veridical._core.resampling.groups import shared_by_two
from veridical._core.resampling.hypothesis import fixed_variance, redraw_of
from veridical._core.resampling.redraw import Redraw
from veridical._core.resampling.sums import Cells
from veridical._core.sample import BinarySample, Sample
from veridical._core.typing import FloatArray, IntArray
from veridical.summaries._bins.summary import Summary, VectorSummary

Sums = Summary | VectorSummary


def independent_sums(summary: Sums, sample: Sample, *, each: bool = False) -> Sums:
    """The same sums, with sizes of bins such that frequencies vary as those of these rows do.

    The variance of a frequency is that of redrawn outcomes (:func:`redraw_of`): by bin for the
    weights of labels; for rows that belong together by the design effect of the sum of all rows,
    as if all bins were wrong in the same direction, which is the widest. With `each` bins are
    looked at one by one: the design effect is that of the rows of a bin.
    """
    made = redraw_of(sample)
    if made is None:
        return summary
    alone, own = fixed_variance(made, sample), made.variance
    wider: FloatArray | float = 1.0 if made.sharing is None else made.sharing.design_effect
    if isinstance(summary, Summary) and isinstance(sample, BinarySample):
        bins, size = summary.partitions[0].assign(sample.p[made.rows]), summary.sum_w.shape[1]
        cells = Cells(bins, size)
        seen, usual = cells.sums(own[:, 1]), cells.sums(alone[:, 1])
        if each and made.sharing is not None:
            together = cells.sums(_shared(made, bins, size))
            alike = min(made.sharing.correlation + made.sharing.slope, 1.0)
            wider = 1 + alike * _ratio(together, seen)
        wider = wider * np.where(usual > 0, _ratio(seen, usual), 1.0)
    elif alone.sum() > 0:
        wider = wider * float(own.sum() / alone.sum())
    square = summary.sum_w if summary.weight_type == "frequency" else summary.sum_w2
    return replace(summary, sum_w2=square * wider, weight_type="importance")


def _shared(made: Redraw, bins: IntArray, n_bins: int) -> FloatArray:
    """Of every row, its part of what rows of its group and bin have in common if all is shared."""
    assert made.sharing is not None
    cell = np.unique(made.sharing.group * n_bins + bins, return_inverse=True)[1].reshape(-1)
    n_cells = int(cell.max()) + 1
    return (shared_by_two(made, cell, n_cells) / np.bincount(cell, minlength=n_cells))[cell]


def _ratio(top: FloatArray, bottom: FloatArray) -> FloatArray:
    return np.divide(top, bottom, out=np.zeros(len(top)), where=bottom > 0)
