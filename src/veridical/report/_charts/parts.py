"""Pieces that specifications have in common: layers, axes, legends, tooltips.

Colours and lines of charts, on a light and on a dark ground.

Specifications name styles ("series", "reference", ...); what these look like is said here, once
for each ground, so that a page can change from light to dark without a new specification.

The chart runtime: JavaScript for pages, and pictures without a browser.

Everything comes from `vl_convert`, which brings Vega, Vega-Lite and Vega-Embed with it: nothing is
downloaded, and specifications are plain dictionaries, so Altair is not needed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any, TypeVar

from veridical._core.runtime.optional import require
from veridical.exceptions import invalid

# Okabe & Ito (2008), "Color universal design": the same hues and the same order as in the figures.
_ON_LIGHT = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_ON_DARK = ("#56B4E9", "#E69F00", "#009E73", "#CC79A7", "#F0E442", "#D55E00", "#FFFFFF")
_SYMBOLS = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "stroke")
DASHES = ((1, 0), (7, 3), (6, 2, 1, 2), (2, 2))
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"


def _config(
    colours: tuple[str, ...], ink: str, muted: str, faint: str, grid: str, ground: str
) -> dict[str, Any]:
    """Vega-Lite configuration of one ground."""
    inked = {"labelColor": ink, "titleColor": ink, "labelFontSize": 11}
    text = inked | {"titleFontSize": 12, "titleFontWeight": "normal"}
    return {
        "background": "transparent",
        "font": FONT,
        "aria": False,  # the figure around the picture has the words
        "view": {"stroke": None},
        "axis": text | {"gridColor": grid, "domainColor": muted, "tickColor": muted},
        "legend": text
        | {
            "orient": "top",
            "symbolType": "circle",
            "labelLimit": 240,
            "symbolStrokeWidth": 2,
            "symbolOpacity": 1,
        },
        "title": {"color": ink, "fontSize": 13, "anchor": "start"},
        "header": inked | {"labelLimit": 150},
        "range": {"category": list(colours), "symbol": list(_SYMBOLS)},
        "style": {
            "series": {"color": colours[0]},
            "second": {"color": colours[1]},
            "mark": {"color": ink},
            "note": {"color": ink, "fontSize": 11},
            "hint": {"color": muted, "fontSize": 11},
            "reference": {"color": muted, "strokeWidth": 1},
            "other": {"color": muted},
            "null": {"color": faint},
            "lifted": {"stroke": ground, "strokeWidth": 0.7},
            "alarm": {"color": colours[1], "strokeWidth": 1.5},
        },
    }


THEMES: Mapping[str, dict[str, Any]] = MappingProxyType(
    {
        "light": _config(_ON_LIGHT, "#1A1A1A", "#6B6B6B", "#CFCFCF", "#E8E8E8", "#FFFFFF"),
        "dark": _config(_ON_DARK, "#F2F2F2", "#B0B0B0", "#5A5A5A", "#343434", "#161616"),
    }
)


_Kind = TypeVar("_Kind")
PROBABILITIES = [0, 0.2, 0.4, 0.6, 0.8, 1]
BESIDE = 46  # pixels of numbers left of a plot
LEGEND_OFFSET = 24  # pixels between a legend and the plot: the title of its axis is between them
_LONG = 18  # letters from which on names stand below each other


def named(results: Any, kind: type, *, caller: str) -> dict[str, Any]:
    """Return one result, or a mapping of them, as a mapping; raise if it is something else."""
    found = results if isinstance(results, Mapping) else {"": results}
    if not found or not all(isinstance(each, kind) for each in found.values()):
        got = "nothing" if not found else type(next(iter(found.values()))).__name__
        hint = "pass what the functions of the library return."
        raise invalid(caller, "results", f"a {kind.__name__} or several by name", got, hint=hint)
    return {str(name): each for name, each in found.items()}


def only(result: Any, kind: type[_Kind], *, caller: str) -> _Kind:
    """Return a result of that kind; raise if it is something else."""
    if isinstance(result, kind):
        return result
    hint = "pass what the functions of the library return."
    raise invalid(caller, "result", f"a {kind.__name__}", type(result).__name__, hint=hint)


def x_axis(title: Any, **more: Any) -> dict[str, Any]:
    """Axis below a plot."""
    return {"title": title, "grid": False} | more


def y_axis(title: Any, **more: Any) -> dict[str, Any]:
    """Axis left of a plot; its title lies above it, where it needs no width and no turned head."""
    return {
        "title": title,
        "titleAngle": 0,
        "titleAlign": "left",
        "titleBaseline": "bottom",
        "titleX": -BESIDE + 6,
        "titleY": -6,
        "minExtent": BESIDE - 8,
        "maxExtent": BESIDE - 8,
    } | more


def probability(field: str, axis: dict[str, Any] | None) -> dict[str, Any]:
    """Channel of a probability."""
    ticks = {"values": PROBABILITIES, "format": ".1f", "labelOverlap": False, "labelFlush": False}
    shown = None if axis is None else ticks | axis
    return number(field, shown, domain=[0, 1], nice=False)


def number(field: str, axis: dict[str, Any] | None, **scale: Any) -> dict[str, Any]:
    """Channel of a number; without an axis in layers that leave it to another one."""
    channel: dict[str, Any] = {"field": field, "type": "quantitative"}
    if scale:
        channel["scale"] = scale
    return channel if axis is None else channel | {"axis": axis}


def by_count(smallest: int, largest: int, **scale: Any) -> dict[str, Any]:
    """Channel of a size that grows with the rows of a point."""
    reach = {"range": [smallest, largest]} | scale
    return {"field": "count", "type": "quantitative", "scale": reach, "legend": None}


def mark(kind: str, style: str, **look: Any) -> dict[str, Any]:
    """Mark of that kind in one of the styles of the themes."""
    return {"type": kind, "style": style} | look


AREA = mark("area", "series", opacity=0.2)
DOTS: dict[str, Any] = {"type": "point", "filled": True, "opacity": 1}
LIFTED_DOTS = DOTS | {"style": ["series", "lifted"]}


def touch(size: int) -> dict[str, Any]:
    """Mark to point at, larger than what is seen and easier to touch."""
    return {"type": "point", "filled": True, "opacity": 0, "size": size}


def layer(
    mark: dict[str, Any],
    encoding: dict[str, Any],
    *,
    data: str | list[dict[str, Any]] | None = None,
    where: str | dict[str, Any] = "",
    then: Sequence[dict[str, Any]] = (),
) -> dict[str, Any]:
    """Layer of a chart: its mark and channels, for the rows `where` a condition holds.

    `data` names a data set, or is one; without it the layer has the data of the chart. `then` are
    further transforms.
    """
    source = {"name": data} if isinstance(data, str) else {"values": data}
    steps = [*([{"filter": where}] if where else []), *then]
    return {
        **({} if data is None else {"data": source}),
        **({"transform": steps} if steps else {}),
        "mark": mark,
        "encoding": encoding,
    }


def reference_line(end: float) -> dict[str, Any]:
    """Layer of the line of perfect calibration, from the origin to `end` at 1."""
    place = {"x": number("x", None), "y": number("y", None)}
    return layer(mark("line", "reference"), place, data=[{"x": 0, "y": 0}, {"x": 1, "y": end}])


def tips(*fields: tuple[str, str, str | None], several: bool = False) -> list[dict[str, Any]]:
    """Tooltip: (field, words, format) of each line; text has no format.

    Of `several` series it names the one pointed at first.
    """
    series = [("series", "series", None)] if several else []
    return [
        {"field": field, "title": words}
        | ({"type": "nominal"} if form is None else {"type": "quantitative", "format": form})
        for field, words, form in (*series, *fields)
    ]


def limit_tips(form: str) -> list[tuple[str, str, str | None]]:
    """Lines of a tooltip for the limits of an estimate."""
    return [("low", "limit below", form), ("high", "limit above", form)]


# Channel of charts with one estimate a row, from the top.
ROW: dict[str, Any] = {"field": "row", "type": "ordinal", "axis": None, "scale": {"padding": 0}}


def row_words(offset: int, **right: Any) -> list[dict[str, Any]]:
    """Layers of the words over a row: its name left and its note right."""
    text = mark("text", "note", yOffset=offset, baseline="middle")
    left = text | {"align": "left", "limit": {"expr": "max(width - 110, 60)"}}
    return [
        layer(left, {"x": {"value": 0}, "y": ROW, "text": {"field": "name"}}),
        layer(
            text | {"align": "right"} | right,
            {"x": {"value": "width"}, "y": ROW, "text": {"field": "note"}},
        ),
    ]


def legend_of(names: Sequence[str], *, lines: bool = False) -> dict[str, Any] | None:
    """Legend of several series, above the title of the axis; one series needs none."""
    if len(names) < 2:
        return None
    long = any(len(name) > _LONG for name in names)
    look = {"symbolType": "stroke", "symbolSize": 400} if lines else {}
    return {"title": None, "columns": 1 if long else 2, "offset": LEGEND_OFFSET} | look


def by_series(
    names: Sequence[str], *, shape: bool = False, dash: bool = False, lines: bool = False
) -> dict[str, Any]:
    """Channels that tell series apart: never by colour alone.

    `lines` says that the chart has lines only, and its legend shows them.
    """
    scale = {"domain": list(names)}
    base = {"field": "series", "type": "nominal", "legend": legend_of(names, lines=lines)}
    channels: dict[str, Any] = {"color": base | {"scale": scale}}
    if shape:
        channels["shape"] = base | {"scale": scale}
    if dash:
        dashes = [list(DASHES[i % len(DASHES)]) for i in range(len(names))]
        channels["strokeDash"] = base | {"scale": scale | {"range": dashes}}
    return channels


def distinct(names: Sequence[str]) -> list[str]:
    """Return the names, numbered where two are the same.

    Examples
    --------
    >>> distinct(["1", "2", "1"])
    ['1', '2', '1 (2)']
    """
    seen: dict[str, int] = {}
    made = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        made.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return made


_SNIPPET = "window.vegaEmbed=vegaEmbed;"


def svg_of(spec: dict[str, Any], *, title: str, dark: bool) -> str:
    """Draw a specification as SVG text."""
    config = THEMES["dark" if dark else "light"]
    return _converter().vegalite_to_svg({**spec, "title": title}, config=config)


@cache
def runtime_script() -> str:
    """JavaScript that draws every chart of a page; once a page, at the end of the body.

    Returns
    -------
    str
        Text for a ``<script>``: the licences of what it contains, Vega with Vega-Lite and
        Vega-Embed, and the code that finds the charts of the page. About 0.9 MB.

    Notes
    -----
    Expressions are interpreted, not compiled, so a content security policy needs no
    ``unsafe-eval``; styles are in :func:`chart_style`, so it needs no ``unsafe-inline`` either if
    the page gives the hashes of both. Nothing is fetched.
    """
    bundle = _converter().javascript_bundle(_SNIPPET)
    themes = json.dumps(dict(THEMES), separators=(",", ":"))
    # In a function of their own: the names of the bundle are short, and would be global.
    return (
        f"/*!\n{_asset('chart_notice.txt')}*/\n"
        f'(function(){{"use strict";\n{bundle}\n}})();\n'
        f'(function(){{"use strict";\nconst THEMES={themes};\n{_asset("chart.js")}\n}})();\n'
    )


@cache
def chart_style() -> str:
    """Style sheet of charts; once a page."""
    return _asset("chart.css")


def _asset(name: str) -> str:
    return (resources.files("veridical.report") / "assets" / name).read_text(encoding="utf-8")


def _converter() -> Any:
    return require("vl_convert", extra="report", purpose="veridical.report")
