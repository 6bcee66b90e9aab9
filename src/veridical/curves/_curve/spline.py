r"""Limits of a smooth curve that count the bias of smoothing: a spline in the log-odds.

The curve's log-odds are a function g of those of the prediction, x: a line and what bends,
:math:`\int (g'')^2 \le \tau^2`. Fitted is the spline with the largest log-likelihood less
:math:`\int (g'')^2 / (2 \tau^2)`, whose curvature in the direction of g(x) is the inverse of a
variance V (Wahba 1983, doi 10.1111/j.2517-6161.1983.tb01239.x). V is that of the estimate, s^2, and
the square of its largest bias over all such curves, B^2. Limits are :math:`\hat g \pm z \sqrt V`,
or :math:`\hat g \pm c s` if that is more, with the critical value c that holds for every bias up to
B, :math:`P(|Z + B / s| \le c) = 1 - \alpha` (Armstrong & Kolesár 2020, doi 10.3982/QE1199, equation
5). All places share one :math:`\tau`, so limits are as smooth as the spline, and each uses as many
rows as its own noise asks for.

:math:`\tau` follows from the marginal likelihood (Laplace's approximation) with a half-Cauchy
distribution (Gelman 2006, doi 10.1214/06-BA117A). Taken is what its logarithm is on average and one
standard deviation more: too smooth a curve misses the truth, too rough a one is only wider. Scale
and deviation were chosen by simulation.

Events are few near 0 and 1, where a normal distribution fails. Limits are where the penalised
likelihood of the best curve through them has fallen as far as a normal one does at its limits,
found as by Venzon & Moolgavkar (1988), doi 10.2307/2347496. An upper limit counts half an event
more at its place and a lower one half a miss, as Jeffreys' limits of a frequency do (Brown, Cai &
DasGupta 2001, doi 10.1214/ss/1009213286).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veridical._core.numeric.logistic import binary_objective, newton_by_decrement, with_ridge
from veridical._core.resampling.hypothesis import design_effect
from veridical._core.sample import BinarySample
from veridical._core.typing import FloatArray, IntArray
from veridical.curves._curve.points import Points

_SHIFT = 1e-6  # of predictions, so that 0 and 1 have log-odds
_DIGITS = 4  # of log-odds: predictions that are as good as equal are so
_NODES = 150  # by share of rows, and by log-odds, from which on rows are put together
_KNOTS = 12  # by share of rows, and by log-odds
_PLACES = 100  # where knots may be
_ROUGHNESS = 0.05 * 2.0 ** np.arange(9)
_SCALE = 2.0  # of the roughness: a turn by so much within one unit of log-odds
_MORE = 0.5  # of an event, at the place of a limit
_STEPS = 40
_LONGEST = 2.0  # change of log-odds in a step
_FAR = 40.0  # log-odds that are as good as certain
_NEAR = 1e-5  # change of log-odds that is none
_TOLERANCE = 1e-4  # of a fit, in standard errors
_RIDGE = 1e-9
_LARGE = 6.0  # bias in standard errors from which on one side decides
_SCARCE = 0.7  # standard error of the log-odds


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
    lower, upper = spline_limits(sample, np.concatenate([value[:1], inside, value[-1:]]), level)
    low = np.minimum(lower[1:-1], points.observed)
    high = np.maximum(upper[1:-1], points.observed)
    for end, beyond in ((0, value[0] < inside[0]), (-1, value[-1] > inside[-1])):
        if beyond:
            low[end], high[end] = min(low[end], lower[end]), max(high[end], upper[end])
    return low, high


def spline_limits(
    sample: BinarySample, at: FloatArray, level: float
) -> tuple[FloatArray, FloatArray]:
    """Limits of the frequency at these predictions, each by itself.

    Variances are those of the weights, times the design effect of label weights and groups.
    """
    from scipy.special import expit

    places = _log_odds(at)
    nodes = _nodes(sample)
    spline = _spline(nodes, places)
    columns, here = spline.columns(nodes.x), spline.columns(places)
    fit = _best_fit(columns, nodes)
    drop = np.square(fit.half_widths(here, nodes, level)) / 2
    low, high = (np.asarray(expit(_profile(fit, nodes, here, drop, side))) for side in (-1, 1))
    low, high = _if_increasing(places, np.sqrt(fit.variance(here)), low, high)
    # Predictions nearer to 0 or 1 than the shift are not told apart, unless they are all alike.
    value = sample.pooled.value
    if (value < _SHIFT).sum() > 1:
        low[at < _SHIFT] = 0.0
    if (value > 1 - _SHIFT).sum() > 1:
        high[at > 1 - _SHIFT] = 1.0
    return low, high


def _if_increasing(
    places: FloatArray, error: FloatArray, low: FloatArray, high: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Where outcomes tell little, limits of the nearest places where they tell more.

    The curve is supposed not to fall from or to such a place: what is above it on its right is so
    here, what is below it on its left too. A run of places tells enough if one of them tells twice
    as much, or most.
    """
    order = np.argsort(places, kind="stable")
    back = np.argsort(order, kind="stable")
    number, low, high = np.arange(len(order)), low[order], high[order]
    error, least = error[order], float(error.min())
    near = error <= max(_SCARCE, least)
    run = np.cumsum(~near)
    clear = np.bincount(run, error <= max(_SCARCE / 2, least)) > 0
    told = near & clear[run]
    before = np.maximum.accumulate(np.where(told, number, -1))
    after = np.minimum.accumulate(np.where(told, number, len(order))[::-1])[::-1]
    low = np.maximum(low, np.where(before < 0, 0.0, low[before]))
    high = np.minimum(high, np.append(high, 1.0)[after])
    return low[back], high[back]


@dataclass(frozen=True)
class _Nodes:
    """Rows of (nearly) equal log-odds.

    Attributes
    ----------
    x : their log-odds, increasing
    size : how many rows they tell as much as, and one row more in all
    hits : outcomes among them, the row more being the mean
    heavy : variance of their sum over that of as many rows of one weight
    """

    x: FloatArray
    size: FloatArray
    hits: FloatArray
    heavy: FloatArray


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
        cell = np.rint(share * _NODES) + np.rint(place * _NODES)  # the same from either end
        node = np.unique(cell, return_inverse=True)[1].reshape(-1)[node]
        value = np.bincount(node, weight * x) / np.bincount(node, weight)
    size, hits, squares = (
        np.bincount(node, each).astype(np.float64) for each in (weight, weight * sample.y, square)
    )
    scale = size.sum() / (squares.sum() * design_effect(sample))
    heavy = squares / size * (size.sum() / squares.sum())
    size, hits = scale * size, scale * hits
    total = size.sum()
    mean = (hits.sum() + 0.5) / (total + 1)
    return _Nodes(value, size * (1 + 1 / total), hits + mean * size / total, heavy)


@dataclass(frozen=True)
class _Spline:
    """Natural splines with these knots: a constant, a line, and what bends.

    Attributes
    ----------
    knots : increasing
    bends : combinations of integrated hats that are orthonormal in the integral of g''^2
    line : what is taken off them, so that they are no lines in part: (2, bends)
    """

    knots: FloatArray
    bends: FloatArray
    line: FloatArray

    def columns(self, x: FloatArray) -> FloatArray:
        """Values at x, of shape (len(x), parameters)."""
        lines = _lines(self.knots, x)
        return np.hstack([lines, _hats(self.knots, x) @ self.bends - lines @ self.line])


def _lines(knots: FloatArray, x: FloatArray) -> FloatArray:
    """A constant, and if there are two knots a slope."""
    return np.column_stack([np.ones_like(x), x - knots.mean()])[:, : len(knots)]


def _hats(knots: FloatArray, x: FloatArray) -> FloatArray:
    """Hats at the inner knots, integrated twice."""
    cubes = np.maximum(x[:, None] - knots, 0.0) ** 3 / 6
    return np.diff(np.diff(cubes, axis=1) / np.diff(knots), axis=1)


def _spline(nodes: _Nodes, places: FloatArray) -> _Spline:
    """Knots by share of rows and by log-odds, from the first to the last row or place."""
    knots = nodes.x
    low, high = min(knots[0], places.min()), max(knots[-1], places.max())
    if len(knots) > 1:
        share = (np.cumsum(nodes.size) - nodes.size / 2) / nodes.size.sum()
        by_rows = np.interp(np.linspace(0, 1, _KNOTS), share, knots)
        step, middle = (high - low) / _PLACES, (low + high) / 2
        every = np.concatenate([by_rows, np.linspace(low, high, _KNOTS)])
        knots = middle + step * np.unique(np.rint((every - middle) / step))
    gaps = np.diff(knots)
    beside = np.diag(gaps[1:-1], 1)
    products = np.diag(gaps[:-1] + gaps[1:]) / 3 + (beside + beside.T) / 6
    bends = np.linalg.inv(np.linalg.cholesky(products)).T
    line = np.linalg.lstsq(_lines(knots, knots), _hats(knots, knots) @ bends, rcond=None)[0]
    return _Spline(knots, bends, line)


@dataclass(frozen=True)
class _Fit:
    """The spline of one roughness.

    Attributes
    ----------
    columns : of the nodes, (nodes, parameters)
    strength : of the penalty on each parameter
    parameters : that maximise the penalised likelihood
    hessian : of its negative logarithm
    evidence : marginal log-likelihood, up to a constant
    """

    columns: FloatArray
    strength: FloatArray
    parameters: FloatArray
    hessian: FloatArray
    evidence: float

    def variance(self, here: FloatArray) -> FloatArray:
        """V at these places."""
        return np.einsum("ij,ji->i", here, np.linalg.solve(self.hessian, here.T))

    def half_widths(self, here: FloatArray, nodes: _Nodes, level: float) -> FloatArray:
        """Of normal limits at these places, in roots of V; uneven weights make them wider."""
        from scipy.special import expit, ndtri

        frequency = expit(self.columns @ self.parameters)
        shares = self.columns @ np.linalg.solve(self.hessian, here.T)
        each = np.square(shares) * (nodes.size * frequency * (1 - frequency))[:, None]
        noise, variance = nodes.heavy @ each, self.variance(here)
        bias = np.sqrt(np.maximum(variance - each.sum(axis=0), 0.0) / noise)
        plain = float(ndtri((1 + level) / 2)) * np.sqrt(1 + bias**2)
        return np.maximum(plain, _critical(bias, level)) * np.sqrt(noise / variance)


def _critical(bias: FloatArray, level: float) -> FloatArray:
    """Quantile of |Z + bias|, Z standard normal."""
    from scipy.special import chndtrix, ndtri

    small = np.minimum(bias, _LARGE)
    return np.where(bias < _LARGE, np.sqrt(chndtrix(level, 1, small**2)), bias + ndtri(level))


def _fit(columns: FloatArray, nodes: _Nodes, roughness: float, start: FloatArray) -> _Fit:
    number = columns.shape[1]
    bending = np.arange(number) >= 2
    strength = np.where(bending, roughness**-2.0, _RIDGE)
    objective = binary_objective(
        np.ascontiguousarray(columns.T), nodes.hits, np.maximum(nodes.size - nodes.hits, 0.0)
    )
    ridged = with_ridge(objective, strength, np.zeros(number))
    found = newton_by_decrement(ridged, start, tolerance=_TOLERANCE)
    spread = float(np.linalg.slogdet(found.hessian)[1])
    evidence = -found.value - spread / 2 - bending.sum() * np.log(roughness)
    return _Fit(columns, strength, found.parameters, found.hessian, float(evidence))


def _best_fit(columns: FloatArray, nodes: _Nodes) -> _Fit:
    """The spline whose roughness stands for those that the outcomes allow."""
    from scipy.special import logit

    start: FloatArray = np.zeros(columns.shape[1])
    start[0] = logit(nodes.hits.sum() / nodes.size.sum())
    evidence = []
    for roughness in _ROUGHNESS:
        fit = _fit(columns, nodes, float(roughness), start)
        start = fit.parameters
        evidence.append(fit.evidence)
    chance = np.array(evidence) - np.log1p((_ROUGHNESS / _SCALE) ** 2)
    chance = np.exp(chance - chance.max()) * _ROUGHNESS  # which are even on a scale of logarithms
    size = np.log(_ROUGHNESS)
    mean = np.average(size, weights=chance)
    deviation = np.sqrt(np.average(np.square(size - mean), weights=chance))
    return _fit(columns, nodes, float(np.exp(mean + deviation)), start)


class _Through:
    """Penalised likelihoods of curves, each with a part of a row more at a place of its own."""

    def __init__(self, fit: _Fit, nodes: _Nodes, here: FloatArray, event: float) -> None:
        number = here.shape[1]
        self.fit, self.nodes, self.here, self.event = fit, nodes, here, event
        self.outer = np.einsum("ni,nj->nij", fit.columns, fit.columns).reshape(-1, number**2)
        self.ridge = np.diag(fit.strength)

    def __call__(
        self, curves: FloatArray, places: IntArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Value, gradient and Hessian of the negative logarithm."""
        from scipy.special import expit

        size, hits, columns = self.nodes.size, self.nodes.hits, self.fit.columns
        here, strength = self.here[places], self.fit.strength
        odds = np.clip(curves @ columns.T, -_FAR, _FAR)
        own = np.clip((curves * here).sum(axis=1), -_FAR, _FAR)
        frequency, chance = expit(odds), expit(own)
        value = np.logaddexp(0.0, odds) @ size - odds @ hits + np.square(curves) @ strength / 2
        value += _MORE * np.logaddexp(0.0, own) - self.event * own
        gradient = (frequency * size - hits) @ columns + curves * strength
        gradient += (_MORE * chance - self.event)[:, None] * here
        hessian = (size * frequency * (1 - frequency)) @ self.outer
        hessian = hessian.reshape(len(curves), *self.ridge.shape) + self.ridge
        more = (_MORE * chance * (1 - chance))[:, None] * here
        return value, gradient, hessian + more[:, :, None] * here[:, None, :]


def _profile(fit: _Fit, nodes: _Nodes, here: FloatArray, drop: FloatArray, side: int) -> FloatArray:
    """Smallest (side -1) or largest log-odds at the places whose curves have fallen by `drop`.

    A step goes to where the quadratic approximation at a curve has fallen so far: the curve of the
    largest likelihood among those through that point.
    """
    likelihood = _Through(fit, nodes, here, _MORE if side > 0 else 0.0)
    curves = np.repeat(fit.parameters[None], len(here), axis=0)
    aim = np.full(len(here), np.nan)
    for limit in (False, True):  # first the largest likelihood, then the limit
        left = np.arange(len(here))
        for _ in range(_STEPS):
            value, gradient, hessian = likelihood(curves[left], left)
            both = np.stack([-gradient, here[left]], axis=2)
            best, towards = np.moveaxis(np.linalg.solve(hessian, both), 2, 0)
            step = best
            if limit:
                fall = 2 * (aim[left] - value) - (gradient * best).sum(axis=1)
                length = np.maximum(fall, 0.0) / (here[left] * towards).sum(axis=1)
                step = best + side * np.sqrt(length)[:, None] * towards
            change = np.abs(step @ fit.columns.T).max(axis=1)
            change = np.maximum(change, np.abs((step * here[left]).sum(axis=1)))
            curves[left] += np.minimum(1.0, _LONGEST / np.maximum(change, _NEAR))[:, None] * step
            if not limit:
                aim[left] = value - (-gradient * best).sum(axis=1) / 2 + drop[left]
            left = left[change > _NEAR]
            if not len(left):
                break
    return np.clip((curves * here).sum(axis=1), -_FAR, _FAR)
