"""Intervals of checked data: of means, of scores by row and of figures of bins."""

from veridical.inference._intervals.bootstrap import (
    binned_limits,
    check_groups,
    has_interval,
    has_vector_interval,
    scores_by_row,
)
from veridical.inference._intervals.mean import (
    IntervalOptions,
    MeanInterval,
    check_interval_options,
    make_units,
    mean_interval,
    normal_interval,
    normal_limits,
    standard_error,
)

__all__ = [
    "IntervalOptions",
    "MeanInterval",
    "binned_limits",
    "check_groups",
    "check_interval_options",
    "has_interval",
    "has_vector_interval",
    "make_units",
    "mean_interval",
    "normal_interval",
    "normal_limits",
    "scores_by_row",
    "standard_error",
]
