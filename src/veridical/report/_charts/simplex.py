"""Predictions of three classes in a triangle."""

from __future__ import annotations

from typing import Any

import numpy as np

from veridical._core.numeric import triangle
from veridical._core.numeric.triangle import HEIGHT
from veridical.exceptions import invalid
from veridical.report._charts import parts
from veridical.report._charts.chart import (
    Chart,
    Layout,
    count_words,
    plain,
    short,
    table_of,
    top_level,
)
from veridical.report._charts.parts import DOTS, layer, mark
from veridical.summaries import VectorSummary

_ROOM = 0.07  # around the triangle, in lengths of its side
_WIDTH = 460
_ASPECT = (HEIGHT + 2 * _ROOM) / (1 + 2 * _ROOM)


def simplex_chart(
    summary: VectorSummary, *, title: str = "Predicted and observed, three classes at once"
) -> Chart:
    """Arrows from the mean prediction of each cell of the simplex to what was observed there.

    Parameters
    ----------
    summary : VectorSummary
        Sums by cell of predictions of three classes.
    title : str
        Heading.

    Returns
    -------
    Chart
        A calibrated model has short arrows in no common direction. Arrows of cells with few rows
        (small dots) are long by chance.
    """
    if len(parts.only(summary, VectorSummary, caller="simplex_chart").classes) != 3:
        hint = "merge classes with the lens `Grouped`, or show classes one by one."
        got = f"{len(summary.classes)}"
        raise invalid("simplex_chart", "summary", "of three classes", got, hint=hint)
    names = [str(label) for label in summary.classes]
    predicted, observed = summary.mean_p, summary.mean_y
    start, end = triangle.to_plane(predicted), triangle.to_plane(observed)
    length = np.hypot(*(end - start).T)
    angle = np.degrees(np.arctan2(end[:, 0] - start[:, 0], end[:, 1] - start[:, 1]))
    places = ("x", "y", "x2", "y2", "angle")
    cells = [
        {
            **{name: plain(value) for name, value in zip(places, row, strict=True)},
            "arrow": bool(length[i] > 0.02),
            "count": plain(summary.count[i]),
        }
        | {f"predicted{k}": plain(predicted[i, k]) for k in range(3)}
        | {f"observed{k}": plain(observed[i, k]) for k in range(3)}
        for i, row in enumerate(zip(*start.T, *end.T, angle, strict=True))
    ]
    height = round(_WIDTH * _ASPECT)
    data = {"cells": cells, "frame": _frame(), "corners": _corners(names)}
    share = summary.share
    moved = float(share @ length)
    header = ("rows", *(f"predicted {n}" for n in names), *(f"observed {n}" for n in names))
    rows = [
        (count_words(summary.count[i]), *(f"{v:.4f}" for v in (*predicted[i], *observed[i])))
        for i in np.argsort(-summary.count, kind="stable")
    ]
    return Chart(
        spec=top_level(data, width=_WIDTH, height=height, layer=_layers(names)),
        title=title,
        description=f"{len(cells)} cells of a triangle whose corners are {short(names[0])},"
        f" {short(names[1])} and {short(names[2])}; arrows from predicted to observed have a mean"
        f" length of {moved:.3f}, where the side of the triangle is 1.",
        table=table_of(header, rows),
        layout=Layout(width=_WIDTH, height=height, beside=20, max_width=520, aspect=_ASPECT),
    )


def _frame() -> list[dict[str, Any]]:
    """Sides of the triangle, and a line every fifth."""
    lines = [(side, "side") for side in triangle.triangle_sides()]
    lines += [(line, "line") for line in triangle.triangle_lines()]
    return [
        {"x": plain(a[0]), "y": plain(a[1]), "x2": plain(b[0]), "y2": plain(b[1]), "kind": kind}
        for (a, b), kind in lines
    ]


def _corners(names: list[str]) -> list[dict[str, Any]]:
    return [
        {"x": plain(x), "y": plain(y), "name": name, "top": i == 2, "right": i == 1}
        for i, (name, (x, y)) in enumerate(zip(names, triangle.TRIANGLE.tolist(), strict=True))
    ]


def _layers(names: list[str]) -> list[dict[str, Any]]:
    across = {"domain": [-_ROOM, 1 + _ROOM], "nice": False, "zero": False}
    along = {"domain": [-_ROOM, HEIGHT + _ROOM], "nice": False, "zero": False}
    number = {"type": "quantitative", "axis": None}
    tail, head = (
        {"x": {"field": x, "scale": across, **number}, "y": {"field": y, "scale": along, **number}}
        for x, y in (("x", "y"), ("x2", "y2"))
    )
    both = tail | {"x2": {"field": "x2"}, "y2": {"field": "y2"}}
    size = parts.by_count(10, 130, domainMin=0)
    tip = parts.tips(
        ("count", "rows", ",.10~g"),
        *((f"predicted{k}", f"predicted {short(name, 24)}", ".3f") for k, name in enumerate(names)),
        *((f"observed{k}", f"observed {short(name, 24)}", ".3f") for k, name in enumerate(names)),
    )
    thin = mark("rule", "null", strokeWidth=0.6)
    turned = {"field": "angle", "type": "quantitative", "scale": None}
    layers: list[dict[str, Any]] = [
        layer(thin, both, data="frame", where="datum.kind == 'line'"),
        layer(mark("rule", "reference"), both, data="frame", where="datum.kind == 'side'"),
        layer(mark("rule", "series", strokeWidth=1.4), both, data="cells"),
        layer(DOTS | {"style": "series"}, tail | {"size": size}, data="cells"),
        layer(
            DOTS | {"style": "second", "shape": "triangle", "size": 55},
            head | {"angle": turned},
            data="cells",
            where="datum.arrow",
        ),
        layer(parts.touch(400), tail | {"tooltip": tip}, data="cells"),
    ]
    text = mark("text", "note", limit={"expr": "width * 0.48"})
    places = (
        ("!datum.top && !datum.right", {"align": "left", "dx": -14, "dy": 14}),
        ("datum.right", {"align": "right", "dx": 14, "dy": 14}),
        ("datum.top", {"align": "center", "dy": -12}),
    )
    named = tail | {"text": {"field": "name"}}
    corners = [layer(text | look, named, data="corners", where=which) for which, look in places]
    return layers + corners
