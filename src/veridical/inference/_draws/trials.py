"""Outcomes to be drawn: how many from each prediction, and what each of them counts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from veridical._core.numeric import poisson_binomial
from veridical._core.typing import Array, FloatArray, IntArray

if TYPE_CHECKING:
    from veridical.summaries import Summary

_WRITTEN_OUT = 1 << 16  # outcomes of a bin whose number of successes is drawn from its exact law
_BLOCK_DRAWS = 1 << 20


@dataclass(frozen=True)
class Trials:
    """Independent outcomes to be drawn, `count` from each prediction, each counting `weight`.

    Entries stand in an order that only predictions and weights decide, wherever the order in
    which outcomes are drawn matters: the order of the rows must not.

    Attributes
    ----------
    p : probabilities, (m,) of success or (m, K) of each class
    count : whole numbers, (m,); None means one outcome each
    weight : what an outcome adds to a sum, one for all or one for each
    score : what decides the bin, in the type the bins were made for; None means `p`
    """

    p: FloatArray
    count: FloatArray | IntArray | None = None
    weight: FloatArray | float = 1.0
    score: FloatArray | None = None

    def take(self, rows: Array) -> Trials:
        """Keep some entries (mask or indices)."""
        return Trials(
            self.p[rows],
            None if self.count is None else self.count[rows],
            self.weight[rows] if isinstance(self.weight, np.ndarray) else self.weight,
            None if self.score is None else self.score[rows],
        )

    @property
    def mass(self) -> FloatArray:
        """What all outcomes of an entry count together."""
        count = np.ones(len(self.p)) if self.count is None else self.count.astype(np.float64)
        return count * self.weight

    # Of a binary problem, by the bins of a summary.

    def bins(self, summary: Summary) -> IntArray:
        """The bin of each entry in the (first) problem of a summary."""
        return summary.partitions[0].assign(self.p if self.score is None else self.score)

    def by_bin(self, summary: Summary, values: FloatArray) -> FloatArray:
        """Sums of values of the entries by bin."""
        sums = np.bincount(self.bins(summary), weights=values, minlength=summary.sum_w.shape[1])
        return sums.astype(np.float64, copy=False)

    def variance(self, summary: Summary) -> FloatArray:
        """Variance of the weighted outcomes of each bin."""
        p = self.p.astype(np.float64, copy=False)
        each = self.weight**2 * p * (1 - p)
        return self.by_bin(summary, each if self.count is None else each * self.count)

    def largest_weight(self, summary: Summary) -> FloatArray | float:
        """Most that one outcome of each bin counts."""
        if not isinstance(self.weight, np.ndarray):
            return self.weight
        largest = np.zeros(summary.sum_w.shape[1])
        np.maximum.at(largest, self.bins(summary), self.weight)
        return largest

    def draw_sum(self, mean: float, n_resamples: int, rng: np.random.Generator) -> FloatArray:
        """Weighted numbers of successes of all entries together, whose expectation is `mean`.

        Up to 65,536 outcomes that count alike have their exact (Poisson-binomial) law; otherwise
        the binomial number of each entry is drawn. The order of the entries does not matter.
        """
        weight = np.broadcast_to(np.asarray(self.weight, dtype=np.float64), self.p.shape)
        order = np.lexsort((weight, self.p))
        p, weight = self.p[order].astype(np.float64), weight[order]
        count = None if self.count is None else self.count[order]
        if not isinstance(self.weight, np.ndarray):
            if count is None:
                return self.weight * poisson_binomial.draw(p, n_resamples, rng)
            if count.sum() <= _WRITTEN_OUT:
                each = np.repeat(p, count.astype(np.intp))
                return self.weight * poisson_binomial.draw(each, n_resamples, rng)
        count = np.ones(len(p)) if count is None else count
        sums = np.full(n_resamples, mean - float((weight * count) @ p))
        step = max(1, _BLOCK_DRAWS // n_resamples)
        for first in range(0, len(p), step):
            part = slice(first, first + step)
            size = (n_resamples, len(p[part]))
            successes = rng.binomial(count[part].astype(np.int64), p[part], size)
            sums += np.einsum("ij,j->i", successes, weight[part])
        return sums

    def draw_successes(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Weighted successes of each entry, (n, m)."""
        shape = (n, len(self.p))
        if self.count is not None and self.count.max() > 1:
            return rng.binomial(self.count.astype(np.int64), self.p, shape) * self.weight
        return (rng.random(shape) < self.p) * self.weight

    # Of several classes.

    def draw_tails(self, rows: slice, n: int, rng: np.random.Generator) -> Iterator[Array]:
        """For k = 1, ..., K - 1: how many outcomes of each row are of class k or later, n times.

        Arrays of shape (n, rows). The number beyond class k is binomial given the number beyond
        the class before, so every class costs one draw; single outcomes share one uniform number.
        """
        assert self.count is not None
        p, count = self.p[rows], self.count[rows]
        tail = np.cumsum(p[:, ::-1], axis=1)[:, ::-1]  # class k or later; sums to one but for dust
        many = np.flatnonzero(count > 1)
        left = np.broadcast_to(count[many].astype(np.int64), (n, len(many)))
        uniform = rng.random((n, len(p)))
        for k in range(1, p.shape[1]):
            reached: Array = uniform < tail[:, k] / tail[:, 0]
            if many.size:
                before, after = tail[many, k - 1], tail[many, k]
                chance = np.divide(after, before, out=np.zeros(len(many)), where=before > 0)
                left = rng.binomial(left, np.minimum(chance, 1.0))
                reached = reached.astype(np.int64)
                reached[:, many] = left
            yield reached

    def draw_counts(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Successes, or outcomes of each class, of every entry: (m, 1 or K, n)."""
        assert self.count is not None
        once = self.count == 1
        if once.all():
            return _draw_once(self.p, n, rng)
        counts = np.empty((len(self.p), 1 if self.p.ndim == 1 else self.p.shape[1], n))
        counts[once] = _draw_once(self.p[once], n, rng)
        often, chance = self.count[~once].astype(np.int64), self.p[~once]
        if self.p.ndim == 1:
            counts[~once, 0] = rng.binomial(often[:, None], chance[:, None], (len(often), n))
            return counts
        chance /= chance.sum(axis=1, keepdims=True)
        drawn = rng.multinomial(often[:, None], chance[:, None], (len(often), n))
        counts[~once] = drawn.swapaxes(1, 2)
        return counts


def _draw_once(p: FloatArray, n: int, rng: np.random.Generator) -> FloatArray:
    """Outcomes of single rows, by inversion."""
    uniform = rng.random((len(p), 1, n))
    if p.ndim == 1:
        return np.asarray(np.less(uniform, p[:, None, None], out=uniform, casting="unsafe"))
    reached = np.cumsum(p, axis=1)
    reached /= reached[:, -1:]
    below = (uniform < reached[:, :, None]).astype(np.float64)
    for k in range(p.shape[1] - 1, 0, -1):
        below[:, k] -= below[:, k - 1]
    return below
