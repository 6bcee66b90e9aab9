"""Whatever holds values becomes a NumPy array, without importing the library it came from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.typing import Array, ArrayLike, BoolArray
from veridical.exceptions import invalid


@dataclass(frozen=True, eq=False)
class NamedArray:
    """Columns that were read from a table, and what the table said of them.

    Attributes
    ----------
    values : one column, or several side by side
    columns : their names
    declared : categories in their order if the type of the column orders them, else None
    """

    values: Array
    columns: tuple[str, ...]
    declared: tuple[Any, ...] | None = None

    def __len__(self) -> int:
        return len(self.values)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        return np.array(self.values, dtype=dtype) if copy else np.asarray(self.values, dtype=dtype)


def to_numpy(values: ArrayLike, *, caller: str, param: str) -> Array:
    """Return `values` as an array, sharing memory where the source allows it.

    Understands sequences, NumPy arrays, pandas/polars/pyarrow series and frames, and CPU tensors.
    """
    if isinstance(values, np.ma.MaskedArray):
        if np.ma.is_masked(values):
            hint = "drop the masked rows first, e.g. `y[~mask]`."
            raise invalid(caller, param, "free of missing values", "a masked array", hint=hint)
        return np.asarray(values.data)
    if isinstance(values, NamedArray):
        return values.values
    if isinstance(values, np.ndarray) and values.ndim > 0:
        return np.asarray(values)
    if values is None or isinstance(values, (str, bytes, dict)):
        hint = "pass a list, an array or a series with one value per row."
        raise invalid(caller, param, "array-like", _describe(values), hint=hint)
    if hasattr(values, "detach") and hasattr(values, "device"):
        return _from_tensor(values, caller=caller, param=param)
    if hasattr(values, "combine_chunks"):  # pyarrow ChunkedArray or Table: one contiguous piece
        values = values.combine_chunks()
    if hasattr(values, "dictionary_decode"):  # pyarrow dictionary (categorical) array
        values = values.dictionary_decode()
    try:
        array = np.asarray(values)
    except (ValueError, TypeError) as error:
        hint = "pass a list, an array or a series with rows of equal length."
        raise invalid(caller, param, "array-like", _describe(values), hint=hint) from error
    listed = isinstance(values, (list, tuple)) and array.ndim == 1 and array.dtype.kind in "US"
    if listed and not all(isinstance(value, (str, bytes)) for value in values):
        # NumPy writes everything beside a text as text: a missing value would become a label.
        return np.array(values, dtype=object)
    if array.ndim == 0:
        hint = "pass a list, an array or a series with one value per row."
        raise invalid(caller, param, "array-like", _describe(values), hint=hint)
    return array


def missing_values(array: Array) -> BoolArray:
    """Mark NaN, NaT, None and pandas' NA."""
    if array.dtype.kind in "fc":
        return np.isnan(array)
    if array.dtype.kind in "mM":
        return np.isnat(array)
    if array.dtype.kind == "O":
        marks = (value is None or _is_missing_object(value) for value in array.ravel())
        return np.fromiter(marks, dtype=bool, count=array.size).reshape(array.shape)
    return np.zeros(array.shape, dtype=bool)


def _is_missing_object(value: Any) -> bool:
    if type(value).__name__ == "NAType":
        return True
    return isinstance(value, float) and value != value


def _from_tensor(tensor: Any, *, caller: str, param: str) -> Array:
    if getattr(tensor.device, "type", "cpu") != "cpu":
        hint = f"move it first: `{param}.cpu()`."
        raise invalid(caller, param, "in CPU memory", f"a tensor on {tensor.device}", hint=hint)
    try:
        return np.asarray(tensor.detach())
    except TypeError as error:  # bfloat16 has no NumPy counterpart
        hint = f"convert it first: `{param}.float()`."
        got = f"a tensor of type {tensor.dtype}"
        raise invalid(caller, param, "of a type NumPy has", got, hint=hint) from error


def _describe(values: object) -> str:
    return "None" if values is None else f"a {type(values).__name__}"
