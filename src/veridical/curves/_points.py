"""Points of a curve, and how to estimate it anew at the same points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from veridical._core.pava import isotonic_fit
from veridical._core.pooled import PooledScores
from veridical._core.sample import BinarySample
from veridical._core.typing import BoolArray, FloatArray, IntArray
from veridical.binning import IntervalPartition

# Frequencies at the points of a curve for other weights and outcomes of the same scores, some of
# which may have weight zero; NaN where nothing is left to average.
Refit = Callable[[PooledScores], FloatArray]


@dataclass(frozen=True, kw_only=True)
class Points:
    """A curve without limits: fields as in `ReliabilityCurve`."""

    lower: FloatArray
    upper: FloatArray
    count: FloatArray
    weight: FloatArray
    predicted: FloatArray
    observed: FloatArray
    definition: str
    refit: Refit


def isotonic_points(sample: BinarySample) -> Points:
    """One point per block of the isotonic fit."""
    scores = sample.pooled
    fitted = isotonic_fit(scores).fitted
    starts = run_starts(fitted)
    weight = np.add.reduceat(scores.weight, starts)

    def refit(drawn: PooledScores) -> FloatArray:
        """Mean over the scores of each block; linear between scores that were drawn."""
        held = drawn.weight > 0
        kept = PooledScores(drawn.value[held], drawn.weight[held], drawn.positive[held])
        again = np.interp(drawn.value, kept.value, isotonic_fit(kept).fitted)
        return np.add.reduceat(again * scores.weight, starts) / weight

    return run_points(sample, fitted, starts, definition="isotonic fit (CORP)", refit=refit)


def run_points(
    sample: BinarySample, fitted: FloatArray, starts: IntArray, *, definition: str, refit: Refit
) -> Points:
    """One point per run of distinct scores; runs begin at `starts` and share a fitted value."""
    scores = sample.pooled
    value = scores.value.astype(np.float64)
    weight = np.add.reduceat(scores.weight, starts)
    count = weight
    if sample.weight is not None:
        run = np.searchsorted(scores.value[starts], sample.p, side="right") - 1
        count = np.bincount(run, minlength=len(starts)).astype(np.float64)
    lower, upper = value[starts], value[np.append(starts[1:], len(value)) - 1]
    predicted = np.add.reduceat(scores.weight * value, starts) / weight
    return Points(
        lower=lower,
        upper=upper,
        count=count,
        weight=weight,
        predicted=np.clip(predicted, lower, upper),  # a mean of equal scores is that score
        observed=fitted[starts],
        definition=definition,
        refit=refit,
    )


def run_starts(*values: FloatArray) -> IntArray:
    """Where runs of equal entries, equal in all the arrays, begin."""
    changes = np.zeros(len(values[0]), dtype=bool)
    changes[0] = True
    for array in values:
        changes[1:] |= array[1:] != array[:-1]
    return np.flatnonzero(changes)


def bin_refit(partition: IntervalPartition, occupied: BoolArray) -> Refit:
    """Frequencies of occupied bins, which stay where they are."""

    def refit(drawn: PooledScores) -> FloatArray:
        bins = partition.assign(drawn.value)
        weight, positive = (
            np.bincount(bins, sums, minlength=partition.n_cells)[occupied]
            for sums in (drawn.weight, drawn.positive)
        )
        ratio = np.full(weight.shape, np.nan)
        return np.divide(positive, weight, out=ratio, where=weight > 0)

    return refit
