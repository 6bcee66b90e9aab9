"""Gaps of bins, for experiments."""

from veridical.miscalibration._errors.binned import powered_gaps

__all__ = ["powered_gaps"]
