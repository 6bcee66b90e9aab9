"""Reliability of whole vectors: a triangle for three classes, a tetrahedron for four."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
from matplotlib import patheffects
from matplotlib.axes import Axes
from matplotlib.patches import Polygon
from mpl_toolkits.mplot3d import Axes3D  # type: ignore[import-untyped]
from mpl_toolkits.mplot3d.art3d import Line3DCollection  # type: ignore[import-untyped]

from veridical._core.data.validation import check_level, check_option
from veridical._core.numeric.triangle import HEIGHT, TRIANGLE, to_plane
from veridical._core.sample import MulticlassSample
from veridical._core.typing import ArrayLike, WeightType
from veridical.binning import Binning, SimplexBins
from veridical.exceptions import invalid
from veridical.lenses.reading import RawData
from veridical.plots._drawing import simplex as drawing
from veridical.plots._drawing.artists import Drawn
from veridical.plots._drawing.axes import size_text, styled_axes
from veridical.plots._drawing.legend import corner_text
from veridical.plots._drawing.marks import TO_SCALE
from veridical.plots._drawing.named import need_predictions
from veridical.plots._drawing.style import Style, marker_areas, style_of
from veridical.summaries import VectorSummary, summarise

_MANY = 2000  # rows from which predictions are drawn as balls that stand for several
_FINE = 12  # bins per coordinate of those


@dataclass(frozen=True, repr=False)
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
    names = drawing.corner_names(summary.classes, counts, longest=12)
    frame = _draw_frame(axes, names, style, coloured=single)
    shafts, tails, bar = None, None, None
    points: tuple[Any, ...] = ()
    text = size_text(summary.count.sum())
    if sample is not None:
        points = _draw_points_in_space(axes, sample, style)
    if arrows:
        tail, head = drawing.to_space(summary.mean_p), drawing.to_space(summary.mean_y)
        colours, norm = drawing.mass_colours(style), drawing.mass_norm(summary.count)
        ends = np.stack([tail, head], axis=1)
        # Cells of few rows, whose lines are long by chance, are thin and faint.
        share = np.sqrt(summary.count / summary.count.max())
        shafts = Line3DCollection(ends, cmap=colours, norm=norm, linewidths=0.5 + 2.5 * share)
        shafts.set_array(summary.count)
        axes.add_collection3d(shafts)
        look: dict[str, Any] = {"cmap": colours, "norm": norm, "depthshade": False}
        tails = axes.scatter(*tail.T, c=summary.count, s=6 + 44 * share, linewidths=0, **look)
        bar = drawing.mass_bar(axes, shafts, style, "rows\nper cell")
        text += f"\n{len(summary.count):,} cells\ndot: predicted\nend: observed"
    size = corner_text(axes, text, style, linespacing=1.35)
    return TetrahedronArtists(axes, summary, frame, shafts, tails, points, bar, size)


def _axes_of_space(ax: Any) -> Any:
    if ax is None:
        from matplotlib import pyplot

        figure = pyplot.figure(figsize=(6.0, 5.4), layout="constrained")
        return figure.add_subplot(projection="3d")
    if not isinstance(ax, Axes3D):
        hint = 'four classes need `plt.figure().add_subplot(projection="3d")`.'
        raise invalid(_CALLER, "ax", "an Axes3D or None", type(ax).__name__, hint=hint)
    return ax


def _draw_frame(ax: Any, names: Sequence[str], style: Style, *, coloured: bool) -> Any:
    edges = [drawing.TETRAHEDRON[list(pair)] for pair in combinations(range(4), 2)]
    frame = Line3DCollection(edges, colors=style.muted, linewidths=1.0)
    ax.add_collection3d(frame)
    middle = drawing.TETRAHEDRON.mean(axis=0)
    halo = [patheffects.withStroke(linewidth=2.5, foreground=style.ground)]
    for index, (corner, name) in enumerate(zip(drawing.TETRAHEDRON, names, strict=True)):
        x, y, z = middle + 1.12 * (corner - middle)
        ink = style.colour(index) if coloured else style.ink
        across, along = ("left", "right", "left", "center")[index], "top" if index < 2 else "center"
        look = {"color": ink, "fontsize": "large", "path_effects": halo, "zorder": 100}
        ax.text(x, y, z, name, ha=across, va=along, **look)
    ax.set(xlim=(0, 1), ylim=(0, HEIGHT), zlim=(0, HEIGHT))
    ax.set_box_aspect((1, HEIGHT, HEIGHT), zoom=1.05)
    ax.view_init(elev=18, azim=-76)
    ax.set_axis_off()
    return frame


def _draw_points_in_space(ax: Any, sample: MulticlassSample, style: Style) -> tuple[Any, ...]:
    common: dict[str, Any] = {"linewidths": 0, "depthshade": False}
    if sample.n > _MANY:
        cells = summarise(sample, SimplexBins(_FINE))
        x, y, z = drawing.to_space(cells.mean_p).T
        areas = marker_areas(cells.count, smallest=2.0, largest=90.0)
        return (ax.scatter(x, y, z, s=areas, color=style.colour(0), alpha=0.25, **common),)
    drawn = []
    for index in range(4):
        x, y, z = drawing.to_space(sample.p[sample.y == index]).T
        look = {"color": style.colour(index), "marker": style.marker(index)}
        area = 20 if sample.n <= 300 else 8
        drawn.append(ax.scatter(x, y, z, s=area, alpha=0.6, **look, **common))
    return tuple(drawn)


MANY = 5000  # rows from which predictions are drawn as a density, not one by one
_CALLER = "simplex"
Shown = Literal["arrows", "predictions", "both"]


@dataclass(frozen=True, repr=False)
class SimplexArtists(Drawn):
    """Artists of a triangle; None for what was not asked for.

    Attributes
    ----------
    ax : the axes drawn on
    summary : the cells, with every number
    frame : sides of the triangle and lines where cells end, or every 0.2
    arrows : from the mean prediction of each cell to its class frequencies
    regions : ellipses of what chance alone would show
    points : predictions one by one, one collection a class
    density : predictions counted in hexagons
    colorbar : key of the colours
    size : text with the number of rows
    """

    summary: VectorSummary
    frame: Any
    arrows: Any = None
    regions: Any = None
    points: tuple[Any, ...] = ()
    density: Any = None
    colorbar: Any = None
    size: Any = None


def simplex(
    y_true: ArrayLike | VectorSummary,
    y_prob: ArrayLike | None = None,
    *,
    show: Shown = "arrows",
    variability: bool = False,
    lens: Any = None,
    n_bins: int | None = None,
    binning: Binning | None = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    weight_type: WeightType = "importance",
    confidence_level: float = 0.95,
    ax: Axes | None = None,
) -> SimplexArtists | TetrahedronArtists:
    """Draw mean predictions and class frequencies of each cell of the simplex (002 Fig. 1).

    An arrow starts at the mean prediction of a cell and ends at the frequencies observed there: a
    calibrated model has short arrows in no common direction. Colour is the number of rows.

    Parameters
    ----------
    y_true : array-like of shape (n,), or VectorSummary
        Outcomes, or the sums of each cell (then `y_prob` is left out).
    y_prob : array-like of shape (n, K)
        Predictions of three or four classes, or of more with a lens that merges them.
    show : {"arrows", "predictions", "both"}, default "arrows"
        Predictions are drawn one by one, coloured by outcome, up to 5,000 rows; beyond that their
        density.
    variability : bool, default False
        Draw around each arrow's tail where its head would be, by chance, for a calibrated model
        with probability `confidence_level`: arrows that stay inside say nothing.
    lens : lens or callable, optional
        Default the whole vector. ``Grouped([[0, 1], [2, 3, 4], [5]])`` merges classes to three,
        ``TopK(2)`` asks about the first, the second and all other guesses.
    n_bins : int, optional
        Bins per coordinate of the uniform grid of cells; default as many as leave about 30 rows
        to a cell, between 2 and 8 (4 for four classes).
    binning : Binning, optional
        Other cells, e.g. ``VarianceSplitBins(200)``, which follow the data.
    labels, sample_weight, weight_type
        As in :func:`veridical.reliability_curve`.
    confidence_level : float, default 0.95
        Of the regions of `variability`.
    ax : Axes, optional
        Drawn on; default a new figure. For four classes an `Axes3D`.

    Returns
    -------
    SimplexArtists or TetrahedronArtists
        The artists; a tetrahedron for four classes.

    Notes
    -----
    Arrows of cells with few rows are long by chance: look at the colour, or at `variability`.
    Time O(n); never more than 5,000 marks.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> p = [[0.75, 0.125, 0.125], [0.25, 0.625, 0.125], [0.125, 0.125, 0.75]]
    >>> drawn = simplex([0, 1, 0], p, ax=Figure().subplots())
    >>> drawn.arrows.U.round(4).tolist(), drawn.arrows.V.round(3).tolist()
    ([-0.5, 0.3125, -0.1875], [-0.65, -0.108, -0.108])
    """
    check_option(_CALLER, "show", show, ("arrows", "predictions", "both"))
    level = check_level(_CALLER, confidence_level)
    sample: MulticlassSample | None = None
    if isinstance(y_true, VectorSummary):
        summary = y_true
        if show != "arrows":
            hint = "pass `y_true` and `y_prob`: a summary has no single predictions."
            raise invalid(_CALLER, "show", '"arrows" for a summary', repr(show), hint=hint)
    else:
        need_predictions(y_prob, "a VectorSummary", caller=_CALLER)
        data = RawData(y_true, y_prob, labels=labels).weighted(sample_weight, weight_type)
        sample = _check_problem(data, lens)
        binning = binning or SimplexBins(n_bins or _grid_of(sample))
        summary = summarise(sample, binning)
    n_classes = len(summary.classes)
    if n_classes == 4:
        return draw_tetrahedron(
            summary, None if show == "arrows" else sample, arrows=show != "predictions", ax=ax
        )
    if n_classes != 3:
        raise _not_three(n_classes)
    # Lines where cells end, if they are a grid that can be seen.
    parts = binning.n if isinstance(binning, SimplexBins) and binning.n <= _MOST_LINES else 5
    return _draw(summary, sample, show, level if variability else None, ax, parts)


_MOST_LINES = 12  # parts of a side whose lines can be told apart


def _check_problem(data: RawData, lens: Any) -> MulticlassSample:
    problem = data.through(lens, caller=_CALLER, whole=True).problem
    if not isinstance(problem, MulticlassSample):
        raise _not_three(2)
    return problem


def _not_three(n_classes: int) -> Exception:
    hint = "merge classes, e.g. `lens=Grouped([[0, 1], [2, 3], [4]])`, or use `lens=TopK(2)`."
    if n_classes == 2:
        hint = "draw two classes with `plots.reliability`."
    return invalid(_CALLER, "y_prob", "of three or four classes", f"{n_classes}", hint=hint)


def _grid_of(sample: MulticlassSample) -> int:
    """Bins per coordinate such that n_bins^(K-1) / (K-2)! cells of 30 rows hold the sample."""
    free = len(sample.classes) - 1
    if free > 3:
        raise _not_three(free + 1)
    full = (sample.size / 30 * math.factorial(free - 1)) ** (1 / free)
    return int(min(max(full + 1e-9, 2), 8 if free == 2 else 4))


def _draw(
    summary: VectorSummary,
    sample: MulticlassSample | None,
    show: Shown,
    level: float | None,
    ax: Axes | None,
    parts: int,
) -> SimplexArtists:
    axes, style = styled_axes(ax, (5.2, 5.0), caller=_CALLER)
    arrows: Any = None
    regions: Any = None
    density: Any = None
    bar: Any = None
    points: tuple[Any, ...] = ()
    lines = [size_text(summary.count.sum())]
    if sample is not None and show != "arrows" and sample.n <= MANY:
        names = drawing.corner_names(summary.classes, np.bincount(sample.y, minlength=3))
        frame = drawing.draw_triangle(axes, names, style, colours=style.colours[:3], parts=parts)
        points = _draw_points(axes, sample, style)
        lines.append("colour: what\nhappened")
    else:
        names = drawing.corner_names(summary.classes)
        frame = drawing.draw_triangle(axes, names, style, parts=parts)
        if sample is not None and show != "arrows":
            density = _draw_density(axes, sample, style, behind=show == "both")
            bar = drawing.mass_bar(axes, density, style, "rows per\nhexagon")
    if show != "predictions":
        if level is not None:
            regions = drawing.chance_regions(axes, summary, to_plane(summary.mean_p), level, style)
            lines.append(f"rings: {100 * level:g} %\nby chance")
        coloured = density is None and not points  # else colour already has a meaning
        arrows = _draw_arrows(axes, summary, style, coloured=coloured)
        if coloured:
            bar = drawing.mass_bar(axes, arrows, style, "rows\nper cell")
        lines.insert(1, f"{len(summary.count):,} cells")
    text = corner_text(axes, "\n".join(lines), style, linespacing=1.35)
    return SimplexArtists(axes, summary, frame, arrows, regions, points, density, bar, text)


def _draw_arrows(ax: Axes, summary: VectorSummary, style: Style, *, coloured: bool) -> Any:
    tail, head = to_plane(summary.mean_p), to_plane(summary.mean_y)
    heads: dict[str, Any] = {"headwidth": 3.6, "headlength": 4, "headaxislength": 3.6}
    look: dict[str, Any] = {"width": 0.007, "minlength": 0.5, "color": style.ink, "zorder": 3}
    arrows = ax.quiver(*tail.T, *(head - tail).T, **TO_SCALE, **heads, **look)
    if coloured:
        arrows.set(
            array=summary.count,
            cmap=drawing.mass_colours(style),
            norm=drawing.mass_norm(summary.count),
        )
    return arrows


def _draw_points(ax: Axes, sample: MulticlassSample, style: Style) -> tuple[Any, ...]:
    """Predictions with the colour and the marker of the class that occurred."""
    x, y = to_plane(sample.p).T
    area = 26 if sample.n <= 300 else 9
    drawn = []
    for index in range(3):
        mine = sample.y == index
        look: dict[str, Any] = {"marker": style.marker(index), "color": style.colour(index)}
        drawn.append(
            ax.scatter(x[mine], y[mine], s=area, alpha=0.6, linewidths=0, zorder=2.2, **look)
        )
    return tuple(drawn)


def _draw_density(ax: Axes, sample: MulticlassSample, style: Style, *, behind: bool) -> Any:
    x, y = to_plane(sample.p).T
    grid: dict[str, Any] = {"gridsize": 45, "extent": (0.0, 1.0, 0.0, 0.9), "mincnt": 1}
    look: dict[str, Any] = {"cmap": drawing.mass_colours(style), "linewidths": 0.1, "zorder": 1}
    density = ax.hexbin(x, y, bins="log", alpha=0.5 if behind else None, **grid, **look)
    density.set_clip_path(Polygon(TRIANGLE, transform=ax.transData))
    return density
