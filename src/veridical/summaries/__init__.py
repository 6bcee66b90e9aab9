"""Sufficient statistics of binned problems: one pass over the data, then everything from these."""

from veridical.summaries._bins.build import Assignment, summarise
from veridical.summaries._bins.summary import Summary, VectorSummary
from veridical.summaries._grid.grid import GridSummary

__all__ = ["Assignment", "GridSummary", "Summary", "VectorSummary", "summarise"]
