"""Distances from a loess curve to the diagonal: ICI, E50, E90 and Emax."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from veridical._core.data.validation import check_option, is_integer, is_number
from veridical._core.numeric.blocks import row_blocks
from veridical._core.sample import BinarySample, PooledScores
from veridical._core.typing import FloatArray, IntArray
from veridical.exceptions import invalid
from veridical.miscalibration._errors.base import ScoreEstimator

N_EXACT = 512  # up to this many distinct scores a fit at each; beyond, interpolated between fits
N_START = 128  # fits to begin with, more where the curve bends
TOLERANCE = 4e-5  # of the interpolation, in probability; a quarter of it once a gap is halved
N_GROUPS = 4096  # points in a local fit: all distinct scores up to this many, then groups
NAMES = {"mean": "ICI", "median": "E50", "p90": "E90", "max": "Emax"}
WORDS = {"mean": "mean", "median": "median", "p90": "90th percentile", "max": "largest"}
CLOSE = 1e-12  # a share that misses its target by rounding still reaches it


@dataclass(frozen=True)
class LoessError(ScoreEstimator):
    r"""Distance between a loess curve of the outcomes and the scores (ICI, E50, E90, Emax).

    Parameters
    ----------
    summary : {"mean", "median", "p90", "max"}, default "mean"
        Over the rows: the integrated calibration index ICI, its relatives E50 and E90, or
        Harrell's Emax.
    span : float in (0, 1], default 0.75
        Share of the rows in each local fit.
    degree : {2, 1}, default 2
        Of the local polynomial. 2 with span 0.75 is what R's ``loess`` and so the paper uses, 1
        is ``lowess``.

    Notes
    -----
    .. math:: d_i = |\hat r(p_i) - p_i|, \qquad \hat r(s) = \beta_0 : \;
       \min_\beta \sum_j w_j \, T\!\left(\frac{p_j - s}{h(s)}\right)
       \Bigl(y_j - \sum_k \beta_k (p_j - s)^k\Bigr)^2

    with tricube weights :math:`T(u) = (1 - |u|^3)^3_+` and h(s) the smallest distance within
    which the share `span` of the weight lies. No robustness iterations (outcomes 0 and 1 have no
    outliers). Fitted values are cut to [0, 1], which R leaves out. R takes floor(n span)
    neighbours, which is the same when that is a whole number, and blends cubics between some ten
    vertices, which is not. Quantiles are those of the weighted distribution (averaged where it
    has a step).

    Lower is better; in [0, 1]; 0 when the curve is the diagonal, which is necessary but not
    sufficient for calibration: details finer than the span are smoothed away, the more so for
    degree 1. Biased upwards by noise: for scores spread evenly, a calibrated model has an ICI of
    about 0.042 at n = 200 and 0.013 at n = 2000 (0.032 and 0.010 with degree 1);
    :func:`bootstrap_interval` gives limits of the error of the population's curve.

    Up to 512 distinct scores the fit is made at each. Beyond, it is interpolated linearly between
    fits at some of them, more where the curve bends; beyond 4096 the fits are made from the means
    of about as many narrow groups of scores. ICI, E50 and E90 move by less than 1e-4, and so does
    Emax unless scores cluster tightly. Time O(n log n), memory O(n).

    Equal scores share one fitted value. Where more than the share `span` has one score, the fit
    there is its frequency; where a neighbourhood has too few distinct scores for the polynomial, a
    lower degree is fitted. With one class only the curve is that class, so ICI is
    :math:`|\bar y - \bar p|`. An integer weight equals repetition.

    References
    ----------
    .. [1] Austin & Steyerberg (2019), doi 10.1002/sim.8281.
    .. [2] Cleveland & Devlin (1988), doi 10.1080/01621459.1988.10478639.

    Examples
    --------
    One score in each neighbourhood: the curve is the frequency at it, 0.5, 0.25 off both scores.

    >>> y, p = [0, 1, 0, 1], [0.25, 0.25, 0.75, 0.75]
    >>> LoessError(span=0.5)(y, p)
    0.25
    >>> LoessError("max", span=0.5)([0, 0, 0, 1], p)  # 0 and 0.5, both 0.25 off
    0.25
    """

    summary: Literal["mean", "median", "p90", "max"] = "mean"
    span: float = 0.75
    degree: Literal[1, 2] = 2

    def __post_init__(self) -> None:
        caller = type(self).__name__
        check_option(caller, "summary", self.summary, NAMES)
        if not (is_number(self.span) and 0 < self.span <= 1):
            hint = "pass the share of rows in a local fit, e.g. 0.75."
            raise invalid(caller, "span", "in (0, 1]", repr(self.span), hint=hint)
        if not is_integer(self.degree) or self.degree not in (1, 2):
            hint = "2 is R's loess, 1 is lowess."
            raise invalid(caller, "degree", "1 or 2", repr(self.degree), hint=hint)

    @property
    def name(self) -> str:
        """Short name."""
        return NAMES[self.summary]

    @property
    def definition(self) -> str:
        """The curve and the summary in words."""
        return (
            f"{WORDS[self.summary]} distance between scores and a loess curve of degree "
            f"{self.degree}, span {self.span:g}; biased upwards"
        )

    def measure_binary(self, sample: BinarySample) -> float:
        """Fit the curve at the distinct scores and sum up its distances from the diagonal."""
        scores = sample.pooled
        value = scores.value.astype(np.float64)
        exact = PooledScores(value, scores.weight, scores.positive)
        gap = np.abs(np.clip(loess_curve(exact, self.span, int(self.degree)), 0, 1) - value)
        return summed_up(self.summary, gap, scores.weight)


def summed_up(summary: str, gap: FloatArray, weight: FloatArray) -> float:
    """Mean, median, 90th percentile or largest of distances."""
    if summary == "mean":
        return float(gap @ weight / weight.sum())
    if summary == "max":
        return float(gap.max())
    return _quantile(gap, weight, 0.5 if summary == "median" else 0.9)


def loess_curve(scores: PooledScores, span: float, degree: int) -> FloatArray:
    """Local polynomial fit at each distinct score (float64), interpolated if they are many."""
    x = scores.value
    if len(x) <= N_EXACT:
        return _local_fits(x, _radii(x, scores, span), scores, degree)
    points = _grouped(scores, N_GROUPS) if len(x) > N_GROUPS else scores

    def fits(chosen: IntArray) -> FloatArray:
        at = points.value[chosen]
        return _local_fits(at, _radii(at, scores, span), points, degree)

    return np.interp(x, *_refined(points.value, spread_places(points, N_START), fits))


def _refined(
    x: FloatArray, start: IntArray, fits: Callable[[IntArray], FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """Places among x and the fits there, enough of them for linear interpolation in between.

    Gaps are halved until the fit in the middle is on the line between those at its ends.
    """
    fitted = np.full(len(x), np.nan)
    fitted[start] = fits(start)
    left, right = start[:-1], start[1:]
    while (wide := right - left > 1).any():
        left, right = left[wide], right[wide]
        middle = (left + right) // 2
        fitted[middle] = fits(middle)
        slope = (fitted[right] - fitted[left]) / (x[right] - x[left])
        line = fitted[left] + slope * (x[middle] - x[left])
        bent = np.abs(fitted[middle] - line) > TOLERANCE
        left, middle, right = left[bent], middle[bent], right[bent]
        left, right = np.concatenate([left, middle]), np.concatenate([middle, right])
    known = np.flatnonzero(np.isfinite(fitted))
    return x[known], fitted[known]


def _radii(at: FloatArray, scores: PooledScores, span: float) -> FloatArray:
    """Distance from each place to the score that completes the share `span` of the weight."""
    x = scores.value
    held = np.concatenate([[0.0], np.cumsum(scores.weight)])
    target = span * held[-1] * (1 - CLOSE)
    low, high = np.zeros(len(at)), np.full(len(at), x[-1] - x[0])
    for _ in range(60):  # down to rounding
        middle = (low + high) / 2
        last = np.searchsorted(x, at + middle, side="right")
        enough = held[last] - held[np.searchsorted(x, at - middle)] >= target
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    first = np.searchsorted(x, at - high)
    last = np.searchsorted(x, at + high, side="right") - 1
    return np.maximum(at - x[first], x[last] - at)


def _local_fits(
    at: FloatArray, radius: FloatArray, points: PooledScores, degree: int
) -> FloatArray:
    """Value at each place of the polynomial fitted around it with tricube weights."""
    fitted = np.empty(len(at))
    sums = np.column_stack([points.weight, points.positive])
    for rows in row_blocks(len(at), max(1, (1 << 16) // len(points.value))):
        u, power = _tricube(points.value, at[rows], radius[rows])
        moments = []
        for _ in range(2 * degree + 1):
            moments.append(power @ sums)
            power *= u
        fitted[rows] = _intercepts(np.stack(moments), degree)
    return fitted


def _tricube(x: FloatArray, at: FloatArray, radius: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Distance of each x from each place, in radii, and its tricube weight."""
    scale = np.maximum(radius, 1e-300)  # no width: only the score itself
    u = np.clip((x - at[:, None]) / scale[:, None], -1, 1)
    near = 1 - np.abs(u) * u * u
    return u, near * near * near


def loess_weights(
    scores: PooledScores, at: FloatArray, x: FloatArray, weight: FloatArray, error: LoessError
) -> FloatArray:
    r"""Equivalent kernel :math:`l_{ij}` of the local fits at some places, for rows at x.

    The fit at place i is :math:`\sum_j w_j l_{ij} y_j`, as a polynomial fitted by least squares is
    linear in the outcomes; radii are those of `scores`.
    """
    u, near = _tricube(x, at, _radii(at, scores, error.span))
    moments, power = [], near * weight
    for _ in range(2 * error.degree + 1):
        moments.append(power.sum(axis=1))
        power = power * u
    m = np.stack(moments) / moments[0]
    variance = m[2] - m[1] ** 2
    constant, linear = 1 + _ratio(m[1] ** 2, variance), -_ratio(m[1], variance)
    curved: FloatArray = np.zeros(len(at))
    if error.degree == 2:
        lean = _ratio(m[3] - m[1] * m[2], variance)
        own = m[4] - m[2] ** 2 - lean * (m[3] - m[1] * m[2])
        shift = lean * m[1] - m[2]
        curved = _ratio(shift, own)
        constant, linear = constant + curved * shift, linear - curved * lean
    polynomial = constant[:, None] + u * (linear[:, None] + u * curved[:, None])
    return np.asarray(near * polynomial / moments[0][:, None])


def _intercepts(moments: FloatArray, degree: int) -> FloatArray:
    """Intercepts of polynomials in u from sums of T w u^k and T w y u^k, by Gram-Schmidt.

    A power that the scores of a neighbourhood cannot tell from lower ones is left out.
    """
    total = moments[0, :, 0]
    m, t = moments[:, :, 0] / total, moments[:, :, 1] / total
    variance = m[2] - m[1] ** 2
    slope = _ratio(t[1] - m[1] * t[0], variance)
    line = t[0] - slope * m[1]
    if degree == 1:
        return line
    lean = _ratio(m[3] - m[1] * m[2], variance)  # u^2 = m2 + lean (u - m1) + its own part
    own = m[4] - m[2] ** 2 - lean * (m[3] - m[1] * m[2])
    bend = _ratio(t[2] - m[2] * t[0] - lean * (t[1] - m[1] * t[0]), own)
    return line + bend * (lean * m[1] - m[2])


def _ratio(part: FloatArray, size: FloatArray) -> FloatArray:
    return np.divide(part, size, out=np.zeros_like(part), where=size > CLOSE)


def spread_places(scores: PooledScores, n: int) -> IntArray:
    """Indices of about n scores, spread both by weight and by score, with the first and last."""
    x, weight = scores.value, scores.weight
    rank = (np.cumsum(weight) - weight / 2) / weight.sum()
    cell = ((rank + (x - x[0]) / (x[-1] - x[0])) / 2 * n).astype(np.intp)
    starts = np.flatnonzero(cell[1:] != cell[:-1]) + 1
    return np.unique(np.concatenate([[0], starts, [len(x) - 1]]))


def _grouped(scores: PooledScores, n: int) -> PooledScores:
    """Neighbouring scores merged into about n narrow groups, each at its mean score."""
    starts = spread_places(scores, n)
    weight = np.add.reduceat(scores.weight, starts)
    centre = np.add.reduceat(scores.weight * scores.value, starts) / weight
    return PooledScores(centre, weight, np.add.reduceat(scores.positive, starts))


def _quantile(values: FloatArray, weight: FloatArray, level: float) -> float:
    """Smallest value that at least the share `level` does not exceed; averaged at a step."""
    order = np.argsort(values)
    values, held = values[order], np.cumsum(weight[order])
    target = level * held[-1]
    first = int(np.searchsorted(held, target * (1 - CLOSE)))
    after = int(np.searchsorted(held, target * (1 + CLOSE), side="right"))
    return float(values[first] + values[min(after, len(values) - 1)]) / 2
