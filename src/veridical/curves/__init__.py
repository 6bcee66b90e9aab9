"""Reliability curves: what happened when the model said p?"""

from veridical.curves._curve.points import binomial_interval
from veridical.curves._curve.reliability import local_calibration_error, reliability_curve

__all__ = [
    "binomial_interval",
    "local_calibration_error",
    "reliability_curve",
]
