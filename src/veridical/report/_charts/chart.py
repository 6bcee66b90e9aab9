"""A chart: what is drawn, what it says in words, its numbers, and its HTML.

No label can become markup or code.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from typing import Any

import numpy as np

from veridical._core.data.labels import shortened
from veridical.exceptions import invalid
from veridical.report._charts.parts import svg_of


@dataclass(frozen=True)
class Table:
    """Cells of text; the first column names the row."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def table_of(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> Table:
    """Return a table with numbers written out; None is an empty cell.

    Examples
    --------
    >>> table_of(["bin", "rows"], [("0 to 0.5", 1200), ("0.5 to 1", None)]).rows
    (('0 to 0.5', '1,200'), ('0.5 to 1', ''))
    """
    return Table(tuple(header), tuple(tuple(cell(value) for value in row) for row in rows))


def cell(value: Any) -> str:
    """Write a value: whole numbers with commas, others with four decimals or digits."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    number = float(value)
    if not math.isfinite(number):
        return str(number)
    if number == round(number) and (abs(number) >= 2 or isinstance(value, (int, np.integer))):
        return f"{number:,.0f}"
    return f"{number:.4f}" if 1e-3 <= abs(number) < 1e4 or number == 0 else f"{number:.4g}"


def plain(value: Any) -> float | None:
    """Return a number for JSON, with six digits; None for what is not finite."""
    if value is None or not math.isfinite(value):
        return None
    return float(f"{float(value):.6g}")


def count_words(count: float) -> str:
    """Write a number of rows, whole or not.

    Examples
    --------
    >>> count_words(1200.0), count_words(3.25)
    ('1,200', '3.2')
    """
    return f"{round(float(count), 1):,.10g}"


def rows_of(columns: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """Turn named columns into one record a row."""
    names = list(columns)
    return [dict(zip(names, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def columns_of(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """Turn records into named columns; None where a record lacks a field."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def short(label: Any, longest: int = 40) -> str:
    """Write a label as text on one line, cut where it would run into its neighbour.

    Examples
    --------
    >>> short("a" * 50, 5)
    'aaaa…'
    """
    return shortened(" ".join(str(label).split()), longest)


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
            vars(frame)
            | {"datasets": {name: _packed(data) for name, data in frame.datasets.items()}}
            | {"table": frame.table.rows}
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


SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"


@dataclass(frozen=True)
class Layout:
    """How a chart fits the width it is given.

    Attributes
    ----------
    width, height : of the plots in the specification, inside their axes; the page replaces them
    beside : pixels of names and numbers beside the plots
    max_width : never wider than this, inside the axes
    aspect : height over width where the height follows the width, None where it is fixed
    columns : whether plots stand beside each other, as many as fit
    """

    width: int = 560
    height: int = 300
    beside: int = 64
    max_width: int = 900
    aspect: float | None = None
    columns: bool = False


@dataclass(frozen=True)
class Control:
    """A choice: its name, and its options in order."""

    name: str
    options: tuple[str, ...]


@dataclass(frozen=True)
class Frame:
    """What a chart shows for one choice of every control.

    Attributes
    ----------
    choice : index of the option of each control
    datasets : named columns that replace the data of the specification
    texts : words of the specification by name; those of the first frame are in the specification,
        and are replaced by those of the frame shown
    description, table : as of the chart
    """

    choice: tuple[int, ...]
    datasets: dict[str, dict[str, list[Any]]]
    texts: dict[str, str]
    description: str
    table: Table


@dataclass(frozen=True)
class Chart:
    """A chart of results.

    Attributes
    ----------
    spec : Vega-Lite specification with its data, JSON-safe
    title : short heading
    description : what is shown and how it reads, for those who do not see it
    table : the numbers, for a table under the chart
    layout : how it fits the width of a page
    controls, frames : choices, and what is shown for each; none for most charts
    slider : a table of costs by threshold, for the chart that has a slider
    """

    spec: dict[str, Any]
    title: str
    description: str
    table: Table
    layout: Layout = field(default_factory=Layout)
    controls: tuple[Control, ...] = ()
    frames: tuple[Frame, ...] = ()
    slider: dict[str, Any] | None = None

    def to_html(self, identifier: str, *, static: bool = False) -> str:
        """Markup of the chart for a page that has `runtime_script` and `chart_style` once.

        Parameters
        ----------
        identifier : str
            Value of the `id` of the figure, unique on the page: letters, digits, "-" and "_".
        static : bool, default False
            Add a picture for browsers without JavaScript.

        Returns
        -------
        str
            A ``<figure>``. Every text of it is escaped; data are in a script of type
            ``application/json``, which no label can end.
        """
        return figure_html(self, identifier, static=static)

    def to_payload(self) -> dict[str, Any]:
        """What the page's script draws, JSON-safe; for pages that build the figure themselves."""
        return payload_of(self)

    def to_svg(self, *, dark: bool = False) -> str:
        """Picture of the chart, with its title; the first choice where there are several."""
        return svg_of(self.spec, title=self.title, dark=dark)


def one_plot(name: str, rows: list[dict[str, Any]], layout: Layout, **parts: Any) -> dict[str, Any]:
    """Return a specification of one plot, as large as the layout says, of one data set."""
    size = {"width": layout.width, "height": layout.height}
    return top_level({name: rows}, data={"name": name}, **size, **parts)


def top_level(datasets: dict[str, list[dict[str, Any]]], **parts: Any) -> dict[str, Any]:
    """Return a specification: schema, data, and the parts given."""
    return {
        "$schema": SCHEMA,
        "padding": {"left": 4, "right": 14, "top": 6, "bottom": 4},
        "datasets": datasets,
        **parts,
    }
