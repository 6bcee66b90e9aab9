"""Cells of a grid and the table of rows in memory."""

from veridical.summaries._grid.build import table_of_sample
from veridical.summaries._grid.cells import Cells

__all__ = ["Cells", "table_of_sample"]
