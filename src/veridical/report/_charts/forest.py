"""Rows of estimates with their intervals: the specification errors, calibrators, groups share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from veridical.report._charts import parts
from veridical.report._charts.chart import Chart, Layout, Table, one_plot, plain
from veridical.report._charts.parts import ROW, layer, mark, number

_STEP = 44  # pixels of a row: a line of words over a line with its interval
_KINDS = {"main": "series", "part": "second", "other": "other"}
_FIGURES = ("estimate", "low", "high", "null_mean", "null_high")
MOST = 30  # rows drawn; tables hold them all


@dataclass(frozen=True)
class ForestRow:
    """One estimate.

    Attributes
    ----------
    name, note : words over it, left and right
    estimate, low, high : the figure and its limits, None where there are none
    null_mean, null_high : what a calibrated model would show, and 95 % of them stay below
    kind : "main" and "part" in colour, "other" grey
    """

    name: str
    estimate: float
    low: float | None = None
    high: float | None = None
    null_mean: float | None = None
    null_high: float | None = None
    note: str = ""
    kind: Literal["main", "part", "other"] = "main"


def forest_chart(
    rows: Sequence[ForestRow],
    axis: Sequence[str],
    *,
    title: str,
    said: str,
    table: Table,
    reference: float | None = None,
) -> Chart:
    """Return a chart; rows are in order from the top, `axis` are lines of its title."""
    layout = Layout(width=560, height=_STEP * len(rows), beside=34, max_width=720)
    spec = one_plot("rows", _data(rows), layout, layer=_layers(rows, axis, reference))
    return Chart(spec, title, said, table, layout)


def _data(rows: Sequence[ForestRow]) -> list[dict[str, Any]]:
    names = parts.distinct([row.name for row in rows])
    return [
        {"row": i, "name": name, "note": row.note, "kind": row.kind}
        | {figure: plain(getattr(row, figure)) for figure in _FIGURES}
        for i, (name, row) in enumerate(zip(names, rows, strict=True))
    ]


def _layers(
    rows: Sequence[ForestRow], axis: Sequence[str], reference: float | None
) -> list[dict[str, Any]]:
    ticks = parts.x_axis(list(axis), grid=True, tickCount=5)
    x = number("estimate", ticks, zero=reference is not None, padding=10)
    nulls = any(row.null_high is not None for row in rows)
    if nulls:
        x["scale"] = {"zero": True}
    layers = _nulls() if nulls else []
    if reference is not None:
        layers.append(layer(mark("rule", "reference"), {"x": {"datum": reference}}, data=[{}]))
    layers += parts.row_words(-9, limit=110)
    for kind in [kind for kind in _KINDS if any(row.kind == kind for row in rows)]:
        layers += _estimates(kind, x)
    return layers


def _nulls() -> list[dict[str, Any]]:
    known = "isValid(datum.null_high)"
    bar = mark("bar", "null", height=13, yOffset=9, opacity=0.8)
    tick = mark("tick", "other", height=13, thickness=1.5, yOffset=9)
    ends = {"x": number("null_high", None), "x2": {"datum": 0}, "y": ROW}
    return [
        layer(bar, ends, where=known),
        layer(tick, {"x": number("null_mean", None), "y": ROW}, where=known),
    ]


def _estimates(kind: str, x: dict[str, Any]) -> list[dict[str, Any]]:
    style = _KINDS[kind]
    ours = f"datum.kind == '{kind}' && isValid(datum.estimate)"
    known = f"{ours} && isValid(datum.low) && isValid(datum.high)"
    limits = {"x": number("low", None), "x2": {"field": "high"}, "y": ROW}
    tip = parts.tips(
        ("name", "name", None),
        ("estimate", "estimate", ".5~g"),
        *parts.limit_tips(".5~g"),
        ("null_mean", "if calibrated, mean", ".5~g"),
        ("null_high", "if calibrated, 95 % below", ".5~g"),
        ("note", "note", None),
    )
    rule = mark("rule", style, strokeWidth=2, yOffset=9)
    point = parts.DOTS | {"size": 75, "yOffset": 9, "style": [style, "lifted"]}
    place = {"x": x, "y": ROW}
    return [
        layer(rule, limits, where=known),
        layer(point, place, where=ours),
        layer(parts.touch(700) | {"yOffset": 9}, place | {"tooltip": tip}, where=ours),
    ]
