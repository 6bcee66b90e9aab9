"""One column of a frame as a NumPy array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from veridical.exceptions import invalid

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw

    from veridical._core.typing import Array


def to_array(series: nw.Series[Any], *, caller: str, param: str) -> Array:
    """Return the values; missing numbers become NaN, other missing values None (dates: NaT)."""
    import narwhals.stable.v2 as nw

    dtype = series.dtype
    if dtype.is_nested():
        hint = "unpack it into one plain column per value first."
        got = f"column {series.name!r} of type {dtype}"
        raise invalid(caller, param, "a column of numbers, text or booleans", got, hint=hint)
    if dtype in (nw.Decimal, nw.Int128, nw.UInt128):  # no NumPy counterpart
        series = series.cast(nw.Float64)
    n_missing = series.null_count()
    if n_missing == len(series) > 0 and (dtype == nw.Unknown or dtype.is_numeric()):
        return np.full(len(series), np.nan)
    values: Array = series.to_numpy()
    return _mark_missing(values, series.is_null().to_numpy()) if n_missing else values


def to_numbers(values: Array, name: str, *, caller: str, param: str) -> Array:
    """Return `values` as numbers; text that reads as a number is one, other text is an error."""
    if values.dtype.kind in "biuf":
        return values
    hint = "choose a column of numbers."
    if values.dtype.kind not in "OUT":
        got = f"column {name!r} of type {values.dtype}"
        raise invalid(caller, param, "numeric", got, hint=hint)
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError) as error:
        bad = [i for i, value in enumerate(values) if not _is_number(value)]
        # In a file of decimal commas the words among the numbers are what is wrong.
        bad = [i for i in bad if not _is_number(str(values[i]).replace(",", ".", 1))] or bad
        if len(bad) < len(values):
            hint = "correct that value, or drop the row; a missing value is an empty cell."
        got = f"{_plain(values[bad[0]])!r} in column {name!r} at index {bad[0]}"
        got += f" ({len(bad)} of {len(values)} values)"
        raise invalid(caller, param, "numeric", got, hint=hint) from error


def _mark_missing(values: Array, missing: Array) -> Array:
    """Write the missing values in one way; libraries differ, and some leave any value there."""
    if values.dtype.kind in "mM":
        return values  # NaT already
    if values.dtype.kind in "iu":
        values = values.astype(np.float64)
    elif values.dtype.kind not in "fO":
        values = values.astype(object)
    else:
        values = values.copy()
    values[missing] = np.nan if values.dtype.kind == "f" else None
    return values


def _is_number(value: Any) -> bool:
    try:
        float(0 if value is None else value)
    except (TypeError, ValueError):
        return False
    return True


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
