"""Gaps of bins and doubts about them, and what scores have in common."""

from veridical.miscalibration._errors.binned import doubts_of_summary, powered_gaps
from veridical.miscalibration._errors.scores import MeanScore

__all__ = ["MeanScore", "doubts_of_summary", "powered_gaps"]
