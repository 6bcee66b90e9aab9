"""A legend over axes that makes room for their title, whenever that is set."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.legend import Legend

_PAD = 3.0  # points between title and legend


class LegendAboveTitle(Legend):
    """Legend whose lower left corner stands on the axes, or on their title if there is one.

    Layouts ask for its extent, and drawing comes after them: both put it in its place first, so
    that a title set after the legend was made is not covered.
    """

    def draw(self, renderer: Any) -> None:
        """Draw it where it belongs now."""
        self._lift(renderer)
        super().draw(renderer)

    def get_tightbbox(self, renderer: Any = None) -> Any:
        """Extent where it belongs now."""
        self._lift(renderer)
        return super().get_tightbbox(renderer)

    def _lift(self, renderer: Any) -> None:
        ax: Any = self.axes
        titles = [ax.title, getattr(ax, "_left_title", None), getattr(ax, "_right_title", None)]
        shown = [t for t in titles if t is not None and t.get_visible() and t.get_text()]
        height = ax.bbox.height
        if not shown or height <= 0:
            self.set_bbox_to_anchor((0.0, 1.01), ax.transAxes)
            return
        top = max(text.get_window_extent(renderer).y1 for text in shown)
        pad = _PAD * ax.figure.figure.dpi / 72
        self.set_bbox_to_anchor((0.0, max((top + pad - ax.bbox.y0) / height, 1.01)), ax.transAxes)


def add_legend_above(ax: Axes, handles: Any, labels: Any, **look: Any) -> Legend:
    """Put a legend over axes in the place of any they have."""
    old = ax.get_legend()
    if old is not None:
        old.remove()
    legend = LegendAboveTitle(ax, handles, labels, loc="lower left", borderaxespad=0.0, **look)
    ax.legend_ = legend
    legend._remove_method = lambda _: setattr(ax, "legend_", None)  # type: ignore[attr-defined]
    return legend
