"""Decisions from probabilities: costs, priors and budgets."""

from typing import TYPE_CHECKING

from veridical._core.runtime.late import late_names

if TYPE_CHECKING:
    from veridical.decisions._allocation.allocation import allocate
    from veridical.decisions._costs.cost_curve import cost_curve, roc_hull
    from veridical.decisions._costs.decide import decide
    from veridical.decisions._costs.decision_curve import decision_curve
    from veridical.decisions._costs.expected_cost import expected_cost
    from veridical.decisions._costs.miscalibration_cost import miscalibration_cost
    from veridical.decisions._costs.thresholds import cost_threshold, prior_threshold
    from veridical.decisions._priors.adjustment import adjust_priors, correct_downsampling
    from veridical.decisions._priors.estimate import estimate_priors
    from veridical.decisions._risk.coverage_curve import risk_coverage_curve
    from veridical.decisions._risk.sets import PredictionSets
    from veridical.decisions._risk.threshold import risk_threshold

__all__ = [
    "PredictionSets",
    "adjust_priors",
    "allocate",
    "correct_downsampling",
    "cost_curve",
    "cost_threshold",
    "decide",
    "decision_curve",
    "estimate_priors",
    "expected_cost",
    "miscalibration_cost",
    "prior_threshold",
    "risk_coverage_curve",
    "risk_threshold",
    "roc_hull",
]

__getattr__, __dir__ = late_names(__name__)
