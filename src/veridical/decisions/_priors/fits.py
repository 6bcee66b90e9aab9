"""Estimates of class priors with their limits, and reasons to distrust them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from veridical._core.runtime.progress import track
from veridical._core.sample import Sample, effective_size
from veridical._core.typing import FloatArray
from veridical.decisions._priors.em import (
    NormalPriors,
    PooledRows,
    edge_limit,
    fit_priors,
    fit_priors_many,
    normal_priors,
    normal_votes,
    pool_rows,
    solve_priors,
)
from veridical.exceptions import invalid
from veridical.inference.intervals import IntervalOptions

Limits = tuple[FloatArray, FloatArray]

_VALUES = 1 << 19  # weights drawn at once


def bootstrap_prior_limits(
    estimate: Callable[[FloatArray, FloatArray], FloatArray],
    deployed: PooledRows,
    labelled: PooledRows | None,
    options: IntervalOptions,
) -> Limits:
    """Percentile limits; deployment rows and labelled rows are drawn independently.

    `estimate` maps the weights (R, u) of the units of both to priors (R, K).
    """
    assert options.n_resamples is not None
    assert options.rng is not None
    n_resamples, rng = options.n_resamples, options.rng
    units = len(deployed.count) + (0 if labelled is None else len(labelled.count))
    several = max(1, min(n_resamples, _VALUES // units))
    drawn = np.empty((n_resamples, deployed.table.shape[1]))
    for block in track(-(-n_resamples // several), "resampling"):
        rows = drawn[block * several : (block + 1) * several]
        weights = deployed.draw(len(rows), rng)
        again = np.zeros((len(rows), 0)) if labelled is None else labelled.draw(len(rows), rng)
        rows[:] = estimate(weights, again)
    tail = (1 - options.level) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail], axis=0)
    return low, high


def normal_prior_limits(normal: NormalPriors | None, n_classes: int, level: float) -> Limits:
    """Normal limits cut at 0 and 1; the whole range if the priors are not identified."""
    if normal is None:
        return np.zeros(n_classes), np.ones(n_classes)
    reach = np.sqrt(2 * chi_square_half(level) * np.diag(normal.covariance))
    return np.clip(normal.centre - reach, 0, 1), np.clip(normal.centre + reach, 0, 1)


def chi_square_half(level: float) -> float:
    """Half the quantile of a chi-square of one degree: what a log likelihood may fall by."""
    from scipy.special import ndtri

    return float(ndtri((1 + level) / 2)) ** 2 / 2


_FEW_ROWS = 50
_ILL_CONDITIONED = 30.0
_CHANCE = 0.01  # of a false alarm about the mean predictions, over all classes
_UNFINISHED = 1e-6


def size_doubts(size: float) -> list[str]:
    """Too few rows to trust an interval."""
    if size >= _FEW_ROWS:
        return []
    return [f"{size:.3g} rows: intervals of class priors may be too short"]


def calibration_doubts(reference: Sample) -> list[str]:
    """Mean predictions of the reference that are far from its class shares."""
    from scipy.special import ndtri

    p, index, weight = reference.matrix, reference.index, reference.weight
    row_weight = np.ones(reference.n) if weight is None else weight
    total = float(row_weight.sum())
    worst, where = 0.0, 0
    for k in range(p.shape[1]):
        excess = p[:, k].astype(np.float64) - (index == k)
        mean = float(row_weight @ excess) / total
        frequency = weight is None or reference.weight_type == "frequency"
        spread = row_weight @ (excess - mean) ** 2
        if not frequency:
            spread = row_weight**2 @ (excess - mean) ** 2
        error = float(np.sqrt(spread)) / total
        if error > 0 and abs(mean) / error > worst:
            worst, where = abs(mean) / error, k
    if worst <= -float(ndtri(_CHANCE / (2 * p.shape[1]))):
        return []
    return [
        f"predictions of class {reference.columns[where]!r} are off by {worst:.1f} standard errors"
        " on average in the reference; em supposes calibrated ones"
    ]


def likelihood_doubts(violation: float, *, identified: bool) -> list[str]:
    """Whether the likelihood has one largest value, and it was found."""
    notes = []
    if not identified:
        notes.append(
            "predictions do not tell some classes apart, so their priors are not identified and"
            " limits are 0 and 1"
        )
    if violation > _UNFINISHED:
        notes.append(f"the likelihood was maximised only to within {violation:.1e} a row")
    return notes


def confusion_doubts(singular: FloatArray, solution: FloatArray) -> list[str]:
    """Whether the confusion matrix can be inverted safely, and gave shares."""
    notes = []
    condition = float(singular[0] / singular[-1])
    if condition > _ILL_CONDITIONED:
        notes.append(
            f"the confusion matrix is ill-conditioned (condition number {condition:.3g}):"
            " predictions hardly tell some classes apart, and the estimate is mostly noise"
        )
    if solution.min() < 0:
        notes.append(f"a share of {solution.min():.3g} was cut to 0")
    return notes


_SINGULAR = 1e-8


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
    options: IntervalOptions,
    *,
    frequency: bool,
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
        frequency=frequency or weight is None,
        reference_size=None if reference is None else reference.size,
    )
    if options.method == "analytic" or normal is None:
        low, high = normal_prior_limits(normal, len(train), options.level)
    else:
        deployed = pool_rows(p, None, weight, frequency=frequency, hard=False, pool=True)
        counted = None
        if reference is not None:  # only its class shares matter
            classes = np.eye(len(train))[reference.index]
            counted = pool_rows(
                classes, None, reference.weight, frequency=frequency, hard=True, pool=True
            )

        def estimate(drawn: FloatArray, drawn_reference: FloatArray) -> FloatArray:
            shares = np.tile(train, (len(drawn), 1))
            if counted is not None:
                rows = np.maximum(drawn_reference @ counted.table, 0.5)  # never quite without
                shares = rows / rows.sum(axis=1, keepdims=True)
            return fit_priors_many(deployed.table, drawn, shares, fit.weights)

        low, high = bootstrap_prior_limits(estimate, deployed, counted, options)
    size = effective_size(weight, len(p), "frequency" if frequency else "importance")
    drop = chi_square_half(options.level) / size
    for k in np.flatnonzero(fit.weights == 0):  # resamples alone would say 0 to 0
        high[k] = max(high[k], edge_limit(p, share, train, fit.weights, int(k), drop))
    if fit.weights.max() == 1:
        sure = int(fit.weights.argmax())
        low[sure] = min(low[sure], 1 - np.delete(high, sure).max())
    notes = likelihood_doubts(fit.violation, identified=normal is not None)
    return FittedPriors(priors=fit.weights, low=low, high=high, iterations=fit.n_iter, notes=notes)


def by_confusion(
    p: FloatArray,
    weight: FloatArray | None,
    reference: Sample,
    options: IntervalOptions,
    *,
    frequency: bool,
    hard: bool,
    caller: str,
) -> FittedPriors:
    """Priors that solve the confusion matrix of the reference for the votes in deployment."""
    pool = options.method != "analytic"
    deployed = pool_rows(p, None, weight, frequency=frequency, hard=hard, pool=pool)
    labelled = pool_rows(
        reference.matrix,
        reference.index,
        reference.weight,
        frequency=frequency,
        hard=hard,
        pool=pool,
    )
    fit = solve_priors(deployed, deployed.total, labelled, labelled.total)
    singular = np.linalg.svd(fit.confusion, compute_uv=False)
    if singular[-1] < _SINGULAR:
        hint = 'use method="bbse_soft" or "em", or merge classes the model does not tell apart.'
        got = "a singular confusion matrix"
        raise invalid(caller, "reference", "one that tells all classes apart", got, hint=hint)
    if options.method == "analytic":
        normal = normal_votes(fit, deployed, labelled)
        low, high = normal_prior_limits(normal, p.shape[1], options.level)
    else:
        low, high = bootstrap_prior_limits(
            lambda drawn, again: solve_priors(deployed, drawn, labelled, again).priors,
            deployed,
            labelled,
            options,
        )
    notes = confusion_doubts(singular, fit.solution)
    return FittedPriors(priors=fit.priors, low=low, high=high, iterations=None, notes=notes)
