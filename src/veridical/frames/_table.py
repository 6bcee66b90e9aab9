"""A table of any frame library, read column by column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from veridical._core.blocks import ROWS, row_blocks
from veridical.exceptions import invalid
from veridical.frames._convert import to_array, to_numbers
from veridical.frames._names import listed, missing_column

if TYPE_CHECKING:
    from collections.abc import Sequence

    import narwhals.stable.v2 as nw

    from veridical._core.typing import Array, FloatArray


class Table:
    """Columns of a frame as NumPy arrays; made by `open_table`.

    Parameters
    ----------
    frame : narwhals DataFrame
        An eager frame whose column names are strings.

    Examples
    --------
    >>> import polars as pl
    >>> from veridical.frames import open_table
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

    def matrix(self, names: Sequence[str], *, caller: str, param: str) -> FloatArray:
        """Return several columns of numbers side by side.

        Parameters
        ----------
        names : sequence of str
            The columns, in the order wanted.
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
            to_numbers(to_array(one, caller=caller, param=param), name, caller=caller, param=param)
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

    def _series(self, name: str, caller: str, param: str) -> nw.Series[Any]:
        if name not in self._frame.columns:
            raise missing_column(name, self.columns, caller=caller, param=param)
        return self._frame.get_column(name)
