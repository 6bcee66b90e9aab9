"""Rows whose outcomes are drawn: what their weights mean, and draws in bounded memory."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import numpy as np

from veridical._core.data.randomness import Draws
from veridical._core.numeric.blocks import row_blocks
from veridical._core.sample import BinarySample, MulticlassSample, Sample
from veridical._core.typing import FloatArray, IntArray

MOST_REPEATED = 1 << 24  # rows written out to draw their outcomes one by one

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


_ROWS = 1 << 14  # a block of uniforms, thresholds and classes stays in the cache
# A binomial number takes about 80 ns and an outcome 15 to 25 ns. Beyond so many outcomes per row
# and class, counts are drawn instead; half or twice as many would at most double the time.
_OUTCOMES_PER_COUNT = 8
# Probabilities of rows that are written out: 32 MB. Twice as many would take twice the memory.
_WRITTEN_OUT = 1 << 22


def outcomes_drawn(sample: Sample) -> float:
    """Number of outcomes that take as long as one draw of all rows of a sample."""
    most = _OUTCOMES_PER_COUNT * sample.p.size
    return min(sample.size, most) if counts_rows(sample) else sample.n


class OutcomeDraws:
    """Draws outcomes of rows from their probabilities; the order of the rows does not matter.

    A row of a whole frequency f has f outcomes. Few of them are drawn one by one. Of many, the
    numbers of each class are drawn, which are multinomial: the law is the same.

    Parameters
    ----------
    sample : BinarySample or MulticlassSample
        Whose predictions, and whose weights to tell rows of equal predictions apart.
    probabilities : array of the shape of `sample.p`, optional
        Probabilities to draw from, if not the predictions themselves.

    Attributes
    ----------
    order : row of each outcome, or of each multinomial number, in the order of the draws
    """

    def __init__(self, sample: Sample, probabilities: FloatArray | None = None) -> None:
        p = sample.p if probabilities is None else probabilities
        self.order = self._places = row_order(sample)
        self._sample, self._weight = sample, sample.weight
        self._counts: IntArray | None = None
        if sample.weight is not None and counts_rows(sample):
            self._counts, self._weight = sample.weight[self.order].astype(np.int64), None
            values = sample.size * (p.size / sample.n)  # of the rows, if they are written out
            few = values <= max(_WRITTEN_OUT, _OUTCOMES_PER_COUNT * p.size)
            if few and sample.size <= _OUTCOMES_PER_COUNT * p.size:
                self.order, self._counts = np.repeat(self.order, self._counts), None
                self._sample = take_repeated(sample, self.order)
                self._places = np.arange(len(self.order))
        elif sample.weight is not None:
            self._weight = sample.weight[self.order]
        p = p[self.order].astype(np.float64)
        if p.ndim == 1:
            self._thresholds = (1 - p)[None, :]
        else:
            cumulated = np.cumsum(p, axis=1)
            cumulated /= cumulated[:, -1:]
            self._thresholds = np.ascontiguousarray(cumulated[:, :-1].T)
        self._rows = np.arange(len(self.order))
        self._kind = np.dtype(np.uint8 if len(self._thresholds) < 256 else np.uint32)

    def resample(self, rng: np.random.Generator) -> Sample:
        """Return the sample with drawn outcomes, of which equal ones may be one weighted row."""
        sample = self._sample
        if self._counts is None:
            y: IntArray = np.empty(len(self.order), dtype=self._kind)
            y[self._places] = self.in_order(rng)
        else:
            counts = self._class_counts(rng)
            y, row = np.nonzero(counts)
            sample = sample.take(self.order[row])
            sample = replace(sample, weight=counts[y, row].astype(np.float64))
        if isinstance(sample, MulticlassSample):
            return replace(sample, y=y, confidence=None, right=None)
        return replace(sample, y=y)

    def _class_counts(self, rng: np.random.Generator) -> IntArray:
        """Return the number of outcomes of each class and row, (K, n)."""
        assert self._counts is not None
        chance = np.diff(self._thresholds, axis=0, prepend=0.0, append=1.0).T
        return rng.multinomial(self._counts, np.maximum(chance, 0.0)).T

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

    def cell_sums(self, cells: IntArray, n_cells: int, draws: Draws) -> FloatArray:
        """Sum weights by the cell of the class that was drawn, (n_resamples, n_cells).

        `cells` is (K, n) in the order of `self.order`: where a row counts if that class occurs.
        Outcomes of few rows are drawn for several resamples at once.
        """
        n = len(self.order)
        step = max(1, _ROWS // n) if self._counts is None else 1
        sums = np.empty((draws.n_resamples, n_cells))
        for block in row_blocks(draws.n_resamples, step):
            some = sums[block]
            if self._counts is not None:
                counts = self._class_counts(draws.rng)
                some[0] = np.bincount(cells.ravel(), counts.ravel(), minlength=n_cells)
                continue
            if len(some) == 1:
                drawn = np.multiply(self.in_order(draws.rng), n, dtype=np.intp)[None, :]
            else:
                uniform = draws.rng.random((len(some), n))
                drawn = np.zeros(uniform.shape, dtype=np.intp)
                for threshold in self._thresholds:
                    drawn += uniform >= threshold
                drawn *= n
            drawn += self._rows
            at = cells.reshape(-1)[drawn]
            at += (np.arange(len(some)) * n_cells)[:, None]
            each = None if self._weight is None else np.tile(self._weight, len(some))
            some[:] = np.bincount(at.ravel(), each, minlength=some.size).reshape(some.shape)
        return sums


def row_order(sample: BinarySample | MulticlassSample) -> IntArray:
    """Rows in an order that only their predictions and weights decide."""
    weight = np.ones(sample.n) if sample.weight is None else sample.weight
    if sample.p.ndim == 1:
        return np.lexsort((weight, sample.p))
    return np.lexsort((weight, *sample.p.T))
