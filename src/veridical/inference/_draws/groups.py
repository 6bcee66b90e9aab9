"""Outcomes drawn from the predictions, counted by group: what Monte-Carlo null hypotheses need."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veridical._core.data.randomness import Draws
from veridical._core.resampling.redraw import Redraw, class_residuals, most_draws
from veridical._core.resampling.rows import counts_rows
from veridical._core.runtime.progress import track
from veridical._core.sample import BinarySample, Sample
from veridical._core.typing import Array, BoolArray, FloatArray, IntArray
from veridical.inference._draws.trials import Trials

_BLOCK_DRAWS = 1 << 22
_DRAWN_ONE_BY_ONE = 1 << 13  # entries, however little each counts
_SKEWED = 0.01
_LONG_RUN = 64  # columns from which a sum for each group beats one pass over all


@dataclass(frozen=True)
class PredictionGroups:
    """Rows of a sample sorted by prediction; `starts` holds where each distinct one begins."""

    order: IntArray
    starts: IntArray

    @property
    def index(self) -> IntArray:
        """Number of the distinct prediction of each row, in the order of the sample."""
        result = np.empty(len(self.order), dtype=np.intp)
        lengths = np.diff(self.starts, append=len(self.order))
        result[self.order] = np.repeat(np.arange(len(self.starts)), lengths)
        return result


def group_predictions(sample: Sample, *, by_weight: bool = False) -> PredictionGroups:
    """Find rows of equal prediction (and equal weight). O(n log n), times K for vectors."""
    p = sample.p
    keys = (p,) if p.ndim == 1 else tuple(p.T[::-1])
    if by_weight and sample.weight is not None:
        keys = (sample.weight, *keys)
    order = np.argsort(keys[0], kind="stable") if len(keys) == 1 else np.lexsort(keys)
    changes: BoolArray = np.zeros(sample.n - 1, dtype=bool)
    for key in keys:
        ordered = key[order]
        changes |= ordered[1:] != ordered[:-1]
    return PredictionGroups(order, np.flatnonzero(np.concatenate([[True], changes])))


def weight_notes(sample: Sample, n_resamples: int | None) -> tuple[str, ...]:
    """Doubt about frequencies that are not whole numbers, if outcomes were drawn from them."""
    if n_resamples is None or counts_rows(sample) or sample.weight_type != "frequency":
        return ()
    return ("frequencies are not whole numbers: each row was drawn as one outcome of its weight",)


def pooled_trials(sample: Sample, found: PredictionGroups | None = None) -> Trials:
    """Pool what is drawn alike; `found` are the groups of equal predictions, if known already.

    Unweighted rows and whole frequencies are independent outcomes, as many as rows or weight;
    other weights belong to single outcomes, which are pooled only with equals by counting.
    """
    groups = found
    if groups is None or not counts_rows(sample):
        groups = group_predictions(sample, by_weight=not counts_rows(sample))
    first = groups.order[groups.starts]
    some = sample.take(first)
    p = two_columns(some) if isinstance(some, BinarySample) else some.p.astype(np.float64)
    lengths = np.diff(groups.starts, append=sample.n)
    if sample.weight is None:
        return Trials(p, lengths)
    if counts_rows(sample):
        weight = np.add.reduceat(sample.weight[groups.order], groups.starts)
        return Trials(p, weight.astype(np.int64))
    return Trials(p, lengths, sample.weight[first])


def two_columns(sample: BinarySample) -> FloatArray:
    """Probabilities of (negative, positive) of a binary sample in double precision."""
    p = sample.p.astype(np.float64)
    return np.column_stack([1 - p, p])


def null_sums(trials: Trials, value: FloatArray, draws: Draws) -> FloatArray:
    """Sums over all outcomes of ``value[row, class]``, (n_resamples,), block by block.

    Of very many entries, those that count little are one normal number together, see `_minor`: the
    others, which decide how skewed the sum is, are drawn one by one. So time hardly grows with n.
    """
    sums = np.zeros(draws.n_resamples)
    if len(value) > _DRAWN_ONE_BY_ONE:
        mean, variance, largest = _entry_moments(trials, value)
        minor = _minor(variance, largest)
        spread = np.sqrt(float(variance[minor].sum()))
        sums += float(mean[minor].sum()) + spread * draws.rng.standard_normal(draws.n_resamples)
        trials, value = trials.take(~minor), value[~minor]
    weight = trials.weight
    step = np.diff(value, axis=1) * (weight[:, None] if isinstance(weight, np.ndarray) else weight)
    sums += float(trials.mass @ value[:, 0])
    size = max(1, _BLOCK_DRAWS // draws.n_resamples)
    for index in track(-(-len(value) // size), "null distribution"):
        rows = slice(index * size, (index + 1) * size)
        for k, tail in enumerate(trials.draw_tails(rows, *draws)):
            sums += np.einsum("ij,j->i", tail, step[rows, k])  # casts far faster than `@`
    return sums


def _minor(variance: FloatArray, largest: FloatArray) -> BoolArray:
    """Entries whose sum is normal: no one of them matters to it.

    As many of those with the smallest deviations as keep the ratio of Lyapunov,
    sum of E |X|^3 over (sum of E X^2)^(3/2), below 0.01. A sum of skewness s differs from a normal
    one by at most s / (6 sqrt(2 pi)) (Edgeworth), here 0.0007 in any p-value.
    """
    octave = np.ceil(4 * np.log2(np.maximum(largest, np.finfo(np.float64).tiny))).astype(np.intp)
    octave -= octave.min()
    square = np.cumsum(np.bincount(octave, variance))
    cube = np.cumsum(np.bincount(octave, variance * largest))
    fine = np.flatnonzero(cube <= _SKEWED * square**1.5)
    return np.asarray(octave <= (fine[-1] if len(fine) else -1))


def _entry_moments(trials: Trials, value: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Mean and variance of what each entry adds, and the largest deviation of one outcome."""
    columns = list(zip(trials.p.T, value.T, strict=True))  # short rows are slow to reduce
    total, mean, variance, largest = np.zeros((4, len(value)))
    for p, each in columns:
        total += p
        mean += p * each
    mean /= total
    for p, each in columns:
        away = np.where(p > 0, each - mean, 0.0)
        variance += p / total * away**2
        np.maximum(largest, np.abs(away), out=largest)
    mass, weight = trials.mass, trials.weight
    return mass * mean, mass * weight * variance, largest * weight


def null_chi_squares(
    trials: Trials,
    groups: IntArray,
    scale: FloatArray,
    expected: FloatArray,
    draws: Draws,
) -> FloatArray:
    """Chi-square statistics of drawn counts by group and class, (n_resamples,).

    Parameters
    ----------
    trials : Trials
    groups : integer array of shape (m,)
        Group of each row of `trials`, 0 to G - 1, none of them empty.
    scale : array of shape (G,)
        What weighted counts are multiplied by (to effective sizes).
    expected : array of shape (G, K)
        Expected counts, scaled.
    draws
        How many statistics, and from where.
    """
    order = np.argsort(groups, kind="stable")
    trials = trials.take(order)
    bounds = np.searchsorted(groups[order], np.arange(len(expected) + 1))
    size = max(1, _BLOCK_DRAWS // (draws.n_resamples * expected.shape[1]))
    statistics = np.zeros(draws.n_resamples)
    blocks = _group_blocks(bounds, size)
    for index in track(len(blocks), "null distribution"):
        first, last = blocks[index]
        held = slice(first, last)
        drawn = _drawn_counts(trials, bounds[first : last + 1], size, *draws)
        drawn[:, expected[held] <= 0] = 0.0  # what cannot happen did not, but for rounding
        statistics += chi_square(drawn * scale[held, None], expected[held])
    return statistics


def redrawn_chi_squares(
    redraw: Redraw, groups: IntArray, scale: FloatArray, expected: FloatArray, draws: Draws
) -> FloatArray:
    """The same where rows are weighted by outcome or belong together; `groups` of its rows.

    Expected counts stay those of the data: what is drawn are the residuals.
    """
    n_groups, n_classes = expected.shape
    keys = groups * n_classes + np.arange(n_classes)[:, None]
    draws = most_draws(draws, redraw.n)
    blocks = class_residuals(redraw, [keys], expected.size, draws, "null distribution")
    residual = np.vstack(list(blocks)).reshape(-1, n_groups, n_classes)
    residual[:, expected <= 0] = 0.0
    return chi_square(expected + residual * scale[:, None], expected)


def chi_square(observed: FloatArray, expected: FloatArray) -> FloatArray:
    """Sum over groups and classes of (O - E)^2 / E, where 0 / 0 is nothing and O / 0 infinite."""
    terms = np.square(observed - expected)
    never = expected <= 0
    terms /= np.where(never, 1.0, expected)
    if never.any():
        terms[..., never] = np.where(observed[..., never] > 0, np.inf, 0.0)
    return terms.sum(axis=(-2, -1))


def _group_blocks(bounds: IntArray, size: int) -> list[tuple[int, int]]:
    """Runs of whole groups of at most `size` rows together, or one larger group."""
    blocks, first = [], 0
    while first < len(bounds) - 1:
        last = int(np.searchsorted(bounds, bounds[first] + size, side="right")) - 1
        last = max(last, first + 1)
        blocks.append((first, last))
        first = last
    return blocks


def _drawn_counts(
    trials: Trials, bounds: IntArray, size: int, n: int, rng: np.random.Generator
) -> FloatArray:
    """Weighted counts of some groups by class, (n, groups, K)."""
    n_groups, n_classes = len(bounds) - 1, trials.p.shape[1]
    reached = np.zeros((n, n_groups, n_classes + 1))  # of class k or later
    reached[:, :, 0] = np.add.reduceat(trials.mass[bounds[0] : bounds[-1]], bounds[:-1] - bounds[0])
    for start in range(bounds[0], bounds[-1], size):
        rows = slice(start, min(start + size, int(bounds[-1])))
        # Several groups fit into one pass; a group that does not is alone.
        starts = bounds[:-1] - bounds[0] if n_groups > 1 else np.zeros(1, dtype=np.intp)
        for k, tail in enumerate(trials.draw_tails(rows, n, rng), start=1):
            reached[:, :, k] += _sum_by_group(tail, trials.weight, rows, starts)
    return reached[:, :, :-1] - reached[:, :, 1:]


def _sum_by_group(
    drawn: Array, weight: FloatArray | float, rows: slice, starts: IntArray
) -> FloatArray:
    """Weighted sums over runs of columns, (n, groups)."""
    width = drawn.shape[1]
    if len(starts) * _LONG_RUN > width:
        weighted = drawn * weight[rows] if isinstance(weight, np.ndarray) else drawn
        return np.add.reduceat(weighted, starts, axis=1, dtype=np.float64)
    each = weight[rows] if isinstance(weight, np.ndarray) else np.ones(width)
    ends = np.append(starts[1:], width)
    runs = [slice(start, end) for start, end in zip(starts, ends, strict=True)]
    return np.stack([np.einsum("ij,j->i", drawn[:, run], each[run]) for run in runs], axis=1)
