"""Evaluations and tests of data that were checked already."""

from veridical.evaluation._battery.battery import NAMES, doubts_into
from veridical.evaluation._comparison.held_out import held_out
from veridical.evaluation._figures.measure import evaluate_sample, verdict_of

__all__ = ["NAMES", "doubts_into", "evaluate_sample", "held_out", "verdict_of"]
