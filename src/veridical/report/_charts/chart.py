"""A chart: a picture of results, what it says in words, its numbers, and its HTML.

Pictures are drawn when the page is made, at two widths, and for every choice of its controls; the
page's script shows the one that was chosen. No label can become markup or code.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib import resources
from typing import Any, Literal, TypeVar

import numpy as np

from veridical._core.data.labels import shortened
from veridical.exceptions import invalid
from veridical.results.pictures import Picture, picture_style, responsive

_Kind = TypeVar("_Kind")
Draw = Callable[[float], Picture]


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


def short(label: Any, longest: int = 40) -> str:
    """Write a label as text on one line, cut where it would run into its neighbour.

    Examples
    --------
    >>> short("a" * 50, 5)
    'aaaa…'
    """
    return shortened(" ".join(str(label).split()), longest)


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


def named(results: Any, kind: type | tuple[type, ...], *, caller: str) -> dict[str, Any]:
    """Return one result, or a mapping of them, as a mapping; raise if it is something else."""
    found = results if isinstance(results, Mapping) else {"": results}
    if not found or not all(isinstance(each, kind) for each in found.values()):
        got = "nothing" if not found else type(next(iter(found.values()))).__name__
        first = kind[0] if isinstance(kind, tuple) else kind
        hint = "pass what the functions of the library return."
        raise invalid(caller, "results", f"a {first.__name__} or several by name", got, hint=hint)
    return {str(name): each for name, each in found.items()}


def only(result: Any, kind: type[_Kind], *, caller: str) -> _Kind:
    """Return a result of that kind; raise if it is something else."""
    if isinstance(result, kind):
        return result
    hint = "pass what the functions of the library return."
    raise invalid(caller, "result", f"a {kind.__name__}", type(result).__name__, hint=hint)


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
    draw, description, table : as of the chart
    """

    choice: tuple[int, ...]
    draw: Draw
    description: str
    table: Table


@dataclass(frozen=True)
class Chart:
    """A chart of results.

    Attributes
    ----------
    title : short heading
    description : what is shown and how it reads, for those who do not see it
    table : the numbers, for a table under the chart
    draw : picture of a width
    wide : its width where there is room; phones get a narrower one
    controls, frames : choices, and what is shown for each; none for most charts
    slider : a table of costs by threshold, for the chart that has a slider
    panels : small pictures that stand beside each other as they find room, instead of `draw`
    shown : how many of them are seen at once; the others are opened
    """

    title: str
    description: str
    table: Table
    draw: Draw
    wide: Literal[460, 640] = 640
    controls: tuple[Control, ...] = ()
    frames: tuple[Frame, ...] = ()
    slider: dict[str, Any] | None = None
    panels: tuple[Picture, ...] = ()
    shown: int = 12

    def to_html(self, identifier: str) -> str:
        """Markup of the chart for a page that has `runtime_script` and `chart_style` once.

        Parameters
        ----------
        identifier : str
            Value of the `id` of the figure, unique on the page: letters, digits, "-" and "_".

        Returns
        -------
        str
            A ``<figure>``. Every text of it is escaped. It can be read without the script; the
            script moves the slider and switches between frames.
        """
        return figure_html(self, identifier)

    def to_svg(self, *, width: float | None = None) -> str:
        """Picture of the chart, which stands alone; the first choice where there are several."""
        return self.draw(self.wide if width is None else width).to_svg()


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


def figure_html(chart: Chart, identifier: str) -> str:
    """Return the figure of a chart."""
    if not (isinstance(identifier, str) and _IDENTIFIER.fullmatch(identifier)):
        hint = 'use letters, digits, "-" and "_", a letter first.'
        raise invalid("to_html", "identifier", "usable as an id", repr(identifier), hint=hint)
    slider = "" if chart.slider is None else _slider(identifier, chart.slider)
    frames = chart.frames or (Frame((), chart.draw, chart.description, chart.table),)
    views = "".join(_view(chart, frame, first=i == 0) for i, frame in enumerate(frames))
    return (
        f'<figure class="chart" id="{identifier}" aria-labelledby="{identifier}-title">'
        f'<figcaption id="{identifier}-title">{escape(chart.title)}</figcaption>'
        f"{_controls(identifier, chart)}{slider}{views}</figure>"
    )


def _view(chart: Chart, frame: Frame, *, first: bool) -> str:
    """Picture and numbers of one choice; all but the first are hidden."""
    title = escape(chart.title)
    picture = _panels(chart) if chart.panels else responsive(frame.draw, wide=chart.wide)
    hidden = "" if first else " hidden"
    return (
        f'<div class="chart-view" data-choice="{",".join(map(str, frame.choice))}"{hidden}>'
        f"{picture}"
        f'<details class="chart-numbers"><summary>Numbers of this chart</summary>'
        f'<p class="chart-said">{escape(frame.description)}</p>'
        f'<div class="chart-scroll" tabindex="0" role="group" aria-label="Numbers: {title}">'
        f"{table_html(frame.table)}</div></details></div>"
    )


def _panels(chart: Chart) -> str:
    drawn = [picture.to_svg(styled=False) for picture in chart.panels]
    first = f'<div class="chart-panels">{"".join(drawn[: chart.shown])}</div>'
    if len(drawn) <= chart.shown:
        return first
    rest = "".join(drawn[chart.shown :])
    return (
        f'{first}<details class="chart-more"><summary>and {len(drawn) - chart.shown:,} more'
        f'</summary><div class="chart-panels">{rest}</div></details>'
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


def _controls(identifier: str, chart: Chart) -> str:
    """Lists to choose from, which the script brings to life."""
    parts = []
    for i, control in enumerate(chart.controls):
        if len(control.options) < 2:
            continue
        own = f"{identifier}-{i}"
        chosen = chart.frames[0].choice[i]
        options = "".join(
            f'<option value="{k}"{" selected" if k == chosen else ""}>{escape(option)}</option>'
            for k, option in enumerate(control.options)
        )
        parts.append(
            f'<span class="chart-control"><label for="{own}">{escape(control.name)}</label>'
            f'<select id="{own}" data-control="{i}">{options}</select></span>'
        )
    if not parts:
        return ""
    status = '<p class="chart-status" aria-live="polite"></p>'
    return f'<div class="chart-controls">{"".join(parts)}</div>{status}'


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
        f'<dl class="chart-readout" id="{identifier}-readout">{outputs}</dl>'
        f'<script type="application/json">{script_json(slider)}</script></div>'
    )


@cache
def runtime_script() -> str:
    """JavaScript for the charts of a page; once, at the end of its body.

    Pictures are seen without it. It switches between frames, moves the slider and shows what
    stands behind a mark that is pointed at or touched.
    """
    return f'(function(){{"use strict";\n{_asset("chart.js")}\n}})();\n'


@cache
def chart_style() -> str:
    """Style sheet of charts; once a page."""
    return picture_style() + _asset("chart.css")


def _asset(name: str) -> str:
    return (resources.files("veridical.report") / "assets" / name).read_text(encoding="utf-8")
