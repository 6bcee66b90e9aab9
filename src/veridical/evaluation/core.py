"""Evaluations, tests and comparisons of data that were read already."""

from typing import TYPE_CHECKING

from veridical._core.runtime.late import late_names

if TYPE_CHECKING:
    from veridical.evaluation._battery.battery import NAMES
    from veridical.evaluation._battery.tests import run_battery
    from veridical.evaluation._comparison.compare import compare_models
    from veridical.evaluation._comparison.held_out import (
        HeldOut,
        compare_held_out,
        held_out,
        held_out_source,
        own_predictions,
    )
    from veridical.evaluation._figures.measure import (
        Measuring,
        Question,
        binned_curve,
        diagram_of,
        evaluate_source,
        judge_source,
        judged_evaluation,
        means_and_line,
        measure_errors,
        measure_figures,
    )
    from veridical.evaluation._figures.segments import segments_of
    from veridical.evaluation._gate.language import Rule, read_rule
    from veridical.evaluation._verdict.judge import Judged, is_reversed

__all__ = [
    "NAMES",
    "HeldOut",
    "Judged",
    "Measuring",
    "Question",
    "Rule",
    "binned_curve",
    "compare_held_out",
    "compare_models",
    "diagram_of",
    "evaluate_source",
    "held_out",
    "held_out_source",
    "is_reversed",
    "judge_source",
    "judged_evaluation",
    "means_and_line",
    "measure_errors",
    "measure_figures",
    "own_predictions",
    "read_rule",
    "run_battery",
    "segments_of",
]

__getattr__, __dir__ = late_names(__name__)
