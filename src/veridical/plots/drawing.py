"""Axes, style, legends and series for figures that other distributions draw."""

from veridical.plots._drawing.artists import Artists, Drawn
from veridical.plots._drawing.axes import get_axes, short_count, short_name, size_text, styled_axes
from veridical.plots._drawing.diagram import check_choices
from veridical.plots._drawing.frame import set_frame
from veridical.plots._drawing.legend import draw_legend, legend_above, x_label
from veridical.plots._drawing.marks import broken, draw_markers
from veridical.plots._drawing.series import PlotOptions, Series, gather_series, options_binning
from veridical.plots._drawing.simplex import corner_names, draw_triangle, lattice
from veridical.plots._drawing.style import SMALLEST, Style, style_of

__all__ = [
    "SMALLEST",
    "Artists",
    "Drawn",
    "PlotOptions",
    "Series",
    "Style",
    "broken",
    "check_choices",
    "corner_names",
    "draw_legend",
    "draw_markers",
    "draw_triangle",
    "gather_series",
    "get_axes",
    "lattice",
    "legend_above",
    "options_binning",
    "set_frame",
    "short_count",
    "short_name",
    "size_text",
    "style_of",
    "styled_axes",
    "x_label",
]
