"""Limits of the means of many bounded variables at once, one a row of arrays.

The same equations as in :mod:`bounded`, solved for all rows together; rows that are done wait.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from veridical._core.typing import BoolArray, FloatArray, IntArray
from veridical.inference._intervals.bounded import EDGE, EXACT, MAX_STEPS, NEAR


class MassRows(NamedTuple):
    """Values with random weights, (rows, values): `scale` times a gamma variable of this `shape`.

    A value of shape 0 is not there; it must equal another of its row, in value and scale.
    """

    value: FloatArray
    shape: FloatArray
    scale: FloatArray

    @property
    def weight(self) -> FloatArray:
        """Mean weights."""
        return self.shape * self.scale

    @property
    def mean(self) -> FloatArray:
        """Mean of the values of each row."""
        weight = self.weight
        return np.einsum("ij,ij->i", weight, self.value) / weight.sum(axis=1)

    @property
    def unit(self) -> FloatArray:
        """Scale of the weight of one more value."""
        weight = self.weight
        return np.einsum("ij,ij->i", weight, self.scale) / weight.sum(axis=1)

    def take(self, rows: IntArray | BoolArray) -> MassRows:
        """Keep some rows."""
        return MassRows(self.value[rows], self.shape[rows], self.scale[rows])

    def mirrored(self) -> MassRows:
        """The same with the sign of the values changed."""
        return self._replace(value=-self.value)

    def with_one_more(self, value: FloatArray) -> MassRows:
        """The same with one more value a row."""
        added = (value, np.ones(len(value)), self.unit)
        pairs = zip(self, added, strict=True)
        return MassRows(*(np.column_stack([each, one]) for each, one in pairs))


def masses_of(value: FloatArray, shape: FloatArray, scale: FloatArray) -> MassRows:
    """Masses of which those of shape 0 are made the same as one that is there."""
    first = (shape > 0).argmax(axis=1)[:, None]
    there = shape > 0
    value, scale = (
        np.where(there, each, np.take_along_axis(each, first, axis=1)) for each in (value, scale)
    )
    return MassRows(value, shape, scale)


class LimitRows(NamedTuple):
    """Limits of means, and the tilts of the saddlepoints there (infinite if there is none)."""

    value: FloatArray
    tilt: FloatArray


def upper_limits(masses: MassRows, highest: FloatArray, tail: float) -> LimitRows:
    """Upper limits that the means exceed with a chance of at most `tail`."""
    least, most = masses.value.min(axis=1), masses.value.max(axis=1)
    highest = np.maximum(highest, most)
    value, tilt = highest.copy(), np.full(len(highest), np.inf)
    open_rows = np.flatnonzero(least < highest)
    if not open_rows.size:
        return LimitRows(value, tilt)
    some, top, low = masses.take(open_rows), highest[open_rows], least[open_rows]
    every = some.with_one_more(top)
    at_top = some.value == top[:, None]
    two = (at_top | (some.value == low[:, None])).all(axis=1)
    if two.any():
        exact = _of_two_values(some.take(two), at_top[two], low[two], top[two], tail)
        value[open_rows[two]] = exact
        tilt[open_rows[two]] = _normal_below(every.take(two), exact, np.zeros(len(exact)))[1]
    if not two.all():
        others = ~two
        mean = some.mean[others]
        end = top[others] - (top[others] - mean) * EDGE
        found = _mean_at(every.take(others), mean, end, tail)
        value[open_rows[others]], tilt[open_rows[others]] = found
    return LimitRows(value, tilt)


def mean_limits_of_rows(
    masses: MassRows, lowest: FloatArray, highest: FloatArray, level: float
) -> tuple[FloatArray, FloatArray]:
    """Limits of the means at equal tails."""
    tail = (1 - level) / 2
    high = upper_limits(masses, highest, tail).value
    low = -upper_limits(masses.mirrored(), -lowest, tail).value
    return low, high


def _of_two_values(
    masses: MassRows, top: BoolArray, least: FloatArray, highest: FloatArray, tail: float
) -> FloatArray:
    """Limits of Clopper and Pearson, where only one value is below the largest."""
    from scipy.special import betaincinv

    weight = masses.weight
    total = weight.sum(axis=1)
    size = total / masses.unit
    hits = size * np.where(top, weight, 0.0).sum(axis=1) / total
    return np.asarray(least + (highest - least) * betaincinv(hits + 1, size - hits, 1 - tail))


def _mean_at(masses: MassRows, first: FloatArray, last: FloatArray, tail: float) -> LimitRows:
    """The means in brackets that are exceeded with this chance, by secants."""
    from scipy.special import ndtri

    aim = float(ndtri(1 - tail))
    mean, weight = masses.mean, masses.weight
    away = masses.scale * (masses.value - mean[:, None])
    spread = np.sqrt(np.einsum("ij,ij->i", masses.shape, away**2)) / weight.sum(axis=1)
    first, last = first.copy(), last.copy()
    old, miss, tilt = first.copy(), np.full(len(first), np.nan), np.zeros(len(first))
    at = mean + aim * spread
    result = at.copy()
    active = np.arange(len(at))
    for _ in range(MAX_STEPS):
        outside = ~((first[active] < at[active]) & (at[active] < last[active]))
        at[active] = np.where(outside, (first[active] + last[active]) / 2, at[active])
        here = at[active]
        found, tilt[active] = _normal_below(masses.take(active), here, tilt[active])
        old_miss, new = miss[active], found - aim
        miss[active] = new
        first[active] = np.where(new < 0, here, first[active])
        last[active] = np.where(new < 0, last[active], here)
        result[active] = here
        done = (last[active] - first[active] <= EDGE * np.abs(here)) | (np.abs(new) <= EXACT)
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = (new - old_miss) / (here - old[active])
            step = np.where((slope > 0) & np.isfinite(slope), new / slope, new * spread[active])
        old[active] = here
        at[active] = here - step
        active = active[~done]
        if not active.size:
            break
    return LimitRows(result, tilt)


def _normal_below(
    masses: MassRows, mean: FloatArray, near: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Normal deviates of the chances that randomly weighted means are at most `mean`."""
    x = masses.scale * (masses.value - mean[:, None])
    low, high = x.min(axis=1), x.max(axis=1)
    sure = (high <= 0) | (low >= 0)
    deviate = np.where(high <= 0, np.inf, -np.inf)
    tilt = deviate.copy()
    rows = np.flatnonzero(~sure)
    if not rows.size:
        return deviate, tilt
    unit = np.maximum(high, -low)[rows]
    x, shape = x[rows] / unit[:, None], masses.shape[rows]
    at = _saddlepoints(x, shape, unit / low[rows], unit / high[rows], near[rows] * unit)
    ratio = x / (1 - at[:, None] * x)
    spread = np.sqrt(np.einsum("ij,ij->i", shape, ratio**2))
    direct = at * spread
    fall = np.einsum("ij,ij->i", shape, np.log1p(-at[:, None] * x))
    close = (np.abs(direct) < NEAR) | (fall <= 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.copysign(np.sqrt(2 * np.abs(fall)), at)
        far = root + np.log(direct / root) / root
    third = np.einsum("ij,ij->i", shape, ratio**3)
    deviate[rows] = np.where(close, direct + third / (3 * spread**3), far)
    tilt[rows] = at / unit
    return deviate, tilt


def _saddlepoints(
    x: FloatArray, shape: FloatArray, first: FloatArray, last: FloatArray, near: FloatArray
) -> FloatArray:
    """Where the cumulant generating functions are least, by Newton's method in brackets."""
    at = np.where((first < near) & (near < last), near, 0.0)
    first, last = first.copy(), last.copy()
    active = np.arange(len(at))
    for _ in range(MAX_STEPS):
        here = at[active]
        ratio = x / (1 - here[:, None] * x)
        slope = np.einsum("ij,ij->i", shape, ratio)
        curvature = np.einsum("ij,ij,ij->i", shape, ratio, ratio)
        last[active] = np.where(slope > 0, here, last[active])
        first[active] = np.where(slope > 0, first[active], here)
        new = here - slope / curvature
        inside = (first[active] < new) & (new < last[active])
        new = np.where(inside, new, (first[active] + last[active]) / 2)
        at[active] = new
        going = np.abs(new - here) > EDGE * (1 + np.abs(here))
        active, x, shape = active[going], x[going], shape[going]
        if not active.size:
            break
    return at
