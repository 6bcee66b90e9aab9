"""Bets against a forecaster: what the true frequencies might be instead of the predictions."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import Literal

import numpy as np

from veridical._core.typing import BoolArray, FloatArray, IntArray

Alternative = Literal["two-sided", "greater", "less"]
ALTERNATIVES = ("two-sided", "greater", "less")

_SHIFTS = np.array([0.03, 0.06, 0.12, 0.25, 0.5, 1.0, 2.0])  # of the log odds, either way
_SLOPES = np.exp([0.05, 0.1, 0.2, 0.4, 0.8])  # and their inverses
_JOINT_SHIFTS = np.array([0.2, 0.6])
_JOINT_SLOPES = np.exp([0.2, 0.4])
_LOCAL_SHIFTS = np.array([0.35, 0.9])
# Ranges of predictions for local bets: finer at both ends, where log odds change fast.
_EDGES = np.array([0.01, 0.03, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.97, 0.99])
_N_RANGES = len(_EDGES) + 1


class Bets:
    """A fixed family of rival forecasts of a prediction p, each a simple map of its log odds.

    Shifts ``logit q = logit p + a``, slopes ``logit q = b logit p``, both together, and shifts
    within one range of predictions only. Each kind has an equal part of the prior. One-sided
    families hold the shifts to that side alone, since a bet against "outcomes are at most as
    frequent as predicted" is fair only if q >= p everywhere.

    In order: the maps of all predictions first, then the local ones, range by range.
    """

    def __init__(self, alternative: Alternative) -> None:
        self.alternative = alternative
        shifts, local = (_sides(values, alternative) for values in (_SHIFTS, _LOCAL_SHIFTS))
        self._shift, self._slope = shifts, np.ones(len(shifts))
        kinds = [np.zeros(len(shifts))]
        if alternative == "two-sided":
            slopes = np.concatenate([1 / _SLOPES[::-1], _SLOPES])
            joint = np.concatenate([1 / _JOINT_SLOPES[::-1], _JOINT_SLOPES])
            sides = _sides(_JOINT_SHIFTS, alternative)
            self._shift = np.concatenate([shifts, 0 * slopes, np.repeat(sides, len(joint))])
            self._slope = np.concatenate([self._slope, slopes, np.tile(joint, len(sides))])
            kinds += [np.full(len(slopes), 1), np.full(len(sides) * len(joint), 2)]
        self._local = local
        kind = np.concatenate([*kinds, np.full(_N_RANGES * len(local), 3)])
        counts = np.unique(kind, return_inverse=True, return_counts=True)
        self.log_prior: FloatArray = -np.log(len(counts[0]) * counts[2][counts[1]])

    def __len__(self) -> int:
        return len(self.log_prior)

    def log_factors(self, y: IntArray, p: FloatArray) -> FloatArray:
        """Log likelihood ratio of each rival to the prediction, (rivals, rows).

        A prediction of 0 or 1 leaves nothing to bet on: the ratio is 1 if it comes true, and
        infinite if not, since that refutes the forecaster.
        """
        p = p.astype(np.float64, copy=False)
        certain = (p == 0) | (p == 1)
        inner = np.where(certain, 0.5, p)
        sign = np.where(y == 1, 1.0, -1.0)
        odds = sign * (np.log(inner) - np.log1p(-inner))
        surprise = _softplus(-odds)  # minus the log probability of what happened
        n_maps, n_local = len(self._shift), len(self._local)
        factors = np.zeros((len(self), len(p)))
        maps = -(np.multiply.outer(self._slope, odds) + np.multiply.outer(self._shift, sign))
        factors[:n_maps] = surprise - _softplus(maps)
        local = -(odds + np.multiply.outer(self._local, sign))
        first = n_maps + np.searchsorted(_EDGES, p, side="left") * n_local
        rivals = first + np.arange(n_local)[:, None]
        factors[rivals, np.arange(len(p))] = surprise - _softplus(local)
        if certain.any():
            factors[:, certain] = 0.0
            factors[:, self._refuted(y, p)] = np.inf
        return factors

    def _refuted(self, y: IntArray, p: FloatArray) -> BoolArray:
        """Rows whose outcome had probability zero under the hypothesis."""
        above, below = (p == 0) & (y == 1), (p == 1) & (y == 0)
        return {"two-sided": above | below, "greater": above, "less": below}[self.alternative]

    @cached_property
    def words(self) -> list[str]:
        """What each rival says is wrong with the predictions."""
        words = []
        for shift, slope in zip(self._shift, self._slope, strict=True):
            frequent = _frequency(shift) if shift else ""
            extreme = "" if slope == 1 else f"predictions {_extreme(slope)}"
            words.append(" and ".join(filter(None, (frequent, extreme))))
        ends = [0.0, *_EDGES.tolist(), 1.0]
        for low, high in pairwise(ends):
            where = f"where predictions are between {low:g} and {high:g}"
            words += [f"{_frequency(shift)} {where}" for shift in self._local]
        return words


def _sides(values: FloatArray, alternative: Alternative) -> FloatArray:
    """Shifts up, down or both."""
    up, down = values, -values[::-1]
    return {"two-sided": np.concatenate([down, up]), "greater": up, "less": down}[alternative]


def _softplus(x: FloatArray) -> FloatArray:
    """Return log(1 + exp(x)) without overflow."""
    result = np.abs(x)
    np.negative(result, out=result)
    np.exp(result, out=result)
    result += 1.0  # the absolute error of 1e-16 is what adding logs costs anyway
    np.log(result, out=result)
    result += np.maximum(x, 0.0)
    return result


def _frequency(shift: float) -> str:
    return f"outcomes {'more' if shift > 0 else 'less'} frequent than predicted"


def _extreme(slope: float) -> str:
    return "too extreme" if slope < 1 else "not extreme enough"
