"""Frames and files as tables: columns found, read, sampled and summed, for rooms above."""

from typing import TYPE_CHECKING

from veridical._core.runtime.late import late_names

if TYPE_CHECKING:
    from veridical._core.data.columns import label_of_column, labels_from_columns
    from veridical.frames._grid.grid import grid_table
    from veridical.frames._grid.sample import sample_rows
    from veridical.frames._grid.table import GridTable
    from veridical.frames._tables.columns import expand_columns
    from veridical.frames._tables.detect import is_frame, is_lazy, library_of
    from veridical.frames._tables.find import ColumnGuess, find_columns, predictions_by_name
    from veridical.frames._tables.open import column_names, open_table
    from veridical.frames._tables.order import labels_of
    from veridical.frames._tables.run_sql import run_in_duckdb
    from veridical.frames._tables.small import small_table
    from veridical.frames._tables.table import Table

__all__ = [
    "ColumnGuess",
    "GridTable",
    "Table",
    "column_names",
    "expand_columns",
    "find_columns",
    "grid_table",
    "is_frame",
    "is_lazy",
    "label_of_column",
    "labels_from_columns",
    "labels_of",
    "library_of",
    "open_table",
    "predictions_by_name",
    "run_in_duckdb",
    "sample_rows",
    "small_table",
]

__getattr__, __dir__ = late_names(__name__)
