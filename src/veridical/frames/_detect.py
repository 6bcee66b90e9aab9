"""What is a frame, asked without importing any frame library."""

from __future__ import annotations

import sys
from typing import Any

# A frame can exist only once its library is loaded; modin and cuDF load pandas.
_LIBRARIES = frozenset({"pandas", "polars", "pyarrow", "narwhals"})


def is_frame(obj: object) -> bool:
    """Whether `obj` is a table this library reads.

    Parameters
    ----------
    obj : object
        Anything.

    Returns
    -------
    bool
        True for a pandas or polars DataFrame, a polars LazyFrame, a pyarrow Table and the
        pandas-likes narwhals knows; False for series, arrays, paths and everything else.

    Examples
    --------
    >>> import polars as pl
    >>> is_frame(pl.DataFrame({"p": [0.2, 0.7]})), is_frame([0.2, 0.7])
    (True, False)
    """
    if _LIBRARIES.isdisjoint(sys.modules):
        return False
    import narwhals.stable.v2 as nw

    obj = unwrap(obj)
    return nw.dependencies.is_into_dataframe(obj) or nw.dependencies.is_polars_lazyframe(obj)


def unwrap(obj: object) -> Any:
    """Return what a narwhals frame wraps, or `obj` itself."""
    import narwhals as nw

    return nw.to_native(obj, pass_through=True)
