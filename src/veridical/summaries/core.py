"""Cells of a grid, the problems it holds, the table of rows in memory, and sums of fewer rows."""

from typing import TYPE_CHECKING

from veridical._core.runtime.late import late_names

if TYPE_CHECKING:
    from veridical.summaries._bins.independent import independent_sums
    from veridical.summaries._grid.build import table_of_sample
    from veridical.summaries._grid.cells import Cells
    from veridical.summaries._grid.grid import find_problem, problem_of

__all__ = ["Cells", "find_problem", "independent_sums", "problem_of", "table_of_sample"]

__getattr__, __dir__ = late_names(__name__)
