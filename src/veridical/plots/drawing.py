"""Style and axes for figures that other distributions draw."""

from veridical.plots._drawing.axes import short_count
from veridical.plots._drawing.frame import set_frame
from veridical.plots._drawing.style import Style, style_of

__all__ = ["Style", "set_frame", "short_count", "style_of"]
