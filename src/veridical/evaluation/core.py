"""Evaluations, tests and comparisons of data that were read already."""

from veridical.evaluation._battery.battery import NAMES
from veridical.evaluation._battery.tests import run_battery
from veridical.evaluation._comparison.compare import compare_models
from veridical.evaluation._comparison.held_out import (
    HeldOut,
    compare_held_out,
    held_out,
    held_out_source,
)
from veridical.evaluation._figures.measure import (
    Question,
    binned_curve,
    evaluate_source,
    evaluate_with_groups,
    means_and_line,
    measure_errors,
)

__all__ = [
    "NAMES",
    "HeldOut",
    "Question",
    "binned_curve",
    "compare_held_out",
    "compare_models",
    "evaluate_source",
    "evaluate_with_groups",
    "held_out",
    "held_out_source",
    "means_and_line",
    "measure_errors",
    "run_battery",
]
