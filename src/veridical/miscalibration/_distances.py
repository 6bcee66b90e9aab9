"""How far an observed frequency is from a mean prediction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from veridical._core.typing import FloatArray
from veridical.exceptions import invalid, unknown_option

Distance = Callable[[FloatArray, FloatArray], FloatArray]


def total_variation(observed: FloatArray, predicted: FloatArray) -> FloatArray:
    """Half the sum of absolute differences; in [0, 1]."""
    return np.abs(observed - predicted).sum(axis=-1) / 2


def manhattan(observed: FloatArray, predicted: FloatArray) -> FloatArray:
    """Sum of absolute differences; in [0, 2]."""
    return np.abs(observed - predicted).sum(axis=-1)


def euclidean(observed: FloatArray, predicted: FloatArray) -> FloatArray:
    """Root of the sum of squared differences."""
    return np.sqrt(squared_euclidean(observed, predicted))


def squared_euclidean(observed: FloatArray, predicted: FloatArray) -> FloatArray:
    """Sum of squared differences."""
    return ((observed - predicted) ** 2).sum(axis=-1)


def realised_class(observed: FloatArray, predicted: FloatArray) -> FloatArray:
    """Absolute difference at the class that occurs, on average (ECE^mul of 001 Definition 3)."""
    return (observed * np.abs(observed - predicted)).sum(axis=-1)


NAMED: dict[str, Distance] = {
    "tv": total_variation,
    "l1": manhattan,
    "l2": euclidean,
    "sqeuclidean": squared_euclidean,
    "realised": realised_class,
}


def check_distance(distance: Any, *, caller: str) -> None:
    """Raise unless `distance` is None, a known name or a callable."""
    if distance is None or callable(distance):
        return
    if not isinstance(distance, str) or distance not in NAMED:
        raise unknown_option(caller, "distance", distance, NAMED)


def apply_distance(distance: Any, observed: FloatArray, predicted: FloatArray) -> FloatArray:
    """Distances between rows of two (C, K) arrays; a callable's answer is checked."""
    function = NAMED[distance] if isinstance(distance, str) else distance
    result = np.asarray(function(observed, predicted), dtype=np.float64)
    if result.shape != observed.shape[:1] or not (result >= 0).all():
        hint = "return one non-negative number per row, e.g. `np.abs(a - b).max(axis=-1)`."
        got = f"shape {result.shape}"
        expected = "a function of two (cells, classes) arrays that gives a distance per cell"
        raise invalid("BinnedError", "distance", expected, got, hint=hint)
    return result
