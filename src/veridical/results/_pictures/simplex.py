"""Predictions of three classes in a triangle."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from veridical._core.drawing.picture import Panel, Picture
from veridical._core.drawing.scales import Scale
from veridical._core.drawing.words import BOLD, LINE, SIZE, count_text, cut, wrap
from veridical._core.numeric import triangle
from veridical._core.typing import FloatArray

_SHOWN = 0.98  # share of the rows whose cells have arrows: the others are long by chance


def simplex(
    names: Sequence[str],
    predicted: FloatArray,
    observed: FloatArray,
    count: FloatArray,
    *,
    width: float = 460,
    title: str = "Predicted and observed, three classes at once",
    description: str = "",
) -> Picture:
    """Arrows from the mean prediction of each cell to what was observed there.

    Parameters
    ----------
    names : three labels
    predicted, observed : arrays of shape (m, 3)
        Means of each cell.
    count : array of shape (m,)
        Rows of each cell. Arrows are the fainter the fewer rows they stand for; the cells with
        fewest rows, 2 % of all rows together, are dots only.
    """
    side = min(width - 40, 440.0)
    high = side * triangle.HEIGHT
    words = wrap("arrows from predicted to observed; the darker, the more rows", width)
    picture = Picture(width, 2 * LINE + high + 2 * LINE + LINE * len(words), title, description)
    scale = Scale(0.0, 1.0)
    panel = Panel(
        picture, (width - side) / 2, 1.6 * LINE, side, high, scale, Scale(0.0, triangle.HEIGHT)
    )
    for line in triangle.triangle_lines():
        panel.line(line[:, 0], line[:, 1], "grid")
    for line in triangle.triangle_sides():
        panel.line(line[:, 0], line[:, 1], "axis")
    start, end = triangle.to_plane(predicted), triangle.to_plane(observed)
    order = np.argsort(-count, kind="stable")
    reached = np.cumsum(count[order]) / count.sum()
    strong = set(order[: int(np.searchsorted(reached, _SHOWN)) + 1].tolist())
    with picture.group("after"):
        for i in order[::-1].tolist():
            shade = float(np.sqrt(count[i] / count.max()))
            tip = _tip(names, predicted[i], observed[i], float(count[i]))
            _cell(panel, start[i], end[i], shade, tip, arrow=i in strong)
    _corners(panel, names)
    picture.lines(0, picture.height - LINE * (len(words) - 1) - 4, words, "muted")
    return picture


def _cell(
    panel: Panel, start: FloatArray, end: FloatArray, shade: float, tip: str, *, arrow: bool
) -> None:
    a, b = float(panel.across(start[0])), float(panel.down(start[1]))
    c, d = float(panel.across(end[0])), float(panel.down(end[1]))
    look = {"opacity": f"{0.25 + 0.75 * shade:.2f}" if arrow else "0.25"}
    length = float(np.hypot(c - a, d - b))
    if arrow and length > 6:
        u, v = (c - a) / length, (d - b) / length
        head = f"M{c - 7 * u + 4 * v:.1f} {d - 7 * v - 4 * u:.1f}L{c:.1f} {d:.1f}"
        head += f"L{c - 7 * u - 4 * v:.1f} {d - 7 * v + 4 * u:.1f}"
        panel.picture.add("path", "line thin", d=f"M{a:.1f} {b:.1f}L{c:.1f} {d:.1f}{head}", **look)
    panel.picture.add("circle", "full", cx=a, cy=b, r=1.8 + 3.2 * shade, **look)
    panel.picture.add("circle", "touch", tip=tip, cx=a, cy=b, r=9.0)


def _tip(names: Sequence[str], predicted: FloatArray, observed: FloatArray, count: float) -> str:
    shares = [
        f"{name}: said {p:.3f}, happened {y:.3f}"
        for name, p, y in zip(names, predicted, observed, strict=True)
    ]
    return "\n".join([f"{count_text(count)} rows", *shares])


def _corners(panel: Panel, names: Sequence[str]) -> None:
    picture = panel.picture
    bottom = panel.top + panel.height + LINE + 2
    half = picture.width / 2 - 8
    picture.text(0, bottom, cut(names[0], half, SIZE * BOLD), "strong")
    picture.text(picture.width, bottom, cut(names[1], half, SIZE * BOLD), "strong", anchor="end")
    top = cut(names[2], picture.width - 8, SIZE * BOLD)
    picture.text(picture.width / 2, LINE, top, "strong", anchor="middle")
