"""What is a frame, asked without importing any frame library."""

from __future__ import annotations

import sys
from typing import Any

from veridical.frames._tables.engines import ENGINES, RESULT_LIBRARIES

_QUERIES = tuple(test for engine in ENGINES.values() for test in engine.queries)
# A frame can exist only once its library is loaded, or narwhals, which knows protocols too.
_OF_TABLES = {"narwhals"} | {each.module or each.name for each in ENGINES.values() if each.tables}
_OF_QUERIES = {"narwhals"} | {each.module or each.name for each in ENGINES.values() if each.queries}


def is_frame(obj: object) -> bool:
    """Whether `obj` is a table this library reads.

    Parameters
    ----------
    obj : object
        Anything.

    Returns
    -------
    bool
        True for a pandas or polars DataFrame, a pyarrow Table, the pandas-likes narwhals knows,
        and whatever `is_lazy` knows; False for series, arrays, paths and everything else.

    Examples
    --------
    >>> import polars as pl
    >>> is_frame(pl.DataFrame({"p": [0.2, 0.7]})), is_frame([0.2, 0.7])
    (True, False)
    """
    if is_lazy(obj):
        return True
    if _OF_TABLES.isdisjoint(sys.modules):
        return False
    import narwhals.stable.v2 as nw

    return nw.dependencies.is_into_dataframe(unwrap(obj))


def is_lazy(obj: object) -> bool:
    """Whether `obj` is a query that an engine has yet to run.

    Parameters
    ----------
    obj : object
        Anything.

    Returns
    -------
    bool
        True for a polars LazyFrame, a DuckDB relation, a PySpark DataFrame (classic or Connect), a
        Dask DataFrame, an Ibis table and a SQLFrame DataFrame.

    Examples
    --------
    >>> import polars as pl
    >>> is_lazy(pl.LazyFrame({"p": [0.2, 0.7]})), is_lazy(pl.DataFrame({"p": [0.2, 0.7]}))
    (True, False)
    """
    if _OF_QUERIES.isdisjoint(sys.modules):
        return False
    from narwhals import dependencies as known  # the stable namespace has had few of them for long

    obj = unwrap(obj)
    return any(getattr(known, test)(obj) for test in _QUERIES)


def library_of(obj: object) -> str | None:
    """Name of the library whose frame or series this is, if results come in it; else None.

    Examples
    --------
    >>> import polars as pl
    >>> library_of(pl.Series([0.2])), library_of([0.2])
    ('polars', None)
    """
    if isinstance(obj, (list, tuple, dict, str, int, float)) or obj is None:
        return None
    if type(obj).__module__.partition(".")[0] == "narwhals":
        obj = unwrap(obj)
    library = type(obj).__module__.partition(".")[0]
    return library if library in RESULT_LIBRARIES else None


def unwrap(obj: object) -> Any:
    """Return what a narwhals frame wraps, or `obj` itself."""
    import narwhals as nw

    return nw.to_native(obj, pass_through=True)
