"""Offsets and slopes of segments by a ridge: Newton's method on sums over cells of the features.

A row in a cell c of the features has scores z = u + sum of b_h + a_h (u - mean) / spread over the
segments h that hold the cell, u being K log probabilities less their mean. Parameters of a segment
are K - 1 contrasts of b_h and a_h, so that no class is special, and the penalty is half of lambda
times their squares. Gradient and Hessian are sums over cells of K numbers and K x K matrices, so a
Newton step costs one pass over the rows and some products with the sparse matrix of cells and
segments (conjugate gradients; no matrix of all parameters is made).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from veridical._core.numeric.blocks import row_blocks
from veridical._core.typing import FloatArray, IntArray

_VALUES = 1 << 21  # of a block of rows
_MOST_STEPS = 50
_MOST_PRODUCTS = 500
_NO_SPREAD = 0.1


@dataclass(frozen=True)
class Scale:
    """How slopes are measured: by the distance of scores from their mean, in spreads of log odds.

    Attributes
    ----------
    mean : (K,) mean scores
    spread : standard deviation, for two classes that of log odds, or 1 if that is less; 0, and no
        slope, where scores hardly differ: what differs may be the folds m was fitted to
    """

    mean: FloatArray
    spread: float

    @classmethod
    def of(cls, scores: FloatArray, weight: FloatArray) -> Self:
        """Mean and spread of scores."""
        mean = np.asarray(np.average(scores, axis=0, weights=weight))
        away = ((scores - mean) ** 2).sum(axis=1)
        spread = float(np.sqrt(2 * np.average(away, weights=weight) / (scores.shape[1] - 1)))
        return cls(mean, max(spread, 1.0) if spread > _NO_SPREAD else 0.0)

    def lines(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Offsets (h, K) and slopes (h,) of the scores themselves."""
        offsets = theta[:, :-1] @ contrasts(len(self.mean)).T
        slopes = theta[:, -1] / self.spread if self.spread else np.zeros(len(theta))
        return offsets - slopes[:, None] * self.mean, slopes


def centred_logs(p: FloatArray, floor: float) -> FloatArray:
    """Logarithms of probabilities less their mean over the classes."""
    logs = np.log(np.maximum(p, floor))
    logs -= logs.mean(axis=1, keepdims=True)
    return logs


def contrasts(n_classes: int) -> FloatArray:
    """(K, K - 1) directions in which offsets differ, at right angles; of two classes (-1/2, 1/2).

    Examples
    --------
    >>> contrasts(2).ravel().tolist()
    [-0.5, 0.5]
    """
    found = np.zeros((n_classes, n_classes - 1))
    for j in range(n_classes - 1):
        found[: j + 1, j] = -1.0
        found[j + 1, j] = j + 1
        found[:, j] /= np.sqrt(2.0 * (j + 1) * (j + 2))
    return found


@dataclass(frozen=True)
class CellRows:
    """Rows as the ridge sees them.

    Attributes
    ----------
    scores : (n, K) centred logarithms of what the map m says
    y : class indices
    weight : whose sum is the number of rows they count for
    place : cell of each row
    """

    scores: FloatArray
    y: IntArray
    weight: FloatArray
    place: IntArray

    def take(self, rows: Any) -> CellRows:
        """Some of the rows."""
        return CellRows(self.scores[rows], self.y[rows], self.weight[rows], self.place[rows])

    def adjusted(self, cells: FloatArray, scale: Scale) -> FloatArray:
        """Scores with what their cells add; `cells` are sums of parameters, (cells, K)."""
        own = cells[self.place]
        result = self.scores + own[:, :-1] @ contrasts(self.scores.shape[1]).T
        if scale.spread:
            result += own[:, -1:] / scale.spread * (self.scores - scale.mean)
        return result

    def losses(self, cells: FloatArray, scale: Scale) -> FloatArray:
        """Log loss of each row."""
        scores = self.adjusted(cells, scale)
        top = scores.max(axis=1)
        total = np.log(np.exp(scores - top[:, None]).sum(axis=1)) + top
        return np.asarray(total - scores[np.arange(len(self.y)), self.y])


class Ridge:
    """Fits of one set of rows to any penalty.

    Parameters
    ----------
    rows : what is fitted to
    members : sparse (cells, segments), 1 where a segment holds a cell
    scale : of slopes
    factors : of the penalty of each segment
    """

    def __init__(
        self, rows: CellRows, members: Any, scale: Scale, factors: FloatArray | None = None
    ) -> None:
        self._rows, self._members, self._scale = rows, members, scale
        self._factors = np.ones(members.shape[1]) if factors is None else factors
        self._by_segment = members.T.copy()
        self._shape = (members.shape[1], rows.scores.shape[1])

    def fit(
        self,
        penalty: float,
        start: FloatArray | None = None,
        *,
        slopes: float = 1.0,
        close: float = 1e-9,
    ) -> FloatArray:
        """Parameters of each segment, (h, K): contrasts of the offsets, and the slope.

        Parameters
        ----------
        penalty : lambda, in rows
        start : parameters to begin with
        slopes : how much more the penalty of slopes is
        close : size of the last step
        """
        theta = np.zeros(self._shape) if start is None else start
        ridge = np.repeat(penalty * self._factors[:, None], self._shape[1], axis=1)
        ridge[:, -1] *= slopes
        loss = self._loss(theta, ridge)
        for _ in range(_MOST_STEPS):
            gradient, curvature = self._derivatives(theta)
            gradient = self._by_segment @ gradient + ridge * theta
            step = self._solve(curvature, ridge, gradient, close)
            length, size = 1.0, float(np.abs(step).max(initial=0.0))
            while length * size > close:
                after = self._loss(theta - length * step, ridge)
                if after <= loss:
                    break
                length /= 2
            else:
                return theta
            theta, loss = theta - length * step, after
        return theta

    def _loss(self, theta: FloatArray, ridge: FloatArray) -> float:
        losses = self._rows.losses(self._members @ theta, self._scale)
        return float(self._rows.weight @ losses + 0.5 * (ridge * theta**2).sum())

    def _derivatives(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Sums over the rows of cells: gradients (cells, K) and curvatures (cells, K, K)."""
        return _sums(self._rows, self._members @ theta, self._scale)

    def _solve(
        self, curvature: FloatArray, ridge: FloatArray, gradient: FloatArray, close: float
    ) -> FloatArray:
        """Newton step by conjugate gradients, preconditioned by the blocks of segments."""
        members, by_segment, k = self._members, self._by_segment, self._shape[1]
        blocks = (by_segment @ curvature.reshape(len(curvature), -1)).reshape(-1, k, k)
        blocks[:, np.arange(k), np.arange(k)] += ridge
        inverse = np.linalg.inv(blocks)

        def product(v: FloatArray) -> FloatArray:
            inside = np.einsum("cij,cj->ci", curvature, members @ v)
            return np.asarray(by_segment @ inside + ridge * v)

        def conditioned(v: FloatArray) -> FloatArray:
            return np.asarray(np.einsum("hij,hj->hi", inverse, v))

        step, left = np.zeros_like(gradient), gradient.copy()
        way = near = conditioned(left)
        size = float((left * near).sum())
        enough = size * min(10 * close, 3e-2) ** 2
        for _ in range(_MOST_PRODUCTS):
            if size <= enough:
                break
            along = product(way)
            length = size / float((way * along).sum())
            step += length * way
            left -= length * along
            near = conditioned(left)
            before, size = size, float((left * near).sum())
            way = near + size / before * way
        return step


def line_sums(
    rows: CellRows, code: IntArray, n_codes: int, theta: FloatArray, scale: Scale
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Gradients, curvatures and weight of rows by code, all of them on one line."""
    own = CellRows(rows.scores, rows.y, rows.weight, code)
    cells = np.repeat(theta[None, :], n_codes, axis=0)
    mass = np.bincount(code, rows.weight, n_codes).astype(np.float64)
    return *_sums(own, cells, scale), mass


def _sums(rows: CellRows, cells: FloatArray, scale: Scale) -> tuple[FloatArray, FloatArray]:
    """Gradients (cells, K) and curvatures (cells, K, K) of rows in cells of these parameters."""
    n_cells, k = cells.shape
    directions = contrasts(k)
    gradient, curvature = np.zeros((n_cells, k)), np.zeros((n_cells, k * k))
    for block in row_blocks(len(rows.y), max(256, _VALUES // (k * k))):
        part = rows.take(block)
        p = part.adjusted(cells, scale)
        p -= p.max(axis=1, keepdims=True)
        np.exp(p, out=p)
        p /= p.sum(axis=1, keepdims=True)
        away = np.zeros_like(p)
        if scale.spread:
            away = (part.scores - scale.mean) / scale.spread
        design = np.empty((len(p), k, k))
        design[:, :, :-1], design[:, :, -1] = directions, away
        weighted = design * p[:, :, None]
        mean = weighted.sum(axis=1)
        second = np.einsum("nki,nkj->nij", design, weighted)
        second -= mean[:, :, None] * mean[:, None, :]
        first = mean - design[np.arange(len(p)), part.y]
        for j in range(k):
            gradient[:, j] += np.bincount(part.place, part.weight * first[:, j], n_cells)
        flat = second.reshape(len(p), k * k)
        for j in range(k * k):
            curvature[:, j] += np.bincount(part.place, part.weight * flat[:, j], n_cells)
    return gradient, curvature.reshape(n_cells, k, k)
