"""Several small axes in one figure, described as data: lines, bands, points and bars.

Small files that are the same whenever they are drawn by the same version of matplotlib.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Figure  # experiments name the type
from matplotlib.ticker import FuncFormatter

from veridical.plots.drawing import Style, set_frame, short_count, style_of
from veridical_lab.arrays import ArrayLike

PanelKind = Literal["linear", "log", "log x", "probability x", "square", "unit"]
_LEGEND_SIZE, _LABEL_SIZE, _TITLE_SIZE = 9.0, 10.0, 10.0
_LEGEND_ROW = 0.2  # inches
_FEW_DECADES = 1.5
_TINY = 4.0  # size of points that are not seen in a legend


@dataclass(frozen=True)
class Line:
    """A line, with markers if asked; `colour` is the number of a series, None for the next one."""

    x: ArrayLike
    y: ArrayLike
    label: str = ""
    colour: int | None = None
    dash: int = 0
    markers: bool = False
    muted: bool = False


@dataclass(frozen=True)
class Band:
    """The area between two lines."""

    x: ArrayLike
    low: ArrayLike
    high: ArrayLike
    label: str = ""
    colour: int | None = None


@dataclass(frozen=True)
class Points:
    """Points, with limits from `low` to `high` if given."""

    x: ArrayLike
    y: ArrayLike
    label: str = ""
    colour: int | None = None
    low: ArrayLike | None = None
    high: ArrayLike | None = None
    size: float = 14.0


@dataclass(frozen=True)
class Bars:
    """Bars from 0 between `edges` (one more than heights)."""

    edges: ArrayLike
    heights: ArrayLike
    label: str = ""
    colour: int | None = None
    outline: bool = False


Mark = Line | Band | Points | Bars


def marked_lines(x: ArrayLike, curves: Mapping[str, ArrayLike], muted: str = "") -> list[Line]:
    """Return a line with markers for each of some curves, named and coloured in their order."""
    return [
        Line(x, y, name, colour, markers=True, muted=name == muted)
        for colour, (name, y) in enumerate(curves.items())
    ]


@dataclass(frozen=True)
class Panel:
    """One small axes.

    Attributes
    ----------
    marks : what is drawn
    title, x_label, y_label : its texts
    kind : "linear"; logarithms on both axes ("log") or across ("log x"); probabilities across
        ("probability x"), or on both axes with the diagonal ("square"); "unit" is such a square
        cut off at 0 and 1
    legend : whether the panel has one of its own
    x_limits, y_limits : ends of the axes
    names : what stands at 0, 1, ... of the x axis instead of these numbers
    """

    marks: Sequence[Mark]
    title: str = ""
    x_label: str = ""
    y_label: str = ""
    kind: PanelKind = "linear"
    legend: bool = False
    x_limits: tuple[float, float] | None = None
    y_limits: tuple[float, float] | None = None
    names: Sequence[str] = ()


def draw_panels(
    panels: Sequence[Panel],
    *,
    columns: int = 3,
    size: tuple[float, float] = (2.9, 2.5),
    legend: bool = False,
) -> Figure:
    """Draw panels row by row; `legend` puts one below for all of them.

    Examples
    --------
    >>> panel = Panel([Line([0, 1], [0, 2], "twice")], title="a line")
    >>> [ax.get_title() for ax in draw_panels([panel, panel], columns=2).axes]
    ['a line', 'a line']
    """
    columns = min(columns, len(panels))
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(size[0] * columns, size[1] * rows), layout="constrained")
    grid = np.atleast_1d(figure.subplots(rows, columns, squeeze=False)).ravel()
    for panel, ax in zip(panels, grid, strict=False):
        _draw(panel, ax)
    for ax in grid[len(panels) :]:
        ax.remove()
    if legend:
        _common_legend(figure, columns)
    return figure


def _draw(panel: Panel, ax: Axes) -> None:
    style = style_of(ax)
    if panel.kind in ("square", "unit"):
        ax.plot([0, 1], [0, 1], color=style.muted, linewidth=1, zorder=1)
    following = 0
    for mark in panel.marks:
        colour = getattr(mark, "colour", 0)
        if colour is None:
            colour, following = following, following + 1
        _add(mark, ax, style, colour)
    _scale(panel, ax)
    ax.set_title(panel.title, fontsize=_TITLE_SIZE)
    ax.set_xlabel(panel.x_label, fontsize=_LABEL_SIZE)
    ax.set_ylabel(panel.y_label, fontsize=_LABEL_SIZE)
    ax.tick_params(labelsize=_LABEL_SIZE - 1, which="both")
    if panel.names:
        ax.set_xticks(range(len(panel.names)), panel.names, rotation=45, ha="right")
    if panel.legend:
        ax.legend(fontsize=_LEGEND_SIZE, frameon=False)


def _add(mark: Mark, ax: Axes, style: Style, number: int) -> None:
    colour, label = style.colour(number), mark.label or None
    match mark:
        case Line():
            look: dict[str, Any] = {"linestyle": style.line(mark.dash), "linewidth": 1.4}
            look |= {"marker": style.marker(number) if mark.markers else None, "markersize": 3.5}
            look["color"] = style.muted if mark.muted else colour
            ax.plot(np.asarray(mark.x), np.asarray(mark.y), label=label, **look)
        case Band():
            x, low, high = (np.asarray(values) for values in (mark.x, mark.low, mark.high))
            ax.fill_between(x, low, high, linewidth=0, color=colour, alpha=0.2, label=label)
        case Points():
            x, y = np.asarray(mark.x, dtype=np.float64), np.asarray(mark.y, dtype=np.float64)
            if mark.low is not None and mark.high is not None:
                bars = mark.size < _TINY  # the point only marks their place: name the bars
                named = mark.label if bars else ""
                ax.vlines(x, mark.low, mark.high, color=colour, linewidth=1, label=named)
                label = None if bars else label
            look = {"marker": style.marker(number), "color": colour, "linewidths": 0, "zorder": 3}
            ax.scatter(x, y, s=mark.size, label=label, **look)
        case Bars():
            edges = np.asarray(mark.edges, dtype=np.float64)
            look = {"facecolor": colour, "edgecolor": style.ground, "linewidth": 0.4, "alpha": 0.7}
            if mark.outline:
                look = {"facecolor": "none", "edgecolor": colour, "linewidth": 1.0, "alpha": 1.0}
            heights, widths = np.asarray(mark.heights), np.diff(edges)
            ax.bar(edges[:-1], heights, widths, align="edge", label=label, **look)


def _scale(panel: Panel, ax: Axes) -> None:
    if panel.kind == "square":
        set_frame(ax)
    elif panel.kind == "probability x":
        set_frame(ax, "x")
    elif panel.kind == "unit":
        ax.set_xlim(0, 1)
        ax.set_ylim(0, 1)
    elif panel.kind in ("log", "log x"):
        ax.set_xscale("log")
        _log_labels(ax.xaxis)
        if panel.kind == "log":
            ax.set_yscale("log")
            _log_labels(ax.yaxis)
    if panel.x_limits is not None:
        ax.set_xlim(*panel.x_limits)
    if panel.y_limits is not None:
        ax.set_ylim(*panel.y_limits)


def _log_labels(axis: Any) -> None:
    """Numbers without exponents; between powers of ten only where few of these are in sight."""

    def short(value: float) -> str:
        return short_count(value) if value >= 1 else f"{value:g}"

    def between(value: float) -> str:
        low, high = axis.get_view_interval()
        decades = np.log10(high / low)
        if decades > _FEW_DECADES:
            return ""
        return short(value) if decades < 0.5 or f"{value:.0e}"[0] in "25" else ""

    axis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
    axis.set_minor_formatter(FuncFormatter(lambda value, _: between(value)))


def _common_legend(figure: Figure, columns: int) -> None:
    """One legend of every label that occurs, below all panels."""
    known: dict[str, Any] = {}
    for ax in figure.axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            known.setdefault(label, handle)
    if not known:
        return
    across = min(len(known), max(2, 2 * columns))
    width, height = figure.get_size_inches()
    figure.set_size_inches(width, height + _LEGEND_ROW * -(-len(known) // across))
    look: dict[str, Any] = {"fontsize": _LEGEND_SIZE, "frameon": False, "ncols": across}
    figure.legend(list(known.values()), list(known), loc="outside lower center", **look)


_DPI = 110
_COLOURS = 256


def save_picture(figure: Figure, path: Path, *, tight: bool = False) -> None:
    """Write a figure as PNG of few colours, without date or version in it.

    `tight` cuts the figure to what was drawn, as notebooks do.
    """
    from PIL import Image  # which matplotlib needs too

    drawn = io.BytesIO()
    box = "tight" if tight else None
    figure.savefig(drawn, dpi=_DPI, format="png", metadata={"Software": None}, bbox_inches=box)
    # This method keeps rare colours, such as the ends of a colour bar.
    few = (
        Image.open(drawn)
        .convert("RGB")
        .quantize(colors=_COLOURS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    )
    few.save(path, format="PNG", optimize=True)
