"""Areas under ROC curves, of one problem and of every class."""

from __future__ import annotations

import numpy as np

from veridical._core.numeric.blocks import row_blocks
from veridical._core.sample import MulticlassSample, PooledScores
from veridical._core.typing import FloatArray
from veridical.lenses import ClassSpecific


def auc_of_pooled(scores: PooledScores) -> float | None:
    """Probability that a positive outscores a negative, ties counting one half; None if undefined.

    Hanley & McNeil (1982), doi 10.1148/radiology.143.1.7063747, with weights.
    """
    if scores.alone:
        return _auc_of_many(scores)
    negative = scores.weight - scores.positive
    n_positive, n_negative = scores.positive.sum(), negative.sum()
    if n_positive <= 0 or n_negative <= 0:
        return None
    below = np.cumsum(negative) - negative / 2
    return float(scores.positive @ below / (n_positive * n_negative))


def _auc_of_many(scores: PooledScores) -> float | None:
    """The same of rows without ties: the sum of the places of positives (Mann-Whitney)."""
    n, n_positive = len(scores.value), float(scores.cum_wy[-1])
    if n_positive in (0, n):
        return None
    places = sum(
        float(scores.positive[block] @ np.arange(block.start, block.stop, dtype=np.float64))
        for block in row_blocks(n)
    )
    wins = places - n_positive * (n_positive - 1) / 2
    return wins / (n_positive * (n - n_positive))


def auc_by_class(sample: MulticlassSample) -> tuple[float | None, ...]:
    """One-vs-rest areas of every class."""
    if sample.weight is not None:
        lenses = [ClassSpecific(label) for label in sample.classes]
        return tuple(auc_of_pooled(lens.induce(sample).pooled) for lens in lenses)
    order = np.argsort(sample.y, kind="stable")
    starts = np.searchsorted(sample.y[order], np.arange(len(sample.classes) + 1))
    areas = []
    for k in range(len(sample.classes)):
        column = sample.p[:, k]
        areas.append(_rank_area(column, np.sort(column[order[starts[k] : starts[k + 1]]])))
    return tuple(areas)


def _rank_area(scores: FloatArray, positives: FloatArray) -> float | None:
    """Mann-Whitney: mean rank of the positives among all scores, less that among themselves."""
    n, n_positive = len(scores), len(positives)
    if n_positive in (0, n):
        return None
    ordered = np.sort(scores)
    below = np.searchsorted(ordered, positives, "left")
    upto = np.searchsorted(ordered, positives, "right")
    wins = float((below + upto).sum()) / 2 - n_positive**2 / 2
    return wins / (n_positive * (n - n_positive))
