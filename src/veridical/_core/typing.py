"""Names for the types that travel between modules."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.floating[Any]]
IntArray: TypeAlias = npt.NDArray[np.integer[Any]]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
Array: TypeAlias = npt.NDArray[Any]

# Anything `_core.arrays.to_numpy` understands: sequence, array, series, frame or CPU tensor.
ArrayLike: TypeAlias = Any
# One column of a table, or several.
ColumnNames: TypeAlias = str | list[str] | tuple[str, ...]

Side: TypeAlias = Literal["left", "right"]
WeightType: TypeAlias = Literal["importance", "frequency"]
