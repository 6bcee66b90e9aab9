"""How predictions are spread, below or beside a diagram."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator

from veridical.binning import UniformBins
from veridical.plots._axes import count_axis, probability_axis
from veridical.plots._series import Series
from veridical.plots._side_axes import Place, side_axes
from veridical.plots._style import style_of
from veridical.results import ReliabilityCurve
from veridical.summaries import summarise

_N_BARS = 40  # of a histogram that cannot use the curve's own bins


def draw_spread(
    ax: Axes, series: list[Series], place: Place | None
) -> tuple[Axes | None, list[Any]]:
    """Axes of the histogram and its artists, one for every curve; None of each if not wanted."""
    if place is None:
        return None, [None] * len(series)
    made = side_axes(ax, place)
    drawn = draw_histograms(made, series)
    made.set_ylabel("rows", fontsize="small")
    count_axis(made, "y", n_ticks=2 if place == "below" else 4)
    if place == "side":
        probability_axis(made, "x")
        made.xaxis.set_major_locator(FixedLocator((0.0, 0.5, 1.0)))
        made.set_xlabel("prediction")
    return made, drawn


def lowest_axes(ax: Axes, histogram_ax: Axes | None, place: Place | None) -> Axes:
    """Axes whose horizontal axis is labelled."""
    return histogram_ax if place == "below" and histogram_ax is not None else ax


def draw_histograms(ax: Axes, series: list[Series]) -> list[Any]:
    """Histogram of each model: bars for one, outlines for several."""
    style = style_of(ax)
    drawn: list[Any] = []
    for index, one in enumerate(series):
        colour = style.colour(index)
        bars = _bars(one)
        if bars is None:
            curve = one.curve
            drawn.append(ax.vlines(curve.predicted, 0, curve.count, color=colour, linewidth=1.2))
            continue
        count, edges = bars
        if len(series) == 1:
            made: Any = ax.stairs(count, edges, fill=True, facecolor=colour, alpha=0.75)
        else:
            line = style.line(index)
            made = ax.stairs(count, edges, edgecolor=colour, linestyle=line, linewidth=1.3)
        drawn.append(made)
    ax.set_ylim(bottom=0)
    ax.tick_params(labelsize="small")
    return drawn


def _bars(series: Series) -> tuple[Any, Any] | None:
    """Counts and edges; None if only bins of unequal width are known."""
    curve = series.curve
    width = curve.upper - curve.lower
    comparable = curve.method != "isotonic" and bool(np.ptp(width) <= 1e-6 * width.max())
    if comparable and (curve.method == "bins" or series.sample is None):
        return _filled(curve)
    if series.sample is None:
        return None
    summary = summarise(series.sample, UniformBins(_N_BARS))
    return summary.count[0], summary.partitions[0].edges


def _filled(curve: ReliabilityCurve) -> tuple[Any, Any]:
    """Counts and edges with the empty bins between occupied ones put back as zeros."""
    counts, edges = [float(curve.count[0])], [float(curve.lower[0]), float(curve.upper[0])]
    for lower, upper, count in zip(curve.lower[1:], curve.upper[1:], curve.count[1:], strict=True):
        if lower > edges[-1] + 1e-9:
            counts.append(0.0)
            edges.append(float(lower))
        counts.append(float(count))
        edges.append(float(upper))
    return np.array(counts), np.array(edges)
