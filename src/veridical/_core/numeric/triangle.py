"""Where a probability vector of three classes lies in a triangle."""

from __future__ import annotations

import math

import numpy as np

from veridical._core.typing import FloatArray

HEIGHT = math.sqrt(3) / 2  # of a triangle with sides of length one
TRIANGLE: FloatArray = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, HEIGHT]])


def to_plane(p: FloatArray) -> FloatArray:
    """Points of the triangle: class 0 bottom left, class 1 bottom right, class 2 on top.

    Examples
    --------
    >>> to_plane(np.array([[1, 0, 0], [0.5, 0.5, 0]])).tolist()
    [[0.0, 0.0], [0.5, 0.0]]
    """
    return np.asarray(p, dtype=np.float64) @ TRIANGLE


def triangle_sides() -> list[FloatArray]:
    """Both ends of each side."""
    return [TRIANGLE[[0, 1]], TRIANGLE[[1, 2]], TRIANGLE[[2, 0]]]


def triangle_lines(parts: int = 5) -> list[FloatArray]:
    """Both ends of the lines on which a class has a share of one part, two parts, and so on."""
    return [
        np.stack([share * TRIANGLE[k] + (1 - share) * TRIANGLE[k - other] for other in (1, 2)])
        for share in np.arange(1, parts) / parts
        for k in range(3)
    ]
