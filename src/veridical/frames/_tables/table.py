"""A table of any frame library, read column by column as NumPy arrays."""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from veridical._core.data.arrays import NamedArray
from veridical._core.numeric.blocks import ROWS, row_blocks
from veridical.exceptions import invalid
from veridical.frames._tables.columns import listed, missing_column

if TYPE_CHECKING:
    from collections.abc import Sequence

    import narwhals.stable.v2 as nw

    from veridical._core.typing import Array, FloatArray


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


def to_numbers(
    values: Array, name: str, *, scale: str = "probability", caller: str, param: str
) -> Array:
    """Return `values` as numbers; text that reads as a number is one, other text is an error.

    87 % is 0.87, and 87 where the `scale` is that of percentages.
    """
    if values.dtype.kind in "biuf":
        return values
    hint = "choose a column of numbers."
    if values.dtype.kind not in "OUT":
        got = f"column {name!r} of type {values.dtype}"
        raise invalid(caller, param, "numeric", got, hint=hint)
    percent = percent_numbers(values)
    if percent is not None:
        return percent if scale == "percent" else percent / 100
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


_PERCENT = re.compile(r"\s*[-+]?\d+(?:[.,]\d+)?\s*%\s*")


def percent_numbers(values: Array) -> FloatArray | None:
    """Numbers that are written with a percent sign, 87 % as 87; None unless all are.

    Examples
    --------
    >>> percent_numbers(np.array(["87 %", "5%", None], dtype=object))
    array([87.,  5., nan])
    """
    known = (value for value in values if not (value is None or isinstance(value, float)))
    first = next(known, "")
    if not all(isinstance(one, str) and _PERCENT.fullmatch(one) for one in chain([first], known)):
        return None
    signs = str.maketrans({"%": None, ",": "."})
    return np.array([float(v.translate(signs)) if isinstance(v, str) else np.nan for v in values])


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


class Table:
    """Columns of a frame as NumPy arrays; made by `open_table`.

    Parameters
    ----------
    frame : narwhals DataFrame
        An eager frame whose column names are strings.

    Examples
    --------
    >>> import polars as pl
    >>> from veridical.frames.tables import open_table
    >>> table = open_table(pl.DataFrame({"y": ["a", "b"], "p": [0.25, None]}), caller="evaluate")
    >>> table
    Table(n_rows=2, columns=['y', 'p'])
    >>> table.column("p", caller="evaluate", param="prob")
    array([0.25,  nan])
    """

    __slots__ = ("_frame",)

    def __init__(self, frame: nw.DataFrame[Any]) -> None:
        self._frame = frame

    def __repr__(self) -> str:
        return f"Table(n_rows={self.n_rows}, columns=[{listed(self.columns)}])"

    @property
    def columns(self) -> list[str]:
        """Names of the columns, in order."""
        return list(self._frame.columns)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self._frame)

    def column(self, name: str, *, caller: str, param: str) -> Array:
        """Return one column.

        Parameters
        ----------
        name : str
            The column.
        caller, param : str
            Who asks, and for which argument: they open the error message.

        Returns
        -------
        ndarray of shape (n_rows,)
            Numbers and booleans as they are; text, categories and enums as str or object. A missing
            number is NaN, any other missing value None. May share memory with the frame.
        """
        return to_array(self._series(name, caller, param), caller=caller, param=param)

    def matrix(
        self, names: Sequence[str], *, scale: str = "probability", caller: str, param: str
    ) -> FloatArray:
        """Return several columns of numbers side by side.

        Parameters
        ----------
        names : sequence of str
            The columns, in the order wanted.
        scale : str, default="probability"
            "percent" if percentages are to stay what they are; else 87 % is 0.87.
        caller, param : str
            Who asks, and for which argument: they open the error message.

        Returns
        -------
        ndarray of shape (n_rows, len(names))
            C-contiguous; float32 if every column is, else float64. A missing number is NaN.
        """
        import narwhals.stable.v2 as nw

        if not names:
            hint = "name one probability column per class, or one for the positive class."
            raise invalid(caller, param, "at least one column", "none", hint=hint)
        series = [self._series(name, caller, param) for name in names]
        single = all(one.dtype == nw.Float32 for one in series)
        values = [
            to_numbers(
                to_array(one, caller=caller, param=param),
                name,
                scale=scale,
                caller=caller,
                param=param,
            )
            for one, name in zip(series, names, strict=True)
        ]
        result: FloatArray = np.empty(
            (self.n_rows, len(names)), dtype=np.float32 if single else np.float64
        )
        # Block by block, so that the rows being filled stay in cache.
        for rows in row_blocks(self.n_rows, max(256, ROWS // len(names))):
            for k, one_column in enumerate(values):
                result[rows, k] = one_column[rows]
        return result

    def predictions(
        self, names: Sequence[str], *, scale: str = "probability", caller: str, param: str
    ) -> NamedArray:
        """Return columns of numbers with their names: (n,) of one, else as `matrix` does."""
        values = self.matrix(names, scale=scale, caller=caller, param=param)
        return NamedArray(values[:, 0] if len(names) == 1 else values, tuple(names))

    def _series(self, name: str, caller: str, param: str) -> nw.Series[Any]:
        if name not in self._frame.columns:
            raise missing_column(name, self.columns, caller=caller, param=param)
        return self._frame.get_column(name)
