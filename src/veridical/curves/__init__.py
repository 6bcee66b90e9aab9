"""Reliability curves: what happened when the model said p?"""

from veridical.curves._intervals import binomial_interval
from veridical.curves._local import local_calibration_error
from veridical.curves._reliability import reliability_curve
from veridical.curves._summary import curve_from_summary

__all__ = [
    "binomial_interval",
    "curve_from_summary",
    "local_calibration_error",
    "reliability_curve",
]
