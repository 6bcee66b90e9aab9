r"""Limits of a smooth curve that count the bias of smoothing: local lines in the log-odds.

The curve's log-odds are taken to be a function g of those of the prediction, x, that bends by no
more than M. A line is fitted around each point by logistic regression, rows counting less the
further away they are; if g is a line this has no bias, else none beyond
:math:`B = M/2 \sum_i |l_i| (x_i - x_0)^2` with the weights l of the estimate. The limits are
:math:`\hat g \pm c\, s` with the critical value c that holds for every bias up to B,
:math:`P(|Z + B / s| \le c) = 1 - \alpha`, and as many rows are used as make them shortest
(Armstrong & Kolesár 2020, doi 10.3982/QE1199, section 2). M is estimated as they propose, by
a global polynomial, as the root mean square of its second derivative: degree and mean were chosen
by simulation.

Events are few near 0 and 1, where a normal distribution fails. Limits hold those of Clopper and
Pearson for the number of rows that would have this variance. Where a local line has no finite fit,
one Newton step from the line fitted to all rows takes its place.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veridical._core.numeric.logistic import binary_objective, newton_by_decrement
from veridical._core.resampling.hypothesis import design_effect
from veridical._core.sample import BinarySample, PooledScores
from veridical._core.typing import FloatArray
from veridical.curves._curve.bands import pointwise_band
from veridical.curves._curve.points import Points

_SHIFT = 1e-4  # of predictions, so that 0 and 1 have log-odds
_DIGITS = 4  # of log-odds: predictions that are as good as equal are so
_NODES = 500  # by share of rows, and by log-odds, from which on rows are put together
_DEGREE = 5
_SPANS = (0.03, 0.05, 0.08, 0.12, 0.18, 0.27, 0.4, 0.6, 0.8, 1.0, np.inf)  # shares of rows used
_MIDDLE = (0.02, 0.98)  # of the rows, where curvature is looked for
_STEPS = 40
_LONGEST = 2.0  # change of log-odds in a step
_FAR = 30.0  # log-odds that are as good as certain
_RIDGE = 1e-9
_TINY = 1e-15
_SCARCE = 0.7  # standard error of the log-odds
_CERTAIN = 8.0  # standard errors that nothing exceeds
_LARGE = 6.0  # bias in standard errors from which on one side decides


def smooth_limits(
    sample: BinarySample, points: Points, level: float
) -> tuple[FloatArray, FloatArray]:
    """Limits at the points of a smooth curve, which they hold. Time O(n log n).

    A point stands for the scores of its cell, so its limits are those of the score nearest to its
    middle, if there are any. The first and the last point stand for all beyond them, so their
    limits also hold at the outermost one.
    """
    value = sample.pooled.value.astype(np.float64)
    first = np.searchsorted(value, points.lower)
    last = np.searchsorted(value, points.upper, side="right") - 1
    middle = np.clip(points.predicted, value[np.minimum(first, len(value) - 1)], value[last])
    inside = np.where(first <= last, middle, points.predicted)
    lower, upper = local_limits(sample, np.concatenate([value[:1], inside, value[-1:]]), level)
    low = np.minimum(lower[1:-1], points.observed)
    high = np.maximum(upper[1:-1], points.observed)
    for end, beyond in ((0, value[0] < inside[0]), (-1, value[-1] > inside[-1])):
        if beyond:
            low[end], high[end] = min(low[end], lower[end]), max(high[end], upper[end])
    return low, high


def local_limits(
    sample: BinarySample, at: FloatArray, level: float
) -> tuple[FloatArray, FloatArray]:
    """Limits of the frequency at these predictions, each by itself.

    Variances are those of the weights, times the design effect of label weights and groups.
    """
    nodes = _nodes(sample)
    line = _start(nodes)
    windows = _best_windows(nodes, line, at, level)
    low, high = _limits(nodes, line, windows, level)
    scarce = _error(nodes, windows.kernel, windows.distance, line.frequency) > _SCARCE
    lower, upper = _if_increasing(nodes, windows.at, level)
    low = np.where(scarce, np.maximum(low, lower), low)
    return low, np.where(scarce, np.minimum(high, upper), high)


def _if_increasing(nodes: _Nodes, at: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Limits of a curve that does not fall, of as many rows as would have the same variance."""
    from scipy.special import expit

    scale = nodes.size.sum() / nodes.square.sum()
    rows = PooledScores(expit(nodes.x), scale * nodes.size, scale * nodes.hits)
    low, high = pointwise_band(rows, level)
    before = np.searchsorted(nodes.x, at, side="right")
    after = np.searchsorted(nodes.x, at, side="left")
    return np.append(0.0, low)[before], np.append(high, 1.0)[after]


@dataclass(frozen=True)
class _Nodes:
    """Rows of (nearly) equal log-odds.

    Attributes
    ----------
    x : their log-odds, increasing
    size : how many rows count there, weights scaled to the effective size
    hits : outcomes among them
    square : sum of squares of these weights, times what the sample's design adds
    """

    x: FloatArray
    size: FloatArray
    hits: FloatArray
    square: FloatArray


def _log_odds(p: FloatArray) -> FloatArray:
    p = p.astype(np.float64)
    return np.round(np.log((p + _SHIFT) / (1 - p + _SHIFT)), _DIGITS)


def _nodes(sample: BinarySample) -> _Nodes:
    x, weight = _log_odds(sample.p), np.ones(sample.n)
    square = weight
    if sample.weight is not None:
        weight = sample.weight * (sample.size / sample.weight.sum())
        square = weight if sample.weight_type == "frequency" else weight**2
    value, node = np.unique(x, return_inverse=True)
    node = node.reshape(-1)
    if len(value) > 2 * _NODES:
        mass = np.bincount(node, weight)
        share = (np.cumsum(mass) - mass / 2) / mass.sum()
        place = (value - value[0]) / (value[-1] - value[0])
        cell = np.minimum(share * _NODES, _NODES - 1).astype(np.intp)
        cell += np.minimum(place * _NODES, _NODES - 1).astype(np.intp)
        node = np.unique(cell, return_inverse=True)[1].reshape(-1)[node]
        value = np.bincount(node, weight * x) / np.bincount(node, weight)
    size, hits, squares = (
        np.bincount(node, each).astype(np.float64) for each in (weight, weight * sample.y, square)
    )
    return _Nodes(value, size, hits, squares * design_effect(sample))


@dataclass(frozen=True)
class _Start:
    """The line of all rows: its intercept and slope, and what it says at the nodes."""

    intercept: float
    slope: float
    log_odds: FloatArray
    frequency: FloatArray


def _start(nodes: _Nodes) -> _Start:
    """Logistic regression; one more row, of the mean, keeps it finite."""
    from scipy.special import expit

    columns = np.stack([np.ones_like(nodes.x), nodes.x])
    intercept, slope = _regression(columns, nodes)
    log_odds = np.clip(intercept + slope * nodes.x, -_FAR, _FAR)
    return _Start(float(intercept), float(slope), log_odds, np.asarray(expit(log_odds)))


def _regression(columns: FloatArray, nodes: _Nodes) -> FloatArray:
    total = nodes.size.sum()
    mean = (nodes.hits.sum() + 0.5) / (total + 1)
    more = nodes.size / total
    positive = nodes.hits + mean * more
    negative = np.maximum(nodes.size - nodes.hits, 0.0) + (1 - mean) * more
    start = np.zeros(len(columns))
    start[0] = np.log(mean / (1 - mean))
    objective = binary_objective(columns, positive, negative)
    return newton_by_decrement(objective, start).parameters


def _curvature(nodes: _Nodes, line: _Start) -> float:
    """How much the log-odds bend, by a polynomial of all rows.

    The root mean square of its second derivative, which chance makes too large rather than too
    small; or its largest one, less what chance explains of how much better the polynomial fits than
    the line, where that is more.
    """
    from numpy.polynomial import legendre

    reached = np.cumsum(nodes.size) - nodes.size / 2
    low, high = np.interp(np.array(_MIDDLE) * nodes.size.sum(), reached, nodes.x)
    degree = min(_DEGREE, len(nodes.x) - 1)
    if high - low < _RIDGE or degree < 2:
        return 0.0
    half = (high - low) / 2
    x = np.clip((nodes.x - low) / half - 1, -1.5, 1.5)
    columns = np.ascontiguousarray(legendre.legvander(x, degree).T)
    fitted = _regression(columns, nodes)
    second = legendre.legval(x, legendre.legder(fitted, 2)) / half**2
    inside = np.abs(x) <= 1
    typical = np.sqrt(np.average(np.square(second[inside]), weights=nodes.size[inside]))
    better = _loss(nodes, line.log_odds) - _loss(nodes, np.clip(fitted @ columns, -_FAR, _FAR))
    better *= 2 * nodes.size.sum() / nodes.square.sum()  # chi-square if there is nothing to find
    left = 1 - (degree - 1) / max(float(better), _RIDGE)
    return max(float(typical), float(np.abs(second[inside]).max() * np.sqrt(max(left, 0.0))))


def _loss(nodes: _Nodes, log_odds: FloatArray) -> float:
    """Negative log-likelihood."""
    return float(nodes.size @ np.logaddexp(0.0, log_odds) - nodes.hits @ log_odds)


@dataclass(frozen=True)
class _Windows:
    """What counts how much around each point: (m, nodes), and the largest bias there, (m,)."""

    distance: FloatArray
    kernel: FloatArray
    bias: FloatArray
    at: FloatArray


def _best_windows(nodes: _Nodes, line: _Start, p: FloatArray, level: float) -> _Windows:
    """Of each point the window with the shortest limits, if all were as the line says."""
    at, bend = _log_odds(p), _curvature(nodes, line)
    distance = nodes.x - at[:, None]
    away = np.abs(distance)
    order = np.argsort(away, axis=1)
    reached = np.cumsum(nodes.size[order], axis=1) / nodes.size.sum()
    information = line.frequency * (1 - line.frequency)
    least = np.full(len(at), np.inf)
    kernel, bias = np.ones_like(distance), np.zeros(len(at))
    for span in _SPANS:
        if np.isfinite(span):
            last = np.minimum((reached < span - _RIDGE).sum(axis=1), len(nodes.x) - 1)
            width = np.take_along_axis(away, order[np.arange(len(at)), last][:, None], axis=1)
            one = np.clip(1 - np.square(distance / (1.001 * width + _RIDGE)), 0.0, None)
        else:
            one = np.ones_like(distance)
        inverse = _inverse(one * nodes.size * information, distance)
        shares = (inverse[0][:, None] + inverse[1][:, None] * distance) * one
        error = np.sqrt((np.square(shares) * (nodes.square * information)).sum(axis=1))
        most = bend / 2 * (np.abs(shares) * (nodes.size * information) * distance**2).sum(axis=1)
        half = _critical(most / error, level) * error
        better = half < least
        least = np.where(better, half, least)
        kernel[better], bias[better] = one[better], most[better]
    return _Windows(distance, kernel, bias, at)


def _inverse(
    information: FloatArray, distance: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Inverse of the information of level and slope at each point: (0, 0), (0, 1) and (1, 1)."""
    zero = information.sum(axis=1) + _TINY
    one = (information * distance).sum(axis=1)
    two = (information * distance**2).sum(axis=1)
    determinant = zero * two - one**2
    # One node away from the point tells nothing of a line; one at the point tells its level.
    flat = two <= _TINY
    told = determinant > _RIDGE * zero * two
    safe = np.where(told, determinant, 1.0)
    level = np.where(flat, 1 / zero, np.where(told, two / safe, 1 / _TINY))
    shared = np.where(told & ~flat, -one / safe, 0.0)
    return level, shared, np.where(told & ~flat, zero / safe, 0.0)


def _critical(bias: FloatArray, level: float) -> FloatArray:
    """Quantile of |Z + bias|, Z standard normal."""
    from scipy.special import chndtrix, ndtri

    small = np.minimum(bias, _LARGE)
    return np.where(bias < _LARGE, np.sqrt(chndtrix(level, 1, small**2)), bias + ndtri(level))


def _limits(
    nodes: _Nodes, line: _Start, windows: _Windows, level: float
) -> tuple[FloatArray, FloatArray]:
    from scipy.special import betaincinv, expit, ndtr

    distance, kernel = windows.distance, windows.kernel
    start = line.intercept + line.slope * windows.at
    # One row more, with the outcomes of the line.
    more = 1 / (kernel * nodes.size).sum(axis=1, keepdims=True)
    positive, total = kernel * (nodes.hits + more * nodes.size * line.frequency), 1 + more
    total = kernel * nodes.size * total
    fitted = _fits(positive, total, distance, start, line.slope)
    error = _error(
        nodes, kernel, distance, expit(fitted[0][:, None] + fitted[1][:, None] * distance)
    )
    critical = _critical(windows.bias / error, level)
    # A step from the line of all rows: finite whatever the outcomes.
    spread = line.frequency * (1 - line.frequency)
    inverse = _inverse(kernel * nodes.size * spread, distance)
    residual = kernel * (nodes.hits - nodes.size * line.frequency)
    step = inverse[0] * residual.sum(axis=1) + inverse[1] * (residual * distance).sum(axis=1)
    other = _error(nodes, kernel, distance, line.frequency)
    wider = _critical(windows.bias / other, level) * other
    near = fitted[0]
    low = np.maximum(near - critical * error, np.minimum(near, start + step) - wider)
    high = np.minimum(near + critical * error, np.maximum(near, start + step) + wider)
    # As many rows as would have this variance, and their exact limits.
    frequency = np.clip(expit(near), _RIDGE, 1 - _RIDGE)
    rows = 1 / (np.square(error) * frequency * (1 - frequency))
    tail = ndtr(-np.minimum(critical, _CERTAIN))
    hits, misses = frequency * rows, (1 - frequency) * rows
    exact = betaincinv(hits, misses + 1, tail), betaincinv(hits + 1, misses, 1 - tail)
    return np.minimum(expit(low), exact[0]), np.maximum(expit(high), exact[1])


def _error(
    nodes: _Nodes, kernel: FloatArray, distance: FloatArray, frequency: FloatArray
) -> FloatArray:
    """Standard error of the log-odds of local lines with these frequencies."""
    spread = np.maximum(frequency * (1 - frequency), _TINY)
    inverse = _inverse(kernel * nodes.size * spread, distance)
    shares = (inverse[0][:, None] + inverse[1][:, None] * distance) * kernel
    return np.sqrt((np.square(shares) * nodes.square * spread).sum(axis=1))


def _fits(
    positive: FloatArray, total: FloatArray, distance: FloatArray, level: FloatArray, slope: float
) -> tuple[FloatArray, FloatArray]:
    """Log-odds and slopes of local logistic regressions, by Newton steps of bounded length."""
    from scipy.special import expit

    level, slopes = np.clip(level, -_FAR, _FAR), np.full(len(level), slope)
    reach = np.where(total > 0, np.abs(distance), 0.0).max(axis=1)
    for _ in range(_STEPS):
        frequency = expit(np.clip(level[:, None] + slopes[:, None] * distance, -_FAR, _FAR))
        residual = positive - total * frequency
        zero, one = residual.sum(axis=1), (residual * distance).sum(axis=1)
        information = total * frequency * (1 - frequency)
        of_level, shared, of_slope = _inverse(information, distance)
        lift, turn = of_level * zero + shared * one, shared * zero + of_slope * one
        longest = np.abs(lift) + np.abs(turn) * reach
        short = np.minimum(1.0, _LONGEST / np.maximum(longest, _RIDGE))
        level, slopes = level + short * lift, slopes + short * turn
        if bool((longest < _RIDGE).all()):
            break
    return np.clip(level, -_FAR, _FAR), slopes
