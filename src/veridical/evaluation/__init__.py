"""Evaluate predictions in one call, compare models, and let a release pass or not."""

from veridical.evaluation._compare import compare
from veridical.evaluation._evaluate import evaluate
from veridical.evaluation._gate import check_requirements
from veridical.evaluation._pushed_figures import measure_summary, summary_curve
from veridical.evaluation._pushed_table import grid_summary
from veridical.evaluation._tests import calibration_tests

__all__ = [
    "calibration_tests",
    "check_requirements",
    "compare",
    "evaluate",
    "grid_summary",
    "measure_summary",
    "summary_curve",
]
