"""Estimates of class priors together with their limits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veridical._core.sample import Sample, effective_size
from veridical._core.typing import FloatArray
from veridical.decisions._prior_bbse import normal_votes, solve_priors
from veridical.decisions._prior_doubts import confusion_doubts, likelihood_doubts
from veridical.decisions._prior_em import edge_limit, fit_priors, normal_priors
from veridical.decisions._prior_em_many import fit_priors_many
from veridical.decisions._prior_limits import bootstrap_limits, chi_square_half, normal_limits
from veridical.decisions._prior_units import make_units
from veridical.exceptions import invalid

_SINGULAR = 1e-8


@dataclass(frozen=True, kw_only=True)
class IntervalPlan:
    """What weights mean, and how limits are found: without resamples analytically."""

    frequency: bool
    n_resamples: int | None
    level: float
    rng: np.random.Generator


@dataclass(frozen=True, kw_only=True)
class FittedPriors:
    """Priors, limits, steps taken if any, and doubts."""

    priors: FloatArray
    low: FloatArray
    high: FloatArray
    iterations: int | None
    notes: list[str]


def by_likelihood(
    p: FloatArray,
    weight: FloatArray | None,
    train: FloatArray,
    reference: Sample | None,
    plan: IntervalPlan,
) -> FittedPriors:
    """Priors of largest likelihood; `reference` is what `train` was counted in, if it was."""
    row_weight = np.ones(len(p)) if weight is None else weight
    share = row_weight / row_weight.sum()
    fit = fit_priors(p, share, train)
    normal = normal_priors(
        fit,
        p,
        row_weight,
        train,
        frequency=plan.frequency or weight is None,
        reference_size=None if reference is None else reference.size,
    )
    if plan.n_resamples is None or normal is None:
        low, high = normal_limits(normal, len(train), plan.level)
    else:
        deployed = make_units(p, None, weight, frequency=plan.frequency, hard=False, pool=True)
        counted = None
        if reference is not None:  # only its class shares matter
            classes = np.eye(len(train))[reference.index]
            counted = make_units(
                classes, None, reference.weight, frequency=plan.frequency, hard=True, pool=True
            )

        def estimate(drawn: FloatArray, drawn_reference: FloatArray) -> FloatArray:
            shares = np.tile(train, (len(drawn), 1))
            if counted is not None:
                rows = np.maximum(drawn_reference @ counted.table, 0.5)  # never quite without
                shares = rows / rows.sum(axis=1, keepdims=True)
            return fit_priors_many(deployed.table, drawn, shares, fit.priors)

        low, high = bootstrap_limits(
            estimate,
            deployed,
            counted,
            n_resamples=plan.n_resamples,
            level=plan.level,
            rng=plan.rng,
        )
    size = effective_size(weight, len(p), "frequency" if plan.frequency else "importance")
    drop = chi_square_half(plan.level) / size
    for k in np.flatnonzero(fit.priors == 0):  # resamples alone would say 0 to 0
        high[k] = max(high[k], edge_limit(p, share, train, fit.priors, int(k), drop))
    if fit.priors.max() == 1:
        sure = int(fit.priors.argmax())
        low[sure] = min(low[sure], 1 - np.delete(high, sure).max())
    notes = likelihood_doubts(fit.violation, identified=normal is not None)
    return FittedPriors(priors=fit.priors, low=low, high=high, iterations=fit.n_iter, notes=notes)


def by_confusion(
    p: FloatArray,
    weight: FloatArray | None,
    reference: Sample,
    plan: IntervalPlan,
    *,
    hard: bool,
    caller: str,
) -> FittedPriors:
    """Priors that solve the confusion matrix of the reference for the votes in deployment."""
    pool = plan.n_resamples is not None
    deployed = make_units(p, None, weight, frequency=plan.frequency, hard=hard, pool=pool)
    labelled = make_units(
        reference.matrix,
        reference.index,
        reference.weight,
        frequency=plan.frequency,
        hard=hard,
        pool=pool,
    )
    fit = solve_priors(deployed, deployed.total, labelled, labelled.total)
    singular = np.linalg.svd(fit.confusion, compute_uv=False)
    if singular[-1] < _SINGULAR:
        hint = 'use method="bbse_soft" or "em", or merge classes the model does not tell apart.'
        got = "a singular confusion matrix"
        raise invalid(caller, "reference", "one that tells all classes apart", got, hint=hint)
    if plan.n_resamples is None:
        normal = normal_votes(fit, deployed, labelled)
        low, high = normal_limits(normal, p.shape[1], plan.level)
    else:
        low, high = bootstrap_limits(
            lambda drawn, again: solve_priors(deployed, drawn, labelled, again).priors,
            deployed,
            labelled,
            n_resamples=plan.n_resamples,
            level=plan.level,
            rng=plan.rng,
        )
    notes = confusion_doubts(singular, fit.solution)
    return FittedPriors(priors=fit.priors, low=low, high=high, iterations=None, notes=notes)
