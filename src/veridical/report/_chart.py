"""A chart: what is drawn, what it says in words, and the numbers in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from veridical.report._chart_markup import figure_html, payload_of
from veridical.report._chart_table import Table
from veridical.report._vega import svg_of

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


def top_level(datasets: dict[str, list[dict[str, Any]]], **parts: Any) -> dict[str, Any]:
    """Return a specification: schema, data, and the parts given."""
    return {
        "$schema": SCHEMA,
        "padding": {"left": 4, "right": 14, "top": 6, "bottom": 4},
        "datasets": datasets,
        **parts,
    }
