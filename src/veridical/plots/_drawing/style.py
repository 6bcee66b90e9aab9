"""Colours, markers and lines that can be told apart, on a light or a dark ground.

Nothing here reads or writes matplotlib's settings: the ground is read off the axes drawn on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.colors import to_rgba

from veridical._core.data.validation import float_array
from veridical._core.typing import ArrayLike, FloatArray

# Okabe & Ito (2008), "Color universal design", which people with any of the common kinds of colour
# blindness can tell apart; the order puts first what contrasts most with the ground.
_ON_LIGHT = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_ON_DARK = ("#56B4E9", "#E69F00", "#009E73", "#CC79A7", "#F0E442", "#D55E00", "#FFFFFF")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_LINES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (3, 1.2, 1, 1.2)), (0, (1.5, 1)))
SMALLEST = 9.0  # points of letters: 12.5 pixels in a notebook
_HALF_LIGHT = 0.179  # relative luminance that contrasts equally with black and with white (WCAG)


@dataclass(frozen=True)
class Style:
    """What to draw with on one ground.

    Attributes
    ----------
    dark : whether the ground is dark
    ink : text and main lines
    muted : reference lines, such as the diagonal
    faint : areas and marks that stay behind everything else
    ground : colour of the ground itself, for outlines that lift marks off each other
    colours : one a series, in order
    sequential, diverging : names of colour maps, legible on this ground
    """

    dark: bool
    ink: str
    muted: str
    faint: str
    ground: tuple[float, float, float]
    colours: tuple[str, ...]
    sequential: str = "cividis"
    diverging: str = "PuOr"

    def colour(self, index: int) -> str:
        """Colour of the series; the seven colours repeat."""
        return self.colours[index % len(self.colours)]

    def marker(self, index: int) -> str:
        """Marker of the series, so that colour is never the only difference."""
        return _MARKERS[index % len(_MARKERS)]

    def line(self, index: int) -> Any:
        """Dash pattern of the series."""
        return _LINES[index % len(_LINES)]


def style_of(ax: Axes) -> Style:
    """Return what to draw with on these axes, by the colour of their ground."""
    ground = _ground(ax)
    dark = luminance(ground) < _HALF_LIGHT
    if dark:
        return Style(dark, "#F2F2F2", "#B0B0B0", "#5A5A5A", ground, _ON_DARK)
    return Style(dark, "#1A1A1A", "#6B6B6B", "#CFCFCF", ground, _ON_LIGHT)


def luminance(colour: Any) -> float:
    """Relative luminance of a colour, 0 for black and 1 for white (WCAG 2.2)."""
    linear = [
        channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4
        for channel in to_rgba(colour)[:3]
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def marker_areas(
    count: ArrayLike, *, most: float = 0.0, smallest: float = 18.0, largest: float = 110.0
) -> FloatArray:
    """Areas of markers, in square points, which grow in a straight line with the count.

    The largest belongs to `most`, or to the largest count if that is more.
    """
    counts = float_array(count, caller="marker_areas", param="count")
    top = counts.max(initial=most)
    share = counts / top if top > 0 else counts
    return smallest + (largest - smallest) * share


def _ground(ax: Axes) -> tuple[float, float, float]:
    """Colour seen behind the data: that of the axes over that of the figure over white."""
    seen = (1.0, 1.0, 1.0)
    figure = ax.figure  # the figure, or the part of one that holds the axes
    for layer in (figure.figure.get_facecolor(), figure.get_facecolor(), ax.get_facecolor()):
        red, green, blue, alpha = to_rgba(layer)
        seen = (
            alpha * red + (1 - alpha) * seen[0],
            alpha * green + (1 - alpha) * seen[1],
            alpha * blue + (1 - alpha) * seen[2],
        )
    return seen
