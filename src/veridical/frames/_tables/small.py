"""Small result tables in the user's frame library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from veridical._core.runtime.optional import require
from veridical._core.typing import Array
from veridical.exceptions import invalid, unknown_option
from veridical.frames._tables.engines import RESULT_LIBRARIES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def small_table(
    data: Mapping[str, Sequence[Any] | Array],
    *,
    backend: str = "polars",
    text: Sequence[str] = (),
    numbers: Sequence[str] = (),
    caller: str,
) -> Any:
    """Build a small result table.

    Parameters
    ----------
    data : mapping of str to sequence
        Columns of equal length, in order; NumPy arrays are fine.
    backend : {"polars", "pandas", "pyarrow"}
        The library of the result.
    text, numbers : sequences of str
        Columns that hold text, or floats, even where every value is missing.
    caller : str
        Who asks: it opens the error message.

    Returns
    -------
    polars.DataFrame, pandas.DataFrame or pyarrow.Table
        The same columns and values in each.

    Examples
    --------
    >>> small_table({"bin": [1, 2], "n": [10, 7]}, caller="evaluate").shape
    (2, 2)
    """
    if not isinstance(backend, str) or backend not in RESULT_LIBRARIES:
        raise unknown_option(caller, "backend", backend, RESULT_LIBRARIES)
    lengths = {name: len(values) for name, values in data.items()}
    if len(set(lengths.values())) > 1:
        got = ", ".join(f"{name!r} of {length}" for name, length in lengths.items())
        hint = "give every column one value a row."
        raise invalid(caller, "data", "columns of equal length", got, hint=hint)
    library = require(backend, extra=None, purpose=f"{caller} with backend={backend!r}")
    if backend == "polars":
        types = dict.fromkeys(text, library.String) | dict.fromkeys(numbers, library.Float64)
        # Not strict: 1 beside 0.5 is a float, not an error.
        return library.DataFrame(dict(data), schema_overrides=types, strict=False)
    if backend == "pandas":
        types = dict.fromkeys(text, object) | dict.fromkeys(numbers, "float64")
        return library.DataFrame(dict(data)).astype(types)
    types = dict.fromkeys(text, library.string()) | dict.fromkeys(numbers, library.float64())
    return library.table(
        {
            name: library.array(values, types[name]) if name in types else values
            for name, values in data.items()
        }
    )
