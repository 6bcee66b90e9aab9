r"""Limits of calibration errors without bins (KS, smECE), and of the largest gap of bins (MCE).

Each is the largest mean of bets c(p) (y - p): on all scores up to one of them, too many outcomes or
too few (KS); on signs smoothed along the scores (smECE); on one bin (MCE). Whatever the best bet of
the population is, its mean is below its own upper limit, and so below the largest of those of all
bets, which needs no correction for their number. Lower limits are the reading less as much noise as
there may be, whichever bet it came from.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from veridical._core.numeric import density
from veridical._core.typing import FloatArray
from veridical.inference._intervals.bounded import upper_limit
from veridical.inference._intervals.rows import Rows
from veridical.summaries import Summary

_CANDIDATES = 3
_GRID = 1024
_NARROWEST = 2.0 / _GRID
_ROUNDS = 8
_SQRT_2_PI = math.sqrt(2 / math.pi)


def _upper(rows: Rows, bet: FloatArray, tail: float) -> float:
    """Upper limit of the mean of a bet on every row."""
    most = float(np.maximum(bet * (1 - rows.p), -bet * rows.p).max())
    return upper_limit(rows.masses(bet * (rows.y - rows.p)), most, tail).value


def _noise(rows: Rows) -> float:
    """Standard error of the mean residual, as observed or as predicted, whichever is larger."""
    squares = rows.shape * rows.scale**2
    seen, expected = squares @ (rows.y - rows.p) ** 2, squares @ (rows.p * (1 - rows.p))
    return math.sqrt(max(float(seen), float(expected))) / float(rows.total.sum())


def cumulated_limits(rows: Rows, level: float) -> tuple[float, float]:
    """Limits of the largest cumulated difference (KS).

    The noise of all cumulated differences together is that of a Brownian motion, whose largest
    absolute value exceeds x with a chance of at most 4 (1 - Phi(x)).
    """
    from scipy.special import ndtri

    tail = (1 - level) / 2
    order = np.argsort(rows.p, kind="stable")
    last = np.flatnonzero(np.append(np.diff(rows.p[order]) > 0, True))
    residual = (rows.total * (rows.y - rows.p) / rows.total.sum())[order]
    square = (rows.shape * (rows.scale * (rows.y - rows.p) / rows.total.sum()) ** 2)[order]
    excess, spread = np.cumsum(residual)[last], np.sqrt(np.cumsum(square)[last])
    high = 0.0
    for sign in (-1.0, 1.0):
        promising = np.argsort(sign * excess + float(ndtri(1 - tail)) * spread)[-_CANDIDATES:]
        for threshold in np.append(rows.p[order][last[promising]], 1.0):
            high = max(high, _upper(rows, sign * (rows.p <= threshold), tail))
    read = float(np.abs(excess).max())
    low = max(0.0, read - float(ndtri(1 - tail / 4)) * _noise(rows))
    return low, max(low, high)


def smooth_limits(rows: Rows, level: float) -> tuple[float, float]:
    """Limits of the smooth calibration error whose bandwidth is the error itself.

    Those at a given bandwidth fall with it, so where one equals its bandwidth it holds if it holds
    at the bandwidth of the truth.
    """
    from scipy.special import ndtri

    tail = (1 - level) / 2
    total = float(rows.total.sum())
    residual = rows.y - rows.p
    nodes = density.bin_linearly(rows.p, rows.total * residual, _GRID)
    gaps = density.cosine_spectrum(nodes / total)
    variance = density.bin_linearly(rows.p, rows.shape * (rows.scale * residual) ** 2, _GRID)
    squares = density.cosine_spectrum(variance / total**2)
    spread = float(ndtri(1 - tail)) * _noise(rows)
    nodes_at = np.linspace(0, 1, _GRID + 1)

    def lower(width: float) -> float:
        # The square of a normal kernel is one of a narrower bandwidth, but for its height; near the
        # ends it meets its mirror image, and the square of the sum has twice their product, too.
        at = density.smoothed_density(squares, width / math.sqrt(2))
        height = np.maximum(at, 0.0) / (2 * math.sqrt(math.pi) * width)
        for distance in (nodes_at, 1 - nodes_at):
            image = np.exp(-((distance / width) ** 2))
            height += image * float(variance @ image) / (math.pi * width**2 * total**2)
        noise = _SQRT_2_PI * density.absolute_integral(np.sqrt(height))
        read = density.absolute_integral(density.smoothed_density(gaps, width))
        return read - noise - spread

    def upper(width: float) -> float:
        sign = np.sign(density.smoothed_density(gaps, width))
        level = np.full(_GRID + 1, math.copysign(1.0, float(nodes.sum())))
        bets = [_climbed(rows, start, width, tail) for start in (sign, level, -level)]
        return _upper(rows, max(bets, key=lambda bet: bet.limit).on, tail)

    low, high = _fixed_point(lower, below=0.0), _fixed_point(upper, below=_NARROWEST)
    return low, max(low, high)


@dataclass(frozen=True, eq=False)
class _Bet:
    """Bets on rows, and about where the upper limit of their mean is."""

    on: FloatArray
    limit: float


def _climbed(rows: Rows, sign: FloatArray, width: float, tail: float) -> _Bet:
    """Signs, smoothed, at which the mean and its standard errors are largest, by ascent."""
    from scipy.special import ndtri

    residual, z = rows.y - rows.p, float(ndtri(1 - tail))
    best = _Bet(np.zeros(len(residual)), -math.inf)
    ends = np.ones(_GRID + 1)
    ends[[0, -1]] = 0.5
    for _ in range(_ROUNDS):
        smooth = density.smoothed_density(density.cosine_spectrum(sign * ends / _GRID), width)
        on = np.interp(rows.p, np.linspace(0, 1, _GRID + 1), smooth)
        value = on * residual
        away = rows.scale * (value - rows.mean(value))
        size = math.sqrt(float(rows.shape @ away**2))
        limit = rows.mean(value) + z * size / float(rows.total.sum())
        if limit <= best.limit or size == 0:
            return _Bet(on, limit) if size == 0 else best
        best = _Bet(on, limit)
        mass = density.bin_linearly(rows.p, rows.total * (1 + z * away / size) * residual, _GRID)
        sign = np.where(density.smoothed_density(density.cosine_spectrum(mass), width) < 0, -1, 1)
    return best


def _fixed_point(limit: Callable[[float], float], *, below: float) -> float:
    """Bandwidth that a limit, which falls with it, is equal to; `below` if narrower than any."""
    from scipy.optimize import brentq

    ends = [limit(width) - width for width in (_NARROWEST, 1.0)]
    if ends[0] <= 0 or ends[1] >= 0:
        return below if ends[0] <= 0 else 1.0
    return float(brentq(lambda width: limit(width) - width, _NARROWEST, 1.0, xtol=1e-4, rtol=1e-3))


def largest_limits(summary: Summary, level: float) -> tuple[float, float]:
    """Limits of the largest gap of the bins that hold rows.

    Frequencies have the limits of Clopper & Pearson (1934); for the lower one, of all bins at once
    (Bonferroni).
    """
    from scipy.special import betaincinv

    held = summary.occupied[0]
    size, predicted = summary.size[0, held], summary.mean_p[0, held]
    hits = size * summary.mean_y[0, held].clip(0.0, 1.0)
    tail = (1 - level) / 2

    def frequency(share: float) -> tuple[FloatArray, FloatArray]:
        least = np.where(hits > 0, betaincinv(np.maximum(hits, 1e-9), size - hits + 1, share), 0.0)
        left = np.maximum(size - hits, 1e-9)
        most = np.where(hits < size, betaincinv(hits + 1, left, 1 - share), 1.0)
        return least, most

    least, most = frequency(tail)
    high = float(np.maximum(most - predicted, predicted - least).max())
    least, most = frequency(tail / len(size))
    low = float(np.maximum(least - predicted, predicted - most).max())
    return max(0.0, low), high
