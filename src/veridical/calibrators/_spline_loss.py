"""Logistic loss of a spline, from moments of rows or cells between the knots."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from veridical._core.blocks import row_blocks
from veridical._core.typing import FloatArray, IntArray
from veridical.calibrators._spline_basis import Basis


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
