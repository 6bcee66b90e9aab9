"""Newton boosting of oblivious trees: all nodes of a level ask the same question.

With scores f, P = softmax(f), gradients g = w (P - onehot(y)) and the usual diagonal stand-in
h = w K / (K - 1) P (1 - P) for the Hessian, a leaf with sums G and H takes the Newton step
-G / (H + r), and a question is as good as the rise of G^2 / (H + r), summed over classes and leaves
(Friedman 2001, doi 10.1214/aos/1013203451; second derivatives and ridge as in Chen & Guestrin 2016,
doi 10.1145/2939672.2939785). Trees of one question a level (Prokhorenkova et al. 2018, arXiv
1706.09516) are stiffer, and their leaf is a number made of a few bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.typing import FloatArray, IntArray
from veridical.calibrators._softmax.softmax import softmax_in_place

_RIDGE = 5.0  # r, in rows
_LEAST_WEIGHT = 20 - 1e-6  # rows on either side of a question that counts, but for rounding
_LARGEST_STEP = 4.0  # a leaf moves scores by no more before shrinkage
_ALIKE = 1e-9  # relative: questions so close in worth are one, and the first is taken
DECIMALS = 6  # of leaves: they have to be written down


@dataclass(frozen=True)
class Tree:
    """Questions and leaves.

    Attributes
    ----------
    features : feature of each question
    cuts : codes above this answer yes
    leaves : (2^depth, K) what is added to scores; the first question is the highest bit
    """

    features: IntArray
    cuts: IntArray
    leaves: FloatArray

    def leaf_of(self, codes: IntArray) -> IntArray:
        """Leaf of each row."""
        leaf = np.zeros(codes.shape[1], dtype=np.intp)
        for feature, cut in zip(self.features.tolist(), self.cuts.tolist(), strict=True):
            leaf *= 2
            leaf += codes[feature] > cut
        return leaf


class Boosting:
    """Trees for one sample, one after the other.

    Parameters
    ----------
    codes : (features, n) parts that rows are in
    scores : (n, K) where to begin
    y : class indices
    weight : weights whose sum is the number of rows they count for
    depth : questions of a tree
    rate : share of a Newton step that is taken
    """

    def __init__(
        self,
        codes: IntArray,
        scores: FloatArray,
        y: IntArray,
        weight: FloatArray,
        *,
        depth: int,
        rate: float,
    ) -> None:
        count, n_codes = len(codes), int(codes.max(initial=0)) + 1
        self._codes, self._y, self._weight = codes, y, weight
        self._depth, self._rate = depth, rate
        self._scores, self._shape = scores, (count, n_codes)
        cells = codes + n_codes * np.arange(count)[:, None]
        self._cells = np.ascontiguousarray(cells.T, dtype=np.int32)
        self._places = np.empty_like(self._cells)
        self._sums = [
            _sums_by_cell(self._cells, count * n_codes << level) for level in range(depth)
        ]

    def grow(self) -> Tree | None:
        """Add a tree; None if no question separates rows enough."""
        sums = self._derivatives()
        leaf = np.zeros(len(self._y), dtype=np.int32)
        features: list[int] = []
        cuts: list[int] = []
        values = np.zeros((1, sums.shape[1]))
        for _ in range(self._depth):
            below = self._tables(leaf, len(features), sums)
            whole = below[:, :, -1:]
            worth = self._worth(below, whole)
            best = int(np.argmax(worth >= worth.max() * (1 - _ALIKE)))
            feature, cut = divmod(best, self._shape[1])
            if worth[best] <= 0:
                break
            features.append(feature)
            cuts.append(cut)
            yes = whole[:, feature, 0] - below[:, feature, cut]
            values = np.stack([below[:, feature, cut], yes], axis=1).reshape(-1, sums.shape[1])
            leaf *= 2
            leaf += self._codes[feature] > cut
        if not features:
            return None
        leaves = self._steps(values)
        self._scores += leaves[leaf]
        return Tree(np.array(features), np.array(cuts), leaves)

    def _derivatives(self) -> FloatArray:
        """Gradients, curvatures and weight of each row, (n, 2 K + 1)."""
        n, k = self._scores.shape
        p = softmax_in_place(self._scores.copy())
        sums = np.empty((n, 2 * k + 1))
        weight = self._weight[:, None]
        np.multiply(p, weight * (k / (k - 1)), out=sums[:, k : 2 * k])
        sums[:, k : 2 * k] *= 1 - p
        np.multiply(p, weight, out=sums[:, :k])
        sums[np.arange(n), self._y] -= self._weight
        sums[:, -1] = self._weight
        return sums

    def _tables(self, leaf: IntArray, level: int, sums: FloatArray) -> FloatArray:
        """Sums over the rows of each leaf up to each cut, (leaves, features, codes, 2 K + 1)."""
        count, n_codes = self._shape
        by_cell = self._sums[level]
        if level:
            np.add(self._cells, (leaf * (count * n_codes))[:, None], out=self._places)
            by_cell.indices = self._places.ravel()
        each = (by_cell @ sums).reshape(1 << level, count, n_codes, -1)
        return np.asarray(np.cumsum(each, axis=2, out=each))

    def _worth(self, below: FloatArray, whole: FloatArray) -> FloatArray:
        """Fall of the loss by each question, (features * codes,); of both sides large enough."""
        above = whole - below
        gain = _fall(below) + _fall(above) - _fall(whole)
        large = np.minimum(below[..., -1], above[..., -1]) >= _LEAST_WEIGHT
        return np.asarray(np.where(large, gain, 0.0).sum(axis=0).ravel())

    def _steps(self, values: FloatArray) -> FloatArray:
        """Shrunk Newton steps of leaves, of mean zero over the classes."""
        k = values.shape[1] // 2
        steps = -values[:, :k] / (values[:, k : 2 * k] + _RIDGE)
        steps = np.clip(steps, -_LARGEST_STEP, _LARGEST_STEP)
        steps -= steps.mean(axis=1, keepdims=True)
        return np.asarray(np.round(self._rate * steps, DECIMALS))


def _sums_by_cell(cells: IntArray, size: int) -> Any:
    """Matrix whose product with values of rows are their sums in cells, one a row and feature."""
    from scipy.sparse import csc_array

    n, count = cells.shape
    starts = np.arange(0, n * count + 1, count, dtype=np.int32)
    return csc_array((np.ones(n * count), cells.ravel(), starts), shape=(size, n))


def _fall(sums: FloatArray) -> FloatArray:
    """Twice the fall of the loss by a Newton step."""
    k = sums.shape[-1] // 2
    return np.asarray((sums[..., :k] ** 2 / (sums[..., k : 2 * k] + _RIDGE)).sum(axis=-1))
