"""Curves on one pair of axes, and how predictions are spread below or beside them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from veridical._core.data.validation import check_option
from veridical.binning import UniformBins
from veridical.curves.shapes import bins_alike
from veridical.exceptions import invalid
from veridical.plots._drawing import marks
from veridical.plots._drawing.artists import CurveArtists
from veridical.plots._drawing.axes import Place, count_axis, is_small, shorter_side, side_axes
from veridical.plots._drawing.frame import UNIT, Frame, diagonal_of, set_frame
from veridical.plots._drawing.marks import Position, positions
from veridical.plots._drawing.series import Series
from veridical.plots._drawing.style import Style, style_of
from veridical.results import ReliabilityCurve
from veridical.summaries import summarise


@dataclass(frozen=True)
class Look:
    """What to show of every curve; the options of `reliability`."""

    bars: bool = False
    x: Position = "mean"
    band: bool | None = None
    counts: str | None = "size"
    gaps: bool = False
    arrows: bool = False
    rug: bool = False
    scale: float = 1.0  # of marker areas
    frame: Frame = UNIT

    def check(self, series: list[Series], *, caller: str) -> None:
        """Raise if a curve cannot be shown this way."""
        for one in series:
            binned = one.curve.method == "bins"
            hint = 'use method="bins", or leave it out.'
            for name in ("gaps", "arrows"):
                if getattr(self, name) and not binned:
                    got = f"True with method={one.curve.method!r}"
                    raise invalid(caller, name, "False for a curve without bins", got, hint=hint)
            if self.bars and not binned:
                got = f"'bars' with method={one.curve.method!r}"
                raise invalid(caller, "style", "'line' for a curve without bins", got, hint=hint)
            if self.rug and one.sample is None:
                hint = "give `y_true` and `y_prob` instead of a result."
                expected = "False for a result, which has no rows"
                raise invalid(caller, "rug", expected, "True", hint=hint)


_CHOICES = {
    "histogram": ("below", "side"),
    "counts": ("size", "text", "both"),
    "annotate": ("size", "error", "all"),
}


def check_choices(caller: str, **chosen: str | None) -> None:
    """Raise if an option of a diagram is neither None nor one of its choices."""
    for name, choice in chosen.items():
        if choice is not None:
            check_option(caller, name, choice, _CHOICES[name])


def draw_curves(
    ax: Axes, series: list[Series], look: Look, frame: Frame = UNIT, *, most: int = 7
) -> tuple[Any, list[CurveArtists]]:
    """Draw the diagonal and every curve on the axes of `frame`, with so many ticks at most."""
    style = style_of(ax)
    # Marks of small axes are small, too.
    look = replace(look, frame=frame, scale=look.scale * min(1.0, shorter_side(ax) / _USUAL))
    set_frame(ax, frame=frame, most=most)
    corners = diagonal_of(frame)
    (diagonal,) = ax.plot(*corners, color=style.muted, linewidth=1.0, zorder=1, scalex=False)
    ax.set_ylim(*frame.ends)
    drawn = [_draw_curve(ax, one, look, style, i, len(series)) for i, one in enumerate(series)]
    return diagonal, drawn


def _draw_curve(
    ax: Axes, series: Series, look: Look, style: Style, index: int, total: int
) -> CurveArtists:
    curve, binned = series.curve, series.curve.method == "bins"
    at = positions(curve, look.x)
    parts: dict[str, Any] = {}
    if look.bars:
        parts["bars"] = marks.draw_bars(ax, curve, style, index, total)
        at = (curve.lower + curve.upper) / 2
    else:
        xs, ys = marks.broken_line(curve, look.x)
        (parts["line"],) = ax.plot(
            xs, ys, color=style.colour(index), linestyle=style.line(index), lw=1.6, zorder=3
        )
        if binned:
            sized = look.counts in ("size", "both")
            points = (look.frame.inside(at), look.frame.inside(curve.observed), curve.count)
            parts["markers"] = marks.draw_markers(
                ax, *points, style, index, sized=sized, scale=look.scale
            )
    if curve.low is not None and curve.high is not None:
        if not binned if look.band is None else look.band:
            parts["band"] = marks.draw_band(ax, curve, look.x, style, index)
        else:
            how = {"around": curve.around_prediction, "alone": total == 1}
            parts["limits"] = marks.draw_limits(
                ax, at, curve.low, curve.high, style, index, over_bars=look.bars, **how
            )
    if look.gaps:
        parts["gaps"] = marks.draw_gaps(ax, curve, look.x, style, bars=look.bars)
    if look.arrows:
        parts["arrows"] = marks.draw_arrows(ax, curve, look.x, style)
    if look.counts in ("text", "both") and binned:
        # Arrows point to the observed frequency: counts go to the other side.
        left = (curve.observed > at) & look.arrows
        parts["counts"] = marks.draw_counts(
            ax, at, curve.observed, curve.count, style, look.frame, left=left
        )
    if look.rug and series.sample is not None:
        parts["rug"] = marks.draw_rug(ax, series.sample, style, index)
    return CurveArtists(series.name, curve, **parts)


_USUAL = 3.2  # inches of axes in which marks have their full size
_N_BARS = 40  # of a histogram that cannot use the curve's own bins


def draw_spread(
    ax: Axes,
    series: list[Series],
    curves: list[CurveArtists],
    place: Place | None,
    frame: Frame = UNIT,
) -> tuple[Axes | None, tuple[CurveArtists, ...]]:
    """Axes of the histogram, None if not wanted, and the curves, each with its histogram."""
    if place is None:
        return None, tuple(curves)
    made = side_axes(ax, place)
    pairs = zip(curves, draw_histograms(made, series, frame), strict=True)
    drawn = tuple(replace(curve, histogram=histogram) for curve, histogram in pairs)
    if not is_small(ax):
        made.set_ylabel("rows")
    count_axis(made, "y", n_ticks=2 if place == "below" else 4)
    if place == "side":
        set_frame(made, "x", frame, most=3)
        made.set_xlabel("prediction")
    return made, drawn


def lowest_axes(ax: Axes, histogram_ax: Axes | None, place: Place | None) -> Axes:
    """Axes whose horizontal axis is labelled."""
    return histogram_ax if place == "below" and histogram_ax is not None else ax


def draw_histograms(ax: Axes, series: list[Series], frame: Frame = UNIT) -> list[Any]:
    """Histogram of each model: bars for one, outlines for several."""
    style = style_of(ax)
    drawn: list[Any] = []
    for index, one in enumerate(series):
        colour = style.colour(index)
        bars = _bars(one, frame)
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
    return drawn


def _bars(series: Series, frame: Frame) -> tuple[Any, Any] | None:
    """Counts and edges; None if only bins of unequal width are known."""
    curve, display = series.curve, series.display
    if display is not None:
        return display.bar_counts, display.bar_edges
    if series.sample is not None and frame != UNIT:
        edges = frame.scale.value(np.linspace(0.0, 1.0, _N_BARS + 1))
        inside = frame.inside(series.sample.p.astype(np.float64))
        return np.histogram(inside, edges)[0], edges
    comparable = curve.method != "isotonic" and bins_alike(curve)
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
