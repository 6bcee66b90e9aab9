"""One column of predictions that points away from the class it is taken to be about."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from veridical._core.sample import BinarySample, Sample, effective_size, weighted_mean
from veridical._core.typing import Array, FloatArray, IntArray, WeightType
from veridical.exceptions import VeridicalWarning

_CLEARLY = 4.0  # standard errors: about 3 false alarms in 100,000 fits of useless predictions
_FEWEST = 10.0  # rows of each class; the spread of fewer is not known well enough
_ROUNDING = 1e-9  # relative to the largest prediction

_DOUBTS: ContextVar[list[str] | None] = ContextVar("doubts", default=None)


def points_away(
    values: FloatArray, y: Array, weight: FloatArray | None, weight_type: WeightType
) -> bool:
    """Whether predictions are clearly lower where y is 1 than where it is 0.

    Clearly is by four standard errors of the difference of two means (Welch), with effective sizes
    of weighted rows. With less than ten rows of a class the answer is no. O(n).

    Examples
    --------
    >>> p, y = np.repeat([0.9, 0.1], 20), np.repeat([1, 0], 20)
    >>> points_away(p, y, None, "importance"), points_away(p, 1 - y, None, "importance")
    (False, True)
    """
    scale = float(np.abs(values).max())
    if scale == 0:
        return False
    means, variance = [], 0.0
    for outcome in (0, 1):
        rows = np.flatnonzero(y == outcome)
        part = values[rows].astype(np.float64) / scale
        own = None if weight is None else weight[rows]
        if len(part) == 0 or (size := effective_size(own, len(part), weight_type)) < _FEWEST:
            return False
        means.append(weighted_mean(part, own))
        variance += weighted_mean((part - means[-1]) ** 2, own) / (size - 1)
    return means[1] - means[0] < -_CLEARLY * math.sqrt(variance) - _ROUNDING


def doubt_direction(
    values: FloatArray,
    y: IntArray,
    weight: FloatArray | None,
    weight_type: WeightType,
    classes: tuple[Any, ...],
) -> None:
    """Note a doubt if one column of predictions points away from the larger of two labels.

    `y` is 1 where that label occurred. The `fit` around says it, unless it is that of a part.
    """
    doubts = _DOUBTS.get()
    if doubts is None or values.ndim == 2 or not points_away(values, y, weight, weight_type):
        return
    smaller, larger = (repr(label) for label in sorted(np.asarray(classes).tolist()))
    doubts.append(
        f"predictions are lower where {larger} happened, though one column is that of the larger "
        f"label, {larger}; if yours is that of {smaller}, fit to y == {smaller}"
    )


def doubt_sample(sample: Sample) -> None:
    """`doubt_direction` of checked probabilities."""
    if isinstance(sample, BinarySample) and sample.pair is None:
        doubt_direction(sample.p, sample.y, sample.weight, sample.weight_type, sample.classes)


@contextmanager
def told_once(caller: str) -> Iterator[None]:
    """Warn the user of the method that enters this of doubts that were noted within.

    Entered again within, by calibrators inside others, it says nothing.
    """
    outermost, doubts = _DOUBTS.get() is None, list[str]()
    before = _DOUBTS.set(doubts)
    try:
        yield
    finally:
        _DOUBTS.reset(before)
    if outermost:
        for doubt in doubts:  # frames: this one, that of contextlib, the method, its user
            warnings.warn(f"{caller}: {doubt}.", VeridicalWarning, stacklevel=4)


@contextmanager
def direction_known() -> Iterator[None]:
    """Fit without a word about direction: what the column is about has been settled before."""
    before = _DOUBTS.set([])
    try:
        yield
    finally:
        _DOUBTS.reset(before)
