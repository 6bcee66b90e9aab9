"""Logistic loss of many rows with a few predictors, and its minimum."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from veridical._core.numeric.blocks import row_blocks
from veridical._core.typing import BoolArray, FloatArray, IntArray
from veridical.calibrators._logistic.bounded_newton import (
    Ridge,
    Solution,
    better_start,
    bounded_newton,
    with_notes,
)

_ENOUGH = 2e-9  # gradient per row that spares another pass over many rows
_ROWS = 1 << 13  # short enough for the first-level caches and for one-threaded dot products
_CELLS = 1 << 16
_POOLED = 16  # neighbouring cells that make one of the coarser table
_WORTH_CELLS = 1 << 17
_WIDEST = 16.0  # log odds beyond which hardly any curvature is left


@dataclass(frozen=True)
class LogisticRows:
    """Logistic loss of rows: sum of w (log(1 + exp(eta)) - t eta), eta = x theta.

    The targets t enter only through `linear` = sum of w t x, so a pass reads the columns once.

    Attributes
    ----------
    columns : float64 arrays of shape (n,)
        Predictors, without the constant.
    weight : float64 array of shape (n,) or None
    linear : array of shape (number of coefficients,)
    total : sum of the weights
    constant : whether the first coefficient is that of a constant
    """

    columns: tuple[FloatArray, ...]
    weight: FloatArray | None
    linear: FloatArray
    total: float
    constant: bool = True
    _last: dict[bytes, FloatArray] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @cached_property
    def _reach(self) -> FloatArray:
        """Largest absolute value of each predictor."""
        largest = [max(-float(c.min()), float(c.max())) for c in self.columns]
        return np.asarray([1.0] * self.constant + largest)

    @cached_property
    def bound(self) -> FloatArray:
        """Matrix no Hessian exceeds: a quarter of the cross products (Böhning & Lindsay 1988)."""
        return self._cross(np.zeros(len(self.linear)))

    def largest_move(self, step: FloatArray) -> float:
        """Bound on how far any linear predictor moves in a step."""
        return float(self._reach @ np.abs(step))

    def value(self, theta: FloatArray) -> float:
        """Loss at `theta`, in nats."""
        total = 0.0
        for _, eta, weight in self._blocks(theta):
            each = np.logaddexp(0.0, eta)
            total += float(each.sum() if weight is None else each @ weight)
        return total - float(theta @ self.linear)

    def gradient(self, theta: FloatArray) -> FloatArray:
        """Gradient at `theta`."""
        from scipy.special import expit

        total = np.zeros(len(theta))
        for columns, eta, weight in self._blocks(theta):
            p = expit(eta)
            if weight is not None:
                p *= weight
            sums = [p.sum()] if self.constant else []
            total += sums + [p @ column for column in columns]
        return total - self.linear

    def hessian(self, theta: FloatArray) -> FloatArray:
        """Second derivatives at `theta`."""
        return self._cross(theta)

    def _cross(self, theta: FloatArray) -> FloatArray:
        from scipy.special import expit

        n, first = len(theta), int(self.constant)
        total = np.zeros((n, n))
        for columns, eta, weight in self._blocks(theta):
            p = expit(eta)
            v = p * expit(-eta)  # not 1 - p, which would lose the upper tail
            if weight is not None:
                v *= weight
            if self.constant:
                total[0, 0] += v.sum()
            for j, column in enumerate(columns, start=first):
                times = v * column
                if self.constant:
                    total[0, j] += times.sum()
                for k in range(j, n):
                    total[j, k] += times @ columns[k - first]
        below = total.T.copy()
        below.flat[:: n + 1] = 0.0
        return total + below

    def _blocks(
        self, theta: FloatArray
    ) -> Iterator[tuple[list[FloatArray], FloatArray, FloatArray | None]]:
        """Columns, linear predictor and weights of some rows at a time."""
        if len(self.columns[0]) <= _ROWS:  # value, gradient and Hessian ask for the same one
            key = theta.tobytes()
            if key not in self._last:
                self._last.clear()
                self._last[key] = self._predictor(self.columns, theta)
            yield list(self.columns), self._last[key], self.weight
            return
        for block in row_blocks(len(self.columns[0]), _ROWS):
            columns = [column[block] for column in self.columns]
            eta = self._predictor(columns, theta)
            yield columns, eta, None if self.weight is None else self.weight[block]

    def _predictor(self, columns: Sequence[FloatArray], theta: FloatArray) -> FloatArray:
        slopes = theta[1:] if self.constant else theta
        eta: FloatArray = columns[0] * slopes[0]
        for column, slope in zip(columns[1:], slopes[1:], strict=True):
            eta += column * slope
        if self.constant:
            eta += theta[0]
        return eta

    def in_cells(self, position: FloatArray) -> tuple[LogisticRows, LogisticRows]:
        """Rows pooled in 4,096 and in 65,536 cells of `position`; `linear` stays exact."""
        low = max(float(position.min()), -_WIDEST)
        high = min(float(position.max()), _WIDEST)
        scale = (_CELLS - 1) / (high - low) if high > low else 0.0
        mass = np.zeros(_CELLS)
        sums = [np.zeros(_CELLS) for _ in self.columns]
        for block in row_blocks(len(position)):
            cell = ((np.clip(position[block], low, high) - low) * scale).astype(np.intp)
            weight = None if self.weight is None else self.weight[block]
            mass += np.bincount(cell, weight, minlength=_CELLS)
            for into, column in zip(sums, self.columns, strict=True):
                values = column[block] if weight is None else column[block] * weight
                into += np.bincount(cell, values, minlength=_CELLS)
        wide = [values.reshape(-1, _POOLED).sum(axis=1) for values in [mass, *sums]]
        return self._pooled(wide[0], wide[1:]), self._pooled(mass, sums)

    def _pooled(self, mass: FloatArray, sums: Sequence[FloatArray]) -> LogisticRows:
        """Cells of given weights, each at the mean of its rows."""
        filled = mass > 0
        columns = tuple(values[filled] / mass[filled] for values in sums)
        return LogisticRows(columns, mass[filled], self.linear, self.total, self.constant)


def logistic_rows(
    columns: tuple[FloatArray, ...],
    y: IntArray,
    weight: FloatArray | None,
    total: float,
    *,
    targets: tuple[float, float] = (0.0, 1.0),
    constant: bool = True,
) -> LogisticRows:
    """Loss of rows whose outcomes 0 and 1 stand for `targets`."""
    low, high = targets
    linear = np.zeros(len(columns) + constant)
    for block in row_blocks(len(y), _ROWS):
        mass = low + (high - low) * y[block].astype(np.float64)
        if weight is not None:
            mass *= weight[block]
        sums = [mass.sum()] if constant else []
        linear += sums + [mass @ column[block] for column in columns]
    return LogisticRows(columns, weight, linear, total, constant)


def fit_rows(
    loss: LogisticRows,
    ridge: Ridge,
    start: FloatArray,
    bounded: BoolArray,
    position: FloatArray,
    *,
    caller: str,
) -> Solution:
    """Minimise loss plus ridge over rows; `position` orders rows that behave alike.

    Many rows are first pooled in cells of `position`, wide ones and then narrow ones. Pooling
    moves the gradient per row by about the squared width of a cell over 240, which is 1e-9 for the
    narrow ones, so that one or two passes over all rows end the fit. Cost O(n) for each pass.
    """
    if len(position) < _WORTH_CELLS:
        start = better_start(loss, ridge, start)
        return with_notes(loss, bounded_newton(loss, ridge, start, bounded), caller)
    wide, narrow = loss.in_cells(position)
    near = bounded_newton(wide, ridge, better_start(wide, ridge, start), bounded)
    nearer = bounded_newton(narrow, ridge, near.theta, bounded, hessian=wide.hessian, max_steps=3)
    fit = bounded_newton(
        loss, ridge, nearer.theta, bounded, hessian=wide.hessian, max_steps=3, tolerance=_ENOUGH
    )
    if fit.gradient > _ENOUGH:
        fit = bounded_newton(loss, ridge, fit.theta, bounded)
    n_iter = near.n_iter + nearer.n_iter + fit.n_iter
    return with_notes(loss, Solution(fit.theta, n_iter, fit.gradient), caller)
