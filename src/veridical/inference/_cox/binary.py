"""Intercept and slope of one binary problem, their intervals, and what freeing them gains."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from veridical._core.numeric.logistic import NewtonFit, binary_objective, newton_by_decrement
from veridical._core.resampling.rows import likelihood_weight
from veridical._core.sample import BinarySample
from veridical._core.typing import BoolArray, FloatArray
from veridical.inference._cox.limits import Line, line_limits
from veridical.inference._intervals.rows import Rows, rows_of
from veridical.results import Coefficient


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


def fit_binary(
    sample: BinarySample, clip: float, level: float, rows: Rows, *, with_intercept: bool = True
) -> CoxFit:
    """Fit both models, and find limits of this confidence level from the same rows."""
    x = clipped_log_odds(sample.p, clip)
    weight = likelihood_weight(sample)
    happened = sample.y == 1
    positive, negative = np.where(happened, weight, 0.0), np.where(happened, 0.0, weight)
    ones = np.ones((1, len(x)))
    shift = binary_objective(ones, positive, negative, offset=x)
    null = shift(np.zeros(1))[0]
    shifted = newton_by_decrement(shift, np.zeros(1))
    one_class = _one_class(happened)
    large = _Estimate(shifted, 0, up=one_class == math.inf, down=one_class == -math.inf)
    gain = 2 * max(null - shifted.value, 0.0)
    odds = clipped_log_odds(rows.p, clip)
    if x.min() == x.max():
        note = "all predictions are equal, so there is no slope: only the intercept is tested"
        limits = line_limits(rows, odds, Line(None, None, large.value), level)
        found = large.coefficient(IN_THE_LARGE, limits.in_the_large)
        return CoxFit((unknown(INTERCEPT),), (unknown(SLOPE),), (found,), gain, 0.0, 1, 0, (note,))
    objective = binary_objective(np.vstack([ones, x]), positive, negative)
    start = shifted.parameters[0] if one_class == 0 else 0.0
    fit = newton_by_decrement(objective, np.array([start, 1.0]))
    escape = _find_escape(x, happened)
    intercept, slope = _Estimate(fit, 0), _Estimate(fit, 1)
    if escape is not None:
        intercept = _Estimate(fit, 0, up=escape.up, down=escape.down)
        slope = _Estimate(fit, 1, up=escape.slope != -math.inf, down=escape.slope != math.inf)
    line = Line(slope.value, intercept.value, large.value)
    limits = line_limits(rows, odds, line, level, with_intercept=with_intercept)
    return CoxFit(
        intercepts=(intercept.coefficient(INTERCEPT, limits.intercept),),
        slopes=(slope.coefficient(SLOPE, limits.slope),),
        in_the_large=(large.coefficient(IN_THE_LARGE, limits.in_the_large),),
        gain_intercepts=gain,
        gain_slopes=2 * max(shifted.value - fit.value, 0.0),
        df_intercepts=1,
        df_slopes=1,
        notes=_notes(escape, one_class, sample, fit, x, weight, clip),
    )


def _one_class(happened: BoolArray) -> float:
    """Sign of infinity where the intercept goes if all outcomes are the same, else 0."""
    if happened.all():
        return math.inf
    return 0.0 if happened.any() else -math.inf


@dataclass(frozen=True)
class _Estimate:
    """A fitted coefficient; the likelihood never falls where it goes `up`, or `down`."""

    fit: NewtonFit
    index: int
    up: bool = False
    down: bool = False

    @property
    def value(self) -> float | None:
        """The estimate; infinite where the likelihood rises for ever, None if either way."""
        if self.up or self.down:
            return None if self.up and self.down else math.inf if self.up else -math.inf
        return float(self.fit.parameters[self.index])

    def coefficient(self, name: str, limits: tuple[float, float]) -> Coefficient:
        """With its limits, which hold the estimate."""
        low, high = limits
        if self.up or self.down:
            low, high = -math.inf if self.down else low, math.inf if self.up else high
            return Coefficient(
                name=name, estimate=self.value, standard_error=None, low=low, high=high
            )
        best = float(self.fit.parameters[self.index])
        return Coefficient(
            name=name,
            estimate=best,
            standard_error=_standard_error(self.fit.hessian, self.index),
            low=min(low, best),
            high=max(high, best),
        )


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
_EXACT_UP_TO = 1 << 15


class Recalibration(NamedTuple):
    """Coefficients of Cox's regression of the outcomes on the log-odds of the predictions."""

    slope: Coefficient
    in_the_large: Coefficient


def recalibration_line(
    sample: BinarySample, confidence_level: float, rows: Rows | None = None
) -> Recalibration:
    """Return what `cox_test` finds, without testing; of very many rows by cells of log-odds."""
    rows = rows_of(sample) if rows is None else rows
    if sample.n > _EXACT_UP_TO:
        sample = BinarySample(
            y=rows.y.astype(np.intp), p=rows.p, weight=rows.total, weight_type="frequency"
        )
    fit = fit_binary(sample, _CLIP, confidence_level, rows, with_intercept=False)
    return Recalibration(fit.slopes[0], fit.in_the_large[0])
