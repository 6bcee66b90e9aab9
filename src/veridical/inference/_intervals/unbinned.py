r"""Limits of calibration errors without bins (KS, Kuiper, smECE), and of the largest gap (MCE).

Each is the largest mean of bets c(p) (y - p): on all scores up to one of them, too many outcomes or
too few (KS); on an interval of scores (Kuiper); on signs smoothed along the scores (smECE); on one
bin (MCE). Upper limits are the largest of those of all bets. Lower limits are the reading less as
much noise as there may be, whichever bet it came from.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np

from veridical._core.numeric import density
from veridical._core.numeric.roots import root_between
from veridical._core.typing import FloatArray
from veridical.inference._intervals.bets import (
    Smoother,
    largest_upper,
    noise_effect,
    squared_noise,
    total_noise,
    upper_of_bet,
    upper_of_constants,
)
from veridical.inference._intervals.rows import Rows
from veridical.summaries import Summary

_CANDIDATES = 3
_MOST_ENDS = 256  # of intervals of scores
_GRID = 1024
_NARROWEST = 2.0 / _GRID
_NEAR = 1e-3
_SQRT_2_PI = math.sqrt(2 / math.pi)


def cumulated_limits(rows: Rows, level: float, *, between_any: bool = False) -> tuple[float, float]:
    r"""Limits of the largest cumulated difference (KS), or of that of any interval (Kuiper).

    The noise of all cumulated differences together is that of a Brownian motion W run for the
    variance of the last one. Its largest absolute value exceeds x standard deviations with a chance
    of at most :math:`4 (1 - \Phi(x))`, its range with one of at most :math:`8 (1 - \Phi(x))`
    (Feller 1951, doi 10.1214/aoms/1177729589, equation 4.3: the first term of an alternating
    series).
    """
    from scipy.special import ndtri

    tail = (1 - level) / 2
    effect = noise_effect(rows, level)
    if math.isinf(effect):
        return 0.0, 1.0
    order = np.argsort(rows.p, kind="stable")
    last = np.flatnonzero(np.append(np.diff(rows.p[order]) > 0, True))
    residual = (rows.total * (rows.y - rows.p) / rows.total.sum())[order]
    excess = np.append(0.0, np.cumsum(residual)[last])
    spread = np.append(0.0, np.cumsum(squared_noise(rows, effect)[order])[last])
    value = np.append(-1.0, rows.p[order][last])
    starts, ends = np.array([0]), np.arange(len(value))
    if between_any:
        kept = np.searchsorted(np.arange(len(value)), np.linspace(0, len(value) - 1, _MOST_ENDS))
        starts = ends = np.unique(np.append(kept, [excess.argmin(), excess.argmax()]))
    moved = excess[ends] - excess[starts][:, None]
    noise = np.sqrt(np.maximum(spread[ends] - spread[starts][:, None], 0.0))
    high = upper_of_constants(rows, np.ones(len(rows.p)), tail)
    for sign in (-1.0, 1.0):
        hope = np.where(
            ends > starts[:, None], sign * moved + float(ndtri(1 - tail)) * noise, -np.inf
        )
        number = min(_CANDIDATES, hope.size)
        for found in np.argpartition(hope, -number, axis=None)[-number:]:
            start, end = (int(k) for k in np.unravel_index(found, hope.shape))
            inside = (rows.p > value[starts[start]]) & (rows.p <= value[ends[end]])
            high = max(high, upper_of_bet(rows, sign * inside, tail))
    read = float(excess.max() - excess.min() if between_any else np.abs(excess).max())
    chance = tail / (8 if between_any else 4)
    low = max(0.0, read - float(ndtri(1 - chance)) * total_noise(rows, effect))
    return low, max(low, high)


def smooth_limits(rows: Rows, level: float) -> tuple[float, float]:
    """Limits of the smooth calibration error whose bandwidth is the error itself.

    Those at a given bandwidth fall with it, so where one equals its bandwidth it holds if it holds
    at the bandwidth of the truth.
    """
    from scipy.special import ndtri

    tail = (1 - level) / 2
    effect = noise_effect(rows, level)
    if math.isinf(effect):
        return 0.0, 1.0
    total = float(rows.total.sum())
    nodes = density.bin_linearly(rows.p, rows.total * (rows.y - rows.p), _GRID)
    gaps = density.cosine_spectrum(nodes / total)
    variance = density.bin_linearly(rows.p, squared_noise(rows, effect), _GRID)
    squares = density.cosine_spectrum(variance)
    spread = float(ndtri(1 - tail)) * total_noise(rows, effect)
    nodes_at = np.linspace(0, 1, _GRID + 1)

    def lower(width: float) -> float:
        # The square of a normal kernel is one of a narrower bandwidth, but for its height; near the
        # ends it meets its mirror image, and the square of the sum has twice their product, too.
        at = density.smoothed_density(squares, width / math.sqrt(2))
        height = np.maximum(at, 0.0) / (2 * math.sqrt(math.pi) * width)
        for distance in (nodes_at, 1 - nodes_at):
            image = np.exp(-((distance / width) ** 2))
            height += image * float(variance @ image) / (math.pi * width**2)
        noise = _SQRT_2_PI * density.absolute_integral(np.sqrt(height))
        read = density.absolute_integral(density.smoothed_density(gaps, width))
        return read - noise - spread

    def of_signs(width: float) -> float:
        sign = np.sign(density.smoothed_density(gaps, width))
        return largest_upper(rows, kernel.of(width), (sign,), tail)

    def of_level(width: float) -> float:
        level = np.ones(_GRID + 1)
        return largest_upper(rows, kernel.of(width), (level, -level), tail)

    kernel = _Kernel(rows)
    low = 0.0
    if lower(_NARROWEST) > _NARROWEST:
        low = _fixed_point(cache(lower), _NARROWEST, 1.0)
    high = max(_NARROWEST, upper_of_constants(rows, np.ones(len(rows.p)), tail))
    for upper in map(
        cache, (of_signs, of_level)
    ):  # bets on all rows have no bandwidth: it is no narrower
        most = upper(high)
        high = _fixed_point(upper, high, most) if most > high * (1 + _NEAR) else high
    return low, max(low, high)


class _Kernel:
    """Signs on a grid, smoothed along the scores; where rows are on it is found once."""

    def __init__(self, rows: Rows) -> None:
        position = rows.p * _GRID
        self._left = np.minimum(position.astype(np.intp), _GRID - 1)
        self._right = position - self._left  # share of the node after
        self._share = np.full(_GRID + 1, 1 / _GRID)
        self._share[[0, -1]] /= 2

    def of(self, width: float) -> Smoother:
        """The kernel of a bandwidth."""

        def on_rows(sign: FloatArray) -> FloatArray:
            spectrum = density.cosine_spectrum(sign * self._share)
            smooth = density.smoothed_density(spectrum, width)
            return smooth[self._left] + self._right * np.diff(smooth)[self._left]

        def at_nodes(mass: FloatArray) -> FloatArray:
            after, nodes = self._right * mass, np.zeros(_GRID + 1)
            nodes[:-1] += np.bincount(self._left, mass - after, minlength=_GRID)
            nodes[1:] += np.bincount(self._left, after, minlength=_GRID)
            return density.smoothed_density(density.cosine_spectrum(nodes), width)

        return Smoother(on_rows, at_nodes)


def _fixed_point(limit: Callable[[float], float], first: float, last: float) -> float:
    """Bandwidth in a bracket that a limit, which falls with it, is equal to."""
    if limit(last) >= last:
        return last
    return root_between(lambda width: limit(width) - width, first, last, xtol=1e-4, rtol=_NEAR)


def largest_limits(summary: Summary, level: float) -> tuple[float, float]:
    """Limits of the largest gap of the bins that hold rows.

    Frequencies have the limits of Clopper & Pearson (1934); for the lower one, of all bins at once
    (Bonferroni). It is 0 where rows of a bin count as fewer (weights, clusters): one heavy row may
    be all there is to the largest gap, which an effective number of rows does not tell.
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
    if (size < summary.count[0, held] * (1 - 1e-9)).any():
        return 0.0, high
    least, most = frequency(tail / len(size))
    low = float(np.maximum(least - predicted, predicted - most).max())
    return max(0.0, low), high
