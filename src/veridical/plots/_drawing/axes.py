"""Axes: made or taken, scaled and labelled, with room beside them or split into panels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator
from matplotlib.transforms import Bbox

from veridical.exceptions import invalid
from veridical.plots._drawing.style import SMALLEST, Style, style_of


def get_axes(ax: Any, figsize: tuple[float, float] = (4.8, 4.8), *, caller: str) -> Axes:
    """Return the axes given, or those of a new figure if `ax` is None."""
    if ax is None:
        from matplotlib import pyplot

        _, made = pyplot.subplots(figsize=figsize, layout="constrained")
        return made
    if not isinstance(ax, Axes):
        hint = "make one with `fig, ax = plt.subplots()`."
        raise invalid(caller, "ax", "a matplotlib Axes or None", type(ax).__name__, hint=hint)
    return ax


def styled_axes(ax: Any, figsize: tuple[float, float], *, caller: str) -> tuple[Axes, Style]:
    """Return the axes as `get_axes` does, and what to draw with on their ground."""
    axes = get_axes(ax, figsize, caller=caller)
    return axes, style_of(axes)


def count_axis(ax: Axes, which: Literal["x", "y"], *, n_ticks: int = 3) -> None:
    """Tick an axis of counts in whole numbers, thousands as k and millions as M."""
    axis = ax.xaxis if which == "x" else ax.yaxis
    axis.set_major_locator(MaxNLocator(n_ticks, integer=True))
    axis.set_major_formatter(FuncFormatter(lambda value, _: short_count(value)))


def short_count(count: float) -> str:
    """Write a count in few characters: 950, 1.2k, 35k, 1M."""
    rounded = float(f"{count:.3g}")  # first, so that 999,999 becomes 1M and not 1,000k
    for unit, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(rounded) >= unit:
            return f"{rounded / unit:.3g}{name}"
    return f"{rounded:g}"


def size_text(n: float, *, name: str = "n") -> str:
    """Write a sample size as figures show it, such as "n = 1,000,000"."""
    return f"{name} = {round(float(n), 1):,.10g}"


def short_name(label: Any, longest: int = 20) -> str:
    """Write a label as text, cut where it would run into its neighbour."""
    text = str(label)
    return text if len(text) <= longest else text[: longest - 1] + "…"


Place = Literal["below", "side"]

_LABEL = "veridical histogram"
# Sizes in units of the axes they are attached to.
_BELOW, _BELOW_PAD = 0.2, 0.05
_SIDE, _SIDE_PAD = 0.5, 0.17


_ROOMY = 2.6  # inches of axes from which a corner holds a legend


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


def is_small(ax: Axes) -> bool:
    """Whether axes have room for few words only, such as one of many in a figure."""
    return bool(shorter_side(ax) < _ROOMY)


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


_PANEL = 1.75  # inches of a panel in a figure of its own
_NARROWEST = 0.95  # inches that the two lines over a panel take
_ACROSS, _DOWN = 0.52, 0.66  # inches between panels; ticks and lines of text stand there
_MOST_ACROSS = ((12, 4), (36, 6), (10**9, 10))  # so many panels, so many a row


@dataclass(frozen=True)
class PanelGrid:
    """Panels in reading order, and the axes they are in."""

    ax: Axes
    axes: tuple[Axes, ...]
    n_columns: int


def figure_size(n_panels: int) -> tuple[float, float]:
    """Inches of a figure that holds so many panels."""
    if n_panels == 1:
        return 4.0, 4.2
    columns = _columns(n_panels, math.inf)
    rows = -(-n_panels // columns)
    return columns * (_PANEL + _ACROSS) + 0.7, rows * (_PANEL + _DOWN) + 0.9


def make_panels(ax: Axes, n_panels: int, *, own: bool = False) -> PanelGrid:
    """Divide the place of axes, which become invisible, into panels.

    In a figure of their `own`, which has the size of `figure_size`, a layout gives them more room
    than they have now.
    """
    if n_panels == 1:
        return PanelGrid(ax, (ax,), 1)
    box, figure = ax.get_position(original=True), ax.figure.figure
    width, height = box.width * figure.get_figwidth(), box.height * figure.get_figheight()
    columns = _columns(n_panels, math.inf if own else width)
    rows = -(-n_panels // columns)
    if own:
        width, height = (size - 0.7 for size in figure_size(n_panels))
    across, down = _ACROSS / width, min(_DOWN / height, 0.5 / rows)
    wide, tall = (1 - (columns - 1) * across) / columns, (1 - (rows - 1) * down) / rows
    ax.set_axis_off()
    panels = []
    for i in range(n_panels):
        row, column = divmod(i, columns)
        left, bottom = column * (wide + across), 1 - (row + 1) * tall - row * down
        panel = ax.inset_axes((left, bottom, wide, tall))
        panel.set_facecolor(ax.get_facecolor())
        panel.set_anchor("SW")
        panels.append(panel)
    return PanelGrid(ax, tuple(panels), columns)


def label_grid(grid: PanelGrid, *, x: str, y: str, note: str, alike: bool = True) -> None:
    """Name the axes of a grid once, and a note; ticks at its edges if all panels are `alike`."""
    if len(grid.axes) == 1:
        grid.ax.set_xlabel(f"{x}\n{note}".strip())
        grid.ax.set_ylabel(y)
        return
    for i, panel in enumerate(grid.axes):
        lowest = i + grid.n_columns >= len(grid.axes) or not alike
        first = i % grid.n_columns == 0 or not alike
        panel.tick_params(labelsize=SMALLEST, labelbottom=lowest, labelleft=first)
    text = f"{x}\n{note}".strip()
    common: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points"}
    common |= {"color": style_of(grid.ax).ink}
    grid.ax.annotate(text, (0.5, 0.0), xytext=(0, -20), ha="center", va="top", **common)
    common |= {"ha": "right", "va": "center", "rotation": 90}
    grid.ax.annotate(y, (0.0, 0.5), xytext=(-36, 0), **common)


def _columns(n_panels: int, width: float) -> int:
    fitting = math.inf if math.isinf(width) else int((width + _ACROSS) / (_NARROWEST + _ACROSS))
    most = next(across for panels, across in _MOST_ACROSS if n_panels <= panels)
    return int(max(1, min(math.ceil(math.sqrt(n_panels)), most, fitting)))
