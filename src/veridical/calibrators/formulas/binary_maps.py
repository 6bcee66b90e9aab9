"""Formulas of calibrators of two classes.

Where a monotone function passes given levels, to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from veridical._core.formula import (
    Clip,
    Constant,
    Linear,
    Log,
    Logistic,
    LogSumExp,
    Node,
    Piecewise,
    Quotient,
    interpolation,
    minus,
    one_minus,
    step,
)
from veridical._core.typing import FloatArray
from veridical.calibrators import (
    BBQCalibrator,
    BetaCalibrator,
    DensityCalibrator,
    HistogramCalibrator,
    IsotonicCalibrator,
    NearIsotonicCalibrator,
    PlattCalibrator,
    QuadraticCalibrator,
    ScalingBinningCalibrator,
    SplineCalibrator,
    VennAbersCalibrator,
)
from veridical.calibrators._base.bases import BinaryCalibrator
from veridical.calibrators.formulas.maps import Nodes, outputs_of

_SIGN = np.int64(-(2**63))
_STEPS = 64  # halvings of the 2^64 floating-point numbers


def last_within(
    function: Callable[[FloatArray], FloatArray],
    levels: FloatArray,
    low: float,
    high: float,
) -> FloatArray:
    """Largest number x in [low, high] with function(x) <= level, for each level.

    Steps that are taken on the scale of function(x) can then be taken on that of x, by comparison
    alone: an engine whose logarithm differs in the last bit still finds the same interval. The
    function must not decrease; where function(low) is above the level, `low` is returned.
    """
    below = np.full(len(levels), _key(np.array([low]))[0])
    above = np.full(len(levels), _key(np.array([high]))[0])
    inside = function(_number(above)) <= levels
    below[inside] = above[inside]
    for _ in range(_STEPS):
        middle = (below >> 1) + (above >> 1) + (below & above & 1)
        kept = function(_number(middle)) <= levels
        below, above = np.where(kept, middle, below), np.where(kept, above, middle)
    return _number(below)


def _key(x: FloatArray) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """Integers in the order of the numbers, without gaps."""
    bits = x.astype(np.float64).view(np.int64)
    return np.where(bits < 0, _SIGN - bits, bits)


def _number(key: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> FloatArray:
    return np.where(key < 0, _SIGN - key, key).astype(np.int64).view(np.float64)


_FARTHEST = 1e3  # log odds are cut there, as when the map was fitted
_SATURATED = 2e3  # log odds beyond which a probability is 0 or 1
_LARGEST = 1e300


@outputs_of.register
def _platt(calibrator: PlattCalibrator, inputs: Nodes) -> Nodes:
    slope, intercept = calibrator.slope_, calibrator.intercept_
    z = _log_odds(calibrator, inputs)
    if calibrator.input == "score":  # any size: cut where the answer no longer changes
        far = (_SATURATED + abs(intercept)) / abs(slope) if slope else 0.0
        z = Clip(z, -min(far, _LARGEST), min(far, _LARGEST))
    return _of_log_odds(calibrator, Linear(((slope, z),), intercept))


@outputs_of.register
def _beta(calibrator: BetaCalibrator, inputs: Nodes) -> Nodes:
    if calibrator.input == "logit":
        z, zero = _log_odds(calibrator, inputs), Constant(0.0)
        low: Node = Linear(((-1.0, LogSumExp((zero, Linear(((-1.0, z),))))),))
        high: Node = Linear(((-1.0, LogSumExp((zero, z))),))
    else:
        value, rest = _floored(calibrator, inputs)
        low, high = Log(value), Log(rest)
    terms = ((calibrator.a_, low), (-calibrator.b_, high))
    return _of_log_odds(calibrator, Linear(terms, calibrator.c_))


@outputs_of.register
def _quadratic(calibrator: QuadraticCalibrator, inputs: Nodes) -> Nodes:
    knots = np.array(calibrator.range_)
    a, b, c = calibrator.a_, calibrator.b_, calibrator.c_
    first = float(knots[0])
    inside = np.array([[a + (b + c * first) * first], [b + 2 * c * first], [c]])
    return _smooth(calibrator, inputs, knots, inside)


@outputs_of.register
def _spline(calibrator: SplineCalibrator, inputs: Nodes) -> Nodes:
    return _smooth(calibrator, inputs, calibrator.knots_, calibrator.coefficients_)


def _smooth(
    calibrator: BinaryCalibrator, inputs: Nodes, knots: FloatArray, inside: FloatArray
) -> Nodes:
    """Parabolas between knots, straight lines that rise or are level outside."""
    constant, linear, square = inside[:, -1].tolist()
    width = float(knots[-1] - knots[-2])
    last = constant + width * (linear + width * square)
    lines = np.array(
        [
            [inside[0, 0], last],
            [max(float(inside[1, 0]), 0.0), max(linear + 2 * width * square, 0.0)],
            [0.0, 0.0],
        ]
    )
    coefficients = np.column_stack([lines[:, :1], inside, lines[:, 1:]])
    starts = np.append(knots[0], knots)
    odds = Piecewise(_log_odds(calibrator, inputs), knots, "right", starts, coefficients)
    return _of_log_odds(calibrator, odds)


@outputs_of.register
def _histogram(calibrator: HistogramCalibrator, inputs: Nodes) -> Nodes:
    if calibrator.strategy == "uniform":
        return _steps_of_probability(calibrator, inputs)
    return _pair(
        calibrator, step(_value(calibrator, inputs), calibrator.edges_, calibrator.values_)
    )


@outputs_of.register
def _bbq(calibrator: BBQCalibrator, inputs: Nodes) -> Nodes:
    return _steps_of_probability(calibrator, inputs)


@outputs_of.register
def _near_isotonic(calibrator: NearIsotonicCalibrator, inputs: Nodes) -> Nodes:
    return _pair(
        calibrator, step(_value(calibrator, inputs), calibrator.edges_, calibrator.values_)
    )


@outputs_of.register
def _isotonic(calibrator: IsotonicCalibrator, inputs: Nodes) -> Nodes:
    value, knots = _value(calibrator, inputs), calibrator.knots_
    p = interpolation(value, knots, calibrator.values_)
    if calibrator.tail_:
        low, high = float(knots[0]), float(knots[-1])
        width, tail = (high - low if high > low else 1.0), calibrator.tail_
        below = Clip(Linear(((-1.0, value),), low), 0.0)
        above = Clip(Linear(((1.0, value),), -high), 0.0)
        outside = ((sign * tail, away) for sign, away in ((-1, below), (1, above)))
        tails = ((w, Quotient(away, Linear(((1.0, away),), width))) for w, away in outside)
        p = Linear(((1.0, p), *tails))
    return _pair(calibrator, p)


@outputs_of.register
def _density(calibrator: DensityCalibrator, inputs: Nodes) -> Nodes:
    value = _value(calibrator, inputs)
    p = value if calibrator.input == "probability" else Logistic(value)
    curve, grid = (
        calibrator.curve_,
        np.arange(len(calibrator.curve_)) / (len(calibrator.curve_) - 1),
    )
    return _pair(calibrator, interpolation(p, grid, curve))


@outputs_of.register
def _venn_abers(calibrator: VennAbersCalibrator, inputs: Nodes) -> Nodes:
    s = _value(calibrator, inputs)
    pairs = zip(calibrator.lower_, calibrator.upper_, strict=True)
    steps = [
        (edges0, np.append(0.0, low), edges1, np.append(high, 1.0))
        for (edges0, low), (edges1, high) in pairs
    ]
    if len(steps) == 1:
        edges0, low, edges1, high = steps[0]
        p0, p1 = step(s, edges0, low, "right"), step(s, edges1, high, "left")
        whole = Linear(((-1.0, p0), (1.0, p1)), 1.0)
        return _pair(calibrator, Quotient(p1, whole))
    share = 1 / len(steps)  # G(p1) / (G(1 - p0) + G(p1)) is a logistic function of mean logarithms
    terms = [(share, step(s, edges1, np.log(high), "left")) for *_, edges1, high in steps]
    terms += [(-share, step(s, edges0, np.log1p(-low), "right")) for edges0, low, *_ in steps]
    return _of_log_odds(calibrator, Linear(tuple(terms)))


@outputs_of.register
def _scaling_binning(calibrator: ScalingBinningCalibrator, inputs: Nodes) -> Nodes:
    from scipy.special import expit

    slope, intercept = calibrator.scaling_.slope_, calibrator.scaling_.intercept_
    edges, values = calibrator.edges_, calibrator.values_
    if slope < 0:  # the map of -x rises
        edges, values = edges[::-1], values[::-1]
    if calibrator.input == "probability":
        of: Node = Quotient(*_floored(calibrator, inputs))
        low, high = 1e-320, 1e305
    else:
        of, low, high = _value(calibrator, inputs), -1e308, 1e308

    def scaled(x: FloatArray) -> FloatArray:
        if calibrator.input == "probability":
            x = np.log(x)
        elif calibrator.input == "logit":
            x = np.clip(x, -_FARTHEST, _FARTHEST)
        with np.errstate(over="ignore"):
            return np.asarray(expit(x * slope + intercept))

    if slope >= 0:
        return _pair(calibrator, step(of, last_within(scaled, edges, low, high), values))
    # Above an edge, scaled(x) > e, is now where x is at most a number: the last with -scaled < -e.
    places = last_within(lambda x: -scaled(x), np.nextafter(-edges, -np.inf), low, high)
    return _pair(calibrator, step(of, places, values))


def _steps_of_probability(calibrator: HistogramCalibrator | BBQCalibrator, inputs: Nodes) -> Nodes:
    """Steps at edges on the scale of probabilities, whatever the scale of the input."""
    from scipy.special import expit

    edges = calibrator.edges_
    if calibrator.input != "probability":
        edges = last_within(lambda z: np.asarray(expit(z)), edges, -1e308, 1e308)
    return _pair(calibrator, step(_value(calibrator, inputs), edges, calibrator.values_))


def _value(calibrator: BinaryCalibrator, inputs: Nodes) -> Node:
    """Score of the positive class."""
    positive = calibrator.positive_index_
    if calibrator.input == "probability":
        return inputs[positive]
    return minus(inputs[positive], inputs[1 - positive])


def _floored(calibrator: BinaryCalibrator, inputs: Nodes) -> tuple[Node, Node]:
    """Probabilities of the positive and the negative class, kept from zero."""
    positive = calibrator.positive_index_
    low, high = calibrator.floors_
    return Clip(inputs[positive], low), Clip(inputs[1 - positive], high)


def _log_odds(calibrator: BinaryCalibrator, inputs: Nodes) -> Node:
    if calibrator.input == "probability":
        return Log(Quotient(*_floored(calibrator, inputs)))
    value = _value(calibrator, inputs)
    return Clip(value, -_FARTHEST, _FARTHEST) if calibrator.input == "logit" else value


def _of_log_odds(calibrator: BinaryCalibrator, odds: Node) -> Nodes:
    pair = (Logistic(Linear(((-1.0, odds),))), Logistic(odds))
    return pair if calibrator.positive_index_ else pair[::-1]


def _pair(calibrator: BinaryCalibrator, p: Node) -> Nodes:
    pair = (one_minus(p), p)
    return pair if calibrator.positive_index_ else pair[::-1]
