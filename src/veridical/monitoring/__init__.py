"""Calibration in production: evidence batch by batch, with alarms that hold their level."""

from typing import TYPE_CHECKING

from veridical._core.runtime.late import late_names

if TYPE_CHECKING:
    from veridical.monitoring._watch.merge import merge_stores
    from veridical.monitoring._watch.monitor import CalibrationMonitor

__all__ = ["CalibrationMonitor", "merge_stores"]

__getattr__, __dir__ = late_names(__name__)
