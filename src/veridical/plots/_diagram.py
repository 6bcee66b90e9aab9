"""Curves on one pair of axes: what diagrams of one panel and of many have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes

from veridical.exceptions import invalid
from veridical.plots._artists import CurveArtists
from veridical.plots._axes import probability_axis
from veridical.plots._marks import (
    draw_arrows,
    draw_band,
    draw_bars,
    draw_counts,
    draw_gaps,
    draw_limits,
    draw_markers,
    draw_rug,
)
from veridical.plots._series import Series
from veridical.plots._shapes import Position, line_corners, positions
from veridical.plots._style import Style, style_of


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


def draw_curves(ax: Axes, series: list[Series], look: Look) -> tuple[Any, list[CurveArtists]]:
    """Draw the diagonal and every curve."""
    style = style_of(ax)
    probability_axis(ax)
    (diagonal,) = ax.plot([0, 1], [0, 1], color=style.muted, linewidth=1.0, zorder=1)
    drawn = [_draw_curve(ax, one, look, style, i, len(series)) for i, one in enumerate(series)]
    return diagonal, drawn


def _draw_curve(
    ax: Axes, series: Series, look: Look, style: Style, index: int, total: int
) -> CurveArtists:
    curve, binned = series.curve, series.curve.method == "bins"
    at = positions(curve, look.x)
    parts: dict[str, Any] = {}
    if look.bars:
        parts["bars"] = draw_bars(ax, curve, style, index, total)
        at = (curve.lower + curve.upper) / 2
    else:
        xs, ys = line_corners(curve, look.x, curve.observed)
        (parts["line"],) = ax.plot(
            xs, ys, color=style.colour(index), linestyle=style.line(index), lw=1.6, zorder=3
        )
        if binned:
            sized = look.counts in ("size", "both")
            points = (at, curve.observed, curve.count)
            parts["markers"] = draw_markers(
                ax, *points, style, index, sized=sized, scale=look.scale
            )
    if curve.low is not None and curve.high is not None:
        limits = (curve.low, curve.high)
        if not binned if look.band is None else look.band:
            parts["band"] = draw_band(ax, curve, look.x, *limits, style, index)
        else:
            parts["limits"] = draw_limits(
                ax,
                at,
                *limits,
                style,
                index,
                around=curve.interval == "consistency",
                over_bars=look.bars,
                alone=total == 1,
            )
    if look.gaps:
        parts["gaps"] = draw_gaps(ax, curve, look.x, style, bars=look.bars)
    if look.arrows:
        parts["arrows"] = draw_arrows(ax, curve, look.x, style)
    if look.counts in ("text", "both") and binned:
        # Arrows point to the observed frequency: counts go to the other side.
        left = (curve.observed > at) & look.arrows
        parts["counts"] = draw_counts(ax, at, curve.observed, curve.count, style, left=left)
    if look.rug and series.sample is not None:
        parts["rug"] = draw_rug(ax, series.sample, style, index)
    return CurveArtists(series.name, curve, **parts)
