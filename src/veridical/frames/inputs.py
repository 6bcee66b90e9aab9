"""The data a function was given, arrays or columns of a table, read once."""

from typing import TYPE_CHECKING

from veridical._core.runtime.late import late_names

if TYPE_CHECKING:
    from veridical.frames._tables.features import feature_columns
    from veridical.frames._tables.inputs import UNNAMED, Inputs, Named, gather_inputs, name_columns

__all__ = ["UNNAMED", "Inputs", "Named", "feature_columns", "gather_inputs", "name_columns"]

__getattr__, __dir__ = late_names(__name__)
