"""Sums by bin as independent rows would give them, where rows are weighted or belong together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from veridical._core.sample import BinarySample, Sample
from veridical._core.typing import FloatArray
from veridical.inference._draws.hypothesis import redraw_of
from veridical.summaries import Summary, VectorSummary

Sums = Summary | VectorSummary


def independent_sums(summary: Sums, sample: Sample) -> Sums:
    """The same sums, with sizes of bins such that frequencies vary as those of these rows do.

    The variance of a frequency is that of redrawn outcomes (:func:`redraw_of`): by bin for the
    weights of labels; for rows that belong together by the design effect of the sum of all rows,
    as if all bins were wrong in the same direction, which is the widest.
    """
    made = redraw_of(sample)
    if made is None:
        return summary
    factor: FloatArray | float = 1.0 if made.sharing is None else made.sharing.design_effect
    weight = made.weight if sample.weight is None else sample.weight[made.rows][:, None]
    alone, own = np.square(weight) * made.p * (1 - made.p), made.variance
    if isinstance(summary, Summary) and isinstance(sample, BinarySample):
        bins = summary.partitions[0].assign(sample.p[made.rows])
        seen, usual = (
            np.bincount(bins, values[:, 1], minlength=summary.sum_w.shape[1])
            for values in (own, alone)
        )
        factor = factor * np.divide(seen, usual, out=np.ones(len(seen)), where=usual > 0)
    elif alone.sum() > 0:
        factor = factor * float(own.sum() / alone.sum())
    square = summary.sum_w if summary.weight_type == "frequency" else summary.sum_w2
    return replace(summary, sum_w2=square * factor, weight_type="importance")
