"""A grid of square panels in the place of one pair of axes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import AutoLocator, FixedLocator

from veridical.plots._style import style_of

_PANEL = 1.55  # inches of a panel in a figure of its own
_NARROWEST = 1.15  # inches that the two lines over a panel take
_ACROSS, _DOWN = 0.2, 0.5  # inches between panels; lines of text stand between rows
_MOST_ACROSS = 4


@dataclass(frozen=True)
class Grid:
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
    return columns * (_PANEL + _ACROSS) + 0.6, rows * (_PANEL + _DOWN) + 0.7


def make_panels(ax: Axes, n_panels: int) -> Grid:
    """Divide the place of axes, which become invisible, into panels."""
    if n_panels == 1:
        return Grid(ax, (ax,), 1)
    box, figure = ax.get_position(original=True), ax.figure.figure
    width, height = box.width * figure.get_figwidth(), box.height * figure.get_figheight()
    columns = _columns(n_panels, width)
    rows = -(-n_panels // columns)
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
    return Grid(ax, tuple(panels), columns)


def label_grid(grid: Grid, *, x: str, y: str, note: str, top: float = 1.0) -> None:
    """Label the grid once: ticks at its left and lower edge, names of the axes, and a note.

    Every panel shows probabilities up to `top`.
    """
    for panel in grid.axes:
        panel.set_xlim(-0.02 * top, 1.02 * top)
        panel.set_ylim(-0.02 * top, 1.02 * top)
    if len(grid.axes) == 1:
        if top < 1:
            grid.ax.xaxis.set_major_locator(AutoLocator())
            grid.ax.yaxis.set_major_locator(AutoLocator())
        grid.ax.set_xlabel(f"{x}\n{note}".strip())
        grid.ax.set_ylabel(y)
        return
    for i, panel in enumerate(grid.axes):
        panel.xaxis.set_major_locator(FixedLocator((0.0, top / 2, top)))
        panel.yaxis.set_major_locator(FixedLocator((0.0, top / 2, top)))
        lowest = i + grid.n_columns >= len(grid.axes)
        panel.tick_params(
            labelsize="x-small", labelbottom=lowest, labelleft=i % grid.n_columns == 0
        )
    text = f"{x}\n{note}".strip()
    common: dict[str, Any] = {
        "xycoords": "axes fraction",
        "textcoords": "offset points",
        "fontsize": "small",
    }
    common |= {"color": style_of(grid.ax).ink}
    grid.ax.annotate(text, (0.5, 0.0), xytext=(0, -18), ha="center", va="top", **common)
    common |= {"ha": "right", "va": "center", "rotation": 90}
    grid.ax.annotate(y, (0.0, 0.5), xytext=(-21, 0), **common)


def _columns(n_panels: int, width: float) -> int:
    fitting = math.inf if math.isinf(width) else int((width + _ACROSS) / (_NARROWEST + _ACROSS))
    return int(max(1, min(math.ceil(math.sqrt(n_panels)), _MOST_ACROSS, fitting)))
