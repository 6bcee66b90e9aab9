"""Evaluate predictions in one call, compare models, let a release pass or not; rates of classes."""

from typing import TYPE_CHECKING

from veridical._core.runtime.late import late_names

if TYPE_CHECKING:
    from veridical.evaluation._battery.tests import calibration_tests
    from veridical.evaluation._comparison.compare import compare
    from veridical.evaluation._figures.evaluate import evaluate
    from veridical.evaluation._figures.summary import grid_summary, measure_summary, summary_curve
    from veridical.evaluation._gate.gate import check_requirements
    from veridical.evaluation._rates.estimate import estimate_rate
    from veridical.evaluation._rates.plan import plan_labels

__all__ = [
    "calibration_tests",
    "check_requirements",
    "compare",
    "estimate_rate",
    "evaluate",
    "grid_summary",
    "measure_summary",
    "plan_labels",
    "summary_curve",
]

__getattr__, __dir__ = late_names(__name__)
