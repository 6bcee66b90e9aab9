"""Reliability curves of rows of which only counts by cell are left."""

from __future__ import annotations

import numpy as np

from veridical._core.typing import FloatArray
from veridical.binning import IntervalPartition
from veridical.curves import curve_from_summary
from veridical.results import ReliabilityCurve
from veridical.summaries import Summary

_INTERVAL, _LEVEL = "wilson", 0.95


def curve_of_cells(cells: FloatArray, *, n_bins: int, lens: str) -> ReliabilityCurve:
    """Equal-width bins of counted rows, with Wilson limits of 95 %.

    Parameters
    ----------
    cells : array of shape (C, 3)
        Rows without and with the outcome, and the sum of their predictions, as `Buckets.cells`
        returns them.
    n_bins : int
    lens : str
        What the predictions are of.

    Notes
    -----
    Counts, frequencies and mean predictions of a bin are those of its rows, but for rows of a
    cell that an edge cuts: all of them go where the mean of the cell is.

    Examples
    --------
    >>> import numpy as np
    >>> cells = np.array([[3.0, 1.0, 0.8], [1.0, 4.0, 3.5]])
    >>> curve = curve_of_cells(cells, n_bins=2, lens="binary")
    >>> curve.count.tolist(), curve.predicted.tolist(), curve.observed.tolist()
    ([4.0, 5.0], [0.2, 0.7], [0.25, 0.8])
    """
    count = cells[:, 0] + cells[:, 1]
    held = count > 0
    count, positive, predicted = count[held], cells[held, 1], cells[held, 2]
    partition = IntervalPartition(np.arange(n_bins + 1) / n_bins, "right", uniform=True)
    place = partition.assign(predicted / count)

    def sums(values: FloatArray) -> FloatArray:
        total = np.bincount(place, weights=values, minlength=n_bins)
        return total.astype(np.float64, copy=False)[None, :]

    rows = sums(count)
    summary = Summary(
        partitions=(partition,),
        names=(1,),
        count=rows,
        sum_w=rows,
        sum_w2=rows,
        sum_wp=sums(predicted),
        sum_wy=sums(positive),
        sum_wpq=sums(predicted * (1 - predicted / count)),
        weight_type="frequency",
    )
    return curve_from_summary(
        summary,
        lens=lens,
        definition=f"{n_bins} equal-width bins",
        interval=_INTERVAL,
        confidence_level=_LEVEL,
    )
