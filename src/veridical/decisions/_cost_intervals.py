"""Intervals of mean costs and of their differences."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from veridical._core.randomness import check_resamples, check_rng
from veridical._core.typing import FloatArray, IntArray, WeightType
from veridical._core.validation import check_level, check_option
from veridical.exceptions import invalid
from veridical.inference._mean_interval import bootstrap_limits, make_units, standard_error

METHODS = ("analytic", "percentile", "basic", "bca")
_MANY_ROWS, _FEW_ROWS = 100, 10


class IntervalOptions(NamedTuple):
    """How an interval is made, checked."""

    method: str
    level: float
    n_resamples: int
    rng: np.random.Generator
    caller: str

    @property
    def fields(self) -> dict[str, Any]:
        """What a result keeps of them."""
        drawn = None if self.method == "analytic" else self.n_resamples
        return {"method": self.method, "confidence_level": self.level, "n_resamples": drawn}


class MeanCost(NamedTuple):
    """A mean cost (or difference of costs), its limits, and the p-value of its being zero."""

    estimate: float
    low: float
    high: float
    pvalue: float

    @property
    def limits(self) -> dict[str, Any]:
        """Estimate and limits as an interval keeps them."""
        return {"estimate": self.estimate, "low": self.low, "high": self.high}


def check_interval_options(
    method: str, confidence_level: float, n_resamples: int, rng: object, *, caller: str
) -> IntervalOptions:
    """Check the options of an interval on behalf of `caller`."""
    check_option(caller, "method", method, METHODS)
    return IntervalOptions(
        method,
        check_level(caller, confidence_level),
        check_resamples(n_resamples, caller=caller),
        check_rng(rng, caller=caller),
        caller,
    )


def mean_cost(
    by_row: FloatArray,
    weight: FloatArray | None,
    weight_type: WeightType,
    clusters: IntArray | None,
    options: IntervalOptions,
) -> MeanCost:
    """Weighted mean of costs of rows with its interval."""
    from scipy.special import ndtr, ndtri

    units = make_units(by_row, weight, weight_type == "frequency", clusters, None)
    if units.count < 2:
        hint = "one alone does not show how much costs vary."
        raise invalid(options.caller, "y_true", "more than one row or cluster", "one", hint=hint)
    spread, estimate = standard_error(units), units.estimate
    if options.method == "analytic":
        half = float(ndtri((1 + options.level) / 2)) * spread
        low, high = estimate - half, estimate + half
    else:
        low, high = bootstrap_limits(
            units, options.method, options.level, options.n_resamples, options.rng
        )
    away = math.inf if estimate != 0 else 0.0
    deviation = abs(estimate) / spread if spread > 0 else away
    return MeanCost(estimate, low, high, float(2 * ndtr(-deviation)))


def doubts_of_mean(
    by_row: FloatArray, weight: FloatArray | None, weight_type: WeightType
) -> list[str]:
    """Say if a few of many rows decide the interval.

    With deviations d from the mean, (sum d^2)^2 / sum d^4 is the number of rows that vary if all
    that vary do so equally: m for m rare costs of one size.
    """
    counted = weight is not None and weight_type == "frequency"
    copies = weight if counted and weight is not None else np.ones(len(by_row))
    scale = np.ones(len(by_row)) if counted or weight is None else weight
    away = scale * (by_row - float(copies @ (scale * by_row)) / float(copies @ scale))
    square = float(copies @ away**2)
    if float(copies.sum()) < _MANY_ROWS or square == 0:
        return []
    rows = square**2 / float(copies @ away**4)
    if rows >= _FEW_ROWS:
        return []
    count = max(1, round(rows))
    who = "1 row alone decides" if count == 1 else f"{count} rows alone decide"
    return [f"about {who} how uncertain the cost is"]
