"""Any frame or file in, NumPy columns and small tables out; the only place that knows engines."""

from veridical.frames._detect import is_frame
from veridical.frames._expand import expand_columns
from veridical.frames._guess import ColumnGuess, guess_columns
from veridical.frames._labels import label_of_column, labels_from_columns
from veridical.frames._open import column_names, open_table
from veridical.frames._small import small_table
from veridical.frames._table import Table

__all__ = [
    "ColumnGuess",
    "Table",
    "column_names",
    "expand_columns",
    "guess_columns",
    "is_frame",
    "label_of_column",
    "labels_from_columns",
    "open_table",
    "small_table",
]
