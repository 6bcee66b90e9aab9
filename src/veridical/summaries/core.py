"""Cells of a grid, the problems it holds, and the table of rows in memory."""

from veridical.summaries._grid.build import table_of_sample
from veridical.summaries._grid.cells import Cells
from veridical.summaries._grid.grid import find_problem, problem_of

__all__ = ["Cells", "find_problem", "problem_of", "table_of_sample"]
