"""Decisions on checked rows, for rooms above."""

from typing import TYPE_CHECKING

from veridical._core.runtime.late import late_names

if TYPE_CHECKING:
    from veridical.decisions._allocation.allocation import allocate_rows
    from veridical.decisions._costs.decision_curve import decision_curve_of
    from veridical.decisions._costs.expected_cost import doubts_of_mean, mean_cost
    from veridical.decisions._costs.matrix import CostTable, check_costs, choose_actions
    from veridical.decisions._costs.miscalibration_cost import default_calibrator
    from veridical.decisions._priors.adjustment import move_priors
    from veridical.decisions._priors.class_numbers import check_columns
    from veridical.decisions._priors.estimate import priors_of_rows
    from veridical.decisions._risk.answers import answer_risk, compared_scores

__all__ = [
    "CostTable",
    "allocate_rows",
    "answer_risk",
    "check_columns",
    "check_costs",
    "choose_actions",
    "compared_scores",
    "decision_curve_of",
    "default_calibrator",
    "doubts_of_mean",
    "mean_cost",
    "move_priors",
    "priors_of_rows",
]

__getattr__, __dir__ = late_names(__name__)
