"""Decisions from probabilities: costs, priors and budgets."""

from veridical.decisions._allocation import allocate
from veridical.decisions._cost_curve import cost_curve
from veridical.decisions._decide import decide
from veridical.decisions._decision_curve import decision_curve
from veridical.decisions._downsampling import correct_downsampling
from veridical.decisions._expected_cost import expected_cost
from veridical.decisions._miscalibration_cost import miscalibration_cost
from veridical.decisions._prior_adjustment import adjust_priors
from veridical.decisions._prior_estimate import estimate_priors
from veridical.decisions._roc_hull import roc_hull
from veridical.decisions._thresholds import cost_threshold, prior_threshold

__all__ = [
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
    "roc_hull",
]
