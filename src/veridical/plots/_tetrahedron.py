"""Four classes: the simplex as a tetrahedron."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from matplotlib import patheffects
from mpl_toolkits.mplot3d import Axes3D  # type: ignore[import-untyped]
from mpl_toolkits.mplot3d.art3d import Line3DCollection  # type: ignore[import-untyped]

from veridical._core.sample import MulticlassSample
from veridical.binning import SimplexBins
from veridical.exceptions import invalid
from veridical.plots._axes import size_text
from veridical.plots._drawn import Drawn
from veridical.plots._simplex_geometry import HEIGHT, TETRAHEDRON, corner_names, to_space
from veridical.plots._simplex_marks import mass_bar, mass_colours, mass_norm
from veridical.plots._style import Style, marker_areas, style_of
from veridical.summaries import VectorSummary, summarise

_CALLER = "simplex"
_MANY = 2000  # rows from which predictions are drawn as balls that stand for several
_FINE = 12  # bins per coordinate of those


@dataclass(frozen=True)
class TetrahedronArtists(Drawn):
    """Artists of a tetrahedron; None for what was not asked for.

    Attributes
    ----------
    ax : the axes drawn on, of three dimensions
    summary : the cells, with every number
    frame : edges of the tetrahedron
    shafts : from the mean prediction of each cell to its class frequencies
    tails : mean predictions of the cells
    points : predictions, one collection a class, or balls whose area is the number of rows
    colorbar : key of the colours
    size : text with the number of rows
    """

    summary: VectorSummary
    frame: Any
    shafts: Any = None
    tails: Any = None
    points: tuple[Any, ...] = ()
    colorbar: Any = None
    size: Any = None


def draw_tetrahedron(
    summary: VectorSummary, sample: MulticlassSample | None, *, arrows: bool, ax: Any
) -> TetrahedronArtists:
    """Draw the cells as lines from prediction (dot) to frequency, and single predictions."""
    axes = _axes_of_space(ax)
    style = style_of(axes)
    single = sample is not None and sample.n <= _MANY
    counts = np.bincount(sample.y, minlength=4) if sample is not None and single else None
    names = corner_names(summary.classes, counts, longest=12)
    frame = _draw_frame(axes, names, style, coloured=single)
    shafts, tails, bar = None, None, None
    points: tuple[Any, ...] = ()
    text = size_text(summary.count.sum())
    if sample is not None:
        points = _draw_points(axes, sample, style)
    if arrows:
        tail, head = to_space(summary.mean_p), to_space(summary.mean_y)
        colours, norm = mass_colours(style), mass_norm(summary.count)
        shafts = Line3DCollection(
            np.stack([tail, head], axis=1), cmap=colours, norm=norm, linewidths=1.6
        )
        shafts.set_array(summary.count)
        axes.add_collection3d(shafts)
        tails = axes.scatter(
            *tail.T, c=summary.count, cmap=colours, norm=norm, s=10, depthshade=False
        )
        bar = mass_bar(axes, shafts, style, "rows\nper cell")
        text += f"\n{len(summary.count):,} cells\ndot: predicted\nend: observed"
    size = axes.text2D(
        0.0, 1.0, text, transform=axes.transAxes, ha="left", va="top", color=style.ink,
        fontsize=8, linespacing=1.35,
    )  # fmt: skip
    return TetrahedronArtists(axes, summary, frame, shafts, tails, points, bar, size)


def _axes_of_space(ax: Any) -> Any:
    if ax is None:
        from matplotlib import pyplot

        figure = pyplot.figure(figsize=(4.6, 4.4), layout="constrained")
        return figure.add_subplot(projection="3d")
    if not isinstance(ax, Axes3D):
        hint = 'four classes need `plt.figure().add_subplot(projection="3d")`.'
        raise invalid(_CALLER, "ax", "an Axes3D or None", type(ax).__name__, hint=hint)
    return ax


def _draw_frame(ax: Any, names: Sequence[str], style: Style, *, coloured: bool) -> Any:
    edges = [TETRAHEDRON[list(pair)] for pair in combinations(range(4), 2)]
    frame = Line3DCollection(edges, colors=style.muted, linewidths=0.8)
    ax.add_collection3d(frame)
    middle = TETRAHEDRON.mean(axis=0)
    halo = [patheffects.withStroke(linewidth=2.5, foreground=style.ground)]
    for index, (corner, name) in enumerate(zip(TETRAHEDRON, names, strict=True)):
        x, y, z = middle + 1.12 * (corner - middle)
        ink = style.colour(index) if coloured else style.ink
        across = ("left", "right", "left", "center")[index]
        ax.text(
            x, y, z, name, ha=across, va="top" if index < 2 else "center", color=ink, fontsize=9,
            path_effects=halo, zorder=100,
        )  # fmt: skip
    ax.set(xlim=(0, 1), ylim=(0, HEIGHT), zlim=(0, HEIGHT))
    ax.set_box_aspect((1, HEIGHT, HEIGHT), zoom=1.15)
    ax.view_init(elev=16, azim=-100)
    ax.set_axis_off()
    return frame


def _draw_points(ax: Any, sample: MulticlassSample, style: Style) -> tuple[Any, ...]:
    common: dict[str, Any] = {"linewidths": 0, "depthshade": False}
    if sample.n > _MANY:
        cells = summarise(sample, SimplexBins(_FINE))
        x, y, z = to_space(cells.mean_p).T
        areas = marker_areas(cells.count, smallest=2.0, largest=90.0)
        return (ax.scatter(x, y, z, s=areas, color=style.colour(0), alpha=0.25, **common),)
    drawn = []
    for index in range(4):
        x, y, z = to_space(sample.p[sample.y == index]).T
        look = {"color": style.colour(index), "marker": style.marker(index)}
        area = 20 if sample.n <= 300 else 8
        drawn.append(ax.scatter(x, y, z, s=area, alpha=0.6, **look, **common))
    return tuple(drawn)
