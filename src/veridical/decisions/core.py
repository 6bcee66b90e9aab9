"""Checked costs and mean costs with limits, for planning and commands."""

from veridical.decisions._costs.expected_cost import IntervalOptions, doubts_of_mean, mean_cost
from veridical.decisions._costs.matrix import check_costs
from veridical.decisions._costs.miscalibration_cost import default_calibrator
from veridical.decisions._priors.adjustment import move_priors
from veridical.decisions._priors.class_numbers import check_columns

__all__ = [
    "IntervalOptions",
    "check_columns",
    "check_costs",
    "default_calibrator",
    "doubts_of_mean",
    "mean_cost",
    "move_priors",
]
