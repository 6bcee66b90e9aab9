"""Features in any form as named columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from veridical._core.data.arrays import to_numpy
from veridical._core.data.columns import names_of
from veridical.exceptions import invalid
from veridical.frames._tables.detect import is_frame
from veridical.frames._tables.open import open_table

if TYPE_CHECKING:
    from veridical._core.typing import Array, ArrayLike


def feature_columns(
    features: ArrayLike, *, caller: str, param: str = "features"
) -> dict[str, Array]:
    """Columns of features by name, in their order.

    Parameters
    ----------
    features : frame, mapping of names to columns, series or array
        A frame of any library; an array of shape (n,) or (n, m), whose columns are called x0, x1,
        ...; a series, which has a name.
    caller, param : str
        Who asks, and for which argument: they open the error message.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"age": [30, None], "region": ["South", "East"]})
    >>> feature_columns(frame, caller="audit_segments")
    {'age': array([30., nan]), 'region': array(['South', 'East'], dtype='<U5')}
    >>> feature_columns([[1, 2], [3, 4]], caller="audit_segments")
    {'x0': array([1, 3]), 'x1': array([2, 4])}
    """
    if isinstance(features, Mapping):
        return {
            str(name): to_numpy(column, caller=caller, param=param)
            for name, column in features.items()
        }
    if is_frame(features):
        table = open_table(features, caller=caller)
        return {name: table.column(name, caller=caller, param=param) for name in table.columns}
    values = to_numpy(features, caller=caller, param=param)
    if values.ndim == 1:
        [name] = names_of(features) or ("x0",)
        return {name: values}
    if values.ndim != 2:
        hint = "pass a frame, or an array with a column a feature."
        raise invalid(caller, param, "a table of features", f"shape {values.shape}", hint=hint)
    return {f"x{k}": column for k, column in enumerate(np.moveaxis(values, 1, 0))}
