"""Sufficient statistics of binned problems: one pass over the data, then everything from these."""

from typing import TYPE_CHECKING

from veridical._core.runtime.late import late_names

if TYPE_CHECKING:
    from veridical.summaries._bins.build import Assignment, summarise
    from veridical.summaries._bins.summary import Summary, VectorSummary
    from veridical.summaries._grid.grid import GridSummary

__all__ = ["Assignment", "GridSummary", "Summary", "VectorSummary", "summarise"]

__getattr__, __dir__ = late_names(__name__)
