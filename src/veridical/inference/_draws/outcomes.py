"""Rows that stand for several rows with outcomes of their own.

Outcomes drawn from predictions, row by row, in bounded memory.

Weights of a likelihood, and the limit of its ratio.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from veridical._core.numeric import poisson_binomial
from veridical._core.numeric.blocks import row_blocks
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


_ROWS = 1 << 14  # a block of uniforms, thresholds and classes stays in the cache


class OutcomeDraws:
    """Draws one outcome a row from its probabilities; the order of the rows does not matter.

    Parameters
    ----------
    sample : BinarySample or MulticlassSample
        Whose predictions, and whose weights to tell rows of equal predictions apart.
    probabilities : array of the shape of `sample.p`, optional
        Probabilities to draw from, if not the predictions themselves.
    """

    def __init__(
        self, sample: BinarySample | MulticlassSample, probabilities: FloatArray | None = None
    ) -> None:
        p = sample.p if probabilities is None else probabilities
        self.order = row_order(sample)
        p = p[self.order].astype(np.float64)
        self.n_classes = 2 if p.ndim == 1 else p.shape[1]
        if p.ndim == 1:
            self._thresholds = (1 - p)[None, :]
        else:
            cumulated = np.cumsum(p, axis=1)
            cumulated /= cumulated[:, -1:]
            self._thresholds = np.ascontiguousarray(cumulated[:, :-1].T)
        self._rows = np.arange(len(self.order))
        self._kind = np.dtype(np.uint8 if self.n_classes <= 256 else np.uint32)

    def __call__(self, rng: np.random.Generator) -> IntArray:
        """Return the drawn class of each row, in the order of the sample."""
        y: IntArray = np.empty(len(self.order), dtype=self._kind)
        y[self.order] = self.in_order(rng)
        return y

    def in_order(self, rng: np.random.Generator) -> IntArray:
        """Return the drawn class of each row, in the order of `self.order`."""
        y: IntArray = np.zeros(len(self.order), dtype=self._kind)
        beyond = np.empty(min(len(y), _ROWS), dtype=bool)
        for block in row_blocks(len(y), _ROWS):
            uniform, drawn = rng.random(block.stop - block.start), y[block]
            passed = beyond[: len(uniform)]
            counted = passed.view(np.uint8)
            for threshold in self._thresholds[:, block]:
                np.greater_equal(uniform, threshold, out=passed)
                drawn += counted  # a class for every threshold passed
        return y

    def cell_sums(
        self,
        cells: IntArray,
        n_cells: int,
        weight: FloatArray | None,
        rng: np.random.Generator,
    ) -> FloatArray:
        """Sum weights by the cell of the class that was drawn.

        `cells` is (K, n) in the order of `self.order`: where a row counts if that class occurs.
        """
        drawn = np.multiply(self.in_order(rng), len(self.order), dtype=np.intp)
        drawn += self._rows
        sums = np.bincount(cells.reshape(-1)[drawn], weights=weight, minlength=n_cells)
        return sums.astype(np.float64, copy=False)


def row_order(sample: BinarySample | MulticlassSample) -> IntArray:
    """Rows in an order that only their predictions and weights decide."""
    weight = np.ones(sample.n) if sample.weight is None else sample.weight
    if sample.p.ndim == 1:
        return np.lexsort((weight, sample.p))
    return np.lexsort((weight, *sample.p.T))


def likelihood_weight(sample: Sample) -> FloatArray:
    """Weights that sum to the sample size: repetitions, or importance scaled to Kish's size."""
    if sample.weight is None or (sample.weight_type == "importance" and _all_same(sample.weight)):
        return np.ones(sample.n)
    if sample.weight_type == "frequency":
        return sample.weight
    return sample.weight * (sample.size / sample.weight.sum())


def counts_outcomes(sample: Sample) -> bool:
    """Whether the weights of the likelihood are numbers of independent outcomes."""
    same = sample.weight is not None and _all_same(sample.weight)
    return counts_rows(sample) or (sample.weight_type == "importance" and same)


def _all_same(weight: FloatArray) -> bool:
    return bool((weight == weight[0]).all())


def wilks_pvalue(statistic: float, df: int) -> float:
    """Return P(chi-squared with `df` degrees of freedom >= statistic); Wilks' theorem."""
    from scipy.special import chdtrc

    return float(chdtrc(df, statistic))
