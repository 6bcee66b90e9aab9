"""The data a function was given, arrays or columns of a table, read once."""

from veridical.frames._tables.inputs import Inputs, gather_inputs, name_columns

__all__ = ["Inputs", "gather_inputs", "name_columns"]
