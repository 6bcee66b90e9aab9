"""Reasons to distrust estimated class priors, in words."""

from __future__ import annotations

import numpy as np

from veridical._core.sample import Sample
from veridical._core.typing import FloatArray

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
