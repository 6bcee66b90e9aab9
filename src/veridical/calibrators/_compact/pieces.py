"""One curve as few cubic pieces: where they end, and how far off they are.

A curve is known at points in cells, which end where it may jump or bend. Cells in which a cubic
polynomial does not follow it are halved, neighbours that one polynomial can follow together are
merged. All of it is done for all cells at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from veridical._core.typing import BoolArray, FloatArray, IntArray

MOST = 600
_POINTS = 9  # in each cell, both ends among them
_UNIT = (1 - np.cos(np.pi * np.arange(_POINTS) / (_POINTS - 1))) / 2  # denser at the ends
_HALVINGS = 14
_WITHIN = 0.4  # of the tolerance, at the points: between them the error may be larger
_ROUNDS = 200
_MANY = 160  # pieces from which jumps below the next number are smoothed over, at most so far off
_SMALL_JUMP, _BESIDE = 1e-3, 5e-4


@dataclass(frozen=True)
class Curve:
    """What is approximated.

    Attributes
    ----------
    place : first and last place of predictions: the numbers polynomials are of; the two differ
        where several places are one prediction in double precision
    prediction : a place as a prediction, about
    value : what the curve is at predictions and their places
    tolerance : how far off one may be where the curve has these values
    """

    place: Callable[[FloatArray], tuple[FloatArray, FloatArray]]
    prediction: Callable[[FloatArray], FloatArray]
    value: Callable[[FloatArray, FloatArray], FloatArray]
    tolerance: Callable[[FloatArray], FloatArray]


@dataclass(frozen=True)
class Points:
    """Cells with points: predictions v, their places x, values f and tolerances, all (m, 9)."""

    v: FloatArray
    x: FloatArray
    f: FloatArray
    tolerance: FloatArray

    @classmethod
    def on(cls, curve: Curve, first: FloatArray, last: FloatArray) -> Points:
        """Points of the cells that begin and end at these predictions."""
        a, b = curve.place(first)[0], curve.place(last)[1]
        x = a[:, None] + (b - a)[:, None] * _UNIT
        v = np.clip(curve.prediction(x), first[:, None], last[:, None])
        v[:, 0], v[:, -1] = first, last
        v = np.maximum.accumulate(v, axis=1)
        low, high = (each.reshape(v.shape) for each in curve.place(v.ravel()))
        x = np.maximum.accumulate(np.clip(x, low, high), axis=1)
        f = curve.value(v.ravel(), x.ravel()).reshape(v.shape)
        return cls(v, x, f, curve.tolerance(f))

    def replaced(self, gone: BoolArray, by: Points) -> Points:
        """Cells with some of them replaced by others."""
        parts = [np.concatenate([p[~gone], q]) for p, q in zip(self.all, by.all, strict=True)]
        order = np.argsort(parts[0][:, 0], kind="stable")
        return Points(*(part[order] for part in parts))

    @property
    def all(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        return self.v, self.x, self.f, self.tolerance


@dataclass(frozen=True)
class Cubics:
    """A polynomial on each of several runs of cells.

    Attributes
    ----------
    start, width : where the runs begin and how long they are
    ends : (2, m) values at both ends
    slopes : (2, m) slopes at both ends, times the width
    error : largest difference from the curve at its points, over the tolerance
    monotone : whether the curve never falls there, or never rises
    """

    start: FloatArray
    width: FloatArray
    ends: FloatArray
    slopes: FloatArray
    error: FloatArray
    monotone: BoolArray

    @classmethod
    def on(
        cls,
        points: Points,
        runs: IntArray,
        tolerance: FloatArray | None = None,
        *,
        lines: bool = False,
    ) -> Cubics:
        """Fit cubics to runs of cells, each of which begins at a cell of `runs`.

        With `lines`, straight lines where those are as good as is asked for.

        A cubic takes the values of the curve at both ends, its slopes there are those of least
        squares. Where the curve never falls (or never rises) slopes are limited to three times
        the mean one, so that the cubic does not either (Fritsch & Carlson 1980, SIAM Journal on
        Numerical Analysis 17, 238-246, doi 10.1137/0717021, Lemma 1 and their region of squares).
        """
        x, f = points.x.ravel(), points.f.ravel()
        scale = (points.tolerance if tolerance is None else tolerance).ravel()
        first = runs * _POINTS
        last = np.append(first[1:], x.size) - 1
        of = np.repeat(np.arange(len(runs)), last - first + 1)
        width, rise = x[last] - x[first], f[last] - f[first]
        with np.errstate(divide="ignore", invalid="ignore"):
            u = np.where(width[of] > 0, (x - x[first][of]) / width[of], 0.0)
        left, right = u * (1 - u) ** 2, u * u * (u - 1)
        missing = f - f[first][of] - rise[of] * (u * u * (3 - 2 * u))
        weight = scale**-2.0
        sums = [
            np.add.reduceat(weight * each, first)
            for each in (left * left, left * right, right * right, left * missing, right * missing)
        ]
        low, high = _limits(f, first, rise)
        slopes = _slopes(sums, low, high)
        if lines:
            away = np.abs(f - f[first][of] - rise[of] * u) / scale
            slopes = np.where(np.maximum.reduceat(away, first) <= _WITHIN, rise, slopes)
        rest = missing - slopes[0][of] * left - slopes[1][of] * right
        error = np.maximum.reduceat(np.abs(rest) / scale, first)
        ends = np.stack([f[first], f[last]])
        return cls(x[first], width, ends, slopes, error, np.isfinite(low))

    def coefficients(self) -> FloatArray:
        """Powers of the distance from the start, (4, m)."""
        (low, high), (d0, d1), h = self.ends, self.slopes, self.width
        rise = high - low
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            terms = np.stack([d0 / h, (3 * rise - 2 * d0 - d1) / h**2, (d0 + d1 - 2 * rise) / h**3])
        return np.vstack([low, np.where(np.isfinite(terms), terms, 0.0)])


def _limits(f: FloatArray, first: IntArray, rise: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Least and largest slopes that keep a cubic monotone where its curve is."""
    steps = np.diff(f, append=f[-1])
    steps[np.append(first[1:], f.size) - 1] = 0.0  # from one run to the next
    slack = 1e-13 * (1 + np.abs(f[first]))
    up = np.minimum.reduceat(steps, first) >= -slack
    down = np.maximum.reduceat(steps, first) <= slack
    free = ~(up | down)
    low = np.where(free, -np.inf, np.where(up, 0.0, 3 * np.minimum(rise, 0.0)))
    high = np.where(free, np.inf, np.where(up, 3 * np.maximum(rise, 0.0), 0.0))
    return low, high


def _slopes(sums: list[FloatArray], low: FloatArray, high: FloatArray) -> FloatArray:
    """Least squares of two slopes within limits: one at its limit, the other is found again."""
    aa, ab, bb, ay, by = sums
    with np.errstate(divide="ignore", invalid="ignore"):
        free = aa * bb - ab * ab
        left = np.where(free > 0, (ay * bb - by * ab) / free, 0.0)
        left = np.clip(left, low, high)
        right = np.clip(np.where(bb > 0, (by - ab * left) / bb, 0.0), low, high)
        left = np.clip(np.where(aa > 0, (ay - ab * right) / aa, 0.0), low, high)
    return np.stack([left, right])


def follow(curve: Curve, first: FloatArray, last: FloatArray) -> tuple[Points, IntArray]:
    """Cells with points, and the cells at which pieces begin: at most `MOST` of them.

    `first` and `last` are the predictions at which cells begin and end.
    """
    points = Points.on(curve, first, last)
    for _ in range(_HALVINGS):
        rough = Cubics.on(points, np.arange(len(points.v))).error > _WITHIN
        middle = points.v[:, _POINTS // 2]
        rough &= (middle > points.v[:, 0]) & (middle < points.v[:, -1])
        if not rough.any() or len(points.v) > 4 * MOST:
            break
        begin, end = points.v[rough, 0], points.v[rough, -1]
        middle = middle[rough]
        middle = short(middle, np.minimum(middle - begin, end - middle) / 100)
        after = np.nextafter(middle, np.inf)
        halves = Points.on(curve, np.append(begin, after), np.append(middle, end))
        points = points.replaced(rough, halves)
    runs = _merged(points, np.arange(len(points.v)), points.tolerance)
    if len(runs) > _MANY:
        points = replace(points, tolerance=_without_small_jumps(points))
        runs = _merged(points, runs, points.tolerance)
    looser = points.tolerance
    while len(runs) > MOST:
        looser = looser * 2
        runs = _merged(points, runs, looser)
    return points, runs


def _without_small_jumps(points: Points) -> FloatArray:
    """Tolerances that allow for one curve through the cells on both sides of a small jump."""
    jump = np.abs(points.f[1:, 0] - points.f[:-1, -1])
    small = (jump < _SMALL_JUMP) & (jump > _WITHIN * points.tolerance[1:, 0])
    beside = np.append(small, False) | np.append(False, small)
    loose = np.maximum(points.tolerance, _BESIDE / _WITHIN)
    return np.where(beside[:, None], loose, points.tolerance)


def _merged(points: Points, runs: IntArray, tolerance: FloatArray) -> IntArray:
    """Merge neighbouring runs as long as one cubic follows both within the tolerance."""
    idle, turn = 0, 0
    for _ in range(_ROUNDS):
        if idle == 2 or len(runs) < 2:
            break
        joined = np.ones(len(runs), dtype=bool)
        joined[turn + 1 :: 2] = False  # every other run becomes part of the one before
        tried = runs[joined]
        error = Cubics.on(points, tried, tolerance).error
        single = np.isin(tried, runs[turn : len(runs) - 1 : 2], invert=True)
        good = (error <= _WITHIN) & ~single
        kept = np.ones(len(runs), dtype=bool)
        kept[np.searchsorted(runs, tried[good]) + 1] = False
        idle = 0 if good.any() else idle + 1
        runs, turn = runs[kept], 1 - turn
    return runs


def short(values: FloatArray, freedom: FloatArray) -> FloatArray:
    """Numbers of few digits, none farther off than it may be: they have to be written down."""
    found = values.copy()
    for k, (value, free) in enumerate(zip(values.tolist(), freedom.tolist(), strict=True)):
        if 0 < free < np.inf:
            digits = max(-int(np.floor(np.log10(free))), -300)
            near = round(value, digits) if digits <= 300 else value
            found[k] = near if abs(near - value) <= free else value
    return found
