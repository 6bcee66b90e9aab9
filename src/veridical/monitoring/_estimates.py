"""Calibration in the large over windows, with limits that hold at every look."""

from __future__ import annotations

import numpy as np

from veridical._core.typing import FloatArray
from veridical.monitoring._buckets import History
from veridical.monitoring._confidence import radius, window_levels
from veridical.results._monitoring import MonitorEstimate, MonitorHistory


def estimates_of(
    history: History,
    sum_p: FloatArray,
    *,
    window: float,
    half_life: float,
    confidence_level: float,
) -> tuple[MonitorEstimate, ...]:
    r"""Estimates since the start, in the last `window` rows and with weights that halve.

    Parameters
    ----------
    history : of the rows in question
    sum_p : sums of predictions of each bucket
    window, half_life : rows; windows consist of whole buckets, so they may hold a few more
    confidence_level : of all the limits together, at all times

    Notes
    -----
    The window that begins at batch k has the one-sided level
    ``(1 - confidence_level) / 2 / ((k + 1) (k + 2))``, so that all windows hold together. A
    weighted mean with weights that grow with time is a sum of windows,
    :math:`\sum_b w_b D_b = \sum_s (w_s - w_{s-1}) \sum_{b \ge s} D_b`, and its radius is the
    same sum of theirs.
    """
    if not len(history.n_rows):
        return ()
    rows, deviation = history.n_rows, history.deviation
    limits = _suffix_radius(history, confidence_level)
    remaining = np.cumsum(rows[::-1])[::-1]  # from each bucket to the end
    first = max(0, int(np.flatnonzero(remaining >= min(window, remaining[0]))[-1]))
    weights = 0.5 ** ((remaining - rows) / half_life)
    steps = np.diff(weights, prepend=0.0)

    def over(start: int, text: str) -> MonitorEstimate:
        n = float(remaining[start])
        found = float(deviation[start:].sum()) / n
        predicted = float(sum_p[start:].sum()) / n
        return _estimate(text, n, predicted, found, float(limits[start]) / n)

    total = float(weights @ rows)
    weighted = _estimate(
        f"weights that halve every {half_life:,.0f} rows",
        total,
        float(weights @ sum_p) / total,
        float(weights @ deviation) / total,
        float(steps @ limits) / total,
    )
    return (
        over(0, "since the start"),
        over(first, f"last {remaining[first]:,.0f} rows"),
        weighted,
    )


def rolling(
    history: History, sum_p: FloatArray, *, window: float, confidence_level: float
) -> MonitorHistory:
    """The rolling window at the end of every bucket, with limits that all hold together."""
    rows = history.n_rows
    ends = np.cumsum(rows)
    first = np.searchsorted(ends, np.maximum(ends - window, 0.0), side="right")
    first = np.minimum(first, np.arange(len(rows)))  # a bucket larger than the window is one

    def within(values: FloatArray) -> FloatArray:
        total = np.append(0.0, np.cumsum(values))
        return total[1:] - total[first]

    levels = window_levels(history.ordinal[-1] + 1, (1 - confidence_level) / 2)
    n = within(rows)
    deviation = within(history.deviation) / n
    wide = radius(within(history.squared), levels[np.array(history.ordinal)[first]]) / n
    return MonitorHistory(
        n_rows=ends,
        ended=tuple(text or "" for text in history.ended),
        predicted=sum_p / rows,
        observed=(sum_p + history.deviation) / rows,
        deviation=deviation,
        low=np.maximum(deviation - wide, -1.0),
        high=np.minimum(deviation + wide, 1.0),
        log_e=history.log_e,
    )


def _suffix_radius(history: History, confidence_level: float) -> FloatArray:
    """Radius of the sum of deviations from each bucket to the end."""
    squared = np.cumsum(history.squared[::-1])[::-1]
    levels = window_levels(history.ordinal[-1] + 1, (1 - confidence_level) / 2)
    return radius(squared, levels[history.ordinal])


def _estimate(
    window: str, n_rows: float, predicted: float, deviation: float, wide: float
) -> MonitorEstimate:
    return MonitorEstimate(
        window=window,
        n_rows=n_rows,
        mean_predicted=predicted,
        mean_observed=predicted + deviation,
        deviation=deviation,
        low=max(-1.0, deviation - wide),
        high=min(1.0, deviation + wide),
    )
