"""The inverse temperature of least log loss: a root of an increasing function of one variable.

With gaps d = z - max(z) of each row, softmax(b z) has the mean log loss and derivatives

    L(b) = mean(log sum exp(b d) - b d_y),  L' = mean(E d - d_y),  L'' = mean(Var d) >= 0,

E and Var being under softmax(b d). L is convex, so its minimum is the root of L'. Two cases have
none, and are told by exact tests before any search: L'(0) >= 0 (no positive b is better than
the uniform distribution) and d_y = 0 in every row (separable: ever larger b are better).

With gaps up to W, |L'''| <= W L'', so that L''(b + t) <= exp(W |t|) L''(b) (self-concordance as
in Bach 2010, doi 10.1214/09-EJS521, proposition 1). Integrated twice, a Newton step s from b ends
where |L'| <= L''(b) (exp(W |s|) - 1 - W |s|) / W: a short step needs no pass to certify its end.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from veridical._core.data.schema import ANY, Fields, Number, Relations
from veridical._core.numeric.blocks import row_blocks
from veridical._core.typing import FloatArray, IntArray
from veridical.calibrators._base.bases import WeightedOutcomes
from veridical.calibrators._softmax.softmax import row_maxima, row_minima, row_sums, rows_of

_TOLERANCE = 1e-9  # of b L'(b): change of the mean log loss per relative change of b
_FLATTEST = 1e-6  # times the widest gap: log odds that differ by less are as good as equal
_STEEPEST = 1e12
_FACTOR = 8.0  # a step of the search at most multiplies or divides by this
_MAX_STEPS = 200
_LARGE = 1 << 18  # values from which a search in part of the rows comes first
_PART = 16
_ROUGH = 1e-6  # tolerance of a search in single precision, which is right to about 1e-7
_SINGLE_GAPS = (1e-6, 1e6)  # widest gaps whose squares and products single precision can hold


@dataclass(frozen=True)
class TemperatureFit:
    """Inverse temperature, passes over all rows, and derivative of the loss in its logarithm.

    The derivative is an upper bound of its size where the last step was certified by its length.
    """

    inverse: float
    n_iter: int
    gradient: float


@dataclass(frozen=True)
class _Gaps:
    """Logits with their largest value of each row, and what the loss needs of the labels."""

    logits: FloatArray
    top: FloatArray
    target: FloatArray
    weight: FloatArray

    @classmethod
    def of(cls, logits: FloatArray, y: IntArray, weights: FloatArray) -> _Gaps:
        top = row_maxima(logits)
        target = logits[np.arange(len(y)), y] - top
        return cls(logits, top, target, weights / weights.sum())

    def part(self, step: int) -> _Gaps:
        weight = self.weight[::step]
        logits = np.ascontiguousarray(self.logits[::step])
        return _Gaps(logits, self.top[::step], self.target[::step], weight / weight.sum())

    @property
    def separable(self) -> bool:
        return not self.target.any()

    def widest(self) -> float:
        return float((self.top - row_minima(self.logits)).max())

    def slope_at_zero(self) -> float:
        n_classes = self.logits.shape[1]
        mean = row_sums(self.logits) / n_classes - self.top
        return float(self.weight @ (mean - self.target))

    def loss(self, inverse: float, dtype: Any = np.float64) -> tuple[float, float, float]:
        """Mean log loss and its first two derivatives in the inverse temperature.

        Single precision is three times faster, and enough to find where to look closely.
        """
        n, n_classes = self.logits.shape
        rows = rows_of(n_classes)
        gap_buffer = np.empty((min(rows, n), n_classes), dtype=dtype)
        exp_buffer = np.empty_like(gap_buffer)
        total = first = second = 0.0
        for block in row_blocks(n, rows):
            top, target, weight = self.top[block], self.target[block], self.weight[block]
            gap, share = gap_buffer[: len(top)], exp_buffer[: len(top)]
            np.subtract(self.logits[block], top[:, None], out=gap, casting="same_kind")
            np.multiply(gap, inverse, out=share)
            np.exp(share, out=share)
            mass = row_sums(share)
            share *= gap
            mean = row_sums(share) / mass
            square = np.einsum("ij,ij->i", share, gap) / mass
            total += float(weight @ (np.log(mass) - inverse * target))
            first += float(weight @ (mean - target))
            second += float(weight @ (square - mean * mean))
        return total, first, second


class LossOfGaps(Protocol):
    """What the search asks of rows, in memory or in an engine."""

    @property
    def separable(self) -> bool:
        """Whether the class that occurred has the largest logit in every row."""

    def widest(self) -> float:
        """Largest gap."""

    def slope_at_zero(self) -> float:
        """L'(0)."""

    def loss(self, inverse: float, dtype: Any = ...) -> tuple[float, float, float]:
        """L, L' and L''; `dtype` is what may be computed in."""


def inverse_temperature_of(gaps: LossOfGaps, size: float) -> TemperatureFit:
    """Return the inverse temperature of least log loss of rows that are only known by sums."""
    found, start = _without_search(gaps, size)
    return found or _search(gaps, start, gaps.widest(), tolerance=_TOLERANCE)


def fit_inverse_temperature(logits: FloatArray, rows: WeightedOutcomes) -> TemperatureFit:
    """Return the inverse temperature of least log loss, always positive and finite."""
    gaps = _Gaps.of(logits, rows.y, rows.weights)
    found, start = _without_search(gaps, rows.size)
    if found is not None:
        return found
    widest, passes = gaps.widest(), 0
    if logits.size > _LARGE and len(logits) > _PART**2:
        single = _SINGLE_GAPS[0] <= widest <= _SINGLE_GAPS[1]
        dtype = np.float32 if single else np.float64
        start = _search(gaps.part(_PART), start, widest, tolerance=1e-4, dtype=dtype).inverse
        if single:
            rough = _search(gaps, start, widest, tolerance=_ROUGH, dtype=dtype)
            start, passes = rough.inverse, rough.n_iter
    found = _search(gaps, start, widest, tolerance=_TOLERANCE)
    return replace(found, n_iter=passes + found.n_iter)


def _without_search(gaps: LossOfGaps, size: float) -> tuple[TemperatureFit | None, float]:
    """The answer where no optimum exists, or where to begin."""
    widest = gaps.widest()
    if widest == 0:  # every row says that all classes are equal, at any temperature
        return TemperatureFit(1.0, 0, 0.0), 1.0
    flattest = _FLATTEST / widest
    if gaps.slope_at_zero() >= 0:
        return TemperatureFit(flattest, 0, 0.0), flattest
    if gaps.separable:
        return _separable(gaps, flattest, size), flattest
    return None, min(max(1.0, flattest), _STEEPEST * flattest)


def _search(
    gaps: LossOfGaps, start: float, widest: float, *, tolerance: float, dtype: Any = np.float64
) -> TemperatureFit:
    """Newton steps on L', kept inside a bracket of its root."""
    low, high = _FLATTEST / widest, _STEEPEST * _FLATTEST / widest
    inverse, before = start, None
    steps, slope = 0, 0.0
    while steps < _MAX_STEPS:
        steps += 1
        _, slope, curvature = gaps.loss(inverse, dtype)
        end = inverse - slope / curvature if curvature > 0 else math.inf
        bound = end * _slope_after(end - inverse, curvature, widest)
        if low < end < high and bound <= tolerance:
            return TemperatureFit(end, steps, bound)
        if abs(inverse * slope) <= tolerance:
            break
        low, high = (low, inverse) if slope > 0 else (inverse, high)
        here = (slope, inverse, curvature)
        guess = _next(here, before)
        before = here
        guess = min(max(guess, inverse / _FACTOR), inverse * _FACTOR)
        if not low < guess < high:
            guess = math.sqrt(low * high)
        if guess in (low, high):  # neighbouring floats: the bracket cannot shrink
            break
        inverse = guess
    return TemperatureFit(inverse, steps, inverse * slope)


def _slope_after(step: float, curvature: float, widest: float) -> float:
    """Bound of |L'| after a Newton step; infinite for steps too long to be worth a bound."""
    length = widest * abs(step)
    return curvature * (math.expm1(length) - length) / widest if length < 1 else math.inf


def _next(here: tuple[float, float, float], before: tuple[float, float, float] | None) -> float:
    """Root of L' from the last one or two points, each (slope, inverse, curvature).

    With two, the cubic through both as a function of the slope (inverse Hermite interpolation)
    joins the digits of the two points; it saves a pass over the data.
    """
    slope, inverse, curvature = here
    if curvature <= 0:
        return inverse * (1 / _FACTOR if slope > 0 else _FACTOR)
    newton = inverse - slope / curvature
    if before is None or before[2] <= 0 or before[0] == slope:
        return newton
    old_slope, old_inverse, old_curvature = before
    width = slope - old_slope
    t = -old_slope / width
    if abs(slope) > 0.1 * abs(old_slope):  # far apart: the cubic may bend anywhere
        return newton
    return (
        (1 + 2 * t) * (1 - t) ** 2 * old_inverse
        + t * (1 - t) ** 2 * width / old_curvature
        + t**2 * (3 - 2 * t) * inverse
        + t**2 * (t - 1) * width / curvature
    )


def _separable(gaps: LossOfGaps, flattest: float, size: float) -> TemperatureFit:
    """Stop where the log loss is 1 / (n + 1) above its limit: n rows support no more.

    The limit is not zero where classes tie for the largest score.
    """
    at_zero, limit = (gaps.loss(b)[0] for b in (0.0, _STEEPEST * flattest))
    aim = limit + min(1 / (size + 1), (at_zero - limit) / 2)
    low, high = math.log(flattest), math.log(_STEEPEST * flattest)
    inverse, slope = math.sqrt(flattest * _STEEPEST * flattest), 0.0
    steps = 2
    while steps < _MAX_STEPS:
        steps += 1
        loss, slope, _ = gaps.loss(inverse)
        low, high = (low, math.log(inverse)) if loss < aim else (math.log(inverse), high)
        if abs(loss - aim) <= 1e-12 * aim or high - low < 1e-14 * max(1.0, abs(high)):
            break
        newton = math.log(inverse) + (aim - loss) / (inverse * slope) if slope < 0 else low
        inverse = math.exp(newton if low < newton < high else (low + high) / 2)
    return TemperatureFit(inverse, steps, inverse * slope)


TEMPERATURE = Fields(
    inverse_temperature_=Number(above=0, high=ANY), temperature_=Number(above=0, high=ANY)
)


def inverse_of_each_other(calibrator: Any) -> Relations:
    """What holds between the fitted attributes above."""
    product = calibrator.temperature_ * calibrator.inverse_temperature_
    yield "temperature_", abs(product - 1) < 1e-9, "1 / inverse_temperature_"
