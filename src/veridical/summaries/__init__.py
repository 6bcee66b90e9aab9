"""Sufficient statistics of binned problems: one pass over the data, then everything from these."""

from veridical.summaries._build import Assignment, summarise
from veridical.summaries._grid import GridSummary
from veridical.summaries._summary import Summary
from veridical.summaries._vector import VectorSummary

__all__ = ["Assignment", "GridSummary", "Summary", "VectorSummary", "summarise"]
