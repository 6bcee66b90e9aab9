"""Gaps of bins and doubts about them, and what scores have in common."""

from typing import TYPE_CHECKING

from veridical._core.runtime.late import late_names

if TYPE_CHECKING:
    from veridical.miscalibration._errors.base import CellEstimator
    from veridical.miscalibration._errors.binned import doubts_of_summary, powered_gaps
    from veridical.miscalibration._errors.loess import loess_weights, spread_places, summed_up
    from veridical.miscalibration._errors.scores import MeanScore
    from veridical.miscalibration._errors.sweep import sweep_errors

__all__ = [
    "CellEstimator",
    "MeanScore",
    "doubts_of_summary",
    "loess_weights",
    "powered_gaps",
    "spread_places",
    "summed_up",
    "sweep_errors",
]

__getattr__, __dir__ = late_names(__name__)
