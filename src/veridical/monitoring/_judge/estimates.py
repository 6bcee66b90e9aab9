"""Estimates from counts: calibration in the large, change points, reliability curves."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from veridical._core.typing import ArrayLike, FloatArray
from veridical.binning import IntervalPartition
from veridical.curves.core import curve_from_summary
from veridical.inference.core import Bets
from veridical.lenses import Binary, Confidence, Lens
from veridical.lenses.reading import event_of
from veridical.monitoring._store.buckets import Buckets, History
from veridical.results import MonitorEstimate, MonitorHistory, ReliabilityCurve
from veridical.summaries import Summary

# Bets on the sum of deviations, from the small ones that suit long series to bold ones.
BETS = np.geomspace(1e-4, 0.95, 48)
_HALVINGS = 45


def radius(squared: ArrayLike, level: FloatArray | float) -> FloatArray:
    r"""How far a sum of deviations y - p may be from the sum of its conditional means, ever.

    Parameters
    ----------
    squared : array
        :math:`V_t`, sums of (y - p)^2.
    level : array or float
        Chance, one-sided, of ever being farther off in that direction.

    Notes
    -----
    Given p, y - p lies in an interval of length 1 that holds 0, so for every :math:`\lambda` in
    [0, 1) the process :math:`\exp(\lambda \sum (y_i - r_i) - \psi(\lambda) V_t)` with
    :math:`\psi(\lambda) = -\log(1 - \lambda) - \lambda` and r the true conditional probability is
    a supermartingale (Howard, Ramdas, McAuliffe & Sekhon 2021, Annals of Statistics 49, 1055-1080,
    Theorem 4; Fan, Grama & Liu 2015). A mixture over fixed :math:`\lambda` is one too, and by
    Ville's inequality stays below 1 / level; the radius is where it meets that bound. Nothing is
    assumed of how r changes.

    Examples
    --------
    >>> radius([0.0], 0.05).item() > math.log(20)  # no variance seen, and yet not sure
    True
    """
    seen = np.asarray(squared, dtype=np.float64)
    target = -np.log(np.broadcast_to(np.asarray(level, dtype=np.float64), seen.shape))
    cost = -np.log1p(-BETS) - BETS
    offset = -np.multiply.outer(seen, cost) - math.log(len(BETS))
    # Any single bet meets the bound later than the mixture: the least of them is above the root.
    high = ((target[..., None] - offset) / BETS).min(axis=-1)
    low = np.zeros_like(high)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        logs = BETS * middle[..., None] + offset - target[..., None]
        reached = np.exp(np.minimum(logs, 1.0)).sum(axis=-1) >= 1
        low, high = np.where(reached, low, middle), np.where(reached, middle, high)
    return high


def window_levels(n: int, level: float) -> FloatArray:
    """Level of the window that begins at each of `n` moments; all of them sum to less than `level`.

    Windows that began at any moment then have limits that hold together, at every look: the k-th
    has :math:`level / ((k + 1) (k + 2))`.
    """
    k = np.arange(n, dtype=np.float64)
    return level / ((k + 1) * (k + 2))


def estimates_of(
    history: History, sum_p: FloatArray, settings: dict[str, Any]
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
    window, half_life = settings["window"], settings["half_life"]
    levels = window_levels(history.ordinal[-1] + 1, (1 - settings["confidence_level"]) / 2)
    # From each bucket to the end: rows, and the radius of the sum of deviations.
    remaining, squared = (np.cumsum(sums[::-1])[::-1] for sums in (rows, history.squared))
    limits = radius(squared, levels[history.ordinal])
    first = max(0, int(np.flatnonzero(remaining >= min(window, remaining[0]))[-1]))
    weights = 0.5 ** ((remaining - rows) / half_life)
    steps = np.diff(weights, prepend=0.0)

    def over(start: int, text: str) -> MonitorEstimate:
        n = float(remaining[start])
        found = float(deviation[start:].sum()) / n
        predicted = float(sum_p[start:].sum()) / n
        return estimate_of(text, n, predicted, found, float(limits[start]) / n)

    total = float(weights @ rows)
    weighted = estimate_of(
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


def rolling(history: History, sum_p: FloatArray, settings: dict[str, Any]) -> MonitorHistory:
    """The rolling window at the end of every bucket, with limits that all hold together."""
    rows = history.n_rows
    ends = np.cumsum(rows)
    first = np.searchsorted(ends, np.maximum(ends - settings["window"], 0.0), side="right")
    first = np.minimum(first, np.arange(len(rows)))  # a bucket larger than the window is one

    def within(values: FloatArray) -> FloatArray:
        total = np.append(0.0, np.cumsum(values))
        return total[1:] - total[first]

    levels = window_levels(history.ordinal[-1] + 1, (1 - settings["confidence_level"]) / 2)
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


def estimate_of(
    window: str, n_rows: float, predicted: float, deviation: float, wide: float
) -> MonitorEstimate:
    """Means over a window and their deviation, with limits `wide` to both sides of it."""
    return MonitorEstimate(
        window=window,
        n_rows=n_rows,
        mean_predicted=predicted,
        mean_observed=predicted + deviation,
        deviation=deviation,
        low=max(-1.0, deviation - wide),
        high=min(1.0, deviation + wide),
    )


_DROP = 3.0  # of the log likelihood, that a beginning may be below the best one


@dataclass(frozen=True)
class ChangePoint:
    """Where a change most likely began, by the number of the batch.

    Attributes
    ----------
    batch : first batch after the change
    low, high : first and last batch that would explain the data nearly as well
    log_likelihood_ratio : how much better than no change, in nats
    """

    batch: int
    low: int
    high: int
    log_likelihood_ratio: float


def change_point(factors: FloatArray) -> ChangePoint | None:
    """Likelihood estimate of where a stream left its predictions.

    Parameters
    ----------
    factors : array of shape (B, G)
        Log factors of the rivals, batch by batch, as `EProcesses.advance` returns them.

    Returns
    -------
    ChangePoint or None
        None if no rival does better than the predictions from any batch on.

    Notes
    -----
    From batch k on one rival g is right: its log likelihood ratio is the sum of factors of the
    batches k, k + 1, ... plus its prior; the best k is the estimate, and every k within 3 nats of
    it is in the interval. One change is assumed; a model that was wrong from the beginning has
    its change at batch 0. How often the interval holds the true batch is in docs/monitoring.md.
    """
    suffix = np.cumsum(factors[::-1], axis=0)[::-1] + Bets("two-sided").log_prior
    profile = np.logaddexp.reduce(suffix, axis=1)
    best = int(profile.argmax())
    if profile[best] <= 0:
        return None
    close = np.flatnonzero(profile >= profile[best] - _DROP)
    return ChangePoint(best, int(close[0]), int(close[-1]), float(profile[best]))


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
    limits: Any = {"interval": "wilson", "confidence_level": 0.95}
    return curve_from_summary(summary, lens=lens, definition=f"{n_bins} equal-width bins", **limits)


def window_curves(
    buckets: Buckets, window: float, classes: tuple[Any, ...], n_bins: int
) -> dict[str, ReliabilityCurve]:
    """Curves of the last rows, "now", and of those before, "before", where there are some."""
    lens: Lens = Confidence() if len(classes) > 2 else Binary()
    parts = {
        "before": buckets.cells(skip_rows=window),
        "now": buckets.cells(last_rows=window),
    }
    event = event_of(lens, classes)
    return {
        name: replace(curve_of_cells(cells, n_bins=n_bins, lens=lens.name), event=event)
        for name, cells in parts.items()
        if cells.any()
    }
