"""Bands of curves: from the sums of each bin, by draws, and for every n if the curve increases."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from veridical._core.numeric.pava import isotonic_fit
from veridical._core.runtime.progress import track
from veridical._core.sample import BinarySample, PooledScores
from veridical._core.typing import Array, FloatArray, IntArray
from veridical.curves._curve.points import (
    LONGEST,
    NORMAL_FROM,
    Points,
    Refit,
    bin_refit,
    count_chances,
    run_points,
    run_starts,
)
from veridical.summaries import Summary

Draw = Callable[[np.random.Generator], PooledScores]

_FEW = 8


def resampled(
    kind: str, sample: BinarySample, refit: Refit, n_resamples: int, rng: np.random.Generator
) -> FloatArray:
    """Frequencies at the points of a curve, (n_resamples, points); NaN where no row was drawn.

    `kind` is "bootstrap" (rows are drawn with replacement and keep their weights), "consistency"
    (outcomes are drawn from the predictions) or "consistency-bootstrap" (rows are drawn, and then
    outcomes from their predictions). Time O(n) a resample.
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

    def both(rng: np.random.Generator) -> PooledScores:
        weight = rows(rng).weight
        positive = rng.binomial(np.rint(weight).astype(np.int64), chance).astype(np.float64)
        return PooledScores(scores.value, weight, positive)

    return {"bootstrap": rows, "consistency": outcomes, "consistency-bootstrap": both}[kind]


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

    def both(rng: np.random.Generator) -> PooledScores:
        times = np.bincount(rng.integers(0, len(p), len(p)), minlength=len(p))
        happened = rng.binomial(times, p.astype(np.float64))
        return PooledScores(
            value, np.add.reduceat(times * w, starts), np.add.reduceat(happened * w, starts)
        )

    return {"bootstrap": rows, "consistency": outcomes, "consistency-bootstrap": both}[kind]


def bin_band(
    kind: str,
    sample: BinarySample,
    summary: Summary,
    *,
    level: float,
    n_resamples: int,
    rng: np.random.Generator,
) -> tuple[FloatArray, ...]:
    """Limits of the frequency of each occupied bin; bins are held fixed."""
    held = summary.occupied[0]
    by_rows = kind == "consistency-bootstrap"
    if sample.weight is not None:
        by_rows |= sample.weight_type == "importance"
        by_rows |= kind == "consistency" and _too_long(summary)
    if by_rows:
        refit = bin_refit(summary.partitions[0], held)
        draws = resampled(kind, sample, refit, n_resamples, rng)
    elif kind == "consistency":
        return _calibrated_quantiles(sample, summary, level)
    else:
        draws = _multinomial_frequencies(summary, n_resamples, rng)
    return quantiles(draws, summary.mean_y[0, held], level)


def _too_long(summary: Summary) -> bool:
    """Whether weights stand for more rows than should be multiplied out."""
    exact = summary.sum_wpq[0] < NORMAL_FROM
    return bool((summary.sum_w[0, exact] > LONGEST).any())


def _multinomial_frequencies(
    summary: Summary, n_resamples: int, rng: np.random.Generator
) -> FloatArray:
    """Bootstrapped rows fall into (bin, outcome) as often as a multinomial says."""
    held = summary.occupied[0]
    weight, hits = summary.sum_w[0, held], summary.sum_wy[0, held]
    cells = np.concatenate([np.maximum(weight - hits, 0.0), hits])
    total = max(1, round(float(weight.sum())))
    drawn = rng.multinomial(total, cells / cells.sum(), size=n_resamples)
    negative, positive = drawn[:, : len(hits)], drawn[:, len(hits) :]
    size = negative + positive
    return np.divide(positive, size, out=np.full(size.shape, np.nan), where=size > 0)


def _calibrated_quantiles(
    sample: BinarySample, summary: Summary, level: float
) -> tuple[FloatArray, FloatArray]:
    """Quantiles of the Poisson-binomial count of each bin: exact, nothing is drawn."""
    from scipy.special import ndtri

    held = np.flatnonzero(summary.occupied[0])
    mean, variance = summary.sum_wp[0, held], summary.sum_wpq[0, held]
    size = summary.sum_w[0, held]
    tails = np.array([(1 - level) / 2, (1 + level) / 2])
    limits = np.rint(mean + np.sqrt(variance) * ndtri(tails)[:, None])
    scores = sample.pooled
    bins = summary.partitions[0].assign(scores.value)  # increasing, as scores are
    for i in np.flatnonzero(variance < NORMAL_FROM):
        cumulated = np.cumsum(count_chances(scores, bins, held[i]))
        # The transforms are right to about 1e-15: a level met that closely is met.
        limits[:, i] = np.searchsorted(cumulated, tails - 1e-12)
    low, high = np.clip(limits, 0, size) / size
    return low, high


def pointwise_band(scores: PooledScores, level: float) -> tuple[FloatArray, FloatArray]:
    """Limits at every distinct score, each valid by itself for any n if the curve increases.

    Outcomes of the scores up to x are no more frequent than at x, so the successes among any
    fixed number of rows just below x are stochastically fewer than binomial ones with the
    frequency at x: their Clopper-Pearson lower bound is one for x too, and the upper bound of rows
    from x on likewise. How many rows is decided by the predictions alone, which costs no validity:
    as many as make sampling error and the distance of their mean prediction from x together
    smallest, out of powers of two. Time O(n log n).
    """
    value = scores.value.astype(np.float64)
    lower = _lower(value, scores.weight, scores.positive, level)
    # The upper limit is the lower one of the complement, seen from the other end.
    missed = (scores.weight - scores.positive)[::-1]
    upper = 1 - _lower(1 - value[::-1], scores.weight[::-1], missed, level)[::-1]
    return lower, upper


def _lower(value: FloatArray, weight: FloatArray, positive: FloatArray, level: float) -> FloatArray:
    from scipy.special import betaincinv, ndtri

    rows, hits, sums = (
        np.concatenate([[0.0], np.cumsum(values)]) for values in (weight, positive, weight * value)
    )
    start = _best_starts(value, rows, sums, float(ndtri((1 + level) / 2)))
    end = np.arange(1, len(rows))
    within = hits[end] - hits[start]
    misses = rows[end] - rows[start] - within
    limit = np.zeros(len(value))
    some = within > 0.5  # counts: anything less is rounding
    limit[some] = betaincinv(within[some], np.maximum(misses[some], 0.0) + 1, (1 - level) / 2)
    return limit


def _best_starts(value: FloatArray, rows: FloatArray, sums: FloatArray, z: float) -> IntArray:
    """First score of the window that ends at each score."""
    end = np.arange(1, len(rows))
    best, least = end - 1, np.full(len(value), np.inf)
    size = 1.0
    while True:
        start = np.searchsorted(rows, rows[end] - size, side="right") - 1
        start = np.clip(start, 0, end - 1)
        n = rows[end] - rows[start]
        mean = (sums[end] - sums[start]) / n
        # A row is added so that windows of certain predictions do not seem to be exact.
        spread = np.sqrt((mean * (1 - mean) + 1 / (n + 1)) / n)
        width = z * spread + (value - mean)
        better = width < least
        best, least = np.where(better, start, best), np.where(better, width, least)
        if size > rows[-1]:
            return best
        size *= 2


GROUPS = 200


Band = Callable[[PooledScores, float], tuple[FloatArray, FloatArray]]


def banded_points(
    sample: BinarySample, points: Points, band: Band, level: float
) -> tuple[Points, FloatArray, FloatArray]:
    """Blocks of the isotonic fit, split where the band steps, and the band at each."""
    fitted = isotonic_fit(sample.pooled).fitted
    low, high = band(sample.pooled, level)
    # If the truth does not increase the band may miss the fit: it is widened to hold it.
    low, high = np.minimum(low, fitted), np.maximum(high, fitted)
    starts = run_starts(fitted, low, high)
    split = run_points(sample, fitted, starts, definition=points.definition, refit=points.refit)
    return split, low[starts], high[starts]


def simultaneous_band(scores: PooledScores, level: float) -> tuple[FloatArray, FloatArray]:
    """Limits at every distinct score that hold all of a non-decreasing curve at once.

    Every run of neighbouring groups of scores has a Clopper-Pearson bound on either side, each at
    level alpha / (m^2 + m) for m groups. The frequency at x is at least the largest lower bound of
    runs that end at or before x, and at most the smallest upper bound of runs that begin at or
    after x (Dimitriadis, Dümbgen, Henzi, Puke & Ziegel 2022, arXiv 2203.04065). Each distinct
    score is a group, or if there are more than 200 of them 200 groups of equal mass: since groups
    depend on the scores only, the level still holds. Time O(m^2).
    """
    group = _groups(scores)
    m = int(group[-1]) + 1
    first = np.unique(group, return_index=True)[1]
    weight, positive = (np.add.reduceat(v, first) for v in (scores.weight, scores.positive))
    lower, upper = _run_bounds(weight, positive, level)
    # A group bounds scores from its last one on, and up to its first one.
    begins = np.isin(np.arange(len(group)), first)
    ends = np.append(begins[1:], True)
    below = np.where(ends, group, group - 1)
    above = np.where(begins, group, group + 1)
    low = np.where(below >= 0, lower[np.maximum(below, 0)], 0.0)
    high = np.where(above < m, upper[np.minimum(above, m - 1)], 1.0)
    return low, high


def _groups(scores: PooledScores) -> IntArray:
    """Number of the group of each distinct score: neighbours of about equal mass."""
    if len(scores.value) <= GROUPS:
        return np.arange(len(scores.value))
    middle = np.cumsum(scores.weight) - scores.weight / 2
    cell = (middle / scores.weight.sum() * GROUPS).astype(np.intp)
    return np.unique(cell, return_inverse=True)[1]


def _run_bounds(
    weight: FloatArray, positive: FloatArray, level: float
) -> tuple[FloatArray, FloatArray]:
    """Best lower bound of runs that end by each group, best upper bound of runs from it on."""
    from scipy.special import betaincinv

    m = len(weight)
    first, last = np.triu_indices(m)
    tail = (1 - level) / (m * (m + 1))
    sums = np.concatenate([[0.0], np.cumsum(positive)])
    hits = sums[last + 1] - sums[first]
    sums = np.concatenate([[0.0], np.cumsum(weight - positive)])
    misses = sums[last + 1] - sums[first]
    lower, upper = np.zeros((m, m)), np.ones((m, m))
    some = hits > 0
    lower[first[some], last[some]] = betaincinv(hits[some], misses[some] + 1, tail)
    some = misses > 0
    upper[first[some], last[some]] = 1 - betaincinv(misses[some], hits[some] + 1, tail)
    rising = np.maximum.accumulate(lower.max(axis=0))
    falling = np.minimum.accumulate(upper.min(axis=1)[::-1])[::-1]
    return rising, falling
