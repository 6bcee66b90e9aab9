"""Intercept and slope of one binary problem."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from veridical._core.logistic import Fit, Objective, binary_objective, newton
from veridical._core.sample import BinarySample
from veridical._core.typing import BoolArray, FloatArray
from veridical.inference._cox_fit import CoxFit, unknown
from veridical.inference._likelihood import likelihood_weight
from veridical.inference._profile import along, profile_limit
from veridical.results import Coefficient

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


def fit_binary(sample: BinarySample, clip: float, z: float) -> CoxFit:
    """Fit both models and find the intervals; `z` is the normal quantile of their level."""
    p = sample.p.astype(np.float64).clip(clip, 1 - clip)
    x = np.log(p / (1 - p))
    weight = likelihood_weight(sample)
    happened = sample.y == 1
    positive, negative = np.where(happened, weight, 0.0), np.where(happened, 0.0, weight)
    ones = np.ones((1, len(x)))
    shift = binary_objective(ones, positive, negative, offset=x)
    null = shift(np.zeros(1))[0]
    level = newton(shift, np.zeros(1))
    one_class = _one_class(happened)
    large = _coefficient(
        IN_THE_LARGE, shift, level, 0, z, up=one_class == math.inf, down=one_class == -math.inf
    )
    gain = 2 * max(null - level.value, 0.0)
    if x.min() == x.max():
        note = "all predictions are equal, so there is no slope: only the intercept is tested"
        return CoxFit((unknown(INTERCEPT),), (unknown(SLOPE),), (large,), gain, 0.0, 1, 0, (note,))
    objective = binary_objective(np.vstack([ones, x]), positive, negative)
    fit = newton(objective, np.array([level.parameters[0] if one_class == 0 else 0.0, 1.0]))
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
    name: str, objective: Objective, fit: Fit, index: int, z: float, *, up: bool, down: bool
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
    fit: Fit,
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
