"""Reliability curves: what happened when the model said p?"""

from typing import TYPE_CHECKING

from veridical._core.runtime.late import late_names

if TYPE_CHECKING:
    from veridical.curves._curve.points import binomial_interval
    from veridical.curves._curve.reliability import local_calibration_error, reliability_curve

__all__ = [
    "binomial_interval",
    "local_calibration_error",
    "reliability_curve",
]

__getattr__, __dir__ = late_names(__name__)
