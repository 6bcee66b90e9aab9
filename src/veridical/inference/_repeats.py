"""Rows that stand for several rows with outcomes of their own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from veridical._core import poisson_binomial
from veridical._core.sample import BinarySample, MulticlassSample, Sample
from veridical._core.typing import FloatArray, IntArray

if TYPE_CHECKING:
    from veridical.summaries import Summary

MOST_REPEATED = 1 << 24  # rows written out to draw their outcomes one by one
_WRITTEN_OUT = 1 << 16  # outcomes of a bin whose number of successes is drawn from its exact law
_BLOCK_DRAWS = 1 << 20

_Sample = TypeVar("_Sample", bound=BinarySample | MulticlassSample)


def counts_rows(sample: Sample) -> bool:
    """Whether every row stands for a whole number of independent rows."""
    if sample.weight is None:
        return True
    return sample.weight_type == "frequency" and bool((sample.weight % 1 == 0).all())


def repeated_rows(sample: Sample) -> IntArray | None:
    """Index of each row as often as its weight says; None if there is nothing to write out.

    That is without weights, where they are no whole frequencies, or for too many rows.
    """
    if sample.weight is None or not counts_rows(sample) or sample.size > MOST_REPEATED:
        return None
    return np.repeat(np.arange(sample.n), sample.weight.astype(np.intp))


def take_repeated(sample: _Sample, rows: IntArray) -> _Sample:
    """Return the rows, each counting once."""
    return replace(sample.take(rows), weight=None)  # type: ignore[return-value]


@dataclass(frozen=True)
class Outcomes:
    """Independent outcomes to be drawn: `count` with the probability `p`, each counting `unit`.

    Attributes
    ----------
    score : what decides the bin, in the type the bins were made for
    p : probabilities
    count : whole numbers; None means one outcome each
    unit : what an outcome adds to a weighted sum, one for all or one for each
    """

    score: FloatArray
    p: FloatArray
    count: FloatArray | None = None
    unit: FloatArray | float = 1.0

    def take(self, rows: IntArray) -> Outcomes:
        """Keep some entries."""
        return Outcomes(
            self.score[rows],
            self.p[rows],
            None if self.count is None else self.count[rows],
            self.unit[rows] if isinstance(self.unit, np.ndarray) else self.unit,
        )

    def by_bin(self, summary: Summary, values: FloatArray) -> FloatArray:
        """Sums over the bins of the (first) problem of a summary."""
        bins = summary.partitions[0].assign(self.score)
        sums = np.bincount(bins, weights=values, minlength=summary.sum_w.shape[1])
        return sums.astype(np.float64, copy=False)

    def variance(self, summary: Summary) -> FloatArray:
        """Variance of the weighted outcomes of each bin."""
        p = self.p.astype(np.float64, copy=False)
        each = self.unit**2 * p * (1 - p)
        return self.by_bin(summary, each if self.count is None else each * self.count)

    def largest_unit(self, summary: Summary) -> FloatArray | float:
        """Most that one outcome of each bin counts."""
        if not isinstance(self.unit, np.ndarray):
            return self.unit
        largest = np.zeros(summary.sum_w.shape[1])
        np.maximum.at(largest, summary.partitions[0].assign(self.score), self.unit)
        return largest

    def draw(self, mean: float, n_resamples: int, rng: np.random.Generator) -> FloatArray:
        """Weighted numbers of successes of all entries together, whose expectation is `mean`.

        Up to 65,536 outcomes that count alike have their exact (Poisson-binomial) law; otherwise
        the binomial number of each entry is drawn. The order of the entries does not matter.
        """
        unit = np.broadcast_to(np.asarray(self.unit, dtype=np.float64), self.p.shape)
        order = np.lexsort((unit, self.p))
        p, unit = self.p[order].astype(np.float64), unit[order]
        count = None if self.count is None else self.count[order]
        if not isinstance(self.unit, np.ndarray):
            if count is None:
                return self.unit * poisson_binomial.draw(p, n_resamples, rng)
            if count.sum() <= _WRITTEN_OUT:
                each = np.repeat(p, count.astype(np.intp))
                return self.unit * poisson_binomial.draw(each, n_resamples, rng)
        count = np.ones(len(p)) if count is None else count
        sums = np.full(n_resamples, mean - float((unit * count) @ p))
        step = max(1, _BLOCK_DRAWS // n_resamples)
        for first in range(0, len(p), step):
            part = slice(first, first + step)
            size = (n_resamples, len(p[part]))
            successes = rng.binomial(count[part].astype(np.int64), p[part], size)
            sums += np.einsum("ij,j->i", successes, unit[part])
        return sums
