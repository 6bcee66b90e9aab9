"""Small panels described as data, for experiments."""

from veridical.plots._drawing.panels import (
    Band,
    Bars,
    Figure,
    Line,
    Mark,
    Panel,
    Points,
    draw_panels,
    marked_lines,
    save_picture,
)

__all__ = [
    "Band",
    "Bars",
    "Figure",
    "Line",
    "Mark",
    "Panel",
    "Points",
    "draw_panels",
    "marked_lines",
    "save_picture",
]
