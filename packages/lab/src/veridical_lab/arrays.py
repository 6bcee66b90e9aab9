"""Types that travel between modules of the lab."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.floating[Any]]
IntArray: TypeAlias = npt.NDArray[np.integer[Any]]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
Array: TypeAlias = npt.NDArray[Any]
ArrayLike: TypeAlias = Any  # anything that functions of the core take as an array
WeightType: TypeAlias = Literal["importance", "frequency"]
