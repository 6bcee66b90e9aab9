"""When miscalibration began, as far as the batches can tell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veridical._core.typing import FloatArray
from veridical.inference._sequential_bets import Bets

_DROP = 3.0  # of the log likelihood, that a beginning may be below the best one


@dataclass(frozen=True)
class ChangePoint:
    """Where a change most likely began, by the number of the batch.

    Attributes
    ----------
    batch : first batch after the change
    low, high : first and last batch that would explain the data nearly as well
    log_likelihood_ratio : how much better than no change, in nats
    """

    batch: int
    low: int
    high: int
    log_likelihood_ratio: float


def change_point(factors: FloatArray) -> ChangePoint | None:
    """Likelihood estimate of where a stream left its predictions.

    Parameters
    ----------
    factors : array of shape (B, G)
        Log factors of the rivals, batch by batch, as `Evidence.advance` returns them.

    Returns
    -------
    ChangePoint or None
        None if no rival does better than the predictions from any batch on.

    Notes
    -----
    From batch k on one rival g is right: its log likelihood ratio is the sum of factors of the
    batches k, k + 1, ... plus its prior; the best k is the estimate, and every k within 3 nats of
    it is in the interval. One change is assumed; a model that was wrong from the beginning has
    its change at batch 0. How often the interval holds the true batch is in docs/monitoring.md.
    """
    suffix = np.cumsum(factors[::-1], axis=0)[::-1] + Bets("two-sided").log_prior
    profile = np.logaddexp.reduce(suffix, axis=1)
    best = int(profile.argmax())
    if profile[best] <= 0:
        return None
    close = np.flatnonzero(profile >= profile[best] - _DROP)
    return ChangePoint(best, int(close[0]), int(close[-1]), float(profile[best]))
