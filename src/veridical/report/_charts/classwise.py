"""A small reliability diagram for each class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from veridical.report._charts import parts
from veridical.report._charts.chart import Chart, Layout, rows_of, short, top_level
from veridical.report._charts.curves import joined, line_columns, numbers_of, point_columns
from veridical.report._charts.parts import layer, mark, number
from veridical.report._charts.reliability import IN_PIECES, point_tips
from veridical.results import ReliabilityCurve

_SIDE = 150
_LAYOUT = Layout(width=_SIDE, height=_SIDE, beside=52, max_width=220, aspect=1.0, columns=True)
_TICKS = [0, 0.5, 1]


def classwise_chart(
    curves: Mapping[str, ReliabilityCurve], *, most: int = 12, title: str = "Reliability by class"
) -> Chart:
    """Reliability diagrams beside each other, one a class (or group), on the same axes.

    Parameters
    ----------
    curves : mapping of name to ReliabilityCurve
        In the order to be shown, so worst first if that is wanted.
    most : int, default 12
        Number of diagrams; the numbers of all curves are in the table.
    title : str
        Heading.

    Returns
    -------
    Chart
        With as many diagrams in a row as fit the page.

    Examples
    --------
    >>> from veridical import reliability_curve
    >>> curve = reliability_curve([0, 1, 1, 1], [0.2, 0.4, 0.6, 0.8], n_bins=2)
    >>> chart = classwise_chart({"cat": curve, "dog": curve}, most=1)
    >>> {row["series"] for row in chart.spec["datasets"]["points"]}, len(chart.table.rows)
    ({'cat'}, 4)
    """
    every = parts.named(curves, ReliabilityCurve, caller="classwise_chart")
    shown = dict(zip(parts.distinct(list(every)[:most]), every.values(), strict=False))
    left = len(every) - len(shown)
    more = f" The other {left:,} are in the table only." if left else ""
    points = rows_of(joined([point_columns(name, curve) for name, curve in shown.items()]))
    lines = rows_of(joined([line_columns(name, curve) for name, curve in shown.items()]))
    rows = [row | {"kind": "point"} for row in points] + [row | {"kind": "line"} for row in lines]
    data = {"points": rows}
    return Chart(
        spec=top_level(data, data={"name": "points"}, **_spec(list(shown))),
        title=title,
        description=f"One reliability diagram for each of {len(shown)} classes or groups."
        f" {_worst(shown)}{more}",
        table=numbers_of(every),
        layout=_LAYOUT,
    )


def _worst(curves: Mapping[str, ReliabilityCurve]) -> str:
    """Say which is furthest off on average, and by how much."""
    gaps = {
        name: float(np.average(np.abs(curve.gap), weights=curve.weight))
        for name, curve in curves.items()
    }
    worst = max(gaps, key=lambda name: gaps[name])
    return f"The largest mean gap is that of {short(worst)}: {gaps[worst]:.3f}."


def _spec(names: list[str]) -> dict[str, Any]:
    x = parts.probability("predicted", parts.x_axis("predicted", values=_TICKS))
    y = parts.probability("observed", parts.y_axis("observed", values=_TICKS, grid=True))
    place = {"x": x, "y": y}
    limits = {"x": x, "y": number("low", None), "y2": {"field": "high"}}
    is_line, is_dot = "datum.kind == 'line'", "datum.kind == 'point' && datum.dot"
    layers = [
        parts.reference_line(1),
        layer(
            parts.AREA, limits | IN_PIECES, where=f"{is_line} && datum.band && isValid(datum.low)"
        ),
        layer(
            mark("rule", "series", opacity=0.75), limits, where=f"{is_dot} && isValid(datum.low)"
        ),
        layer(mark("line", "series", strokeWidth=1.4), place | IN_PIECES, where=is_line),
        layer(parts.LIFTED_DOTS, place | {"size": parts.by_count(12, 90)}, where=is_dot),
        layer(
            parts.touch(250),
            place | {"tooltip": point_tips(several=True)},
            where="datum.kind == 'point'",
            then=[{"calculate": "datum.observed - datum.predicted", "as": "gap"}],
        ),
    ]
    facet = {"field": "series", "type": "nominal", "sort": names, "header": {"title": None}}
    inside = {"width": _SIDE, "height": _SIDE, "layer": layers}
    return {"facet": facet, "columns": 4, "spacing": {"row": 34, "column": 26}, "spec": inside}
