"""Calibration in production: evidence batch by batch, with alarms that hold their level."""

from veridical.monitoring._watch.merge import merge_stores
from veridical.monitoring._watch.monitor import CalibrationMonitor

__all__ = ["CalibrationMonitor", "merge_stores"]
