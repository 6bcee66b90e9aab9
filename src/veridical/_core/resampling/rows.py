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

    def several_cell_sums(
        self, cells: IntArray, n_cells: int, weight: FloatArray | None, draws: Draws
    ) -> FloatArray:
        """What `cell_sums` gives one by one, (n_resamples, n_cells); few rows are drawn at once."""
        n = len(self.order)
        step = max(1, _ROWS // n)
        sums = np.empty((draws.n_resamples, n_cells))
        for block in row_blocks(draws.n_resamples, step):
            some = sums[block]
            if len(some) == 1:
                some[0] = self.cell_sums(cells, n_cells, weight, draws.rng)
                continue
            uniform = draws.rng.random((len(some), n))
            drawn = np.zeros(uniform.shape, dtype=np.intp)
            for threshold in self._thresholds:
                drawn += uniform >= threshold
            drawn *= n
            drawn += self._rows
            at = cells.reshape(-1)[drawn]
            at += (np.arange(len(some)) * n_cells)[:, None]
            each = None if weight is None else np.tile(weight, len(some))
            some[:] = np.bincount(at.ravel(), each, minlength=some.size).reshape(some.shape)
        return sums


def row_order(sample: BinarySample | MulticlassSample) -> IntArray:
    """Rows in an order that only their predictions and weights decide."""
    weight = np.ones(sample.n) if sample.weight is None else sample.weight
    if sample.p.ndim == 1:
        return np.lexsort((weight, sample.p))
    return np.lexsort((weight, *sample.p.T))
