"""Pointwise bands by drawing rows, or outcomes, again and again."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from veridical._core.pooled import PooledScores
from veridical._core.progress import track
from veridical._core.sample import BinarySample
from veridical._core.typing import Array, FloatArray
from veridical.curves._points import Refit

Draw = Callable[[np.random.Generator], PooledScores]

_FEW = 8


def resampled(
    kind: str, sample: BinarySample, refit: Refit, n_resamples: int, rng: np.random.Generator
) -> FloatArray:
    """Frequencies at the points of a curve, (n_resamples, points); NaN where no row was drawn.

    `kind` is "bootstrap" (rows are drawn with replacement and keep their weights) or
    "consistency" (outcomes are drawn from the predictions). Time O(n) a resample.
    """
    if sample.weight is None or sample.weight_type == "frequency":
        draw = _repeated_rows(kind, sample.pooled)
    else:
        draw = _weighted_rows(kind, sample)
    return np.stack([refit(draw(rng)) for _ in track(n_resamples, f"{kind} band")])


def quantiles(draws: FloatArray, otherwise: FloatArray, level: float) -> tuple[FloatArray, ...]:
    """Equal-tailed limits of each column, leaving out NaN; `otherwise` where all of it is NaN."""
    missing = np.isnan(draws)
    tails = [(1 - level) / 2, (1 + level) / 2]
    if not missing.any():
        low, high = np.quantile(draws, tails, axis=0)
    else:
        never = missing.all(axis=0)
        low, high = np.nanquantile(np.where(never, otherwise, draws), tails, axis=0)
    return low, high


def _repeated_rows(kind: str, scores: PooledScores) -> Draw:
    """Weights count rows, so scores are drawn with their multiplicity."""
    cells = np.concatenate([np.maximum(scores.weight - scores.positive, 0.0), scores.positive])
    total = max(1, round(float(cells.sum())))
    # Few rows a score: rows are drawn one by one, which is faster than one cell after the other.
    owner = None
    if total <= _FEW * len(cells) and bool((cells == np.rint(cells)).all()):
        owner = np.repeat(np.arange(len(cells)), cells.astype(np.int64))
    share = cells / cells.sum()
    trials = np.maximum(np.rint(scores.weight), 1.0).astype(np.int64)
    chance = scores.value.astype(np.float64)
    single = bool((trials == 1).all())

    def rows(rng: np.random.Generator) -> PooledScores:
        if owner is None:
            drawn = rng.multinomial(total, share)
        else:
            drawn = np.bincount(owner[rng.integers(0, total, total)], minlength=len(cells))
        negative, positive = drawn.astype(np.float64).reshape(2, -1)
        return PooledScores(scores.value, negative + positive, positive)

    def outcomes(rng: np.random.Generator) -> PooledScores:
        frequency: Array
        if single:
            frequency = rng.random(len(chance)) < chance
        else:
            frequency = rng.binomial(trials, chance) / trials
        return PooledScores(scores.value, scores.weight, frequency * scores.weight)

    return rows if kind == "bootstrap" else outcomes


def _weighted_rows(kind: str, sample: BinarySample) -> Draw:
    """Weights belong to rows; these are put in an order that only their contents decide."""
    assert sample.weight is not None
    order = np.lexsort((sample.weight, sample.y, sample.p))
    p, y, w = sample.p[order], sample.y[order], sample.weight[order]
    starts = np.flatnonzero(np.concatenate([[True], p[1:] != p[:-1]]))
    value, weight = p[starts], np.add.reduceat(w, starts)

    def rows(rng: np.random.Generator) -> PooledScores:
        drawn = np.bincount(rng.integers(0, len(p), len(p)), minlength=len(p)) * w
        return PooledScores(
            value, np.add.reduceat(drawn, starts), np.add.reduceat(drawn * y, starts)
        )

    def outcomes(rng: np.random.Generator) -> PooledScores:
        happened = rng.random(len(p)) < p
        return PooledScores(value, weight, np.add.reduceat(happened * w, starts))

    return rows if kind == "bootstrap" else outcomes
