"""Intercepts and slopes of a problem with several classes."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal, TypeAlias

import numpy as np

from veridical._core.data.randomness import Draws
from veridical._core.numeric.logistic import (
    NewtonFit,
    Objective,
    Terms,
    escapes,
    looks_separated,
    multinomial_objective,
    newton_by_decrement,
)
from veridical._core.resampling.hypothesis import redraw_of
from veridical._core.resampling.redraw import Redraw, drawn_samples, most_draws
from veridical._core.resampling.rows import counts_outcomes, likelihood_weight
from veridical._core.runtime.progress import track
from veridical._core.sample import MulticlassSample
from veridical._core.typing import BoolArray, FloatArray, IntArray
from veridical.inference._cox.binary import CoxFit, unknown
from veridical.results import Coefficient

Slopes: TypeAlias = Literal["common", "diagonal", "matrix"]

_MOST_MARGINS = 20_000_000  # values of the programme that looks for separation


class _Model:
    """Logits against the first class: log(P_k / P_0) = a_k + sum_j B_kj log(p_j / p_0)."""

    def __init__(self, p: FloatArray, clip: float, slopes: Slopes) -> None:
        self.log_p = np.log(p.astype(np.float64).clip(clip, 1.0))
        n, self.n_classes = p.shape
        self.n_intercepts = self.n_classes - 1
        x = (self.log_p[:, 1:] - self.log_p[:, :1]).T
        self.columns = np.ascontiguousarray(np.vstack([np.ones(n), x]))
        others = range(1, self.n_classes)
        column, label, parameter = [0] * self.n_intercepts, list(others), [k - 1 for k in others]
        self.levels = Terms(column, label, parameter)
        start: list[float] = []
        for k in others:
            for j in others if slopes == "matrix" else (k,):
                column, label = [*column, j], [*label, k]
                shared = slopes == "common"
                parameter = [*parameter, self.n_intercepts + (0 if shared else len(start))]
                if not (shared and start):
                    start.append(float(j == k))
        self.terms = Terms(column, label, parameter)
        self.identity = np.array(start)

    def free_levels(self, y: IntArray, weight: FloatArray) -> Objective:
        """Negative log-likelihood of the intercepts, slopes being the identity."""
        return multinomial_objective(self.columns[:1], self.levels, y, weight, self.log_p)

    def free_slopes(self, y: IntArray, weight: FloatArray) -> Objective:
        """Negative log-likelihood of intercepts and slopes."""
        none = np.zeros_like(self.log_p)
        return multinomial_objective(self.columns, self.terms, y, weight, none)

    def start(self, levels: FloatArray) -> FloatArray:
        """Parameters with slopes of the identity."""
        return np.concatenate([levels, self.identity])

    def n_slopes(self) -> int:
        """How many directions of the slopes the predictions identify."""
        centred = self.columns[1:] - self.columns[1:].mean(axis=1, keepdims=True)
        varies = np.ptp(self.columns[1:], axis=1) > 0
        if len(self.identity) == 1:
            return int(varies.any())
        if len(self.identity) == self.n_intercepts:
            return int(varies.sum())
        centred[~varies] = 0.0
        scale = np.sqrt((centred**2).mean(axis=1, keepdims=True))
        centred /= np.where(scale > 0, scale, 1.0)
        rank = np.linalg.matrix_rank(centred @ centred.T / centred.shape[1], tol=1e-9)
        return int(rank) * self.n_intercepts

    def margins(self, y: IntArray) -> FloatArray:
        """Change of the logit of the class that occurred minus that of each that did not."""
        design = np.zeros((len(y), self.n_classes, self.terms.map.shape[1]))
        for column, label, parameter in zip(
            self.terms.column, self.terms.label, self.terms.parameter, strict=True
        ):
            design[:, label, parameter] += self.columns[column]
        ahead = design[np.arange(len(y)), y][:, None, :] - design
        happened = y[:, None] == np.arange(self.n_classes)
        return np.asarray(ahead[~happened])

    def spread(self, weight: FloatArray) -> FloatArray:
        """Weights times squares of what multiplies each parameter."""
        squares = (weight * self.columns**2).sum(axis=1)
        share = self.terms.map
        return np.diag(share.T @ squares[list(self.terms.column)])


def fit_multinomial(sample: MulticlassSample, clip: float, z: float, slopes: Slopes) -> CoxFit:
    """Fit both models; Wald intervals, `z` being the normal quantile of their level."""
    model = _Model(sample.p, clip, slopes)
    weight = likelihood_weight(sample)
    level_objective = model.free_levels(sample.y, weight)
    null = level_objective(np.zeros(model.n_intercepts))[0]
    level = newton_by_decrement(level_objective, np.zeros(model.n_intercepts))
    present = np.bincount(sample.y, minlength=model.n_classes) > 0
    objective = model.free_slopes(sample.y, weight)
    fit = newton_by_decrement(
        objective, model.start(level.parameters if present.all() else level.parameters * 0)
    )
    names = _names(sample.classes, slopes)
    notes = []
    n_slopes = model.n_slopes()
    escape = None
    if looks_separated(fit, model.spread(weight)):
        if sample.n * model.n_intercepts * len(fit.parameters) <= _MOST_MARGINS:
            escape = escapes(model.margins(sample.y))
        else:
            notes.append("the likelihood is nearly flat, so coefficients may be infinite")
    if not present.all():
        absent = ", ".join(
            repr(c) for c, there in zip(sample.classes, present, strict=True) if not there
        )
        notes.append(f"classes that never occurred: {absent}; coefficients are infinite")
    elif escape is not None:
        notes.append("the outcomes are separated, so coefficients are infinite")
    if n_slopes < len(model.identity):
        notes.append(
            f"the predictions identify {n_slopes} of {len(model.identity)} slopes, and"
            " so many are tested"
        )
        known = [unknown(name) for name in names]
    else:
        known = _coefficients(names, fit, escape, z)
    if _pull(model, sample, fit, weight, clip):
        notes.append(f"predictions below {clip:g} were clipped, and the result depends on where")
    # Slopes being fixed, an intercept is infinite where its class or the reference is absent.
    rising, falling = np.full(model.n_intercepts, not present[0]), ~present[1:]
    bounds = (rising, falling)
    return CoxFit(
        intercepts=tuple(known[: model.n_intercepts]),
        slopes=tuple(known[model.n_intercepts :]),
        in_the_large=tuple(_coefficients(names[: model.n_intercepts], level, bounds, z)),
        gain_intercepts=2 * max(null - level.value, 0.0),
        gain_slopes=2 * max(level.value - fit.value, 0.0),
        df_intercepts=model.n_intercepts,
        df_slopes=n_slopes,
        notes=tuple(notes),
    )


def null_statistics(
    sample: MulticlassSample,
    clip: float,
    slopes: Slopes,
    n_resamples: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Joint likelihood-ratio statistics of outcomes drawn from the predictions."""
    redraw = redraw_of(sample)
    if redraw is not None:
        return _redrawn_statistics(redraw, sample, clip, slopes, Draws(n_resamples, rng))
    weight = likelihood_weight(sample)
    order = np.lexsort((weight, *sample.p.T))  # row order must not matter
    if counts_outcomes(sample):
        order = np.repeat(order, weight[order].astype(np.intp))
        weight = np.ones(len(order))
    else:
        weight = weight[order]
    p = sample.p[order]
    cumulated = np.cumsum(p, axis=1, dtype=np.float64)
    cumulated /= cumulated[:, -1:]
    model = _Model(p, clip, slopes)
    calibrated = model.start(np.zeros(model.n_intercepts))
    statistics = np.empty(n_resamples)
    for index in track(n_resamples, "Monte-Carlo null of Cox's test"):
        y = (rng.random(len(p))[:, None] >= cumulated[:, :-1]).sum(axis=1)
        objective = model.free_slopes(y, weight)
        best = newton_by_decrement(objective, calibrated, tolerance=1e-5)
        statistics[index] = 2 * (objective(calibrated)[0] - best.value)
    return statistics


def _redrawn_statistics(
    redraw: Redraw, sample: MulticlassSample, clip: float, slopes: Slopes, draws: Draws
) -> FloatArray:
    """The same where rows are weighted by outcome or belong together."""
    model = _Model(sample.p[redraw.rows], clip, slopes)
    calibrated = model.start(np.zeros(model.n_intercepts))
    statistics = []
    some = most_draws(draws, redraw.n)
    for drawn in drawn_samples(redraw, sample, some, "Monte-Carlo null of Cox's test"):
        objective = model.free_slopes(drawn.y, likelihood_weight(drawn))
        best = newton_by_decrement(objective, calibrated, tolerance=1e-5)
        statistics.append(2 * (objective(calibrated)[0] - best.value))
    return np.array(statistics)


def _names(classes: tuple[object, ...], slopes: Slopes) -> list[str]:
    reference, *others = classes
    names = [f"intercept of {k!r} against {reference!r}" for k in others]
    if slopes == "common":
        return [*names, "slope"]
    if slopes == "diagonal":
        return names + [f"slope of {k!r} against {reference!r}" for k in others]
    return names + [f"slope of {k!r} on {j!r}" for k in others for j in others]


def _coefficients(
    names: list[str], fit: NewtonFit, escape: tuple[BoolArray, BoolArray] | None, z: float
) -> list[Coefficient]:
    """Estimates and Wald intervals; infinite where the likelihood rises for ever."""
    scale = 1 / np.sqrt(np.maximum(np.diag(fit.hessian), 1e-300))
    inverse = np.linalg.pinv(fit.hessian * scale * scale[:, None], rcond=1e-12, hermitian=True)
    errors = np.sqrt(np.maximum(np.diag(inverse), 0.0)) * scale
    found = []
    for index, name in enumerate(names):
        coefficient = unknown(name)
        up, down = (False, False) if escape is None else (escape[0][index], escape[1][index])
        if up != down:
            coefficient = replace(coefficient, estimate=math.inf if up else -math.inf)
        elif not up:
            estimate, error = float(fit.parameters[index]), float(errors[index])
            coefficient = Coefficient(
                name=name,
                estimate=estimate,
                standard_error=error,
                low=estimate - z * error,
                high=estimate + z * error,
            )
        found.append(coefficient)
    return found


def _pull(
    model: _Model, sample: MulticlassSample, fit: NewtonFit, weight: FloatArray, clip: float
) -> bool:
    """Whether clipped rows pull at the slopes by a thousandth of a standard error or more."""
    rows = np.flatnonzero((sample.p < clip).any(axis=1))
    if not len(rows):
        return False
    beta = model.terms.map @ fit.parameters
    logits = np.zeros((len(rows), model.n_classes))
    for column, label, b in zip(model.terms.column, model.terms.label, beta, strict=True):
        logits[:, label] += b * model.columns[column, rows]
    logits -= logits.max(axis=1, keepdims=True)
    fitted = np.exp(logits)
    missed = 1 - fitted[np.arange(len(rows)), sample.y[rows]] / fitted.sum(axis=1)
    reach = np.abs(model.columns[1:, rows]).max(axis=0)
    # Where all is certain there is no curvature but for rounding, of either sign.
    curvature = max(float(np.diag(fit.hessian)[model.n_intercepts :].max()), 0.0)
    return bool(weight[rows] @ (reach * missed) > 1e-3 * math.sqrt(curvature))
