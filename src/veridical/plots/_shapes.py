"""Corners of the lines and bands that show a reliability curve."""

from __future__ import annotations

from typing import Literal

import numpy as np

from veridical._core.typing import FloatArray
from veridical.results import ReliabilityCurve

Position = Literal["mean", "centre"]


def positions(curve: ReliabilityCurve, x: Position) -> FloatArray:
    """Where points stand: at mean predictions, or in the middle of bins."""
    return curve.predicted if x == "mean" else (curve.lower + curve.upper) / 2


def broken(curve: ReliabilityCurve, *values: FloatArray) -> tuple[FloatArray, ...]:
    """Values with NaN wherever the curve leaves out a bin or a cell, so that lines break there."""
    width = np.maximum(curve.upper - curve.lower, 0.0)
    skipped = curve.lower[1:] - curve.upper[:-1] > 1e-9 + 1e-6 * width[1:]
    at = np.flatnonzero(skipped) + 1
    return tuple(np.insert(v.astype(np.float64), at, np.nan) for v in values)


def line_corners(
    curve: ReliabilityCurve, x: Position, y: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Corners of the line through the points; an isotonic fit is flat over its blocks."""
    if curve.method == "isotonic":
        return _doubled(curve.lower, curve.upper), np.repeat(y, 2)
    xs, ys = broken(curve, positions(curve, x), y)
    return xs, ys


def band_corners(
    curve: ReliabilityCurve, x: Position, low: FloatArray, high: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Corners of the band between limits.

    A simultaneous band steps: between blocks the lower limit of the one before and the upper
    limit of the one after hold.
    """
    if curve.method != "isotonic":
        xs, lows, highs = broken(curve, positions(curve, x), low, high)
        return xs, lows, highs
    if curve.interval != "simultaneous":
        return _doubled(curve.lower, curve.upper), np.repeat(low, 2), np.repeat(high, 2)
    xs = np.repeat(_doubled(curve.lower, curve.upper), 2)[1:-1]
    # Corners of a block: where it starts and ends, and between it and the next one.
    return xs, np.repeat(low, 4)[:-2], np.repeat(high, 4)[2:]


def _doubled(lower: FloatArray, upper: FloatArray) -> FloatArray:
    return np.stack([lower, upper], axis=1).reshape(-1)
