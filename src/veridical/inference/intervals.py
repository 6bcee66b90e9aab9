"""Intervals of checked data: of means, of scores by row and of figures of bins."""

from veridical.inference._intervals.bootstrap import (
    binned_limits,
    check_groups,
    has_interval,
    has_vector_interval,
    scores_by_row,
)
from veridical.inference._intervals.bounded import Support
from veridical.inference._intervals.gain import Gains, gain_core, gain_interval
from veridical.inference._intervals.mean import (
    IntervalOptions,
    MeanInterval,
    check_interval_options,
    make_units,
    mean_interval,
    normal_interval,
    standard_error,
)
from veridical.inference._intervals.support import score_support

__all__ = [
    "Gains",
    "IntervalOptions",
    "MeanInterval",
    "Support",
    "binned_limits",
    "check_groups",
    "check_interval_options",
    "gain_core",
    "gain_interval",
    "has_interval",
    "has_vector_interval",
    "make_units",
    "mean_interval",
    "normal_interval",
    "score_support",
    "scores_by_row",
    "standard_error",
]
