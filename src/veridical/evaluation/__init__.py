"""Evaluate predictions in one call, compare models, and let a release pass or not."""

from veridical.evaluation._battery.tests import calibration_tests
from veridical.evaluation._comparison.compare import compare
from veridical.evaluation._figures.evaluate import evaluate
from veridical.evaluation._figures.summary import grid_summary, measure_summary, summary_curve
from veridical.evaluation._gate.gate import check_requirements

__all__ = [
    "calibration_tests",
    "check_requirements",
    "compare",
    "evaluate",
    "grid_summary",
    "measure_summary",
    "summary_curve",
]
