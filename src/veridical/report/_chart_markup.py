"""HTML of a chart, in which no label can become markup or code."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from html import escape
from typing import TYPE_CHECKING, Any

from veridical.exceptions import invalid
from veridical.report._chart_table import Table, columns_of

if TYPE_CHECKING:
    from veridical.report._chart import Chart, Control

_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
# What could end a script, in an escape that JSON knows; beyond ASCII everything is escaped anyway.
_UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


def script_json(value: Any) -> str:
    r"""Write a value as JSON that may stand inside a ``<script>``.

    Examples
    --------
    >>> print(script_json({"name": "</script>"}))
    {"name":"\u003c/script\u003e"}
    """
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return re.sub("[<>&]", lambda found: _UNSAFE[found.group()], text)


def figure_html(chart: Chart, identifier: str, *, static: bool) -> str:
    """Return the figure of a chart."""
    if not (isinstance(identifier, str) and _IDENTIFIER.fullmatch(identifier)):
        hint = 'use letters, digits, "-" and "_", a letter first.'
        raise invalid("to_html", "identifier", "usable as an id", repr(identifier), hint=hint)
    controls = [control for control in chart.controls if len(control.options) > 1]
    slider = "" if chart.slider is None else _slider(identifier, chart.slider)
    picture = f"<noscript>{chart.to_svg()}</noscript>" if static else ""
    status = f'<p class="chart-status" aria-live="polite" id="{identifier}-status"></p>'
    return (
        f'<figure class="chart" id="{identifier}" aria-labelledby="{identifier}-title">'
        f'<figcaption id="{identifier}-title">{escape(chart.title)}</figcaption>'
        f"{_controls(identifier, chart, controls)}{slider}"
        f'<div class="chart-view" role="img" aria-label="{escape(chart.description)}">{picture}'
        "</div>"
        f"{status if controls else ''}"
        f'<details class="chart-numbers"><summary>Numbers of this chart</summary>'
        f'<div class="chart-scroll" tabindex="0" role="group"'
        f' aria-label="Numbers: {escape(chart.title)}">{table_html(chart.table)}</div></details>'
        f'<script type="application/json" class="chart-data">{script_json(payload_of(chart))}'
        "</script></figure>"
    )


def table_html(table: Table) -> str:
    """Return a table whose first column names the rows."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in table.header)
    body = "".join(
        f'<tr><th scope="row">{escape(row[0])}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in row[1:])
        + "</tr>"
        for row in table.rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def payload_of(chart: Chart) -> dict[str, Any]:
    """What the page's script needs: each number once."""
    spec = {key: value for key, value in chart.spec.items() if key != "datasets"}
    payload: dict[str, Any] = {"spec": spec, "layout": asdict(chart.layout)}
    if chart.frames:
        payload["frames"] = [
            {
                "choice": frame.choice,
                "texts": frame.texts,
                "description": frame.description,
                "datasets": {name: _packed(data) for name, data in frame.datasets.items()},
                "table": frame.table.rows,
            }
            for frame in chart.frames
        ]
    else:
        datasets = chart.spec["datasets"].items()
        payload["datasets"] = {name: _packed(columns_of(rows)) for name, rows in datasets}
    if chart.slider is not None:
        payload["slider"] = chart.slider
    return payload


def _packed(columns: dict[str, list[Any]]) -> dict[str, Any]:
    """Number of rows, and columns; one value where all are the same."""
    count = len(next(iter(columns.values()), []))
    packed = {
        name: values[0] if all(value == values[0] for value in values) else values
        for name, values in columns.items()
    }
    return {"count": count, "columns": packed}


def _controls(identifier: str, chart: Chart, controls: list[Control]) -> str:
    if not controls:
        return ""
    first = dict(zip((c.name for c in chart.controls), chart.frames[0].choice, strict=True))
    parts = []
    for control in controls:
        own = f"{identifier}-{chart.controls.index(control)}"
        options = "".join(
            f'<option value="{i}"{" selected" if i == first[control.name] else ""}>'
            f"{escape(option)}</option>"
            for i, option in enumerate(control.options)
        )
        parts.append(
            f'<span class="chart-control"><label for="{own}">{escape(control.name)}</label>'
            f'<select id="{own}" data-control="{chart.controls.index(control)}">{options}'
            "</select></span>"
        )
    return f'<div class="chart-controls">{"".join(parts)}</div>'


def _slider(identifier: str, slider: dict[str, Any]) -> str:
    last = len(slider["threshold"]) - 1
    outputs = "".join(
        f'<div><dt>{escape(label)}</dt><dd data-output="{name}"></dd></div>'
        for name, label in slider["outputs"].items()
    )
    return (
        f'<div class="chart-slider"><label for="{identifier}-cost">Cost of a false negative :'
        f" cost of a false positive</label>"
        f'<input type="range" id="{identifier}-cost" min="0" max="{last}" step="1"'
        f' value="{slider["start"]}" aria-describedby="{identifier}-readout">'
        f'<dl class="chart-readout" id="{identifier}-readout">{outputs}</dl></div>'
    )
