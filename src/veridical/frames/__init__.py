"""Any frame or file in, NumPy columns and small tables out; the only place that knows engines."""

from veridical.frames._detect import is_frame, is_lazy
from veridical.frames._engine_sample import sample_rows
from veridical.frames._expand import expand_columns
from veridical.frames._grid import grid_table
from veridical.frames._grid_table import GridTable
from veridical.frames._guess import ColumnGuess, guess_columns
from veridical.frames._labels import label_of_column, labels_from_columns
from veridical.frames._lazy import open_lazy
from veridical.frames._open import column_names, open_table
from veridical.frames._small import small_table
from veridical.frames._table import Table

__all__ = [
    "ColumnGuess",
    "GridTable",
    "Table",
    "column_names",
    "expand_columns",
    "grid_table",
    "guess_columns",
    "is_frame",
    "is_lazy",
    "label_of_column",
    "labels_from_columns",
    "open_lazy",
    "open_table",
    "sample_rows",
    "small_table",
]
