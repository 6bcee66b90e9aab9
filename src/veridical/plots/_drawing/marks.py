"""Lines, points, bars, limits, gaps, arrows, counts and rugs of one curve."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.patheffects import withStroke

from veridical._core.sample import BinarySample
from veridical._core.typing import BoolArray, FloatArray
from veridical.curves.shapes import band_corners, curve_pieces, line_corners
from veridical.plots._drawing.axes import short_count, shorter_side
from veridical.plots._drawing.frame import UNIT, Frame
from veridical.plots._drawing.style import SMALLEST as _SMALLEST, Style, marker_areas
from veridical.results import ReliabilityCurve

Position = Literal["mean", "centre"]
TO_SCALE: dict[str, Any] = {"angles": "xy", "scale_units": "xy", "scale": 1}  # of arrows


def positions(curve: ReliabilityCurve, x: Position) -> FloatArray:
    """Where points stand: at mean predictions, or in the middle of bins."""
    return curve.predicted if x == "mean" else (curve.lower + curve.upper) / 2


def broken_line(curve: ReliabilityCurve, x: Position) -> tuple[FloatArray, ...]:
    """Corners of the line through the points, NaN where it breaks."""
    return broken(curve, *line_corners(curve, positions(curve, x)))


def broken_band(curve: ReliabilityCurve, x: Position) -> tuple[FloatArray, ...]:
    """Corners of the band between limits, NaN where it breaks."""
    return broken(curve, *band_corners(curve, positions(curve, x)))


def broken(curve: ReliabilityCurve, *corners: FloatArray) -> tuple[FloatArray, ...]:
    """NaN wherever the curve leaves out a bin or a cell; an isotonic fit leaves out nothing."""
    if curve.method == "isotonic":
        return corners
    at = np.flatnonzero(np.diff(curve_pieces(curve))) + 1
    return tuple(np.insert(values.astype(np.float64), at, np.nan) for values in corners)


_BEYOND = 0.03  # of the axes, that a mark may reach over their edge
_RUG_CELLS = 500  # ticks of a rug, however many rows there are
_AWAY = 6.0  # points between a marker's middle and the text beside it
_LINE, _LETTER = 12.0, 7.0  # points that a turned text takes across, and a letter along it


def draw_markers(
    ax: Axes,
    x: FloatArray,
    y: FloatArray,
    count: FloatArray,
    style: Style,
    index: int,
    *,
    sized: bool,
    scale: float = 1.0,
    most: float = 0.0,
) -> Any:
    """Markers at points; their area grows with the count if `sized`, to the largest at `most`."""
    points = ax.scatter(
        x,
        y,
        s=scale * (marker_areas(count, most=most) if sized else 28.0),
        marker=style.marker(index),
        facecolor=style.colour(index),
        edgecolor=[style.ground],
        linewidth=0.6,
        zorder=4,
    )
    # Points on the edge are whole; those that a zoom leaves outside are not drawn over the margin.
    edge = Rectangle((-_BEYOND, -_BEYOND), 1 + 2 * _BEYOND, 1 + 2 * _BEYOND)
    edge.set_transform(ax.transAxes)
    points.set_clip_path(edge)
    return points


def draw_bars(ax: Axes, curve: ReliabilityCurve, style: Style, index: int, total: int) -> Any:
    """Bars from 0 to the observed frequency; those of several models are only outlined."""
    alone = total == 1
    return ax.bar(
        curve.lower,
        curve.observed,
        width=curve.upper - curve.lower,
        align="edge",
        facecolor=style.colour(index) if alone else "none",
        edgecolor=style.ground if alone else style.colour(index),
        linestyle="-" if alone else style.line(index),
        linewidth=0.8 if alone else 1.4,
        alpha=0.75 if alone else 1.0,
        zorder=2,
    )


def draw_limits(
    ax: Axes,
    x: FloatArray,
    low: FloatArray,
    high: FloatArray,
    style: Style,
    index: int,
    *,
    around: bool,
    over_bars: bool = False,
    alone: bool = True,
) -> Any:
    """Vertical bars between limits: thin ones of the curve, wide ones `around` the reference."""
    colour = style.ink if over_bars else style.colour(index)
    wide: dict[str, Any] = {"alpha": 0.3, "linewidth": 5, "zorder": 1.5}
    thin: dict[str, Any] = {"alpha": 1.0 if alone else 0.45, "linewidth": 1.2, "zorder": 3}
    return ax.vlines(x, low, high, color=colour, **(wide if around and not over_bars else thin))


def draw_band(
    ax: Axes, curve: ReliabilityCurve, x: Position, style: Style, index: int, *, gap: bool = False
) -> Any:
    """Area between limits, or between their distances from the prediction."""
    xs, lows, highs = broken_band(curve, x)
    if gap:
        lows, highs = lows - xs, highs - xs
    return ax.fill_between(
        xs, lows, highs, color=style.colour(index), alpha=0.22, linewidth=0, zorder=1.5
    )


def draw_gaps(ax: Axes, curve: ReliabilityCurve, x: Position, style: Style, *, bars: bool) -> Any:
    """Gap between prediction and outcome: a dotted line, or a hatched box over a bar."""
    if bars:
        width, gap = curve.upper - curve.lower, curve.predicted - curve.observed
        box: dict[str, Any] = {"facecolor": "none", "edgecolor": style.ink, "hatch": "////"}
        box |= {"linewidth": 0.6, "alpha": 0.65, "zorder": 2.5, "align": "edge"}
        return ax.bar(curve.lower, gap, bottom=curve.observed, width=width, **box)
    at, ends = positions(curve, x), (curve.observed, curve.predicted)
    dots: dict[str, Any] = {"linestyle": (0, (1, 1)), "linewidth": 1.4, "zorder": 3.2}
    return ax.vlines(at, *ends, color=style.ink, **dots)


def draw_arrows(ax: Axes, curve: ReliabilityCurve, x: Position, style: Style) -> Any:
    """Arrows from what was predicted to what should have been: sideways to the diagonal."""
    at = positions(curve, x)
    ends = (at, curve.observed, curve.observed - at, np.zeros_like(at))
    look: dict[str, Any] = {"width": 0.006, "headwidth": 4, "headlength": 5, "color": style.ink}
    return ax.quiver(*ends, zorder=3.5, **TO_SCALE, **look)


def draw_counts(
    ax: Axes,
    x: FloatArray,
    y: FloatArray,
    count: FloatArray,
    style: Style,
    frame: Frame = UNIT,
    *,
    left: BoolArray,
) -> tuple[Any, ...]:
    """Counts to the right of their points, or to the `left`.

    Those that would cover one written before are left out, fuller bins first.
    """
    side = 0.7 * 72 * shorter_side(ax)  # points; a histogram or the layout may still take some
    at, up = frame.scale.place(x), frame.scale.place(frame.inside(y))
    middle = at * side + np.where(left, -1, 1) * (_AWAY + _LINE / 2)
    look: dict[str, Any] = {"textcoords": "offset points", "rotation": 90, "va": "center"}
    look |= {"fontsize": _SMALLEST, "color": style.ink, "zorder": 5}
    look["path_effects"] = [withStroke(linewidth=2, foreground=style.ground)]
    placed: list[tuple[Any, int]] = []
    texts = []
    for i in np.argsort(-count, kind="stable"):
        text = short_count(float(count[i]))
        if any(
            abs(middle[i] - middle[j]) < _LINE
            and abs(up[i] - up[j]) * side < _LETTER * max(len(text), letters)
            for j, letters in placed
        ):
            continue
        placed.append((i, len(text)))
        away, across = (-_AWAY, "right") if left[i] else (_AWAY, "left")
        texts.append(ax.annotate(text, (x[i], frame.inside(y)[i]), (away, 0), ha=across, **look))
    return tuple(texts)


def draw_rug(ax: Axes, sample: BinarySample, style: Style, index: int) -> Any:
    """Ticks at predictions, on top where the outcome was 1 and below where it was 0."""
    cells = np.rint(sample.p.astype(np.float64) * _RUG_CELLS) / _RUG_CELLS
    ends = [np.unique(cells[sample.y == outcome]) for outcome in (0, 1)]
    at = np.concatenate(ends)
    below = np.repeat([True, False], [len(end) for end in ends])
    return ax.vlines(
        at,
        np.where(below, 0.0, 0.975),
        np.where(below, 0.025, 1.0),
        transform=ax.get_xaxis_transform(),
        color=style.colour(index),
        linewidth=0.5,
        alpha=0.8,
        zorder=1.2,
    )
