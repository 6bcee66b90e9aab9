"""Frames of the triangle and the tetrahedron, and marks of their cells.

Marks say how many rows a cell has, and how far chance alone moves them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import EllipseCollection, LineCollection
from matplotlib.colorbar import Colorbar
from matplotlib.colors import Colormap, ListedColormap, LogNorm, Normalize, to_rgb
from matplotlib.patches import Polygon
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter, NullLocator
from matplotlib.tri import Triangulation

from veridical._core.numeric import triangle
from veridical._core.numeric.triangle import HEIGHT, TRIANGLE, to_plane
from veridical._core.typing import FloatArray, IntArray
from veridical.plots._drawing.axes import short_count, short_name
from veridical.plots._drawing.style import SMALLEST, Style
from veridical.summaries import VectorSummary

TETRAHEDRON: FloatArray = np.array(
    [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, HEIGHT, 0.0], [0.5, HEIGHT / 3, math.sqrt(2 / 3)]]
)
_GLYPHS = ("\u25cf", "\u25a0", "\u25b2", "\u25c6")  # the first markers of `Style.marker`, as text


def to_space(p: FloatArray) -> FloatArray:
    """Points of the tetrahedron whose corners are the four classes."""
    return np.asarray(p, dtype=np.float64) @ TETRAHEDRON


def lattice(n: int) -> tuple[FloatArray, Triangulation]:
    """Probability vectors on a triangular grid with n steps a side, and the triangles they form.

    Examples
    --------
    >>> p, triangles = lattice(2)
    >>> len(p), len(triangles.triangles)
    (6, 4)
    """
    first, second = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    inside = first + second <= n
    i, j = first[inside], second[inside]
    number: IntArray = np.full((n + 2, n + 2), -1)
    number[i, j] = np.arange(len(i))
    up = i + j < n
    corners = [number[i[up], j[up]], number[i[up] + 1, j[up]], number[i[up], j[up] + 1]]
    down = i + j < n - 1
    a, b = i[down], j[down]
    others = [number[a + 1, b + 1], number[a, b + 1], number[a + 1, b]]
    cells = np.concatenate([np.column_stack(corners), np.column_stack(others)])
    p = np.column_stack([n - i - j, i, j]) / n
    x, y = to_plane(p).T
    return p, Triangulation(x, y, cells)


def draw_triangle(
    ax: Axes,
    names: Sequence[str],
    style: Style,
    *,
    colours: Sequence[str] | None = None,
    parts: int = 5,
) -> LineCollection:
    """Draw sides, lines that cut them into parts, and the name of each class at its corner."""
    inner = triangle.triangle_lines(parts)
    widths, shades = [1.0] * 3 + [0.6] * len(inner), [style.ink] * 3 + [style.faint] * len(inner)
    segments = [*triangle.triangle_sides(), *inner]
    frame = LineCollection(segments, colors=shades, linewidths=widths, zorder=1.5)
    ax.add_collection(frame)
    places = (
        (-0.03, -0.03, "left", "top"),
        (1.03, -0.03, "right", "top"),
        (0.5, HEIGHT + 0.02, "center", "bottom"),
    )
    inks = colours or [style.ink] * 3
    for name, ink, (x, y, across, along) in zip(names, inks, places, strict=True):
        ax.text(x, y, name, ha=across, va=along, color=ink)
    ax.set_xlim(-0.05, 1.05)
    ax.set_ylim(-0.12, HEIGHT + 0.11)
    ax.set_aspect("equal", adjustable="box")
    ax.set_axis_off()
    return frame


def corner_names(
    classes: Sequence[Any], counts: IntArray | None = None, *, longest: int = 20
) -> list[str]:
    """Names of the corners; with `counts` also the mark of each class and its rows."""
    if counts is None:
        return [short_name(label, longest) for label in classes]
    marks = zip(_GLYPHS, classes, counts, strict=False)
    return [f"{glyph} {short_name(label, 10)} ({count:,})" for glyph, label, count in marks]


_SPREAD = 20  # ratio of largest to smallest count from which colours follow the logarithm


def mass_colours(style: Style) -> Colormap:
    """Colours for counts: few rows near the ground, many far from it, none invisible.

    One hue whose contrast with the ground grows, so that a cell of one row is the faintest.
    """
    ground, hue = np.array(style.ground), np.array(to_rgb(style.colour(0)))
    full = np.array(to_rgb("#FFFFFF" if style.dark else "#00203A"))
    share = np.linspace(0.0, 1.0, 256)[:, None]
    faint = ground + 0.3 * (hue - ground)
    lower, upper = faint + 2 * share * (hue - faint), hue + (2 * share - 1) * (full - hue)
    return ListedColormap(np.where(share < 0.5, lower, upper))


def mass_norm(count: FloatArray) -> Normalize:
    """Scale of the counts: logarithmic where they differ much."""
    low, high = float(np.min(count)), float(np.max(count))
    if low > 0 and high / low >= _SPREAD:
        return LogNorm(low, high)
    return Normalize(0.0, high)


def mass_bar(ax: Axes, mappable: ScalarMappable, style: Style, name: str) -> Colorbar:
    """Key of the colours, in the corner a triangle leaves empty."""
    inset = ax.inset_axes((0.79, 0.66, 0.035, 0.24))
    bar = ax.figure.figure.colorbar(mappable, cax=inset)
    inset.set_title(name, fontsize=SMALLEST, color=style.ink, loc="left", pad=4)
    if isinstance(mappable.norm, LogNorm):
        low, high = np.log10([mappable.norm.vmin or 1.0, mappable.norm.vmax or 1.0])
        powers = 10.0 ** np.arange(math.ceil(low), math.floor(high) + 1)
        bar.set_ticks(list(powers) if len(powers) > 1 else [10**low, 10**high])
    else:
        bar.locator = MaxNLocator(3, integer=True)
        bar.update_ticks()
    inset.yaxis.set_minor_locator(NullLocator())
    inset.yaxis.set_minor_formatter(NullFormatter())
    inset.yaxis.set_major_formatter(FuncFormatter(lambda value, _: short_count(value)))
    inset.tick_params(labelsize=SMALLEST, colors=style.ink, length=2)
    bar.outline.set_edgecolor(style.muted)
    return bar


def chance_regions(
    ax: Axes, summary: VectorSummary, xy: FloatArray, level: float, style: Style
) -> EllipseCollection:
    """Ellipses that hold the observed frequencies of a calibrated model with probability `level`.

    By the normal approximation of the multinomial distribution of the mean prediction m of the
    cell, with covariance (diag(m) - m m') / n. Predictions that vary within the cell vary the
    frequencies less, so the regions are slightly too large; with a handful of rows they are rough.
    """
    mean = summary.mean_p
    spread = np.einsum("ck,kl->ckl", mean, np.eye(3)) - mean[:, :, None] * mean[:, None, :]
    plane = np.einsum("kx,ckl,ly->cxy", TRIANGLE, spread, TRIANGLE)
    variance, direction = np.linalg.eigh(plane / summary.size[:, None, None])
    # The squared distance of two normal coordinates is exponential: P(d^2 <= r^2) = 1 - exp(-r^2/2)
    axes = 2 * math.sqrt(-2 * math.log1p(-level)) * np.sqrt(np.maximum(variance, 0.0))
    angle = np.degrees(np.arctan2(direction[:, 1, 1], direction[:, 0, 1]))
    place: dict[str, Any] = {"units": "xy", "offsets": xy, "offset_transform": ax.transData}
    look: dict[str, Any] = {"facecolors": "none", "edgecolors": style.muted, "linewidths": 0.8}
    regions = EllipseCollection(axes[:, 1], axes[:, 0], angle, zorder=2, **place, **look)
    ax.add_collection(regions)
    regions.set_clip_path(Polygon(TRIANGLE, transform=ax.transData))
    return regions
