r"""Limits of distances from a loess curve to the diagonal: ICI, E50, E90 and Emax.

A local polynomial is linear in the outcomes and gives straight lines back, so the gap of the curve
at a place i is a mean of bets, :math:`\sum_j w_j l_{ij} (y_j - p_j)`, and what is said of it is
about the curve of the population (smoothed as the sample was; finer details are no part of it).

- Emax is the largest of these gaps, and ICI the largest mean of bets that follow from signs at all
  places: upper limits are the largest of those of all bets.
- Quantiles of the gaps (E50, E90) are below those of the upper limits of the gaps if these hold
  together, which as many of them as the curve has degrees of freedom are made to do (Bonferroni).
- Lower limits take the noise off: from the mean of the gaps as from smECE, else from each gap.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from veridical._core.sample import PooledScores, pool_scores
from veridical._core.typing import FloatArray
from veridical.inference._intervals.bets import (
    Smoother,
    largest_upper,
    noise_effect,
    squared_noise,
    total_noise,
    upper_of_bet,
    upper_of_constants,
)
from veridical.inference._intervals.rows import Rows
from veridical.miscalibration import LoessError
from veridical.miscalibration.core import loess_weights, spread_places, summed_up

_PLACES = 12  # in a span
_SQRT_2_PI = math.sqrt(2 / math.pi)


class _Curve(NamedTuple):
    """A loess curve at some places.

    Attributes
    ----------
    at : places
    share : of the rows that each stands for
    bet : (places, rows) array, what the gap there bets on every row
    gap : fitted frequency, cut to [0, 1], less the place
    degrees : of freedom, about
    """

    at: FloatArray
    share: FloatArray
    bet: FloatArray
    gap: FloatArray
    degrees: float


def loess_limits(estimator: LoessError, rows: Rows, level: float) -> tuple[float, float]:
    """Limits of a summary of the distances between a loess curve and the scores."""
    effect = noise_effect(rows, level)
    if math.isinf(effect):
        return 0.0, 1.0
    curve, tail = _curve(estimator, rows), (1 - level) / 2
    most = np.maximum(curve.at, 1 - curve.at)  # a frequency is within [0, 1]
    if estimator.summary == "mean":
        signs = (np.sign(curve.gap), np.ones(len(curve.at)), -np.ones(len(curve.at)))
        high = max(
            largest_upper(rows, _smoother(curve), signs, tail),
            upper_of_constants(rows, curve.share @ curve.bet, tail),
        )
        high = min(high, float(most.max()))
        return min(_lower_mean(rows, curve, tail, effect), high), high
    together = 1.0 if estimator.summary == "max" else curve.degrees
    upper = np.array(
        [max(upper_of_bet(rows, s * bet, tail / together) for s in (-1, 1)) for bet in curve.bet]
    )
    high = summed_up(estimator.summary, np.minimum(upper, most), curve.share)
    low = summed_up(
        estimator.summary, _lower_gaps(rows, curve, tail / curve.degrees, effect), curve.share
    )
    return min(low, high), high


def _curve(estimator: LoessError, rows: Rows) -> _Curve:
    scores = pool_scores(rows.p, rows.y.astype(np.intp), rows.total)
    value = scores.value.astype(np.float64)
    exact = PooledScores(value, scores.weight, scores.positive)
    number = math.ceil(_PLACES / estimator.span)
    at = value if len(value) <= number else value[spread_places(exact, number)]
    kernel = loess_weights(exact, at, rows.p, rows.total, estimator)
    # A row between two places is shared by them.
    near = np.interp(value, at, np.arange(len(at)))
    left = np.minimum(near.astype(np.intp), max(len(at) - 2, 0))
    part = near - left
    share = np.bincount(left, scores.weight * (1 - part), len(at))
    share += np.bincount(np.minimum(left + 1, len(at) - 1), scores.weight * part, len(at))
    total = float(rows.total.sum())
    gap = np.clip(at + kernel @ (rows.total * (rows.y - rows.p)), 0.0, 1.0) - at
    order = np.argsort(rows.p)
    own = kernel[np.arange(len(at)), order[np.searchsorted(rows.p[order], at)]]
    return _Curve(at, share / total, kernel * total, gap, max(1.0, float(share @ own)))


def _smoother(curve: _Curve) -> Smoother:
    def on_rows(sign: FloatArray) -> FloatArray:
        return np.asarray((sign * curve.share) @ curve.bet)

    def at_nodes(mass: FloatArray) -> FloatArray:
        return np.asarray(curve.bet @ mass)

    return Smoother(on_rows, at_nodes)


def _deviations(rows: Rows, curve: _Curve, effect: float) -> FloatArray:
    """Standard errors of the gaps, as observed or as predicted, whichever is larger."""
    seen = curve.bet**2 @ squared_noise(rows, effect)
    share = effect * rows.shape * (rows.scale / float(rows.total.sum())) ** 2
    return np.sqrt(np.maximum(seen, curve.bet**2 @ (share * rows.p * (1 - rows.p))))


def _lower_mean(rows: Rows, curve: _Curve, tail: float, effect: float) -> float:
    """Reading less the mean of its noise and as much more as that may vary."""
    from scipy.special import ndtri

    noise = _SQRT_2_PI * float(curve.share @ _deviations(rows, curve, effect))
    most = curve.share @ np.abs(curve.bet)
    spread = float(ndtri(1 - tail)) * total_noise(rows, effect, most)
    return max(0.0, float(curve.share @ np.abs(curve.gap)) - noise - spread)


def _lower_gaps(rows: Rows, curve: _Curve, tail: float, effect: float) -> FloatArray:
    """Lower limits of all gaps at once."""
    from scipy.special import ndtri

    deviation = _deviations(rows, curve, effect)
    return np.maximum(np.abs(curve.gap) - float(ndtri(1 - tail / 2)) * deviation, 0.0)
