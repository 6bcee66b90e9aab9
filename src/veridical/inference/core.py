"""Draws, limits and judgements without the border, for rooms above."""

from veridical.inference._design.equivalence import check_delta
from veridical.inference._draws.monte_carlo import warn_of
from veridical.inference._draws.outcomes import Outcomes
from veridical.inference._intervals.bootstrap import scores_by_row
from veridical.inference._intervals.mean import (
    IntervalOptions,
    MeanInterval,
    check_interval_options,
    make_units,
    mean_interval,
    normal_limits,
    standard_error,
)
from veridical.inference._nulls.consistency import judged
from veridical.inference._nulls.multiple import Family, corrected
from veridical.inference._nulls.null import check_estimator
from veridical.inference._sequential.process import ONSET_ROWS, Bets

__all__ = [
    "ONSET_ROWS",
    "Bets",
    "Family",
    "IntervalOptions",
    "MeanInterval",
    "Outcomes",
    "check_delta",
    "check_estimator",
    "check_interval_options",
    "corrected",
    "judged",
    "make_units",
    "mean_interval",
    "normal_limits",
    "scores_by_row",
    "standard_error",
    "warn_of",
]
