"""Residuals of cells redrawn: what their sums would be if outcomes were draws of the predictions.

The only place where the null hypothesis of binary outcomes is drawn from.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veridical._core.typing import FloatArray, IntArray

NORMAL_FROM = 400.0  # variance of a count, in outcomes, from which it is drawn as normal
_NORMAL_IN_WEIGHTS = 100.0
_BLOCK = 1 << 20
_POOLED = 256  # entries of a cell that are multiplied out one by one
_SPREADS = 12.0  # standard deviations beyond which no count is looked for


@dataclass(frozen=True)
class Trials:
    """Independent outcomes of increasing probability.

    Attributes
    ----------
    p : probabilities, float64, in increasing order
    count : how many outcomes each stands for
    weight : what each outcome of an entry counts, None for one
    """

    p: FloatArray
    count: FloatArray
    weight: FloatArray | None = None

    def take(self, rows: IntArray) -> Trials:
        """Keep some entries."""
        weight = None if self.weight is None else self.weight[rows]
        return Trials(self.p[rows], self.count[rows], weight)

    @property
    def square(self) -> FloatArray:
        """Squared weights of all outcomes of each entry."""
        return self.count if self.weight is None else self.count * np.square(self.weight)


def drawn_residuals(
    trials: Trials, cell: IntArray, n_cells: int, n: int, rng: np.random.Generator
) -> FloatArray:
    """Weighted residuals of each cell, (n, n_cells); `cell` increases along the entries.

    Few outcomes are drawn one by one. Of more, the number of successes of a cell has its exact
    law, or is normal from a variance of 400 on; where weights differ, outcomes that make up more
    than a hundredth of the variance of a cell are drawn one by one and the others are normal.
    """
    p, total = trials.p, float(trials.count.sum())
    if total * n <= _BLOCK and (trials.count == 1).all():
        return _one_by_one(trials, cell, n_cells, n, rng)
    each = trials.square * p * (1 - p)
    variance = np.bincount(cell, weights=each, minlength=n_cells)
    if trials.weight is None:
        sums = rng.standard_normal((n, n_cells)) * np.sqrt(variance)
        starts = np.searchsorted(cell, np.arange(n_cells + 1))
        for c in np.flatnonzero((variance < NORMAL_FROM) & (variance > 0)):
            held = slice(starts[c], starts[c + 1])
            sums[:, c] = drawn_count(p[held], trials.count[held], n, rng)
        return sums
    heavy = np.square(trials.weight) > variance[cell] / _NORMAL_IN_WEIGHTS
    light = np.bincount(cell, weights=np.where(heavy, 0.0, each), minlength=n_cells)
    sums = rng.standard_normal((n, n_cells)) * np.sqrt(light)
    if heavy.any():
        cells, place = np.unique(cell[heavy], return_inverse=True)
        some = trials.take(np.flatnonzero(heavy))
        sums[:, cells] += _one_by_one(some, place.reshape(-1), len(cells), n, rng)
    return sums


def drawn_count(p: FloatArray, count: FloatArray, n: int, rng: np.random.Generator) -> FloatArray:
    """Successes less their expectation, n times, by inversion of the Poisson-binomial law.

    The law is the Fourier transform of the product of (1 - p + p z)^count (Hong 2013, Computational
    Statistics and Data Analysis 59, 41-51). Of many entries neighbours are pooled at their mean,
    which changes the variance by the spread of p among neighbours, squared.
    """
    from scipy import fft

    if len(p) > _POOLED:
        pool = (np.arange(len(p)) * _POOLED) // len(p)
        p = np.bincount(pool, weights=count * p) / np.bincount(pool, weights=count)
        count = np.bincount(pool, weights=count).astype(np.float64, copy=False)
    trials, mean = float(count.sum()), float(count @ p)
    turned = mean > trials / 2  # count what is rarer
    q = 1 - p if turned else p
    expected = trials - mean if turned else mean
    reach = expected + _SPREADS * np.sqrt(expected) + 2 * _SPREADS
    size = fft.next_fast_len(int(min(trials, np.ceil(reach))) + 1, real=True)
    z = np.exp(-2j * np.pi * np.arange(size // 2 + 1) / size)
    factors = 1 + q[:, None] * (z - 1)
    if (count != 1).any():
        factors **= count[:, None]
    law = np.cumsum(np.maximum(fft.irfft(factors.prod(axis=0), size), 0.0))
    drawn = np.searchsorted(law, rng.random(n) * law[-1], side="right") - expected
    return -drawn if turned else drawn


def _one_by_one(
    trials: Trials, cell: IntArray, n_cells: int, n: int, rng: np.random.Generator
) -> FloatArray:
    """Weighted residuals drawn outcome by outcome, or only those that are rare; no empty cell."""
    turned = trials.p > 0.5
    rare = np.where(turned, 1 - trials.p, trials.p)
    weight = np.where(turned, -1.0, 1.0)
    if trials.weight is not None:
        weight = weight * trials.weight
    expected = np.bincount(cell, weights=weight * rare * trials.count, minlength=n_cells)
    starts = np.searchsorted(cell, np.arange(n_cells))
    rate = -np.log1p(-rare) * trials.count
    alone = bool((trials.count == 1).all())
    sparse = alone and 4 * rate.sum() < len(rate)
    step = max(1, int(_BLOCK / max(1.0, rate.sum() if sparse else len(rate))))
    sums = np.empty((n, n_cells))
    for first in range(0, n, step):
        shape = (min(step, n - first), len(rare))
        block = sums[first : first + step]
        if sparse:
            drawn, row = _rare_rows(rate, shape[0], rng)
            keys = drawn * n_cells + cell[row]
            counted = np.bincount(keys, weights=weight[row], minlength=block.size)
            block[:] = counted.reshape(block.shape)
        elif alone:
            block[:] = np.add.reduceat((rng.random(shape) < rare) * weight, starts, axis=1)
        else:
            number = rng.binomial(trials.count.astype(np.int64), rare, shape)
            block[:] = np.add.reduceat(number * weight, starts, axis=1)
    return sums - expected


def _rare_rows(rate: FloatArray, n: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Draw and row of every event where each row has one with probability 1 - exp(-rate).

    Poisson numbers of events fall on rows in proportion to the rates; a row that is hit at all
    has its event, so the probabilities are exact.
    """
    edges = np.cumsum(rate)
    numbers = rng.poisson(edges[-1], n)
    row = np.searchsorted(edges, rng.random(int(numbers.sum())) * edges[-1], side="right")
    keys = np.repeat(np.arange(n), numbers) * len(rate) + np.minimum(row, len(rate) - 1)
    keys.sort()  # several times as fast as a hash table of them
    keys = keys[np.diff(keys, prepend=-1) > 0]
    return keys // len(rate), keys % len(rate)
