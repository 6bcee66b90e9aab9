"""Null levels of figures without fixed bins, from outcomes drawn in fine cells of scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from veridical._core.data.randomness import Draws
from veridical._core.resampling.hypothesis import redraw_of
from veridical._core.resampling.redraw import most_draws
from veridical._core.resampling.rows import counts_rows
from veridical._core.resampling.sums import places_of
from veridical._core.runtime.progress import track
from veridical._core.sample import BinarySample, PooledScores
from veridical._core.typing import FloatArray, IntArray
from veridical.binning import SweepBins
from veridical.binning.counts import SortedScores
from veridical.inference._draws.trials import Trials
from veridical.miscalibration import BinnedError, Estimator
from veridical.miscalibration.core import CellEstimator, sweep_errors

_MOST_CELLS = 2048
_BLOCK = 1 << 20
_MOST_DRAWS = 200  # more would cost more than all else that is said of the rows
_NORMAL_FROM = 25.0  # variance; sums over many cells enter every figure


def knows_cells(estimator: Estimator) -> bool:
    """Whether a figure can be had for many outcomes of the same scores at once."""
    if isinstance(estimator, CellEstimator):
        return True
    return isinstance(estimator, BinnedError) and estimator == BinnedError(SweepBins())


@dataclass(frozen=True)
class CellDraws:
    """Scores in cells of nearly equal mass, what was observed in each, and what was drawn.

    Up to 2,048 distinct scores are a cell each; more are pooled with their neighbours. The number
    of positives of a cell is binomial with its mean prediction (the variance of the predictions
    within so small a cell is nothing beside that of the outcomes), from a variance of 25 on a
    rounded normal. Rows of different weights are so many outcomes of one weight that the sum has
    the variance of the weighted rows. Figures of the observed outcomes are taken in the same cells,
    so that they are one more draw if the model is calibrated.

    Attributes
    ----------
    value, weight : array of shape (cells,)
        Mean score and weight of each cell.
    positive : array of shape (1 + draws, cells)
        Weighted outcomes of the cells: those observed, then those drawn.
    size : float
        Sample size that the rows are worth.
    """

    value: FloatArray
    weight: FloatArray
    positive: FloatArray
    size: float

    @classmethod
    def of(
        cls, sample: BinarySample, draws: Draws, outcomes: Trials | None = None, scale: float = 1.0
    ) -> Self:
        """Draw outcomes from the predictions, or `outcomes` where rows are sums of them.

        `scale` is what an outcome of weight one weighs in the sample.
        """
        pooled = sample.pooled
        last, weight, mean, observed = _cells_of(pooled, _MOST_CELLS)
        drawn: FloatArray
        value = np.clip(mean / weight, 0.0, 1.0)
        size = min(draws.n_resamples, _MOST_DRAWS)
        redraw = redraw_of(sample) if outcomes is None else None
        if redraw is not None:
            some = most_draws(Draws(size, draws.rng), redraw.n)
            ends = pooled.value[last]
            cell = np.minimum(places_of(sample.p[redraw.rows], ends), len(ends) - 1)
            residual = redraw.sums(redraw.residuals, cell, len(ends), some, "null levels")
            drawn = mean + residual
            return cls(value, weight, np.vstack([observed, drawn]), sample.size)
        counted = sample.weight is None or counts_rows(sample)
        if outcomes is None and counted:
            drawn = _draw_counts(np.rint(weight), value, Draws(size, draws.rng))
        else:
            entries = outcomes or Trials(sample.p, None, sample.weight)  # type: ignore[arg-type]
            count, unit = _as_many(entries, pooled.value[last], value)
            hits = _draw_counts(count, value, Draws(size, draws.rng))
            drawn = mean + scale * unit * (hits - count * value)
            alone = count == 1  # nothing but all or nothing
            drawn[:, alone] = weight[alone] * hits[:, alone]
        return cls(value, weight, np.vstack([observed, drawn]), sample.size)

    def figures(self, estimator: Estimator) -> FloatArray:
        """The figure of the observed outcomes, and those of the drawn ones."""
        if isinstance(estimator, CellEstimator):
            return estimator.measure_cells(self.value, self.weight, self.positive)
        return sweep_errors(self.value, self.weight, self.positive, self.size)


def cell_null(estimator: CellEstimator, sample: BinarySample, draws: Draws) -> FloatArray:
    """Figures of outcomes drawn from the predictions of rows, or of whole frequencies.

    As above, for as many draws as are asked for and with as many cells as the estimator wants.
    """
    _, weight, mean, _ = _cells_of(sample.pooled, estimator.n_cells)
    value, count = np.clip(mean / weight, 0.0, 1.0), np.rint(weight)
    values = np.empty(draws.n_resamples)
    step = max(1, _BLOCK // len(value))
    for block in track(-(-draws.n_resamples // step), f"null level of {estimator.name}"):
        some = slice(block * step, min((block + 1) * step, draws.n_resamples))
        positive = _draw_counts(count, value, Draws(some.stop - some.start, draws.rng))
        values[some] = estimator.measure_cells(value, weight, positive)
    return values


def _cells_of(
    pooled: PooledScores, most: int
) -> tuple[IntArray, FloatArray, FloatArray, FloatArray]:
    """Last score of each cell, its weight, and the sums of predictions and of outcomes."""
    value = pooled.value.astype(np.float64, copy=False)
    if len(value) <= most:
        every = np.arange(len(value))
        return every, pooled.weight, pooled.weight * value, pooled.positive
    last = SortedScores(pooled.value, pooled.weight, pooled.positive, pooled).equal_mass(most)
    starts = np.append(0, last[:-1] + 1)
    each = (pooled.weight, value if pooled.alone else pooled.weight * value, pooled.positive)
    weight, mean, observed = (np.add.reduceat(values, starts) for values in each)
    return last, weight, mean, observed


def _draw_counts(count: FloatArray, p: FloatArray, draws: Draws) -> FloatArray:
    """Binomial numbers, (R, m)."""
    n, rng = draws
    if (count == 1).all() and p.min() > 0:
        return _draw_single(p, draws)
    variance = count * p * (1 - p)
    many = variance >= _NORMAL_FROM
    drawn = np.empty((n, len(p)))
    spread = rng.standard_normal((n, int(many.sum()))) * np.sqrt(variance[many])
    drawn[:, many] = np.clip(np.rint(count[many] * p[many] + spread), 0, count[many])
    drawn[:, ~many] = rng.binomial(count[~many].astype(np.int64), p[~many], (n, int((~many).sum())))
    return drawn


def _draw_single(p: FloatArray, draws: Draws) -> FloatArray:
    """What `binomial` draws of single outcomes, number for number, at a fifth of the cost.

    It inverts: an outcome of the rarer kind where a uniform number is beyond the chance of none.
    """
    n, rng = draws
    turned = p > 0.5
    none = np.exp(np.log(1.0 - np.where(turned, 1.0 - p, p)))
    drawn = rng.random((n, len(p))) > none
    drawn ^= turned
    return drawn.astype(np.float64)


def _as_many(entries: Trials, ends: FloatArray, value: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Outcomes of each cell, and what one counts for their sum to have the right variance."""
    p = entries.p.astype(np.float64)
    count = np.ones(len(p)) if entries.count is None else entries.count.astype(np.float64)
    cell = np.minimum(np.searchsorted(ends, entries.p), len(ends) - 1)
    variance = np.bincount(cell, entries.weight**2 * count * p * (1 - p), minlength=len(ends))
    number = np.bincount(cell, count, minlength=len(ends)).astype(np.float64)
    of_one = number * value * (1 - value)
    unit = np.sqrt(np.divide(variance, of_one, out=np.zeros(len(ends)), where=of_one > 0))
    return np.rint(number), unit
