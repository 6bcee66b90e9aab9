"""Limits of the mean absolute gaps of many binary problems at once, binned alike.

The same limits as those of :mod:`binned` and :mod:`gaps`, problem by problem.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veridical._core.typing import BoolArray, FloatArray, IntArray
from veridical.inference._intervals.binned import folded_cumulants
from veridical.inference._intervals.bounded import Limit
from veridical.inference._intervals.bounded_rows import LimitRows, masses_of, upper_limits
from veridical.inference._intervals.gaps import MAX_ROUNDS, GapCells, least_favourable
from veridical.summaries import Summary

_HALVINGS = 60
_NORMAL_SKEW = 1e-3


def l1_limits_of_problems(summary: Summary, level: float) -> tuple[FloatArray, FloatArray]:
    """Limits of the mean absolute gap of each problem of a summary; rows are independent."""
    bins = _BinRows.of(summary)
    tail = (1 - level) / 2
    low = _lower(bins, tail)
    return low, np.maximum(low, _upper(bins, tail))


@dataclass(frozen=True)
class _BinRows:
    """Bins of every problem, (problems, bins); what is empty has the share 0."""

    share: FloatArray
    size: FloatArray
    mean_p: FloatArray
    gap: FloatArray
    n: FloatArray

    @classmethod
    def of(cls, summary: Summary) -> _BinRows:
        held = summary.occupied
        size = np.where(held, summary.size, 1.0)
        mean_p = np.where(held, summary.mean_p, 0.5)
        gap = np.where(held, summary.mean_y, 0.5) - mean_p
        total, square = summary.sum_w.sum(axis=1), summary.sum_w2.sum(axis=1)
        n = total if summary.weight_type == "frequency" else total**2 / square
        return cls(summary.share, size, mean_p, gap, n)

    def take(self, rows: IntArray) -> _BinRows:
        every = (self.share, self.size, self.mean_p, self.gap, self.n)
        return _BinRows(*(each[rows] for each in every))

    @property
    def error(self) -> FloatArray:
        """Standard errors of the frequencies as observed, with one more row at the prediction."""
        return self.error_at(np.abs(self.gap) * self.size / (self.size + 1))

    def error_at(self, size_of_gap: FloatArray) -> FloatArray:
        """Standard errors of the frequencies if the gaps were that large, as of one problem."""
        inward = np.where(self.mean_p > 0.5, -1.0, 1.0)
        side = np.where(self.gap == 0, inward, np.sign(self.gap))
        rate = self.mean_p + side * size_of_gap
        rate = np.where((rate < 0) | (rate > 1), self.mean_p + inward * size_of_gap, rate)
        edge = 0.5 / (self.size + 1)
        rate = np.clip(rate, edge, 1 - edge)
        return np.sqrt(rate * (1 - rate) / self.size)

    def below(self, value: FloatArray, gaps: FloatArray) -> FloatArray:
        """Chance that the mean absolute gap is read as at most `value` if gaps are these."""
        from scipy.special import gammainc, ndtr

        share = self.share
        square = (share * (self.gap**2 - self.error**2)).sum(axis=1)
        at = self.error_at(gaps)
        mean, variance, third = folded_cumulants(gaps / at)
        scale = share * at
        between = np.maximum(np.maximum(square, 0.0) - (share * gaps).sum(axis=1) ** 2, 0.0)
        mean, third = (scale * mean).sum(axis=1), (scale**3 * third).sum(axis=1)
        spread = (scale**2 * variance).sum(axis=1) + between / self.n
        standard = (value - mean) / np.sqrt(spread)
        skew = third / spread**1.5
        half = 4 / np.maximum(skew, _NORMAL_SKEW) ** 2
        skewed = gammainc(half, np.maximum(half + standard * np.sqrt(half), 0.0))
        return np.asarray(np.where(skew < _NORMAL_SKEW, ndtr(standard), skewed))


def _lower(bins: _BinRows, tail: float) -> FloatArray:
    """Lower limits: of a sparse spread of the gaps, and of the bet on the signs observed."""
    gap, error = np.abs(bins.gap), bins.error
    most = np.where(bins.share > 0, gap / error, 0.0).max(axis=1)
    observed = (bins.share * gap).sum(axis=1)
    low = np.zeros(len(gap))

    def chance(which: _BinRows, seen: FloatArray, threshold: FloatArray) -> FloatArray:
        return 1 - which.below(seen, _shrunk(which, threshold)) - tail

    rows = np.flatnonzero(chance(bins, observed, most) < 0)
    if not rows.size:
        return low
    some, seen = bins.take(rows), observed[rows]
    first, last = np.zeros(len(rows)), most[rows]
    never = chance(some, seen, first) < 0  # by rounding no change of sign: the smallest is it
    for _ in range(_HALVINGS):
        middle = (first + last) / 2
        above = chance(some, seen, middle) > 0
        first, last = np.where(above, middle, first), np.where(above, last, middle)
    threshold = np.where(never, 0.0, (first + last) / 2)
    found = (some.share * _shrunk(some, threshold)).sum(axis=1)
    sign = np.sign(some.gap) / 2
    bet = _bet_limits(some, np.stack([sign, -sign], axis=2), tail)
    low[rows] = np.maximum(0.0, np.minimum(found, -bet))
    return low


def _shrunk(bins: _BinRows, threshold: FloatArray) -> FloatArray:
    gap = np.abs(bins.gap)
    return np.clip(2 * (gap - threshold[:, None] * bins.error), 0.0, gap)


def _pairs(bins: _BinRows) -> tuple[FloatArray, FloatArray]:
    """Mean predictions and frequencies of both outcomes, (problems, bins, 2)."""
    observed = bins.mean_p + bins.gap
    predicted, seen = (np.stack([1 - v, v], axis=2) for v in (bins.mean_p, observed))
    return predicted, seen


def _bet_limits(bins: _BinRows, bet: FloatArray, tail: float) -> FloatArray:
    """Upper limits of the means of bet (y - p), as of bounded variables."""
    predicted, observed = _pairs(bins)
    won = bet - (bet * predicted).sum(axis=2, keepdims=True)
    held = (bins.share > 0)[:, :, None]
    shape = np.where(held, bins.size[:, :, None] * np.clip(observed, 0.0, 1.0), 0.0)
    scale = np.repeat((bins.share / bins.size)[:, :, None], 2, axis=2)
    flat = [each.reshape(len(bet), -1) for each in (won, shape, scale)]
    highest = np.where(held, won, -np.inf).reshape(len(bet), -1).max(axis=1)
    return upper_limits(masses_of(*flat), highest, tail).value


def _upper(bins: _BinRows, tail: float) -> FloatArray:
    """Upper limits: the largest of those of bets on signs, from two sets to begin with."""
    predicted, observed = _pairs(bins)
    starts = (observed - predicted > 0, predicted < 0.5)
    found = [_climbed(bins, start, tail) for start in starts]
    return np.maximum(np.maximum(*found), 0.0)


def _climbed(bins: _BinRows, chosen: BoolArray, tail: float) -> FloatArray:
    """Choose the sets of all bins at the tilt of the last limit, as long as it grows."""
    best = _limits(bins, chosen, tail)
    value = best.value.copy()
    active = np.flatnonzero(np.isfinite(best.tilt))
    sets, tilt = chosen[active], best.tilt[active]
    for _ in range(MAX_ROUNDS):
        if not active.size:
            break
        some = bins.take(active)
        predicted, observed = (each.reshape(-1, 2) for each in _pairs(some))
        n_bins = some.share.shape[1]
        cells = GapCells(predicted, observed, some.size.ravel(), some.share.ravel())
        at = Limit(np.repeat(value[active], n_bins)[:, None], np.repeat(tilt, n_bins))  # type: ignore[arg-type]
        sets = least_favourable(cells, sets.reshape(-1, 2), at).reshape(sets.shape)
        found = _limits(some, sets, tail)
        grows = found.value > value[active]
        value[active[grows]] = found.value[grows]
        going = grows & np.isfinite(found.tilt)
        active, sets, tilt = active[going], sets[going], found.tilt[going]
    return value


def _limits(bins: _BinRows, chosen: BoolArray, tail: float) -> LimitRows:
    """Upper limits of the means of the bets on these sets."""
    predicted, observed = _pairs(bins)
    expected, hits = ((part * chosen).sum(axis=2) for part in (predicted, observed))
    held = bins.share > 0
    value = np.hstack([1 - expected, -expected])
    shape = np.hstack([bins.size * hits, bins.size * (1 - hits)]).clip(min=0.0)
    shape = np.where(np.hstack([held, held]), shape, 0.0)
    scale = np.tile(bins.share / bins.size, 2)
    least = np.where(held[:, :, None], predicted, 1.0).min(axis=(1, 2))
    return upper_limits(masses_of(value, shape, scale), 1 - least, tail)
