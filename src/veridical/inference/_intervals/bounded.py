r"""Limits of the mean of a variable that cannot exceed a known value.

The sample is given one more row at the largest possible value, and rows the weights of a Bayesian
bootstrap (Rubin 1981, doi 10.1214/aos/1176345338): the upper limit is the quantile of
:math:`\sum_i D_i z_{(i)}`, D uniform on the simplex. Gaffke (2005), Math. Methods Statist. 14,
451-467, proposed it; for zeros and ones it is the limit of Clopper & Pearson (1934), doi
10.1093/biomet/26.4.404, and no distribution is known for which it errs more often than it may
(Learned-Miller & Thomas 2019, arXiv 1905.06208; Phan, Thomas & Learned-Miller 2021, arXiv
2106.03163, prove a bound close to it).

D is exponentials over their sum, so :math:`P(\sum_i D_i z_i \le m) = P(\sum_i E_i (z_i - m) \le
0)`. That is found by the saddlepoint approximation (Lugannani & Rice 1980, doi 10.2307/1426607, in
the form of Barndorff-Nielsen 1990), whose equation is the one of empirical likelihood; nothing is
drawn, and rows of equal value are one gamma variable.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from veridical._core import loops
from veridical._core.numeric.blocks import row_blocks
from veridical._core.typing import FloatArray

_MOST = 4096  # values that are kept apart
MAX_STEPS = 100
NEAR = 1e-3  # of a standard deviation: the two roots of the saddlepoint cancel
EDGE = 1e-12
EXACT = 1e-9  # of a deviate


class Support(NamedTuple):
    """Smallest and largest value that a row can have."""

    lowest: float
    highest: float


class Masses(NamedTuple):
    """Values with random weights: `scale` times a gamma variable of this `shape`."""

    value: FloatArray
    shape: FloatArray
    scale: FloatArray

    @property
    def mean(self) -> float:
        """Mean of the values."""
        weight = self.shape * self.scale
        return float(weight @ self.value / weight.sum())

    @property
    def unit(self) -> float:
        """Scale of the weight of one more row: the mean weight, as a weight meets it."""
        weight = self.shape * self.scale
        return float(weight @ self.scale / weight.sum())

    def mirrored(self) -> Masses:
        """The same with the sign of the values changed."""
        return self._replace(value=-self.value)

    def thinned(self, effect: float) -> Masses:
        """The same with `effect` rows counting as one, which has the weight of all of them."""
        if effect == 1:
            return self
        return Masses(self.value, self.shape / effect, self.scale * effect)

    def pooled(self) -> Masses:
        """The same with neighbouring values taken together where there are very many."""
        if len(self.value) <= _MOST:
            return self
        first, last = float(self.value.min()), float(self.value.max())
        if first == last:
            cell = np.zeros(len(self.value), dtype=np.intp)
        else:
            cell = ((self.value - first) * ((_MOST - 1) / (last - first))).astype(np.intp)
        weight = self.shape * self.scale
        sums = [np.bincount(cell, w) for w in (weight, weight * self.value, weight * self.scale)]
        total, value, square = (each[sums[0] > 0] for each in sums)
        return Masses(value / total, total**2 / square, square / total)


def masses_of_rows(value: FloatArray) -> Masses:
    """What rows of weight one are, pooled as above: block by block, without weights."""
    if len(value) <= _MOST:
        return Masses(value, np.ones(len(value)), np.ones(len(value)))
    ends = Support(float(value.min()), float(value.max()))
    return masses_of_blocks((value[block] for block in row_blocks(len(value))), ends)


def masses_of_blocks(blocks: Iterable[FloatArray], ends: Support) -> Masses:
    """The same of values that come block by block, between known ends."""
    first, last = ends
    step = (_MOST - 1) / (last - first) if last > first else 0.0
    count, total = np.zeros(_MOST), np.zeros(_MOST)
    for value in blocks:
        cell = ((value - first) * step).astype(np.intp)
        count += np.bincount(cell, minlength=_MOST)
        total += np.bincount(cell, value, minlength=_MOST)
    held = count > 0
    return Masses(total[held] / count[held], count[held], np.ones(int(held.sum())))


class Limit(NamedTuple):
    """A limit of a mean, and the tilt of the saddlepoint there (infinite if there is none)."""

    value: float
    tilt: float


def mean_limits(masses: Masses, support: Support, level: float) -> tuple[float, float]:
    """Limits of the mean at equal tails."""
    tail = (1 - level) / 2
    high = upper_limit(masses, support.highest, tail).value
    low = -upper_limit(masses.mirrored(), -support.lowest, tail).value
    return low, high


def mean_pvalue(masses: Masses, support: Support) -> float:
    """Two-sided p-value of a mean of zero: the smallest level at which the limits exclude it."""
    if support.lowest == support.highest:
        return float(support.lowest == 0)
    over = tail_below_zero(masses, support.highest)
    under = tail_below_zero(masses.mirrored(), -support.lowest)
    return min(1.0, 2 * min(over, under))


def tail_below_zero(masses: Masses, highest: float) -> float:
    """Smallest tail at which the upper limit of the mean is below zero."""
    from scipy.special import ndtr

    return float(ndtr(-_normal_below(_with_one_more(masses, highest), 0.0)[0]))


def chance_below(masses: Masses, highest: float, value: float) -> float:
    """Probability, one minus the tail, at which the upper limit of the mean is `value`."""
    from scipy.special import ndtr

    return float(ndtr(_normal_below(_with_one_more(masses, highest), value)[0]))


def upper_limit(masses: Masses, highest: float, tail: float) -> Limit:
    """Upper limit that the mean exceeds with a chance of at most `tail`."""
    highest = max(highest, float(masses.value.max()))
    if float(masses.value.min()) >= highest:
        return Limit(highest, math.inf)
    exact = _of_two_values(masses, highest, tail)
    every = _with_one_more(masses, highest)
    if exact is not None:
        return Limit(exact, _normal_below(every, exact)[1])
    return _mean_at(every, masses.mean, highest - (highest - masses.mean) * EDGE, tail)


def _mean_at(masses: Masses, first: float, last: float, tail: float) -> Limit:
    """The mean in a bracket that is exceeded with this chance.

    Its normal deviate is nearly linear in the mean, so secants find it in a few steps; the bracket
    is halved where one leaves it.
    """
    from scipy.special import ndtri

    aim = float(ndtri(1 - tail))
    weight = masses.shape * masses.scale
    away = masses.scale * (masses.value - masses.mean)
    spread = math.sqrt(float(masses.shape @ away**2)) / float(weight.sum())
    old, miss, tilt = first, math.nan, 0.0
    at = masses.mean + aim * spread
    for _ in range(MAX_STEPS):
        if not first < at < last:
            at = (first + last) / 2
        found, tilt = _normal_below(masses, at, tilt)
        old_miss, miss = miss, found - aim
        if miss < 0:
            first = at
        else:
            last = at
        near = last - first <= EDGE * abs(at)
        if near or abs(miss) <= EXACT:
            break
        slope = (miss - old_miss) / (at - old) if at != old else math.nan
        step = miss / slope if slope > 0 and math.isfinite(slope) else math.nan
        if math.isnan(step):
            step = miss * spread
        old, at = at, at - step
    return Limit(at, tilt)


def _of_two_values(masses: Masses, highest: float, tail: float) -> float | None:
    """The limit of Clopper and Pearson, where only one value is below the largest.

    Weighted rows count with their effective number (Korn & Graubard 1998, Survey Methodology 24,
    193-201).
    """
    from scipy.special import betaincinv

    least = float(masses.value.min())
    top = masses.value == highest
    if not (top | (masses.value == least)).all():
        return None
    weight = masses.shape * masses.scale
    size = float(weight.sum()) / masses.unit
    hits = size * float(weight[top].sum()) / float(weight.sum())
    return least + (highest - least) * float(betaincinv(hits + 1, size - hits, 1 - tail))


def _with_one_more(masses: Masses, value: float) -> Masses:
    n = len(masses.value)
    made = np.empty((3, n + 1))
    made[0, :n], made[1, :n], made[2, :n] = masses
    made[:, n] = value, 1.0, masses.unit
    return Masses(*made)


def _normal_below(masses: Masses, mean: float, near: float = 0.0) -> tuple[float, float]:
    """Normal deviate of the chance that the randomly weighted mean is at most `mean`; saddlepoint.

    `near` is about where the saddlepoint is.
    """
    known = loops.saddlepoint(masses, mean, near, EDGE, MAX_STEPS)
    if isinstance(known, float):
        return known, known
    if known is not None:
        tilt, unit, fall, square, cube = known
        return _deviate(tilt, fall, math.sqrt(square), cube), tilt / unit
    x = masses.scale * (masses.value - mean)
    low, high = float(x.min()), float(x.max())
    if high <= 0 or low >= 0:
        return (math.inf, math.inf) if high <= 0 else (-math.inf, -math.inf)
    unit = max(high, -low)
    x, shape = x / unit, masses.shape
    tilt = _saddlepoint(x, shape, unit / low, unit / high, near * unit)
    ratio = x / (1 - tilt * x)
    spread, fall = math.sqrt(float(shape @ ratio**2)), float(shape @ np.log1p(-tilt * x))
    return _deviate(tilt, fall, spread, float(shape @ ratio**3)), tilt / unit


def _deviate(tilt: float, fall: float, spread: float, cube: float) -> float:
    """Normal deviate at a saddlepoint (Barndorff-Nielsen's form, see above)."""
    direct = tilt * spread
    if abs(direct) < NEAR or fall <= 0:  # rounding may take away a small fall
        return direct + cube / (3 * spread**3)
    root = math.copysign(math.sqrt(2 * fall), tilt)
    return root + math.log(direct / root) / root


def _saddlepoint(x: FloatArray, shape: FloatArray, first: float, last: float, near: float) -> float:
    """Where the cumulant generating function is least, by Newton's method in a bracket."""
    at = near if first < near < last else 0.0
    for _ in range(MAX_STEPS):
        ratio = x / (1 - at * x)
        slope, curvature = float(shape @ ratio), float(shape @ ratio**2)
        if slope > 0:
            last = at
        else:
            first = at
        new = at - slope / curvature
        if not first < new < last:
            new = (first + last) / 2
        if abs(new - at) <= EDGE * (1 + abs(at)):
            return new
        at = new
    return at
