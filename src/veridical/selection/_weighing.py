"""How much each map counts: a pool of held-out predictions, and the gate of the identity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from veridical._core.typing import BoolArray, FloatArray, IntArray
from veridical.calibrators._scales import smallest_share
from veridical.calibrators._wrapping import CheckedRows
from veridical.inference._mean_interval import make_units, standard_error
from veridical.selection._cross_fit import Fold
from veridical.selection._pool_weights import pool_weights

_PSEUDO_ROWS = 5.0
_LEAST = 1e-12  # smaller probabilities of what happened count as this
_HARDLY = 0.01  # shares of the identity that are not worth the words
_CAUTION = 10.0  # chosen on one half of the data sets of the league, as _PSEUDO_ROWS was


@dataclass(frozen=True)
class Judge:
    """Scores of held-out predictions.

    Attributes
    ----------
    y : class indices of the held-out rows, fold after fold
    weight : their weights
    by_frequency : whether a weight is a number of repetitions
    size : sample size for whatever depends on n
    floor : what a probability of zero counts as, should its outcome happen all the same
    ends : where each partition of the rows ends; each contains all rows once
    """

    y: IntArray
    weight: FloatArray
    by_frequency: bool
    size: float
    floor: float
    ends: tuple[int, ...]

    @classmethod
    def of(cls, folds: Sequence[Fold], rows: CheckedRows, own: FloatArray | None) -> Judge:
        """Judge of what is held out in `folds` of `rows`, `own` being the model's predictions."""
        held = [fold.held for fold in folds]
        weights = [np.ones(len(r.y)) if r.weight is None else r.weight for r in held]
        counts = np.bincount([f.partition for f in folds], [len(r.y) for r in held])
        return cls(
            np.concatenate([r.y for r in held]) if held else rows.y[:0],
            np.concatenate(weights) if held else np.empty(0),
            rows.weight is not None and rows.weight_type == "frequency",
            rows.size,
            _LEAST if own is None or not own.size else stand_in(own),
            tuple(np.cumsum(counts).astype(int).tolist()),
        )

    @property
    def weights(self) -> FloatArray:
        """Weights that sum to the sample size."""
        return self.weight * (self.size / float(self.weight.sum()))

    def outcome(self, p: FloatArray) -> FloatArray:
        """Probability given to what happened; the floor where it was given none."""
        given = self._raw(p)
        return np.where(given > 0, np.maximum(given, _LEAST), self.floor)

    def surprises(self, p: FloatArray) -> int:
        """How many held-out outcomes had been given no probability, in one partition."""
        return int(np.sum(self._raw(p)[: self.ends[0]] == 0)) if self.ends else 0

    def _raw(self, p: FloatArray) -> FloatArray:
        return p[np.arange(len(self.y)), self.y]

    def brier(self, p: FloatArray) -> float:
        """Mean Brier score: of the positive class for two classes, summed over more."""
        given = self._raw(p)
        if p.shape[1] == 2:
            return self.mean((1 - given) ** 2)
        return self.mean(np.einsum("ij,ij->i", p, p) - 2 * given + 1)

    def mean(self, values: FloatArray) -> float:
        """Weighted mean over the rows."""
        return float(np.average(values, weights=self.weight))

    def mean_and_error(self, values: FloatArray) -> tuple[float, float]:
        """Weighted mean and its standard error.

        Partitions hold the same rows, so more of them do not make the error smaller: its square is
        the mean of those of single partitions.
        """
        squares, start = [], 0
        for end in self.ends:
            part = slice(start, end)
            units = make_units(values[part], self.weight[part], self.by_frequency, None, None)
            squares.append(standard_error(units) ** 2)
            start = end
        return self.mean(values), float(np.sqrt(np.mean(squares)))

    def certainty(self, values: FloatArray) -> float:
        """How many standard errors the mean is above zero."""
        mean, error = self.mean_and_error(values)
        return mean / error if error > 0 else float(np.sign(mean)) * np.inf if mean else 0.0


def stand_in(p: FloatArray) -> float:
    """Half the smallest positive probability, within bounds: what a zero may have been.

    One impossible outcome that happens would otherwise decide every comparison. Zeros that nothing
    contradicts stay zeros.
    """
    return min(max(smallest_share(p), _LEAST), 1 / (4 * p.shape[1]))


def pooled_weights(judge: Judge, given: FloatArray, basic: BoolArray) -> FloatArray:
    """Weights of maps from what they gave to the outcomes, (n, M).

    A pool of the stiff maps alone and a pool of all are mixed by the probability that the second
    is better: with few rows the flexible ones are not worth their noise.
    """
    from scipy.special import ndtr

    every = pool_weights(given, judge.weights, _PSEUDO_ROWS)
    if basic.all() or not basic.any():
        return every
    stiff = np.zeros(len(basic))
    stiff[basic] = pool_weights(given[:, basic], judge.weights, _PSEUDO_ROWS)
    gain = np.log(given @ every) - np.log(given @ stiff)
    share = float(ndtr(judge.certainty(gain)))
    return np.asarray((1 - share) * stiff + share * every)


def identity_share(judge: Judge, pooled: FloatArray, identity: FloatArray) -> float:
    """Share of the identity in the result, from what both gave to the outcomes.

    The probability that the identity is at least as good as the pool, by the normal approximation
    of the mean paired difference in log loss, of which few rows make too much: 10 / sqrt(n)
    standard errors are taken off first. One if the pool was worse by a standard error.
    """
    from scipy.special import ndtr

    certainty = judge.certainty(np.log(pooled) - np.log(identity))
    share = float(ndtr(_CAUTION / np.sqrt(judge.size) - certainty))
    if certainty <= -1 or share > 1 - _HARDLY:
        return 1.0
    return 0.0 if share < _HARDLY else share
