"""Splines written in their slopes at the knots, and their logistic loss from pooled rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from veridical._core.numeric.blocks import row_blocks
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


_CELLS = 1 << 9
_WORTHWHILE = 1 << 11  # values from which a table of intervals is made


def parabolas(
    knots: FloatArray, coefficients: FloatArray, count: int
) -> Callable[[FloatArray], FloatArray]:
    """Piecewise parabola as a function of z, a straight line outside the knots.

    `coefficients` has the constant, linear and quadratic terms, (3, k - 1); `count` is of how many
    values about. For many, a table of equal cells knows the intervals of all values but those in
    a cell with a knot.
    """
    low, high, inner = float(knots[0]), float(knots[-1]), knots[1:-1]
    constant, linear, square = coefficients
    cells, scale = None, 0.0
    if count >= _WORTHWHILE and _CELLS / np.finfo(np.float64).max < high - low:
        scale = _CELLS / (high - low)
        own = ((inner - low) * scale).astype(np.int32)  # as of values: rounding keeps the order
        cells = np.cumsum(np.bincount(own, minlength=_CELLS + 1))
        cells[own] = -1

    def evaluate(z: FloatArray) -> FloatArray:
        inside = np.clip(z, low, high)
        if cells is None:
            piece = np.searchsorted(inner, inside, side="right")
        else:
            piece = cells.take(((inside - low) * scale).astype(np.int32), mode="clip")
            near = np.flatnonzero(piece < 0)
            piece[near] = np.searchsorted(inner, inside[near], side="right")
        t = inside - knots.take(piece)
        result = square.take(piece)
        result *= t
        result += linear.take(piece)
        result *= t
        result += constant.take(piece)
        outside = np.flatnonzero(z != inside)
        if len(outside):
            piece, t = piece[outside], t[outside]
            slope = np.maximum(linear[piece] + 2 * t * square[piece], 0)
            result[outside] += slope * (z - inside)[outside]
        return result

    return evaluate


@dataclass(frozen=True)
class SplineLoss:
    """Loss of rows or of cells, as a function of the coefficients of `basis`.

    Between two knots a design row is quadratic in t, so sums over rows are sums over intervals of
    moments of t: up to the second for gradients, up to the fourth for Hessians.

    Attributes
    ----------
    basis : Basis
    piece, t : interval between knots, and distance from its left knot
    weight : float64 array or None
    linear : sum of weight, outcome and design row
    total : sum of the weights
    """

    basis: Basis
    piece: IntArray
    t: FloatArray
    weight: FloatArray | None
    linear: FloatArray
    total: float
    _last: dict[bytes, FloatArray] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @classmethod
    def of(
        cls, basis: Basis, z: FloatArray, positive: FloatArray, weight: FloatArray | None
    ) -> SplineLoss:
        """Loss at z, where `positive` of the weight (default 1) has the outcome 1."""
        piece, t = basis.locate(z)
        linear = basis.pull_back(_moments(basis, piece, t, positive, 3))
        total = float(len(z)) if weight is None else float(weight.sum())
        return cls(basis, piece, t, weight, linear, total)

    @cached_property
    def bound(self) -> FloatArray:
        """Matrix no Hessian exceeds: a quarter of the cross products (Böhning & Lindsay 1988)."""
        return self.hessian(np.zeros(len(self.linear)))

    def largest_move(self, step: FloatArray) -> float:
        """Bound on how far the spline moves in a step, anywhere between the knots."""
        gaps = np.diff(self.basis.knots)
        constant, linear, square = np.abs(self.basis.terms(step))
        return float((constant + gaps * (linear + gaps * square)).max())

    def value(self, theta: FloatArray) -> float:
        """Loss at `theta`, in nats."""
        each = np.logaddexp(0.0, self._predictor(theta))
        total = each.sum() if self.weight is None else np.sum(each * self.weight)
        return float(total - theta @ self.linear)

    def gradient(self, theta: FloatArray) -> FloatArray:
        """Gradient at `theta`."""
        from scipy.special import expit

        p = expit(self._predictor(theta))
        if self.weight is not None:
            p *= self.weight
        return self.basis.pull_back(_moments(self.basis, self.piece, self.t, p, 3)) - self.linear

    def hessian(self, theta: FloatArray) -> FloatArray:
        """Second derivatives at `theta`."""
        from scipy.special import expit

        eta = self._predictor(theta)
        v = expit(eta) * expit(-eta)
        if self.weight is not None:
            v *= self.weight
        return self.basis.pull_back_squares(_moments(self.basis, self.piece, self.t, v, 5))

    def _predictor(self, theta: FloatArray) -> FloatArray:
        """The spline at every row; value, gradient and Hessian ask for the same one."""
        key = theta.tobytes()
        if key not in self._last:
            self._last.clear()
            self._last[key] = self._at_rows(theta)
        return self._last[key]

    def _at_rows(self, theta: FloatArray) -> FloatArray:
        constant, linear, square = self.basis.terms(theta)
        eta = np.empty(len(self.t))
        for block in row_blocks(len(eta), 1 << 13):
            piece, t = self.piece[block], self.t[block]
            eta[block] = constant[piece] + t * (linear[piece] + t * square[piece])
        return eta


def _moments(
    basis: Basis, piece: IntArray, t: FloatArray, mass: FloatArray, n_orders: int
) -> FloatArray:
    """Sums of mass t^q in each interval between knots, (n_orders, k - 1)."""
    n = len(basis.knots) - 1
    total = np.zeros((n_orders, n))
    for block in row_blocks(len(t)):
        power = mass[block]
        for order in range(n_orders):
            total[order] += np.bincount(piece[block], power, minlength=n)
            power = power * t[block]
    return total


_PARTS = 64  # cells between two knots
_MOST = 4096  # distinct values up to which each is its own cell


@dataclass(frozen=True)
class SplineCells:
    """Rows pooled by their log odds.

    Attributes
    ----------
    z : mean log odds of each cell
    mass : weight of each cell's rows of outcome 0 and 1, (2, cells)
    cell : cell of each row
    exact : whether all rows of a cell are equal
    """

    z: FloatArray
    mass: FloatArray
    cell: IntArray
    exact: bool


def pool_rows(basis: Basis, z: FloatArray, y: IntArray, weight: FloatArray | None) -> SplineCells:
    """Pool equal rows, or rows in the same 64th of an interval between knots. O(n log n)."""
    distinct = np.unique(z)
    exact = len(distinct) <= _MOST
    cell: IntArray = np.searchsorted(distinct, z) if exact else _parts(basis, z)
    n = int(cell.max()) + 1
    mass = np.bincount(2 * cell + y, weight, minlength=2 * n).reshape(n, 2).T.astype(np.float64)
    if exact:
        return SplineCells(distinct, mass, cell, exact)
    sums = np.bincount(cell, z if weight is None else z * weight, minlength=n)
    return SplineCells(sums / mass.sum(axis=0), mass, cell, exact)


def share_among_folds(
    cells: SplineCells,
    y: IntArray,
    z: FloatArray,
    weight: FloatArray | None,
    n_folds: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Mass of each fold in each outcome and cell, (folds, 2, cells); rows in random folds.

    Whole-number masses are counts and shared by multinomial draws, so neither the order of rows nor
    whether they are repeated or weighted matters. Other weights stay whole: rows are drawn in the
    order of value, outcome and weight.
    """
    counts = np.rint(cells.mass)
    if weight is None or np.abs(weight - np.rint(weight)).max() < 1e-9:
        drawn = rng.multinomial(counts.astype(np.int64), np.full(n_folds, 1 / n_folds))
        return np.moveaxis(drawn, 2, 0).astype(np.float64)
    order = np.lexsort((weight, y, z))
    fold = np.empty(len(z), dtype=np.intp)
    fold[order] = rng.permutation(len(z)) % n_folds
    shape = (n_folds, 2, cells.mass.shape[1])
    flat = np.ravel_multi_index((fold, y, cells.cell), shape)
    masses = np.bincount(flat, weight, minlength=int(np.prod(shape)))
    return masses.reshape(shape).astype(np.float64)


def _parts(basis: Basis, z: FloatArray) -> IntArray:
    """Which 64th of which interval each value is in, numbered without gaps."""
    piece, t = basis.locate(z)
    part = np.minimum((t / np.diff(basis.knots)[piece] * _PARTS).astype(np.intp), _PARTS - 1)
    cell = piece * _PARTS + part
    used = np.bincount(cell) > 0
    return np.asarray((np.cumsum(used) - 1)[cell])
