"""Functions whose slope is linear between knots, written in their slopes at the knots."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from veridical._core.typing import FloatArray, IntArray

_CLOSEST = 1e-6  # of the range: nearer knots are one


def place_knots(z: FloatArray, weight: FloatArray | None, n_knots: int) -> FloatArray:
    """Smallest and largest value and quantiles between them; at least two knots. O(n log n).

    A quantile is the smallest value with at least its share of the weight at or below it, so equal
    rows may be repeated or weighted.
    """
    if weight is None:
        ordered, below = np.sort(z), np.arange(1.0, len(z) + 1)
    else:
        order = np.argsort(z)
        ordered, below = z[order], np.cumsum(weight[order])
    levels = np.arange(n_knots) / (n_knots - 1) * below[-1]
    knots = ordered[np.minimum(np.searchsorted(below, levels), len(z) - 1)]
    knots[0], knots[-1] = ordered[0], ordered[-1]
    if knots[0] == knots[-1]:  # any width serves a function at one point
        return np.array([knots[0] - 0.5, knots[0] + 0.5])
    least = _CLOSEST * (knots[-1] - knots[0])
    kept = [float(knots[0])]
    for knot in knots[1:-1].tolist():
        if knot - kept[-1] > least and knots[-1] - knot > least:
            kept.append(knot)
    return np.array([*kept, knots[-1]])


@dataclass(frozen=True)
class Basis:
    """Functions eta(z) = theta[0] + integral of the slope from the middle knot to z.

    theta[1:] are the slopes at the knots. Such a function is non-decreasing exactly if none is
    negative, and the identity is (middle knot, 1, ..., 1).

    Attributes
    ----------
    knots : float64 array of shape (k,)
    pieces : float64 array of shape (3, k - 1, k + 1)
        Coefficients of theta in the constant, linear and quadratic term in the distance from the
        left knot, for each interval between knots.
    """

    knots: FloatArray
    pieces: FloatArray

    @classmethod
    def on(cls, knots: FloatArray) -> Basis:
        """Basis with these knots."""
        k, gaps = len(knots), np.diff(knots)
        pieces = np.zeros((3, k - 1, k + 1))
        at_knot = np.zeros((k, k + 1))
        for j, gap in enumerate(gaps):
            at_knot[j + 1] = at_knot[j]
            at_knot[j + 1, j + 1 : j + 3] += gap / 2
            pieces[1, j, j + 1] = 1.0
            pieces[2, j, j + 1 : j + 3] = [-0.5 / gap, 0.5 / gap]
        at_knot -= at_knot[k // 2].copy()
        at_knot[:, 0] = 1.0
        pieces[0] = at_knot[:-1]
        return cls(knots, pieces)

    @property
    def identity(self) -> FloatArray:
        """Coefficients of eta(z) = z."""
        return np.concatenate([[self.knots[len(self.knots) // 2]], np.ones(len(self.knots))])

    @property
    def roughness(self) -> FloatArray:
        """Matrix of the integral of the squared second derivative, exact."""
        gaps = np.diff(self.knots)
        jumps = np.diff(np.eye(len(self.knots)), axis=0)
        matrix = np.zeros((len(self.knots) + 1,) * 2)
        matrix[1:, 1:] = jumps.T @ (jumps / gaps[:, None])
        return matrix

    @property
    def distance(self) -> FloatArray:
        """Matrix of the squared intercept plus the mean squared slope (trapezoids) over knots."""
        gaps = np.diff(self.knots)
        share = np.zeros(len(self.knots))
        share[:-1] += gaps / 2
        share[1:] += gaps / 2
        return np.diag(np.concatenate([[1.0], share / gaps.sum()]))

    def locate(self, z: FloatArray) -> tuple[IntArray, FloatArray]:
        """Interval of each value within the knots, and distance from its left knot."""
        piece = np.searchsorted(self.knots[1:-1], z, side="right")
        return piece, z - self.knots[piece]

    def terms(self, theta: FloatArray) -> FloatArray:
        """Constant, linear and quadratic term between neighbouring knots, (3, k - 1)."""
        return np.einsum("qkj,j->qk", self.pieces, theta)

    def pull_back(self, moments: FloatArray) -> FloatArray:
        """Sum of mass times design row, from moments of order 0 to 2 of the mass, (3, k - 1)."""
        return np.einsum("qk,qkj->j", moments, self.pieces)

    def pull_back_squares(self, moments: FloatArray) -> FloatArray:
        """Sum of mass times outer square of the design row, from moments of order 0 to 4."""
        n = self.pieces.shape[2]
        return np.einsum("m,mj->j", moments.ravel(), self._squares).reshape(n, n)

    @cached_property
    def _squares(self) -> FloatArray:
        """Outer squares of design rows by power of t and interval, (5 (k - 1), (k + 1)^2)."""
        n_pieces, n = self.pieces.shape[1:]
        squares = np.zeros((5, n_pieces, n, n))
        for p in range(3):
            for q in range(3):
                squares[p + q] += self.pieces[p][:, :, None] * self.pieces[q][:, None, :]
        return squares.reshape(5 * n_pieces, n * n)


def evaluate(knots: FloatArray, coefficients: FloatArray, z: FloatArray) -> FloatArray:
    """Piecewise parabola at z; a straight line outside the knots.

    `coefficients` has the constant, linear and quadratic terms, (3, k - 1).
    """
    inside = np.clip(z, knots[0], knots[-1])
    piece = np.searchsorted(knots[1:-1], inside, side="right")
    t = inside - knots[piece]
    constant, linear, square = coefficients[:, piece]
    slope = np.maximum(linear + 2 * t * square, 0)
    return np.asarray(constant + t * (linear + t * square) + slope * (z - inside))
