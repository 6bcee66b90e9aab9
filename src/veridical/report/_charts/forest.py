"""Rows of estimates with their intervals: the specification errors, calibrators, groups share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from veridical.report._charts.chart import Layout, plain, top_level
from veridical.report._charts.parts import distinct, number, tips, x_axis

_STEP = 44  # pixels of a row: a line of words over a line with its interval
_KINDS = {"main": "series", "part": "second", "other": "other"}
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


def forest_layout(count: int) -> Layout:
    """Return the layout of that many rows."""
    return Layout(width=560, height=_STEP * count, beside=34, max_width=720)


def forest(
    rows: Sequence[ForestRow], axis: Sequence[str], *, reference: float | None = None
) -> dict[str, Any]:
    """Return the specification; rows are in order from the top, `axis` are lines of its title."""
    names = distinct([row.name for row in rows])
    data = [
        {
            "row": i,
            "name": name,
            "note": row.note,
            "kind": row.kind,
            "estimate": plain(row.estimate),
            "low": plain(row.low),
            "high": plain(row.high),
            "null_mean": plain(row.null_mean),
            "null_high": plain(row.null_high),
        }
        for i, (name, row) in enumerate(zip(names, rows, strict=True))
    ]
    y = {"field": "row", "type": "ordinal", "axis": None, "scale": {"padding": 0}}
    x = number(
        "estimate",
        x_axis(list(axis), grid=True, tickCount=5),
        zero=reference is not None,
        padding=10,
    )
    nulls = any(row.null_high is not None for row in rows)
    if nulls:
        x["scale"] = {"zero": True}
    layers = [*_nulls(y)] if nulls else []
    if reference is not None:
        line = {"type": "rule", "style": "reference"}
        layers.append(
            {"data": {"values": [{}]}, "mark": line, "encoding": {"x": {"datum": reference}}}
        )
    layers += _words(y)
    for kind in [kind for kind in _KINDS if any(row.kind == kind for row in rows)]:
        layers += _estimates(kind, x, y)
    return top_level(
        {"rows": data},
        data={"name": "rows"},
        width=560,
        height=_STEP * len(rows),
        layer=layers,
    )


def _nulls(y: dict[str, Any]) -> list[dict[str, Any]]:
    known = [{"filter": "isValid(datum.null_high)"}]
    bar = {"type": "bar", "style": "null", "height": 13, "yOffset": 9, "opacity": 0.8}
    tick = {"type": "tick", "style": "other", "height": 13, "thickness": 1.5, "yOffset": 9}
    ends = {"x": number("null_high", None), "x2": {"datum": 0}, "y": y}
    return [
        {"transform": known, "mark": bar, "encoding": ends},
        {"transform": known, "mark": tick, "encoding": {"x": number("null_mean", None), "y": y}},
    ]


def _words(y: dict[str, Any]) -> list[dict[str, Any]]:
    text = {"type": "text", "style": "note", "yOffset": -9, "baseline": "middle"}
    left = text | {"align": "left", "limit": {"expr": "max(width - 110, 60)"}}
    right = text | {"align": "right", "limit": 110}
    return [
        {"mark": left, "encoding": {"x": {"value": 0}, "y": y, "text": {"field": "name"}}},
        {"mark": right, "encoding": {"x": {"value": "width"}, "y": y, "text": {"field": "note"}}},
    ]


def _estimates(kind: str, x: dict[str, Any], y: dict[str, Any]) -> list[dict[str, Any]]:
    style = _KINDS[kind]
    ours = f"datum.kind == '{kind}' && isValid(datum.estimate)"
    known = [{"filter": f"{ours} && isValid(datum.low) && isValid(datum.high)"}]
    limits = {"x": number("low", None), "x2": {"field": "high"}, "y": y}
    tip = tips(
        ("name", "name", None),
        ("estimate", "estimate", ".5~g"),
        ("low", "limit below", ".5~g"),
        ("high", "limit above", ".5~g"),
        ("null_mean", "if calibrated, mean", ".5~g"),
        ("null_high", "if calibrated, 95 % below", ".5~g"),
        ("note", "note", None),
    )
    rule = {"type": "rule", "style": style, "strokeWidth": 2, "yOffset": 9}
    point = {"type": "point", "filled": True, "opacity": 1, "size": 75, "yOffset": 9}
    wide = {"type": "point", "filled": True, "opacity": 0, "size": 700, "yOffset": 9}
    place = {"x": x, "y": y}
    only = [{"filter": ours}]
    return [
        {"transform": known, "mark": rule, "encoding": limits},
        {"transform": only, "mark": point | {"style": [style, "lifted"]}, "encoding": place},
        {"transform": only, "mark": wide, "encoding": place | {"tooltip": tip}},
    ]
