"""What weights mean where outcomes are drawn: rows of their own, or outcomes that count more."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import numpy as np

from veridical._core.sample import BinarySample, MulticlassSample, Sample
from veridical._core.typing import FloatArray, IntArray

MOST_REPEATED = 1 << 24  # rows written out to draw their outcomes one by one

_Sample = TypeVar("_Sample", bound=BinarySample | MulticlassSample)


def counts_rows(sample: Sample) -> bool:
    """Whether every row stands for a whole number of independent rows."""
    if sample.weight is None:
        return True
    return sample.weight_type == "frequency" and bool((sample.weight % 1 == 0).all())


def repeated_rows(sample: Sample) -> IntArray | None:
    """Index of each row as often as its weight says; None if there is nothing to write out.

    That is without weights, where they are no whole frequencies, or for too many rows.
    """
    if sample.weight is None or not counts_rows(sample) or sample.size > MOST_REPEATED:
        return None
    return np.repeat(np.arange(sample.n), sample.weight.astype(np.intp))


def take_repeated(sample: _Sample, rows: IntArray) -> _Sample:
    """Return the rows, each counting once."""
    return replace(sample.take(rows), weight=None)  # type: ignore[return-value]


def likelihood_weight(sample: Sample) -> FloatArray:
    """Weights that sum to the sample size: repetitions, or importance scaled to Kish's size."""
    if sample.weight is None or (sample.weight_type == "importance" and _all_same(sample.weight)):
        return np.ones(sample.n)
    if sample.weight_type == "frequency":
        return sample.weight
    return sample.weight * (sample.size / sample.weight.sum())


def counts_outcomes(sample: Sample) -> bool:
    """Whether the weights of the likelihood are numbers of independent outcomes."""
    same = sample.weight is not None and _all_same(sample.weight)
    return counts_rows(sample) or (sample.weight_type == "importance" and same)


def _all_same(weight: FloatArray) -> bool:
    return bool((weight == weight[0]).all())
