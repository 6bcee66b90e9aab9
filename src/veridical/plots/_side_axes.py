"""Room for a histogram beside or below axes, taken from the axes' own place."""

from __future__ import annotations

from typing import Any, Literal

from matplotlib.axes import Axes
from matplotlib.transforms import Bbox

Place = Literal["below", "side"]

_LABEL = "veridical histogram"
# Sizes in units of the axes they are attached to.
_BELOW, _BELOW_PAD = 0.2, 0.05
_SIDE, _SIDE_PAD = 0.5, 0.17


class _Shrunk:
    """Locator that leaves a part of the axes' place free, below or to the right.

    The place is kept, so that layouts (constrained, tight or none) see axes and histogram as one.
    """

    def __init__(self, ax: Axes, place: Place, inner: Any) -> None:
        self._ax, self._place, self._inner = ax, place, inner

    def get_subplotspec(self) -> Any:
        """Place in a grid of axes, which `tight_layout` asks a locator for."""
        return self._ax.get_subplotspec()

    def __call__(self, ax: Axes, renderer: Any) -> Bbox:
        box = ax.get_position(original=True) if self._inner is None else self._inner(ax, renderer)
        if self._place == "below":
            kept = box.height / (1 + _BELOW + _BELOW_PAD)
            return Bbox.from_bounds(box.x0, box.y1 - kept, box.width, kept)
        kept = box.width / (1 + _SIDE + _SIDE_PAD)
        return Bbox.from_bounds(box.x0, box.y0, kept, box.height)


def shorter_side(ax: Axes) -> float:
    """Inches of the shorter side of axes, without what their histogram takes; before any layout."""
    locator: Any = ax.get_axes_locator()
    shrunk = isinstance(locator, _Shrunk)
    box = locator(ax, None) if shrunk else ax.get_position(original=True)
    figure = ax.figure.figure
    return min(box.width * figure.get_figwidth(), box.height * figure.get_figheight())


def side_axes(ax: Axes, place: Place) -> Axes:
    """Return axes for a histogram; those made by an earlier call if there are any."""
    for child in ax.child_axes:
        if isinstance(child, Axes) and child.get_label() == _LABEL:
            return child
    locator: Any = _Shrunk(ax, place, ax.get_axes_locator())
    ax.set_axes_locator(locator)
    if place == "below":
        bounds = (0.0, -_BELOW_PAD - _BELOW, 1.0, _BELOW)
        made = ax.inset_axes(bounds, sharex=ax, label=_LABEL)
        ax.tick_params(axis="x", labelbottom=False)
    else:
        made = ax.inset_axes((1 + _SIDE_PAD, 0.0, _SIDE, 1.0), label=_LABEL)
        made.yaxis.tick_right()
        made.yaxis.set_label_position("right")
    made.set_facecolor(ax.get_facecolor())
    return made
