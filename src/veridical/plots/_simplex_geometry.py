"""The triangle and the tetrahedron: where a probability vector lies, and their frames."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.tri import Triangulation

from veridical._core.typing import FloatArray, IntArray
from veridical.plots._style import Style

HEIGHT = math.sqrt(3) / 2  # of a triangle with sides of length one
TRIANGLE: FloatArray = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, HEIGHT]])
TETRAHEDRON: FloatArray = np.array(
    [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, HEIGHT, 0.0], [0.5, HEIGHT / 3, math.sqrt(2 / 3)]]
)
_LINES = (0.2, 0.4, 0.6, 0.8)
_GLYPHS = ("\u25cf", "\u25a0", "\u25b2", "\u25c6")  # the first markers of `Style.marker`, as text


def to_plane(p: FloatArray) -> FloatArray:
    """Points of the triangle: class 0 bottom left, class 1 bottom right, class 2 on top.

    Examples
    --------
    >>> to_plane(np.array([[1, 0, 0], [0.5, 0.5, 0]])).tolist()
    [[0.0, 0.0], [0.5, 0.0]]
    """
    return np.asarray(p, dtype=np.float64) @ TRIANGLE


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
    lines: bool = True,
) -> LineCollection:
    """Draw sides, a line every fifth, and the name of each class at its corner."""
    segments = [TRIANGLE[[0, 1]], TRIANGLE[[1, 2]], TRIANGLE[[2, 0]]]
    for share in _LINES if lines else ():
        for corner in range(3):
            ends = np.zeros((2, 3))
            ends[:, corner] = share
            ends[0, corner - 1] = ends[1, corner - 2] = 1 - share
            segments.append(to_plane(ends))
    width = [1.0] * 3 + [0.6] * (len(segments) - 3)
    shades = [style.ink] * 3 + [style.faint] * (len(segments) - 3)
    frame = LineCollection(segments, colors=shades, linewidths=width, zorder=1.5)
    ax.add_collection(frame)
    places = (
        (-0.03, -0.03, "left", "top"),
        (1.03, -0.03, "right", "top"),
        (0.5, HEIGHT + 0.02, "center", "bottom"),
    )
    inks = colours or [style.ink] * 3
    for name, ink, (x, y, across, along) in zip(names, inks, places, strict=True):
        ax.text(x, y, name, ha=across, va=along, color=ink, fontsize=9)
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


def short_name(label: Any, longest: int = 20) -> str:
    """Write a label as text, cut where it would run into its neighbour."""
    text = str(label)
    return text if len(text) <= longest else text[: longest - 1] + "…"
