"""Corners of the lines and bands that show a reliability curve, for plots and reports."""

from __future__ import annotations

import numpy as np

from veridical._core.typing import FloatArray, IntArray
from veridical.results import ReliabilityCurve

__all__ = ["band_corners", "bins_alike", "curve_pieces", "line_corners"]


def line_corners(curve: ReliabilityCurve, at: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the corners of the line through points that stand `at` these places.

    An isotonic fit is flat over its blocks, wherever its points stand.
    """
    if curve.method == "isotonic":
        return _block_ends(curve), np.repeat(curve.observed, 2)
    return at, curve.observed


def band_corners(
    curve: ReliabilityCurve, at: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the corners of the band between the limits of a curve, NaN if it has none.

    A simultaneous band of an isotonic fit steps: between blocks the lower limit of the one before
    and the upper limit of the one after hold.
    """
    none = np.full(len(curve), np.nan)
    low = none if curve.low is None else curve.low
    high = none if curve.high is None else curve.high
    if curve.method != "isotonic":
        return at, low, high
    x = _block_ends(curve)
    if curve.interval != "simultaneous":
        return x, np.repeat(low, 2), np.repeat(high, 2)
    # Corners of a block: where it starts and ends, and between it and the next one.
    return np.repeat(x, 2)[1:-1], np.repeat(low, 4)[:-2], np.repeat(high, 4)[2:]


def curve_pieces(curve: ReliabilityCurve) -> IntArray:
    """Return the number of the piece each point is on: lines break where bins are left out."""
    width = np.maximum(curve.upper - curve.lower, 0.0)
    skipped = curve.lower[1:] - curve.upper[:-1] > 1e-9 + 1e-6 * width[1:]
    return np.concatenate([[0], np.cumsum(skipped)])


def bins_alike(curve: ReliabilityCurve) -> bool:
    """Whether bins have the same width, so that heights of bars compare."""
    width = curve.upper - curve.lower
    return bool(np.ptp(width) <= 1e-6 * width.max())


def _block_ends(curve: ReliabilityCurve) -> FloatArray:
    return np.stack([curve.lower, curve.upper], axis=1).reshape(-1)
