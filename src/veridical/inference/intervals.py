"""Intervals of checked data: of means, of scores by row and of figures of bins."""

from veridical.inference._intervals.bootstrap import (
    binned_limits,
    has_interval,
    has_vector_interval,
    scores_by_row,
)
from veridical.inference._intervals.bounded import Support
from veridical.inference._intervals.effective import independent_sums
from veridical.inference._intervals.mean import (
    IntervalOptions,
    MeanInterval,
    Units,
    check_interval_options,
    make_units,
    mean_interval,
    normal_interval,
    normal_limits,
    standard_error,
)
from veridical.inference._intervals.support import score_support

__all__ = [
    "IntervalOptions",
    "MeanInterval",
    "Support",
    "Units",
    "binned_limits",
    "check_interval_options",
    "has_interval",
    "has_vector_interval",
    "independent_sums",
    "make_units",
    "mean_interval",
    "normal_interval",
    "normal_limits",
    "score_support",
    "scores_by_row",
    "standard_error",
]
