"""Limits of estimated class priors, by resampling or by a normal approximation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from veridical._core.progress import track
from veridical._core.typing import FloatArray
from veridical.decisions._prior_em import NormalPriors
from veridical.decisions._prior_units import Units

Limits = tuple[FloatArray, FloatArray]

_VALUES = 1 << 19  # weights drawn at once


def bootstrap_limits(
    estimate: Callable[[FloatArray, FloatArray], FloatArray],
    deployed: Units,
    labelled: Units | None,
    *,
    n_resamples: int,
    level: float,
    rng: np.random.Generator,
) -> Limits:
    """Percentile limits; deployment rows and labelled rows are drawn independently.

    `estimate` maps the weights (R, u) of the units of both to priors (R, K).
    """
    units = len(deployed.count) + (0 if labelled is None else len(labelled.count))
    several = max(1, min(n_resamples, _VALUES // units))
    drawn = np.empty((n_resamples, deployed.table.shape[1]))
    for block in track(-(-n_resamples // several), "resampling"):
        rows = drawn[block * several : (block + 1) * several]
        weights = deployed.draw(len(rows), rng)
        again = np.zeros((len(rows), 0)) if labelled is None else labelled.draw(len(rows), rng)
        rows[:] = estimate(weights, again)
    tail = (1 - level) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail], axis=0)
    return low, high


def normal_limits(normal: NormalPriors | None, n_classes: int, level: float) -> Limits:
    """Normal limits cut at 0 and 1; the whole range if the priors are not identified."""
    if normal is None:
        return np.zeros(n_classes), np.ones(n_classes)
    reach = np.sqrt(2 * chi_square_half(level) * np.diag(normal.covariance))
    return np.clip(normal.centre - reach, 0, 1), np.clip(normal.centre + reach, 0, 1)


def chi_square_half(level: float) -> float:
    """Half the quantile of a chi-square of one degree: what a log likelihood may fall by."""
    from scipy.special import ndtri

    return float(ndtri((1 + level) / 2)) ** 2 / 2
