"""Limits of profile-likelihood intervals."""

from __future__ import annotations

import math

import numpy as np

from veridical._core.logistic import Objective, newton
from veridical._core.typing import FloatArray

_CLOSE = 1e-3  # of the root; the last correction squares what is left
_INNER = 1e-4  # decrement of the other parameters: moves the root by its square
_MAX_STEPS = 200


def profile_limit(
    objective: Objective,
    best: float,
    start: FloatArray,
    index: int,
    *,
    side: int,
    z: float,
    inside: float = math.nan,
) -> float:
    """Where the profile likelihood of one parameter has fallen by z^2 / 2.

    The signed root r = sqrt(2 (value - best)) of the profile is nearly linear in the parameter
    (a straight line would be a Wald interval), so Newton's method finds r = z in a few steps; a
    bracket keeps it safe. Venzon & Moolgavkar (1988), doi 10.2307/2347496, define the same limits.

    Parameters
    ----------
    objective : negative log-likelihood
    best : its infimum over all parameters
    start : first guess of all parameters
    index : which parameter
    side : 1 for the upper limit, -1 for the lower
    z : normal quantile of the confidence level
    inside : a value known to lie in the interval, if any
    """
    outside = math.nan
    at = start
    for _ in range(_MAX_STEPS):
        fit = newton(objective, at, held=index, tolerance=_INNER)
        here = float(fit.parameters[index])
        root = math.sqrt(max(2 * (fit.value - best), 0.0))
        slope = float(fit.gradient[index]) / root if root > 0 else 0.0  # of the profile's root
        guess = here - (root - z) / slope if slope * side > 0 else math.nan
        if abs(root - z) <= _CLOSE * z and math.isfinite(guess):
            return guess
        if root < z:
            inside = here
        else:
            outside = here
        new = _safe(guess, here, inside, outside, side)
        if new == here:
            break
        at = along(fit.hessian, index, fit.parameters, new)
    return here


def _safe(guess: float, here: float, inside: float, outside: float, side: int) -> float:
    """Return the guess if it lies in the bracket; else halve it, or widen it."""
    if math.isnan(inside) or math.isnan(outside):
        reach = (side if math.isnan(outside) else -side) * (abs(here) + 1)
        # A guess in the right direction that does not leap is as good as any.
        return guess if 0 < (guess - here) / reach < 1 else here + reach
    low, high = min(inside, outside), max(inside, outside)
    return guess if low < guess < high else (low + high) / 2


def along(hessian: FloatArray, index: int, at: FloatArray, new: float) -> FloatArray:
    """Set one parameter to a new value, and the others where, to first order, they will go."""
    moved = at.copy()
    rest = np.delete(np.arange(len(at)), index)
    change = new - at[index]
    with np.errstate(all="ignore"):
        coupled = np.linalg.pinv(hessian[np.ix_(rest, rest)], rcond=1e-10) @ hessian[rest, index]
    moved[rest] -= coupled * change
    moved[index] = new
    return moved
