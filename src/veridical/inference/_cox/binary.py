"""Intercept and slope of one binary problem, their intervals, and what freeing them gains."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from veridical._core.numeric.logistic import (
    NewtonFit,
    Objective,
    binary_objective,
    newton_by_decrement,
)
from veridical._core.sample import BinarySample
from veridical._core.typing import BoolArray, FloatArray
from veridical.inference._draws.rows import likelihood_weight
from veridical.results import Coefficient

_CLOSE = 1e-3  # of the root; the last correction squares what is left
_INNER = 1e-4  # decrement of the other parameters: moves the root by its square
_MAX_STEPS = 200


def profile_limit(
    objective: Objective,
    best: float,
    start: FloatArray,
    index: int,
    *,
    side: int,
    z: float,
    inside: float = math.nan,
) -> float:
    """Where the profile likelihood of one parameter has fallen by z^2 / 2.

    The signed root r = sqrt(2 (value - best)) of the profile is nearly linear in the parameter
    (a straight line would be a Wald interval), so Newton's method finds r = z in a few steps; a
    bracket keeps it safe. Venzon & Moolgavkar (1988), doi 10.2307/2347496, define the same limits.

    Parameters
    ----------
    objective : negative log-likelihood
    best : its infimum over all parameters
    start : first guess of all parameters
    index : which parameter
    side : 1 for the upper limit, -1 for the lower
    z : normal quantile of the confidence level
    inside : a value known to lie in the interval, if any
    """
    outside = math.nan
    at = start
    for _ in range(_MAX_STEPS):
        fit = newton_by_decrement(objective, at, held=index, tolerance=_INNER)
        here = float(fit.parameters[index])
        root = math.sqrt(max(2 * (fit.value - best), 0.0))
        slope = float(fit.gradient[index]) / root if root > 0 else 0.0  # of the profile's root
        guess = here - (root - z) / slope if slope * side > 0 else math.nan
        if abs(root - z) <= _CLOSE * z and math.isfinite(guess):
            return guess
        if root < z:
            inside = here
        else:
            outside = here
        new = _safe(guess, here, inside, outside, side)
        if new == here:
            break
        at = along(fit.hessian, index, fit.parameters, new)
    return here


def _safe(guess: float, here: float, inside: float, outside: float, side: int) -> float:
    """Return the guess if it lies in the bracket; else halve it, or widen it."""
    if math.isnan(inside) or math.isnan(outside):
        reach = (side if math.isnan(outside) else -side) * (abs(here) + 1)
        # A guess in the right direction that does not leap is as good as any.
        return guess if 0 < (guess - here) / reach < 1 else here + reach
    low, high = min(inside, outside), max(inside, outside)
    return guess if low < guess < high else (low + high) / 2


def along(hessian: FloatArray, index: int, at: FloatArray, new: float) -> FloatArray:
    """Set one parameter to a new value, and the others where, to first order, they will go."""
    moved = at.copy()
    rest = np.delete(np.arange(len(at)), index)
    change = new - at[index]
    with np.errstate(all="ignore"):
        coupled = np.linalg.pinv(hessian[np.ix_(rest, rest)], rcond=1e-10) @ hessian[rest, index]
    moved[rest] -= coupled * change
    moved[index] = new
    return moved


@dataclass(frozen=True)
class CoxFit:
    """Coefficients and the log-likelihoods gained by freeing them.

    Attributes
    ----------
    intercepts, slopes, in_the_large : coefficients with intervals
    gain_intercepts : twice the log-likelihood gained by free intercepts, slopes being 1
    gain_slopes : ... and what free slopes add to it
    df_intercepts, df_slopes : how many directions of each the data identify
    notes : statistical doubts
    """

    intercepts: tuple[Coefficient, ...]
    slopes: tuple[Coefficient, ...]
    in_the_large: tuple[Coefficient, ...]
    gain_intercepts: float
    gain_slopes: float
    df_intercepts: int
    df_slopes: int
    notes: tuple[str, ...]


def unknown(name: str) -> Coefficient:
    """Return a coefficient the data say nothing about."""
    return Coefficient(name=name, estimate=None, standard_error=None, low=-math.inf, high=math.inf)


INTERCEPT, SLOPE, IN_THE_LARGE = "intercept", "slope", "in the large"


@dataclass(frozen=True)
class _Escape:
    """How the likelihood of separated outcomes rises for ever.

    `slope` is the infinite estimate (None: any slope will do); the intercept may go `up`, `down`,
    both (then nothing is known about it) or stay where it is.
    """

    slope: float | None
    up: bool
    down: bool


def clipped_log_odds(p: FloatArray, clip: float = 1e-12) -> FloatArray:
    """Log-odds of probabilities kept away from 0 and 1."""
    inside = p.astype(np.float64).clip(clip, 1 - clip)
    return np.log(inside / (1 - inside))


def fit_binary(sample: BinarySample, clip: float, z: float) -> CoxFit:
    """Fit both models and find the intervals; `z` is the normal quantile of their level."""
    x = clipped_log_odds(sample.p, clip)
    weight = likelihood_weight(sample)
    happened = sample.y == 1
    positive, negative = np.where(happened, weight, 0.0), np.where(happened, 0.0, weight)
    ones = np.ones((1, len(x)))
    shift = binary_objective(ones, positive, negative, offset=x)
    null = shift(np.zeros(1))[0]
    level = newton_by_decrement(shift, np.zeros(1))
    one_class = _one_class(happened)
    large = _coefficient(
        IN_THE_LARGE, shift, level, 0, z, up=one_class == math.inf, down=one_class == -math.inf
    )
    gain = 2 * max(null - level.value, 0.0)
    if x.min() == x.max():
        note = "all predictions are equal, so there is no slope: only the intercept is tested"
        return CoxFit((unknown(INTERCEPT),), (unknown(SLOPE),), (large,), gain, 0.0, 1, 0, (note,))
    objective = binary_objective(np.vstack([ones, x]), positive, negative)
    fit = newton_by_decrement(
        objective, np.array([level.parameters[0] if one_class == 0 else 0.0, 1.0])
    )
    escape = _find_escape(x, happened)
    notes = _notes(escape, one_class, sample, fit, x, weight, clip)
    slope_up = escape is not None and escape.slope != -math.inf
    slope_down = escape is not None and escape.slope != math.inf
    return CoxFit(
        intercepts=(
            _coefficient(
                INTERCEPT,
                objective,
                fit,
                0,
                z,
                up=escape is not None and escape.up,
                down=escape is not None and escape.down,
            ),
        ),
        slopes=(_coefficient(SLOPE, objective, fit, 1, z, up=slope_up, down=slope_down),),
        in_the_large=(large,),
        gain_intercepts=gain,
        gain_slopes=2 * max(level.value - fit.value, 0.0),
        df_intercepts=1,
        df_slopes=1,
        notes=notes,
    )


def _one_class(happened: BoolArray) -> float:
    """Sign of infinity where the intercept goes if all outcomes are the same, else 0."""
    if happened.all():
        return math.inf
    return 0.0 if happened.any() else -math.inf


def _coefficient(
    name: str, objective: Objective, fit: NewtonFit, index: int, z: float, *, up: bool, down: bool
) -> Coefficient:
    """Estimate and profile interval; `up` and `down`: the likelihood never falls there."""
    ends = {-1: -math.inf, 1: math.inf}
    if up or down:
        estimate = None if up and down else math.inf if up else -math.inf
        start = np.array([0.0, 1.0][: len(fit.parameters)])  # calibrated
        for side, free in ((-1, down), (1, up)):
            if not free:
                ends[side] = profile_limit(objective, fit.value, start, index, side=side, z=z)
        return Coefficient(
            name=name, estimate=estimate, standard_error=None, low=ends[-1], high=ends[1]
        )
    best = float(fit.parameters[index])
    error = _standard_error(fit.hessian, index)
    for side in ends:
        start = along(fit.hessian, index, fit.parameters, best + side * z * error)
        ends[side] = profile_limit(objective, fit.value, start, index, side=side, z=z, inside=best)
    return Coefficient(name=name, estimate=best, standard_error=error, low=ends[-1], high=ends[1])


def _standard_error(hessian: FloatArray, index: int) -> float:
    """Root of a diagonal element of the inverse information."""
    if len(hessian) == 1:
        return 1 / math.sqrt(float(hessian[0, 0]))
    (aa, ab), (_, bb) = hessian
    left = (aa - ab * ab / bb) if index == 0 else (bb - ab * ab / aa)
    return 1 / math.sqrt(left)


def _find_escape(x: FloatArray, happened: BoolArray) -> _Escape | None:
    """Return how the likelihood rises for ever, None if there is a finite maximum.

    A threshold on x that no pair of outcomes contradicts is what separation means for one
    covariate (Albert & Anderson 1984, doi 10.1093/biomet/71.1.1); exact comparisons.
    """
    one_class = _one_class(happened)
    if one_class != 0:
        # Beside the intercept alone, a steep enough slope does it if no x has the other sign.
        either = bool(x.min() > 0 or x.max() < 0)
        return _Escape(None, up=one_class > 0 or either, down=one_class < 0 or either)
    ones, zeros = x[happened], x[~happened]
    if zeros.max() <= ones.min():
        return _Escape(math.inf, up=bool(zeros.max() < 0), down=bool(ones.min() > 0))
    if ones.max() <= zeros.min():
        return _Escape(-math.inf, up=bool(zeros.min() > 0), down=bool(ones.max() < 0))
    return None


def _notes(
    escape: _Escape | None,
    one_class: float,
    sample: BinarySample,
    fit: NewtonFit,
    x: FloatArray,
    weight: FloatArray,
    clip: float,
) -> tuple[str, ...]:
    notes = []
    if one_class != 0:
        notes.append("only one class occurred, so the intercept is infinite and the slope unknown")
    elif escape is not None:
        notes.append(
            "a threshold on the predictions separates the outcomes, so the slope is infinite"
        )
    moved = np.flatnonzero((sample.p < clip) | (sample.p > 1 - clip))
    if len(moved):
        from scipy.special import expit

        fitted = expit(fit.parameters[0] + fit.parameters[1] * x[moved])
        pull = float(weight[moved] @ (np.abs(x[moved]) * np.abs(sample.y[moved] - fitted)))
        if pull > 1e-3 * math.sqrt(float(fit.hessian[1, 1])):
            notes.append(
                f"{len(moved)} predictions within {clip:g} of 0 or 1 were clipped, and the"
                " result depends on where"
            )
    return tuple(notes)


_CLIP = 1e-12
_WIDEST = 28.0  # log-odds of the clip, rounded up
_N_CELLS = 1 << 12
_EXACT_UP_TO = 1 << 15


class Recalibration(NamedTuple):
    """Coefficients of Cox's regression of the outcomes on the log-odds of the predictions."""

    slope: Coefficient
    in_the_large: Coefficient


def recalibration_line(sample: BinarySample, confidence_level: float) -> Recalibration:
    """Return what `cox_test` finds, without testing.

    Beyond 32,768 rows those with log-odds within 0.014 of each other are fitted as one, which
    moves coefficients by far less than their standard error.
    """
    from scipy.special import ndtri

    fit = fit_binary(
        in_cells(sample),
        _CLIP,
        float(ndtri((1 + confidence_level) / 2)),
    )
    return Recalibration(fit.slopes[0], fit.in_the_large[0])


def in_cells(sample: BinarySample) -> BinarySample:
    """Rows that stand for all; those there are, if they are not very many."""
    if sample.n <= _EXACT_UP_TO:
        return sample
    p = sample.p.astype(np.float64, copy=False).clip(_CLIP, 1 - _CLIP)
    odds = np.log(p / (1 - p))
    cell = ((odds + _WIDEST) * (_N_CELLS / (2 * _WIDEST))).astype(np.intp)
    weight = likelihood_weight(sample)

    def by_cell(values: FloatArray) -> FloatArray:
        return np.bincount(cell, weights=values, minlength=_N_CELLS).astype(np.float64)

    total, positive = by_cell(weight), by_cell(weight * sample.y)
    held = total > 0
    mean = by_cell(weight * p)[held] / total[held]
    # A count that rounding leaves below zero is none.
    outcomes = np.concatenate([positive[held], np.maximum(total[held] - positive[held], 0.0)])
    y = np.repeat([1, 0], len(mean))
    rows = outcomes > 1e-9
    return BinarySample(
        y=y[rows], p=np.tile(mean, 2)[rows], weight=outcomes[rows], weight_type="frequency"
    )
