"""New columns for a frame that is in memory, or whose parts will be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from veridical._core.typing import FloatArray
from veridical.frames._detect import unwrap


def with_arrays(source: Any, added: Mapping[str, FloatArray]) -> Any:
    """Add arrays to a frame as columns; NaN becomes what the frame writes for a missing value.

    Parameters
    ----------
    source : frame
        pandas, polars or pyarrow.
    added : mapping of str to ndarray of shape (n_rows,)
        New columns.

    Returns
    -------
    frame
        Of the same library, with the index it had.

    Examples
    --------
    >>> import numpy as np
    >>> import polars as pl
    >>> frame = with_arrays(pl.DataFrame({"id": [7, 8]}), {"q": np.array([0.5, np.nan])})
    >>> frame["q"].to_list()
    [0.5, None]
    """
    frame = nw.from_native(unwrap(source), eager_only=True)
    if nw.dependencies.is_pandas_like_dataframe(frame.to_native()):
        return frame.to_native().assign(**dict(added))
    backend = frame.implementation
    series = [nw.new_series(name, values, backend=backend) for name, values in added.items()]
    missing = {name: bool(np.isnan(values).any()) for name, values in added.items()}
    frame = frame.with_columns(*series)
    marked = [
        nw.when(~nw.col(name).is_nan()).then(nw.col(name)).alias(name)
        for name, some in missing.items()
        if some
    ]
    return (frame.with_columns(*marked) if marked else frame).to_native()


def of_partitions(source: Any) -> Callable[[Callable[[Any], Any]], Any] | None:
    """What applies a function to each part of a lazy frame, if its engine keeps pandas frames.

    Dask runs Python in any case, and plans a formula more slowly than it computes it (0.9 s for
    each of seventy maps). The function has to work on a frame without rows, for its columns.
    """
    if not nw.dependencies.is_dask_dataframe(unwrap(source)):
        return None
    native: Any = unwrap(source)
    return lambda function: native.map_partitions(function, meta=function(native._meta))
