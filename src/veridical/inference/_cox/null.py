"""Likelihood-ratio statistics of binary outcomes drawn from the predictions themselves."""

from __future__ import annotations

import numpy as np

from veridical._core.data.randomness import Draws
from veridical._core.resampling.hypothesis import redraw_of
from veridical._core.resampling.redraw import Redraw, most_draws
from veridical._core.resampling.rows import counts_outcomes, counts_rows, likelihood_weight
from veridical._core.sample import BinarySample
from veridical._core.typing import FloatArray
from veridical.inference._draws.trials import Trials

_BLOCK_VALUES = 1 << 20
_MAX_STEPS = 100


def _trials_of(sample: BinarySample) -> Trials:
    """Equal predictions pooled where weights count outcomes, else the rows in order."""
    weight = likelihood_weight(sample)
    if counts_outcomes(sample):
        order = np.argsort(sample.p, kind="stable")
        p = sample.p[order]
        starts = np.flatnonzero(np.concatenate([[True], p[1:] != p[:-1]]))
        total = np.add.reduceat(weight[order], starts)
        return Trials(p[starts].astype(np.float64), total)
    order = np.lexsort((weight, sample.p))
    return Trials(sample.p[order].astype(np.float64), weight=weight[order])


def null_statistics(
    sample: BinarySample, clip: float, n_resamples: int, rng: np.random.Generator
) -> FloatArray:
    """Joint likelihood-ratio statistics of (intercept, slope) = (0, 1) on drawn outcomes.

    Outcomes matter only through the sum of outcomes and of outcomes times log-odds, so all
    resamples of a block are fitted together. Time O(n_resamples n), memory in blocks.
    """
    redraw = redraw_of(sample)
    if redraw is not None:
        return _redrawn_statistics(redraw, sample, clip, Draws(n_resamples, rng))
    trials = _trials_of(sample)
    p, weight = trials.p.clip(clip, 1 - clip), trials.mass
    x = np.log(p / (1 - p))
    columns = np.stack([np.ones(len(x)), x])
    statistics = np.empty(n_resamples)
    step = max(1, _BLOCK_VALUES // len(x))
    for first in range(0, n_resamples, step):
        size = min(step, n_resamples - first)
        sums = trials.draw_successes(size, rng) @ columns.T
        statistics[first : first + size] = likelihood_ratios(x, weight, sums)
    return statistics


def _redrawn_statistics(
    redraw: Redraw, sample: BinarySample, clip: float, draws: Draws
) -> FloatArray:
    """The same where rows are weighted by outcome or belong together: residuals are drawn."""
    rows = sample.take(redraw.rows)
    p = redraw.p[:, 1].clip(clip, 1 - clip)
    x = np.log(p / (1 - p))
    columns = np.stack([np.ones(len(x)), x])
    weight = np.ones(redraw.n) if counts_rows(sample) else likelihood_weight(rows)
    scale = 1.0 if rows.weight is None or counts_rows(sample) else float(weight[0] / rows.weight[0])
    residual = scale * redraw.residuals
    statistics = []
    for y in redraw.outcomes(most_draws(draws, redraw.n), "Monte-Carlo null of Cox's test"):
        drawn = residual[np.arange(redraw.n), y] @ columns.T
        statistics.append(likelihood_ratios(x, weight, drawn + columns @ (weight * p)))
    return np.concatenate(statistics)


def likelihood_ratios(x: FloatArray, weight: FloatArray, sums: FloatArray) -> FloatArray:
    """Twice the gain in log-likelihood over (0, 1), for each row of sufficient sums.

    Parameters
    ----------
    x, weight : arrays of shape (n,)
        Log-odds of the predictions and weights of the rows.
    sums : array of shape (R, 2)
        Weighted sum of the outcomes, and of outcomes times `x`.
    """
    at = np.tile([0.0, 1.0], (len(sums), 1))
    value, gradient, hessian = _evaluate(x, weight, sums, at)
    start = value.copy()
    active = np.arange(len(sums))
    for _ in range(_MAX_STEPS):
        step = _steps(gradient, hessian)
        decrease = -(gradient * step).sum(axis=1)
        going = decrease > 1e-12
        if not going.any():
            break
        active, step, decrease = active[going], step[going], decrease[going]
        length = np.ones(len(active))
        tried = at[active] + step
        new, gradient, hessian = _evaluate(x, weight, sums[active], tried)
        worse = new > value[active] - 1e-4 * decrease + 1e-12 * np.abs(value[active])
        while worse.any() and length.min() > 1e-9:
            length[worse] /= 2
            tried[worse] = at[active[worse]] + length[worse, None] * step[worse]
            found = _evaluate(x, weight, sums[active[worse]], tried[worse])
            new[worse], gradient[worse], hessian[worse] = found
            worse = new > value[active] - 1e-4 * length * decrease + 1e-12 * np.abs(value[active])
        at[active], value[active] = tried, new
    return np.asarray(2 * np.maximum(start - value, 0.0))


def _evaluate(
    x: FloatArray, weight: FloatArray, sums: FloatArray, at: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    t = at[:, :1] + at[:, 1:] * x
    size = np.abs(t)
    small = np.exp(-size)
    value = (np.log1p(small) + np.maximum(t, 0)) @ weight - (at * sums).sum(axis=1)
    lesser = small / (1 + small)
    p = np.where(t >= 0, 1 - lesser, lesser)
    variance = lesser * (1 - lesser)
    wx = weight * x
    gradient = p @ np.stack([weight, wx], axis=1) - sums
    hessian = variance @ np.stack([weight, wx, wx * x], axis=1)
    return value, gradient, hessian


def _steps(gradient: FloatArray, hessian: FloatArray) -> FloatArray:
    """Newton steps of two parameters; along a flat direction none."""
    aa, ab, bb = hessian.T
    determinant = aa * bb - ab * ab
    solvable = determinant > 1e-13 * aa * bb
    safe = np.where(solvable, determinant, 1.0)
    step = (
        -np.stack(
            [bb * gradient[:, 0] - ab * gradient[:, 1], aa * gradient[:, 1] - ab * gradient[:, 0]],
            axis=1,
        )
        / safe[:, None]
    )
    # Equal predictions: only their common log-odds can move.
    shift = np.where(aa > 0, -gradient[:, 0] / np.where(aa > 0, aa, 1.0), 0.0)
    only = np.stack([shift, np.zeros(len(aa))], axis=1)
    return np.asarray(np.where(solvable[:, None], step, only))
